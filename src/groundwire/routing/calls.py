"""The object that carries a call, made once for `Web.search` or `Web.open_page`; what it costs, and if it may begin."""

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
"""`use`: a cached value will do. `refresh`: skip the lookup and store the new result. `bypass`: keep nothing at all."""


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
    """What a search and a page have in common."""

    deadline: Deadline
    """The moment by which the whole call must end."""
    cache_mode: CacheMode = "use"
    """What the call wants of the cache."""
    owner: Owner
    """Whose everything is that is kept of this call, and what kept things it may see."""
    session: str
    """The session's name."""
    reservation: Reservation
    """What the budget set aside before the first request."""
    ledger: CostLedger
    """Charges as they are made; settled once at the end."""
    attempts: AttemptLog = field(default_factory=AttemptLog)
    """Who was asked, and how it ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCall(_Call):
    """One search."""

    query: Query
    """Text, limit and filters."""
    strategy: Strategy
    """How the providers are asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCall(_Call):
    """One page to open."""

    url: WebUrl
    """The address, admitted by the guard."""
    selection: Ask
    """The part of the page that is wanted."""


_TICK = 0.05  # seconds between two measurements
_LAG = 0.15  # seconds by which a starved event loop is late
_TICKS = 5  # measurements in a row; one pause, as long as it may be, is no overload
_OWN = 0.5  # share of the time in which this thread itself must have used the processor
_BUSY = 10  # calls begun in a second; fewer are not what starves the loop


class LoadMonitor:
    """Notices that the event loop is starved, and refuses new calls before those that run miss their deadlines.

    The lag of the loop is measured by a timer, as long as calls come. It counts only while this thread itself uses the
    processor: fewer calls do not help against other programs of a busy machine.

    Args:
        cpu: Seconds of processor time that the thread has used.
    """

    def __init__(self, cpu: Callable[[], float] = time.thread_time) -> None:
        self._cpu = cpu
        self._measured = (0.0, 0.0)
        self._begun: deque[float] = deque(maxlen=_BUSY)
        self._late = 0
        self._timer: asyncio.TimerHandle | None = None

    def admit(self) -> None:
        """Count a call that is about to begin.

        Raises:
            Overloaded: the event loop has been late time after time, and many calls come.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._begun.append(now)
        if self._timer is None:
            self._measured = now, self._cpu()
            self._timer = loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        if self._late >= _TICKS and now - self._begun[0] < 1.0 and len(self._begun) == _BUSY:
            raise Overloaded("There is too much to do here at the moment. Try again in a second.")

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
