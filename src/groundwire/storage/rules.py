"""What the operations of all stores have in common: when a batch ends, counts, slots, numbers, and keys."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from itertools import islice

from groundwire.storage.base import Add, Answer, Count, Get, Lease, Operation, Pace

LONGEST_WAIT = 900.0
"""Seconds that no call with a deadline waits for a slot."""

MOST_KEPT = 100_000
"""Names of a register that are kept, and as many notes: a session may go on for as long as its host runs. The oldest go
first, and their numbers are not given again."""


def ended(operation: Operation, answer: Answer) -> bool:
    """Whether an operation with this result is the last of its batch."""
    if answer is None:
        return False
    if isinstance(operation, Get):
        return operation.ends
    if isinstance(answer, Count):
        return not answer.granted
    return answer is False and isinstance(operation, Lease)


def note_digest(note: bytes) -> bytes:
    """Return the identifier of a register's note."""
    return hashlib.blake2b(note, digest_size=12).digest()


def note_key(key: str, digest: bytes) -> str:
    """Return the key of a register's note, in stores that store it as a value."""
    return f"\0note\0{key}\0{digest.hex()}"


def surplus(kept: Mapping[bytes, object]) -> list[bytes]:
    """Return the oldest names or notes of a register that has too many: a tenth at once, so that each costs little."""
    return [*islice(kept, MOST_KEPT // 10)] if len(kept) > MOST_KEPT else []


def encode_key(key: str) -> bytes:
    """Encode a key; text from a model may contain lone surrogates, which UTF-8 rejects."""
    return key.encode("utf-8", "surrogatepass")


def decode_key(key: bytes) -> str:
    """Revert `encode_key`."""
    return key.decode("utf-8", "surrogatepass")


def arrival_of(stored: float | None, now: float, interval: float, burst: int, max_wait: float | None) -> float:
    """Return when the next call of a pace would come.

    Where calls wait for a limited time, a slot that is further ahead was stored before the clock was set back.
    """
    longest = math.inf if max_wait is None else burst * interval + max(max_wait, LONGEST_WAIT)
    return stored if stored is not None and now < stored <= now + longest else now


def next_slot(
    stored: float | None, now: float, interval: float, burst: int, max_wait: float | None
) -> tuple[Pace, float]:
    """Return the next slot of a pace, and when the call after it would come, to be stored if it is granted."""
    arrival = arrival_of(stored, now, interval, burst, max_wait)
    wait = max(0.0, arrival - (burst - 1) * interval - now)
    if max_wait is not None and wait > max_wait:
        return Pace(granted=False, wait=wait), arrival
    return Pace(granted=True, wait=wait), arrival + interval


def next_count(total: float, request: Add) -> Count:
    """Return what a counter is after an addition, which its limit may refuse."""
    _, amount, limit, _ = request
    if limit is not None and amount > 0 and total + amount > limit:
        return Count(granted=False, total=total)
    return Count(granted=True, total=max(0.0, total + amount))


def assign_numbers(
    groups: Sequence[Sequence[bytes]], numbers: dict[bytes, int], last: int
) -> tuple[tuple[int, ...], int]:
    """Return the number of each group of names, and the last number; all its names have it from now on.

    Args:
        groups: See `AssignNumbers`.
        numbers: The numbers of the names that have one; it gets the new ones.
        last: The last number before.
    """
    assigned = []
    for names in groups:
        number = next((numbers[name] for name in names if name in numbers), last + 1)
        for name in names:
            numbers.setdefault(name, number)
        last = max(last, number)
        assigned.append(number)
    return tuple(assigned), last
