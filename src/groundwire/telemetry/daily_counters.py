"""Daily counters of calls in the shared store.

What keeps the number of counters bounded: durations in buckets, and so many names and no more.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Literal

from groundwire.models import Attempt
from groundwire.storage.base import Add, AssignNumbers, Store, StoreError
from groundwire.storage.rules import encode_key
from groundwire.telemetry.call_events import PageDone, SearchDone

BOUNDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 7.5, 10.0)
"""The upper bounds of the buckets, in seconds; one more bucket holds what is longer."""

_OTHER = "other"


def bucket_of(seconds: float) -> int:
    """Return the index of the bucket for a duration; a bound belongs to the bucket below it."""
    return bisect_left(BOUNDS, seconds)


def quantile(counts: Sequence[float], share: float) -> float | None:
    """Return a quantile of durations in seconds, or None without calls.

    Inside a bucket the calls are taken to lie evenly. What is longer than the last bound is said to be that bound.

    Args:
        counts: The calls in each bucket.
        share: More than 0 and at most 1.
    """
    rank = share * sum(counts)
    if rank <= 0:
        return None
    before, low = 0.0, 0.0
    for count, bound in zip(counts, BOUNDS, strict=False):
        if count and before + count >= rank:
            return min(bound, low + (bound - low) * (rank - before) / count)  # rounding may pass the bound
        before, low = before + count, bound
    return BOUNDS[-1]


class BoundedLabels:
    """Limits the number of label values: the first ones are kept, later ones become `other`. Not thread-safe.

    Args:
        limit: How many names are kept apart.
    """

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._names: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return the label value to count under."""
        if name not in self._names:
            if len(self._names) >= self._limit:
                return _OTHER
            self._names.add(name)
        return name


_logger = logging.getLogger(__name__)

Role = Literal["call", "search", "read"]
"""The kinds of counters: whole calls (by the name of the tool), or attempts of a provider in a role."""

KEPT_DAYS = 35
"""For how many days the counters are kept."""

GOOD = frozenset({"ok", "partial", "empty"})
"""The outcomes of successful attempts."""

_TTL = KEPT_DAYS * 86_400.0
_EVERY = 5.0  # seconds; the loss if a process is killed

_Of = tuple[int, Role, str]  # a day, and the provider or tool


class Scores:
    """Accumulates counts of calls and writes them to the store periodically, so that a call writes nothing.

    Close it before the store: the remaining counts are written then.

    Args:
        store: Where the counters are.
        every: Seconds from the first unwritten call until it is written.
        clock: The time in seconds since the epoch; a day begins at midnight UTC.
    """

    def __init__(self, store: Store, *, every: float = _EVERY, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._every = every
        self._clock = clock
        self._lock = threading.Lock()
        self._names = BoundedLabels()
        self._pending: defaultdict[_Of, Counter[str]] = defaultdict(Counter)
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def search_done(self, done: SearchDone) -> None:
        """Add a search."""
        with self._lock:
            day = today(self._clock)
            counts = self._call((day, "call", "web_search"), done)
            if done.fell_back:
                counts["fallback"] += 1
            if done.forbidden_shown:
                counts["forbidden"] += 1
            self._attempts(day, "search", done.attempts)
            if done.provider is not None and not done.cached and done.attempts:
                counts = self._pending[day, "search", self._names(done.provider)]
                counts["answers"] += 1
                if done.fell_back:
                    counts["fallback"] += 1
        self._soon()

    def page_done(self, done: PageDone) -> None:
        """Add a page."""
        with self._lock:
            day = today(self._clock)
            self._call((day, "call", "open_page"), done)
            is_missing = done.error == "PageNotFound" and done.attempts  # as its last reader said, rightly
            self._attempts(day, "read", done.attempts, done.attempts[-1] if is_missing else None)
        self._soon()

    async def flush(self) -> None:
        """Write all pending counts to the store. Failed ones are kept for the next time."""
        with self._lock:
            pending, self._pending = self._pending, defaultdict(Counter)
        if not pending:
            return
        names = sorted({(role, name) for _, role, name in pending if role != "call"})
        added = [
            Add(counter_key(*key, what), amount, ttl=_TTL)
            for key, counts in pending.items()
            for what, amount in counts.items()
        ]
        listed = [
            AssignNumbers(names_key(role), tuple((encode_key(name),) for _, name in group), b"", _TTL)
            for role, group in groupby(names, lambda pair: pair[0])
        ]
        try:
            await self._store.batch([*added, *listed])
        except StoreError as error:
            with self._lock:
                for key, counts in pending.items():
                    self._pending[key].update(counts)
            _logger.info("The scorecard could not be written: %s", error)

    async def aclose(self) -> None:
        """Write the remaining counts; the store is not closed."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            await self._task
        await self.flush()

    def _soon(self) -> None:
        if self._timer is not None or self._closed:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a thread without a loop; the next call with one, or closing, writes the counts
            return
        self._timer = loop.call_later(self._every, self._begin, loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._task is None or self._task.done():
            self._task = loop.create_task(self.flush())

    def _call(self, of: _Of, done: SearchDone | PageDone) -> Counter[str]:
        outcome, counts = done.outcome, self._pending[of]
        counts[outcome] += 1
        counts["calls"] += 1
        if done.cached:
            counts["cached"] += 1
        if done.stale:
            counts["stale"] += 1
        if outcome not in {"refused", "canceled"}:  # their durations are not representative
            _time(counts, done.seconds)
        return counts

    def _attempts(self, day: int, role: Role, attempts: Iterable[Attempt], missing: Attempt | None = None) -> None:
        for attempt in attempts:
            values = attempt.__dict__  # several times as fast to read as the attributes of a model
            counts = self._pending[day, role, self._names(values["provider"])]
            counts["calls"] += 1
            if values["abandoned"]:
                counts["abandoned"] += 1
            if values["outcome"] == "empty":
                counts["empty"] += 1
            if values["status"] == 403:
                counts["forbidden"] += 1
            if values["cost_usd"]:
                counts["microusd"] += round(values["cost_usd"] * 1_000_000)
            if values["outcome"] in GOOD or attempt is missing:  # a fast rejection is not speed
                counts["good"] += 1
                _time(counts, values["latency_ms"] / 1_000)


def _time(counts: Counter[str], seconds: float) -> None:
    counts["ms"] += round(seconds * 1_000)
    counts[f"bucket{bucket_of(seconds)}"] += 1


def counter_key(day: int, role: Role, name: str, what: str) -> str:
    """Return the name of a counter in the store.

    Args:
        day: The number of days since the epoch.
        role: What is counted.
        name: The provider, or the tool.
        what: Which of its numbers.
    """
    return f"score:{datetime.fromtimestamp(day * 86_400, UTC).date()}:{role}:{name}:{what}"


def names_key(role: Role) -> str:
    """Return the name of the register that lists the providers of a role."""
    return f"score:names:{role}"


def today(clock: Callable[[], float] = time.time) -> int:
    """Return the number of the day, in UTC."""
    return int(clock() // 86_400)
