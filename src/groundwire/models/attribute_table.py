"""Other libraries' names of attributes, classes and errors; those of methods and arguments are in `alias_table`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

__all__ = [
    "CLASSES",
    "COMPUTED",
    "ERRORS",
    "LIKE",
    "OTHER_NAMES",
    "WHOLE",
    "PageMetadata",
    "error_class",
    "error_named",
]

OTHER_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("link", "href", "uri", "id", "source_url", "sourceURL", "sourceUrl"), ("url",)),
        **dict.fromkeys(("body", "description", "excerpt", "summary", "abstract"), ("snippet", "content")),
        **dict.fromkeys(("text", "page_content", "raw_content", "rawContent", "md"), ("content", "snippet")),
        **dict.fromkeys(("content", "markdown"), ("snippet",)),
        **dict.fromkeys(("date", "published_date", "publishedDate", "published_at", "page_age"), ("published",)),
        **dict.fromkeys(("updated", "last_updated", "updated_at", "last_modified", "lastModified"), ("modified",)),
        **dict.fromkeys(
            ("modified_at", "date_modified", "dateModified", "modified_date", "modified_time"), ("modified",)
        ),
        **dict.fromkeys(("items", "data", "organic", "organic_results", "hits", "web", "sources"), ("results",)),
        **dict.fromkeys(("name", "headline", "heading"), ("title",)),
        **dict.fromkeys(("lang",), ("language",)),
        **dict.fromkeys(("rank", "position", "index", "number"), ("citation_id",)),
        **dict.fromkeys(("engine", "engines", "backend", "fetcher"), ("source", "provider", "reader")),
        **dict.fromkeys(("headings", "toc", "outline", "table_of_contents"), ("sections",)),
        **dict.fromkeys(("is_truncated", "has_more"), ("truncated",)),
        **dict.fromkeys(("passages", "chunks", "highlights"), ("excerpts",)),
        **dict.fromkeys(("is_cached", "from_cache", "cache_hit"), ("cached",)),
        **dict.fromkeys(("length", "char_count", "size"), ("content_length",)),
        **dict.fromkeys(("authors", "byline", "creator"), ("author",)),
        **dict.fromkeys(("mime_type", "media_type"), ("content_type",)),
        **dict.fromkeys(("resolved_url", "canonical_url", "response_url"), ("final_url",)),
        **dict.fromkeys(
            ("next", "next_page", "cursor", "next_offset", "next_page_token", "continuation"), ("next_cursor",)
        ),
        **dict.fromkeys(("hash", "etag", "checksum"), ("version",)),
        **dict.fromkeys(("cost", "price"), ("cost_usd",)),
    }
)
"""What other libraries call the fields of results and pages; the first that a model has is meant."""
LIKE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "highlights": ("snippet", "excerpts"),
        **dict.fromkeys(("html", "raw_html", "rawHtml", "screenshot", "soup", "body_html"), ("content",)),
        **dict.fromkeys(("headers", "encoding", "http_status", "cookies"), ("status",)),
        **dict.fromkeys(("metadata", "author", "favicon"), ("title", "source")),
        **dict.fromkeys(("answer", "related_searches"), ("results",)),
        **dict.fromkeys(("took", "elapsed", "latency", "latency_ms", "duration", "response_time"), ("attempts",)),
        **dict.fromkeys(("token_count", "num_tokens"), ("content_length",)),
        "images": ("content", "results"),
        "score": ("citation_id",),
    }
)
"""Fields of other libraries that are of another kind here, with what comes nearest."""
COMPUTED: Mapping[str, tuple[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        **dict.fromkeys(("total", "total_results", "total_count", "num_results"), ("results", len)),
        **dict.fromkeys(("first", "top", "best"), ("results", lambda found: next(iter(found), None))),
        **dict.fromkeys(("urls", "links"), ("results", lambda found: [row.url for row in found])),
        **dict.fromkeys(("titles",), ("results", lambda found: [row.title for row in found])),
        **dict.fromkeys(("snippets",), ("results", lambda found: [row.snippet for row in found])),
        **dict.fromkeys(("is_empty", "empty"), ("results", lambda found: not len(found))),
        **dict.fromkeys(("to_list", "to_dicts"), ("results", lambda found: lambda: [row.to_dict() for row in found])),
        **dict.fromkeys(("to_markdown", "to_text", "to_str", "as_text"), ("", lambda whole: lambda: str(whole))),
        **dict.fromkeys(("domain", "hostname", "host", "site", "netloc"), ("url", lambda url: urlsplit(url).hostname)),
        **dict.fromkeys(("cost", "cost_usd"), ("attempts", lambda tries: sum(one.cost_usd for one in tries))),
        **dict.fromkeys(("word_count", "words"), ("content", lambda text: len(text.split()))),
        **dict.fromkeys(("save", "write", "to_file"), ("content", lambda text: partial(_saved, text=text))),
    }
)
"""What other libraries have beside fields: the field it is made of, or none for the whole, and how."""


def _saved(path: str | Path, *, text: str) -> Path:
    """Write a page to a file, and return its path."""
    file = Path(path)
    file.write_text(text, encoding="utf-8")
    return file


WHOLE = frozenset(("results",))  # of a page: itself


ERRORS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("APIError", "APIStatusError", "HTTPError", "HTTPStatusError"), "GroundwireError"),
        **dict.fromkeys(("RequestException", "RequestError", "DDGSException"), "GroundwireError"),
        **dict.fromkeys(("APITimeoutError", "Timeout", "TimeoutException", "TimeoutError"), "DeadlineExceeded"),
        **dict.fromkeys(("AuthenticationError", "InvalidAPIKeyError", "UnauthorizedError"), "AuthenticationFailed"),
        **dict.fromkeys(("RateLimitError", "RatelimitException", "UsageLimitExceededError"), "RateLimited"),
        **dict.fromkeys(("BadRequestError", "ValidationError"), "InvalidRequest"),
        **dict.fromkeys(("MissingAPIKeyError", "APIKeyError", "MissingApiKeyError", "NoAPIKeyError"), "MissingKey"),
        **dict.fromkeys(("NetworkError", "APIConnectionError", "ConnectionError", "ConnectError"), "GroundwireError"),
        **dict.fromkeys(("Error", "WebError", "GroundwireException", "ServerError", "ClientError"), "GroundwireError"),
        **dict.fromkeys(("NotFoundError", "NotFound", "PageNotFoundError"), "PageNotFound"),
        **dict.fromkeys(("FetchError", "OpenError", "ReadError", "ScrapeError", "ExtractionError"), "PageError"),
        **dict.fromkeys(("SearchError", "SearchFailed", "NoProviderError", "ProvidersFailed"), "AllProvidersFailed"),
        **dict.fromkeys(("ConfigError", "SettingsError", "InvalidConfig"), "ConfigurationError"),
        **dict.fromkeys(("InvalidURL", "InvalidURLError", "InvalidQuery", "MissingSchema"), "InvalidRequest"),
        **dict.fromkeys(("BlockedError", "PolicyError", "BlockedURLError", "ForbiddenError"), "BlockedByPolicy"),
        **dict.fromkeys(("SecurityError", "SSRFError", "UnsafeURLError", "PrivateAddressError"), "BlockedAddress"),
        **dict.fromkeys(("RobotsError", "RobotsDisallowed", "DisallowedByRobots"), "BlockedByRobots"),
        **dict.fromkeys(("TooManyRequests", "RateLimitExceeded", "RateLimitedError"), "RateLimited"),
    }
)
"""Other libraries' names of errors, with the corresponding ones."""

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AsyncClient", "AsyncGroundwire", "AsyncWeb", "AsyncGroundwireClient", "AsyncSession"), "Web"),
        **dict.fromkeys(("AsyncTavilyClient", "AsyncExa", "AsyncFirecrawl", "AsyncFirecrawlApp", "AsyncDDGS"), "Web"),
        **dict.fromkeys(("TavilyClient", "Exa", "Firecrawl", "FirecrawlApp", "DDGS"), "SyncWeb"),
        **dict.fromkeys(("Config", "Configuration"), "Settings"),
        **dict.fromkeys(("Result", "Hit", "SearchHit"), "SearchResult"),
        **dict.fromkeys(("SearchResults", "Response", "SearchResultSet"), "SearchResponse"),
        **dict.fromkeys(("Document", "WebPage", "PageContent", "OpenedPage"), "Page"),
        "version": "__version__",
        **dict.fromkeys(("Client", "Groundwire", "GroundwireClient", "WebClient", "Session", "WebSync"), "SyncWeb"),
    }
)
"""Other libraries' names of their clients."""


def error_named(name: str, known: Iterable[str]) -> str:
    """Return the name of an error by another library's name, or nothing.

    Args:
        name: Such as `RateLimitError` or `MissingKeyError`.
        known: The names that exist.
    """
    plain = (name, ERRORS.get(name, ""), name.removesuffix("Error"), name.removesuffix("Exception"))
    return next((one for one in plain if one in tuple(known)), "")


def error_class(name: str, module: Mapping[str, Any]) -> type[Exception]:
    """Return an error by another library's name, for the `__getattr__` of the module of errors.

    Args:
        name: Such as `RateLimitError`.
        module: The names of that module.

    Raises:
        AttributeError: there is none.
    """
    if found := error_named(name, module["__all__"]):
        error: type[Exception] = module[found]
        return error
    raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")


class PageMetadata(dict[str, Any]):
    """What is known of a page beside its content, under Firecrawl's names too; its members are also attributes."""

    __getattr__ = dict.get
