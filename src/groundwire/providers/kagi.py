"""Kagi Search API (https://help.kagi.com/kagi/api/search.html), the present wire and the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, ClassVar, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ProviderUnavailable,
    QuotaExceeded,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Applied, Filters, Results, SearchResult
from groundwire.providers.api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.base import Capabilities
from groundwire.providers.operators import with_site_operators
from groundwire.providers.wire import (
    day,
    error_text,
    json_object,
    objects,
    raise_for_status,
    retry_after,
    text_or_empty,
    time_range_start,
)
from groundwire.transport import Reply

__all__ = ["KagiOptions", "KagiSearchProvider", "parse", "to_body", "to_params"]

_MOST = 50  # results; the service takes more, nobody here asks for them
_WORKFLOWS = {"web": "search", "news": "news"}  # also the names of the lists in the answer
_RESULT = 0  # the type `t` of a row of the former wire that is a page; others are related searches
_INTERNAL, _MALFORMED, _UNAUTHORISED, _NO_BILLING, _NO_CREDIT = 0, 1, 2, 100, 101  # codes of the former wire
_MONEY = ("balance", "billing", "credit", "funds", "quota", "usage")  # in the codes of the present one
# What the former wire cannot do, though the present one can.
_FORMER: dict[str, Applied] = {
    "time_range": "post_filter",
    "published_after": "post_filter",
    "published_before": "post_filter",
    "region": "not_possible",
    "page": "not_possible",
    "safesearch": "not_possible",
}


class KagiOptions(ApiOptions):
    """`[providers.kagi]`."""

    version: Literal["v1", "v0"] = "v1"
    """The wire to speak; accounts of the closed beta may have v0 only."""
    kind: Literal["web", "news"] = "web"
    """What to search: the web, or the news, which v0 has not."""


class KagiSearchProvider(ApiProvider):
    """Web or news search by the Kagi Search API."""

    Options = KagiOptions
    capabilities = Capabilities(
        search=True,
        max_results=_MOST,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        pages=True,
        region=True,
        safesearch=True,
    )
    service = "https://kagi.com"
    key_variables: ClassVar[tuple[str, ...]] = ("KAGI_API_KEY",)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request: the two wires name the scheme of the key differently."""
        scheme = "Bearer" if cast("KagiOptions", self._options).version == "v1" else "Bot"
        return {"Accept": "application/json"} | ({"Authorization": f"{scheme} {key}"} if key else {})

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        options = cast("KagiOptions", self._options)
        if options.version == "v0":
            mapped = to_params(query, limit, filters, name=self.name)
            found = await self.ask(
                "GET",
                "/api/v0/search",
                lambda reply: parse(reply, self.name),
                deadline=deadline,
                params=mapped.values,
            )
        else:
            mapped = to_body(query, limit, filters, options)
            found = await self.ask(
                "POST",
                "/api/v1/search",
                lambda reply: parse(reply, self.name, options.kind),
                deadline=deadline,
                json_body=mapped.values,
            )
        return self.finished(found, mapped)


def to_body(
    query: str, limit: int, filters: Filters, options: KagiOptions | None = None, *, today: date | None = None
) -> Mapped:
    """Return the body of a search of the present wire.

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy.
        options: The provider's settings.
        today: The day from which a time range counts, by default the system's in UTC.
    """
    options = options or KagiOptions()
    body: dict[str, Any] = {
        "query": query,
        "workflow": _WORKFLOWS[options.kind],
        "limit": min(limit, _MOST),
        "safe_search": filters.safesearch != "off",
    }
    if filters.page > 1:
        body["page"] = min(filters.page, 10)
    first = time_range_start(filters.time_range, today or datetime.now(UTC).date())
    starts = [start for start in (filters.published_after, first) if start]
    limits = {
        "region": filters.region.lower() if filters.region else "",
        "after": max(starts).isoformat() if starts else "",
        "before": filters.published_before.isoformat() if filters.published_before else "",
    }
    if limits := {name: value for name, value in limits.items() if value}:
        body["filters"] = limits
    lens = {"sites_included": list(filters.allowed_domains), "sites_excluded": list(filters.blocked_domains)}
    if lens := {name: domains for name, domains in lens.items() if domains}:
        body["lens"] = lens
    return Mapped(body)


def to_params(query: str, limit: int, filters: Filters, *, name: str = "kagi") -> Mapped:
    """Return the parameters of a search of the former wire, which takes words and a limit only."""
    text, warning = with_site_operators(query, filters)
    mapped = Mapped({"q": text, "limit": str(min(limit, _MOST))})
    for field in ("allowed_domains", "blocked_domains"):
        if getattr(filters, field):
            mapped.applied[field] = "post_filter" if warning else "operator"
    if warning:
        mapped.warnings.append(f"{name}: {warning}")
    for field, applied in _FORMER.items():
        if getattr(filters, field) != getattr(NO_FILTERS, field):
            mapped.applied[field] = applied
    return mapped


def parse(reply: Reply, name: str = "kagi", kind: Literal["web", "news"] = "web") -> Results:
    """Read an answer of either wire; they are told apart by their form.

    Args:
        reply: The answer.
        name: The provider's name.
        kind: What was searched.

    Raises:
        ProviderError: the answer is a failure.
    """
    _raise_for_error(reply, name)
    envelope = json_object(reply, name)
    data = envelope.get("data")
    if isinstance(data, dict):  # a search that finds no pages has no list of them
        rows = data.get(_WORKFLOWS[kind], [])
    elif isinstance(data, list) and all(isinstance(item, dict) and "t" in item for item in data):
        rows = [item for item in data if item["t"] == _RESULT]
    else:
        rows = None
    results = tuple(_row(item, name) for item in objects(rows) if text_or_empty(item.get("url")))
    if not isinstance(rows, list) or (rows and not results) or not isinstance(envelope.get("meta"), dict):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    return Results(results, status=reply.status)


def _row(item: dict[str, Any], name: str) -> SearchResult:
    said = text_or_empty(item.get("time")) or text_or_empty(item.get("published"))
    return SearchResult(
        title=text_or_empty(item.get("title")),
        url=text_or_empty(item.get("url")),
        snippet=text_or_empty(item.get("snippet")),
        source=name,
        published=day(said) or None,
        published_origin="" if day(said) else said,
    )


def _raise_for_error(reply: Reply, name: str) -> None:
    """Raise what the list `error` of the envelope says, whatever the status; then what the status says."""
    status, again = reply.status, retry_after(reply.headers)
    code = _code(reply)
    words = error_text(reply)
    if code in {_NO_BILLING, _NO_CREDIT} or (isinstance(code, str) and any(word in code for word in _MONEY)):
        raise QuotaExceeded(
            name, f"the account's credit is used up{words}", status=status, retry_after=again, fix="Check kagi.com/api"
        )
    if code == _UNAUTHORISED:
        raise AuthenticationFailed(name, f"the key is not accepted{words}", status=status, fix="Check KAGI_API_KEY")
    if code == _MALFORMED:
        raise RequestRefused(name, f"the request was refused{words}", status=status)
    raise_for_status(reply, name)
    if code == _INTERNAL:
        raise ProviderUnavailable(name, f"failed{words}", status=status, retry_after=again)
    if code is not None:
        raise ProviderUnavailable(name, f"failed{words or f' with code {code}'}", status=status, retry_after=again)


def _code(reply: Reply) -> int | str | None:
    """Return the code of the first error: a number on the former wire, a dotted name on the present one."""
    try:
        data = reply.json()
    except ValueError:
        return None
    error = next(objects(data.get("error")), None) if isinstance(data, dict) else None
    code = error.get("code") if error else None
    if error is not None and not isinstance(code, (int, str)):
        return ""
    return code.lower() if isinstance(code, str) else code
