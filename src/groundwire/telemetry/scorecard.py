"""The score card: what the last days were like, provider by provider, beside the targets."""

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

_AT_ONCE = 32  # questions to the store in parallel; it answers each within a bound of its own
_TIMES = ("timed", "ms", *(f"bucket{number}" for number in range(len(BOUNDS) + 1)))
_CALL = ("ok", "empty", "failed", "refused", "cancelled", "cached", "stale", "fallback", "forbidden", *_TIMES)
_PROVIDER = ("good", "empty", "forbidden", "microusd", "answers", "fallback", *_TIMES)


@dataclass(frozen=True, slots=True)
class Target:
    """Something that is to hold."""

    name: str
    """What is measured."""
    wanted: str
    """What it is to be, as text: `> 95 %`."""
    value: float | None
    """What it is: a share from 0 to 1, milliseconds, or a number of calls; None when nothing was measured."""
    met: bool | None
    """Whether it holds; None when nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallScore:
    """All calls of one tool."""

    answered: int
    """Calls with results, or with a page; from the cache too."""
    empty: int
    """Searches that worked and found nothing."""
    failed: int
    """Calls that ended in a failure."""
    refused: int
    """Calls that we did not let begin: a wrong argument, the budget, the policy. They are in no share."""
    cancelled: int
    """Calls that their caller gave up. They are in no share."""
    cached: int
    """Answers from the cache."""
    stale: int
    """Answers that were older than they should be."""
    fallbacks: int
    """Searches that another provider answered than the first that was asked."""
    forbidden_shown: int
    """Failures shown to the caller in which a service had answered 403."""
    mean_ms: float | None
    """The mean time of a call, in milliseconds; None without calls."""
    p95_ms: float | None
    """The 95th percentile of the calls' latency in milliseconds, estimated from buckets; at most 10,000."""

    @property
    def calls(self) -> int:
        """The calls that count in the shares."""
        return self.answered + self.empty + self.failed

    @property
    def success_rate(self) -> float | None:
        """The share of the calls that did not fail."""
        return _share(self.answered + self.empty, self.calls)

    @property
    def fallback_share(self) -> float | None:
        """The share of the calls that were answered after a fallback."""
        return _share(self.fallbacks, self.calls)

    def targets(self) -> tuple[Target, ...]:
        """Return the four targets of a search, and whether they are met."""
        success, fallback, mean = self.success_rate, self.fallback_share, self.mean_ms
        shown = self.forbidden_shown if self.calls else None
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
    """What it was asked to do."""
    attempts: int
    """How often it was asked."""
    good: int
    """How often it did what it was asked; a proven empty answer is one."""
    empty: int
    """How often it searched and found nothing."""
    forbidden: int
    """How often it answered 403."""
    answers: int
    """Searches whose answer is this provider's."""
    fallback_answers: int
    """Those of them in which another provider had been asked first."""
    mean_ms: float | None
    """The mean time of a good attempt, in milliseconds; None without any."""
    p95_ms: float | None
    """The p95 latency of successful attempts in milliseconds, estimated from buckets; at most 10,000."""
    cost_usd: float
    """What its attempts cost, in US dollars."""

    @property
    def success_rate(self) -> float | None:
        """The share of good attempts."""
        return _share(self.good, self.attempts)

    @property
    def fallback_share(self) -> float | None:
        """The share of its answers that came after a fallback."""
        return _share(self.fallback_answers, self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCard:
    """What the last days were like."""

    days: int
    """How many days, today included."""
    searches: CallScore
    """All searches."""
    pages: CallScore
    """All pages."""
    providers: tuple[ProviderScore, ...]
    """Who was asked, search before read, the busiest first."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded."""
        return not self.providers and not any(
            score.calls or score.refused or score.cancelled for score in (self.searches, self.pages)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistory:
    """What the last days were like, together and day by day."""

    total: ScoreCard
    """All days together."""
    days: tuple[tuple[date, ScoreCard], ...]
    """Each day in UTC with its own card, the oldest first; one without calls is among them."""


async def score_card(
    store: Store, days: int = 7, *, names: Iterable[str] = (), clock: Callable[[], float] = time.time
) -> ScoreCard:
    """Add up what `Scores` recorded.

    Args:
        store: Where it was recorded.
        days: How many days, today included: 1 to 35.
        names: Providers to look for besides those that the store lists; a full store forgets the list first.
        clock: The time in seconds since the epoch.

    Raises:
        ValueError: the number of days is out of bounds. StoreError: the store cannot answer.
    """
    return _card(await _counted(store, days, names, clock))


async def score_history(
    store: Store, days: int = 7, *, names: Iterable[str] = (), clock: Callable[[], float] = time.time
) -> ScoreHistory:
    """Return what `Scores` recorded day by day; the arguments and errors are those of `score_card`."""
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
        cancelled=found["cancelled"],
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
