"""One at a time: changes of a kept value that must not be divided, among tasks and among processes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from groundwire.storage.base import Store

__all__ = ["Turns"]

_LEASE, _POLL, _TRIES = 3.0, 0.02, 100  # seconds of a lease and between two tries, and tries


class Turns:
    """Hands out the right to change a value.

    Args:
        store: Where the value is, and the lease on it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None, None]:
        """Wait for the turn to change the value of a key; who waits two seconds for other processes goes on anyway."""
        lock, users = self._turns.get(key, (asyncio.Lock(), 0))
        self._turns[key] = (lock, users + 1)
        try:
            async with lock:
                for _ in range(_TRIES):
                    if await self._store.lease(key, owner=self._owner, ttl=_LEASE):
                        break
                    await asyncio.sleep(_POLL)
                try:
                    yield
                finally:
                    await self._store.release(key, owner=self._owner)
        finally:
            lock, users = self._turns.pop(key)
            if users > 1:
                self._turns[key] = (lock, users - 1)
