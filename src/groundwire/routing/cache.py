"""The cache: equal requests of tasks and processes are loaded once.

A fresh value is returned, and a stale one only if loading fails. The first caller that finds no fresh value takes a
lease; the others wait for it instead of loading the same.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedByPolicy,
    BudgetExceeded,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    InvalidRequest,
    PageNotFound,
)
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.cache_codec import CacheResult, CacheTtl, Codec, decode_entry, encode_entry
from groundwire.routing.single_flight import InFlightLoad, SingleFlight
from groundwire.safety.tenancy import Owner
from groundwire.storage.base import Answer, Entry, Get, Lease, Lookup, Operation, Release, Set, Store

__all__ = ["Cache", "CacheResult", "CacheTtl", "Codec"]

_logger = logging.getLogger(__name__)

_FIRST_POLL, _LONGEST_POLL = 0.005, 0.05  # seconds between two checks for the result of another process
_MANY = 1_000  # loads that are remembered

_REMOVAL_ERRORS = (BlockedByPolicy, PageNotFound)  # the cached value must not be served any more
# A stale value does not help here.
_FINAL_ERRORS = (*_REMOVAL_ERRORS, BudgetExceeded, Closed, ConfigurationError, InvalidRequest)

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(slots=True, eq=False, repr=False)
class _Job(Generic[_T]):
    """The request of a caller, and how to load, store and identify the value."""

    key: str
    load: Callable[[], Awaitable[_T]]
    codec: Codec[_T]
    owner: Owner
    refresh: bool
    renew: Callable[[_T], Awaitable[_T]] | None
    look: Lookup
    also: Callable[[_T], Sequence[Operation]] | None = None
    answers: list[Answer] = field(default_factory=list)


class Cache:
    """Caches loaded values, and lets one load serve all callers that request the same.

    It belongs to one event loop. The store may fail at any time: then the cache behaves as if it were empty. The
    creator of the store closes it, after the cache.

    Args:
        store: The store of values and leases; processes that share it load each value once.
        clock: The time in seconds since the epoch, the store's own.
        lease: Seconds for which a loading process excludes others, renewed while it lives; if it is killed, the others
            continue after that time.
        shared: Whether the store is shared, so that leases are needed.
    """

    def __init__(
        self, store: Store, *, clock: Callable[[], float] = time.time, lease: float = 3.0, shared: bool = True
    ) -> None:
        self.store = store
        """The store of values and leases."""
        self._shared = shared
        self._name = secrets.token_hex(8)
        self._numbers = itertools.count()
        # Leases for loads, which share one owner in the store, and their tenants.
        self._lease_users: dict[str, set[str]] = {}
        self._clock = clock
        self._ttl = lease
        self._load_ends: dict[str, int] = {}  # when the last loads ended, by the same count as that of lookups
        self._loads = SingleFlight()
        self._tasks = BackgroundTasks()
        self._complained = False

    def lookup(self, key: str) -> Lookup:
        """Return the store operations before a call: read the value, else take the lease to load it."""
        get = Get(key, ends=True)
        lease = (Lease(f"load:{key}", self._name, self._ttl),) if self._shared else ()
        return Lookup((get, *lease), next(self._numbers))

    def abandon(self, key: str) -> None:
        """Release the lease that a lookup may have taken for a call that has failed since."""
        lease = f"load:{key}"
        if self._shared and lease not in self._lease_users:
            self._tasks.start(self._ask(self.store.release(lease, owner=self._name), None))

    async def get_or_load(
        self,
        key: str,
        load: Callable[[], Awaitable[_T]],
        deadline: Deadline,
        codec: Codec[_T],
        *,
        owner: Owner,
        refresh: bool = False,
        renew: Callable[[_T], Awaitable[_T]] | None = None,
        look: Lookup | None = None,
        also: Callable[[_T], Sequence[Operation]] | None = None,
    ) -> CacheResult[_T]:
        """Return what is cached under a key, or load and store it.

        Args:
            key: The key of the value.
            load: Loads the value within the deadline of its call. It runs in a separate task, which is canceled when no
                call waits for it any more.
            deadline: The deadline of the result.
            codec: How the value is stored, and its time to live.
            owner: The tenant of the call. Tenants share finished values, never a load in progress: a load runs on its
                own tenant's budget, and fails with it.
            refresh: Load even if there is a cached value, and store the new one.
            renew: Refreshes an old value, which it receives, instead of `load`.
            look: The result of `lookup`, if the store was already read.
            also: Returns operations to combine with storing a new value; the result has their responses.

        Raises:
            DeadlineExceeded. Closed: the cache was closed. Anything that `load` raises, for all waiting callers.
        """
        job = _Job(key, load, codec, owner, refresh, renew, look or self.lookup(key), also)
        entry = None if refresh else await self._find_in_time(job, deadline)
        if entry is not None and not entry.stale:
            return entry
        try:
            return await self._load(job, deadline)
        except BaseException as error:
            started = self._loads.active(f"any:{owner.key}:{key}")
            if not started and self._end_use(f"load:{key}", owner):
                if isinstance(error, Exception):
                    await self._ask(self.store.release(f"load:{key}", owner=self._name), None)
                else:
                    self.abandon(key)
            if not isinstance(error, Exception):
                raise
            if entry is None or isinstance(error, _FINAL_ERRORS):
                raise
            _logger.info("Returned a cached value of %.0f s ago, because loading failed: %s", entry.age, error)
            return entry

    async def aclose(self) -> None:
        """End all loads and release the leases; waiting callers get Closed."""
        await self._loads.aclose()
        await self._tasks.aclose()  # they are releasing leases

    async def _load(self, job: _Job[_T], deadline: Deadline) -> CacheResult[_T]:
        """Load, or wait for the load in progress."""

        async def work(load: InFlightLoad[CacheResult[_T]]) -> None:
            lease = f"load:{job.key}"
            if job.refresh:
                await self._fetch(job, load, "")
                return
            try:
                has_lease = self._uses(lease, job.owner)
                cached = None if has_lease else await self._wait_for_turn(job, lease, load.deadline)
                if cached is None:
                    await self._fetch(job, load, lease)
                else:
                    load.resolve(cached)
            except Exception as error:
                load.fail(error)  # before the lease is given back, which no call need wait for
                raise
            finally:
                if self._end_use(lease, job.owner):
                    await self._ask(self.store.release(lease, owner=self._name), None)

        name = f"{'refresh' if job.refresh else 'any'}:{job.owner.key}:{job.key}"
        result, own = await self._loads.share(name, work, deadline)
        return result._replace(also=tuple(job.answers)) if own else result._replace(cached=True)

    async def _fetch(self, job: _Job[_T], load: InFlightLoad[CacheResult[_T]], lease: str) -> None:
        try:
            old = await self._find(job) if job.renew is not None and not job.refresh else None
            loading = job.load() if job.renew is None or old is None else job.renew(old.value)
            value = await (self._with_renewal(lease, loading) if self._uses(lease, job.owner) else loading)
        except _REMOVAL_ERRORS:
            await self._ask(self.store.delete(job.key), None)
            raise
        data, ttl = self._encode(job, value)
        load.resolve(CacheResult(value), shared=data is not None)
        self._load_ends[job.key] = next(self._numbers)
        if len(self._load_ends) > _MANY:
            del self._load_ends[next(iter(self._load_ends))]
        operations: list[Operation] = []
        if data is not None:
            operations.append(Set(job.key, data, ttl.fresh, ttl.stale))
        if self._end_use(lease, job.owner):
            operations.append(Release(lease, self._name))
        also = () if job.also is None else job.also(value)
        if operations or also:
            answers = await self._ask(self.store.batch([*operations, *also]), ())
            job.answers[:] = answers[len(operations) :]

    async def _wait_for_turn(self, job: _Job[_T], lease: str, deadline: Deadline) -> CacheResult[_T] | None:
        """Return None if this process may load, or the value loaded by another process."""
        if not self._shared:
            # What was loaded since the lookup, this process has loaded itself.
            is_newer = self._load_ends.get(job.key, -1) >= job.look.since
            return await self._loaded_elsewhere(job) if is_newer else None
        pause = _FIRST_POLL
        while not await self._lease(lease, self._name, self._ttl):
            if deadline.passed:
                raise _late_error()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_POLL)
            if (cached := await self._loaded_elsewhere(job)) is not None:
                return cached
        self._begin_use(lease, job.owner)
        return await self._loaded_elsewhere(job)

    async def _loaded_elsewhere(self, job: _Job[_T]) -> CacheResult[_T] | None:
        entry = await self._find(job)
        return None if entry is None or entry.stale else entry

    async def _with_renewal(self, lease: str, loading: Awaitable[_R]) -> _R:
        """Load and renew the lease meanwhile; the task that does so begins when a renewal is due, which is seldom."""
        loop = asyncio.get_running_loop()
        beats: list[asyncio.Task[None]] = []

        async def renew() -> None:
            while True:
                await self._lease(lease, self._name, self._ttl)
                if not beats:  # the store may have answered in the turn of the cancellation, and not let it through
                    return
                await asyncio.sleep(self._ttl / 3)

        due = loop.call_later(self._ttl / 3, lambda: beats.append(loop.create_task(renew())))
        try:
            return await loading
        finally:
            due.cancel()
            while beats:
                beat = beats.pop()
                beat.cancel()
                await asyncio.wait({beat})  # a renewal after the release would take the lease again

    async def _find_in_time(self, job: _Job[_T], deadline: Deadline) -> CacheResult[_T] | None:
        try:
            if job.look.answers is None:
                with deadline.timeout():
                    job.look.answers = await self._ask(self.store.batch(job.look.operations), (None, True))
        except BaseException as error:
            self.abandon(job.key)
            if isinstance(error, TimeoutError):
                raise _late_error() from error
            raise
        entry, *lease = job.look.answers or (None,)
        if lease and lease[0] and self._load_ends.get(job.key, -1) < job.look.since:  # else there may be a value by now
            self._begin_use(f"load:{job.key}", job.owner)
        return self._decode(job, entry if isinstance(entry, Entry) else None)

    async def _find(self, job: _Job[_T]) -> CacheResult[_T] | None:
        return self._decode(job, await self._ask(self.store.get(job.key), None))

    def _decode(self, job: _Job[_T], entry: Entry | None) -> CacheResult[_T] | None:
        if entry is None:
            return None
        try:
            return decode_entry(entry, job.codec.decode, self._clock())
        except ValueError as error:
            _logger.debug("A cached value cannot be decoded and counts as a miss: %s", type(error).__name__)
            return None

    def _encode(self, job: _Job[_T], value: _T) -> tuple[bytes | None, CacheTtl]:
        """Return the value to store, or None, and its time to live."""
        try:
            ttl = job.codec.ttl(value)
            if ttl.fresh + ttl.stale > 0:
                return encode_entry(job.codec.encode(value), ttl), ttl
        except Exception:  # the caller gets the value even if it cannot be stored
            _logger.exception("A value could not be cached")
        return None, CacheTtl()

    def _begin_use(self, lease: str, owner: Owner) -> None:
        self._lease_users.setdefault(lease, set()).add(owner.key)

    def _uses(self, lease: str, owner: Owner) -> bool:
        return owner.key in self._lease_users.get(lease, ())

    def _end_use(self, lease: str, owner: Owner) -> bool:
        """End a tenant's use of a lease; return whether it was the last one, so that the lease must be released."""
        if not self._uses(lease, owner):
            return False
        self._lease_users[lease].discard(owner.key)
        if self._lease_users[lease]:
            return False
        del self._lease_users[lease]
        return True

    async def _lease(self, key: str, owner: str, ttl: float) -> bool:
        """Take or renew a lease; without a store every caller gets it."""
        return await self._ask(self.store.lease(key, owner=owner, ttl=ttl), True)

    async def _ask(self, operation: Coroutine[Any, Any, _R], otherwise: _R) -> _R:
        """Return the store's response, or a default if it fails."""
        try:
            return await operation
        except Exception:
            if not self._complained:
                self._complained = True
                _logger.warning("The cache works without its store", exc_info=True)
            return otherwise


def _late_error() -> DeadlineExceeded:
    return DeadlineExceeded("No answer in time. Try again, or allow more time.")
