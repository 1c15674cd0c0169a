"""The requirements of a caller for a search, hosted or local.

Domain lists are merged: the operator's with the caller's, and the allowed with the blocked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, get_args

from groundwire.errors import InvalidRequest
from groundwire.models import TimeRange
from groundwire.models.search import normalize_filters
from groundwire.models.validators import check_choice, check_domains, check_int, check_pattern
from groundwire.safety.urls import common_domains, host_matches


def common(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Intersect two lists of allowed domains; an empty list allows everything.

    Raises:
        InvalidRequest: the intersection is empty.
    """
    both = common_domains(ours, theirs)
    if ours and not both:
        raise InvalidRequest(
            "allowed_domains",
            "has no domain that the other list of allowed domains includes",
            f"Pass some of: {', '.join(theirs[:10])}.",
        )
    return both


def simplified(allowed: tuple[str, ...], blocked: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove entries without effect from both lists: most searches then need only one of them.

    Raises:
        InvalidRequest: every allowed domain is blocked.
    """
    if not allowed or not blocked:
        return allowed, blocked
    remaining = tuple(domain for domain in allowed if not any(host_matches(domain, other) for other in blocked))
    if not remaining:
        raise InvalidRequest("allowed_domains", "has only domains that are blocked", "Remove them from either list.")
    return remaining, tuple(other for other in blocked if any(host_matches(other, domain) for domain in remaining))


def sub_domains(domains: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries that may not be whole sites: more than two labels, and not like `example.co.uk`."""
    matches = []
    for domain in domains:
        parts = domain.split(".")
        second_level = len(parts) == 3 and len(parts[2]) == 2 and len(parts[1]) <= 3
        if len(parts) > 2 and not second_level:
            matches.append(domain)
    return tuple(matches)


_MOST_USES = 1_000  # searches of one request; more is never intended


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The user's approximate location.

    Raises:
        InvalidRequest: a part is not text, or the country is not a two-letter code.
    """

    city: str | None = None
    """The city's name."""
    region: str | None = None
    """The name of the region or state."""
    country: str | None = None
    """A two-letter ISO 3166-1 code such as `DE`."""
    timezone: str | None = None
    """An IANA time zone such as `Europe/Berlin`."""

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if value is not None and not (isinstance(value, str) and 0 < len(value.strip()) <= 200):
                raise InvalidRequest(f"location.{part.name}", "must be a short text", "Leave it out, or pass a name.")
        check_pattern("location.country", self.country, r"[A-Za-z]{2}", "US or DE")

    def parts(self) -> dict[str, str]:
        """Return the parts that are known."""
        values = ((part.name, getattr(self, part.name)) for part in fields(self))
        return {name: value for name, value in values if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Requirements for a search. A hosted tool that cannot meet all of them is not used.

    Raises:
        InvalidRequest: a value is out of range; the error names the field and the fix.
    """

    max_uses: int | None = None
    """Maximum searches of one request, 1 to 1,000; None means no limit."""
    allowed_domains: tuple[str, ...] = ()
    """Only these domains and their subdomains; empty means every domain."""
    blocked_domains: tuple[str, ...] = ()
    """Exclude these domains and their subdomains."""
    time_range: TimeRange = "all"
    """How recent: `d` (day), `w`, `m`, `y` or `all`."""
    published_after: date | None = None
    """The first publication date allowed."""
    published_before: date | None = None
    """The last publication date allowed."""
    location: Location | None = None
    """The user's approximate location."""
    functions: bool = False
    """Whether the request has function tools of the caller beside the search."""

    def __post_init__(self) -> None:
        if self.max_uses is not None:
            check_int("max_uses", self.max_uses, 1, _MOST_USES)
        normalize_filters(self)
        place: object = self.location
        if place is not None and not isinstance(place, Location):
            raise InvalidRequest("location", "is not a Location", 'Pass Location(country="DE").')

    @property
    def recent(self) -> bool:
        """Whether a page's age is restricted."""
        return self.time_range != "all" or self.published_after is not None or self.published_before is not None

    def also(self, other: Needs) -> Needs:
        """Return the combination of these requirements and others.

        Raises:
            InvalidRequest: no page can meet both.
        """
        ranges = get_args(TimeRange)
        limits = [limit for limit in (self.max_uses, other.max_uses) if limit is not None]
        starts = [day for day in (self.published_after, other.published_after) if day]
        ends = [day for day in (self.published_before, other.published_before) if day]
        return Needs(
            max_uses=min(limits, default=None),
            allowed_domains=common(self.allowed_domains, other.allowed_domains),
            blocked_domains=(*self.blocked_domains, *other.blocked_domains),
            time_range=min(self.time_range, other.time_range, key=ranges.index),
            published_after=max(starts, default=None),
            published_before=min(ends, default=None),
            location=self.location or other.location,
            functions=self.functions or other.functions,
        )

    def within(self, allowed_domains: Sequence[str] = (), time_range: TimeRange = "all") -> dict[str, Any]:
        """Return the filters of `Web.search` for a local search that meets these requirements.

        Args:
            allowed_domains: The model's own restriction; it can only narrow them.
            time_range: The same for a page's age.

        Raises:
            InvalidRequest: nothing that the model requests is left.
        """
        ranges = get_args(TimeRange)
        check_choice("time_range", time_range, ranges)
        return {
            "allowed_domains": common(check_domains("allowed_domains", allowed_domains), self.allowed_domains),
            "blocked_domains": self.blocked_domains,
            "time_range": min(time_range, self.time_range, key=ranges.index),
            "published_after": self.published_after,
            "published_before": self.published_before,
            "region": self.location.country if self.location else None,
        }

    def span(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """Return the first and the last allowed publication time.

        Args:
            now: The current time, with its time zone.
        """
        days = {"d": 1, "w": 7, "m": 31, "y": 366}.get(self.time_range)
        starts = [now - timedelta(days=days)] if days else []
        if self.published_after:
            starts.append(datetime.combine(self.published_after, time.min, UTC))
        end = (
            datetime.combine(self.published_before, time.max, UTC).replace(microsecond=0)
            if self.published_before
            else None
        )
        return max(starts, default=None), end


NO_NEEDS = Needs()
"""No requirements."""
