"""Parallel's public Search MCP server, without a key or an account (https://docs.parallel.ai/integrations/mcp).

Its tool `web_search` takes `objective` and `search_queries`, and no filters. Its limits are not published; a 429 says
that they are reached (docs.parallel.ai and github.com/nicobailon/pi-web-access, read on 2026-11-28).
"""

from __future__ import annotations

from typing import ClassVar

from groundwire.models import Filters
from groundwire.providers.base import Capabilities
from groundwire.providers.http_parsing import ErrorRule
from groundwire.providers.mcp_search import McpSearchProvider, refusal_rules
from groundwire.providers.query_mapping import Mapped, clipped

_MAX_RESULTS = 20
_MAX_QUERY, _MAX_OBJECTIVE = 200, 5_000  # characters


class ParallelFreeSearchProvider(McpSearchProvider):
    """Web search with Parallel's public MCP server, without a key."""

    service = "https://search.parallel.ai"
    terms: ClassVar[str] = "https://parallel.ai/customer-terms"
    tool: ClassVar[str] = "web_search"
    errors: ClassVar[tuple[ErrorRule, ...]] = refusal_rules("PARALLEL_API_KEY")
    capabilities: Capabilities = Capabilities(search=True, max_results=_MAX_RESULTS, domains="operator")

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request; the number of its rows is fixed."""
        mapped = Mapped({"objective": query})
        mapped.add_sites(filters, self.name, "objective")
        objective = mapped.values["objective"]
        short_query, _ = clipped(self.name, objective, characters=_MAX_QUERY)
        mapped.values = {"objective": objective[:_MAX_OBJECTIVE], "search_queries": [short_query]}
        return self.call(mapped)
