"""Parallel, a web search with excerpts (https://docs.parallel.ai/api-reference/search/search).

It reads with the Extract API (https://docs.parallel.ai/api-reference/extract/extract, parallel-web 1.3.7; 2026-11-28).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.deadline import Deadline
from groundwire.models import MAX_SNIPPET, Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, ReadApiProvider, SearchApiProvider
from groundwire.providers.http_parsing import (
    clean,
    day,
    joined,
    listed_warnings,
    number_or_none,
    objects,
    result,
    short_message,
    text_or_empty,
)
from groundwire.providers.query_mapping import Mapped, clipped, page_failure, page_result, window
from groundwire.transport import Response

_MAX_PAGE = 500_000  # characters
_MAX_EXCERPT = 1_000  # characters of what cannot be left out, and is not used
_MAX_RESULTS = 40
_INCLUDED = 10  # results included in the price of a request
_MAX_DOMAINS = 200
_MAX_QUERY = 200  # characters of one of its search queries; the objective may have 5,000


class ParallelOptions(ApiOptions):
    """`[providers.parallel]`."""

    mode: Literal["turbo", "fast", "basic", "advanced"] = "basic"
    """How it searches: `turbo` and `fast` within a second, `basic` in a few, `advanced` better and slower. `turbo`
    supports only English and Japanese."""


class ParallelSearchProvider(SearchApiProvider, ReadApiProvider):
    """Web search and reading with the Parallel APIs; one instance serves both roles."""

    service = "https://api.parallel.ai"
    key_variables: ClassVar[tuple[str, ...]] = ("PARALLEL_API_KEY", "PARALLEL_AI_API_KEY")
    key_page = "https://platform.parallel.ai"
    key_header = "x-api-key"
    search_path = "/v1/search"
    read_path = "/v1/extract"
    mode_option = "mode"
    Options: ClassVar[type[ParallelOptions]] = ParallelOptions
    _options: ParallelOptions
    capabilities: Capabilities = Capabilities(
        search=True,
        read=True,
        renders=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        domains="native",
        region=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        words, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        settings: dict[str, Any] = {
            "max_results": min(limit, _MAX_RESULTS),
            "excerpt_settings": {"max_chars_per_result": MAX_SNIPPET},
        }
        # Its own settings are accepted only inside `advanced_settings`; at the top level they are rejected (422).
        mapped = Mapped({"search_queries": [words], "mode": self._options.mode, "advanced_settings": settings})
        if warnings:  # nothing is lost: the objective may be long
            mapped.values["objective"] = query
        keys = ("include_domains", "exclude_domains")  # with the first, it ignores the second
        policy: dict[str, Any] = {**mapped.domain_lists(filters, self.name, keys, most=_MAX_DOMAINS, one_list=True)}
        if first := window(filters, self.today)[0]:
            policy["after_date"] = first.isoformat()
        if policy:
            settings["source_policy"] = policy
        if filters.published_after:
            mapped.applied["published_after"] = "native"
        if filters.published_before:
            mapped.applied["published_before"] = "post_filter"
        if filters.region:
            settings["location"] = filters.region.lower()
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return self.rows(reply, self.answer(reply).get("results"), _row, "warnings")

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: one request, and the results beyond the included ones, also unusable ones."""
        returned = sum(1 for _ in objects(self.answer(reply).get("results")))
        return self.price_usd + self._prices.cost("result", max(0, returned - _INCLUDED))

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        settings: dict[str, Any] = {
            "full_content": {"max_chars_per_result": _MAX_PAGE},
            "excerpt_settings": {"max_chars_per_result": _MAX_EXCERPT},
        }
        return Mapped({"urls": [url], "advanced_settings": settings})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response, or why it was not read."""
        pages, failed = self.lists(reply, "results", "errors")
        page = next((item for item in pages if clean(item.get("full_content")).strip()), {})
        if failed and not page:
            status = number_or_none(failed[0].get("http_status_code"))
            words = short_message(failed[0].get("error_type"))
            raise page_failure(url, status=int(status) if status else None, words=words)
        content = clean(page.get("full_content"))
        return page_result(
            url,
            content,
            title=page.get("title"),
            truncated=len(content) >= _MAX_PAGE,
            published=day(text_or_empty(page.get("publish_date"))) or None,
            warnings=listed_warnings(reply, self.name, ("warnings",)),
        )


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    snippet = joined(item.get("excerpts"), "\n\n")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=snippet, date=item.get("publish_date"))
