"""Brave's LLM context: passages of pages instead of descriptions (https://api-dashboard.search.brave.com).

It is in the plan and at the price of a search, and takes the key of `brave` (documentation, and the schemas of
Brave's own MCP server 2.1.4, read on 2026-11-28).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.brave import BraveSearchProvider
from groundwire.providers.http_parsing import day, joined, result, text_or_empty, value_at
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response

_MAX_URLS = 50
_PAGE_TOKENS = 512  # of one page, the fewest that may be asked for; a snippet has 1,000 characters
_TOKENS = (1_024, 32_768)  # of all pages


class BraveContextProvider(BraveSearchProvider):
    """Passages of web pages that answer a query, with Brave's LLM context API."""

    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MAX_URLS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="operator",
        language=True,
        region=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        mapped = self.filtered(query, filters, "/res/v1/llm/context")
        pages, (fewest, most) = min(limit, _MAX_URLS), _TOKENS
        mapped.values |= {
            "maximum_number_of_urls": str(pages),
            "maximum_number_of_tokens_per_url": str(_PAGE_TOKENS),
            "maximum_number_of_tokens": str(min(max(fewest, pages * _PAGE_TOKENS), most)),
        }
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response; what is known of a page besides its passages is in `sources`."""
        data = self.answer(reply)
        sources = data.get("sources")
        about = sources if isinstance(sources, dict) else {}
        return self.rows(reply, value_at(data, "grounding.generic"), partial(_row, about=about))


def _row(item: dict[str, Any], name: str, about: dict[str, Any]) -> SearchResult | None:
    ages = value_at([about.get(text_or_empty(item.get("url")))], "age")  # in words, as ISO 8601, and relative
    dates = [text_or_empty(age) for age in ages] if isinstance(ages, list) else []
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=joined(item.get("snippets"), "\n\n"),
        date=next(filter(day, dates), "") or next(iter(dates), ""),
    )
