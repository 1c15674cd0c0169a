"""Other libraries' names for arguments: one table for Python, models, the command line and HTTP.

The names are those used by tavily-python, exa-py, ddgs, firecrawl-py and the OpenAI and Brave APIs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any, TypedDict

from groundwire.models.validators import nearest

__all__ = [
    "CLASSES",
    "METHODS",
    "OPEN_PAGE",
    "SEARCH",
    "PageAliases",
    "SearchAliases",
    "canonical",
    "other_method",
]


SEARCH: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("q", "search_query", "search_term", "text"), "query"),
        **dict.fromkeys(
            ("count", "k", "max_num_results", "max_results", "n", "num", "num_results", "number_of_results", "top_k"),
            "limit",
        ),
        **dict.fromkeys(("domains", "include_domains", "includeDomains", "site"), "allowed_domains"),
        **dict.fromkeys(("exclude_domains", "excludeDomains"), "blocked_domains"),
        **dict.fromkeys(("freshness", "recency", "timelimit"), "time_range"),
        **dict.fromkeys(("start_date", "start_published_date", "startPublishedDate"), "published_after"),
        **dict.fromkeys(("end_date", "end_published_date", "endPublishedDate"), "published_before"),
        **dict.fromkeys(("lang", "search_lang"), "language"),
        "country": "region",
        "safe_search": "safesearch",
        "pageno": "page",
    }
)
"""Other names of the arguments of a search."""

OPEN_PAGE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("href", "link", "page", "page_url", "uri"), "url"),
        **dict.fromkeys(("max_characters", "max_chars"), "max_length"),
    }
)
"""Other names of the arguments of reading a page."""

METHODS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("crawl", "extract", "fetch", "get", "get_contents", "open", "open_url", "read", "scrape", "scrape_url"),
            "open_page",
        ),
        **dict.fromkeys(("query", "search_web", "text", "web_search"), "search"),
    }
)
"""Other libraries' names of searching and reading."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AsyncClient", "AsyncGroundwire", "AsyncWeb"), "Web"),
        **dict.fromkeys(("Client", "Groundwire", "GroundwireClient", "WebClient"), "SyncWeb"),
    }
)
"""Other libraries' names of their clients."""


class SearchAliases(TypedDict, total=False):
    """Other names of the arguments of `Web.search`, with their types."""

    max_results: int | None
    num_results: int | None
    count: int | None
    top_k: int | None
    k: int | None
    n: int | None
    include_domains: Sequence[str]
    exclude_domains: Sequence[str]
    freshness: str
    timelimit: str
    start_published_date: date | str | None
    end_published_date: date | str | None
    start_date: date | str | None
    end_date: date | str | None
    lang: str | None
    country: str | None


class PageAliases(TypedDict, total=False):
    """Other names of the arguments of `Web.open_page`, with their types."""

    max_chars: int | None
    max_characters: int | None


def canonical(method: Callable[..., Any], call: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a call under their canonical names.

    Args:
        method: The name of the called method.
        call: Its `locals()` at the start; `aliases` are the arguments under other names.
        names: The canonical name of each alias.

    Raises:
        TypeError: a name is unknown, or two names mean the same argument.
    """
    parameters = inspect.signature(method).parameters
    plain = {name: call[name] for name in parameters if name not in {"self", "aliases"}}
    for name, value in call["aliases"].items():
        right = names.get(name)
        if right not in plain:
            near = nearest(name, (*plain, *names))
            hint = f"; did you mean {names.get(near, near)!r}?" if near else ""
            raise TypeError(f"{method.__name__}() has no argument {name!r}{hint} (arguments: {', '.join(plain)})")
        if plain[right] is not parameters[right].default:
            raise TypeError(f"{method.__name__}() got {right!r} twice: {name!r} is another name for it")
        plain[right] = value
    return plain


def other_method(name: str) -> str:
    """Return `; did you mean 'open_page'?` for another library's method name; else an empty string."""
    return f"; did you mean {METHODS[name]!r}?" if name in METHODS else ""
