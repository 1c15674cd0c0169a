"""What processes tell one another about providers: who asked to be left alone, who looks ill, how fast is allowed.

Each process acts on what it knows itself. The store carries the news: it is told in the background, asked at most once
a second, and may fail at any time. Then every process goes on with what it knows.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.routing.cost_ledger import BackgroundTasks
from groundwire.storage.base import Store, StoreError

__all__ = ["HealthRecord", "SharedHealth"]

_EVERY = 1.0  # seconds between two looks at the store
_LATE = 5.0  # seconds after which a search waits for the look
_PATIENCE = 0.1  # seconds that it waits at most
_KEPT = 86_400.0  # seconds for which a rate is kept
_TAIL = 60.0  # seconds for which a notice is kept after its end, so that all hear that it is over
_REASON = 300  # characters


_Moment = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]


class HealthRecord(BaseModel):
    """What is known of a provider. Times are in seconds since the epoch; 0 says nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    closed: _Moment = 0.0
    """Until when it asked to be left alone."""
    outcome: str = ""
    """The outcome of the attempt in which it asked so."""
    reason: str = ""
    """What it said."""
    suspect: _Moment = 0.0
    """Until when it looks ill."""
    times: Annotated[int, Field(ge=0)] = 0
    """How often in a row that was so."""
    interval: _Moment = 0.0
    """Seconds between two requests."""
    burst: Annotated[int, Field(ge=0)] = 0
    """How many requests may go at once."""


class SharedHealth:
    """The notices of the providers of one `Web`.

    Args:
        store: Where they are.
        hear: Is told the scope of a provider, and what others know of it.
        clock: The time in seconds since the epoch.
    """

    def __init__(
        self, store: Store, hear: Callable[[str, HealthRecord], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._hear = hear
        self._clock = clock
        self._pending: dict[str, dict[str, float | int | str]] = {}
        self._later = BackgroundTasks()
        self._read_at = -math.inf
        self._reading: asyncio.Task[None] | None = None

    async def refresh(self, scopes: Iterable[str]) -> None:
        """Hear the news if the last look is a second ago; wait for it only if that is long ago, and not for long."""
        now = asyncio.get_running_loop().time()
        age = now - self._read_at
        if age >= _EVERY and self._reading is None:
            self._read_at = now
            self._reading = asyncio.get_running_loop().create_task(self.read(scopes))
            self._reading.add_done_callback(self._has_read)
        if age >= _LATE and self._reading is not None:
            await asyncio.wait({self._reading}, timeout=_PATIENCE)

    async def read(self, scopes: Iterable[str]) -> None:
        """Hear what the store has about these scopes."""
        for where, notice in zip(
            scopes := tuple(scopes), await asyncio.gather(*(self._get(where) for where in scopes)), strict=True
        ):
            if notice is not None:
                self._hear(where, notice)

    def publish(self, where: str, changes: Mapping[str, float | int | str]) -> None:
        """Tell the others what has changed; `changes` are fields of a `HealthRecord`."""
        if where in self._pending:
            self._pending[where] |= changes
            return
        self._pending[where] = dict(changes)
        self._later.do(self._write(where))

    async def aclose(self) -> None:
        """Wait for what is being told."""
        await self._later.aclose()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _has_read(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled():
            task.exception()

    async def _write(self, where: str) -> None:
        known = await self._get(where) or HealthRecord()
        changes = self._pending.pop(where)
        if float(changes.get("closed", math.inf)) < known.closed:
            changes = {key: value for key, value in changes.items() if key not in {"closed", "outcome", "reason"}}
        changes["reason"] = str(changes.get("reason", known.reason))[:_REASON]
        notice = known.model_copy(update=changes)
        life = max(notice.closed - self._clock(), notice.suspect - self._clock(), 0.0) + _TAIL
        life = max(min(life, _KEPT), _KEPT if notice.interval else 0.0)
        try:
            await self._store.set(_key(where), notice.model_dump_json().encode(), fresh=life)
        except StoreError:
            return  # what this process knows counts anyway

    async def _get(self, where: str) -> HealthRecord | None:
        try:
            entry = await self._store.get(_key(where))
        except StoreError:
            return None
        try:
            return None if entry is None else HealthRecord.model_validate_json(entry.value)
        except ValidationError:
            return None  # somebody else has put it there


def _key(where: str) -> str:
    return f"provider:{where}"
