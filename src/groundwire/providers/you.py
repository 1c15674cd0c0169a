"""You.com, web and news results of its own index (https://you.com/docs/api-reference/search)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from groundwire.deadline import Deadline
from groundwire.errors import QuotaExceeded, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.api import ApiProvider, Mapped
from groundwire.providers.base import Capabilities
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

__all__ = ["YouSearchProvider", "parse", "to_body"]

_MAX_RESULTS = 100  # of the web, and as many of the news
_MAX_DOMAINS = 500
_TIME_RANGES = {"d": "day", "w": "week", "m": "month", "y": "year"}
_FIRST_DAY = date(1990, 1, 1)  # before there was a web; a range must have both ends
_LONGEST = 366 * 86_400.0  # seconds
# The values of the service's own types (youdotcom 3.6.0); it refuses every other one.
_COUNTRIES = frozenset(
    re.findall(
        r"\S+",
        "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US",
    )
)
_LANGUAGES = frozenset(
    re.findall(
        r"\S+",
        "AR EU BN BG CA ZH-HANS ZH-HANT HR CS DA NL EN EN-GB ET FI FR GL DE EL GU HE HI HU IS IT JA KN KO LV LT MS ML "
        "MR NB PL PT-BR PT-PT PA RO RU SR SK SL ES SV TA TE TH TR UK VI",
    )
)
_NEAREST = {"ZH-TW": "ZH-HANT", "ZH-HK": "ZH-HANT", "ZH-MO": "ZH-HANT", "ZH": "ZH-HANS", "PT": "PT-PT", "NO": "NB"}


class YouSearchProvider(ApiProvider):
    """Web search by the You.com Search API."""

    service = "https://ydc-index.io"
    key_variables = ("YDC_API_KEY", "YOU_API_KEY")
    capabilities = Capabilities(
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

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the key has one of its own."""
        return {"Accept": "application/json"} | ({"X-API-Key": key} if key else {})

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`. News come behind the pages of the web, so there may be more rows."""
        mapped = to_body(query, limit, filters, self.name)
        found = await self.ask(
            "POST", "/v1/search", lambda reply: parse(reply, self.name), deadline=deadline, json_body=mapped.values
        )
        return self.finished(found, mapped)


def to_body(query: str, limit: int, filters: Filters, name: str = "you", *, today: date | None = None) -> Mapped:
    """Return a query as the body of a request.

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy.
        name: The provider's name, for the warnings.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
    mapped = Mapped({"query": query, "count": min(limit, _MAX_RESULTS), "safesearch": filters.safesearch})
    body = mapped.values
    if filters.page > 1:
        body["offset"] = filters.page - 1  # counted in pages of `count` rows
    if freshness := _freshness(filters, today):
        body["freshness"] = freshness
    _add_domains(filters, mapped, name)
    if filters.language:
        if language := _language(filters.language.upper(), (filters.region or "").upper()):
            body["language"] = language
        else:
            mapped.applied["language"] = "not_possible"
    if filters.region:
        if (country := filters.region.upper()) in _COUNTRIES:
            body["country"] = country
        else:
            mapped.applied["region"] = "not_possible"
    return mapped


def _freshness(filters: Filters, today: date | None) -> str:
    """Return the one time filter that a request may have: a word, or two days."""
    if not filters.published_after and not filters.published_before:
        return _TIME_RANGES.get(filters.time_range, "")
    start = max(filters.published_after or _FIRST_DAY, time_range_start(filters.time_range, today) or _FIRST_DAY)
    end = filters.published_before or today or datetime.now(UTC).date()
    return f"{min(start, end).isoformat()}to{end.isoformat()}"


def _add_domains(filters: Filters, mapped: Mapped, name: str) -> None:
    """Add the one list of domains that a request may have: both together are refused."""
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
    if wanted:
        mapped.values["include_domains" if allowed else "exclude_domains"] = list(wanted)


def _language(tag: str, region: str) -> str:
    """Return the service's nearest name of a language, or nothing."""
    base, *more = tag.split("-")
    # Where the tag leaves it open, the country tells the two kinds of Portuguese and of Chinese apart.
    names = (f"{base}-{more[0] if more else region}", base)
    known = (_NEAREST.get(name, name) for name in names)
    return next((name for name in known if name in _LANGUAGES), "")


def parse(reply: Reply, name: str = "you") -> Results:
    """Read an answer.

    Args:
        reply: The answer, of any status.
        name: The provider's name.

    Raises:
        ProviderError: one of its classes; the answer is a failure.
    """
    status = reply.status
    if status == 402:
        raise QuotaExceeded(
            name,
            f"the account's allowance is used up{error_text(reply)}",
            status=status,
            retry_after=_until_reset(reply),
            fix="Add credit to the account",
        )
    raise_for_status(reply, name)
    found = json_object(reply, name).get("results")
    if not isinstance(found, dict):
        raise UnexpectedResponse(name, "answered with JSON that has no results", status=status)
    web, news = found.get("web"), found.get("news")  # either may be absent
    if any(section is not None and not isinstance(section, list) for section in (web, news)):
        raise UnexpectedResponse(name, "answered with results of another form", status=status)
    rows = tuple(
        _row(item, source)
        for section, source in ((web, name), (news, f"{name} (news)"))
        for item in objects(section)
        if text_or_empty(item.get("url"))
    )
    if (web or news) and not rows:
        raise UnexpectedResponse(name, "answered with results that have no address", status=status)
    return Results(rows, status=status)


def _until_reset(reply: Reply) -> float | None:
    """Return the seconds until an allowance begins anew, from the header or from `reset_at` in the body."""
    if (seconds := retry_after(reply.headers)) is not None:
        return seconds
    try:
        data = reply.json()
        moment = datetime.fromisoformat(text_or_empty(data.get("reset_at")) if isinstance(data, dict) else "")
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(0.0, (aware - datetime.now(UTC)).total_seconds()), _LONGEST)


def _row(item: dict[str, Any], source: str) -> SearchResult:
    said = text_or_empty(item.get("page_age"))
    published = day(said)
    passages = item.get("snippets")
    snippet = "\n".join(text_or_empty(part) for part in passages) if isinstance(passages, list) else ""
    return SearchResult(
        title=text_or_empty(item.get("title")),
        url=item["url"],
        snippet=snippet.strip() or text_or_empty(item.get("description")),
        source=source,
        published=published or None,
        published_origin="" if published else said,
    )
