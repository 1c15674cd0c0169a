"""Pauses and pace of providers and the budget of extra paid calls, shared by processes through the store.

Whether a provider is healthy each process finds out by itself. Records are written in the background and read at most
once a second; if the store fails, every process continues with its own knowledge.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence

from groundwire.providers.base import SearchProvider, scope
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Changes, Health, HealthRecord, load_record, record_key
from groundwire.routing.rate_limiter import RateLimiter
from groundwire.storage.base import Store, StoreError

__all__ = ["SharedHealth"]

_READ_INTERVAL = 1.0  # seconds between two reads of the store
_OVERDUE = 5.0  # seconds after which a search waits for the read
_MAX_WAIT = 0.1  # seconds that it waits at most
_RATE_TTL = 86_400.0  # seconds for which a rate is kept
_TAIL = 60.0  # seconds for which a record outlives its end, so that all processes see it
_REASON = 300  # characters
_SKEW = 60.0  # seconds by which the clocks of processes may differ; a record of later than that is from before a change
_MOMENTS = ("cooldown", "rest", "rate_until")


class SharedHealth:
    """Shares what this process learns of its providers, and merges what others have shared.

    The store has the ends of pauses in seconds since the epoch, and the clock may be set back. What this process has
    written itself is therefore not merged, what others have written lasts no longer than they meant, from when it was
    first read, and what is from the future is ignored.

    Args:
        store: The store of the records.
        health: The health to merge into.
        limiter: The rate limits to merge into.
        extra: The budget shared by all processes.
        clock: The time in seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        health: Health,
        limiter: RateLimiter,
        extra: ExtraBudget,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._health = health
        self._limiter = limiter
        self._extra = extra
        self._clock = clock
        self._pending: dict[str, dict[str, float | int | str]] = {}
        self._ends: dict[
            tuple[str, str], tuple[float, float]
        ] = {}  # of a scope's moments: as stored, on the loop's clock
        self._tasks = BackgroundTasks()
        self._read_at = -math.inf
        self._reading: asyncio.Task[None] | None = None

    async def refresh(self, providers: Sequence[SearchProvider]) -> None:
        """Read the records at most once a second; wait for the read only if the last one is old, and briefly."""
        now = asyncio.get_running_loop().time()
        age = now - self._read_at
        if age >= _READ_INTERVAL and self._reading is None:
            self._read_at = now
            self._reading = asyncio.get_running_loop().create_task(self.read(providers))
            self._reading.add_done_callback(self._has_read)
        if age >= _OVERDUE and self._reading is not None:
            await asyncio.wait({self._reading}, timeout=_MAX_WAIT)

    async def read(self, providers: Sequence[SearchProvider]) -> None:
        """Merge the records of these providers, and the budget of extra paid calls."""
        await self._extra.exchange(self._store)
        records = await asyncio.gather(*(load_record(self._store, scope(provider)) for provider in providers))
        for provider, record in zip(providers, records, strict=True):
            if record is not None:
                self._merge(provider, record)

    def publish(self, provider: SearchProvider, changes: Changes) -> None:
        """Share changes of a provider's health with other processes."""
        if not changes or (changes.get("outcome") in {"auth", "quota"} and not getattr(provider, "account", "")):
            return  # without an account name, other processes may use another account
        where, now = scope(provider), self._clock()
        moments = {key: now + float(value) for key, value in changes.items() if key in _MOMENTS and value}
        self._ends |= {(where, key): (end, -math.inf) for key, end in moments.items()}
        if where in self._pending:
            self._pending[where] |= {**changes, **moments}
            return
        self._pending[where] = {**changes, **moments}
        self._tasks.start(self._write(where))

    async def aclose(self) -> None:
        """Wait for pending writes, including those of the budget."""
        self._tasks.start(self._extra.exchange(self._store))
        await self._tasks.aclose()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _merge(self, provider: SearchProvider, record: HealthRecord) -> None:
        where = scope(provider)
        seconds_left = {key: self._seconds_left(where, key, record) for key in _MOMENTS}
        self._health.merge(provider.name, record, seconds_left)
        self._limiter.merge(where, record, seconds_left)

    def _seconds_left(self, where: str, key: str, record: HealthRecord) -> float:
        """Return the seconds until a moment in a record; 0 if it is past, or this process has written it."""
        stored, loop_now = getattr(record, key), asyncio.get_running_loop().time()
        if (where, key) not in self._ends or self._ends[where, key][0] != stored:
            now = self._clock()
            seconds = min(stored - now, stored - record.written) if record.written <= now + _SKEW else -math.inf
            self._ends[where, key] = stored, loop_now + seconds
        return max(0.0, self._ends[where, key][1] - loop_now)

    def _has_read(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled():
            task.exception()

    async def _write(self, where: str) -> None:
        stored = await load_record(self._store, where) or HealthRecord()
        changes, now = self._pending.pop(where), self._clock()
        if stored.written > now + _SKEW:
            stored = stored.model_copy(update=dict.fromkeys(_MOMENTS, 0.0))
        if float(changes.get("cooldown", math.inf)) < stored.cooldown:
            changes = {key: value for key, value in changes.items() if key not in {"cooldown", "outcome", "reason"}}
        changes["reason"] = str(changes.get("reason", stored.reason))[:_REASON]
        record = stored.model_copy(update={**changes, "written": now})
        ttl = max(*(getattr(record, name) for name in _MOMENTS), now) - now + _TAIL
        ttl = _RATE_TTL if record.interval else min(ttl, _RATE_TTL)
        try:
            await self._store.set(record_key(where), record.model_dump_json().encode(), fresh=ttl)
        except StoreError:
            return  # this process continues with what it knows
