"""A store in memory whose operations are made one by one with its methods, so that a test may change one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Count,
    Entry,
    Get,
    Lease,
    Operation,
    Release,
    Set,
    Store,
)  # fmt: skip
from groundwire.storage.memory import MemoryStore
from groundwire.storage.rules import ended


async def run_each(store: Store, operations: Sequence[Operation]) -> list[Answer]:
    """Run the operations of a batch one by one with the methods of a store."""
    answers: list[Answer] = []
    for operation in operations:
        answers.append(answer := await _run(store, operation))
        if ended(operation, answer):
            break
    return answers


async def _run(store: Store, operation: Operation) -> Answer:
    match operation:
        case Get(key):
            return await store.get(key)
        case Set(key, value, fresh, stale):
            await store.set(key, value, fresh=fresh, stale=stale)
        case Add(key, amount, limit, ttl):
            return await store.count(key, amount, limit=limit, ttl=ttl)
        case Lease(key, owner, ttl):
            return await store.lease(key, owner=owner, ttl=ttl)
        case Release(key, owner):
            await store.release(key, owner=owner)
        case _:
            return await store.apply(operation)
    return None


class StepStore(MemoryStore):
    """A store in memory; a batch calls `get`, `set`, `count`, `lease` and `release`."""

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        return await run_each(self, operations)

    async def apply(self, operation: Operation) -> Answer:
        return await (self._directly(operation) if isinstance(operation, AssignNumbers) else super().apply(operation))

    async def get(self, key: str) -> Entry | None:
        return cast("Entry | None", await self._directly(Get(key)))

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        await self._directly(Set(key, value, fresh, stale))

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        return cast("Count", await self._directly(Add(key, amount, limit, ttl)))

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        return bool(await self._directly(Lease(key, owner, ttl)))

    async def release(self, key: str, *, owner: str) -> None:
        await self._directly(Release(key, owner))

    async def _directly(self, operation: Operation) -> Answer:
        (answer,) = await MemoryStore.batch(self, (operation,))
        return answer
