"""The options that several commands share, and the completion of values that are validated elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from groundwire.errors import ConfigurationError
from groundwire.settings import ReadSettings, SearchSettings

__all__ = [
    "READ",
    "SEARCH",
    "one_of",
    "providers_that_search",
    "read_with",
    "search_with",
    "timeout",
    "with_json",
    "with_refresh",
]

_Command = TypeVar("_Command", bound=Callable[..., Any] | click.Command)

SEARCH = SearchSettings.model_construct()
"""The defaults of a search."""
READ = ReadSettings.model_construct()
"""The defaults of reading."""

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]
"""A click callback: returns the words that can complete the given prefix."""


def one_of(words: Iterable[str]) -> Complete:
    """Return a callback that completes with those of `words` that start with the value."""
    choices = tuple(words)

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(word) for word in choices if word.startswith(incomplete)]

    return complete


def providers_that_search(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete with the installed search providers."""
    return _providers(incomplete, search=True)


def providers_that_read(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete with the installed read providers."""
    return _providers(incomplete, search=False)


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
        shell_complete=providers_that_search,
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
        shell_complete=providers_that_read,
        help="Use this reader; repeatable, in order of preference. By default the setting read.providers "
        f"({', '.join(READ.providers)}).",
    )(command)


def _providers(incomplete: str, *, search: bool) -> list[CompletionItem[str]]:
    from groundwire.providers.registry import provider_class, provider_names  # local: every command loads this module

    items = []
    for name in provider_names():
        if not name.startswith(incomplete):
            continue
        try:
            able = provider_class(name).capabilities
        except ConfigurationError:  # a broken third-party provider: reported when it is used
            continue
        if able.search if search else able.read:
            items.append(CompletionItem(name))
    return items
