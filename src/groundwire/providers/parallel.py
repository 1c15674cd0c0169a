"""Parallel, a web search with excerpts (https://docs.parallel.ai/api-reference/search/search)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.models import MAX_SNIPPET, Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import joined, objects, result
from groundwire.providers.parallel_extract import ParallelExtract, ParallelExtractOptions
from groundwire.providers.query_mapping import Mapped, clipped, window
from groundwire.transport import Response

__all__ = ["ParallelOptions", "ParallelSearchProvider"]

_MAX_RESULTS = 40
_INCLUDED = 10  # results included in the price of a request
_MAX_DOMAINS = 200
_MAX_QUERY = 200  # characters of one of its search queries; the objective may have 5,000


class ParallelOptions(ParallelExtractOptions):
    """`[providers.parallel]`."""

    mode: Literal["turbo", "fast", "basic", "advanced"] = "basic"
    """How it searches: `turbo` and `fast` within a second, `basic` in a few, `advanced` better and slower. `turbo`
    supports only English and Japanese."""


class ParallelSearchProvider(SearchApiProvider, ParallelExtract):
    """Web search and reading with the Parallel APIs; one instance serves both roles."""

    service = "https://api.parallel.ai"
    key_variables: ClassVar[tuple[str, ...]] = ("PARALLEL_API_KEY", "PARALLEL_AI_API_KEY")
    key_page = "https://platform.parallel.ai"
    key_header = "x-api-key"
    search_path = "/v1/search"
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

    @property
    def price_unit(self) -> str:
        """The mode of the search; its price includes ten results."""
        return self._options.mode


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    snippet = joined(item.get("excerpts"), "\n\n")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=snippet, date=item.get("publish_date"))
