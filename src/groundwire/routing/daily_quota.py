"""The daily quota of an owner across sessions: calls and US dollars.

The counts are in the store under the owner's name and the date, so all processes that share the store count together. A
reservation is settled on the day it was made, even after midnight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from groundwire.errors import BudgetExceeded
from groundwire.routing.cost_ledger import MICRO
from groundwire.storage.base import Store

if TYPE_CHECKING:
    from groundwire.settings import SessionSettings

_DAY = 86_400.0  # seconds; days begin at midnight UTC
_LIFE = 3 * _DAY  # seconds after which the store deletes a day's counts


class Limits(NamedTuple):
    """The limits of a session; 0 means no limit."""

    searches: int = 0
    """Maximum searches."""
    warning_threshold: int = 15
    """The number of searches from which there is a warning."""
    cost_usd: float = 0.0
    """The most US dollars."""
    tokens: int = 0
    """Maximum tokens of page text, estimated at four characters each."""
    idle_timeout: float = 0.0
    """Seconds without a call after which the counts reset."""


def limits_of(session: SessionSettings) -> Limits:
    """Return the limits of a session in the settings."""
    return Limits(
        searches=session.max_searches,
        warning_threshold=session.warning_threshold,
        cost_usd=session.max_cost_usd,
        tokens=session.max_tokens,
        idle_timeout=session.idle_timeout,
    )


class DailyLimits(NamedTuple):
    """The limits of a day; 0 means no limit."""

    name: str
    """The name that it is counted under."""
    calls: int = 0
    """Maximum searches and pages in total."""
    cost_usd: float = 0.0
    """The most US dollars."""


class DailyQuota:
    """Counts usage against the daily limits.

    Args:
        store: The store of the counts.
        daily: The limits.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, store: Store, daily: DailyLimits, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self.daily = daily

    def today(self) -> int:
        """Return the number of the current day since the epoch, in UTC."""
        return int(self._clock() // _DAY)

    async def take(self, day: int, micro_usd: int = 0) -> None:
        """Count one call before it is made, and reserve its price.

        Args:
            day: The day it is counted on.
            micro_usd: Its maximum price, in micro-dollars.

        Raises:
            BudgetExceeded: no call, or not enough money, is left for the day.
        """
        if not await self.take_up_to(day, 1, micro_usd):
            raise self._used_up(await self.used())

    async def spend(self, day: int, micro_usd: int) -> bool:
        """Reserve more money; return False without reserving if there is not enough."""
        limit = round(self.daily.cost_usd * MICRO) or None
        return (await self._store.count(self._key(day, "usd"), micro_usd, limit=limit, ttl=_LIFE)).granted

    async def add(self, day: int, micro_usd: int) -> None:
        """Count money regardless of the limit; a negative amount is a refund."""
        if micro_usd:
            await self._store.count(self._key(day, "usd"), micro_usd, ttl=_LIFE)

    async def uncount(self, day: int, calls: int) -> None:
        """Uncount calls that were not made."""
        if calls:
            await self._store.count(self._key(day, "calls"), -calls, ttl=_LIFE)

    async def check_money(self) -> None:
        """Check that some money is left.

        Raises:
            BudgetExceeded: the day's money is used up.
        """
        if self.daily.cost_usd and (used := await self.used())["cost_usd"] >= self.daily.cost_usd:
            raise self._used_up(used)

    async def take_up_to(self, day: int, calls: int, price: int) -> int:
        """Count as many calls as the limits allow, each with its price, and return their number.

        Args:
            day: The day they are counted on.
            calls: The requested number.
            price: The price of each, in micro-dollars.
        """
        limits = self.daily.calls, self.daily.cost_usd
        return (await take_up_to(self._store, partial(self._key, day), "calls", (calls, price), limits, _LIFE))[0]

    async def used(self) -> dict[str, float]:
        """Return the usage of the day: `calls` and `cost_usd`."""
        day = self.today()
        calls = await self._store.count(self._key(day, "calls"), 0)
        usd = await self._store.count(self._key(day, "usd"), 0)
        return {"calls": calls.total, "cost_usd": usd.total / MICRO}

    def _used_up(self, used: Mapping[str, float]) -> BudgetExceeded:
        """Return the error of a day whose calls, or else whose money, are used up."""
        calls, what = round(used["calls"]), f"its limit is {self.daily.cost_usd:g} US dollars per day"
        if 0 < self.daily.calls <= calls:
            what = f"all {calls:,} calls of the day are used"
        return BudgetExceeded(
            f"The daily budget is used up: {what}.",
            limit=self.daily.calls,
            spent=calls,
            retry_after=_DAY - self._clock() % _DAY,
            resets="It resets at midnight UTC.",
        )

    def _key(self, day: int, what: str) -> str:
        return f"day:{self.daily.name}:{day}:{what}"


async def take_up_to(
    store: Store, key: Callable[[str], str], what: str, wanted: tuple[int, int], limits: tuple[int, float], ttl: float
) -> tuple[int, float]:
    """Count as many of a number of things as two limits allow, each with its price; return how many, and their total.

    Args:
        store: The store of the counts.
        key: Returns the key of a count.
        what: The name of the things.
        wanted: The requested number, and the price of each in micro-dollars.
        limits: The limit of the total, and of the money in US dollars; 0 means none.
        ttl: Seconds after which the store deletes the counts.
    """
    (number, price), (most, cost_usd) = wanted, limits
    granted, total = await _count_up_to(store, key(what), number, 1, most, ttl)
    if not granted or not price:
        return granted, total
    paid, _ = await _count_up_to(store, key("usd"), granted, price, round(cost_usd * MICRO), ttl)
    if paid < granted:
        total = (await store.count(key(what), paid - granted, ttl=ttl)).total
    return paid, total


async def _count_up_to(store: Store, key: str, number: int, each: int, limit: int, ttl: float) -> tuple[int, float]:
    """Count as many of a number of things as the limit allows; return how many, and the new total.

    Another process may count in between, so it is retried with fewer until they fit.

    Args:
        store: The store of the count.
        key: Its key.
        number: The requested number; at least one.
        each: How much each of them counts.
        limit: The limit of the total; 0 means none.
        ttl: Seconds after which the store deletes the count.
    """
    total = 0.0
    while number > 0:
        count = await store.count(key, number * each, limit=limit or None, ttl=ttl)
        total = count.total
        if count.granted:
            break
        number = min(number - 1, int(limit - total) // each)
    return max(0, number), total
