"""The score card: recent results by provider, compared with targets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from groundwire.storage.base import Store
from groundwire.telemetry.daily_counters import BOUNDS, KEPT_DAYS, Role, counter_key, name_prefix, quantile, today

__all__ = ["CallScore", "ProviderScore", "ScoreCard", "ScoreHistory", "Target", "score_card", "score_history"]

_AT_ONCE = 32  # parallel reads of the store, each with its own timeout
_TIMES = ("timed", "ms", *(f"bucket{number}" for number in range(len(BOUNDS) + 1)))
_CALL = ("ok", "empty", "failed", "refused", "canceled", "cached", "stale", "fallback", "forbidden", *_TIMES)
_PROVIDER = ("good", "empty", "forbidden", "microusd", "answers", "fallback", *_TIMES)


@dataclass(frozen=True, slots=True)
class Target:
    """A target."""

    name: str
    """The name of the measurement."""
    wanted: str
    """The target value, as text: `> 95 %`."""
    value: float | None
    """The measured value: a share from 0 to 1, milliseconds, or a number of calls; None without data."""
    met: bool | None
    """Whether the target is met; None without data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScore:
    """All calls of one tool."""

    answered: int
    """Calls with results, or with a page; including cached ones."""
    empty: int
    """Searches that found nothing."""
    failed: int
    """Calls that ended in a failure."""
    refused: int
    """Calls rejected before they started: an invalid argument, the budget, the policy. Excluded from shares."""
    canceled: int
    """Calls canceled by their caller. Excluded from shares."""
    cached: int
    """Cached responses."""
    stale: int
    """Stale responses."""
    fallbacks: int
    """Searches with results from another provider than the first."""
    forbidden_shown: int
    """Failures shown to the caller after an HTTP 403 from a service."""
    mean_ms: float | None
    """The mean duration of a call, in milliseconds; None without calls."""
    p95_ms: float | None
    """The 95th percentile of the calls' latency in milliseconds, estimated from buckets; at most 10,000."""

    @property
    def calls(self) -> int:
        """The calls included in the shares."""
        return self.answered + self.empty + self.failed

    @property
    def success_rate(self) -> float | None:
        """The share of calls that did not fail."""
        return _share(self.answered + self.empty, self.calls)

    @property
    def fallback_share(self) -> float | None:
        """The share of calls with a fallback."""
        return _share(self.fallbacks, self.calls)

    def targets(self) -> tuple[Target, ...]:
        """Return the four targets of a search with their results; where no search succeeded, only that is measured."""
        success, fallback, mean, shown = self.success_rate, None, None, None
        if success:
            fallback, mean, shown = self.fallback_share, self.mean_ms, self.forbidden_shown
        return (
            Target("success rate", "> 95 %", success, None if success is None else success > 0.95),
            Target("answered after a fallback", "< 20 %", fallback, None if fallback is None else fallback < 0.20),
            Target("mean latency", "< 5 s", mean, None if mean is None else mean < 5_000),
            Target("403 shown to the caller", "0", shown, None if shown is None else shown == 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderScore:
    """All attempts of one provider in one role."""

    provider: str
    """Its name."""
    role: Literal["search", "read"]
    """Its role."""
    attempts: int
    """The number of attempts."""
    good: int
    """The number of successful attempts, including confirmed empty results."""
    empty: int
    """The number of searches without results."""
    forbidden: int
    """The number of HTTP 403 responses."""
    answers: int
    """Searches with results from this provider."""
    fallback_answers: int
    """Those after another provider had been called."""
    mean_ms: float | None
    """The mean duration of a successful attempt, in milliseconds; None without any."""
    p95_ms: float | None
    """The p95 latency of successful attempts in milliseconds, estimated from buckets; at most 10,000."""
    cost_usd: float
    """The cost of its attempts, in US dollars."""

    @property
    def success_rate(self) -> float | None:
        """The share of successful attempts."""
        return _share(self.good, self.attempts)

    @property
    def fallback_share(self) -> float | None:
        """The share of its results after a fallback."""
        return _share(self.fallback_answers, self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCard:
    """The results of recent days."""

    days: int
    """The number of days, including today."""
    searches: CallScore
    """All searches."""
    pages: CallScore
    """All pages."""
    providers: tuple[ProviderScore, ...]
    """The providers, search before read, the busiest first."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no data."""
        return not self.providers and not any(
            score.calls or score.refused or score.canceled for score in (self.searches, self.pages)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistory:
    """The results of recent days, in total and per day."""

    total: ScoreCard
    """The totals."""
    days: tuple[tuple[date, ScoreCard], ...]
    """The score card of each day in UTC, the oldest first, including days without calls."""


async def score_card(
    store: Store, days: int = 7, *, names: Iterable[str] = (), clock: Callable[[], float] = time.time
) -> ScoreCard:
    """Add up the counts recorded by `Scores`.

    Args:
        store: Where it was recorded.
        days: How many days, today included: 1 to 35.
        names: Providers to look for besides those that the store lists; a full store forgets the list first.
        clock: The time in seconds since the epoch.

    Raises:
        ValueError: the number of days is out of range. StoreError: the store cannot be read.
    """
    return _card(await _counted(store, days, names, clock))


async def score_history(
    store: Store, days: int = 7, *, names: Iterable[str] = (), clock: Callable[[], float] = time.time
) -> ScoreHistory:
    """Return the counts recorded by `Scores` day by day; arguments and errors are those of `score_card`."""
    counted = await _counted(store, days, names, clock)
    cards = tuple((_date(day), _card(_Counted((day,), counted.totals))) for day in counted.days)
    return ScoreHistory(total=_card(counted), days=cards)


_TOOLS = ("web_search", "open_page")
_ROLES: tuple[Literal["search", "read"], ...] = ("search", "read")
_Days = Mapping[int, Counter[str]]


@dataclass(frozen=True, slots=True)
class _Counted:
    days: Sequence[int]
    totals: Mapping[tuple[Role, str], _Days]

    def sums(self, role: Role, name: str) -> Counter[str]:
        found = self.totals[role, name]
        return sum((found[day] for day in self.days if day in found), Counter())


async def _counted(store: Store, days: int, names: Iterable[str], clock: Callable[[], float]) -> _Counted:
    if not 1 <= days <= KEPT_DAYS:
        raise ValueError(f"days must be from 1 to {KEPT_DAYS}: {days!r}")
    last = today(clock)
    dates = range(last - days + 1, last + 1)
    calls = await asyncio.gather(*(_totals(store, dates, "call", tool, _CALL) for tool in _TOOLS))
    totals: dict[tuple[Role, str], _Days] = {("call", tool): found for tool, found in zip(_TOOLS, calls, strict=True)}
    names = tuple(names)
    for role in _ROLES:
        listed = {key.removeprefix(name_prefix(role)) async for key in store.scan(name_prefix(role))}
        for name in sorted(listed.union(names)):
            totals[role, name] = await _totals(store, dates, role, name, _PROVIDER)
    return _Counted(dates, totals)


def _card(counted: _Counted) -> ScoreCard:
    searches, pages = (counted.sums("call", tool) for tool in _TOOLS)
    providers = [
        _provider(name, role, found)
        for role, name in counted.totals
        if role != "call" and (found := counted.sums(role, name))["calls"]
    ]
    providers.sort(key=lambda score: (score.role != "search", -score.attempts, score.provider))
    return ScoreCard(days=len(counted.days), searches=_calls(searches), pages=_calls(pages), providers=tuple(providers))


async def _totals(store: Store, dates: Iterable[int], role: Role, name: str, whats: Sequence[str]) -> _Days:
    """Return the sums of each day with calls."""
    dates = tuple(dates)
    calls = await _read(store, [counter_key(day, role, name, "calls") for day in dates])
    totals = {day: Counter({"calls": round(count)}) for day, count in zip(dates, calls, strict=True) if count}
    keys = [(day, what, counter_key(day, role, name, what)) for day in totals for what in whats]
    for (day, what, _), value in zip(keys, await _read(store, [key for _, _, key in keys]), strict=True):
        totals[day][what] += round(value)
    return totals


def _date(day: int) -> date:
    return datetime.fromtimestamp(day * 86_400, UTC).date()


async def _read(store: Store, keys: Sequence[str]) -> list[float]:
    values: list[float] = []
    for first in range(0, len(keys), _AT_ONCE):
        asked = (store.count(key, 0) for key in keys[first : first + _AT_ONCE])
        values += [count.total for count in await asyncio.gather(*asked)]
    return values


def _calls(found: Counter[str]) -> CallScore:
    return CallScore(
        answered=found["ok"],
        empty=found["empty"],
        failed=found["failed"],
        refused=found["refused"],
        canceled=found["canceled"],
        cached=found["cached"],
        stale=found["stale"],
        fallbacks=found["fallback"],
        forbidden_shown=found["forbidden"],
        mean_ms=_share(found["ms"], found["timed"]),
        p95_ms=_p95(found),
    )


def _provider(name: str, role: Literal["search", "read"], found: Counter[str]) -> ProviderScore:
    return ProviderScore(
        provider=name,
        role=role,
        attempts=found["calls"],
        good=found["good"],
        empty=found["empty"],
        forbidden=found["forbidden"],
        answers=found["answers"],
        fallback_answers=found["fallback"],
        mean_ms=_share(found["ms"], found["timed"]),
        p95_ms=_p95(found),
        cost_usd=found["microusd"] / 1_000_000,
    )


def _p95(found: Counter[str]) -> float | None:
    seconds = quantile([found[f"bucket{number}"] for number in range(len(BOUNDS) + 1)], 0.95)
    return None if seconds is None else seconds * 1_000


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
