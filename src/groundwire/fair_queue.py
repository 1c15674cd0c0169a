"""Slots for work that is shared by tenants: page workers, verification, and reads of the archive.

The slots are given by weighted fair queueing with equal weights (Demers, Keshav and Shenker, "Analysis and Simulation
of a Fair Queueing Algorithm", SIGCOMM 1989): the tenant that was served for the least time goes first, and a tenant
that comes back is not given the time for which it was away.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

CURRENT_TENANT: Final[ContextVar[str]] = ContextVar("groundwire_tenant", default="")
"""The tenant of the call that runs; empty without tenants. Servers set it once a request is authenticated."""

_RECENT: Final = 60.0  # seconds for which one slot is left to a tenant that had work here
_MOST_KNOWN: Final = 1_000  # tenants, after which those that are idle are forgotten


class FairQueue:
    """A number of slots. All its calls must run in one event loop.

    Args:
        slots: How many there are. While other tenants have work, or had it within a minute, no tenant gets the last one
            of several beside others of its own: a job that takes long must not hold up all tenants.
        clock: Seconds.
    """

    def __init__(self, slots: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = slots
        self._reserved = slots > 1
        self._clock = clock
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._in_use: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}  # for which a tenant was served
        self._latest: dict[str, float] = {}  # when a tenant last had work
        self._base = 0.0  # of `_seconds`: where a tenant begins

    @property
    def running(self) -> int:
        """Slots in use."""
        return self._in_use.total()

    @property
    def waiting(self) -> int:
        """Calls that wait for a slot."""
        return sum(not place.cancelled() for queue in self._queues.values() for place in queue)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it for the tenant of this call while the block runs."""
        tenant = CURRENT_TENANT.get()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(place)
        self._latest[tenant] = self._clock()
        self._assign()
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it was given one at the same moment
                self._release(tenant, 0.0)
            raise
        start = self._clock()
        try:
            yield
        finally:
            self._release(tenant, self._clock() - start)

    def _assign(self) -> None:
        """Give the free slots to those that wait."""
        while self._free:
            able = [tenant for tenant in self._queues if self._may_take(tenant)]
            if not able:
                return
            tenant = min(able, key=lambda name: self._seconds.get(name, self._base))
            self._base = max(self._base, self._seconds.get(tenant, self._base))
            queue = self._queues[tenant]
            place = queue.popleft()
            if not place.cancelled():
                place.set_result(None)
                self._free -= 1
                self._in_use[tenant] += 1
            if not queue:
                del self._queues[tenant]

    def _may_take(self, tenant: str) -> bool:
        if not self._reserved or self._free > 1 or not self._in_use[tenant]:
            return True
        since = self._clock() - _RECENT
        return all(other == tenant or latest < since for other, latest in self._latest.items())

    def _release(self, tenant: str, seconds: float) -> None:
        self._free += 1
        self._in_use[tenant] -= 1
        self._in_use += Counter()  # drops those at zero
        self._latest[tenant] = self._clock()
        self._seconds[tenant] = max(self._seconds.get(tenant, 0.0), self._base) + seconds
        if len(self._latest) > _MOST_KNOWN:
            self._latest = {
                name: at for name, at in self._latest.items() if name in self._in_use or name in self._queues
            }
            self._seconds = {name: share for name, share in self._seconds.items() if name in self._latest}
        self._assign()
