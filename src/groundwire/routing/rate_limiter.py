"""Rate limits of providers: those that the operator set, and those that a provider itself announces.

The limits are counted in the store, so that all processes that share it share them. What a provider announces is
learned from its responses. Where every response announces it, and none has come yet, the calls wait for the first one
instead of running into the limit together.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.deadline import Deadline
from groundwire.models import RateWindow
from groundwire.providers import SearchProvider
from groundwire.routing.health import HealthRecord, load_record, scope
from groundwire.storage.base import Store

__all__ = ["LONGEST_WINDOW", "Rate", "RateLimiter", "Slot", "rate_in", "rate_of"]

LONGEST_WINDOW = 60.0
"""Seconds of a window over which requests are spread; the limit of a longer one is a quota, used as one likes."""

_SLACK = 0.25  # seconds by which two requests may come closer together on their way: one opens a connection first
_SCOUT = 2.0  # seconds that calls wait for the first answer
_POLL = 0.05  # seconds between two looks at what another process has learned


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a provider may be asked."""

    interval: float
    """Seconds between two requests in the long run."""
    burst: int = 1
    """How many may go at once after a silence."""


@dataclass(frozen=True, slots=True)
class Slot:
    """When a call may go."""

    granted: bool
    """Whether it may go now; otherwise no turn was taken."""
    wait: float
    """Seconds that it waited, or would have had to."""
    interval: float = 0.0
    """Seconds between two requests."""


class RateLimiter:
    """Lets calls go one after the other, as fast as each provider allows.

    Args:
        store: Where the paces are, and what other processes have learned.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rates: dict[str, Rate | None] = {}
        self._held: dict[str, float] = {}
        self._scouts: dict[str, asyncio.Event] = {}
        self._owner = secrets.token_hex(8)

    async def acquire(self, provider: SearchProvider, deadline: Deadline, max_wait: float) -> Slot:
        """Wait for a slot; if it would come after the deadline or later than `max_wait` allows, take none.

        Args:
            provider: Who is to be asked.
            deadline: When the answer must be here.
            max_wait: The most seconds to wait.
        """
        where = scope(provider)
        began = asyncio.get_running_loop().time()
        if getattr(provider, "tells_rates", False) and where not in self._rates:
            await self._scout(provider, min(deadline.remaining(), max_wait, _SCOUT))
        pace = self._pace(provider)
        now = asyncio.get_running_loop().time()
        held, longest = self._held.get(where, 0.0) - now, min(deadline.remaining(), max_wait)
        if held > longest:
            return Slot(False, held, pace.interval if pace else 0.0)
        wait = max(0.0, held)
        if pace is not None:
            slot = await self._store.pace(
                f"pace:{where}", interval=pace.interval, burst=pace.burst, max_wait=max(0.0, longest)
            )
            if not slot.granted:
                return Slot(False, slot.wait, pace.interval)
            wait = max(wait, slot.wait)
        if wait > 0:
            await asyncio.sleep(wait)
        return Slot(True, asyncio.get_running_loop().time() - began, pace.interval if pace else 0.0)

    async def update_limits(self, provider: SearchProvider, windows: Sequence[RateWindow]) -> Rate | None:
        """Take note of what an answer said about limits; return the rate if it is news.

        Args:
            provider: Who answered.
            windows: What was said; nothing is an answer as well.
        """
        where = scope(provider)
        for window in windows:
            spent = window.remaining == 0 and window.limit != 0 and window.limit != 1  # one alone is paced exactly
            if spent and _is_short(window) and window.reset:
                self._held[where] = asyncio.get_running_loop().time() + min(window.reset, LONGEST_WINDOW)
        rate = rate_of(windows)
        news = rate is not None and self._rates.get(where) != rate
        if rate is not None and self._rates.get(where) is None:  # the call that brought it had no turn yet
            await self._store.pace(f"pace:{where}", interval=rate.interval, burst=rate.burst)
        if rate is not None or where not in self._rates:
            self._rates[where] = rate
        self._wake(provider)
        return rate if news else None

    def merge(self, where: str, rate: Rate) -> None:
        """Take note of what another process has learned."""
        self._rates[where] = rate

    def release(self, provider: SearchProvider) -> None:
        """Say that a call ended without an answer: whoever waited for it goes on without."""
        if scope(provider) in self._scouts:
            self._rates.setdefault(scope(provider), None)
            self._wake(provider)

    async def _scout(self, provider: SearchProvider, seconds: float) -> None:
        """Be the first to ask, or wait until whoever is has an answer."""
        where = scope(provider)
        if (scouting := self._scouts.get(where)) is not None:
            try:
                async with asyncio.timeout(seconds):
                    await scouting.wait()
            except TimeoutError:
                pass
            return
        self._scouts[where] = asyncio.Event()
        until = asyncio.get_running_loop().time() + seconds
        try:
            while not await self._store.lease(f"scout:{where}", owner=self._owner, ttl=_SCOUT):
                await asyncio.sleep(_POLL)
                record = await load_record(self._store, where)
                if record is not None and (rate := rate_in(record)) is not None:
                    self.merge(where, rate)
                if where in self._rates or asyncio.get_running_loop().time() >= until:
                    self._wake(provider)
                    return
        except BaseException:
            self._wake(provider)
            raise

    def _wake(self, provider: SearchProvider) -> None:
        if (scouting := self._scouts.pop(scope(provider), None)) is not None:
            scouting.set()

    def _pace(self, provider: SearchProvider) -> Rate | None:
        """Return the slower of what the operator set and what the provider says."""
        delay, rate = float(getattr(provider, "delay", 0.0)), self._rates.get(scope(provider))
        if not delay:
            return rate
        return Rate(max(delay, rate.interval if rate else 0.0))


def rate_of(windows: Sequence[RateWindow]) -> Rate | None:
    """Return the rate that meets all the short windows, or None if there is none.

    A fifth of a window may go at once. What follows is spread so that no span of the window's length, wherever it
    begins, holds more than the limit.
    """
    rates = []
    for window in windows:
        if window.limit and window.seconds and _is_short(window):
            burst = max(1, window.limit // 5)
            rates.append(Rate((window.seconds + _SLACK) / (window.limit - burst + 1), burst))
    if not rates:
        return None
    return Rate(max(rate.interval for rate in rates), min(rate.burst for rate in rates))


def rate_in(record: HealthRecord) -> Rate | None:
    """Return the rate that another process has learned; None if it knows none."""
    if record.interval <= 0 or record.burst < 1:
        return None
    return Rate(min(record.interval, LONGEST_WINDOW), record.burst)


def _is_short(window: RateWindow) -> bool:
    return (window.seconds or window.reset or 0.0) <= LONGEST_WINDOW
