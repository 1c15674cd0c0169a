"""Other libraries' names for arguments: one table for Python, models, the command line and HTTP.

The names are those used by tavily-python, exa-py, ddgs, firecrawl-py and the OpenAI and Brave APIs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from groundwire.models.validators import nearest

if TYPE_CHECKING:
    from groundwire.models.pages import Page
    from groundwire.models.search import SearchResponse

__all__ = [
    "ASK",
    "CLASSES",
    "ERRORS",
    "FOREIGN",
    "LIKE_METHODS",
    "LIKE_MODULES",
    "METHODS",
    "OPEN_PAGE",
    "SAFE_SEARCHES",
    "SEARCH",
    "PageAliases",
    "SearchAliases",
    "canonical",
    "either",
    "foreign",
    "noted",
    "other_method",
    "translated",
    "without_effect",
]


_Made = TypeVar("_Made", "SearchResponse", "Page")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def _names(**others: str) -> Mapping[str, str]:
    """Return the right name of each other name, in snake case and in camel case."""
    table = {other: right for right, words in others.items() for other in words.split()}
    return MappingProxyType({_camel(other): right for other, right in table.items()} | table)


SEARCH: Mapping[str, str] = _names(
    query="q search_query search_term text keywords question",
    limit="count k n num size top_k num_results max_results max_num_results number_of_results result_count per_page",
    allowed_domains="domains include_domains site sites include_sites search_domain_filter domain include_domain",
    blocked_domains="exclude_domains exclude_sites block_domains excluded_domains exclude_domain",
    time_range="freshness recency timelimit time search_recency_filter date_range period",
    published_after="start_date start_published_date after from_date since search_after_date_filter",
    published_before="end_date end_published_date before to_date until search_before_date_filter",
    language="lang search_lang hl lr",
    region="country gl country_code",
    safesearch="safe_search safe",
    page="pageno page_number",
    timeout="max_time request_timeout timeout_seconds",
    refresh="no_cache force_refresh",
)
"""Other names of the arguments of a search."""

OPEN_PAGE: Mapping[str, str] = _names(
    url="href link page page_url uri u website",
    max_length="max_characters max_chars max_content_length text_max_characters",
    query="prompt question objective",
    cursor="next_cursor page_cursor",
    find="pattern search_text",
    timeout="max_time request_timeout timeout_seconds",
    refresh="no_cache force_refresh",
)
"""Other names of the arguments of reading a page."""

ASK: Mapping[str, str] = _names(question="input prompt q query message", timeout="max_time request_timeout")
"""Other names of the arguments of asking a question."""

METHODS: Mapping[str, str] = _names(
    open_page="extract fetch get open open_url read scrape scrape_url load read_page get_page read_url fetch_page "
    "fetch_url extract_content web_fetch get_content",
    open_pages="batch_scrape open_urls read_pages get_contents contents scrape_urls batch_scrape_urls fetch_pages",
    search="query search_web text web_search search_text websearch",
    ask="answer qna_search chat",
)
"""Names of search, open and answer methods in other libraries, mapped to Groundwire's methods."""

LIKE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **_names(
            open_page="crawl map crawl_url map_url sitemap screenshot",
            search="find_similar find_similar_and_contents get_search_context images news videos image_search "
            "news_search",
            ask="research",
        ),
        "stream": "ask(..., stream=True)",
        **dict.fromkeys(("search_and_contents", "searchAndContents"), "search(), then open_pages()"),
        "tools": "groundwire.tools.web_tools",
        "as_retriever": "groundwire.integrations",
        "with_options": "session",
    }
)
"""Other libraries' methods that have no equivalent here, with the nearest one for the error message."""

FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        other: hint
        for words, hint in {
            "search_depth depth mode": "a search is as deep as its provider's; read pages with open_page()",
            "include_answer": "use ask()",
            "contents include_raw_content scrape_options fetch_content include_content": "use open_page()",
            "summary highlights include_text exclude_text": "use open_page() with query",
            "days max_age_days recency_days tbs locale": "use time_range, published_after, language and region",
            "livecrawl max_age use_cache cache": "use refresh",
            "offset start": "use page",
            "sort sort_by order": "results are in order of relevance; use published_after for recent ones",
            "include_images include_image_descriptions images": "results are web pages",
            "include_favicon include_usage include_metadata auto_parameters use_autoprompt exact_match": "leave it out",
            "chunks_per_source max_chunks num_sentences": "use open_page() with query and max_length",
            "backend engine engines search_engine sources": "use Web(search_providers=[...])",
            "provider providers": "use search_providers=[...]",
            "category categories topic type vertical search_type": "use the words of the query, or allowed_domains",
            "formats format output_format response_format return_format extract_depth": "pages are always Markdown",
            "only_main_content wait_for include_tags exclude_tags parsers text": "pages are always clean Markdown",
            "raw html": "the source of a page is not returned; pages are always Markdown",
            "max_pages max_depth max_breadth recursive": "open_page() reads one page, and open_pages() several",
            "headers user_agent cookies": "use the setting network.user_agent",
            "verify verify_ssl insecure": "set SSL_CERT_FILE to a file with your certificate authorities",
            "max_retries retries retry": "leave it out: a failed provider is followed by the next of search_providers",
            "base_url api_url host": "set the address of a provider, such as providers.searxng.base_url",
            "follow_redirects allow_redirects max_redirects": "redirects are followed and checked",
            "proxies": "use proxy",
            "urls ids": "use open_pages()",
            "schema output_schema system_prompt temperature messages": "use ask() for text, and your own model",
            "api_key apikey": "set the variable of the provider, such as BRAVE_API_KEY, or run groundwire setup",
            "start_index offset_characters": 'use cursor, such as "@5120"',
        }.items()
        for name in words.split()
        for other in (name, _camel(name))
    }
)
"""Other libraries' arguments that are not supported, with what to use instead."""

_MARKDOWN = frozenset({"markdown", "md", "text", "txt", "links", "metadata"})
_IMPLIED: Mapping[str, frozenset[object]] = MappingProxyType(
    {
        **dict.fromkeys(("search_depth", "depth", "extract_depth"), frozenset({"basic", "standard"})),
        **dict.fromkeys(("formats", "format", "output_format", "response_format", "return_format"), _MARKDOWN),
        **dict.fromkeys(("topic", "category", "categories", "vertical"), frozenset({"general", "web", "search"})),
        **dict.fromkeys(("type", "search_type", "mode"), frozenset({"auto", "web", "search"})),
        **dict.fromkeys(("backend", "engine"), frozenset({"auto"})),
        "sources": frozenset({"web"}),
        **dict.fromkeys(("only_main_content", "include_metadata", "follow_redirects"), frozenset({True})),
        **dict.fromkeys(("verify", "verify_ssl", "allow_redirects", "use_cache", "text"), frozenset({True})),
        "livecrawl": frozenset({"fallback", "preferred"}),
    }
)
"""What other libraries' arguments may ask for that is so here anyway."""

_WITHOUT_EFFECT: Mapping[str, frozenset[object]] = MappingProxyType(
    {
        **dict.fromkeys(("search_depth", "depth", "extract_depth"), frozenset({"advanced", "fast"})),
        **dict.fromkeys(("type", "search_type", "mode"), frozenset({"neural", "keyword", "fast"})),
        **dict.fromkeys(("use_autoprompt", "auto_parameters", "include_favicon", "include_usage"), frozenset({True})),
    }
)
"""What they may ask for that is ignored, with a warning: the results are right without it."""

ERRORS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("APIError", "APIStatusError", "HTTPError", "HTTPStatusError"), "GroundwireError"),
        **dict.fromkeys(("RequestException", "RequestError", "DDGSException"), "GroundwireError"),
        **dict.fromkeys(("APITimeoutError", "Timeout", "TimeoutException", "TimeoutError"), "DeadlineExceeded"),
        **dict.fromkeys(("AuthenticationError", "InvalidAPIKeyError", "UnauthorizedError"), "AuthenticationFailed"),
        **dict.fromkeys(("RateLimitError", "RatelimitException", "UsageLimitExceededError"), "RateLimited"),
        **dict.fromkeys(("BadRequestError", "ValidationError"), "InvalidRequest"),
        "MissingAPIKeyError": "MissingKey",
    }
)
"""Other libraries' names of errors, with the corresponding ones."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AsyncClient", "AsyncGroundwire", "AsyncWeb", "AsyncGroundwireClient", "AsyncSession"), "Web"),
        **dict.fromkeys(("AsyncTavilyClient", "AsyncExa", "AsyncFirecrawl", "AsyncFirecrawlApp", "AsyncDDGS"), "Web"),
        **dict.fromkeys(("TavilyClient", "Exa", "Firecrawl", "FirecrawlApp", "DDGS"), "SyncWeb"),
        **dict.fromkeys(("Client", "Groundwire", "GroundwireClient", "WebClient", "Session", "WebSync"), "SyncWeb"),
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
    safe_search: Any
    days: float
    search_depth: str
    topic: str
    provider: str


class PageAliases(TypedDict, total=False):
    """Other names of the arguments of `Web.open_page`, with their types."""

    max_chars: int | None
    max_characters: int | None
    formats: Sequence[str]
    only_main_content: bool


def translated(name: str, value: Any, names: Mapping[str, str], known: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the arguments that another library's argument means, by name.

    Args:
        name: Its name.
        value: Its value.
        names: The canonical name of each alias.
        known: The arguments that exist.

    Returns:
        None if it is unknown or means something that does not exist; empty if it asks for nothing.
    """
    known = frozenset(known)
    right = name if name in known else names.get(name)
    if right in known:
        return {right: _value(right, value)}
    if name in FOREIGN:
        if value is None or value is False or value in ("", 0, [], (), {}):
            return {}
        allowed = _IMPLIED.get(_snake(name), frozenset()) | _WITHOUT_EFFECT.get(_snake(name), frozenset())
        asked = value if isinstance(value, (list, tuple)) else [value]
        if all(isinstance(one, (str, bool)) and one in allowed for one in asked):
            return {}
    meant = _converted(_snake(name), value)
    return meant if meant and meant.keys() <= known else None


def without_effect(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a warning for each of a call's arguments that is accepted and ignored.

    Args:
        arguments: The arguments under the names they were given.
    """
    return tuple(
        f"{name} has no effect: {FOREIGN[name]}"
        for name, value in arguments.items()
        if isinstance(value, (str, bool)) and value in _WITHOUT_EFFECT.get(_snake(name), ())
    )


def noted(made: _Made, arguments: Mapping[str, Any]) -> _Made:
    """Return a response with a warning for each argument that is accepted and ignored.

    Args:
        made: The response.
        arguments: The arguments under the names they were given.
    """
    return made.model_copy(update={"warnings": (*made.warnings, *without_effect(arguments))})


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


SAFE_SEARCHES: Mapping[str, str] = MappingProxyType(
    {"on": "strict", "true": "strict", "2": "strict", "1": "moderate", "false": "off", "0": "off", "active": "strict"}
)
"""Other libraries' SafeSearch levels."""


def _value(name: str, value: Any) -> Any:
    """Return a value as Groundwire writes it."""
    if name in ("allowed_domains", "blocked_domains") and isinstance(value, str):
        return value.replace(",", " ").split()
    if name == "safesearch" and value is not None:
        return SAFE_SEARCHES.get(str(value).lower(), value)
    if name == "region" and isinstance(value, str) and len(value) == 2:
        return "gb" if value.lower() == "uk" else value.lower()
    return value


def _converted(name: str, value: Any) -> Mapping[str, Any] | None:
    """Return the arguments that an argument of another kind means."""
    if name in ("days", "recency_days", "max_age_days"):
        try:
            return {"published_after": str((datetime.now(UTC) - timedelta(days=float(value))).date())}
        except (TypeError, ValueError, OverflowError):
            return None
    if name == "livecrawl" and value in ("always", "never"):
        return {"refresh": value == "always"}
    if not isinstance(value, str):
        return {"cursor": f"@{value}"} if name == "start_index" and isinstance(value, int) else None
    if name == "tbs" and value.startswith("qdr:"):
        return {"time_range": value.removeprefix("qdr:")}
    if name == "locale":
        language, _, region = value.replace("_", "-").partition("-")
        return {"language": language} | ({"region": _value("region", region)} if region else {})
    return None


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
        meant = translated(name, value, names, plain)
        if meant is None:
            hint = foreign(name, (*plain, *names), names)
            raise TypeError(f"{method.__name__}() has no argument {name!r}{hint} (arguments: {', '.join(plain)})")
        for right, understood in meant.items():
            if plain[right] is not parameters[right].default:
                raise TypeError(f"{method.__name__}() got {right!r} twice: {name!r} is another name for it")
            plain[right] = understood
    return plain


def foreign(name: str, known: Iterable[str], names: Mapping[str, str]) -> str:
    """Return a hint such as `; use ask()` for an unknown argument, else an empty string.

    Args:
        name: The argument.
        known: Names that it may be a misspelling of.
        names: The canonical name of each alias.
    """
    if name in FOREIGN:
        return f"; {FOREIGN[name]}"
    near = nearest(name, known)
    return f"; did you mean {names.get(near, near)!r}?" if near else ""


def either(one: Callable[..., Any], several: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads one page, or several where it gets a list, as in other libraries.

    Args:
        one: Reads a page.
        several: Reads several.
    """

    @functools.wraps(one)
    def call(url: Any = None, *, urls: Any = None, **options: Any) -> Any:
        asked = url if urls is None else urls
        if asked is None:
            return one(**options)
        return one(asked, **options) if isinstance(asked, str) else several(asked, **options)

    return call


def other_method(name: str) -> str:
    """Return a hint such as `; did you mean 'open_page'?` for another library's name, else an empty string."""
    near = LIKE_METHODS.get(name) or LIKE_MODULES.get(name, "").format(name) or METHODS.get(name)
    return f"; did you mean {near!r}?" if near else ""
