"""The state of one call of `Web.search` or `Web.open_page`, with its attempts, costs and admission."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from groundwire.errors import Overloaded

if TYPE_CHECKING:
    from groundwire.deadline import Deadline
    from groundwire.models import Attempt, Query
    from groundwire.reading.passages.view import Ask
    from groundwire.routing.budget import Reservation
    from groundwire.routing.hedging_policy import Strategy
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import WebUrl

__all__ = [
    "MICRO",
    "AttemptLog",
    "BackgroundTasks",
    "CacheMode",
    "CostLedger",
    "LoadMonitor",
    "PageCall",
    "SearchCall",
    "micro",
]

CacheMode = Literal["use", "refresh", "bypass"]
"""`use`: a cached value may be used. `refresh`: skip the lookup and store the new result. `bypass`: store nothing."""


class AttemptLog:
    """The attempts of one call, in the order in which they ended; it only grows."""

    def __init__(self) -> None:
        self._attempts: list[Attempt] = []

    def add(self, *attempts: Attempt) -> None:
        """Append attempts."""
        self._attempts.extend(attempts)

    @property
    def entries(self) -> tuple[Attempt, ...]:
        """The attempts so far."""
        return tuple(self._attempts)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """Common state of a search and a page."""

    deadline: Deadline
    """The deadline of the whole call."""
    cache_mode: CacheMode = "use"
    """The cache mode."""
    owner: Owner
    """The owner of everything stored for this call, which also determines what it may see."""
    session: str
    """The session's name."""
    reservation: Reservation
    """The budget reserved before the first request."""
    ledger: CostLedger
    """The charges so far; settled once at the end."""
    attempts: AttemptLog = field(default_factory=AttemptLog)
    """The attempts and their outcomes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCall(_Call):
    """One search."""

    query: Query
    """Text, limit and filters."""
    strategy: Strategy
    """The strategy for calling providers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCall(_Call):
    """One page to open."""

    url: WebUrl
    """The URL, allowed by the guard."""
    selection: Ask
    """The requested part of the page."""


_TICK = 0.05  # seconds between two measurements
_LAG = 0.15  # seconds by which a starved event loop is late
_TICKS = 5  # consecutive measurements; a single pause, however long, is not an overload
_OWN = 0.5  # share of the time in which this thread itself must have used the CPU
_BUSY = 10  # calls started per second; fewer cannot starve the loop


class LoadMonitor:
    """Detects a starved event loop, and rejects new calls before running ones miss their deadlines.

    The lag of the loop is measured with a timer while calls arrive. It counts only while this thread itself uses the
    CPU: rejecting calls does not help against other programs on a busy machine.

    Args:
        cpu: Returns the seconds of CPU time used by the thread.
    """

    def __init__(self, cpu: Callable[[], float] = time.thread_time) -> None:
        self._cpu = cpu
        self._measured = (0.0, 0.0)
        self._begun: deque[float] = deque(maxlen=_BUSY)
        self._late = 0
        self._timer: asyncio.TimerHandle | None = None

    def admit(self) -> None:
        """Count a call that is about to start.

        Raises:
            Overloaded: the event loop has been late repeatedly, and many calls arrive.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._begun.append(now)
        if self._timer is None:
            self._measured = now, self._cpu()
            self._timer = loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        if self._late >= _TICKS and now - self._begun[0] < 1.0 and len(self._begun) == _BUSY:
            raise Overloaded("Too many calls at the moment. Try again in a second.")

    def close(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _measure(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now, used = loop.time(), self._cpu()
        since, used_before = self._measured
        self._measured = now, used
        is_late = now - due >= _LAG and used - used_before >= _OWN * (now - since)
        self._late = min(self._late + 1, 2 * _TICKS) if is_late else max(0, self._late - 2)
        idle = now - self._begun[-1] > 1.0
        self._timer = None if idle else loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        if idle:
            self._late = 0


MICRO = 1_000_000
"""Micro-dollars: integers add up exactly."""

_CLOSING = 2.0  # seconds that closing waits for pending writes


class CostLedger:
    """The charges of one call.

    A request is charged before it is sent, and refunded if the service rejected it or failed; one canceled after it was
    sent stays charged, because the service may charge it. Requests may end after the call: their changes are passed on.

    Args:
        reserve: Reserves additional money, in micro-dollars; returns whether there was enough.
        late: Counts changes after the end, in micro-dollars.
        reserved: The reservation, in micro-dollars.
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


class BackgroundTasks:
    """Background writes, which only closing waits for."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start a write; the store reports its own failures."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until all writes are done, up to a limit."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)


def micro(usd: float) -> int:
    """Convert an amount to micro-dollars, rounded up after removing floating-point noise."""
    return math.ceil(round(usd * MICRO, 3))
