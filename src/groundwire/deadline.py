"""A deadline for a whole call; every step gets the time that is left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self


class Deadline(NamedTuple):
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
        at, clock = self
        seconds = at - clock()
        return seconds if seconds > 0 else 0.0

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        at, clock = self
        return at <= clock()

    def capped(self, seconds: float) -> Deadline:
        """Return this deadline, or one `seconds` from now if that is earlier."""
        at, clock = self
        return Deadline(min(at, clock() + seconds), clock)

    def timeout(self) -> Timeout:
        """Return a `with` block that raises TimeoutError at the deadline."""
        return Timeout(self.remaining())


class Timeout:
    """A block of a task that raises TimeoutError when its time is up.

    It does what `asyncio.timeout` does, without two coroutines of its own: a search has several, and hardly one is ever
    needed.

    Args:
        seconds: When it expires; None only when `expire` is called.
    """

    __slots__ = ("_before", "_seconds", "_task", "_timer", "expired")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.expired: bool = False
        """Whether its time was up before the block ended."""

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A timeout requires a running asyncio task.")
        self._task: asyncio.Task[Any] | None = task
        self._before = task.cancelling()
        self._timer: asyncio.TimerHandle | None = None
        if self._seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self.expire)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        task, self._task = self._task, None
        if not self.expired or task is None:
            return
        if task.uncancel() <= self._before and isinstance(error, asyncio.CancelledError):  # no one else canceled it
            raise TimeoutError from error

    def expire(self) -> None:
        """End the block now, unless it has ended."""
        if self._task is not None and not self.expired:
            self.expired = True
            self._task.cancel()
