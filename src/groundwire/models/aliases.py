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
    "ASK",
    "CLASSES",
    "ERRORS",
    "FOREIGN",
    "LIKE_METHODS",
    "LIKE_MODULES",
    "LIKE_OPTIONS",
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
            ("count", "k", "maxResults", "max_num_results", "max_results", "n", "num", "numResults", "num_results"),
            "limit",
        ),
        **dict.fromkeys(
            ("number_of_results", "size", "top_k"),
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

ASK: Mapping[str, str] = MappingProxyType(dict.fromkeys(("input", "prompt", "q", "query"), "question"))
"""Other names of the arguments of asking a question."""

METHODS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("extract", "fetch", "get", "open", "open_url", "read", "scrape", "scrape_url"),
            "open_page",
        ),
        **dict.fromkeys(("batch_scrape", "open_urls", "read_pages"), "open_pages"),
        **dict.fromkeys(("query", "search_web", "text"), "search"),
        "web_search": "search",
        **dict.fromkeys(("answer", "qna_search"), "ask"),
    }
)
"""Names of search, open and answer methods in other libraries, mapped to Groundwire's methods."""

LIKE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "crawl": "open_page",
        "get_contents": "open_pages",
        "map": "open_page",
        **dict.fromkeys(("ask_stream", "stream_answer"), "ask(..., stream=True)"),
        "research": "ask",
        **dict.fromkeys(("find_similar", "get_search_context", "images", "news", "search_and_contents"), "search"),
        "tools": "groundwire.tools.web_tools",
        "as_retriever": "groundwire.integrations",
        "with_options": "session",
    }
)
"""Other libraries' methods that have no equivalent here, with the nearest one for the error message."""

FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        "search_depth": "a search is as deep as its provider's; read pages with open_page()",
        "include_answer": "use ask()",
        **dict.fromkeys(("contents", "include_raw_content", "scrape_options"), "use open_page()"),
        **dict.fromkeys(("days", "tbs"), "use time_range or published_after"),
        **dict.fromkeys(("livecrawl", "max_age"), "use refresh"),
        **dict.fromkeys(("backend", "engine", "provider"), "use Web(search_providers=[...])"),
        **dict.fromkeys(("category", "topic", "type"), "use the words of the query, or allowed_domains"),
        **dict.fromkeys(("formats", "only_main_content", "wait_for"), "pages are always clean Markdown"),
        **dict.fromkeys(("headers", "user_agent"), "use the setting network.user_agent"),
        "urls": "use open_pages()",
        **dict.fromkeys(
            ("api_key", "apiKey"), "set the variable of the provider, such as BRAVE_API_KEY, or run groundwire setup"
        ),
    }
)
"""Other libraries' arguments that are not supported, with what to use instead."""

ERRORS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("APIError", "APIStatusError", "HTTPError", "HTTPStatusError"), "GroundwireError"),
        **dict.fromkeys(("APITimeoutError", "Timeout", "TimeoutException"), "DeadlineExceeded"),
        "AuthenticationError": "groundwire.errors.AuthenticationFailed",
        "RateLimitError": "groundwire.errors.RateLimited",
    }
)
"""Other libraries' names of errors, with the corresponding ones."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AsyncClient", "AsyncGroundwire", "AsyncWeb"), "Web"),
        **dict.fromkeys(("Client", "Groundwire", "GroundwireClient", "WebClient"), "SyncWeb"),
    }
)
"""Other libraries' names of their clients."""


LIKE_MODULES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        (
            *("agno", "anthropic", "autogen", "crewai", "dspy", "google_adk", "haystack", "langchain", "llamaindex"),
            *("openai_agents", "pydantic_ai", "smolagents", "strands"),
        ),
        "groundwire.integrations.{}",
    )
)
"""Where the adapter of a framework is."""

LIKE_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("-o", "--output", "--output-file"), "> FILE"),
        "--format": "--json",
        **dict.fromkeys(("get", "list", "ls", "view"), "show"),
        **dict.fromkeys(("edit", "unset"), "set"),
    }
)
"""What other command lines call options and subcommands, with what comes nearest."""


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
    plain = {name: call.get(name, one.default) for name, one in parameters.items() if name not in {"self", "aliases"}}
    for name, value in call["aliases"].items():
        right = names.get(name)
        if right not in plain:
            near = nearest(name, (*plain, *names))
            hint = f"; did you mean {names.get(near, near)!r}?" if near else ""
            hint = f"; {FOREIGN[name]}" if name in FOREIGN else hint
            raise TypeError(f"{method.__name__}() has no argument {name!r}{hint} (arguments: {', '.join(plain)})")
        if plain[right] is not parameters[right].default:
            raise TypeError(f"{method.__name__}() got {right!r} twice: {name!r} is another name for it")
        plain[right] = value
    return plain


def other_method(name: str) -> str:
    """Return a hint such as `; did you mean 'open_page'?` for another library's name, else an empty string."""
    near = LIKE_METHODS.get(name) or LIKE_MODULES.get(name, "").format(name) or METHODS.get(name) or ERRORS.get(name)
    return f"; did you mean {near!r}?" if near else ""
