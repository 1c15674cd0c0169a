"""Admission of requests: as many in progress as the event loop can carry, in turn by tenant; the others are refused.

The limit rises and falls by a tenth. What it follows is the work of a turn of the event loop, the median within an
interval: a request takes some twenty turns, in each of which it waits for what all others do. Waiting for slow
providers does not count, nor does the time for which other processes have the processor. A turn may do half as much
while one owner has most of the places and others want some: who sends too much then waits longer before being let in,
and all others less afterwards.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass

from groundwire_server.auth.rate_limits import client_network
from groundwire_server.error_body import Failed, failed

_TICK = 0.01  # seconds between two measurements
_INTERVAL = 10  # measurements, after which the limit may change
_MOST_WORK = 0.002  # seconds of CPU of a turn of the loop, above which the limit falls; see benchmarks/NOTES.md
# While one owner has most of the places that others want, too: beside 256 requests of it, one of another took 83 to 96
# ms with 2 ms and no spare places, 70 to 76 with one of both, 46 to 54 with both (median; benchmarks/NOTES.md).
_MOST_WORK_WHEN_CROWDED = 0.001
_SPARE = 8  # places above the limit for owners without a request in progress
_LATE = 0.05  # seconds; if every timer is that late, as other threads have the cores, more requests help no one
_FIRST = 64  # requests in progress
_LEAST = 16
# With a backlog alone, clients that ask again at once took the time of answers, the rate fell, and the queue with it.
_LONGEST_WAIT = 2.0  # seconds that a request may wait for a slot
_BACKLOG = 0.5  # seconds of work that may wait
_QUEUE = 256  # requests that may wait, however few have been done lately
_STRANGERS = 8  # networks of clients whose requests without a known credential are let in, in an interval
_RETRY = 1.0  # seconds
_MAX_CREDENTIALS = 10_000


@dataclass(slots=True, eq=False)
class _Waiting:
    turn: asyncio.Future[None]
    since: float


class Admission:
    """Lets requests in, in turn by owner.

    Args:
        most: Maximum requests in progress, whatever the lag.
        clock: Seconds; by default the loop's, which is then measured. With another one, the caller calls `observe`.
        queue: Requests that may wait, however few have been done lately.
    """

    def __init__(self, most: int, clock: Callable[[], float] | None = None, queue: int = _QUEUE) -> None:
        self.queue = queue
        self._clock = clock
        self._most = most
        self.limit: float = min(most, _FIRST)
        """Requests that may be in progress."""
        self.running: int = 0
        """Requests in progress."""
        self.lag: float = 0.0
        """The longest lag of the event loop in the last interval, in seconds."""
        self.refused: int = 0
        """Requests refused so far."""
        self._running_of: dict[str, int] = {}  # requests in progress, by owner
        self._recent_owners: set[str] = set()  # owners of requests in this interval
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self.queued: int = 0
        """Requests that wait."""
        self._done = 0  # in this interval
        self._rate = 0.0  # requests done in a second, lately
        self._since = 0.0  # when the interval began, without pauses
        self._measured_at = 0.0  # the last time; without requests there is a pause
        self._work: list[float] = []  # of the turns measured in it
        self._lags: list[float] = []
        self._full = False  # whether a request had to wait in this interval
        self._timer: asyncio.TimerHandle | None = None
        self._owners: OrderedDict[int, str] = OrderedDict()  # of the credentials that were found valid, by their hash
        self._parsed = 0  # requests let in by `refuses` since the last measurement that do not wait yet
        self._unknown: set[str] = set()  # networks that have sent a request without one in this interval

    def note(self, credential: bytes, owner: str) -> None:
        """Remember whose a valid credential is, for `refuses`.

        Args:
            credential: The value of the header that holds it; or the network of a client that needs none.
            owner: The tenant, or that network.
        """
        key = hash(credential)
        self._owners[key] = owner
        self._owners.move_to_end(key)
        if len(self._owners) > _MAX_CREDENTIALS:
            self._owners.popitem(last=False)

    def knows(self, credential: bytes, address: str) -> bool:
        """Whether a credential was found valid lately, or an address that sends none needs none.

        Args:
            credential: The value of the header that holds it; empty if there is none.
            address: The address of the client.
        """
        return _key(credential, client_network(address)) in self._owners

    def refuses(self, credential: bytes, address: str) -> bool:
        """Whether a request that has just arrived is refused before it is parsed, and count it.

        It is if too many are waiting, of its owner more than of any other. Of requests without a known credential one
        an interval and network is let in, so that a new client becomes known while others keep the server busy.

        Args:
            credential: The value of the header that holds it; empty if there is none.
            address: The address of the client.
        """
        self._measure_from_now()  # many requests never ask for a place, such as those without a valid key
        if self.queued + self._parsed < self._room:
            self._parsed += 1
            return False
        network = client_network(address)
        owner = self._owners.get(_key(credential, network))
        if owner is not None:
            refused = not self._has_fewer(owner)
        else:
            refused = network in self._unknown or len(self._unknown) >= _STRANGERS
            self._unknown.add(network)
        self.refused += refused
        return refused

    @property
    def is_full(self) -> bool:
        """Whether requests are refused, at present."""
        return self.queued >= self._room

    @property
    def _room(self) -> int:
        """Requests that can be let in within the longest wait, and of which the server may hold that many."""
        return max(self.queue, min(int(self._rate * _BACKLOG), int(self._most - self.limit)))

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a place, and hold it while the block runs; yield what gives it back before the end.

        Args:
            owner: The tenant, or the network of a client without a key. Owners that wait take turns, so that one with
                many requests waits for its own.

        Raises:
            Failed: too many are waiting, of this owner more than of any other; or it had to wait for too long.
        """
        await self._enter(owner)
        holds = True

        def leave() -> None:
            nonlocal holds
            if holds:
                holds = False
                self._end(owner)
                self._done += 1
                self._let_in()

        try:
            yield leave
        finally:
            leave()

    async def _enter(self, owner: str) -> None:
        self._measure_from_now()
        self._parsed = max(0, self._parsed - 1)
        self._recent_owners.add(owner)
        if owner not in self._running_of and owner not in self._queues:
            is_free = self._has_spare
        else:
            is_free = self.running < self.limit and not self.queued
        if is_free:
            self._begin(owner)
        else:
            await self._wait(owner)

    def _begin(self, owner: str) -> None:
        self.running += 1
        self._running_of[owner] = self._running_of.get(owner, 0) + 1

    def _end(self, owner: str) -> None:
        self.running -= 1
        self._running_of[owner] -= 1
        if not self._running_of[owner]:
            del self._running_of[owner]

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
        if self.queued >= self._room:
            self._refuse_one(owner)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), self._now())
        self._queues.setdefault(owner, deque()).append(waiting)
        self.queued += 1
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.done() and not waiting.turn.cancelled() and waiting.turn.exception() is None:
                self._end(owner)  # let in, and gone at the same moment
                self._let_in()
            else:
                self._forget(owner, waiting)
            raise

    def _refuse_one(self, owner: str) -> None:
        """Make room by refusing the latest request of the owner that has most; of this owner, the new one.

        Raises:
            Failed: it is this owner that has most.
        """
        self.refused += 1
        if not self._has_fewer(owner):
            raise _refusal()
        longest = max(self._queues, key=lambda name: len(self._queues[name]))
        waiting = self._queues[longest][-1]
        self._forget(longest, waiting)
        waiting.turn.set_exception(_refusal())

    def _has_fewer(self, owner: str) -> bool:
        """Whether an owner has fewer requests waiting, with a new one, than another."""
        longest = max(map(len, self._queues.values()), default=0)
        return len(self._queues.get(owner, ())) + 1 < longest

    def _forget(self, owner: str, waiting: _Waiting) -> None:
        queue = self._queues.get(owner)
        if queue is None or waiting not in queue:
            return
        queue.remove(waiting)
        self.queued -= 1
        if not queue:
            del self._queues[owner]

    @property
    def _has_spare(self) -> bool:
        """Whether there is a place for an owner without a request in progress."""
        return self.running < min(self.limit + _SPARE, self._most)

    def _let_in(self) -> None:
        """Let the next ones in, one of each owner in turn."""
        while self.queued and self.running < self.limit:
            self._let_one_in(next(iter(self._queues)))
        while self.queued and self._has_spare:  # else owners that have just come would go before them, again and again
            owner = next((owner for owner in self._queues if owner not in self._running_of), None)
            if owner is None:
                return
            self._let_one_in(owner)

    def _let_one_in(self, owner: str) -> None:
        waiting = self._queues[owner][0]
        self._forget(owner, waiting)
        if owner in self._queues:
            self._queues.move_to_end(owner)
        if not waiting.turn.done():
            self._begin(owner)
            waiting.turn.set_result(None)

    def _now(self) -> float:
        return self._clock() if self._clock is not None else asyncio.get_running_loop().time()

    def _measure_from_now(self) -> None:
        if self._timer is None and self._clock is None:
            now = self._now()
            self._since += now - self._measured_at
            # In no tenant's context: the loop would end the measurement when it is that tenant's turn.
            self._timer = asyncio.get_running_loop().call_later(_TICK, self._measure, now + _TICK, context=Context())

    def _measure(self, due: float) -> None:
        asyncio.get_running_loop().call_soon(self._measured, self._now() - due, time.thread_time())

    def _measured(self, lag: float, start: float) -> None:
        """End the measurement of a turn of the loop, the next after the one in which it began."""
        self._timer, self._measured_at = None, self._now()
        self.observe(time.thread_time() - start, lag)
        if self.running or self.queued:
            self._measure_from_now()
        else:
            self.lag = 0.0

    def observe(self, work: float, lag: float = 0.0) -> None:
        """Take a measurement, and change the limit after some.

        Args:
            work: Seconds of CPU that a turn of the loop took.
            lag: Seconds by which a timer was late.
        """
        self._work.append(work)
        self._lags.append(lag)
        self._parsed = 0
        now = self._now()
        for owner in list(self._queues):
            while (queue := self._queues.get(owner)) and queue[0].since < now - _LONGEST_WAIT:
                waiting = queue[0]
                self._forget(owner, waiting)
                self.refused += 1
                if not waiting.turn.done():
                    waiting.turn.set_exception(_refusal())
        if len(self._work) < _INTERVAL:
            return
        self._rate += 0.3 * (self._done / max(_INTERVAL * _TICK, now - self._since) - self._rate)
        most_work = _MOST_WORK_WHEN_CROWDED if self._is_crowded() else _MOST_WORK
        if statistics.median(self._work) > most_work:
            self.limit = min(self._most, max(_LEAST, 0.9 * min(self.limit, self.running + 1)))
        elif self._full and min(self._lags) < _LATE:
            self.limit = min(self._most, 1.1 * self.limit + 1)
        self.lag = max(self._lags)
        self._work, self._lags, self._since = [], [], now
        self._done, self._full = 0, bool(self.queued)
        self._unknown.clear()
        self._recent_owners = set(self._running_of)
        self._let_in()

    def _is_crowded(self) -> bool:
        """Whether one owner has most of the places, and another has sent a request in this interval."""
        largest = max(self._running_of.values(), default=0)
        return len(self._recent_owners) > 1 and 2 * largest > self.running


def _key(credential: bytes, network: str) -> int:
    return hash(credential or network.encode())


def _refusal() -> Failed:  # a new one each time: a raised one holds its frames
    text = "The server has more requests than it can answer in time. Try again in a second."
    return failed(503, "overloaded", text, retry_after=_RETRY)


OVERLOADED: Failed = _refusal()
"""The refusal of every request for which there is no room."""
