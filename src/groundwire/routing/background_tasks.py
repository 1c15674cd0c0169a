"""Writes that no call waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

__all__ = ["BackgroundTasks"]

_CLOSING = 2.0  # seconds that closing waits for pending writes


class BackgroundTasks:
    """Background writes, which only closing waits for."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start a write; the store reports its own failures."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self, *, cancel: bool = False) -> None:
        """Wait until all writes are done, up to a limit.

        Args:
            cancel: Cancel what is still running then: it would go on after the store is closed.
        """
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)
        for task in self._tasks if cancel else ():
            task.cancel()
        if cancel:
            await asyncio.gather(*self._tasks, return_exceptions=True)
