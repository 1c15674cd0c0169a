"""A command that stands for a tool: under `--json` its failures are the tool's results too."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import click

from groundwire.cli.codes import ExitCode, exit_code
from groundwire.cli.run import say_error
from groundwire.cli.terminal import escaped
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.tools import ToolResult, render_json

__all__ = ["Failed", "ToolCommand", "each", "print_json", "storable"]

_logger = logging.getLogger(__name__)

Failed = Callable[[str, GroundwireError], ToolResult]
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
            say_error(str(error))
        sys.exit(code)

    def _flag(self, field: str) -> str:
        """Return the option that sets a field, where its name is another; else nothing."""
        options = (param for param in self.params if isinstance(param, click.Option))
        flag = next((max(option.opts, key=len) for option in options if option.name == field), "")
        return "" if flag == f"--{field}" else flag


def each(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values of a repeatable option, which may also be given in one go with commas."""
    return tuple(part.strip() for value in values for part in value.split(","))


def print_json(result: ToolResult) -> None:
    """Print a tool's result as one line of JSON."""
    click.echo(escaped(render_json(result)))


def storable(text: str) -> str:
    """Return an argument as text that has a UTF-8 form; bytes that were none became lone surrogates (PEP 383)."""
    return text.encode("utf-8", "replace").decode("utf-8")
