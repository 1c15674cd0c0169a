"""The parameters of the hedging policy.

The defaults were chosen by a simulation of the fault patterns in `benchmarks/fates.py` and confirmed on sockets:
hedging at the running provider's own 95th percentile costs about 5 % more calls and removes the long tail.
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
    "UsualFailures",
]

Strategy = Literal["fallback", "hedge", "fuse"]
"""`fallback`: one after another. `hedge`: the next starts when one is late. `fuse`: several at once, merged."""

LatencyMode = Literal["normal", "fast", "fastest"]
"""The percentile of a provider's own latencies from which it is late: the 95th, the 90th or the 75th."""

CostMode = Literal["normal", "strict"]
"""`strict`: a tenth of the normal budget of extra paid calls."""

_MODES: Final[Mapping[LatencyMode, tuple[float, float]]] = {
    "normal": (0.95, 0.10),
    "fast": (0.90, 0.10),
    "fastest": (0.75, 0.25),
}
# the percentile, and the most extra paid calls per search


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgePolicy:
    """When the next provider starts, and how often a failed one is retried."""

    quantile: float = 0.95
    """The share of the running provider's latencies after which a paid provider is started as a hedge."""
    free_quantile: float = 0.5
    """The same for a free provider."""
    danger_quantile: float = 0.90
    """The same, at most, while at least two calls are late at once."""
    shortest: float = 0.15
    """The minimum in seconds."""
    longest: float = 1.5
    """The maximum in seconds."""
    slot_wait: float = 2.0
    """Maximum seconds to wait for a rate-limit slot while other providers could be called."""
    unknown: float = 0.8
    """Seconds, until a provider has enough samples."""
    extra_paid: float = 0.10
    """Maximum paid calls per search, in the long run, beyond those of a sequential chain: hedges, further rounds
    and control queries."""
    extra_paid_kept: float = 8.0
    """How many may be made at once after a quiet period."""
    most_requests: int = 3
    """Maximum requests of one search per second; further ones wait."""
    rounds: int = 3
    """Maximum rounds for transient failures."""
    retries: float = 0.20
    """Tokens that a search earns; a further round costs a whole one."""
    retries_kept: float = 10.0
    """Maximum tokens that accumulate."""
    retry_pause: float = 0.1
    """Seconds before the second round, doubled for the third, with a jitter of half."""
    least_for_retry: float = 0.5
    """Seconds that must be left for a further round."""
    most_drained: int = 32
    """Losing calls that continue to run; more are canceled."""
    fused: int = 3
    """How many providers are called at once for `fuse`."""
    fuse_max_wait: float = 1.0
    """Seconds for the others after one of them has results."""

    @classmethod
    def of(cls, latency: LatencyMode = "normal", cost: CostMode = "normal") -> Self:
        """Return the policy of a mode.

        Args:
            latency: How soon a paid provider is started as a hedge.
            cost: How many extra paid calls are allowed.
        """
        quantile, extra_paid = _MODES[latency]
        return (
            cls(quantile=quantile, extra_paid=extra_paid / 10, extra_paid_kept=1.0)
            if cost == "strict"
            else cls(quantile=quantile, extra_paid=extra_paid)
        )


_KEPT = 200  # responses
_ENOUGH = 20  # responses; fewer say nothing about a tail
_WEIGHT, _IMPROBABLE, _LONGEST_ROW = 0.03, 0.01, 8  # of the latest call; a probability; failures
_EAGER = 2.0  # above half of the budget, any hedge is allowed; below, only likely necessary ones
_EXCHANGE = 5.0  # seconds between two exchanges while nothing is spent here
_SPENT, _SPENT_TTL = "extra-paid", 3_600.0  # the key in the store, and the seconds after which it resets


class Latencies:
    """The exact quantiles of a provider's last 200 successful answers, in seconds."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        """Record a latency."""
        self._order.append(seconds)
        bisect.insort(self._sorted, seconds)
        if len(self._order) > _KEPT:
            self._sorted.pop(bisect.bisect_left(self._sorted, self._order.popleft()))

    def quantile(self, share: float, unknown: float) -> float:
        """Return a quantile of the latencies, or `unknown` while there are too few."""
        if len(self._sorted) < _ENOUGH:
            return unknown
        return self._sorted[min(len(self._sorted) - 1, int(share * len(self._sorted)))]

    def later(self, seconds: float, unknown: float) -> float:
        """Return the share of responses that take longer, never zero.

        Args:
            seconds: The time elapsed.
            unknown: The third quartile assumed while there are too few samples.
        """
        if len(self._sorted) < _ENOUGH:
            return float(0.25 ** (seconds / unknown))
        longer = len(self._sorted) - bisect.bisect_right(self._sorted, seconds)
        return (longer + 0.5) / (len(self._sorted) + 1)


class UsualFailures:
    """The share of each kind of failure in a provider's calls; the latest call weighs three percent."""

    def __init__(self) -> None:
        self._shares: dict[str, float] = {}

    def add(self, kind: str = "") -> None:
        """Record a call that failed in this way, or had rows."""
        for one in {kind, *self._shares} - {""}:
            share = self._shares.get(one, 0.0)
            self._shares[one] = share + _WEIGHT * ((one == kind) - share)

    def improbable_row(self, kind: str) -> int:
        """Return how many such failures in a row happen less than once in a hundred at the usual share."""
        share = min(self._shares.get(kind, 0.0), 0.99)
        return min(math.ceil(math.log(_IMPROBABLE) / math.log(share)), _LONGEST_ROW) if share > 0 else 1


class ExtraBudget:
    """The budget of extra paid calls, beyond those of a sequential chain.

    Each search earns a part of a call. A hedge is charged by the probability that the hedged call still responds, and
    corrected when that is known: replacing a failed call is not extra. Spending is counted in the store, for all
    processes that share it; each counts on its own between two exchanges.

    Args:
        earned: Calls per search.
        kept: The maximum that can be spent at once; also the initial budget.
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
        """Whether this many calls, or a part of one, may be spent.

        The less is left, the more likely a call must be to be necessary: late calls must not use up the budget for lost
        ones.

        Args:
            calls: How many.
            reserve: The share of the budget that must remain: hedges of late attempts leave it to searches that would
                end without a result.
        """
        spent = self._shared + self._pending
        kept = self._kept - min(reserve * self._kept, max(0.0, self._kept - 1))
        eager = calls >= 1 or calls * kept <= _EAGER * (kept - spent)
        return spent + calls <= kept and eager

    def spend(self, calls: float) -> None:
        """Spend calls, or refund a negative number."""
        self._pending = max(self._pending + calls, -self._shared)

    async def exchange(self, store: Store) -> None:
        """Count spending since the last exchange in the store, and read what others have spent.

        While the store fails, the budget is local to this process.
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
    """Tokens earned in fractions and spent whole.

    Args:
        earned: Tokens for each `earn`.
        kept: The maximum; the bucket starts full.
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
