"""Cooldowns, pauses and paces that providers state, and the budget of extra paid calls, shared through the store.

Whether a provider is healthy, and how fast it is where it does not say so, each process finds out by itself. Records
are written in the background and read at most once a second; if the store fails, every process continues with its own
knowledge.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from groundwire.providers.base import SearchProvider, scope
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Changes, Health, HealthRecord
from groundwire.routing.rate_limiter import RateLimiter, record_key
from groundwire.storage.base import Get, Store, StoreError

_READ_INTERVAL = 1.0  # seconds between two reads of the store
_OVERDUE = 5.0  # seconds after which a search waits for the read
_MAX_WAIT = 0.1  # seconds that it waits at most
_RATE_TTL = 86_400.0  # seconds for which a rate is kept
_REASON = 300  # characters
_SKEW = 60.0  # seconds by which the clocks of processes may differ; a record of later than that is from before a change
_KINDS = ("cooldown", "rest", "interval")


class SharedHealth:
    """Shares what the providers state to this process, and merges what others have shared.

    Each record is merged once, and its seconds count from then on this process's clock: the one that is shared may be
    set back.

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
        self._known: dict[str, float] = {}  # when the last record that was written here or merged was written
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
        keys = [(provider, record_key(scope(provider), kind)) for provider in providers for kind in _KINDS]
        with suppress(StoreError):
            entries = await self._store.batch([Get(key) for _, key in keys])
            for (provider, key), entry in zip(keys, entries, strict=True):
                record = HealthRecord.parse(entry)
                if record is None or record.written > self._clock() + _SKEW:
                    continue
                if record.written != self._known.get(key):
                    self._known[key] = record.written
                    self._merge(provider, record)

    def publish(self, provider: SearchProvider, changes: Changes) -> None:
        """Share a cooldown, a pause or a pace with other processes."""
        if not changes or (changes.get("outcome") in {"auth", "quota"} and not getattr(provider, "account", "")):
            return  # without an account name, other processes may use another account
        key, now = record_key(scope(provider), next(filter(changes.__contains__, _KINDS))), self._clock()
        reason = str(changes.get("reason", ""))[:_REASON]
        self._known[key] = now
        self._tasks.start(self._write(key, HealthRecord.model_validate({**changes, "reason": reason, "written": now})))

    async def aclose(self) -> None:
        """Wait for pending writes, including those of the budget."""
        self._tasks.start(self._extra.exchange(self._store))
        await self._tasks.aclose()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _merge(self, provider: SearchProvider, record: HealthRecord) -> None:
        age = max(0.0, self._clock() - record.written)
        ends = {"cooldown": max(0.0, record.cooldown - age), "rest": max(0.0, record.rest - age)}
        left = record.model_copy(update=ends)
        self._health.merge(provider.name, left)
        self._limiter.merge(scope(provider), left)

    def _has_read(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled():
            task.exception()

    async def _write(self, key: str, record: HealthRecord) -> None:
        ttl = _RATE_TTL if record.interval else max(record.cooldown, record.rest)
        with suppress(StoreError):  # this process continues with what it knows
            await self._store.set(key, record.model_dump_json().encode(), fresh=ttl)
