"""Hints for names that people know from other libraries: the right word for a field, a method, a class or an error.

A wrong name stays an AttributeError, whose message names the right one. The names of arguments are in
`groundwire.models.argument_names`.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

__all__ = ["METHODS", "NEWS", "error_hint", "field_hint", "method_hint", "public_hint", "tool_hint"]


def _plain(name: str) -> str:
    """Return a name as it is looked up: `publishedDate` and `published_date` are alike."""
    return name.replace("_", "").lower()


@cache
def _by_name(table: str) -> Mapping[str, tuple[str, ...]]:
    """Return the right words for each other name in a table of `hints.json`, in their order.

    Args:
        table: `fields` (of several, the first that a class has is meant), `advice` on what other libraries compute, to
            be looked up after the fields; what there is instead of other libraries' `methods`, `classes`, and `errors`,
            and of attributes of frameworks' `tools`.
    """
    rows: Mapping[str, str] = json.loads(Path(__file__).with_name("hints.json").read_bytes())[table]
    words: dict[str, tuple[str, ...]] = {}
    for right, others in rows.items():
        for other in map(_plain, others.split()):
            words[other] = (*words.get(other, ()), right)
    return words


METHODS: Final = MappingProxyType(
    {
        other: right
        for right, others in {
            "open_page": "extract fetch get open open_url read scrape scrape_url load read_page get_page read_url "
            "fetch_page fetch_url extract_content web_fetch get_content crawling",
            "open_pages": "batch open_many fetch_many get_many scrape_many extract_many open_all "
            "batch_scrape open_urls read_pages get_contents contents scrape_urls batch_scrape_urls fetch_pages",
            "search": "query search_web text web_search search_text websearch",
            "ask": "answer qna_search chat",
        }.items()
        for other in others.split()
    }
)
"""Other libraries' names of methods that search, open and answer."""

NEWS: Final = frozenset(("news", "search_news", "news_search"))
"""Names of methods that search for news."""

_ADAPTERS: Final = (
    *("agent_framework", "agno", "anthropic", "autogen", "crewai", "dspy", "google_adk", "haystack", "langchain"),
    *("llamaindex", "openai_agents", "pydantic_ai", "smolagents", "strands"),
)
_FRAMEWORKS: Final = MappingProxyType(
    {name.replace("_", ""): name for name in _ADAPTERS}
    | {"langgraph": "langchain", "adk": "google_adk", "openaiagent": "openai_agents", "agents": "openai_agents"}
)
"""The adapter of each framework, without underscores."""


def _hint(right: str) -> str:
    return f"; did you mean {right!r}?" if right.replace(".", "").isidentifier() else f"; use {right}"


def field_hint(name: str, has: Container[str]) -> str:
    """Return a hint for an unknown attribute of a result, a page or an answer; empty if there is none.

    Args:
        name: The attribute.
        has: The names of the attributes that the object has.
    """
    plain = _plain(name)
    rights = (right for right in _by_name("fields").get(plain, ()) if right.partition(".")[0] in has)
    right = next(rights, next(iter(_by_name("advice").get(plain, ())), ""))
    return _hint(right) if right else ""


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


def _framework_of(name: str) -> str:
    """Return the framework whose tools a name such as `to_langchain` or `crewai_tools` asks for; else nothing.

    Args:
        name: The name of a method.
    """
    words = [word for word in name.split("_") if word not in ("to", "as", "get", "for", "tool", "tools", "web")]
    return _FRAMEWORKS.get("".join(words), "")


def method_hint(name: str) -> str:
    """Return a hint for an unknown attribute of a client; empty if there is none.

    Args:
        name: The attribute.
    """
    if framework := _framework_of(name):
        return f"; use groundwire.integrations.{framework}.web_tools(web)"
    right = next(iter(_by_name("methods").get(_plain(name), ())), METHODS.get(name, ""))
    return _hint(right) if right else ""


def tool_hint(name: str) -> str:
    """Return a hint for an unknown attribute of a tool; empty if there is none.

    Args:
        name: The attribute.
    """
    if framework := _framework_of(name):
        return f"; use groundwire.integrations.{framework}.web_tools(web)"
    right = next(iter(_by_name("tools").get(_plain(name), ())), "")
    return _hint(right) if right else ""


def public_hint(name: str, errors: Container[str]) -> str:
    """Return a hint for an unknown name of the package; empty if there is none.

    Args:
        name: The name.
        errors: The errors that exist.
    """
    right = next(iter(_by_name("classes").get(_plain(name), ())), "")
    if not right and (error := error_hint(name, errors)):
        right = f"groundwire.errors.{error}"
    if not right and "map" in _by_name("methods").get(_plain(name), ()):
        right = "SyncWeb().map"
    return _hint(right) if right else method_hint(name)
