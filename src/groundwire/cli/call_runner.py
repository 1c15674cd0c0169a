"""Runs one call of a `Web` for a command, with progress.

A spinner on the terminal shows what is in progress.

For a command that corresponds to a tool, failures under `--json` are tool results too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import (
    QUIET,
    ExitCode,
    clean,
    escaped,
    exit_code,
    is_quiet,
    log_notes,
    say_error,
    say_failure,
    warn,
)
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.hints import other_names
from groundwire.models import AttemptStarted, Event
from groundwire.models.argument_names import ASK, OPEN_PAGE, SEARCH, argument_hint
from groundwire.settings import load
from groundwire.web import Web

if TYPE_CHECKING:
    from rich.status import Status

    from groundwire.tools import ToolResult

_spinner: ContextVar[Status | None] = ContextVar("_spinner", default=None)
"""The spinner of the call that is under way."""


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show a spinner on standard error while the block runs, if that is a terminal and the log does not show it.

    Args:
        doing: The action in progress, such as `Searching`.
    """
    if not sys.stderr.isatty() or is_quiet() or logging.getLogger("groundwire").isEnabledFor(logging.INFO):
        yield
        return
    from rich.console import Console  # only a terminal waits for it

    with Console(stderr=True).status(f"{doing} …") as status:
        token = _spinner.set(status)
        try:
            yield
        finally:
            _spinner.reset(token)


def show_progress(text: str) -> None:
    """Show a text beside the spinner of this call, if there is one."""
    if spinner := _spinner.get():
        from rich.markup import escape

        spinner.update(escape(clean(text)))


def stop_progress() -> None:
    """Take the spinner of this call away, because its output begins."""
    if spinner := _spinner.get():
        spinner.stop()


_logger = logging.getLogger(__name__)

_T = TypeVar("_T")


def run(
    doing: str, arguments: Mapping[str, Any], call: Callable[[Web], Awaitable[_T]], *, shows_attempts: bool = True
) -> _T:
    """Create a `Web`, run one call and close it.

    Args:
        doing: The action in progress, for the spinner.
        arguments: Settings by dotted key from the command line; None means not given.
        call: The call.
        shows_attempts: Whether the spinner shows which provider is asked; not where the call shows its own progress.

    Raises:
        GroundwireError: raised by the call, or because the settings are invalid.
    """
    settings = load({key: value for key, value in arguments.items() if value is not None})
    warn(*settings.warnings, *_certificates())

    async def run_call() -> _T:
        def observe(event: Event) -> None:
            _log(event)
            if shows_attempts and isinstance(event, AttemptStarted):
                show_progress(f"{doing}: asking {event.provider} …")

        with progress(doing):
            async with Web(settings, attempt_listener=observe) as web:
                if "search.providers" in arguments:
                    warn(*web.skipped)
                return await call(web)

    with log_notes():
        return asyncio.run(without_waiting(run_call))


def _certificates() -> Iterator[str]:
    """Yield a note if the CA bundle of the environment is missing or holds no certificate: OpenSSL ignores that."""
    path = os.environ.get("SSL_CERT_FILE", "")
    try:
        why = "" if not path or b"-----BEGIN " in Path(path).read_bytes() else "holds no certificate in PEM format"
    except OSError as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
    if why:
        yield f"SSL_CERT_FILE names {path}, which {why}, so no certificate is trusted. Correct it, or unset it."


async def without_waiting(work: Callable[[], Awaitable[_T]]) -> _T:
    """Await `work` without waiting for threads that cannot be stopped, such as a name lookup.

    `asyncio.run` waits for the loop's executor, so that is replaced with an idle one at the end.
    """
    loop = asyncio.get_running_loop()
    threads = ThreadPoolExecutor(thread_name_prefix="groundwire-cli")
    loop.set_default_executor(threads)
    try:
        return await work()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        loop.set_default_executor(ThreadPoolExecutor(1))


def _log(event: Event) -> None:
    """Log an attempt for -vv; -v has one line per call, in which the attempts are listed."""
    if isinstance(event, AttemptStarted):
        _logger.debug("Asking %s", event.provider)
    else:
        _logger.debug("%s", event.attempt.describe())


Failed = Callable[[str, GroundwireError], "ToolResult"]
"""Makes a tool result from the request and the error."""

_SUBJECT_CHARS = 200  # characters of the request in an error


def _set_quiet(ctx: click.Context, param: click.Parameter, value: object) -> None:
    ctx.meta[QUIET] = value


_FIELDS = re.compile(r"(title|url|snippet|content|results|published|source|citation_id)(,\w+)*")


class ToolCommand(Command):
    """Runs a command and exits with the right exit code on any failure.

    Args:
        failed: Makes the tool result of a failure, for `--json`; None where a failure is only printed.
        subject: The parameter with the query or URL.
    """

    def __init__(self, *args: Any, failed: Failed | None, subject: str, **options: Any) -> None:
        super().__init__(*args, **options)
        text = "Print errors only on standard error: no notes, no progress, no summary."
        self.params.append(click.Option(["--quiet"], is_flag=True, expose_value=False, callback=_set_quiet, help=text))
        self._failed = failed
        self._subject = subject
        self._names = OPEN_PAGE if subject == "urls" else ASK if subject == "question" else SEARCH

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; `--json` of other command lines takes fields."""
        options = args[: args.index("--")] if "--" in args else args
        for word, after in pairwise([*options, ""]):
            if word == "--json" and _FIELDS.fullmatch(after):
                raise click.UsageError("--json takes no field names. Pipe it: groundwire ... --json | jq", ctx)
        return super().parse_args(ctx, args)

    def option_hint(self, option: str) -> str:
        """Return the option that one of another command line means, or what to do instead; empty if unknown."""
        name = option.lstrip("-").replace("-", "_")
        right = self._names.get(name, name) if option.startswith("--") else None
        own = (opt for param in self.params if param.name == right for opt in param.opts if opt.startswith("--"))
        if meant := next(own, other_names(f"options of {self._subject}").get(option)):
            return f". Did you mean {meant!r}?"
        if hint := super().option_hint(option):
            return hint
        if right and right in (self._subject, self._subject.removesuffix("s")):
            return f"; write the {right} itself, without an option."
        if right in self._names.values():  # an argument of Python that no option sets
            return "; leave it out."
        hint = argument_hint(name, (), self._names) if option.startswith("--") else ""
        return hint and (hint if hint.endswith("?") else f"{hint}.")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a failure is printed to standard error, or as a tool result to standard output."""
        try:
            return super().invoke(ctx)
        except GroundwireError as error:
            self._end(ctx, error, exit_code(error))

    def _end(self, ctx: click.Context, error: GroundwireError, code: ExitCode) -> NoReturn:
        value = ctx.params.get(self._subject) or ""
        text = value if isinstance(value, str) else " ".join(value)
        if self._failed is not None and (ctx.params.get("as_json") or ctx.params.get("form") == "json"):
            print_json(self._failed(storable(text)[:_SUBJECT_CHARS], error))
        elif isinstance(error, InvalidRequest) and (flag := self._flag(error.field)):
            say_error(InvalidRequest(flag, error.problem, error.fix).summary)
        else:
            say_failure(error, text if self._subject == "urls" else "")
        sys.exit(code)

    def _flag(self, field: str) -> str:
        """Return the option that sets a field if its name differs, else an empty string."""
        options = (param for param in self.params if isinstance(param, click.Option))
        long = (opt for option in options if option.name == field for opt in option.opts if opt.startswith("--"))
        flag = next(long, "")
        return "" if flag == f"--{field}" else flag


def each(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values of a repeatable option, which may also be comma-separated."""
    return tuple(part.strip() for value in values for part in value.split(","))


def print_json(result: ToolResult) -> None:
    """Print a tool result as one line of JSON."""
    click.echo(escaped(result.model_dump_json()))


def words_or_input(context: click.Context, argument: click.Parameter, words: Sequence[str]) -> str:
    """Return the words of an argument as one text; without any, and with -, what is piped to standard input."""
    piped = tuple(words) == ("-",) or not (words or context.resilient_parsing or sys.stdin.isatty())
    text = storable(sys.stdin.read() if piped else " ".join(words))
    if not (words or text.strip() or context.resilient_parsing):
        raise click.MissingParameter(ctx=context, param=argument)
    return text


def storable(text: str) -> str:
    """Return an argument as valid UTF-8 text; undecodable bytes were read as lone surrogates (PEP 383)."""
    return text.encode("utf-8", "replace").decode("utf-8")
