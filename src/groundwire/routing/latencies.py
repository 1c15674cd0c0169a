"""The usual latencies of a provider."""

from __future__ import annotations

import bisect
from collections import deque

__all__ = ["Latencies"]

_WINDOW = 200  # responses
_FEWEST_SAMPLES = 20  # responses; fewer say nothing about a tail


class Latencies:
    """The exact quantiles of a provider's last 200 successful answers, in seconds."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        """Record a latency."""
        self._order.append(seconds)
        bisect.insort(self._sorted, seconds)
        if len(self._order) > _WINDOW:
            self._sorted.pop(bisect.bisect_left(self._sorted, self._order.popleft()))

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def longest(self) -> float:
        """The longest of them, or 0."""
        return self._sorted[-1] if self._sorted else 0.0

    def quantile(self, share: float, unknown: float) -> float:
        """Return a quantile of the latencies, or `unknown` while there are too few."""
        if len(self) < _FEWEST_SAMPLES:
            return unknown
        return self._sorted[min(len(self._sorted) - 1, int(share * len(self._sorted)))]

    def later(self, seconds: float, unknown: float) -> float:
        """Return the share of responses that take longer, never zero.

        Args:
            seconds: The time elapsed.
            unknown: The third quartile assumed while there are too few samples.
        """
        if len(self) < _FEWEST_SAMPLES:
            return float(0.25 ** (seconds / unknown))
        longer = len(self._sorted) - bisect.bisect_right(self._sorted, seconds)
        return (longer + 0.5) / (len(self._sorted) + 1)
