"""Wrong keys, counted by the address they come from."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["Failures"]

_GOOD = 10_000  # keys that are remembered to have been right


class Failures:
    """Says from which addresses no key is looked at for a while, because too many were wrong.

    Nobody guesses 256 bits; this is for the load and the logs, and it tells a mistyped key from a busy server. Many
    clients may share an address, so a key that was right lately is looked at all the same.

    Args:
        burst: Wrong keys that an address may send at once.
        interval: Seconds after which it may send one more.
        most: Addresses that are remembered.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        *,
        burst: int = 10,
        interval: float = 6.0,
        most: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst = burst
        self._interval = interval
        self._most = most
        self._clock = clock
        self._due: OrderedDict[str, float] = OrderedDict()
        self._right: OrderedDict[str, None] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return the seconds until a key from there is looked at; 0 is now."""
        now = self._clock()
        due = self._due.get(_place(address), now)
        return max(0.0, due - (self._burst - 1) * self._interval - now)

    def failed(self, address: str) -> None:
        """Count a wrong key."""
        now, place = self._clock(), _place(address)
        self._due[place] = max(self._due.pop(place, now), now) + self._interval
        if len(self._due) > self._most:
            self._due.popitem(last=False)

    def was_right(self, digest: str) -> bool:
        """Whether a key was right lately."""
        return digest in self._right

    def right(self, digest: str) -> None:
        """Remember a key that was right."""
        self._right[digest] = None
        self._right.move_to_end(digest)
        if len(self._right) > _GOOD:
            self._right.popitem(last=False)


def _place(address: str) -> str:
    """Return whom an address stands for: one client has a whole /64 of IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or (int(parsed) >> 64))
