"""What a shell offers for the value of an option whose words are judged elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from groundwire.errors import ConfigurationError

__all__ = ["Complete", "one_of", "providers_that_read", "providers_that_search"]

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]
"""What click asks: the words that may follow what was begun."""


def one_of(words: Iterable[str]) -> Complete:
    """Return a function that offers those of `words` which begin as the value does."""
    known = tuple(words)

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(word) for word in known if word.startswith(incomplete)]

    return complete


def providers_that_search(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the installed providers that search."""
    return _providers(incomplete, search=True)


def providers_that_read(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the installed providers that read."""
    return _providers(incomplete, search=False)


def _providers(incomplete: str, *, search: bool) -> list[CompletionItem[str]]:
    from groundwire.providers.registry import provider_class, provider_names  # here: every command loads this file

    found = []
    for name in provider_names():
        if not name.startswith(incomplete):
            continue
        try:
            able = provider_class(name).capabilities
        except ConfigurationError:  # somebody else's, and broken: said when it is used
            continue
        if able.search if search else able.read:
            found.append(CompletionItem(name))
    return found
