"""The interface of all stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from groundwire.errors import GroundwireError


class StoreError(GroundwireError):
    """A store failed: full, locked, read-only, damaged or gone. The message states which, without secrets."""


class Entry(NamedTuple):
    """A stored value. The reader interprets fresh and stale; a value past `stale_until` is never returned."""

    value: bytes
    """The stored value."""
    fresh_until: float
    """The end of its freshness, in seconds of the reader's clock (`time.time`)."""
    stale_until: float
    """The end of its usability, in seconds of the reader's clock."""


class Count(NamedTuple):
    """The result of an addition to a counter."""

    granted: bool
    """Whether the amount was added; otherwise nothing changed."""
    total: float
    """The value of the counter."""


class Pace(NamedTuple):
    """The slot of a call."""

    granted: bool
    """Whether a slot was reserved; otherwise nothing changed."""
    wait: float
    """Seconds until the reserved slot; when none was reserved, what the wait would have been."""


class Numbers(NamedTuple):
    """The result of assigning numbers in a register."""

    numbers: tuple[int, ...]
    """The number of each group of names, in their order."""
    new: bool
    """Whether the note is new."""


class Register(NamedTuple):
    """Names with their numbers, and their notes."""

    numbers: Mapping[bytes, int]
    """The number of each name."""
    notes: tuple[bytes, ...] = ()
    """The notes in order of their last use; a full store deletes the oldest."""


class Get(NamedTuple):
    """`Store.get` in a batch."""

    key: str
    """See `Store.get`."""
    ends: bool = False
    """Whether an existing value ends the batch."""


class Set(NamedTuple):
    """`Store.set` in a batch."""

    key: str
    """See `Store.set`."""
    value: bytes
    """See `Store.set`."""
    fresh: float
    """See `Store.set`."""
    stale: float = 0.0
    """See `Store.set`."""


class Add(NamedTuple):
    """`Store.count` in a batch; exceeding the limit ends the batch."""

    key: str
    """See `Store.count`."""
    amount: float
    """See `Store.count`."""
    limit: float | None = None
    """See `Store.count`."""
    ttl: float | None = None
    """See `Store.count`."""


class Lease(NamedTuple):
    """`Store.lease` in a batch; a lease held by another owner ends the batch."""

    key: str
    """See `Store.lease`."""
    owner: str
    """See `Store.lease`."""
    ttl: float
    """See `Store.lease`."""


class Release(NamedTuple):
    """`Store.release` in a batch."""

    key: str
    """See `Store.release`."""
    owner: str
    """See `Store.release`."""


class AssignNumbers(NamedTuple):
    """Names to be numbered in a register."""

    key: str
    """The register's name."""
    groups: tuple[tuple[bytes, ...], ...]
    """Groups of names that share a number: that of the first one with a number, or else the next."""
    note: bytes
    """Is kept with the register. The same note again replaces the older one, as the newest."""
    ttl: float
    """Seconds from now for which the register is stored."""
    floor: int = 0
    """New numbers are also larger than this."""


Operation = Get | Set | Add | Lease | Release | AssignNumbers
"""An operation in a batch."""

Answer = Entry | Count | Numbers | bool | None
"""The result of an operation: an entry or None, a count, whether the lease is held, numbers; None for the others."""


@dataclass(slots=True, eq=False, repr=False)
class Lookup:
    """Operations combined with another one of the same store."""

    operations: tuple[Operation, ...]
    """The operations."""
    since: int = 0
    """When it was created, by its creator's counter."""
    answers: Sequence[Answer] | None = None
    """The results; None until it was run."""


class Store(Protocol):
    """Values, counters, paces, leases and registers, each with atomic operations.

    The kinds live apart: the same key may name one of each. Keys are any text; callers give them prefixes.
    All times are seconds. Every method may raise `StoreError`. A class that derives from this one gets the methods of
    one operation from `apply`, which runs a batch of one.
    """

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run several operations at once: one round trip to a server, one transaction of a file.

        If all of them are `Set` and `Release`, a store may write them a moment later: its own later calls see them at
        once, other processes then.

        Args:
            operations: What is done, in this order. Some end the batch early, as they say.

        Returns:
            The answers, in the same order, up to that of the operation that ended the batch.
        """
        ...

    async def apply(self, operation: Operation) -> Answer:
        """Run one operation, and return its answer once it is done."""
        (answer,) = await self.batch((operation,))
        return answer

    async def register(self, key: str) -> Register:
        """Return a register; one that does not exist is empty."""
        ...

    async def get(self, key: str) -> Entry | None:
        """Return a value that is not yet past its staleness, or None."""
        return cast("Entry | None", await self.apply(Get(key)))

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        """Store a value, replacing any older one.

        Args:
            key: Its name.
            value: Any bytes. One larger than the whole store is forgotten at once.
            fresh: Seconds for which it is fresh.
            stale: Seconds after those for which it may still be used. If both are 0 the value is forgotten.
        """
        await self.apply(Set(key, value, fresh, stale))

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        """Add to a counter if the limit allows all of it.

        Sums are those of floating point: count in whole numbers (millionths of a dollar) where the limit must be met
        to the last one.

        Args:
            key: Its name; a counter that does not exist holds 0.
            amount: How much. A negative amount gives back and is always granted, down to 0 and not below; 0 only reads.
            limit: The maximum of the counter after an addition; None means no limit.
            ttl: Seconds after which a counter that is created now is forgotten; None is never.
        """
        return cast("Count", await self.apply(Add(key, amount, limit, ttl)))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve the next slot of a steady pace (the generic cell rate algorithm, ITU-T I.371).

        Args:
            key: The name of what is paced.
            interval: Seconds between two calls in the long run.
            burst: How many calls may go at once after a silence.
            max_wait: If the slot lies further ahead than this many seconds, none is reserved.

        Returns:
            The slot. The caller waits `wait` seconds before it goes.
        """
        ...

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        """Take a free or expired lease, or renew it; return whether `owner` now holds it.

        Args:
            key: Its name.
            owner: The caller, by a unique name.
            ttl: Seconds from now for which it holds.
        """
        return bool(await self.apply(Lease(key, owner, ttl)))

    async def release(self, key: str, *, owner: str) -> None:
        """Release a lease if `owner` holds it."""
        await self.apply(Release(key, owner))

    async def delete(self, key: str) -> None:
        """Delete the value, the counter, the pace and the register with a name; a lease is released by its owner."""
        ...

    async def aclose(self) -> None:
        """Close files, threads and connections; later calls raise StoreError."""
        ...
