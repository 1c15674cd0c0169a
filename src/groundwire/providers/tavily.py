"""Tavily: web search and page extraction (https://docs.tavily.com)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from groundwire.deadline import Deadline
from groundwire.errors import QuotaExceeded
from groundwire.models import Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, ReadApiProvider, SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, clean, result, short_message
from groundwire.providers.query_mapping import Mapped, clipped, country_name, page_failure, page_result, time_filter
from groundwire.transport import Response

_MAX_RESULTS = 20
_MAX_QUERY = 400  # characters
_MAX_ALLOWED, _MAX_BLOCKED = 300, 150  # domains
_SEARCH_CREDITS: Final[Mapping[str, int]] = {"basic": 1, "fast": 1, "ultra-fast": 1, "advanced": 2}
_EXTRACT_CREDITS: Final[Mapping[str, float]] = {"basic": 0.2, "advanced": 0.4}  # 1 and 2 for five pages
_ERRORS = (  # 432: the plan's or the key's limit; 433: that of pay as you go
    ErrorRule(QuotaExceeded, "the plan's limit is reached", "Raise it, or wait for the next month", status=(432, 433)),
)


class TavilyOptions(ApiOptions):
    """`[providers.tavily]`, and `[providers.tavily_free]`."""

    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    """The search depth; `advanced` costs 2 credits instead of 1."""
    extract_depth: Literal["basic", "advanced"] = "basic"
    """The extraction depth; `advanced` gets more tables and embedded content and costs twice as much."""


class TavilyProvider(SearchApiProvider, ReadApiProvider):
    """Web search and reading with Tavily; one instance serves both roles."""

    service = "https://api.tavily.com"
    key_variables: ClassVar[tuple[str, ...]] = ("TAVILY_API_KEY",)
    key_page = "https://app.tavily.com"
    read_path = "/extract"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    Options: ClassVar[type[TavilyOptions]] = TavilyOptions
    _options: TavilyOptions
    capabilities: Capabilities = Capabilities(
        search=True,
        read=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        language=True,
        region=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        text, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        mapped = Mapped({"query": text, "max_results": min(limit, _MAX_RESULTS)}, warnings=warnings)
        body = mapped.values
        body |= {"search_depth": self._options.search_depth, "include_usage": True}
        body |= time_filter(filters, "time_range", ("start_date", "end_date"))
        keys = ("include_domains", "exclude_domains")
        body |= mapped.domain_lists(filters, self.name, keys, most=_MAX_ALLOWED, most_blocked=_MAX_BLOCKED)
        if language := mapped.language_code(filters):
            body["language"] = language
        if country := country_name(filters.region or ""):
            body["country"] = country
        elif filters.region:
            mapped.applied["region"] = "not_possible"
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return self.rows(reply, self.answer(reply).get("results"), _row)

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: the credits stated in the response, or the usual ones."""
        return self.charge(reply, "usage.credits", "credit", _SEARCH_CREDITS[self._options.search_depth])

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        depth = self._options.extract_depth
        return Mapped({"urls": [url], "extract_depth": depth, "format": "markdown", "include_usage": True})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response. HTTP status 200 may contain a failure."""
        pages, failed = self.lists(reply, "results", "failed_results")
        page = next((item for item in pages if clean(item.get("raw_content")).strip()), {})
        if failed and not page:
            raise page_failure(url, words=short_message(failed[0].get("error")))
        return page_result(url, clean(page.get("raw_content")), title=page.get("title"))

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page; see `search_cost`."""
        return self.charge(reply, "usage.credits", "credit", _EXTRACT_CREDITS[self._options.extract_depth])


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=item.get("content"),
        date=item.get("published_date"),
        score=item.get("score"),
    )
