"""The numbers of the hedging policy, in one place.

The defaults were chosen by a simulation of the fault patterns in `benchmarks/fates.py` and confirmed on sockets: a
hedge at the running provider's own 95th percentile costs about 5 % more calls and takes the long tail away.
"""

from __future__ import annotations

import asyncio
import bisect
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self

from groundwire.routing.calls import MICRO
from groundwire.storage.base import Store, StoreError

__all__ = [
    "CostMode",
    "ExtraBudget",
    "HedgePolicy",
    "Latencies",
    "LatencyMode",
    "Strategy",
    "Tokens",
]

Strategy = Literal["fallback", "hedge", "fuse"]
"""`fallback`: one after the other. `hedge`: the next starts when one is late. `fuse`: several at once, merged."""

LatencyMode = Literal["normal", "fast", "fastest"]
"""Which percentile of a provider's own answers makes it late: the 95th, the 90th or the 75th."""

CostMode = Literal["normal", "strict"]
"""`strict`: a tenth of the extra paid calls that are allowed normally."""

_MODES: Final[Mapping[LatencyMode, tuple[float, float]]] = {
    "normal": (0.95, 0.10),
    "fast": (0.90, 0.10),
    "fastest": (0.75, 0.25),
}
# the percentile, and the most extra paid calls for each search


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgePolicy:
    """When the next provider starts, and how often a failed one is asked again."""

    quantile: float = 0.95
    """A paid provider is hedged to when the running one is later than this share of its own answers."""
    free_quantile: float = 0.5
    """The same for a provider that costs nothing."""
    danger_quantile: float = 0.90
    """The same, at most, while two calls or more are late all at once."""
    shortest: float = 0.15
    """Seconds; never sooner."""
    longest: float = 2.0
    """Seconds; never later."""
    unknown: float = 0.8
    """Seconds, until a provider has answered often enough to know its habits."""
    extra_paid: float = 0.10
    """The most paid calls for each search, in the long run, that a sequential chain would not have made: hedges,
    further rounds and control queries."""
    extra_paid_kept: float = 8.0
    """How many may be made at once after a time without any."""
    most_requests: int = 3
    """The most requests of one search within a second; further ones wait."""
    rounds: int = 3
    """How often transient failures are tried, all together."""
    retries: float = 0.20
    """Tokens that a search earns; a further round takes a whole one."""
    retries_kept: float = 10.0
    """The most tokens that are kept."""
    retry_pause: float = 0.1
    """Seconds before the second round, doubled for the third; between half and all of it is waited."""
    least_for_retry: float = 0.5
    """Seconds that must be left for a further round."""
    most_drained: int = 32
    """Calls that lost and are still listened to; more are canceled."""
    fused: int = 3
    """How many providers are asked at once for `fuse`."""
    fuse_max_wait: float = 1.0
    """Seconds that the others have once one of them has answered with results."""

    @classmethod
    def of(cls, latency: LatencyMode = "normal", cost: CostMode = "normal") -> Self:
        """Return the numbers of a mode.

        Args:
            latency: How soon a paid provider is called to help.
            cost: How many extra paid calls are allowed.
        """
        quantile, extra_paid = _MODES[latency]
        return (
            cls(quantile=quantile, extra_paid=extra_paid / 10, extra_paid_kept=1.0)
            if cost == "strict"
            else cls(quantile=quantile, extra_paid=extra_paid)
        )


_KEPT = 200  # answers
_ENOUGH = 20  # answers; fewer say nothing about a tail
_EAGER = 3.0  # while a third of the budget is left, any help may turn out extra; with less, it must be likelier needed
_EXCHANGE = 5.0  # seconds between two looks at what others have spent while nothing is spent here
_SPENT, _SPENT_TTL = "extra-paid", 3_600.0  # the key in the store, and the seconds after which it resets


class Latencies:
    """The exact quantiles of a provider's last 200 successful answers, in seconds."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        """Take note of one answer."""
        self._order.append(seconds)
        bisect.insort(self._sorted, seconds)
        if len(self._order) > _KEPT:
            self._sorted.pop(bisect.bisect_left(self._sorted, self._order.popleft()))

    def quantile(self, share: float, unknown: float) -> float:
        """Return the time within which a share of the answers came, or `unknown` while there are too few."""
        if len(self._sorted) < _ENOUGH:
            return unknown
        return self._sorted[min(len(self._sorted) - 1, int(share * len(self._sorted)))]

    def later(self, seconds: float, unknown: float) -> float:
        """Return the share of answers that take longer; one more is always thought possible.

        Args:
            seconds: How long it has taken.
            unknown: While too few are known: the time within which three quarters come.
        """
        if len(self._sorted) < _ENOUGH:
            return float(0.25 ** (seconds / unknown))
        longer = len(self._sorted) - bisect.bisect_right(self._sorted, seconds)
        return (longer + 0.5) / (len(self._sorted) + 1)


class ExtraBudget:
    """The budget of paid calls that a chain which asks one provider after the other would not have made.

    Each search earns a part of a call. A hedge is charged by how likely it is that the call which it helps will answer
    all the same, and corrected when that is known: help in place of a call that failed is none that was extra. What is
    spent is counted in the store, for all processes that share it; each counts on its own between two exchanges.

    Args:
        earned: Calls for each search.
        kept: The most that may be spent at once; the budget begins with them.
    """

    def __init__(self, earned: float, kept: float) -> None:
        self._earned = earned
        self._kept = kept if earned > 0 else 0.0
        self._shared = 0.0
        self._pending = 0.0
        self._exchanged_at = -math.inf

    def earn(self) -> None:
        """Count a search."""
        self.spend(-self._earned)

    def allows(self, calls: float, *, reserve: float = 0.0) -> bool:
        """Whether so many calls, or a part of one, may be spent.

        The less is left, the less likely a call must be to turn out extra: help for those that are almost surely lost
        is not used up by help for those that are merely late.

        Args:
            calls: How many.
            reserve: The share of the budget that must remain: hedges of attempts that are merely late leave it to
                searches that would end without an answer.
        """
        spent = self._shared + self._pending
        kept = self._kept - min(reserve * self._kept, max(0.0, self._kept - 1))
        eager = calls >= 1 or calls * kept <= _EAGER * (kept - spent)
        return spent + calls <= kept and eager

    def spend(self, calls: float) -> None:
        """Spend calls, or give back with a negative number."""
        self._pending = max(self._pending + calls, -self._shared)

    async def exchange(self, store: Store) -> None:
        """Count in the store what was spent since the last time, and learn what others have spent.

        While the store cannot answer the budget is this process's own.
        """
        now = asyncio.get_running_loop().time()
        if not self._pending and now - self._exchanged_at < _EXCHANGE:
            return
        self._exchanged_at = now
        pending, self._pending = self._pending, 0.0
        self._shared = max(0.0, self._shared + pending)  # until the store has answered
        try:
            count = await store.count(_SPENT, round(pending * MICRO), ttl=_SPENT_TTL)
        except StoreError:
            return
        self._shared = count.total / MICRO


class Tokens:
    """Tokens that are earned in fractions and spent whole.

    Args:
        earned: Tokens for each `earn`.
        kept: The most that are kept; the bucket begins full.
    """

    def __init__(self, earned: float, kept: float) -> None:
        self._earned = earned
        self._kept = kept
        self._tokens = kept if earned > 0 else 0.0

    def earn(self) -> None:
        """Earn."""
        self._tokens = min(self._kept, self._tokens + self._earned)

    @property
    def has_one(self) -> bool:
        """Whether a whole token is there."""
        return self._tokens >= 1

    def spend(self) -> None:
        """Spend one."""
        self._tokens -= 1
