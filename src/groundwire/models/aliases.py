"""Other libraries' names for our arguments: one table for people, models, the command line and HTTP.

The names are those that tavily-python, exa-py, ddgs, firecrawl-py and the OpenAI and Brave APIs have taught.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict, TypeVar

from groundwire.errors import InvalidRequest

__all__ = [
    "CLASSES",
    "METHODS",
    "OPEN_PAGE",
    "SEARCH",
    "TIME_RANGES",
    "PageAliases",
    "SearchAliases",
    "TimeRangeName",
    "canonical",
    "other_method",
    "takes_aliases",
    "time_range_of",
]

_P = ParamSpec("_P")
_S = TypeVar("_S")
_T = TypeVar("_T")
_Method = Callable[Concatenate[_S, _P], Coroutine[Any, Any, _T]]

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
"""What other libraries call searching and reading."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AsyncClient", "AsyncGroundwire", "AsyncWeb"), "Web"),
        **dict.fromkeys(("Client", "Groundwire", "GroundwireClient", "WebClient"), "SyncWeb"),
    }
)
"""What other libraries call their clients."""

TIME_RANGES: Mapping[str, Literal["d", "w", "m", "y", "all"]] = MappingProxyType(
    {
        **dict.fromkeys(("d", "day", "1d", "24h", "pd", "past day", "past_day", "last day"), "d"),
        **dict.fromkeys(("w", "week", "1w", "7d", "pw", "past week", "past_week", "last week"), "w"),
        **dict.fromkeys(("m", "month", "1m", "30d", "pm", "past month", "past_month", "last month"), "m"),
        **dict.fromkeys(("y", "year", "1y", "12m", "py", "past year", "past_year", "last year"), "y"),
        **dict.fromkeys(("all", "any", "any time", "anytime"), "all"),
    }
)
"""What a time range may be called."""


def time_range_of(name: str) -> Literal["d", "w", "m", "y", "all"]:
    """Return a time range, given by its letter or by any of its names, or raise InvalidRequest."""
    found = TIME_RANGES.get(str(name).strip().lower())
    if found is None:
        raise InvalidRequest("time_range", f"does not know {name!r:.60}", "Pass one of: day, week, month, year, all.")
    return found


TimeRangeName = Literal["day", "week", "month", "year"]
"""The words for `d`, `w`, `m` and `y`."""


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


def canonical(
    function: str, arguments: Mapping[str, Any], known: Sequence[str], aliases: Mapping[str, str]
) -> dict[str, Any]:
    """Return the arguments of a call under our names.

    Args:
        function: What is called, for the error.
        arguments: The arguments by keyword.
        known: Our names.
        aliases: Other names.

    Raises:
        TypeError: a name means nothing here, or two names mean the same argument.
    """
    plain: dict[str, Any] = {}
    for name, value in arguments.items():
        right = name if name in known else aliases.get(name)
        if right is None:
            near = difflib.get_close_matches(name.lower(), [*known, *aliases], n=1, cutoff=0.7)
            hint = f"; did you mean {aliases.get(near[0], near[0])!r}?" if near else ""
            raise TypeError(f"{function}() has no argument {name!r}{hint} (arguments: {', '.join(known)})")
        if right in plain:
            raise TypeError(f"{function}() got {right!r} twice: {name!r} is another name for it")
        plain[right] = value
    return plain


def other_method(name: str) -> str:
    """Return `; did you mean 'open_page'?` for what another library calls it; else nothing."""
    return f"; did you mean {METHODS[name]!r}?" if name in METHODS else ""


def takes_aliases(aliases: Mapping[str, str]) -> Callable[[_Method[_S, _P, _T]], _Method[_S, _P, _T]]:
    """Let an asynchronous method take arguments under other names, too."""

    def decorate(method: _Method[_S, _P, _T]) -> _Method[_S, _P, _T]:
        parameters = inspect.signature(method).parameters.values()
        known = tuple(one.name for one in parameters if one.kind is not one.VAR_KEYWORD)[1:]
        names = frozenset(known)
        renamed: Callable[..., Coroutine[Any, Any, _T]] = method

        @functools.wraps(method)
        async def call(owner: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
            if options.keys() <= names:
                return await method(owner, *args, **options)
            return await renamed(owner, *args, **canonical(method.__name__, options, known, aliases))

        return call

    return decorate
