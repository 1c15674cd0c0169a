"""You.com, web and news results from its own index (https://you.com/docs/api-reference/search)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, ClassVar, Final

from groundwire.errors import QuotaExceeded, UnexpectedResponse
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import Mapped, SearchApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    json_answer,
    json_or_empty,
    objects,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import country_code, domain_lists, known_language, result
from groundwire.transport import Response

__all__ = ["YouSearchProvider", "parse", "to_body"]

_MAX_RESULTS = 100  # of the web, and as many of the news
_MAX_DOMAINS = 500
_TIME_RANGES: Final[Mapping[str, str]] = {"d": "day", "w": "week", "m": "month", "y": "year"}
_FIRST_DAY = date(1990, 1, 1)  # before there was a web; a range must have both ends
_MAX_WAIT = 366 * 86_400.0  # seconds


def _until_reset(reply: Response) -> float | None:
    """Return the seconds until a quota resets, from `reset_at` in the body."""
    try:
        moment = datetime.fromisoformat(text_or_empty(json_or_empty(reply).get("reset_at")))
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (aware - datetime.now(UTC)).total_seconds()), _MAX_WAIT)


_ERRORS = (
    ErrorRule(
        QuotaExceeded,
        "the account's quota is used up",
        "Add credit to the account",
        status=(402,),
        retry_after=_until_reset,
    ),
)


class YouSearchProvider(SearchApiProvider):
    """Web search with the You.com Search API.

    News follow the web pages, so there may be more rows than requested.
    """

    service = "https://ydc-index.io"
    key_variables: ClassVar[tuple[str, ...]] = ("YDC_API_KEY", "YOU_API_KEY")
    key_page = "https://you.com/platform"
    key_header = "X-API-Key"
    search_path = "/v1/search"
    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        pages=True,
        language=True,
        region=True,
        safesearch=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        return to_body(query, limit, filters, self.name)

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return parse(reply, self.name)


def to_body(query: str, limit: int, filters: Filters, name: str = "you", *, today: date | None = None) -> Mapped:
    """Convert a query to a request body; a time range ends `today`, by default the current day in UTC."""
    mapped = Mapped({"query": query, "count": min(limit, _MAX_RESULTS), "safesearch": filters.safesearch})
    body = mapped.values
    if filters.page > 1:
        body["offset"] = filters.page - 1  # counted in pages of `count` rows
    if freshness := _freshness(filters, today):
        body["freshness"] = freshness
    keys = ("include_domains", "exclude_domains")
    body |= domain_lists(mapped, filters, name, keys, most=_MAX_DOMAINS, one_list=True)
    if language := known_language(mapped, filters, "you"):
        body["language"] = language.upper()
    if country := country_code(mapped, filters, "you"):
        body["country"] = country
    return mapped


def _freshness(filters: Filters, today: date | None) -> str:
    """Return the single time filter that a request may have: a keyword, or two dates."""
    if not filters.published_after and not filters.published_before:
        return _TIME_RANGES.get(filters.time_range, "")
    start, end = window(filters, today)
    end = end or today or datetime.now(UTC).date()
    return f"{min(start or _FIRST_DAY, end).isoformat()}to{end.isoformat()}"


def parse(reply: Response, name: str = "you") -> Results:
    """Parse a response of any status.

    Raises:
        ProviderError: one of its classes; the response is a failure.
    """
    found = json_answer(reply, name, _ERRORS).get("results")
    if not isinstance(found, dict):
        raise UnexpectedResponse(name, "answered with JSON that has no results", status=reply.status)
    web, news = found.get("web"), found.get("news")  # either may be absent
    if any(section is not None and not isinstance(section, list) for section in (web, news)):
        raise UnexpectedResponse(name, "answered with results of an unexpected form", status=reply.status)
    sections = ((web, name), (news, f"{name} (news)"))
    rows = tuple(row for items, source in sections for item in objects(items) if (row := _row(item, source)))
    if (web or news) and not rows:
        raise UnexpectedResponse(name, "answered with results without URLs", status=reply.status)
    return Results(rows, status=reply.status)


def _row(item: dict[str, Any], source: str) -> SearchResult | None:
    passages = item.get("snippets")
    snippet = "\n".join(text_or_empty(part) for part in passages) if isinstance(passages, list) else ""
    return result(
        source,
        url=item.get("url"),
        title=item.get("title"),
        snippet=snippet.strip() or item.get("description"),
        date=item.get("page_age"),
    )
