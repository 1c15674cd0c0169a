"""The charges of one call, in micro-dollars."""

from __future__ import annotations

import functools
import math
from collections.abc import Awaitable, Callable

MICRO = 1_000_000
"""Micro-dollars: integers add up exactly."""


async def _no_money(micro_usd: int) -> bool:
    return False


def _no_account(micro_usd: int) -> None: ...


class CostLedger:
    """The charges of one call.

    A request is charged before it is sent, and refunded if the service rejected it or failed; one canceled after it was
    sent stays charged, because the service may charge it. Requests may end after the call: their changes are passed on.

    Args:
        reserve: Reserves additional money, in micro-dollars; returns whether there was enough. By default, as before
            anything is reserved, there is none.
        late: Counts changes after the end, in micro-dollars.
        reserved: The reservation, in micro-dollars.
    """

    def __init__(
        self,
        reserve: Callable[[int], Awaitable[bool]] = _no_money,
        late: Callable[[int], None] = _no_account,
        reserved: int = 0,
    ) -> None:
        self._reserve = reserve
        self._late = late
        self._reserved = reserved
        self._added = 0
        self._spent = 0
        self._closed = False

    async def charge(self, cost_usd: float) -> bool:
        """Charge a request that is about to be sent; return False without charging if there is not enough money."""
        amount = micro(cost_usd)
        if self._closed or self._spent + amount > self._reserved + self._added:
            if not await self._reserve(amount):
                return False
            if not self._closed:
                self._added += amount
        self._spent += amount
        return True

    def correct(self, charged_usd: float, cost_usd: float) -> None:
        """Replace the charge of a request by its actual cost."""
        difference = micro(cost_usd) - micro(charged_usd)
        self._spent += difference
        if difference and self._closed:
            self._late(difference)

    def add(self, cost_usd: float) -> None:
        """Add the cost of a request that was not charged before."""
        self.correct(0.0, cost_usd)

    def close(self) -> float:
        """End the call; return its cost in US dollars, without what was counted beyond the reservation."""
        self._closed = True
        return (self._spent - self._added) / MICRO


@functools.lru_cache(maxsize=256)
def micro(usd: float) -> int:
    """Convert an amount to micro-dollars, rounded up after removing floating-point noise."""
    return math.ceil(round(usd * MICRO, 3))
