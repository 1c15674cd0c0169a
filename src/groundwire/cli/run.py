"""Running one call of a `Web` for a command, with progress, and ending with the right exit code."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn, TypeVar

import click

from groundwire.cli.codes import exit_code
from groundwire.cli.progress import progress
from groundwire.errors import GroundwireError
from groundwire.settings import load
from groundwire.tools import ToolResult, render_json
from groundwire.web import Web

__all__ = ["fail", "run", "warn"]

_T = TypeVar("_T")

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def run(doing: str, arguments: Mapping[str, Any], call: Callable[[Web], Awaitable[_T]]) -> _T:
    """Make a `Web`, run one call, close it.

    Args:
        doing: What is under way, for the person who waits.
        arguments: Settings by dotted key that the command line gave.
        call: The call.

    Raises:
        GroundwireError: what the call raised, or what is wrong with the settings.
    """
    settings = load({key: value for key, value in arguments.items() if value is not None})
    for warning in settings.warnings:
        warn(warning)

    async def whole() -> _T:
        with progress(doing) as observer:
            async with Web(settings, observer=observer) as web:
                return await call(web)

    try:
        return asyncio.run(whole())
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        sys.exit(_INTERRUPTED)


def fail(error: GroundwireError, result: ToolResult | None) -> NoReturn:
    """Say what went wrong and end: on standard error, or as the tool's result on standard output.

    Args:
        error: What went wrong.
        result: The tool's result to print as JSON, or None for words.
    """
    if result is not None:
        click.echo(render_json(result))
    else:
        click.echo(click.style("Error: ", fg="red", bold=True) + str(error), err=True)
    sys.exit(exit_code(error))


def warn(text: str) -> None:
    """Say on standard error what a person should know."""
    click.echo(click.style("Note: ", fg="yellow") + text, err=True)
