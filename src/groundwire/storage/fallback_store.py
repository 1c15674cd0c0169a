"""A store that never fails: process memory replaces the real one while it does not respond."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from groundwire.deadline import Timeout
from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Count,
    Entry,
    Get,
    Numbers,
    Operation,
    Pace,
    Register,
    Store,
    StoreError,
)
from groundwire.storage.memory import MemoryStore
from groundwire.storage.rules import ended

_T = TypeVar("_T")

_logger = logging.getLogger(__name__)

_REMEMBERED = 10_000  # counters
_LONGEST_PAUSE = 30.0  # seconds
_FAILURES = (StoreError, TimeoutError)


class ResilientStore(Store):
    """Another store, replaced by process memory after a failure, until a probe succeeds.

    Reading and writing fail apart: what a full or locked store holds can still be read. A budget does not reset
    because its store is gone: memory counts on from the last total that was seen, and what was counted there is added
    to the real counter later. Other processes do not see it meanwhile.

    Args:
        store: The real store.
        fallback: Makes the memory store that replaces it; a new one for every outage.
        bound: Seconds that a call waits for the real store, and as long again for an answer that this process may have
            been too busy to read: to take that for a failure would part it from the others that share the store.
        pause: Seconds after a failure until the real store is tried again; they double to 30 while it stays away.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        store: Store,
        fallback: Callable[[], MemoryStore] = MemoryStore,
        *,
        bound: float = 0.25,
        pause: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._put_off: Callable[[Sequence[Operation]], bool] = getattr(store, "put_off", lambda _: False)
        self._make_fallback = fallback
        self._fallback = fallback()
        self._bound = bound
        self._clock = clock
        self._reading = _Switch(pause, clock)
        self._writing = _Switch(pause, clock)
        self._totals: OrderedDict[str, tuple[float, float | None, int]] = OrderedDict()
        self._order = itertools.count()
        self._seeded: set[str] = set()
        self._owed: OrderedDict[str, tuple[float, float | None]] = OrderedDict()
        self._last_numbers: OrderedDict[str, int] = OrderedDict()  # the largest number of each register
        self._floors: OrderedDict[str, int] = OrderedDict()  # the same for numbers assigned in an outage

    @property
    def degraded(self) -> bool:
        """Whether process memory is currently used, for reading or for writing."""
        return self._reading.off or self._writing.off

    @property
    def recreated(self) -> bool:
        """Whether the real store was damaged and has been recreated."""
        return bool(getattr(self._store, "recreated", False))

    async def get(self, key: str) -> Entry | None:
        """Return a value; see `Store.get`."""
        if self._writing.off and (entry := await self._fallback.get(key)) is not None:
            return entry  # newer than what the real store holds
        return await self._call(lambda store: store.get(key), self._reading)

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run a batch; see `Store.batch`."""
        if not self._owed and not self._writing.off and self._put_off(operations):  # nothing is waited for
            return [None] * len(operations)
        return await self._run(operations)

    async def apply(self, operation: Operation) -> Answer:
        """Run one operation; see `Store.apply`."""
        (answer,) = await self._run((operation,))
        return answer

    async def _run(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        async def on(store: Store) -> Sequence[Answer]:
            if store is not self._store:
                return await self._batch_here(operations)
            order, floors = next(self._order), self._floors
            steps = [_with_floor(step, floors) for step in operations] if floors else operations
            answers = [await store.apply(steps[0])] if len(steps) == 1 else await store.batch(steps)
            for step, answer in zip(operations, answers, strict=False):
                if isinstance(step, AssignNumbers) and isinstance(answer, Numbers):
                    _put(self._last_numbers, step.key, max((0, *answer.numbers)))
                elif isinstance(step, Add) and isinstance(answer, Count):
                    self._remember(step.key, answer.total, step.ttl, order)
            return answers

        reads = all(
            isinstance(operation, Get) or (isinstance(operation, Add) and not operation.amount)
            for operation in operations
        )
        return await self._call(on, self._writing, probe=not reads or bool(self._owed))

    async def register(self, key: str) -> Register:
        """Return a register; see `Store.register`."""
        register = await self._call(lambda store: store.register(key), self._reading)
        if not self._writing.off:
            return register
        newer = await self._fallback.register(key)
        return Register({**newer.numbers, **register.numbers}, tuple(dict.fromkeys((*register.notes, *newer.notes))))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        return await self._call(
            lambda store: store.pace(key, interval=interval, burst=burst, max_wait=max_wait), self._writing
        )

    async def delete(self, key: str) -> None:
        """Delete a value, a counter and a pace; see `Store.delete`."""
        for records in (self._totals, self._owed, self._last_numbers, self._floors):
            records.pop(key, None)
        await self._call(lambda store: store.delete(key), self._writing)

    async def aclose(self) -> None:
        """Close both stores, with the timeout of a call for the real one."""
        with suppress(*_FAILURES):
            async with asyncio.timeout(self._bound):
                await self._settle()
        with suppress(*_FAILURES):
            async with asyncio.timeout(max(self._bound, 1.0)):
                await self._store.aclose()
        await self._fallback.aclose()

    async def _call(self, operation: Callable[[Store], Awaitable[_T]], switch: _Switch, *, probe: bool = True) -> _T:
        """Call the real store, or memory while it fails; what only reads says nothing about writing: it is no probe."""
        if not switch.ready() or (switch.off and not probe):
            return await operation(self._fallback)
        probing = switch.begin()
        try:
            owed = switch is self._writing and self._owed
            answer = await self._in_time(self._settle_first(operation) if owed else operation(self._store))
        except _FAILURES as exc:
            if not self.degraded:
                reason = (str(exc) or f"The store did not answer within {self._bound:g} s").removesuffix(".")
                _logger.warning("%s. Using process memory instead, which other processes cannot see.", reason)
            switch.failed()
        else:
            if probing:  # one that was sent before the outage proves nothing
                switch.retry_at = None
                if switch is self._writing:
                    self._fallback, self._seeded = self._make_fallback(), set()
                if not self.degraded:
                    _logger.info("The store is available again.")
            return answer
        finally:
            if probing:
                switch.probing = False
        return await operation(self._fallback)

    async def _in_time(self, call: Awaitable[_T]) -> _T:
        """Wait for the bound, then as long again in which this process certainly reads answers."""
        loop = asyncio.get_running_loop()
        with Timeout(None) as limit:
            timer = loop.call_later(self._bound, loop.call_later, self._bound, limit.expire)
            try:
                return await call
            finally:
                timer.cancel()

    async def _settle_first(self, operation: Callable[[Store], Awaitable[_T]]) -> _T:
        await self._settle()
        return await operation(self._store)

    async def _batch_here(self, operations: Sequence[Operation]) -> list[Answer]:
        """Run a batch in memory. Registers continue from the last numbers of the real store."""
        answers: list[Answer] = []
        for step in operations:
            answer: Answer
            if isinstance(step, Add):
                answer = await self._count_here(step.key, step.amount, step.limit, step.ttl)
            elif isinstance(step, Get):
                answer = await self.get(step.key) or await self._fallback.get(step.key)  # one was set while it waited
            else:
                (answer,) = await self._fallback.batch((_with_floor(step, self._last_numbers),))
            if isinstance(step, AssignNumbers) and isinstance(answer, Numbers):
                _put(self._last_numbers, step.key, max((0, *answer.numbers)))
                _put(self._floors, step.key, max((0, *answer.numbers)))
            answers.append(answer)
            if ended(step, answer):
                break
        return answers

    async def _count_here(self, key: str, amount: float, limit: float | None, ttl: float | None) -> Count:
        """Count in memory, from the last value of the real store. Memory never suspends, so this is atomic."""
        if key not in self._seeded:
            self._seeded.add(key)
            total, until, _ = self._totals.get(key, (0.0, None, 0))
            remaining_seconds = None if until is None else until - self._clock()
            if remaining_seconds is not None and remaining_seconds <= 0:
                total, remaining_seconds = 0.0, ttl
            total += self._owed.get(key, (0.0, None))[0]  # of an earlier outage, and not in the real counter yet
            if total > 0:
                await self._fallback.count(key, total, ttl=remaining_seconds)
        before = (await self._fallback.count(key, 0)).total
        answer = await self._fallback.count(key, amount, limit=limit, ttl=ttl)
        if answer.total != before:
            self._owe(key, answer.total - before, ttl)
        return answer

    def _owe(self, key: str, amount: float, ttl: float | None) -> None:
        self._owed[key] = (self._owed.get(key, (0.0, None))[0] + amount, ttl)
        if len(self._owed) > _REMEMBERED:
            self._owed.popitem(last=False)

    async def _settle(self) -> None:
        """Add the counts from memory to the real counters."""
        while self._owed:
            order, (key, (amount, ttl)) = next(self._order), self._owed.popitem(last=False)
            try:
                answer = await self._store.count(key, amount, ttl=ttl)
            except BaseException:
                self._owe(key, amount, ttl)
                raise
            self._remember(key, answer.total, ttl, order)

    def _remember(self, key: str, total: float, ttl: float | None, order: int) -> None:
        now = self._clock()
        last_total, until, heard = self._totals.pop(key, (0.0, 0.0, 0))
        if order < heard:  # answers to calls at the same time come in any order
            total = max(last_total, total)
        if until is not None and until <= now:  # not seen before, or certainly reset
            until = None if ttl is None else now + ttl
        self._totals[key] = (total, until, next(self._order))
        if len(self._totals) > _REMEMBERED:
            self._totals.popitem(last=False)


def _with_floor(operation: Operation, floors: Mapping[str, int]) -> Operation:
    """Return an operation; numbers are assigned above the last one of their register."""
    if isinstance(operation, AssignNumbers) and (floor := floors.get(operation.key, 0)):
        return operation._replace(floor=floor)
    return operation


def _put(numbers: OrderedDict[str, int], key: str, number: int) -> None:
    numbers[key] = max(number, numbers.pop(key, 0))
    if len(numbers) > _REMEMBERED:
        numbers.popitem(last=False)


class _Switch:
    """Whether the real store is called: always, or one call at a time after each pause."""

    def __init__(self, pause: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first = self._pause = pause
        self.retry_at: float | None = None
        self.probing = False

    @property
    def off(self) -> bool:
        return self.retry_at is not None

    def ready(self) -> bool:
        return self.retry_at is None or (self._clock() >= self.retry_at and not self.probing)

    def begin(self) -> bool:
        """Record a call to the real store; return whether it is the probe."""
        if not self.off:
            return False
        self.probing = True
        return True

    def failed(self) -> None:
        now = self._clock()
        if self.retry_at is None:
            self._pause = self._first
        elif now >= self.retry_at:  # calls that failed together with the first one are no further evidence
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        else:
            return
        self.retry_at = now + self._pause
