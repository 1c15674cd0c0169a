"""What one call costs: charged before a request is sent, corrected when it has ended."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine

__all__ = ["MICRO", "BackgroundTasks", "CostLedger", "micro"]

MICRO = 1_000_000
"""Millionths of a dollar: whole numbers add up exactly."""

_CLOSING = 2.0  # seconds that closing waits for what is still to be written


class CostLedger:
    """The charges of one call.

    A request is charged before it is sent, and refunded when the service refused or failed; one that was canceled after
    it had been sent stays charged, because the service may well charge it. Requests may end after the call has: what
    they change is passed on.

    Args:
        reserve: Counts more money than was set aside, in millionths of a dollar; returns whether it was there.
        late: Counts what changes after the end, in millionths of a dollar.
        reserved: What was set aside, in millionths of a dollar.
    """

    def __init__(
        self, reserve: Callable[[int], Awaitable[bool]], late: Callable[[int], None], reserved: int = 0
    ) -> None:
        self._reserve = reserve
        self._late = late
        self._reserved = reserved
        self._added = 0
        self._spent = 0
        self._closed = False

    async def charge(self, cost_usd: float) -> bool:
        """Charge a call that is about to be sent; return False, and charge nothing, if there is not enough money."""
        amount = micro(cost_usd)
        if self._closed or self._spent + amount > self._reserved + self._added:
            if not await self._reserve(amount):
                return False
            if not self._closed:
                self._added += amount
        self._spent += amount
        return True

    def correct(self, charged_usd: float, cost_usd: float) -> None:
        """Replace the charge of a call by what it really cost."""
        difference = micro(cost_usd) - micro(charged_usd)
        self._spent += difference
        if difference and self._closed:
            self._late(difference)

    def add(self, cost_usd: float) -> None:
        """Count what a request has cost that was not charged before."""
        self.correct(0.0, cost_usd)

    def close(self) -> float:
        """End the call; return what it cost in US dollars, without what was counted beyond the reservation."""
        self._closed = True
        return (self._spent - self._added) / MICRO


class BackgroundTasks:
    """Writes that no call waits for; closing does."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start a write; a store that fails reports it itself."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until everything is done, but not for ever."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)


def micro(usd: float) -> int:
    """Return an amount in millionths of a dollar, rounded up once the noise of floating point is gone."""
    return math.ceil(round(usd * MICRO, 3))
