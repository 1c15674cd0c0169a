"""A store on a Valkey or Redis server, for any number of processes and machines.

What must happen in one step is a script that the server runs. Time is the server's own, so the machines' clocks need
not agree.

The server runs each Lua script in one step (https://valkey.io/topics/eval-intro/).
"""

from __future__ import annotations

import asyncio
import math
import struct
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError
from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Count,
    Entry,
    Get,
    Lease,
    Numbers,
    Operation,
    Pace,
    Register,
    Release,
    Set,
    Store,
    StoreError,
)
from groundwire.storage.rules import LONGEST_WAIT, MOST_KEPT, encode_key, note_digest

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.connection import AbstractConnection

BATCH = files("groundwire.storage").joinpath("batch.lua").read_text(encoding="utf-8")
"""Runs the operations of a batch, each consuming its own arguments."""

# Microseconds since the epoch are integers below 2^53, so Lua's floating point is exact.
PACE = files("groundwire.storage").joinpath("pace.lua").read_text(encoding="utf-8")

# The kind is first, so that one pattern matches one kind; the prefix separates Groundwire from other users.
_ENTRY, _COUNTER, _PACE, _LEASE = b"groundwire:e:", b"groundwire:c:", b"groundwire:p:", b"groundwire:l:"
_REGISTER = b"groundwire:r:"

_LONG = 500  # bytes of a value from which compressing it is worth the time
_HEAD = struct.Struct("<d")  # before each value: the seconds of its staleness; the server knows when it ends

_PLACE = 16  # digits before a note: its place among the others

_CLOSED = "The store is closed."
_CONNECTIONS = 50
_QUEUE = 10.0  # seconds for a free connection: a burst of callers is not a failure of the server
_CHECKED = 30.0  # seconds; an idle connection may have been cut by something in between
_CONNECT = 5.0  # seconds; TLS to another region takes several round trips, and goes on when a caller has given up


class ValkeyStore(Store):
    """Values, counters, paces and leases on a server; exact under tasks, processes and machines.

    It belongs to the event loop that uses it first. The server's own limit (`maxmemory`) bounds its size: choose the
    policy `volatile-lru`, which evicts only keys with an expiry.

    Args:
        url: `redis://` or `rediss://` with host, port and database.
        timeout: Seconds for one exchange with the server; connecting may take 5 at least.
        clock: The time in seconds since the epoch, used in `Entry`.

    Raises:
        ConfigurationError: The package `redis` is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 2.0, clock: Callable[[], float] = time.time) -> None:
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import ConnectionError as Cut
            from redis.exceptions import ReadOnlyError, RedisError
        except ImportError as exc:
            raise ConfigurationError(f"The store needs the package redis: {install_extra('valkey')}") from exc
        self._failures = (RedisError, OSError, TimeoutError)
        self._cuts = (Cut, OSError, ReadOnlyError)  # the last after a failover: the address leads to another server now
        self._clock = clock
        self._redis: Redis = Redis.from_pool(
            BlockingConnectionPool.from_url(
                url,
                max_connections=_CONNECTIONS,
                timeout=_QUEUE,
                socket_connect_timeout=max(_CONNECT, timeout),
                socket_timeout=timeout,
                health_check_interval=_CHECKED,
                retry=Retry(NoBackoff(), 0),  # what was counted must not be counted again
                protocol=2,  # with the following, a connection opens without commands of its own
                driver_info=None,
                redis_connect_func=_prepare_connection,
            )
        )
        self._batch = self._redis.register_script(BATCH)
        self._pace = self._redis.register_script(PACE)
        self._connecting: asyncio.Future[Any] | None = None
        self._closed = False

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run several operations with one script; see `Store.batch`."""
        keys, arguments = [], list[bytes | str | int]()
        for operation in operations:
            prefix, own_arguments = _to_script(operation)
            keys.append(prefix + encode_key(operation.key))
            arguments += own_arguments
        await self._connect()
        async with self._store_errors():
            answers = await self._batch(keys=keys, args=arguments)
        return [self._answer(operation, answer) for operation, answer in zip(operations, answers, strict=False)]

    async def register(self, key: str) -> Register:
        """Return a register; see `Store.register`."""
        await self._connect()
        async with self._store_errors():
            reply = await self._redis.hgetall(_REGISTER + encode_key(key))
        fields = cast("dict[bytes, bytes]", reply)
        notes = sorted(value for name, value in fields.items() if name[:1] == b"t")
        numbers = {name[1:]: int(value) for name, value in fields.items() if name[:1] == b"n"}
        return Register(numbers, tuple(note[_PLACE:] for note in notes))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        most = "" if max_wait is None else _microseconds(max_wait)
        arguments = [_microseconds(interval), burst, most, _microseconds(LONGEST_WAIT)]
        await self._connect()
        async with self._store_errors():
            granted, wait = await self._pace(keys=[_PACE + encode_key(key)], args=arguments)
        return Pace(granted=bool(granted), wait=int(wait) / 1_000_000)

    async def delete(self, key: str) -> None:
        """Delete a value, a counter, a pace and a register; see `Store.delete`."""
        name = encode_key(key)
        await self._connect()
        async with self._store_errors():
            await self._redis.delete(_ENTRY + name, _COUNTER + name, _PACE + name, _REGISTER + name)

    async def aclose(self) -> None:
        """Close the connections."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        async with self._store_errors():
            await self._redis.aclose(close_connection_pool=True)

    def _answer(self, operation: Operation, answer: Any) -> Answer:
        """Convert the script's result to that of `Store.batch`."""
        match operation:
            case Get():
                if not answer or len(answer[0]) < _HEAD.size:  # another program's
                    return None
                stored, milliseconds = answer
                (stale,) = _HEAD.unpack_from(stored)
                stale_until = self._clock() + milliseconds / 1_000
                value = stored[_HEAD.size :]
                return Entry(_unpack(value, stale), stale_until - abs(stale), stale_until)
            case Add():
                return Count(granted=bool(answer[0]), total=float(answer[1]))
            case Lease():
                return bool(answer)
            case AssignNumbers():
                return Numbers(tuple(map(int, answer[1])), bool(answer[0]))
        return None

    async def _connect(self) -> None:
        """Wait for the first connection; a canceled caller does not cancel the attempt for later ones."""
        if self._closed:
            raise StoreError(_CLOSED)
        attempt = self._connecting
        if attempt is None or (attempt.done() and attempt.exception() is not None):
            attempt = self._connecting = asyncio.ensure_future(self._redis.script_load(BATCH))  # or a burst would
            attempt.add_done_callback(lambda done: done.cancelled() or done.exception())  # the caller may have left
        if attempt.done():
            return
        try:
            async with self._store_errors():
                await asyncio.shield(attempt)
        except asyncio.CancelledError:
            if self._closed:
                raise StoreError(_CLOSED) from None
            raise

    @asynccontextmanager
    async def _store_errors(self) -> AsyncGenerator[None, None]:
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        try:
            yield
            # the client's `asyncio.wait_for` may hide one in Python 3.11 (github.com/python/cpython/issues/86296)
            if task and task.cancelling() > before:
                raise asyncio.CancelledError
        except self._failures as exc:
            if isinstance(exc, self._cuts):
                # The idle connections are dead, too, and each would fail one more call when the server is back.
                with suppress(*self._failures):
                    await self._redis.connection_pool.disconnect(inuse_connections=False)
            raise StoreError(f"The server of the store cannot be used: {exc}") from exc


async def _prepare_connection(connection: AbstractConnection) -> None:
    """Log in, and check a new connection only when it has been idle."""
    await connection.on_connect_check_health(check_health=False)
    connection.next_health_check = asyncio.get_running_loop().time() + _CHECKED


def _to_script(operation: Operation) -> tuple[bytes, list[bytes | str | int]]:
    """Return the key prefix of an operation, and its arguments for the script."""
    match operation:
        case Get():
            return _ENTRY, ["get", int(operation.ends)]
        case Set():
            life = operation.fresh + operation.stale
            return _ENTRY, ["set", _pack(operation.value, operation.stale), _milliseconds(life) if life > 0 else 0]
        case Add():
            limit = "" if operation.limit is None else repr(float(operation.limit))
            life_ms = "" if operation.ttl is None else _milliseconds(operation.ttl)
            return _COUNTER, ["count", repr(float(operation.amount)), limit, life_ms]
        case Lease():
            return _LEASE, ["lease", operation.owner, _milliseconds(operation.ttl)]
        case Release():
            return _LEASE, ["release", operation.owner]
        case AssignNumbers():
            life_ms, groups = _milliseconds(operation.ttl), operation.groups
            arguments: list[bytes | str | int] = ["number", life_ms, operation.floor, MOST_KEPT, len(groups)]
            for group in groups:
                arguments += [len(group), *group]
            return _REGISTER, [*arguments, note_digest(operation.note), operation.note]


def _pack(value: bytes, stale: float) -> bytes:
    """Return a value as stored: long ones are compressed, marked by a negative staleness."""
    if len(value) >= _LONG and len(short := zlib.compress(value, 1)) < len(value):
        return _HEAD.pack(math.copysign(stale, -1.0)) + short
    return _HEAD.pack(stale) + value


def _unpack(value: bytes, stale: float) -> bytes:
    if math.copysign(1.0, stale) > 0:
        return value
    try:
        return zlib.decompress(value)
    except zlib.error:
        return b""


def _milliseconds(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1_000))


def _microseconds(seconds: float) -> int:
    return math.ceil(seconds * 1_000_000)
