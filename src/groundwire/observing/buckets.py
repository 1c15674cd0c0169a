"""What keeps the number of counters bounded: durations in buckets, and so many names and no more."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["BOUNDS", "Names", "bucket_of", "quantile"]

BOUNDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 7.5, 10.0)
"""The upper bounds of the buckets, in seconds; one more bucket holds what is longer."""

_OTHER = "other"


def bucket_of(seconds: float) -> int:
    """Return the number of the bucket that holds a duration; a bound belongs to the bucket that it ends."""
    return bisect_left(BOUNDS, seconds)


def quantile(counts: Sequence[float], share: float) -> float | None:
    """Return the duration in seconds below which a share of the calls lie, or None when there are no calls.

    Inside a bucket the calls are taken to lie evenly. What is longer than the last bound is said to be that bound.

    Args:
        counts: The calls in each bucket.
        share: More than 0 and at most 1.
    """
    wanted = share * sum(counts)
    if wanted <= 0:
        return None
    before, low = 0.0, 0.0
    for count, bound in zip(counts, BOUNDS, strict=False):
        if count and before + count >= wanted:
            return min(bound, low + (bound - low) * (wanted - before) / count)  # rounding may pass the bound
        before, low = before + count, bound
    return BOUNDS[-1]


class Names:
    """The first names that come, up to a number; every later one is called `other`. Its owner sees to threads.

    Args:
        limit: How many names are kept apart.
    """

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return the name under which to count."""
        if name not in self._known:
            if len(self._known) >= self._limit:
                return _OTHER
            self._known.add(name)
        return name
