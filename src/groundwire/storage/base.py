"""What every store can do, in the same words and with the same results."""

from __future__ import annotations

import hashlib
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from groundwire.errors import GroundwireError

__all__ = [
    "NOTES",
    "Add",
    "Answer",
    "AssignNumbers",
    "Count",
    "Entry",
    "Get",
    "Lease",
    "Lookup",
    "Numbers",
    "Operation",
    "Pace",
    "Register",
    "Release",
    "Set",
    "Store",
    "StoreError",
    "check_amount",
    "check_pace",
    "check_seconds",
    "decode_key",
    "encode_key",
    "ended",
    "note_digest",
    "note_key",
    "run_each",
]

NOTES = "\0note\0"
"""What the keys of values begin with that hold the notes of registers; no scan shows them."""


class StoreError(GroundwireError):
    """A store cannot answer: full, locked, read-only, damaged or gone. The text says which, without secrets."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept value. The reader decides what fresh and stale mean; a value past `stale_until` is never returned."""

    value: bytes
    """The stored value."""
    fresh_until: float
    """Until when it is fresh, in seconds of the reader's clock (`time.time`)."""
    stale_until: float
    """Until when it may be used at all, in seconds of the reader's clock."""


@dataclass(frozen=True, slots=True)
class Count:
    """What became of one addition to a counter."""

    granted: bool
    """Whether the amount was added; otherwise nothing changed."""
    total: float
    """What the counter holds now."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When a call may go."""

    granted: bool
    """Whether a slot was reserved; otherwise nothing changed."""
    wait: float
    """Seconds until the reserved slot; when none was reserved, what the wait would have been."""
    backlog: float = 0.0
    """Seconds after which the pace has forgotten all calls so far: then a whole burst may go again."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What became of names that were given to a register."""

    numbers: tuple[int, ...]
    """The number of each group of names, in their order."""
    new: bool
    """Whether the note was not there yet."""


@dataclass(frozen=True, slots=True)
class Register:
    """Names with their numbers, and what was noted with them."""

    numbers: Mapping[bytes, int]
    """The number of each name."""
    notes: tuple[bytes, ...] = ()
    """The notes in the order in which they were last given; a store that is full forgets the oldest."""


@dataclass(frozen=True, slots=True)
class Get:
    """`Store.get` as a part of a batch."""

    key: str
    """See `Store.get`."""
    ends: bool = False
    """Whether a value that is there ends the batch."""


@dataclass(frozen=True, slots=True)
class Set:
    """`Store.set` as a part of a batch."""

    key: str
    """See `Store.set`."""
    value: bytes
    """See `Store.set`."""
    fresh: float
    """See `Store.set`."""
    stale: float = 0.0
    """See `Store.set`."""


@dataclass(frozen=True, slots=True)
class Add:
    """`Store.count` as a part of a batch; what the limit does not allow ends the batch."""

    key: str
    """See `Store.count`."""
    amount: float
    """See `Store.count`."""
    limit: float | None = None
    """See `Store.count`."""
    ttl: float | None = None
    """See `Store.count`."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`Store.lease` as a part of a batch; a lease that somebody else holds ends the batch."""

    key: str
    """See `Store.lease`."""
    owner: str
    """See `Store.lease`."""
    ttl: float
    """See `Store.lease`."""


@dataclass(frozen=True, slots=True)
class Release:
    """`Store.release` as a part of a batch."""

    key: str
    """See `Store.release`."""
    owner: str
    """See `Store.release`."""


@dataclass(frozen=True, slots=True)
class AssignNumbers:
    """Names that want numbers of a register."""

    key: str
    """The register's name."""
    groups: tuple[tuple[bytes, ...], ...]
    """Names of one thing stand together and share a number: that of the first which has one, or else the next."""
    note: bytes
    """Is kept with the register. The same note again takes the place of the older one, as the newest."""
    ttl: float
    """Seconds from now for which the register is kept."""
    floor: int = 0
    """New numbers are larger than this, too."""


Operation = Get | Set | Add | Lease | Release | AssignNumbers
"""A part of a batch."""

Answer = Entry | Count | Numbers | bool | None
"""What an operation returns: an entry or None, a count, whether there is a lease, numbers; None for the others."""


@dataclass(slots=True)
class Lookup:
    """Operations that go along with another one of the same store."""

    operations: tuple[Operation, ...]
    """What is done."""
    since: int = 0
    """When it was made, by its creator's counter."""
    answers: Sequence[Answer] | None = None
    """What the store answered; None until it was asked."""


class Store(Protocol):
    """Values, counters, paces, leases and registers, each changed in one step that no other caller can divide.

    The kinds live apart: the same key may name one of each. Keys are any text; callers give them prefixes.
    All times are seconds. Every method may raise `StoreError`.
    """

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Do several things at the cost of one: one exchange with a server, one transaction of a file.

        Args:
            operations: What is done, in this order. Some end the batch early, as they say.

        Returns:
            The answers, in the same order, up to that of the operation that ended the batch.
        """
        ...

    async def register(self, key: str) -> Register:
        """Return what is in a register; one that does not exist is empty."""
        ...

    async def get(self, key: str) -> Entry | None:
        """Return a value that is not yet past its staleness, or None."""
        ...

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        """Keep a value in place of any older one.

        Args:
            key: Its name.
            value: Any bytes. One larger than the whole store is forgotten at once.
            fresh: Seconds for which it is fresh.
            stale: Seconds after those for which it may still be used. If both are 0 the value is forgotten.
        """
        ...

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        """Add to a counter if the limit allows all of it.

        Sums are those of floating point: count in whole numbers (millionths of a dollar) where the limit must be met
        to the last one.

        Args:
            key: Its name; a counter that does not exist holds 0.
            amount: How much. A negative amount gives back and is always granted, down to 0 and not below; 0 only reads.
            limit: The most that the counter may hold after an addition; None is no limit.
            ttl: Seconds after which a counter that is created now is forgotten; None is never.
        """
        ...

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve the next slot of a steady pace (the generic cell rate algorithm, ITU-T I.371).

        Args:
            key: The name of what is paced.
            interval: Seconds between two calls in the long run.
            burst: How many calls may go at once after a silence.
            max_wait: If the slot lies further ahead than so many seconds, none is reserved.

        Returns:
            The slot. The caller waits `wait` seconds before it goes.
        """
        ...

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        """Take a lease that is free or run out, or renew one's own; return whether `owner` holds it now.

        Args:
            key: Its name.
            owner: The caller, by a unique name.
            ttl: Seconds from now for which it holds.
        """
        ...

    async def release(self, key: str, *, owner: str) -> None:
        """Give a lease back if `owner` holds it."""
        ...

    async def delete(self, key: str) -> None:
        """Forget the value, the counter, the pace and the register of that name; a lease is its owner's to release."""
        ...

    def scan(self, prefix: str) -> AsyncGenerator[str, None]:
        """Yield the keys of the kept values that begin with `prefix`, in any order, each once.

        A server looks through all its keys for this. What is set or deleted meanwhile may or may not be among them.
        """
        ...

    async def aclose(self) -> None:
        """Let go of files, threads and connections; calls from then on raise StoreError."""
        ...


async def run_each(store: Store, operations: Sequence[Operation]) -> list[Answer]:
    """Run the operations of a batch one by one, by the methods of a store; `AssignNumbers` goes to its `batch`."""
    answers: list[Answer] = []
    for one in operations:
        match one:
            case Get():
                answers.append(await store.get(one.key))
            case Set():
                await store.set(one.key, one.value, fresh=one.fresh, stale=one.stale)
                answers.append(None)
            case Add():
                answers.append(await store.count(one.key, one.amount, limit=one.limit, ttl=one.ttl))
            case Lease():
                answers.append(await store.lease(one.key, owner=one.owner, ttl=one.ttl))
            case Release():
                await store.release(one.key, owner=one.owner)
                answers.append(None)
            case AssignNumbers():
                answers += await store.batch((one,))
        if ended(one, answers[-1]):
            break
    return answers


def ended(operation: Operation, answer: Answer) -> bool:
    """Whether an operation with this answer is the last of its batch."""
    if isinstance(operation, Get):
        return operation.ends and answer is not None
    if isinstance(operation, Add):
        return isinstance(answer, Count) and not answer.granted
    return isinstance(operation, Lease) and not answer


def note_digest(note: bytes) -> bytes:
    """Return what tells a note of a register from the others."""
    return hashlib.sha256(note).digest()[:12]


def note_key(key: str, digest: bytes) -> str:
    """Return the key of the value that holds a note of a register, in stores that keep it as a value."""
    return f"{NOTES}{key}\0{digest.hex()}"


def encode_key(key: str) -> bytes:
    """Return a key as bytes; text from a model may hold lone surrogates, which plain UTF-8 refuses."""
    return key.encode("utf-8", "surrogatepass")


def decode_key(key: bytes) -> str:
    """Return what `encode_key` was given."""
    return key.decode("utf-8", "surrogatepass")


def check_seconds(**values: float | None) -> None:
    """Check that durations are finite and not negative.

    Raises:
        ValueError: one is not, by its name. That is a mistake in the calling code, not in the store.
    """
    for name, value in values.items():
        if value is not None and not 0 <= value < math.inf:
            raise ValueError(f"{name} must be a finite number of seconds, not negative: {value!r}")


def check_amount(amount: float, limit: float | None) -> None:
    """Check what is given to `Store.count`.

    Raises:
        ValueError: the amount is not finite, or the limit is not a number.
    """
    if not math.isfinite(amount) or (limit is not None and not math.isfinite(limit)):
        raise ValueError(f"amount and limit must be finite: {amount!r}, {limit!r}")


def check_pace(interval: float, burst: int, max_wait: float | None) -> None:
    """Check what is given to `Store.pace`.

    Raises:
        ValueError: a duration is negative or not finite, or the burst is less than one call.
    """
    check_seconds(interval=interval, max_wait=max_wait)
    if burst < 1:
        raise ValueError(f"burst must be at least 1: {burst!r}")
