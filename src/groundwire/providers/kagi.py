"""Kagi Search API (https://help.kagi.com/kagi/api/search.html), the present wire and the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, ProviderUnavailable, QuotaExceeded, RequestRefused
from groundwire.models import NO_FILTERS, Applied, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    error_text,
    failure,
    json_object,
    json_or_empty,
    objects,
    raise_for_status,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import with_site_operators
from groundwire.providers.result_rows import result, results
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
    key_page = "https://kagi.com/api"

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
    first, last = window(filters, today)
    limits = {
        "region": filters.region.lower() if filters.region else "",
        "after": first.isoformat() if first else "",
        "before": last.isoformat() if last else "",
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
        items = data.get(_WORKFLOWS[kind], [])
    elif isinstance(data, list) and all(isinstance(item, dict) and "t" in item for item in data):
        items = [item for item in data if item["t"] == _RESULT]
    else:
        items = None
    return results(reply, name, items if isinstance(envelope.get("meta"), dict) else None, _row)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    said = text_or_empty(item.get("time")) or item.get("published")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=item.get("snippet"), date=said)


def _raise_for_error(reply: Reply, name: str) -> None:
    """Raise what the list `error` of the envelope says, whatever the status; then what the status says."""
    code = _code(reply)
    if code in {_NO_BILLING, _NO_CREDIT} or (isinstance(code, str) and any(word in code for word in _MONEY)):
        raise failure(QuotaExceeded, reply, name, "the account's credit is used up", fix="Check kagi.com/api")
    if code == _UNAUTHORISED:
        raise failure(AuthenticationFailed, reply, name, "the key is not accepted", fix="Check KAGI_API_KEY")
    if code == _MALFORMED:
        raise failure(RequestRefused, reply, name, "the request was refused")
    raise_for_status(reply, name)
    if code is not None:
        nameless = "" if error_text(reply) or code == _INTERNAL else f" with code {code}"
        raise failure(ProviderUnavailable, reply, name, f"failed{nameless}")


def _code(reply: Reply) -> int | str | None:
    """Return the code of the first error: a number on the former wire, a dotted name on the present one."""
    error = next(objects(json_or_empty(reply).get("error")), None)
    code = error.get("code") if error else None
    if error is not None and not isinstance(code, (int, str)):
        return ""
    return code.lower() if isinstance(code, str) else code
