"""The URLs that a session knows: from its user, from results, from pages it has opened.

They are in the store under the session's name, so that a fleet that shares both shares them, each as a digest of
the URL as it is requested, and of the one with its fragment: a URL is known when it is the same to the last
character, so that nothing can be added to one. The oldest make room for the newest, each source for itself, so that a
page with very many links does not push out what the user gave.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Literal

from groundwire.errors import BlockedUnknown
from groundwire.routing.budget import SessionBudget
from groundwire.safety.urls import WebUrl
from groundwire.storage.base import Store

__all__ = ["FROM_TEXT", "UNKNOWN", "KeyLocks", "KnownUrls", "Origin"]

UNKNOWN: Final = "Only URLs from the user, from a search, or from a page opened before may be opened, unchanged."
"""What is said of a URL that a session does not know."""

Origin = Literal["user", "results", "pages"]
"""Where an address came from."""

_LIFE = 7 * 86_400.0  # seconds after which the store forgets a session, as its budget
_LEASE, _LEASE_POLL, _LEASE_TRIES = 3.0, 0.02, 100  # seconds of a lease and between two attempts, and attempts
_SIZE = 16  # bytes of a digest
_MOST: Mapping[Origin, int] = {"user": 2_000, "results": 4_000, "pages": 20_000}  # digests, the most trusted first
FROM_TEXT: Final = "its address is known only from the text of a page, neither from the user nor from a search"
"""What is said of a page whose address only web text has named."""


class KeyLocks:
    """Locks on keys of a store, among tasks and among processes: for changes of a value that must not be divided.

    Args:
        store: Where the values are, and the leases on them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None]:
        """Hold the lock on a key for the block; after two seconds of waiting for other processes it begins anyway."""
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                for _ in range(_LEASE_TRIES):
                    if await self._store.lease(key, owner=self._owner, ttl=_LEASE):
                        break
                    await asyncio.sleep(_LEASE_POLL)
                try:
                    yield
                finally:
                    await self._store.release(key, owner=self._owner)
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)


class KnownUrls:
    """Remembers what sessions know, and opens nothing else.

    Args:
        store: Where the addresses are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks = KeyLocks(store)

    async def note(self, session: SessionBudget, origin: Origin, urls: Iterable[WebUrl]) -> None:
        """Remember addresses.

        Args:
            session: The session, which knows its owner.
            origin: Where they came from.
            urls: The addresses.
        """
        digests = dict.fromkeys(digest for url in urls for digest in _digests(url))
        if not digests:
            return
        key = _key(session, origin)
        async with self._locks.hold(key):
            old = await self._load(key)
            kept = [digest for digest in old if digest not in digests] + list(digests)
            await self._store.set(key, b"".join(kept[-_MOST[origin] :]), fresh=_LIFE)

    async def admit(self, session: SessionBudget, url: WebUrl) -> WebUrl:
        """Return an address that the session knows; a fragment that it does not know is left out.

        Raises:
            BlockedUnknown: it does not know it.
        """
        known: set[bytes] = set()
        for origin in _MOST:
            known.update(await self._load(_key(session, origin)))
        if _digest(url.text) in known:
            return url
        if _digest(url.request_text) in known:
            return replace(url, fragment="")
        raise BlockedUnknown(UNKNOWN)

    async def origin(self, session: SessionBudget, url: WebUrl) -> Origin | None:
        """Return the most trusted of the places where an address came from; None where the session does not know it."""
        digests = {_digest(url.text), _digest(url.request_text)}
        for origin in _MOST:
            if not digests.isdisjoint(await self._load(_key(session, origin))):
                return origin
        return None

    async def forget(self, session: SessionBudget) -> None:
        """Forget what a session knows."""
        for origin in _MOST:
            await self._store.delete(_key(session, origin))

    async def _load(self, key: str) -> list[bytes]:
        entry = await self._store.get(key)
        data = b"" if entry is None else entry.value
        return [data[at : at + _SIZE] for at in range(0, len(data), _SIZE)]


def _key(session: SessionBudget, origin: Origin) -> str:
    return f"known:{session.owner.key}:{session.session}:{origin}"


def _digests(url: WebUrl) -> list[bytes]:
    return [_digest(url.request_text), *([_digest(url.text)] if url.fragment else [])]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:_SIZE]
