"""What a cache keeps for a value, and what it makes of that later."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from groundwire.storage.base import Entry

__all__ = ["Found", "Kept", "Life", "judge", "seal"]

_HEAD = struct.Struct("<2sdd")  # before each value: the form, and the seconds of its freshness and staleness
_FORM = b"g1"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Life:
    """For how long a value is kept, in seconds; all zero: not at all. The phases follow one another."""

    fresh: float = 0.0
    """While it is as good as new."""
    stale: float = 0.0
    """While it is returned at once, and fetched anew in the background (RFC 5861, stale-while-revalidate)."""
    error: float = 0.0
    """While it is returned only if fetching fails (RFC 5861, stale-if-error)."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[_T]):
    """A value and where it came from."""

    value: _T
    """The value."""
    cached: bool = False
    """Whether this call was spared the fetching: it was kept, or another call fetched it meanwhile."""
    stale: bool = False
    """Whether it is older than it should be."""
    age: float = 0.0
    """Seconds since it was fetched."""


@dataclass(frozen=True, slots=True)
class Found(Generic[_T]):
    """What a store had."""

    kept: Kept[_T]
    """The value."""
    at_once: bool
    """Whether it may be returned without trying to fetch."""


def seal(data: bytes, life: Life) -> bytes:
    """Return the bytes to keep for a packed value."""
    return _HEAD.pack(_FORM, life.fresh, life.stale) + data


def judge(entry: Entry, unpack: Callable[[bytes], _T], now: float) -> Found[_T]:
    """Return the value of an entry and how old it is.

    Raises:
        ValueError: the bytes are not of this form, or `unpack` does not want them.
    """
    if len(entry.value) < _HEAD.size:
        raise ValueError("too short")
    form, fresh, stale = _HEAD.unpack_from(entry.value)
    if form != _FORM:
        raise ValueError(f"the form {form!r}")
    # The store's end of freshness is told in the reader's clock, so the age is right though the writer's was not.
    kept = Kept(
        unpack(entry.value[_HEAD.size :]),
        cached=True,
        stale=entry.fresh_until <= now,
        age=max(0.0, now - (entry.fresh_until - fresh)),
    )
    return Found(kept, at_once=now < entry.fresh_until + stale)
