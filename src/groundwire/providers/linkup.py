"""Linkup, web search made for agents (https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search)."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, QuotaExceeded, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.base import Capabilities
from groundwire.providers.wire import (
    error_text,
    json_object,
    objects,
    raise_for_status,
    retry_after,
    text_or_empty,
    time_range_start,
)
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
    """Return a query as the body of a request.

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy.
        options: The operator's settings.
        name: The provider's name, for the warnings.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
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
    starts = [start for start in (filters.published_after, time_range_start(filters.time_range, today)) if start]
    if starts:
        body["fromDate"] = max(starts).isoformat()
    if filters.published_before:
        body["toDate"] = filters.published_before.isoformat()
    if len(filters.allowed_domains) > _MAX_DOMAINS:
        _leave_out("allowed_domains", mapped, name)
    elif filters.allowed_domains:
        body["includeDomains"] = list(filters.allowed_domains)
    if len(filters.blocked_domains) > _MAX_DOMAINS:
        _leave_out("blocked_domains", mapped, name)
    if filters.blocked_domains:
        body["excludeDomains"] = list(filters.blocked_domains[:_MAX_DOMAINS])
    return mapped


def _leave_out(which: str, mapped: Mapped, name: str) -> None:
    mapped.applied[which] = "post_filter"
    mapped.warnings.append(
        f"{name}: it takes {_MAX_DOMAINS} {which} at most; results were checked against all of them afterwards"
    )


def parse(reply: Reply, name: str = "linkup") -> Results:
    """Read an answer.

    Args:
        reply: The answer, of any status.
        name: The provider's name.

    Raises:
        ProviderError: one of its classes; the answer is a failure.
    """
    status, code = reply.status, _code(reply)
    if status == 400 and code == _NOTHING:
        return Results(status=status)
    if status >= 400 and code in _MONEY:
        raise QuotaExceeded(
            name,
            f"the account's credit is used up{error_text(reply)}",
            status=status,
            retry_after=retry_after(reply.headers),
            fix="Add credit to the account, or raise the budget of the key",
        )
    if status == 403 and code == "IP_NOT_WHITELISTED":
        raise AuthenticationFailed(
            name,
            f"the key may not be used from this machine{error_text(reply)}",
            status=status,
            fix="Add this machine's public address to the key's list of addresses",
        )
    raise_for_status(reply, name)
    items = json_object(reply, name).get("results")
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=status)
    rows = tuple(_row(item, name) for item in objects(items) if _is_page(item))
    if items and not rows:
        raise UnexpectedResponse(name, "answered with results that are no pages", status=status)
    return Results(rows, status=status)


def _code(reply: Reply) -> str:
    """Return the code of a failure, or nothing."""
    if reply.status < 400:
        return ""
    try:
        data = reply.json()
    except ValueError:
        return ""
    error = data.get("error") if isinstance(data, dict) else None
    return text_or_empty(error.get("code")) if isinstance(error, dict) else ""


def _is_page(item: dict[str, Any]) -> bool:
    return bool(text_or_empty(item.get("url"))) and item.get("type") != "image"


def _row(item: dict[str, Any], name: str) -> SearchResult:
    return SearchResult(
        title=text_or_empty(item.get("name")),
        url=item["url"],
        snippet=text_or_empty(item.get("content")),
        source=name,
    )
