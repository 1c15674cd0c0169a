"""How long a provider usually takes."""

from __future__ import annotations

import bisect
from collections import deque

__all__ = ["Latencies"]

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
