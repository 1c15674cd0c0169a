"""The store that a URL names."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from groundwire.errors import ConfigurationError
from groundwire.storage.base import Store
from groundwire.storage.memory import MemoryStore
from groundwire.storage.resilient import ResilientStore

__all__ = ["DEFAULT_URL", "open_store"]

DEFAULT_URL = "sqlite://"
"""A file in the user's cache folder."""

_FORMS = (
    "memory://, sqlite:// (a file in the user's cache folder), sqlite:///relative/path, sqlite:////absolute/path, "
    "valkey://HOST:PORT/DATABASE or redis://..., with TLS valkeys://... or rediss://..., "
    "a password as valkey://:PASSWORD@HOST"
)
_SERVERS = {"valkey": "redis", "redis": "redis", "valkeys": "rediss", "rediss": "rediss"}
_MEMORY_BYTES = 64_000_000
_FILE_BYTES = 256_000_000
_FILE_BOUND = 1.0  # seconds; eight processes that write without a pause make one another wait for up to half of it
_SERVER_BOUND = 0.25  # seconds; a server that is there answers in one


def open_store(
    url: str = DEFAULT_URL,
    *,
    max_bytes: int | None = None,
    bound: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Store:
    """Return the store that a URL names. Nothing is opened before the first call, and no call fails because of it.

    Args:
        url: `memory://`, `sqlite://`, `sqlite:///PATH`, `valkey://HOST:PORT/DATABASE`, `redis://...`, `valkeys://...`
            or `rediss://...`; the last two use TLS and take `?ssl_ca_certs=FILE` for an authority of one's own.
        max_bytes: The most that values may take: 64 MB in memory and 256 MB in a file unless given. A server has a
            limit of its own.
        bound: The most seconds that a call may take before process memory stands in: 1 for a file and 0.25 for a server
            unless given.
        clock: The time in seconds since the epoch.

    Raises:
        ConfigurationError: No store has such a URL; the text says which forms there are, and never repeats a password.
            Or the package that a server needs is not installed.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it checks it
    except ValueError as exc:
        raise _wrong("it cannot be parsed") from exc
    if parts.scheme == "memory":
        _only(parts, empty=("netloc", "path", "query", "fragment"))
        return MemoryStore(max_bytes=_MEMORY_BYTES if max_bytes is None else max_bytes, clock=clock)
    if parts.scheme == "sqlite":
        from groundwire.storage.sqlite import SqliteStore

        bound = _FILE_BOUND if bound is None else bound
        max_bytes = _FILE_BYTES if max_bytes is None else max_bytes
        file = SqliteStore(_path(parts), max_bytes=max_bytes, patience=0.8 * bound, clock=clock)
        return ResilientStore(file, lambda: MemoryStore(clock=clock), bound=bound)
    if parts.scheme in _SERVERS:
        from groundwire.storage.valkey import ValkeyStore

        server = ValkeyStore(_server(parts), clock=clock)
        return ResilientStore(server, lambda: MemoryStore(clock=clock), bound=_SERVER_BOUND if bound is None else bound)
    raise _wrong(f"it begins with {parts.scheme!r}" if parts.scheme else "it has no scheme")


def _path(parts: SplitResult) -> Path:
    if parts.netloc or (parts.path and not parts.path.startswith("/")):
        raise _wrong("a path follows three slashes, an absolute one four")
    _only(parts, empty=("query", "fragment"))
    text = unquote(parts.path.removeprefix("/"))
    if not text and not parts.path:
        import platformdirs

        return platformdirs.user_cache_path("groundwire") / "store.sqlite3"
    if not text or text.endswith("/") or "\0" in text:
        raise _wrong("the path names no file")
    if text == ":memory:":
        raise _wrong("for memory, write memory://")
    try:
        os.fsencode(text)
        return Path(text).expanduser()
    except (UnicodeError, RuntimeError) as exc:  # a name that no file can have, or the home of a user there is not
        raise _wrong("the path names no file") from exc


def _server(parts: SplitResult) -> str:
    scheme = _SERVERS[parts.scheme]
    if not parts.hostname:
        raise _wrong("it names no host")
    _only(parts, empty=("fragment",))
    database = parts.path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise _wrong("the database is a number, such as /0")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if options and (scheme != "rediss" or options.keys() - {"ssl_ca_certs"} or not all(options.values())):
        raise _wrong("the only option is ?ssl_ca_certs=FILE, with TLS")
    return parts._replace(scheme=scheme).geturl()


def _only(parts: SplitResult, *, empty: tuple[str, ...]) -> None:
    for part in empty:
        if getattr(parts, part):
            raise _wrong(f"a {parts.scheme} address has no {'host' if part == 'netloc' else part}")


def _wrong(problem: str) -> ConfigurationError:
    return ConfigurationError(f"The address of the store is wrong: {problem}. Forms: {_FORMS}.")
