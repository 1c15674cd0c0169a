"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from groundwire.settings import ReadSettings, SearchSettings

_Command = TypeVar("_Command", bound=Callable[..., Any] | click.Command)

SEARCH = SearchSettings.model_construct()
"""The defaults of a search."""
READ = ReadSettings.model_construct()
"""The defaults of reading."""


def _without_numbers(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for name in filter(str.isdigit, value):  # -p is the port or the page of other command lines
        options = (option.name for option in ctx.command.params)
        meant = "".join(f" Did you mean '--{option}'?" for option in options if option in ("port", "page"))
        raise click.BadParameter(f"{name} is no provider.{meant}", ctx, param)
    return value


def with_json(command: _Command) -> _Command:
    """Add the option `--json` to a command that prints text or JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(command)


def with_refresh(command: _Command) -> _Command:
    """Add the option `--refresh` to a command whose results are cached."""
    return click.option("--refresh", is_flag=True, help="Skip the cache.")(command)


def timeout(text: str) -> Callable[[_Command], _Command]:
    """Return the option `--timeout`.

    Args:
        text: What it limits, for the help.
    """
    return click.option("--timeout", type=float, metavar="SECONDS", help=f"Timeout of {text}")


def search_with(command: _Command) -> _Command:
    """Add the option `--provider` to a command that searches."""
    return click.option(
        "-p",
        "--provider",
        "providers",
        multiple=True,
        metavar="NAME",
        callback=_without_numbers,
        help="Search with this provider; repeatable, in order of preference. By default the setting search.providers.",
    )(command)


def read_with(command: _Command) -> _Command:
    """Add the option `--reader` to a command that reads pages."""
    return click.option(
        "-r",
        "--reader",
        "readers",
        multiple=True,
        metavar="NAME",
        help="Use this reader; repeatable, in order of preference. By default the setting read.providers "
        f"({', '.join(READ.providers)}).",
    )(command)
