"""Rate limits of keys across all servers that share a store, and of wrong keys by address."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from groundwire.server.auth.error_response import Refusal
from groundwire.server.auth.keys import KeyLimits
from groundwire.storage.base import Pace, Store, StoreError

__all__ = ["Failures", "Rates", "Slots", "rate_headers"]


class Failures:
    """Counts wrong keys by the client's address, across all servers that share a store.

    A key is checked before anything is counted, so that wrong keys never lock out a right one. 256 bits cannot be
    guessed: this tells a client that keeps sending a wrong key to stop.

    Args:
        store: Where they are counted.
        burst: Wrong keys that an address may send at once.
        interval: Seconds after which it may send one more.
    """

    def __init__(self, store: Store, *, burst: int = 10, interval: float = 6.0) -> None:
        self._store = store
        self._burst = burst
        self._interval = interval

    async def count(self, address: str) -> float:
        """Count a wrong key; return 0, or the seconds until the next one is allowed."""
        name = f"wrong-keys:{_place(address)}"
        try:
            pace = await self._store.pace(name, interval=self._interval, burst=self._burst, max_wait=0.0)
        except StoreError:
            return 0.0
        return 0.0 if pace.granted else max(1.0, pace.wait)


def _place(address: str) -> str:
    """Return the key for an address: an IPv6 client has a whole /64."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or (int(parsed) >> 64))


_MINUTE = 60.0
_TTL = 30.0  # seconds after which the slots of a gateway that was killed are free again
_AGAIN = 1.0  # seconds after which to retry when all slots are taken


@dataclass(frozen=True, slots=True)
class _Rate:
    rate: int
    burst: int

    @property
    def interval(self) -> float:
        return _MINUTE / self.rate


class Rates:
    """Enforces the rate limits of keys.

    Args:
        store: Where the paces are.
        rate: Requests per minute of a key without its own rate; 0 means no limit.
        burst: Its burst; 0 is a sixth of the rate.
    """

    def __init__(self, store: Store, rate: int, burst: int) -> None:
        self._store = store
        self._rate = rate
        self._burst = burst

    async def take(self, key_id: str, limits: KeyLimits) -> Mapping[str, str]:
        """Count one request; return headers with the remaining limit.

        Raises:
            Refusal: the rate limit was exceeded.
        """
        rate = limits.rate or self._rate
        if not rate:
            return {}
        burst = (limits.burst if limits.rate else self._burst) or math.ceil(rate / 6)
        own = _Rate(rate, burst)
        pace = await self._store.pace(f"key:{key_id}:rate", interval=own.interval, burst=burst, max_wait=0.0)
        headers = rate_headers(pace, own.interval, burst)
        if not pace.granted:
            text = f"This key may send {rate:,} requests a minute, in bursts of {burst:,}. Retry later."
            raise Refusal(429, "rate_limited", text, retry_after=pace.wait, headers=headers)
        return headers


def rate_headers(pace: Pace, interval: float, burst: int) -> dict[str, str]:
    """Return the headers for a client's rate limit (draft-ietf-httpapi-ratelimit-headers-09).

    Args:
        pace: What the store said.
        interval: Seconds between two requests in the long run.
        burst: How many may come at once.
    """
    left = max(0, math.floor((burst * interval - pace.backlog) / interval + 1e-6)) if pace.granted else 0
    reset = pace.backlog if pace.granted else pace.wait
    return {
        "ratelimit-policy": f'"requests";q={burst};w={max(1, math.ceil(burst * interval))}',
        "ratelimit": f'"requests";r={left};t={math.ceil(reset)}',
    }


class Slots:
    """Limits the concurrent requests of a key, and frees the slots of a killed gateway.

    Each request holds one of the key's numbered slots by a lease, which is renewed while it runs.

    Args:
        store: Where the leases are.
        ttl: Seconds for which a lease holds.
    """

    def __init__(self, store: Store, *, ttl: float = _TTL) -> None:
        self._store = store
        self._ttl = ttl
        self._process = secrets.token_hex(8)
        self._held: dict[str, str] = {}
        self._renewing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, key_id: str, limits: KeyLimits) -> AsyncGenerator[None, None]:
        """Hold a slot during the block.

        Raises:
            Refusal: all are in use.
        """
        if not limits.concurrent:
            yield
            return
        slot = await self._take(key_id, limits.concurrent)
        try:
            yield
        finally:
            owner = self._held.pop(slot)
            await asyncio.shield(self._store.release(slot, owner=owner))

    async def renew(self) -> None:
        """Renew all held leases."""
        for slot, owner in list(self._held.items()):
            if self._held.get(slot) == owner:
                await self._store.lease(slot, owner=owner, ttl=self._ttl)

    async def aclose(self) -> None:
        """Stop renewing."""
        if self._renewing is not None:
            self._renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._renewing
            self._renewing = None

    async def _take(self, key_id: str, most: int) -> str:
        numbers = [number for number in range(most) if _slot(key_id, number) not in self._held]
        random.shuffle(numbers)  # gateways should not all try the same slots first
        for number in numbers:
            slot, owner = _slot(key_id, number), f"{self._process}:{secrets.token_hex(8)}"
            if slot in self._held:
                continue  # another request of this process took it meanwhile
            self._held[slot] = owner
            try:
                mine = await self._store.lease(slot, owner=owner, ttl=self._ttl)
            except BaseException:
                del self._held[slot]
                await asyncio.shield(self._store.release(slot, owner=owner))
                raise
            if mine:
                self._keep_renewing()
                return slot
            del self._held[slot]
        text = f"This key has {most:,} requests in progress, which is its limit. Wait until one has finished."
        raise Refusal(429, "too_many_requests_at_once", text, retry_after=_AGAIN)

    def _keep_renewing(self) -> None:
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.get_running_loop().create_task(self._renew_while_held())

    async def _renew_while_held(self) -> None:
        while self._held:
            await asyncio.sleep(self._ttl / 3)
            await self.renew()


def _slot(key_id: str, number: int) -> str:
    return f"key:{key_id}:slot:{number}"
