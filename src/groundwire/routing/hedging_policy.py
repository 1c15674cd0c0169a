"""The numbers of the hedging policy, in one place.

The defaults were chosen by a simulation of 10,000 queries for each of a dozen fault patterns and confirmed on sockets:
a hedge at the running provider's own 95th percentile costs about 5 % more calls and takes the long tail away.
"""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass
from typing import Literal, Self

__all__ = ["CostMode", "HedgePolicy", "Latencies", "LatencyMode", "Strategy", "Tokens"]

Strategy = Literal["fallback", "hedge", "fuse"]
"""`fallback`: one after the other. `hedge`: the next starts when one is late. `fuse`: several at once, merged."""

LatencyMode = Literal["normal", "fast", "fastest"]
"""Which percentile of a provider's own answers makes it late: the 95th, the 90th or the 75th."""

CostMode = Literal["normal", "strict"]
"""`strict`: no paid provider is called only to be faster."""

_MODES: dict[LatencyMode, tuple[float, float]] = {"normal": (0.95, 0.10), "fast": (0.90, 0.10), "fastest": (0.75, 0.25)}
# the percentile, and the hedges to paid providers for each search; 5 %, 10 % and 24 % more calls in the simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgePolicy:
    """When the next provider starts, and how often a failed one is asked again."""

    quantile: float = 0.95
    """A paid provider is hedged to when the running one is later than this share of its own answers."""
    free_quantile: float = 0.5
    """The same for a provider that costs nothing."""
    shortest: float = 0.15
    """Seconds; never sooner."""
    longest: float = 2.0
    """Seconds; never later."""
    unknown: float = 0.8
    """Seconds, until a provider has answered often enough to know its habits."""
    paid_hedges: float = 0.10
    """Tokens that a search earns; a hedge to a paid provider takes a whole one."""
    paid_hedges_kept: float = 10.0
    """The most tokens that are kept."""
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
            cost: Whether one is called to help at all before the running one seems dead.
        """
        quantile, paid_hedges = _MODES[latency]
        return cls(quantile=quantile, paid_hedges=0.0 if cost == "strict" else paid_hedges)


_KEPT = 200  # answers
_ENOUGH = 20  # answers; fewer say nothing about a tail


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
