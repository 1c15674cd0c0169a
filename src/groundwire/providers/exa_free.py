"""Exa's public MCP server, a web search without a key (https://exa.ai/docs/reference/exa-mcp).

Without a key it has the tools `web_search_exa` and `web_fetch_exa`, at a free rate limit that is not published
(exa.ai/docs/auth, read on 2026-11-28). The search requires `objective` beside `query`, answers in blocks of text, and
says in its metadata that the limit is reached (pi-web-tools and hermes-web-search of 2026-11).
"""

from __future__ import annotations

from typing import ClassVar

from groundwire.models import Filters
from groundwire.providers.base import Capabilities
from groundwire.providers.http_parsing import ErrorRule
from groundwire.providers.mcp_search import McpSearchProvider, refusal_rules
from groundwire.providers.query_mapping import Mapped

_MAX_RESULTS = 20
_MAX_OBJECTIVE = 4_096  # characters


class ExaFreeSearchProvider(McpSearchProvider):
    """Web search with Exa's public MCP server, without a key."""

    service = "https://mcp.exa.ai"
    terms: ClassVar[str] = "https://exa.ai/assets/Exa_Labs_Terms_of_Service.pdf"
    tool: ClassVar[str] = "web_search_exa"
    limited_meta: ClassVar[str] = "ai.exa/rateLimited"
    errors: ClassVar[tuple[ErrorRule, ...]] = refusal_rules("EXA_API_KEY")
    capabilities: Capabilities = Capabilities(search=True, max_results=_MAX_RESULTS, domains="operator")

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        mapped = Mapped({"query": query, "objective": query[:_MAX_OBJECTIVE], "numResults": min(limit, _MAX_RESULTS)})
        mapped.add_sites(filters, self.name, "query")
        return self.call(mapped)
