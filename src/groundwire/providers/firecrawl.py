"""Firecrawl: web search and scraping, version 2 of its API (https://docs.firecrawl.dev), hosted or self-hosted."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import PageRefused, ProviderUnavailable, RateLimited, UnexpectedResponse, UnsupportedContent
from groundwire.models import NO_FILTERS, Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    clean,
    clipped,
    day,
    empty_page,
    error_text,
    failure,
    json_object,
    json_or_empty,
    number_or_none,
    objects,
    page_failure,
    raise_for_status,
    said,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import domain_lists
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["FirecrawlOptions", "FirecrawlProvider", "parse", "parse_page", "to_body"]

_MOST_RESULTS = 100
_MOST_CHARACTERS = 500  # of a query
_READ_TIMEOUT = 60.0  # seconds; it renders pages in a browser and lets requests queue
_SEARCH_CREDITS = 2  # for every ten rows
# Codes of failed scrapes (apps/api/src/lib/error.ts of github.com/firecrawl/firecrawl); 200 may carry one, too.
_UNREACHABLE = frozenset(
    {"SCRAPE_DNS_RESOLUTION_ERROR", "SCRAPE_SSL_ERROR", "SCRAPE_SITE_ERROR", "SCRAPE_ALL_ENGINES_FAILED"}
)
_REFUSED = frozenset(
    {"UNSUPPORTED_SITE", "CRAWL_DENIAL", "SAFE_MODE_BLOCKED", "unsafe_domain_blocked", "SCRAPE_MEDIA_ACCESS_DENIED"}
    | {"SCRAPE_PDF_ANTIBOT_ERROR", "SCRAPE_DOCUMENT_ANTIBOT_ERROR"}
)
_UNREADABLE = frozenset(
    {"SCRAPE_UNSUPPORTED_FILE_ERROR", "SCRAPE_AUDIO_UNSUPPORTED_URL", "SCRAPE_VIDEO_UNSUPPORTED_URL"}
)


class FirecrawlOptions(ApiOptions):
    """`[providers.firecrawl]`."""

    sources: Literal["web", "news"] = "web"
    """What to search."""
    only_main_content: bool = True
    """Whether navigation, headers and footers of a page are left out when it is read."""


class FirecrawlProvider(ApiProvider):
    """Web search and reading by Firecrawl; one instance serves both roles."""

    service = "https://api.firecrawl.dev"
    key_variables = ("FIRECRAWL_API_KEY",)
    search_credits = _SEARCH_CREDITS
    key_page = "https://www.firecrawl.dev/app/api-keys"
    Options = FirecrawlOptions
    capabilities = Capabilities(
        search=True,
        read=True,
        renders=True,
        max_results=_MOST_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        region=True,
    )

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        mapped = to_body(query, limit, filters, cast("FirecrawlOptions", self._options))

        def read(reply: Reply) -> Results:
            found = parse(reply, self.name)
            usual = _SEARCH_CREDITS * math.ceil(len(found) / 10)
            return self.finished(found, mapped, self._cost(json_object(reply, self.name), usual))

        return await self.ask("POST", "/v2/search", read, json_body=mapped.values, deadline=deadline)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        limited = (deadline or Deadline.after(_READ_TIMEOUT)).capped(_READ_TIMEOUT)
        body = {
            "url": url,
            "formats": ["markdown"],
            "onlyMainContent": cast("FirecrawlOptions", self._options).only_main_content,
            "timeout": max(1_000, round(limited.remaining() * 1_000)),  # milliseconds; it works on until then
        }

        def read(reply: Reply) -> ReadResult:
            page = parse_page(reply, url, self.name)
            metadata = _object(_object(json_object(reply, self.name).get("data")).get("metadata"))
            return page.model_copy(update={"cost_usd": self._cost(metadata, 1)})

        return await self.ask("POST", "/v2/scrape", read, json_body=body, deadline=limited, timeout=_READ_TIMEOUT)

    def _cost(self, data: dict[str, Any], usual: float) -> float:
        """Return what a good answer cost: the credits that it names, or the usual ones."""
        credits_used = number_or_none(data.get("creditsUsed"))
        return self._prices.cost("credit", usual if credits_used is None else max(0.0, credits_used))


def to_body(query: str, limit: int, filters: Filters, options: FirecrawlOptions | None = None) -> Mapped:
    """Return the body of a search, and what became of the filters."""
    options = options or FirecrawlOptions()
    text, warnings = clipped("firecrawl", query, characters=_MOST_CHARACTERS)
    mapped = Mapped({"query": text, "limit": min(limit, _MOST_RESULTS)}, warnings=warnings)
    body = mapped.values
    body["sources"] = [options.sources]
    body |= domain_lists(mapped, filters, "firecrawl", ("includeDomains", "excludeDomains"), one_list=True)
    if tbs := _tbs(filters):
        body["tbs"] = tbs
    if filters.region:
        body["country"] = filters.region.upper()
    return mapped


def _tbs(filters: Filters) -> str:
    """Return the time filter, in the form of Google's `tbs` parameter; a range beside dates becomes a date."""
    if filters.published_after is None and filters.published_before is None:
        return f"qdr:{filters.time_range}" if filters.time_range != "all" else ""
    first, last = window(filters)
    parts = ["cdr:1", f"cd_min:{_american(first)}" if first else "", f"cd_max:{_american(last)}" if last else ""]
    return ",".join(part for part in parts if part)


def _american(value: date) -> str:
    return value.strftime("%m/%d/%Y")


def parse(reply: Reply, name: str = "firecrawl") -> Results:
    """Read the answer to a search.

    Raises:
        ProviderError: it is a failure, or not of the service's form.
    """
    _raise_if_queued(reply, name)
    raise_for_status(reply, name)
    data = json_object(reply, name)
    if data.get("success") is False:
        raise failure(ProviderUnavailable, reply, name, "failed")
    lists = data.get("data")
    items = [item for key in ("web", "news") for item in objects(lists.get(key))] if isinstance(lists, dict) else None
    warning = said(data.get("warning"))
    return replace(results(reply, name, items, _row), warnings=(f"{name}: {warning}",) if warning else ())


def parse_page(reply: Reply, url: str, name: str = "firecrawl") -> ReadResult:
    """Read the answer to a request for one page. A page that is not there may come as a success: its status tells.

    Raises:
        PageError: the page cannot be had. ProviderError: the answer is a failure, or not of the service's form.
    """
    _raise_if_queued(reply, name)
    _raise_for_page(reply, url)
    raise_for_status(reply, name)
    answer = json_object(reply, name)
    if answer.get("success") is False:
        raise failure(ProviderUnavailable, reply, name, "failed")
    data = answer.get("data")
    if not isinstance(data, dict):
        raise UnexpectedResponse(name, "answered with JSON that has no page", status=reply.status)
    metadata = _object(data.get("metadata"))
    content = clean(data.get("markdown"))
    status = number_or_none(metadata.get("statusCode"))
    words = said(metadata.get("error"))
    if (status and status >= 400) or (words and not content.strip()):
        raise page_failure(url, status=int(status) if status else None, words=words)
    if not content.strip():
        raise empty_page(url)
    warning = said(data.get("warning"))
    return ReadResult(
        url=url,
        title=_first(metadata.get("title")),
        content=content,
        content_length=len(content),
        success=True,
        final_url=_first(metadata.get("url")),
        published=day(_first(metadata.get("publishedTime"))) or None,
        language=_first(metadata.get("language")) or None,
        content_type=_first(metadata.get("contentType")).partition(";")[0].strip(),
        warnings=(f"{name}: {warning}",) if warning else (),
    )


def _raise_if_queued(reply: Reply, name: str) -> None:
    if _code(reply) == "CONCURRENCY_QUEUE_TIMEOUT":
        raise failure(RateLimited, reply, name, "too many requests at once")


def _raise_for_page(reply: Reply, url: str) -> None:
    """Raise what a failed scrape says of the page; 403 is its answer for sites that it does not serve."""
    code = _code(reply)
    words = error_text(reply).removeprefix(": ")
    if code in _UNREACHABLE:
        raise page_failure(url, words=code)
    if code in _REFUSED or reply.status == 403:
        raise PageRefused(url, f"The reader may not read this page ({said(words or code)}). Open another page.")
    if code in _UNREADABLE:
        raise UnsupportedContent(url, "The page is of a type that the reader does not read. Open another page.")


def _code(reply: Reply) -> str:
    """Return the code of a failure, whatever its HTTP status; nothing for a success."""
    data = json_or_empty(reply)
    return text_or_empty(data.get("code")) if data.get("success") is not True else ""


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    metadata = _object(item.get("metadata"))  # rows that were scraped, too, may have their names there only
    return result(
        name,
        url=text_or_empty(item.get("url")) or _first(metadata.get("sourceURL")),
        title=text_or_empty(item.get("title")) or _first(metadata.get("title")),
        snippet=text_or_empty(item.get("description")) or item.get("snippet"),
        date=item.get("date"),
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(value: object) -> str:
    """Return a text, or the first of several: a page may have an element of its head twice."""
    return clean(value[0] if isinstance(value, list) and value else value)
