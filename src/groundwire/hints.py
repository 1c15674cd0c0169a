"""Hints: the right word for a name that people know from another library or command line.

A wrong name stays an error, whose message names the right one. The names are in `hints.json`; those of arguments are in
`groundwire.models.argument_names`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final


def _plain(name: str) -> str:
    """Return a name as it is looked up: `publishedDate` and `published_date` are alike."""
    return name.replace("_", "").lower()


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    tables: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_name("hints.json").read_bytes())
    return tables


@cache
def other_names(table: str) -> Mapping[str, str]:
    """Return the right word for each other name in a table of `hints.json`, in the spelling of the table.

    Args:
        table: The `settings` of other tools, the `commands` and `options` of other command lines (`options of
            query` and `options of question` by the subject of a command), or `calls`: methods that search and open.
    """
    rows = _tables().get(table, {}).items()
    return MappingProxyType({other: right for right, others in rows for other in others.split()})


@cache
def _by_name(table: str) -> Mapping[str, tuple[str, ...]]:
    """Return the right words for each other name in a table of `hints.json`, in their order, in any spelling.

    Args:
        table: `fields` (of several, the first that a class has is meant), `advice` on what other libraries compute, to
            be looked up after the fields; what there is instead of other libraries' `methods`, `classes`, and `errors`,
            and of attributes of frameworks' `tools`; the adapters of `frameworks`.
    """
    words: dict[str, tuple[str, ...]] = {}
    for right, others in _tables()[table].items():
        for other in map(_plain, others.split()):
            words[other] = (*words.get(other, ()), right)
    return words


METHODS: Final = other_names("calls")
"""Other libraries' names of methods that search, open and answer."""

NEWS: Final = frozenset(("news", "search_news", "news_search"))
"""Names of methods that search for news."""


def _first(table: str, name: str) -> str:
    return next(iter(_by_name(table).get(_plain(name), ())), "")


def _hint(right: str) -> str:
    if not right:
        return ""
    return f"; did you mean {right!r}?" if right.replace(".", "").isidentifier() else f"; use {right}"


def field_hint(name: str, has: Container[str]) -> str:
    """Return a hint for an unknown attribute of a result, a page or an answer; empty if there is none.

    Args:
        name: The attribute.
        has: The names of the attributes that the object has.
    """
    rights = (right for right in _by_name("fields").get(_plain(name), ()) if right.partition(".")[0] in has)
    return _hint(next(rights, _first("advice", name)))


def error_hint(name: str, errors: Container[str]) -> str:
    """Return the error that another library's name means; empty if there is none.

    Args:
        name: Such as `RateLimitError`.
        errors: The errors that exist.
    """
    for plain in (
        *_by_name("errors").get(_plain(name), ()),
        name.removesuffix("Error"),
        name.removesuffix("Exception"),
    ):
        if plain in errors:
            return plain
    return ""


def _attribute_hint(name: str, table: str, calls: Mapping[str, str]) -> str:
    """Return a hint for an attribute; one such as `to_langchain` or `crewai_tools` asks for a framework's tools."""
    words = [word for word in name.split("_") if word not in ("to", "as", "get", "for", "tool", "tools", "web")]
    if framework := _first("frameworks", "".join(words)):
        return f"; use groundwire.integrations.{framework}.web_tools(web)"
    return _hint(_first(table, name) or calls.get(name, ""))


def method_hint(name: str) -> str:
    """Return a hint for an unknown attribute of a client; empty if there is none.

    Args:
        name: The attribute.
    """
    return _attribute_hint(name, "methods", METHODS)


def tool_hint(name: str) -> str:
    """Return a hint for an unknown attribute of a tool; empty if there is none.

    Args:
        name: The attribute.
    """
    return _attribute_hint(name, "tools", {})


def public_hint(name: str, errors: Container[str]) -> str:
    """Return a hint for an unknown name of the package; empty if there is none.

    Args:
        name: The name.
        errors: The errors that exist.
    """
    right = _first("classes", name)
    if not right and (error := error_hint(name, errors)):
        right = f"groundwire.errors.{error}"
    if not right and "map" in _by_name("methods").get(_plain(name), ()):
        right = "SyncWeb().map"
    return _hint(right) or method_hint(name)
