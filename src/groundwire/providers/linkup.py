"""Linkup, web search made for agents (https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search)."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, QuotaExceeded
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    failure,
    json_object,
    json_or_empty,
    raise_for_status,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import domain_lists
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["LinkupOptions", "LinkupSearchProvider", "parse", "to_body"]

_MAX_RESULTS = 50  # no bound is documented; this is the most that is ever asked for
_MAX_DOMAINS = 100
_DEEP_TIMEOUT = 60.0  # seconds; several rounds of searching
_TIMEOUT = 15.0  # seconds
_NOTHING = "SEARCH_QUERY_NO_RESULT"
_MONEY = frozenset({"INSUFFICIENT_FUNDS_CREDITS", "EXCEED_BUDGET_LIMIT"})  # come as 429, as haste does


class LinkupOptions(ApiOptions):
    """`[providers.linkup]`."""

    depth: Literal["flash", "fast", "standard", "deep"] = "fast"
    """How long it searches: `flash` below a second, `fast` about one, `standard` several, `deep` tens and ten times
    the price."""


class LinkupSearchProvider(ApiProvider):
    """Web search by the Linkup API."""

    service = "https://api.linkup.so"
    key_variables = ("LINKUP_API_KEY",)
    key_page = "https://app.linkup.so"
    Options = LinkupOptions
    capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
    )

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        options = cast("LinkupOptions", self._options)
        deep = options.depth == "deep"
        mapped = to_body(query, limit, filters, options, self.name)
        found = await self.ask(
            "POST",
            "/v1/search",
            lambda reply: parse(reply, self.name),
            deadline=deadline,
            json_body=mapped.values,
            timeout=_DEEP_TIMEOUT if deep else _TIMEOUT,
        )
        billed = found.status == 200  # finding nothing is an error there, and errors are free of charge
        return self.finished(found, mapped, self._prices.cost("deep" if deep else "request", billed))


def to_body(
    query: str,
    limit: int,
    filters: Filters,
    options: LinkupOptions | None = None,
    name: str = "linkup",
    *,
    today: date | None = None,
) -> Mapped:
    """Return a query as the body of a request; a time range ends `today`, by default the clock's day in UTC."""
    options = options or LinkupOptions()
    mapped = Mapped(
        {
            "q": query,
            "depth": options.depth,
            "outputType": "searchResults",
            "includeImages": False,
            "maxResults": min(limit, _MAX_RESULTS),
        }
    )
    body = mapped.values
    first, last = window(filters, today)
    if first:
        body["fromDate"] = first.isoformat()
    if last:
        body["toDate"] = last.isoformat()
    body |= domain_lists(mapped, filters, name, ("includeDomains", "excludeDomains"), most=_MAX_DOMAINS)
    return mapped


def parse(reply: Reply, name: str = "linkup") -> Results:
    """Read an answer of any status.

    Raises:
        ProviderError: one of its classes; the answer is a failure.
    """
    status, code = reply.status, _code(reply)
    if status == 400 and code == _NOTHING:
        return Results(status=status)
    if status >= 400 and code in _MONEY:
        fix = "Add credit to the account, or raise the budget of the key"
        raise failure(QuotaExceeded, reply, name, "the account's credit is used up", fix=fix)
    if status == 403 and code == "IP_NOT_WHITELISTED":
        fix = "Add this machine's public address to the key's list of addresses"
        raise failure(AuthenticationFailed, reply, name, "the key may not be used from this machine", fix=fix)
    raise_for_status(reply, name)
    return results(reply, name, json_object(reply, name).get("results"), _row)


def _code(reply: Reply) -> str:
    """Return the code of a failure, or nothing."""
    error = json_or_empty(reply).get("error") if reply.status >= 400 else None
    return text_or_empty(error.get("code")) if isinstance(error, dict) else ""


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    if item.get("type") == "image":
        return None
    return result(name, url=item.get("url"), title=item.get("name"), snippet=item.get("content"))
