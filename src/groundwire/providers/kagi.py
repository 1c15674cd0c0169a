"""Kagi Search API (https://help.kagi.com/kagi/api/search.html), version 1 and version 0, which it replaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from groundwire.errors import AuthenticationFailed, ProviderUnavailable, QuotaExceeded, RequestRefused
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.http_parsing import ANY_STATUS, ErrorRule, result, text_or_empty
from groundwire.providers.query_mapping import Mapped, window
from groundwire.transport import Response

_MAX_RESULTS = 50  # the service allows more, which no caller requests
_PAGE = 0  # the type `t` of a v0 row that is a page; the others are related searches
# The codes of v0 are numbers, those of v1 dotted names; errors have any status.
_ERRORS = (
    ErrorRule(
        QuotaExceeded,
        "the account's credit is used up",
        "Check kagi.com/api",
        status=ANY_STATUS,
        pattern="(?i)^10[01]$|balance|billing|credit|funds|quota|usage",
    ),
    ErrorRule(AuthenticationFailed, "the key is not accepted", status=ANY_STATUS, pattern=r"^2$|^auth\."),
    ErrorRule(RequestRefused, "the request was refused", status=ANY_STATUS, pattern="^1$"),
    ErrorRule(ProviderUnavailable, "failed", status=range(200, 300), at="error.code error.msg", pattern="."),
)
# What v0 does not support, unlike v1: what is checked afterwards, and what is not possible.
_OPERATORS: Final = ("allowed_domains", "blocked_domains")
_CHECKED: Final = ("time_range", "published_after", "published_before")
_MISSING: Final = ("region", "page", "safesearch")


class KagiOptions(ApiOptions):
    """`[providers.kagi]`."""

    version: Literal["v1", "v0"] = "v1"
    """The version of the API; accounts of the closed beta may have only v0."""


class KagiSearchProvider(SearchApiProvider):
    """Web search with the Kagi Search API."""

    search_path = "/api/v1/search"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    Options: ClassVar[type[KagiOptions]] = KagiOptions
    _options: KagiOptions
    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        pages=True,
        region=True,
        safesearch=True,
    )
    service = "https://kagi.com"
    key_variables: ClassVar[tuple[str, ...]] = ("KAGI_API_KEY",)
    key_page = "https://kagi.com/api"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the two versions use different schemes for the key."""
        scheme = "Bearer" if self._options.version == "v1" else "Bot"
        return {"Accept": "application/json"} | ({"Authorization": f"{scheme} {key}"} if key else {})

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        if self._options.version == "v0":
            return self._to_params(query, limit, filters)
        body: dict[str, Any] = {
            "query": query,
            "workflow": "search",
            "limit": min(limit, _MAX_RESULTS),
            "safe_search": filters.safesearch != "off",
        }
        if filters.page > 1:
            body["page"] = min(filters.page, 10)
        days = zip(("after", "before"), window(filters, self.today), strict=True)
        limits = {key: day.isoformat() for key, day in days if day}
        if limits := limits | ({"region": filters.region.lower()} if filters.region else {}):
            body["filters"] = limits
        lens = {"sites_included": list(filters.allowed_domains), "sites_excluded": list(filters.blocked_domains)}
        if lens := {name: domains for name, domains in lens.items() if domains}:
            body["lens"] = lens
        return Mapped(body)

    def _to_params(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a v0 request, which has only a query and a limit."""
        mapped = Mapped({"q": query, "limit": str(min(limit, _MAX_RESULTS))}, method="GET", path="/api/v0/search")
        mapped.applied |= {field: "operator" for field in _OPERATORS if getattr(filters, field)}
        mapped.add_sites(filters, self.name)
        for field in (*_CHECKED, *_MISSING):
            if getattr(filters, field) != getattr(NO_FILTERS, field):
                mapped.applied[field] = "post_filter" if field in _CHECKED else "not_possible"
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse a response of either version, recognized by its format."""
        envelope = self.answer(reply)
        data = envelope.get("data")
        if isinstance(data, dict):  # a search without results has no list of them
            items = data.get("search", [])
        elif isinstance(data, list) and all(isinstance(item, dict) and "t" in item for item in data):
            items = [item for item in data if item["t"] == _PAGE]
        else:
            items = None
        return self.rows(reply, items if isinstance(envelope.get("meta"), dict) else None, _row)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    date = text_or_empty(item.get("time")) or item.get("published")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=item.get("snippet"), date=date)
