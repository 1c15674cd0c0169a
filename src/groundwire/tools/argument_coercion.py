"""Coercion of models' arguments where their meaning is unambiguous.

Models send numbers as text, lists as the text of a list, a name that another search tool uses, or an object around the
arguments. All of that is understood here, once for every adapter. What is not plain is left as it is and refused, with
a call that would be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.json_text import json_or_none
from groundwire.models import TimeRange
from groundwire.models.argument_names import OPEN_PAGE, SEARCH, argument_hint, argument_value, recent, translated
from groundwire.models.validators import faults

_WRAPPER_NAMES = frozenset({"arguments", "args", "input", "kwargs", "parameters", "params"})
_EMPTY_WORDS = frozenset({"", "none", "null", "undefined"})
_LIST_ARGUMENTS = frozenset({"allowed_domains", "blocked_domains", "sources"})
_NUMBER_ARGUMENTS = frozenset({"limit", "max_length", "max_tokens", "page"})
_OFFERED_ARGUMENTS = ("query", "limit", "allowed_domains", "time_range", "sources")
_TEXT_ARGUMENTS = frozenset({"query", "find", "cursor", "url"})
_MAX_JSON_CHARS = 10_000  # characters; a list of domains is shorter

_APPLICATION_ARGUMENTS = frozenset({"timeout", "refresh", "keep"})  # a model's wish for these has no effect

_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "web_search": SEARCH,
        "open_page": OPEN_PAGE,
        "search": MappingProxyType(
            {"limit": "max_results"}
            | {name: "max_results" if right == "limit" else right for name, right in SEARCH.items()}
        ),
    }
)
"""Other tools' names for the arguments, by tool."""


class SearchArguments(BaseModel):
    """The arguments of `web_search`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    query: str
    """What to search for."""
    limit: int | None = None
    """The maximum number of results."""
    allowed_domains: list[str] = Field(default_factory=list)
    """Only these domains."""
    time_range: TimeRange = "all"
    """The maximum age of results."""
    sources: list[str] | None = None
    """What to search."""
    blocked_domains: list[str] | None = None
    """Exclude these domains. This and what follows is not in the definition that models get, and is accepted."""
    published_after: str | None = None
    """The first publication date allowed."""
    published_before: str | None = None
    """The last publication date allowed."""
    language: str | None = None
    """A language tag."""
    region: str | None = None
    """A country code."""
    safesearch: str | None = None
    """The SafeSearch level."""
    page: int | None = None
    """The page of results."""


class OpenArguments(BaseModel):
    """The arguments of `open_page`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    url: str
    """The URL."""
    query: str | None = None
    """The query for relevant passages."""
    cursor: str | None = None
    """The start of the requested piece."""
    find: str | None = None
    """The text to find."""
    max_length: int | None = None
    """Maximum characters."""
    max_tokens: int | None = None
    """Maximum tokens."""


_EXAMPLES: Mapping[type[BaseModel], str] = MappingProxyType(
    {
        SearchArguments: '{"query": "rust async runtime comparison", "limit": 5, "time_range": "y"}',
        OpenArguments: '{"url": "https://example.org/article", "query": "opening hours"}',
    }
)


def understood(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Normalize the names and types of a call's arguments, as far as their meaning is unambiguous.

    Args:
        tool: The tool's name: `web_search`, `open_page` or `search`.
        arguments: What the model wrote.

    Returns:
        A copy. What is not plain is in it as it was written.
    """
    names = _NAMES.get(tool, {})
    own_names = _argument_names(tool)
    required = "url" if tool == "open_page" else "query"  # an empty one is reported as an error
    written = recent(unwrapped(arguments), names) if tool == "web_search" else unwrapped(arguments)
    plain: dict[str, Any] = {}
    for name, value in written.items():
        right = names.get(name, name)
        if _is_empty(value) and (right != required or right in plain):
            continue  # models fill in every argument they see
        if right in _APPLICATION_ARGUMENTS:
            continue
        if name not in own_names:
            meanings = translated(name, value, names, own_names)
            if meanings is None:
                right = name  # refused with a hint
            elif meanings.keys() == {right}:
                value = meanings[right]
            else:
                plain.update({other: meaning for other, meaning in meanings.items() if _is_empty(plain.get(other))})
                continue
        if right != name and not _is_empty(written.get(right)):
            right = name  # both were given: ambiguous
        if not _is_empty(plain.get(right)):
            right = name
        plain[right] = _value(right, value)
    return plain


def positional(tool: str, values: tuple[object, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments by name: of a mapping, of JSON text, or of text that is the first of them.

    Args:
        tool: The tool's name.
        values: The positional arguments.
        arguments: The keyword arguments.
    """
    plain, first = dict(arguments), "url" if tool == "open_page" else "query"
    for value in values:
        inner = _json(value) if isinstance(value, str) and value.lstrip().startswith("{") else value
        plain |= inner if isinstance(inner, Mapping) else {first: inner}
    return plain


def bad_arguments(error: ValidationError, model: type[BaseModel]) -> str:
    """Return an error message with the problem, the valid arguments, and an example call.

    Args:
        error: The complaints.
        model: The arguments' model.
    """
    names = _OFFERED_ARGUMENTS if model is SearchArguments else tuple(model.model_fields)
    lines = [
        f"{key}: {text}{argument_hint(key, names, {}) if key not in model.model_fields else ''}.".replace("?.", "?")
        for key, text in faults(error)
    ]
    example = f" A correct call: {_EXAMPLES[model]}" if model in _EXAMPLES else ""
    return " ".join([*lines, f"The arguments are: {', '.join(names)}."]) + example


def _argument_names(tool: str) -> set[str]:
    if tool == "open_page":
        return set(OpenArguments.model_fields)
    if tool == "web_search":
        return set(SearchArguments.model_fields)
    return {"query", "max_results", "backend", "allowed_domains"}


def unwrapped(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments without the wrapper object that some models add.

    Args:
        arguments: What the model wrote.
    """
    if len(arguments) != 1:
        return arguments
    ((name, value),) = arguments.items()
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):  # one of several at a time
        return value[0] if all(isinstance(key, str) for key in value[0]) else arguments
    if name not in _WRAPPER_NAMES:
        return arguments
    inner = _json(value) if isinstance(value, str) else value
    return inner if isinstance(inner, dict) and all(isinstance(key, str) for key in inner) else arguments


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in _EMPTY_WORDS)


def _value(name: str, value: Any) -> Any:
    """Convert a value to the type of its argument, if it is unambiguous."""
    if name in _LIST_ARGUMENTS:
        value = _words(value)
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if name in _TEXT_ARGUMENTS and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        if name in _NUMBER_ARGUMENTS or name == "max_results":
            return value.strip().strip("'\"").replace(",", "").replace("_", "")
        if name == "time_range":
            value = value.strip().strip("'\"").lower()
        if name == "url":
            value = _address(value)
    return argument_value(name, value)


def _words(value: Any) -> Any:
    """Parse a list of words given as JSON or comma-separated."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if len(text) > _MAX_JSON_CHARS:
        return value
    if text.startswith("["):
        inner = _json(text)
        return inner if isinstance(inner, list) else value
    return [word.strip().strip("'\"") for word in text.split(",") if word.strip()]


def _address(text: str) -> str:
    """Return a URL without surrounding Markdown or punctuation."""
    if len(text) > _MAX_JSON_CHARS:
        return text
    text = text.strip()
    link = re.fullmatch(r"\[[^\]]*\]\((\S+)\)", text)
    text = link[1] if link else text
    for before, after in (("<", ">"), ('"', '"'), ("'", "'"), ("`", "`")):
        if len(text) > 1 and text.startswith(before) and text.endswith(after):
            text = text[1:-1].strip()
    return text


def _json(text: str) -> object:
    return json_or_none(text) if len(text) <= _MAX_JSON_CHARS else None
