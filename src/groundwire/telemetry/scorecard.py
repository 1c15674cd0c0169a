"""The score card: recent results by provider, compared with targets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from groundwire.storage.base import Add, Count, Store
from groundwire.storage.rules import decode_key
from groundwire.telemetry.daily_counters import BOUNDS, KEPT_DAYS, Role, counter_key, names_key, quantile, today

_BUCKETS = tuple(f"bucket{number}" for number in range(len(BOUNDS) + 1))
_CALL = ("ok", "empty", "failed", "refused", "canceled", "cached", "stale", "fallback", "forbidden", "ms", *_BUCKETS)
_PROVIDER = ("good", "empty", "forbidden", "abandoned", "microusd", "answers", "fallback", "ms", *_BUCKETS)


@dataclass(frozen=True, slots=True)
class Target:
    """A target."""

    name: str
    """The name of the measurement."""
    wanted: str
    """The target value, as text: `> 95%`."""
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
        success, fallback, mean, forbidden = self.success_rate, None, None, None
        if success:
            fallback, mean, forbidden = self.fallback_share, self.mean_ms, self.forbidden_shown
        return (
            Target("success rate", "> 95%", success, None if success is None else success > 0.95),
            Target("answered after a fallback", "< 20%", fallback, None if fallback is None else fallback < 0.20),
            Target("mean latency", "< 5 s", mean, None if mean is None else mean < 5_000),
            Target("calls that failed with 403", "0", forbidden, None if forbidden is None else forbidden == 0),
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
    """The number of successful attempts, including confirmed empty results and pages that do not exist."""
    empty: int
    """The number of searches without results."""
    forbidden: int
    """The number of HTTP 403 responses."""
    abandoned: int
    """The number of attempts that ended because another one had answered: no evidence against the provider."""
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
        """The share of successful attempts, of those that were not abandoned."""
        return _share(self.good, self.attempts - self.abandoned)

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


async def score_card(store: Store, days: int = 7, *, clock: Callable[[], float] = time.time) -> ScoreCard:
    """Add up the counts recorded by `Scores`.

    Args:
        store: Where it was recorded.
        days: How many days, today included: 1 to 35.
        clock: The time in seconds since the epoch.

    Raises:
        ValueError: the number of days is out of range. StoreError: the store cannot be read.
    """
    if not 1 <= days <= KEPT_DAYS:
        raise ValueError(f"days must be from 1 to {KEPT_DAYS}: {days!r}")
    last = today(clock)
    dates = range(last - days + 1, last + 1)
    searches, pages = await asyncio.gather(*(_sums(store, dates, "call", tool, _CALL) for tool in _TOOLS))
    providers: list[ProviderScore] = []
    for role in _ROLES:
        for name in sorted(map(decode_key, (await store.register(names_key(role))).numbers)):
            sums = await _sums(store, dates, role, name, _PROVIDER)
            providers += [_provider(name, role, sums)] if sums["calls"] else []
    providers.sort(key=lambda score: (score.role != "search", -score.attempts, score.provider))
    return ScoreCard(days=days, searches=_calls(searches), pages=_calls(pages), providers=tuple(providers))


_TOOLS = ("web_search", "open_page")
_ROLES: tuple[Literal["search", "read"], ...] = ("search", "read")


async def _sums(store: Store, dates: Sequence[int], role: Role, name: str, whats: Sequence[str]) -> Counter[str]:
    """Return the sums of all days; of a day without calls, nothing else is read."""
    calls = await _counts_of(store, [counter_key(day, role, name, "calls") for day in dates])
    sums = Counter({"calls": sum(map(round, calls))})
    keys = [
        (what, counter_key(day, role, name, what))
        for day, count in zip(dates, calls, strict=True)
        if count
        for what in whats
    ]
    for (what, _), value in zip(keys, await _counts_of(store, [key for _, key in keys]), strict=True):
        sums[what] += round(value)
    return sums


async def _counts_of(store: Store, keys: Sequence[str]) -> list[float]:
    answers = await store.batch([Add(key, 0) for key in keys]) if keys else ()
    return [count.total for count in answers if isinstance(count, Count)]


def _calls(sums: Counter[str]) -> CallScore:
    return CallScore(
        answered=sums["ok"],
        empty=sums["empty"],
        failed=sums["failed"],
        refused=sums["refused"],
        canceled=sums["canceled"],
        cached=sums["cached"],
        stale=sums["stale"],
        fallbacks=sums["fallback"],
        forbidden_shown=sums["forbidden"],
        **_times(sums),
    )


def _provider(name: str, role: Literal["search", "read"], sums: Counter[str]) -> ProviderScore:
    return ProviderScore(
        provider=name,
        role=role,
        attempts=sums["calls"],
        good=sums["good"],
        empty=sums["empty"],
        forbidden=sums["forbidden"],
        abandoned=sums["abandoned"],
        answers=sums["answers"],
        fallback_answers=sums["fallback"],
        **_times(sums),
        cost_usd=sums["microusd"] / 1_000_000,
    )


def _times(sums: Counter[str]) -> dict[str, float | None]:
    counts = [sums[bucket] for bucket in _BUCKETS]
    seconds = quantile(counts, 0.95)
    return {"mean_ms": _share(sums["ms"], sum(counts)), "p95_ms": None if seconds is None else seconds * 1_000}


def _share(part: float, total: float) -> float | None:
    return part / total if total else None
