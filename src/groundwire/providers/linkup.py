"""Linkup, a web search for agents (https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.errors import AuthenticationFailed, QuotaExceeded
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, json_or_empty, result, value_at
from groundwire.providers.linkup_fetch import LinkupFetch, LinkupFetchOptions
from groundwire.providers.query_mapping import Mapped, window
from groundwire.transport import Response

__all__ = ["LinkupOptions", "LinkupSearchProvider"]

_MAX_RESULTS = 50  # no limit is documented; this is the most that is ever requested
_MAX_DOMAINS = 100
_ERRORS = (
    ErrorRule(  # sent as 429, like too many requests
        QuotaExceeded,
        "the account's credit is used up",
        "Add credit to the account, or raise the budget of the key",
        pattern="^(INSUFFICIENT_FUNDS_CREDITS|EXCEED_BUDGET_LIMIT)$",
    ),
    ErrorRule(
        AuthenticationFailed,
        "the key is not allowed from this machine",
        "Add this machine's public address to the key's list of addresses",
        status=(403,),
        pattern="^IP_NOT_WHITELISTED$",
    ),
)


class LinkupOptions(LinkupFetchOptions):
    """`[providers.linkup]`."""

    depth: Literal["flash", "fast", "standard", "deep"] = "fast"
    """How long it searches: `flash` below a second, `fast` about one, `standard` several, `deep` tens of seconds at
    ten times the price."""


class LinkupSearchProvider(SearchApiProvider, LinkupFetch):
    """Web search and reading with the Linkup API; one instance serves both roles."""

    service = "https://api.linkup.so"
    key_variables: ClassVar[tuple[str, ...]] = ("LINKUP_API_KEY",)
    key_page = "https://app.linkup.so"
    search_path = "/v1/search"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    Options: ClassVar[type[LinkupOptions]] = LinkupOptions
    _options: LinkupOptions
    capabilities: Capabilities = Capabilities(
        search=True, read=True, max_results=_MAX_RESULTS, time_ranges=ANY_RANGE, dates=True, domains="native"
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        body: dict[str, Any] = {
            "q": query,
            "depth": self._options.depth,
            "outputType": "searchResults",
            "includeImages": False,
            "maxResults": min(limit, _MAX_RESULTS),
        }
        mapped = Mapped(body)
        days = zip(("fromDate", "toDate"), window(filters, self.today), strict=True)
        body |= {key: day.isoformat() for key, day in days if day}
        body |= mapped.domain_lists(filters, self.name, ("includeDomains", "excludeDomains"), most=_MAX_DOMAINS)
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        if reply.status == 400 and value_at(json_or_empty(reply), "error.code") == "SEARCH_QUERY_NO_RESULT":
            return Results(status=400)
        return self.rows(reply, self.answer(reply).get("results"), _row)

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: an empty result is an error of the service, and errors are free."""
        return self.price_usd if results.status == 200 else 0.0

    @property
    def price_unit(self) -> str:
        """The depth of the search."""
        return self._options.depth


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    if item.get("type") == "image":
        return None
    return result(name, url=item.get("url"), title=item.get("name"), snippet=item.get("content"))
