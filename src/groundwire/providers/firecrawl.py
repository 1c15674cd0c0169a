"""Firecrawl: web search and scraping, version 2 of its API (https://docs.firecrawl.dev), hosted or self-hosted."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any, ClassVar

from groundwire.deadline import Deadline
from groundwire.errors import PageRefused, ProviderUnavailable, RateLimited, UnexpectedResponse, UnsupportedContent
from groundwire.models import Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ReadApiProvider, SearchApiProvider
from groundwire.providers.http_parsing import (
    ANY_STATUS,
    ErrorRule,
    clean,
    day,
    error_text,
    json_or_empty,
    number_or_none,
    objects,
    result,
    short_message,
    text_or_empty,
    value_at,
)
from groundwire.providers.query_mapping import Mapped, clipped, page_failure, page_result
from groundwire.transport import Response

_MAX_RESULTS = 100
_MAX_QUERY = 500  # characters
_SEARCH_CREDITS = 2  # for every ten rows
_METADATA = ("title", "url", "publishedTime", "modifiedTime", "language", "contentType")
_QUEUED = ErrorRule(
    RateLimited, "too many requests at once", status=ANY_STATUS, at="code", pattern="^CONCURRENCY_QUEUE_TIMEOUT$"
)
_ERRORS = (
    _QUEUED,
    ErrorRule(ProviderUnavailable, "failed", status=range(200, 300), at="success", pattern="^False$"),
)
# Codes of failed scrapes (apps/api/src/lib/error.ts of github.com/firecrawl/firecrawl); also sent with status 200.
_UNREACHABLE = re.compile("SCRAPE_(DNS_RESOLUTION_ERROR|SSL_ERROR|SITE_ERROR|ALL_ENGINES_FAILED)")
_REFUSED = re.compile(
    "UNSUPPORTED_SITE|CRAWL_DENIAL|SAFE_MODE_BLOCKED|unsafe_domain_blocked|SCRAPE_MEDIA_ACCESS_DENIED"
    "|SCRAPE_(PDF|DOCUMENT)_ANTIBOT_ERROR"
)
_UNREADABLE = re.compile("SCRAPE_(UNSUPPORTED_FILE_ERROR|(AUDIO|VIDEO)_UNSUPPORTED_URL)")


class FirecrawlProvider(SearchApiProvider, ReadApiProvider):
    """Web search and reading with Firecrawl; one instance serves both roles."""

    service = "https://api.firecrawl.dev"
    key_variables: ClassVar[tuple[str, ...]] = ("FIRECRAWL_API_KEY",)
    key_page = "https://www.firecrawl.dev/app/api-keys"
    search_credits = _SEARCH_CREDITS
    search_path = "/v2/search"
    read_path = "/v2/scrape"
    read_timeout: ClassVar[float] = 60.0  # it renders pages in a browser and queues requests
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    capabilities: Capabilities = Capabilities(
        search=True,
        read=True,
        renders=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        region=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        text, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        mapped = Mapped({"query": text, "limit": min(limit, _MAX_RESULTS)}, warnings=warnings)
        body = mapped.values
        body |= mapped.domain_lists(filters, self.name, ("includeDomains", "excludeDomains"), one_list=True)
        if tbs := mapped.google_dates(filters, self.today, form=lambda day: f"{day:%m/%d/%Y}"):
            body["tbs"] = tbs
        if filters.region:
            body["country"] = filters.region.upper()
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        data = self.answer(reply)
        lists = data.get("data")  # in v1, and of compatible servers, one flat list
        items = [*objects(lists.get("web")), *objects(lists.get("news"))] if isinstance(lists, dict) else lists
        return replace(self.rows(reply, items, _row), warnings=self._warnings(data))

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: the credits stated in the response, or the usual ones."""
        return self.charge(reply, "creditsUsed", "credit", _SEARCH_CREDITS * math.ceil(len(results) / 10))

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        body = {"url": url, "formats": ["markdown"], "onlyMainContent": True}
        milliseconds = max(1_000, round(deadline.remaining() * 1_000))  # it works until then
        return Mapped(body | {"timeout": milliseconds})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response; a missing page may be reported as a success, with its status."""
        if not _QUEUED.matches(reply):
            _raise_for_page(reply, url)
        data = self.answer(reply).get("data")
        if not isinstance(data, dict):
            raise UnexpectedResponse(self.name, "answered with JSON that has no page", status=reply.status)
        content, words = clean(data.get("markdown")), short_message(value_at(data, "metadata.error"))
        status = number_or_none(value_at(data, "metadata.statusCode"))
        if (status and status >= 400) or (words and not content.strip()):
            raise page_failure(url, status=int(status) if status else None, words=words)
        metadata = {name: _first(value_at(data, f"metadata.{name}")) for name in _METADATA}
        return page_result(
            url,
            content,
            title=metadata["title"],
            final_url=metadata["url"],
            published=day(metadata["publishedTime"]) or None,
            modified=later if (later := day(metadata["modifiedTime"]))[:10] > metadata["publishedTime"][:10] else None,
            language=metadata["language"] or None,
            content_type=metadata["contentType"].partition(";")[0].strip(),
            warnings=self._warnings(data),
        )

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page; see `search_cost`."""
        return self.charge(reply, "data.metadata.creditsUsed", "credit")

    def _warnings(self, data: dict[str, Any]) -> tuple[str, ...]:
        return tuple(f"{self.name}: {warning}" for warning in (short_message(data.get("warning")),) if warning)


def _raise_for_page(reply: Response, url: str) -> None:
    """Raise the error of a failed scrape; 403 means that the service does not support the site."""
    data = json_or_empty(reply)
    code = text_or_empty(data.get("code")) if data.get("success") is not True else ""
    if _UNREACHABLE.fullmatch(code):
        raise page_failure(url, words=code)
    if _REFUSED.fullmatch(code) or reply.status == 403:
        words = short_message(error_text(reply).removeprefix(": ") or code)
        raise PageRefused(url, f"The reader may not read this page ({words}).")
    if _UNREADABLE.fullmatch(code):
        raise UnsupportedContent(url, "The reader does not support this type of page.")


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=text_or_empty(item.get("url")) or _first(value_at(item, "metadata.sourceURL")),
        title=text_or_empty(item.get("title")) or _first(value_at(item, "metadata.title")),  # of scraped rows
        snippet=text_or_empty(item.get("description")) or item.get("snippet"),
        date=item.get("date"),
    )


def _first(value: object) -> str:
    """Return a string, or the first of several: a page may have a head element twice."""
    return clean(value[0] if isinstance(value, list) and value else value)
