"""Parallel, web search that answers with excerpts (https://docs.parallel.ai/api-reference/search/search)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import UnexpectedResponse
from groundwire.models import MAX_SNIPPET, NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.base import Capabilities
from groundwire.providers.wire import (
    clipped,
    day,
    json_object,
    objects,
    raise_for_status,
    text_or_empty,
    time_range_start,
)
from groundwire.transport import Reply

__all__ = ["ParallelOptions", "ParallelSearchProvider", "parse", "to_body"]

_MAX_RESULTS = 40
_INCLUDED = 10  # results that the price of a request covers
_MAX_DOMAINS = 200
_MAX_WORDS = 200  # characters of one of its search queries; the objective may have 5,000
_TIMEOUT = 20.0  # seconds; `advanced` takes several


class ParallelOptions(ApiOptions):
    """`[providers.parallel]`."""

    mode: Literal["turbo", "fast", "basic", "advanced"] = "basic"
    """How it searches: `turbo` and `fast` within a second, `basic` in few, `advanced` better and slower. `turbo` knows
    English and Japanese only."""


class ParallelSearchProvider(ApiProvider):
    """Web search by the Parallel Search API."""

    service = "https://api.parallel.ai"
    key_variables = ("PARALLEL_API_KEY",)
    Options = ParallelOptions
    capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        domains="native",
        region=True,
    )

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the key has one of its own."""
        return {"Accept": "application/json"} | ({"x-api-key": key} if key else {})

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        mapped = to_body(query, limit, filters, cast("ParallelOptions", self._options), self.name)
        found = await self.ask(
            "POST",
            "/v1/search",
            lambda reply: parse(reply, self.name),
            deadline=deadline,
            json_body=mapped.values,
            timeout=_TIMEOUT,
        )
        extra = max(0, len(found) - _INCLUDED)
        return self.finished(found, mapped, self._prices.cost() + self._prices.cost("result", extra))


def to_body(
    query: str,
    limit: int,
    filters: Filters,
    options: ParallelOptions | None = None,
    name: str = "parallel",
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
    options = options or ParallelOptions()
    words, warnings = clipped(name, query, characters=_MAX_WORDS)
    settings: dict[str, Any] = {
        "max_results": min(limit, _MAX_RESULTS),
        "excerpt_settings": {"max_chars_per_result": MAX_SNIPPET},
    }
    # Its own settings are read inside of `advanced_settings` only; beside it they are refused (422).
    mapped = Mapped({"search_queries": [words], "mode": options.mode, "advanced_settings": settings})
    if warnings:  # nothing is lost: what it looks for may be said at length
        mapped.values["objective"] = query
    policy = _domains(filters, mapped, name)
    starts = [start for start in (filters.published_after, time_range_start(filters.time_range, today)) if start]
    if starts:
        policy["after_date"] = max(starts).isoformat()
    if policy:
        settings["source_policy"] = policy
    if filters.published_after:
        mapped.applied["published_after"] = "native"
    if filters.published_before:
        mapped.applied["published_before"] = "post_filter"
    if filters.region:
        settings["location"] = filters.region.lower()
    return mapped


def _domains(filters: Filters, mapped: Mapped, name: str) -> dict[str, Any]:
    """Return the one list of domains that counts: what is blocked is ignored beside what is allowed."""
    allowed, blocked = filters.allowed_domains, filters.blocked_domains
    if allowed and blocked:
        mapped.applied["blocked_domains"] = "post_filter"
    which, wanted = ("allowed_domains", allowed) if allowed else ("blocked_domains", blocked)
    if len(wanted) > _MAX_DOMAINS:
        mapped.applied[which] = "post_filter"
        mapped.warnings.append(
            f"{name}: it takes {_MAX_DOMAINS} domains at most; results were checked against all of them afterwards"
        )
        wanted = () if allowed else wanted[:_MAX_DOMAINS]  # a part of the allowed ones would leave out good pages
    return {"include_domains" if allowed else "exclude_domains": list(wanted)} if wanted else {}


def parse(reply: Reply, name: str = "parallel") -> Results:
    """Read an answer.

    Args:
        reply: The answer, of any status.
        name: The provider's name.

    Raises:
        ProviderError: one of its classes; the answer is a failure.
    """
    raise_for_status(reply, name)
    data = json_object(reply, name)
    items = data.get("results")
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    rows = tuple(_row(item, name) for item in objects(items) if text_or_empty(item.get("url")))
    if items and not rows:
        raise UnexpectedResponse(name, "answered with results that have no address", status=reply.status)
    said = (" ".join(text_or_empty(warning.get("message")).split()) for warning in objects(data.get("warnings")))
    return Results(rows, warnings=tuple(f"{name}: {words[:200]}" for words in said if words), status=reply.status)


def _row(item: dict[str, Any], name: str) -> SearchResult:
    said = text_or_empty(item.get("publish_date"))
    published = day(said)
    excerpts = item.get("excerpts")
    return SearchResult(
        title=text_or_empty(item.get("title")),
        url=item["url"],
        snippet="\n\n".join(map(text_or_empty, excerpts)).strip() if isinstance(excerpts, list) else "",
        source=name,
        published=published or None,
        published_origin="" if published else said,
    )
