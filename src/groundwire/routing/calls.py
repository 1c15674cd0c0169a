"""The object that carries a call, made once for `Web.search` or `Web.open_page`, and whether a call may begin."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from groundwire.errors import Overloaded

if TYPE_CHECKING:
    from groundwire.deadline import Deadline
    from groundwire.models import Attempt, Query
    from groundwire.reading.passages.view import Ask
    from groundwire.routing.budget import Reservation
    from groundwire.routing.cost_ledger import CostLedger
    from groundwire.routing.hedging_policy import Strategy
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import WebUrl

__all__ = ["AttemptLog", "CacheMode", "LoadMonitor", "PageCall", "SearchCall"]

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
