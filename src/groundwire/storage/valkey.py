"""A store on a Valkey or Redis server, for any number of processes and machines.

What must happen in one step is a script that the server runs. Time is the server's own, so the machines' clocks need
not agree.

The Lua scripts of the Valkey store; the server runs each in one step (https://valkey.io/topics/eval-intro/).
"""

from __future__ import annotations

import asyncio
import math
import re
import struct
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from groundwire.errors import ConfigurationError
from groundwire.storage.base import (
    Count,
    Entry,
    Pace,
    StoreError,
    check_amount,
    check_pace,
    check_seconds,
    decode_key,
    encode_key,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["COUNT", "GET", "LEASE", "PACE", "RELEASE", "ValkeyStore"]

GET = """
local value = redis.call('GET', KEYS[1])
if not value then return false end
return {value, redis.call('PTTL', KEYS[1])}
"""

COUNT = """
local held = redis.call('GET', KEYS[1])
local total = tonumber(held or '0')
local amount, limit, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if amount > 0 and limit and total + amount > limit then return {0, string.format('%.17g', total)} end
total = math.max(0, total + amount)
local text = string.format('%.17g', total)
if held then redis.call('SET', KEYS[1], text, 'KEEPTTL')
elseif amount > 0 and ttl then redis.call('SET', KEYS[1], text, 'PX', ARGV[3])
elseif amount > 0 then redis.call('SET', KEYS[1], text) end
return {1, text}
"""

# Microseconds since the epoch are whole numbers below 2^53, so nothing is lost in Lua's floating point.
PACE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = math.max(0, arrival - (burst - 1) * interval - now)
if most and wait > most then
  return {0, string.format('%.0f', wait), string.format('%.0f', arrival - now)}
end
arrival = arrival + interval
if arrival > now then
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
return {1, string.format('%.0f', wait), string.format('%.0f', arrival - now)}
"""

LEASE = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""


# The kind stands first, so that one pattern finds one kind; the name keeps us apart from others on the server.
_ENTRY, _COUNTER, _PACE, _LEASE = b"groundwire:e:", b"groundwire:c:", b"groundwire:p:", b"groundwire:l:"

_HEAD = struct.Struct("<d")  # before each value: the seconds of its staleness; the server knows when it ends
_SPECIAL = re.compile(rb"[][*?^\\-]")  # in patterns of SCAN

_CLOSED = "The store was closed."
_CONNECTIONS = 50
_QUEUE = 10.0  # seconds for a free connection: a burst of callers is no failure of the server
_CONNECT = 5.0  # seconds; TLS to another region takes several round trips, and goes on when a caller has given up


class ValkeyStore:
    """Values, counters, paces and leases on a server; exact under tasks, processes and machines.

    It belongs to the event loop that uses it first. The server's own limit (`maxmemory`) bounds its size: choose the
    policy `volatile-lru`, which pushes out nothing that has no end.

    Args:
        url: `redis://` or `rediss://` with host, port and database.
        timeout: Seconds for one exchange with the server.
        clock: The time in seconds since the epoch, in which `Entry` is told.

    Raises:
        ConfigurationError: The package `redis` is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 2.0, clock: Callable[[], float] = time.time) -> None:
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import ConnectionError as Cut
            from redis.exceptions import RedisError
        except ImportError as exc:
            raise ConfigurationError('The store needs the package redis: pip install "groundwire[valkey]"') from exc
        self._failures = (RedisError, OSError, TimeoutError)
        self._cuts = (Cut, OSError)
        self._clock = clock
        self._redis: Redis = Redis.from_pool(
            BlockingConnectionPool.from_url(
                url,
                max_connections=_CONNECTIONS,
                timeout=_QUEUE,
                socket_connect_timeout=_CONNECT,
                socket_timeout=timeout,
                health_check_interval=30,  # an idle connection may have been cut by something in between
                retry=Retry(NoBackoff(), 0),  # what was counted must not be counted again
            )
        )
        self._get = self._redis.register_script(GET)
        self._count = self._redis.register_script(COUNT)
        self._pace = self._redis.register_script(PACE)
        self._lease = self._redis.register_script(LEASE)
        self._release = self._redis.register_script(RELEASE)
        self._connecting: asyncio.Task[None] | None = None
        self._closed = False

    async def get(self, key: str) -> Entry | None:
        """Return a value; see `Store.get`."""
        await self._connected()
        async with self._translated():
            found = await self._get(keys=[_ENTRY + encode_key(key)])
        if found is None:
            return None
        kept, milliseconds = found
        (stale,) = _HEAD.unpack_from(kept)
        stale_until = self._clock() + milliseconds / 1_000
        return Entry(kept[_HEAD.size :], stale_until - stale, stale_until)

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        """Keep a value; see `Store.set`."""
        check_seconds(fresh=fresh, stale=stale)
        name = _ENTRY + encode_key(key)
        await self._connected()
        async with self._translated():
            if fresh + stale <= 0:
                await self._redis.delete(name)
            else:
                await self._redis.set(name, _HEAD.pack(stale) + value, px=_milliseconds(fresh + stale))

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        """Add to a counter; see `Store.count`."""
        check_amount(amount, limit)
        check_seconds(ttl=ttl)
        given = [repr(float(amount)), "" if limit is None else repr(float(limit))]
        given.append("" if ttl is None else str(_milliseconds(ttl)))
        await self._connected()
        async with self._translated():
            granted, total = await self._count(keys=[_COUNTER + encode_key(key)], args=given)
        return Count(granted=bool(granted), total=float(total))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        check_pace(interval, burst, max_wait)
        given = [str(_microseconds(interval)), str(burst), "" if max_wait is None else str(_microseconds(max_wait))]
        await self._connected()
        async with self._translated():
            granted, wait, backlog = await self._pace(keys=[_PACE + encode_key(key)], args=given)
        return Pace(granted=bool(granted), wait=int(wait) / 1_000_000, backlog=int(backlog) / 1_000_000)

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        """Take or renew a lease; see `Store.lease`."""
        check_seconds(ttl=ttl)
        await self._connected()
        async with self._translated():
            return bool(await self._lease(keys=[_LEASE + encode_key(key)], args=[owner, _milliseconds(ttl)]))

    async def release(self, key: str, *, owner: str) -> None:
        """Give a lease back; see `Store.release`."""
        await self._connected()
        async with self._translated():
            await self._release(keys=[_LEASE + encode_key(key)], args=[owner])

    async def delete(self, key: str) -> None:
        """Forget a value, a counter and a pace; see `Store.delete`."""
        name = encode_key(key)
        await self._connected()
        async with self._translated():
            await self._redis.delete(_ENTRY + name, _COUNTER + name, _PACE + name)

    async def scan(self, prefix: str) -> AsyncGenerator[str, None]:
        """Yield the keys of values; see `Store.scan`."""
        pattern = _ENTRY + _SPECIAL.sub(rb"\\\g<0>", encode_key(prefix)) + b"*"
        seen: set[bytes] = set()
        cursor = -1
        await self._connected()
        while cursor:
            async with self._translated():
                cursor, found = await self._redis.scan(max(cursor, 0), match=pattern, count=500)
            for name in found:
                if isinstance(name, bytes) and name not in seen:  # the server may tell a key twice when it makes room
                    seen.add(name)
                    yield decode_key(name[len(_ENTRY) :])

    async def aclose(self) -> None:
        """Close the connections."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        async with self._translated():
            await self._redis.aclose(close_connection_pool=True)

    async def _connected(self) -> None:
        """Wait for the first connection; a caller that gives up does not end the attempt for those after it."""
        if self._closed:
            raise StoreError(_CLOSED)
        attempt = self._connecting
        if attempt is None or (attempt.done() and attempt.exception() is not None):
            attempt = self._connecting = asyncio.create_task(self._ping())
            attempt.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody waits for it
        if attempt.done():
            return
        try:
            async with self._translated():
                await asyncio.shield(attempt)
        except asyncio.CancelledError:
            if self._closed:
                raise StoreError(_CLOSED) from None
            raise

    async def _ping(self) -> None:
        await self._redis.ping()

    @asynccontextmanager
    async def _translated(self) -> AsyncGenerator[None, None]:
        try:
            yield
        except self._failures as exc:
            if isinstance(exc, self._cuts):
                # The server has gone or was changed for another: the idle connections are dead, too, and each would
                # fail one more call long after the server is back.
                with suppress(*self._failures):
                    await self._redis.connection_pool.disconnect(inuse_connections=False)
            raise StoreError(f"The server of the store cannot be used: {exc}") from exc


def _milliseconds(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1_000))


def _microseconds(seconds: float) -> int:
    return math.ceil(seconds * 1_000_000)
