"""One search or page call with everything that it carries, and single flight: identical calls share one answer."""

from __future__ import annotations

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from groundwire.deadline import Deadline, wait_for_any
from groundwire.errors import Closed, DeadlineExceeded, Overloaded

if TYPE_CHECKING:
    from groundwire.models import Attempt, Query, Strategy
    from groundwire.providers import SearchProvider
    from groundwire.reading.passages.view import Ask
    from groundwire.routing.budget import Reservation
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import WebUrl

__all__ = [
    "MICRO",
    "AttemptLog",
    "BackgroundTasks",
    "CacheMode",
    "CostLedger",
    "InFlightLoad",
    "LoadMonitor",
    "PageCall",
    "SearchCall",
    "SingleFlight",
    "cpu_wanted",
    "micro",
    "scope",
]

_GRACE = 0.25  # seconds that a call waits beyond its deadline for the work to report its attempts, or finish
_CLOSING = 2.0  # seconds that closing waits for work, or for pending writes, to end

_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class InFlightLoad(Generic[_T]):
    """Work in progress, and its result."""

    name: str
    """Its name."""
    deadline: Deadline
    """The deadline of the call that started it."""
    answer: asyncio.Future[_T]
    """The result for all callers that wait."""
    shared: bool = True
    """Whether later callers may use the result while the work continues."""
    waiters: int = 0
    """How many callers wait for it."""
    task: asyncio.Task[None] = field(init=False)
    """The task of the work."""

    @property
    def over(self) -> bool:
        """Whether a new caller can no longer join it."""
        answer = self.answer
        return answer.done() and (not self.shared or answer.cancelled() or answer.exception() is not None)

    def resolve(self, answer: _T, *, shared: bool = True) -> None:
        """Return the result to all waiting callers; the work may continue after that.

        Args:
            answer: The result.
            shared: Whether callers that arrive while the work continues may use it too.
        """
        self.shared = shared
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Raise an error for all waiting callers."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # retrieved: there may be no caller left to do so


class SingleFlight:
    """Work by name. It starts with the first caller and is canceled when the last one leaves before the result."""

    def __init__(self) -> None:
        self._loads: dict[str, InFlightLoad[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def share(
        self, name: str, work: Callable[[InFlightLoad[_T]], Coroutine[Any, Any, None]], deadline: Deadline
    ) -> tuple[_T, bool]:
        """Return the result of the work with this name, and whether it was started for this call.

        Args:
            name: The name of the work.
            work: Does it and resolves the load, or fails; anything it raises before goes to all waiting callers.
            deadline: The deadline of the result. Work that failed because of a shorter deadline is restarted.

        Raises:
            DeadlineExceeded: the deadline passed. Closed. Anything that the work raises.
        """
        while not self._closed:
            load = self._loads.get(name)
            if load is None or load.over:
                return await self._wait(self._start(name, work, deadline), deadline), True
            try:
                return await self._wait(load, deadline), False
            except Exception:
                if deadline.passed or not load.deadline.passed:
                    raise
        raise _closed()

    def active(self, name: str) -> bool:
        """Whether work with this name is running."""
        load = self._loads.get(name)
        return load is not None and not load.task.done()

    async def aclose(self) -> None:
        """End all work; waiting callers get Closed. Resolved work may finish."""
        self._closed = True
        for load in [*self._loads.values()]:
            if not load.answer.done():
                load.fail(_closed())
                load.task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)

    def _start(
        self, name: str, work: Callable[[InFlightLoad[_T]], Coroutine[Any, Any, None]], deadline: Deadline
    ) -> InFlightLoad[_T]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        load = self._loads[name] = InFlightLoad(name, deadline, answer)
        load.task = loop.create_task(work(load))
        self._tasks.add(load.task)
        load.task.add_done_callback(functools.partial(self._ended, load))
        return load

    def _ended(self, load: InFlightLoad[Any], task: asyncio.Task[None]) -> None:
        """Raise the work's exception for all waiting callers, and forget it."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            load.fail(error)
        load.answer.cancel()
        if self._loads.get(load.name) is load:
            del self._loads[load.name]

    async def _wait(self, load: InFlightLoad[_T], deadline: Deadline) -> _T:
        load.waiters += 1
        try:
            grace = _GRACE if load.deadline.at <= deadline.at else 0.0
            await wait_for_any(deadline.remaining() + grace, load.answer)
            if load.answer.done() and not load.task.done():  # a caller's next call must see what this one has changed
                await wait_for_any(min(_GRACE, deadline.remaining()), load.task)
        finally:
            load.waiters -= 1
            if not load.waiters and not load.answer.done():
                load.answer.cancel()
                load.task.cancel()
                await wait_for_any(_GRACE, load.task)
        if not load.answer.done() or load.answer.cancelled():
            raise DeadlineExceeded("No answer in time. Try again, or allow more time.")
        return load.answer.result()


def _closed() -> Closed:
    return Closed("This Web is closed; create a new one.")


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


@dataclass(kw_only=True, slots=True, eq=False)  # not frozen: that would take three times as long to make
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


@dataclass(kw_only=True, slots=True, eq=False)
class SearchCall(_Call):
    """One search."""

    query: Query
    """Text, limit and filters."""
    strategy: Strategy
    """The strategy for calling providers."""


@dataclass(kw_only=True, slots=True, eq=False)
class PageCall(_Call):
    """One page to open."""

    url: WebUrl
    """The URL, allowed by the guard."""
    selection: Ask
    """The requested part of the page."""


_TICK = 0.05  # seconds between two measurements
_MEASURED, _LATE = 5, 3  # measurements, and how many of them must be late; a pause or two are not an overload
_LAG_SHARE, _LEAST_LAG = 1 / 60, 0.1  # of a call's time, and seconds; a call takes dozens of turns of the loop
_OWN = 0.5  # share of the time in which this thread itself must have used the CPU, or waited for it
_BUSY = 10  # calls started per second; fewer cannot starve the loop
_SCHEDULED = Path("/proc/thread-self/schedstat")  # nanoseconds on the CPU, and ready to run but waiting for it


def cpu_wanted() -> float:
    """Return the seconds for which this thread has used the CPU or, on Linux, was ready to run."""
    try:
        ran, waited, _ = _SCHEDULED.read_bytes().split()
    except (OSError, ValueError):
        return time.thread_time()
    return (int(ran) + int(waited)) / 1e9


class LoadMonitor:
    """Detects a starved event loop, and rejects new calls before running ones miss their deadlines.

    The lag of the loop is measured with a timer while calls arrive. It counts only while this thread itself has work to
    do for most of the time: rejecting calls does not help against anything else that blocks it. A call with more time
    tolerates more lag.

    Args:
        cpu: Returns the seconds of CPU time used or wanted by the thread.
    """

    def __init__(self, cpu: Callable[[], float] = cpu_wanted) -> None:
        self._cpu = cpu
        self._measured: tuple[float, float]  # set when the timer starts
        self._begun: deque[float] = deque(maxlen=_BUSY)
        self._lags: deque[float] = deque(maxlen=_MEASURED)
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, seconds: float = 10.0) -> None:
        """Count a call that is about to start.

        Args:
            seconds: How long it may take.

        Raises:
            Overloaded: the event loop has been late repeatedly, and many calls arrive.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._begun.append(now)
        if self._timer is None:
            self._measured = now, self._cpu()
            self._timer = loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        late = max(_LEAST_LAG, _LAG_SHARE * seconds)
        if sum(lag >= late for lag in self._lags) >= _LATE and now - self._begun[0] < 1.0 and len(self._begun) == _BUSY:
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
        self._lags.append(now - due if used - used_before >= _OWN * (now - since) else 0.0)
        idle = now - self._begun[-1] > 1.0
        self._timer = None if idle else loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        if idle:
            self._lags.clear()


MICRO = 1_000_000
"""Micro-dollars: integers add up exactly."""


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


@functools.lru_cache(maxsize=256)
def micro(usd: float) -> int:
    """Convert an amount to micro-dollars, rounded up after removing floating-point noise."""
    return math.ceil(round(usd * MICRO, 3))


def scope(provider: SearchProvider) -> str:
    """Return the account of a provider: its rate limits and quotas apply to everyone who uses it."""
    account = getattr(provider, "account", "")
    return f"{provider.name}:{account}" if account else provider.name
