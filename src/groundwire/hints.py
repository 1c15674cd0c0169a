"""Hints for names that people know from other libraries: the right word for a field, a method, a class or an error.

A wrong name stays an AttributeError, whose message names the right one. The names of arguments are in
`groundwire.models.argument_names`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["METHODS", "NEWS", "error_hint", "field_hint", "method_hint", "public_hint", "tool_hint"]


def _plain(name: str) -> str:
    """Return a name as it is looked up: `publishedDate` and `published_date` are alike."""
    return name.replace("_", "").lower()


def _by_name(words: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return the right words for each other name, in their order."""
    table: dict[str, tuple[str, ...]] = {}
    for right, others in words.items():
        for other in map(_plain, others.split()):
            table[other] = (*table.get(other, ()), right)
    return MappingProxyType(table)


_FIELDS: Final = _by_name(
    {
        "url": "link href uri id source_url domain hostname host site netloc",
        "content": "body text page_content raw_content md markdown description excerpt summary abstract html raw_html "
        "screenshot soup body_html images word_count words",
        "snippet": "body text page_content raw_content md markdown content description excerpt summary abstract "
        "highlights",
        "text": "answer content output_text markdown response output message",
        "delta": "text content",
        "published": "date published_date published_at page_age",
        "modified": "updated last_updated updated_at last_modified modified_at date_modified modified_date "
        "modified_time",
        "title": "name headline heading metadata author",
        "language": "lang",
        "citation_id": "rank position index number score",
        "source": "engine engines backend metadata author",
        "provider": "engine engines backend",
        "reader": "engine engines backend fetcher",
        "sections": "headings toc outline table_of_contents",
        "excerpts": "passages chunks highlights",
        "cached": "is_cached from_cache cache_hit",
        "truncated": "is_truncated has_more",
        "content_length": "length char_count size token_count num_tokens",
        "author": "authors byline creator metadata",
        "content_type": "mime_type media_type",
        "final_url": "resolved_url canonical_url response_url",
        "next_cursor": "next next_page cursor next_offset next_page_token continuation",
        "version": "hash etag checksum",
        "cost_usd": "cost price cost_dollars",
        "status": "ok success is_success successful status_code code headers encoding http_status cookies "
        "raise_for_status",
        "results": "items data organic organic_results hits web answer related_searches images",
        "sources": "citations references results search_results",
        "attempts": "took elapsed latency latency_ms duration response_time cost cost_usd price",
        "question": "query prompt",
        "report": "verification",
        "report.supported": "verified supported is_verified is_supported grounded",
        "report.findings": "findings claims sentences unsupported unverified",
        "open": "fetch read load scrape get_page extract",
    }
)
"""The attributes here for each name of a field in other libraries; the first that a class has is meant."""

_ADVICE: Final = _by_name(
    {
        "len(response)": "total total_results total_count num_results is_empty empty",
        "response[0]": "first top best",
        "[result.url for result in response]": "urls links",
        "[result.title for result in response]": "titles",
        "[result.snippet for result in response]": "snippets",
        "str(...)": "to_markdown to_text to_str as_text",
        "model_dump()": "to_dict dict to_list to_dicts as_dict asdict",
        "model_dump_json()": "to_json json",
        "an attribute, such as .url": "get keys values",
        "urljoin(result.url, '/favicon.ico')": "favicon icon",
        "Path(...).write_text(str(page))": "save write to_file",
    }
)
"""What to write instead of what other libraries compute; it is looked up after the fields."""

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

_ASKING = "groundwire.ask(question, web), or await groundwire.agent_loop.ask(question, web=web)"
_METHOD_ADVICE: Final = _by_name(
    {
        "open_page": "screenshot arun post",
        "map": "crawl crawl_url sitemap start_crawl map_url map_site",
        "search": "find_similar find_similar_and_contents get_search_context images videos image_search suggestions "
        "books results run invoke ainvoke asearch",
        "search(query, time_range='month')": " ".join(NEWS),
        "search, once a query": "search_many batch_search multi_search search_all search_batch",
        _ASKING: "ask answer qna_search chat research complete responses deep_research ask_stream stream_answer stream",
        "groundwire.web_tools(web)": "tools as_tools get_tools web_tools to_tools",
        "groundwire.web_tools(web)[0].call(...)": "call_tool run_tool execute_tool handle_tool_call invoke_tool "
        "dispatch",
        "search_providers": "provider providers",
        "settings": "config",
        "SyncWeb().verify": "verify verify_answer verify_claim check_claims fact_check",
        "settings.search.timeout": "timeout",
        "open_page(url).links": "get_links links extract_links",
        "usage()": "cost total_cost spent cost_usd stats credits get_usage",
        "sources()": "history log visited citations",
        "Web({'cache.enabled': False}), or refresh=True": "cache clear_cache cache_clear",
        "logging.getLogger('groundwire')": "enable_logging set_debug debug logger",
        "search(), then open_pages()": "search_and_contents",
        "groundwire.integrations": "as_retriever",
        "session": "with_options",
        "Web()": "from_env create from_config from_settings",
    }
)
"""What a client has instead of a method of other libraries."""

_CLASSES: Final = _by_name(
    {
        "Web": "AsyncClient AsyncGroundwire AsyncWeb AsyncGroundwireClient AsyncSession AsyncTavilyClient AsyncExa "
        "AsyncFirecrawl AsyncFirecrawlApp AsyncDDGS",
        "SyncWeb": "TavilyClient Exa Firecrawl FirecrawlApp DDGS Client Groundwire GroundwireClient WebClient Session "
        "WebSync",
        "Settings": "Config Configuration",
        "SearchResult": "Result Hit SearchHit",
        "SearchResponse": "SearchResults Response SearchResultSet",
        "Page": "Document WebPage PageContent OpenedPage",
        "__version__": "version",
        "errors": "exceptions exception",
    }
)

_ERRORS: Final = _by_name(
    {
        "GroundwireError": "APIError APIStatusError HTTPError HTTPStatusError RequestException RequestError "
        "DDGSException NetworkError APIConnectionError ConnectionError ConnectError Error WebError "
        "GroundwireException ServerError ClientError",
        "DeadlineExceeded": "APITimeoutError Timeout TimeoutException TimeoutError",
        "AuthenticationFailed": "AuthenticationError InvalidAPIKeyError UnauthorizedError",
        "RateLimited": "RateLimitError RatelimitException UsageLimitExceededError TooManyRequests RateLimitExceeded "
        "RateLimitedError",
        "InvalidRequest": "BadRequestError ValidationError InvalidURL InvalidURLError InvalidQuery MissingSchema",
        "MissingKey": "MissingAPIKeyError APIKeyError NoAPIKeyError MissingKeyError",
        "PageNotFound": "NotFoundError NotFound PageNotFoundError",
        "PageError": "FetchError OpenError ReadError ScrapeError ExtractionError",
        "AllProvidersFailed": "SearchError SearchFailed NoProviderError ProvidersFailed",
        "ConfigurationError": "ConfigError SettingsError InvalidConfig",
        "BlockedByPolicy": "BlockedError PolicyError BlockedURLError ForbiddenError",
        "BlockedAddress": "SecurityError SSRFError UnsafeURLError PrivateAddressError",
        "BlockedByRobots": "RobotsError RobotsDisallowed DisallowedByRobots",
    }
)
"""The errors here for other libraries' names of errors."""

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
    rights = (right for right in _FIELDS.get(plain, ()) if right.partition(".")[0] in has)
    right = next(rights, next(iter(_ADVICE.get(plain, ())), ""))
    return _hint(right) if right else ""


def error_hint(name: str, errors: Container[str]) -> str:
    """Return the error that another library's name means; empty if there is none.

    Args:
        name: Such as `RateLimitError`.
        errors: The errors that exist.
    """
    for plain in (*_ERRORS.get(_plain(name), ()), name.removesuffix("Error"), name.removesuffix("Exception")):
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
    right = next(iter(_METHOD_ADVICE.get(_plain(name), ())), METHODS.get(name, ""))
    return _hint(right) if right else ""


_TOOL_ADVICE: Final = _by_name(
    {
        "await tool.call(...)": "acall ainvoke arun aexecute coroutine func function fn invoke run execute forward",
        'definition()["parameters"]': "schema args_schema input_schema args json_schema",
        "definition()": "to_dict to_json_schema model_dump to_function",
    }
)
"""What a tool has instead of attributes of frameworks' tools."""


def tool_hint(name: str) -> str:
    """Return a hint for an unknown attribute of a tool; empty if there is none.

    Args:
        name: The attribute.
    """
    if framework := _framework_of(name):
        return f"; use groundwire.integrations.{framework}.web_tools(web)"
    right = next(iter(_TOOL_ADVICE.get(_plain(name), ())), "")
    return _hint(right) if right else ""


def public_hint(name: str, errors: Container[str]) -> str:
    """Return a hint for an unknown name of the package; empty if there is none.

    Args:
        name: The name.
        errors: The errors that exist.
    """
    right = next(iter(_CLASSES.get(_plain(name), ())), "")
    if not right and (error := error_hint(name, errors)):
        right = f"groundwire.errors.{error}"
    if not right and "map" in _METHOD_ADVICE.get(_plain(name), ()):
        right = "SyncWeb().map"
    return _hint(right) if right else method_hint(name)
