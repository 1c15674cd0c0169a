"""Verification of filters on every row, with receipts that state what applied each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from groundwire.models import Applied, FilterReceipt, Query, Results, SearchResult
from groundwire.providers import Capabilities
from groundwire.providers.http_parsing import time_range_start
from groundwire.safety.domains import DomainPolicy

__all__ = ["DatedRows", "asked_of", "filter_by_date", "notes", "receipts"]

_ZONES = timedelta(days=1)  # a day begins up to half a day earlier or later in other time zones


@dataclass(frozen=True, slots=True)
class DatedRows:
    """Rows that match the requested dates."""

    rows: tuple[SearchResult, ...]
    """The rows that match, or have no date."""
    dropped: int
    """How many are out of range."""
    undated: int
    """How many of the rows have no date."""


def asked_of(query: Query, policy: DomainPolicy) -> Query:
    """Return the query for a provider, with the operator's domain lists merged into the caller's."""
    if not policy.allowed and not policy.blocked:
        return query
    return replace(
        query,
        allowed_domains=query.allowed_domains or policy.allowed,
        blocked_domains=tuple(dict.fromkeys((*query.blocked_domains, *policy.blocked))),
    )


def filter_by_date(rows: Iterable[SearchResult], query: Query, today: date | None = None) -> DatedRows:
    """Return the rows within the time range and dates of a query; rows without a date are kept.

    Args:
        rows: Cleaned rows; `published` is ISO 8601 or None.
        query: The query.
        today: The current date, by default in UTC.
    """
    now = today or datetime.now(UTC).date()
    starts = [day for day in (time_range_start(query.time_range, now), query.published_after) if day]
    first = max(starts, default=None)
    last = query.published_before
    kept, dropped, undated = [], 0, 0
    for row in rows:
        day = _day(row.published)
        if day is None:
            undated += 1
        elif (first and day < first - _ZONES) or (last and day > last + _ZONES):
            dropped += 1
            continue
        kept.append(row)
    return DatedRows(tuple(kept), dropped, undated)


def receipts(
    query: Query, results: Results, capabilities: Capabilities, dated: DatedRows, kept: Sequence[SearchResult]
) -> tuple[FilterReceipt, ...]:
    """Return a receipt for each requested filter.

    Args:
        query: The query.
        results: The provider's results; its receipts take precedence over its capabilities.
        capabilities: The provider's features.
        dated: The counts of the date filter.
        kept: The rows that are returned.
    """
    made = []
    undated = sum(1 for row in kept if row.published is None)
    for name, usual in _asked(query, capabilities):
        note = ""
        if name in _DATES and undated:
            note = f"{undated} of {len(kept)} results have no date and were kept"
        elif name in _DATES and dated.dropped:
            note = f"{dated.dropped} results outside were left out"
        made.append(FilterReceipt(filter=name, applied=results.applied.get(name, usual), note=note))
    return tuple(made)


def notes(made: Iterable[FilterReceipt], provider: str) -> tuple[str, ...]:
    """Return warnings about the filters, a sentence each; none if all were applied."""
    said = []
    for receipt in made:
        if receipt.applied == "not_possible":
            said.append(f"{provider} cannot filter by {receipt.filter}; the results are not filtered by it")
        elif receipt.note:
            said.append(f"{receipt.filter}: {receipt.note}")
    return tuple(said)


_DATES = frozenset({"time_range", "published_after", "published_before"})


def _asked(query: Query, capabilities: Capabilities) -> Iterator[tuple[str, Applied]]:
    """Yield each filter that is not at its default, and what the provider's capabilities promise for it."""
    by_domain: Applied = "post_filter" if capabilities.domains == "none" else capabilities.domains
    if query.allowed_domains:
        yield "allowed_domains", by_domain
    if query.blocked_domains:
        yield "blocked_domains", by_domain
    if query.time_range != "all":
        yield "time_range", "native" if query.time_range in capabilities.time_ranges else "post_filter"
    for name in ("published_after", "published_before"):
        if getattr(query, name):
            yield name, "native" if capabilities.dates else "post_filter"
    if query.language:
        yield "language", _if(capabilities.language)
    if query.region:
        yield "region", _if(capabilities.region)
    if query.safesearch != "moderate":
        yield "safesearch", _if(capabilities.safesearch)
    if query.page > 1:
        yield "page", _if(capabilities.pages)


def _if(able: bool) -> Applied:
    return "native" if able else "not_possible"


def _day(published: str | None) -> date | None:
    if published is None:
        return None
    try:
        return datetime.fromisoformat(published).date()
    except ValueError:
        return None
