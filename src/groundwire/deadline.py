"""One moment that a whole call must meet; every step gets what is left of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Deadline"]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a monotonic clock.

    Attributes:
        at: The moment, in seconds of `clock`.
        clock: The clock, `time.monotonic` unless a test brings its own.
    """

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Return the deadline that lies `seconds` ahead."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Return the seconds that are left, never less than zero."""
        return max(0.0, self.at - self.clock())

    @property
    def passed(self) -> bool:
        """Whether the moment is over."""
        return self.remaining() <= 0

    def capped(self, seconds: float) -> Deadline:
        """Return this deadline, or the one `seconds` ahead if that comes first."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)

    def timeout(self) -> asyncio.Timeout:
        """Return an `async with` block that raises TimeoutError when the moment is over."""
        return asyncio.timeout(self.remaining())
