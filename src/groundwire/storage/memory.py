"""A store in the memory of this process."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Count,
    Entry,
    Get,
    Lease,
    Numbers,
    Operation,
    Pace,
    Register,
    Release,
    Set,
    Store,
    StoreError,
)
from groundwire.storage.rules import assign_numbers, ended, next_count, next_slot, note_key, surplus

_OVERHEAD = 300  # bytes that one entry takes beside its key and value (CPython 3.11, measured)
_SWEEP = 1_000  # keys without a limit of their own that may accumulate before expired ones are removed

_V = TypeVar("_V")
_EntryFields: TypeAlias = tuple[bytes, float, float]  # of an `Entry`: plain tuples, which the garbage collector skips


class MemoryStore(Store):
    """Values, counters, paces and leases of one process; exact under tasks and threads.

    Args:
        max_bytes: Maximum size of all values; the oldest go first. Counters, paces and leases are never pushed out,
            they go when they have run out.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, *, max_bytes: int = 64_000_000, clock: Callable[[], float] = time.time) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _EntryFields] = OrderedDict()
        self._bytes = 0
        self._counters = _Expiring[float]()
        self._paces = _Expiring[float]()
        self._leases = _Expiring[str]()
        self._registers = _Expiring[_RegisterState]()
        self._closed = False

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run a batch; see `Store.batch`."""
        answers: list[Answer] = []
        with self._lock:
            now = self._now()
            for operation in operations:
                answers.append(answer := self._run(operation, now))
                if ended(operation, answer):
                    break
        return answers

    async def register(self, key: str) -> Register:
        """Return a register; see `Store.register`."""
        with self._lock:
            state = self._registers.get(key, self._now())
            if state is None:
                return Register({})
            notes = (self._entries.get(note_key(key, note)) for note in state.notes)
            return Register(dict(state.numbers), tuple(entry[0] for entry in notes if entry is not None))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        with self._lock:
            now = self._now()
            slot, arrival = next_slot(self._paces.get(key, now), now, interval, burst, max_wait)
            if slot.granted:
                self._paces.put(key, arrival, now, arrival)
            return slot

    async def delete(self, key: str) -> None:
        """Delete a value, a counter and a pace; see `Store.delete`."""
        with self._lock:
            self._now()
            self._forget(key)
            self._counters.pop(key)
            self._paces.pop(key)
            if (state := self._registers.pop(key)) is not None:
                for note in state.notes:
                    self._forget(note_key(key, note))

    async def aclose(self) -> None:
        """Delete everything."""
        with self._lock:
            self._closed = True
            self._entries.clear()
            self._bytes = 0

    def _run(self, operation: Operation, now: float) -> Answer:
        match operation:
            case Get(key):
                entry = self._entries.get(key)
                return None if entry is None or entry[2] <= now else Entry(*entry)
            case Set(key, value, fresh, stale):
                self._put(key, value, now, fresh, stale)
            case Add():
                return self._count(operation, now)
            case Lease(key, owner, ttl):
                if self._leases.get(key, now) not in {None, owner}:
                    return False
                self._leases.put(key, owner, now, now + ttl)
                return True
            case Release(key, owner):
                if self._leases.get(key, now) == owner:
                    self._leases.pop(key)
            case AssignNumbers():
                return self._number(operation, now)
        return None

    def _count(self, request: Add, now: float) -> Count:
        before = self._counters.get(request.key, now)
        count = next_count(before or 0.0, request)
        if count.granted and before is not None:
            self._counters.replace(request.key, count.total)
        elif count.granted and request.amount > 0:
            self._counters.put(request.key, count.total, now, math.inf if request.ttl is None else now + request.ttl)
        return count

    def _number(self, request: AssignNumbers, now: float) -> Numbers:
        state = self._registers.get(request.key, now) or _RegisterState()
        last = max(state.last, request.floor)
        numbers, state.last = assign_numbers(request.groups, state.numbers, last)
        note = hash(request.note).to_bytes(8, "big", signed=True)  # which no other process compares
        new = state.notes.pop(note, True)
        state.notes[note] = False
        for name in surplus(state.numbers):
            del state.numbers[name]
        for old in surplus(state.notes):
            del state.notes[old]
            self._forget(note_key(request.key, old))
        self._put(note_key(request.key, note), request.note, now, request.ttl, 0.0)
        self._registers.put(request.key, state, now, now + request.ttl)
        return Numbers(numbers, new)

    def _put(self, key: str, value: bytes, now: float, fresh: float, stale: float) -> None:
        self._forget(key)
        size = _size(key, value)
        if fresh + stale <= 0 or size > self._max_bytes:
            return
        self._entries[key] = (bytes(value), now + fresh, now + fresh + stale)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._entries)))

    def _now(self) -> float:
        if self._closed:
            raise StoreError("The in-memory store is closed.")
        return self._clock()

    def _forget(self, key: str) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= _size(key, entry[0])


class _RegisterState:
    """A register: numbers by name, and the digests of its notes, the newest last."""

    __slots__ = ("last", "notes", "numbers")

    def __init__(self) -> None:
        self.last = 0
        self.numbers: dict[bytes, int] = {}
        self.notes: dict[bytes, bool] = {}  # an ordered set


class _Expiring(Generic[_V]):
    """Expiring values; expired ones are removed when the number has doubled, at a constant cost each."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[_V, float]] = {}
        self._sweep_at = _SWEEP

    def get(self, key: str, now: float) -> _V | None:
        value, until = self._values.get(key, (None, math.inf))
        return value if until > now else None

    def put(self, key: str, value: _V, now: float, until: float) -> None:
        self._values[key] = (value, until)
        if len(self._values) >= self._sweep_at:
            self._values = {key: item for key, item in self._values.items() if item[1] > now}
            self._sweep_at = max(_SWEEP, 2 * len(self._values))

    def replace(self, key: str, value: _V) -> None:
        """Change an existing value without changing its expiry."""
        self._values[key] = (value, self._values[key][1])

    def pop(self, key: str) -> _V | None:
        return self._values.pop(key, (None, 0.0))[0]


def _size(key: str, value: bytes) -> int:
    return len(key) + len(value) + _OVERHEAD
