"""Running one call of a `Web` for a command, with progress.

What a person sees while waiting: a line on the terminal that says what is under way.

A command that stands for a tool: under `--json` its failures are the tool's results too.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from groundwire.cli.exit_codes import ExitCode, exit_code
from groundwire.cli.terminal_text import clean, escaped, say_error, say_failure, warn
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.models import AttemptStarted, Event, Observer
from groundwire.settings import load
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.tools import ToolResult

__all__ = [
    "Failed",
    "ToolCommand",
    "each",
    "print_json",
    "progress",
    "run",
    "storable",
    "without_waiting",
]


@contextmanager
def progress(doing: str) -> Iterator[Observer]:
    """Show a spinner on standard error while the block runs, if that is a terminal.

    Args:
        doing: What is under way, such as `Searching`.

    Yields:
        An observer that keeps the line up to date.
    """
    if not sys.stderr.isatty() or logging.getLogger("groundwire").isEnabledFor(logging.INFO):  # the log tells it then
        yield _ignore
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"{escape(doing)} …") as status:
        failed: list[str] = []

        def observe(event: Event) -> None:
            if isinstance(event, AttemptStarted):
                before = f"{'; '.join(failed)}; " if failed else ""
                status.update(escape(clean(f"{doing}: {before}asking {event.provider} …")))
            elif event.attempt.outcome not in {"ok", "partial"}:
                failed.append(f"{event.attempt.provider} {event.attempt.outcome}")

        yield observe


def _ignore(event: Event) -> None:
    """Ignore an event: no progress is shown."""


_logger = logging.getLogger(__name__)

_GRACE_SECONDS = 2.0  # seconds; a stale answer was shown, and the next call should have a fresh one
_T = TypeVar("_T")


def run(doing: str, arguments: Mapping[str, Any], call: Callable[[Web], Awaitable[_T]]) -> _T:
    """Make a `Web`, run one call, close it.

    Args:
        doing: What is under way, for the person who waits.
        arguments: Settings by dotted key that the command line gave; None means not given.
        call: The call.

    Raises:
        GroundwireError: what the call raised, or what is wrong with the settings.
    """
    settings = load({key: value for key, value in arguments.items() if value is not None})
    warn(*settings.warnings)

    async def whole() -> _T:
        with progress(doing) as shown:

            def observe(event: Event) -> None:
                _log(event)
                shown(event)

            async with Web(settings, attempt_listener=observe) as web:
                if "search.providers" in arguments:
                    warn(*web.skipped)
                result = await call(web)
                await web.aclose(grace_seconds=_GRACE_SECONDS)
                return result

    return asyncio.run(without_waiting(whole))


async def without_waiting(work: Callable[[], Awaitable[_T]]) -> _T:
    """Await `work`, and leave behind threads that cannot be stopped, such as one that still resolves a name.

    `asyncio.run` waits for the loop's executor, so it gets an idle one at the end.
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
    if isinstance(event, AttemptStarted):
        _logger.info("Asking %s", event.provider)
    else:
        _logger.info("%s", event.attempt.describe())


Failed = Callable[[str, GroundwireError], "ToolResult"]
"""Makes the tool's result of what was asked and what went wrong."""

_SHOWN = 200  # characters of what was asked


class ToolCommand(click.Command):
    """Runs a command and ends it with the right exit code, whatever goes wrong.

    Args:
        failed: Makes the tool's result of a failure, for `--json`.
        subject: The parameter that says what was asked.
    """

    def __init__(self, *args: Any, failed: Failed, subject: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._failed = failed
        self._subject = subject

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments; under `--json` even their faults are said as JSON."""
        given = args[: args.index("--")] if "--" in args else list(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            if "--json" not in given:
                raise
            text = f"{error.format_message().rstrip('.')}. See groundwire {info_name} --help."
            print_json(self._failed("", GroundwireError(text)))
            sys.exit(ExitCode.WRONG_USE)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a failure is said on standard error, or as the tool's result on standard output."""
        try:
            return super().invoke(ctx)
        except GroundwireError as error:
            self._end(ctx, error, exit_code(error))
        except (OSError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            _logger.exception("The command failed")
            text = f"Groundwire itself failed ({type(error).__name__}). Run it as groundwire -v ... to see where."
            self._end(ctx, GroundwireError(text), ExitCode.FAILED)

    def _end(self, ctx: click.Context, error: GroundwireError, code: ExitCode) -> NoReturn:
        if ctx.params.get("as_json"):
            asked = ctx.params.get(self._subject) or ""
            text = asked if isinstance(asked, str) else " ".join(asked)
            print_json(self._failed(storable(text)[:_SHOWN], error))
        elif isinstance(error, InvalidRequest) and (flag := self._flag(error.field)):
            say_error(f"{error.field} ({flag}): {error.problem}. {error.fix}")
        else:
            say_failure(error)
        sys.exit(code)

    def _flag(self, field: str) -> str:
        """Return the option that sets a field, where its name is another; else nothing."""
        options = (param for param in self.params if isinstance(param, click.Option))
        long = (opt for option in options if option.name == field for opt in option.opts if opt.startswith("--"))
        flag = next(long, "")
        return "" if flag == f"--{field}" else flag


def each(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values of a repeatable option, which may also be given in one go with commas."""
    return tuple(part.strip() for value in values for part in value.split(","))


def print_json(result: ToolResult) -> None:
    """Print a tool's result as one line of JSON."""
    from groundwire.tools import render_json

    click.echo(escaped(render_json(result)))


def storable(text: str) -> str:
    """Return an argument as text that has a UTF-8 form; bytes that were none became lone surrogates (PEP 383)."""
    return text.encode("utf-8", "replace").decode("utf-8")
