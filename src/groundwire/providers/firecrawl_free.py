"""Firecrawl's public MCP server, a web search without a key (https://docs.firecrawl.dev/mcp-server/keyless).

Without a key it has Search, Scrape and Parse, at a rate that its page of rate limits states; machines of data centers
may be refused with 403 (docs.firecrawl.dev, read on 2026-11-28).
"""

from __future__ import annotations

from typing import ClassVar

from groundwire.models import Filters, Results
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_parsing import ErrorRule, objects
from groundwire.providers.mcp_search import McpSearchProvider, mcp_row, refusal_rules
from groundwire.providers.query_mapping import Mapped, clipped
from groundwire.transport import Response

_MAX_RESULTS = 20
_MAX_QUERY = 500  # characters


class FirecrawlFreeSearchProvider(McpSearchProvider):
    """Web search with Firecrawl's public MCP server, without a key."""

    service = "https://mcp.firecrawl.dev"
    terms: ClassVar[str] = "https://www.firecrawl.dev/terms-of-service"
    search_path = "/v2/mcp"
    tool: ClassVar[str] = "firecrawl_search"
    errors: ClassVar[tuple[ErrorRule, ...]] = refusal_rules("FIRECRAWL_API_KEY")
    capabilities: Capabilities = Capabilities(
        search=True, max_results=_MAX_RESULTS, time_ranges=ANY_RANGE, dates=True, domains="operator"
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        text, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        mapped = Mapped({"query": text, "limit": min(limit, _MAX_RESULTS)}, warnings=warnings)
        mapped.add_sites(filters, self.name, "query")
        if tbs := mapped.google_dates(filters, self.today, form=lambda day: f"{day:%m/%d/%Y}"):
            mapped.values["tbs"] = tbs
        return self.call(mapped)

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response, which has the lists of the API, with or without its envelope."""
        data = self.payload(reply)
        lists = data if {"web", "news"} & data.keys() else data.get("data")
        items = [*objects(lists.get("web")), *objects(lists.get("news"))] if isinstance(lists, dict) else lists
        return self.rows(reply, data.get("results", items), mcp_row)
