"""Admission of requests: as many in progress as the event loop can carry, in turn by tenant; the others are refused.

The limit rises and falls by a tenth. What it follows is a standing delay, the smallest lag of the loop within an
interval, as in CoDel (Nichols and Jacobson, "Controlling Queue Delay", ACM Queue, 2012): waiting for slow providers
does not count, only work that the loop does not get done.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from groundwire_server.auth.error_response import Refusal

__all__ = ["Admission"]

_TICK = 0.01  # seconds between two measurements of the lag
_INTERVAL = 10  # measurements, after which the limit may change; CoDel's interval is 0.1 s as well
_TARGET = 0.01  # seconds of standing lag at which the limit falls
_FIRST = _LEAST = 64  # requests in progress: with fewer, those of providers that take 0.1 s leave the loop idle
_LONGEST_WAIT = 2.0  # seconds that a request may wait for a slot; see the table in benchmarks/NOTES.md
_SHORTEST_QUEUE = 8  # requests that may wait, however few have been done lately
_RETRY = 1.0  # seconds


@dataclass(slots=True, eq=False)
class _Waiting:
    turn: asyncio.Future[None]
    since: float


class Admission:
    """Lets requests in, in turn by owner.

    Args:
        most: Maximum requests in progress, whatever the lag.
        clock: Seconds; by default the loop's, whose lag is then measured. With another one, the caller calls
            `observe`.
    """

    def __init__(self, most: int, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._most = most
        self.limit: float = min(most, _FIRST)
        """Requests that may be in progress."""
        self.running: int = 0
        """Requests in progress."""
        self.refused: int = 0
        """Requests refused so far."""
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._queued = 0
        self._done = 0  # in this interval
        self._rate = 0.0  # requests done in a second, lately
        self._lags: list[float] = []
        self._full = False  # whether a request had to wait in this interval
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        """Whether requests are refused, at present."""
        return self._queued >= self._room

    @property
    def queued(self) -> int:
        """Requests that wait."""
        return self._queued

    @property
    def _room(self) -> int:
        """Requests that can be let in within the longest wait, and of which the server may hold that many."""
        return max(_SHORTEST_QUEUE, min(int(self._rate * _LONGEST_WAIT), int(self._most - self.limit)))

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it while the block runs.

        Args:
            owner: The tenant, or the address of a client without a key. Owners that wait take turns, so that one with
                many requests waits for its own.

        Raises:
            Refusal: too many are waiting, of this owner more than of any other; or it had to wait for too long.
        """
        self._measure_from_now()
        if self.running < self.limit and not self._queued:
            self.running += 1
        else:
            await self._wait(owner)
        try:
            yield
        finally:
            self.running -= 1
            self._done += 1
            self._let_in()

    def resize(self, most: int) -> None:
        """Change the maximum of requests in progress."""
        self._most = most
        self.limit = min(most, self.limit)

    def close(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _wait(self, owner: str) -> None:
        """Wait until `_let_in` has counted this request as running."""
        self._full = True
        if self._queued >= self._room:
            self._refuse_one(owner)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), self._now())
        self._queues.setdefault(owner, deque()).append(waiting)
        self._queued += 1
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.done() and not waiting.turn.cancelled() and waiting.turn.exception() is None:
                self.running -= 1  # let in, and gone at the same moment
                self._let_in()
            else:
                self._forget(owner, waiting)
            raise

    def _refuse_one(self, owner: str) -> None:
        """Make room by refusing the latest request of the owner that has most; of this owner, the new one.

        Raises:
            Refusal: it is this owner that has most.
        """
        self.refused += 1
        longest = max(self._queues, key=lambda one: len(self._queues[one]), default=owner)
        if len(self._queues.get(owner, ())) + 1 >= len(self._queues.get(longest, ())):
            raise _refusal()
        waiting = self._queues[longest][-1]
        self._forget(longest, waiting)
        waiting.turn.set_exception(_refusal())

    def _forget(self, owner: str, waiting: _Waiting) -> None:
        queue = self._queues.get(owner)
        if queue is None or waiting not in queue:
            return
        queue.remove(waiting)
        self._queued -= 1
        if not queue:
            del self._queues[owner]

    def _let_in(self) -> None:
        """Let the next ones in, one of each owner in turn."""
        while self._queued and self.running < self.limit:
            owner, queue = next(iter(self._queues.items()))
            waiting = queue[0]
            self._forget(owner, waiting)
            if owner in self._queues:
                self._queues.move_to_end(owner)
            if not waiting.turn.done():
                self.running += 1
                waiting.turn.set_result(None)

    def _now(self) -> float:
        return self._clock() if self._clock is not None else asyncio.get_running_loop().time()

    def _measure_from_now(self) -> None:
        if self._timer is None and self._clock is None:
            self._timer = asyncio.get_running_loop().call_later(_TICK, self._measure, self._now() + _TICK)

    def _measure(self, due: float) -> None:
        self._timer = None
        self.observe(self._now() - due)
        if self.running or self._queued:
            self._measure_from_now()

    def observe(self, lag: float) -> None:
        """Take a measurement, and change the limit after some.

        Args:
            lag: Seconds by which a timer was late.
        """
        self._lags.append(lag)
        oldest = self._now() - _LONGEST_WAIT
        for owner in list(self._queues):
            while (queue := self._queues.get(owner)) and queue[0].since < oldest:
                waiting = queue[0]
                self._forget(owner, waiting)
                self.refused += 1
                if not waiting.turn.done():
                    waiting.turn.set_exception(_refusal())
        if len(self._lags) < _INTERVAL:
            return
        seconds = _INTERVAL * _TICK + sum(self._lags)
        self._rate += 0.3 * (self._done / seconds - self._rate)
        if min(self._lags) > _TARGET:
            self.limit = min(self._most, max(_LEAST, 0.9 * min(self.limit, self.running + 1)))
        elif self._full:
            self.limit = min(self._most, 1.1 * self.limit + 1)
        self._lags, self._done, self._full = [], 0, bool(self._queued)
        self._let_in()


def _refusal() -> Refusal:
    text = "The server has more requests than it can answer in time. Try again in a second."
    return Refusal(503, "overloaded", text, retry_after=_RETRY)
