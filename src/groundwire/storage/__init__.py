"""Storage: a URL selects process memory, a SQLite file, or a Valkey or Redis server."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from groundwire.settings.schema import parse_store_url
from groundwire.settings.user_folders import user_folder
from groundwire.storage.base import Count, Entry, Pace, Store, StoreError
from groundwire.storage.fallback_store import ResilientStore
from groundwire.storage.memory import MemoryStore

__all__ = ["Count", "Entry", "MemoryStore", "Pace", "ResilientStore", "Store", "StoreError", "open_store"]

DEFAULT_URL = "sqlite://"
"""The default: a file in the user's cache folder."""

_MEMORY_BYTES = 64_000_000
_FILE_BYTES = 256_000_000
_FILE_TIMEOUT = 1.0  # seconds; eight processes that write without a pause make one another wait for up to half of it
_SERVER_TIMEOUT = 0.25  # seconds; a server that is there answers in one
_SERVER_EXCHANGE = 2.0  # seconds; a late response still frees its connection


def open_store(
    url: str = DEFAULT_URL,
    *,
    max_bytes: int | None = None,
    timeout: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Store:
    """Return the store for a URL. Nothing is opened before the first call, and no call fails because of it.

    Args:
        url: `memory://`, `sqlite://`, `sqlite:///PATH`, `valkey://HOST:PORT/DATABASE`, `redis://...`, `valkeys://...`
            or `rediss://...`; the last two use TLS and take `?ssl_ca_certs=FILE` for an authority of one's own.
        max_bytes: Maximum size of all values: 64 MB in memory and 256 MB in a file unless given. A server has a
            limit of its own.
        timeout: Seconds to wait for the store; after twice as long process memory takes over. By default 1 for a file
            and 0.25 for a server.
        clock: The time in seconds since the epoch.

    Raises:
        ConfigurationError: the URL is invalid; the message lists the supported forms and never repeats a password.
            Or the package that a server needs is not installed.
    """
    address = parse_store_url(url)
    if address.kind == "memory":
        return MemoryStore(max_bytes=_MEMORY_BYTES if max_bytes is None else max_bytes, clock=clock)
    if address.kind == "sqlite":
        from groundwire.storage.sqlite import SqliteStore

        timeout = _FILE_TIMEOUT if timeout is None else timeout
        max_bytes = _FILE_BYTES if max_bytes is None else max_bytes
        path = Path(address.target) if address.target else user_folder("cache") / "store.sqlite3"
        file = SqliteStore(path, max_bytes=max_bytes, max_wait=0.8 * timeout, clock=clock)
        return ResilientStore(file, lambda: MemoryStore(clock=clock), bound=timeout)
    from groundwire.storage.valkey import ValkeyStore

    timeout = _SERVER_TIMEOUT if timeout is None else timeout
    server = ValkeyStore(address.target, timeout=max(_SERVER_EXCHANGE, timeout), clock=clock)
    return ResilientStore(server, lambda: MemoryStore(clock=clock), bound=timeout)
