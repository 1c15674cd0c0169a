"""Writes and other work that no call waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

_CLOSING = 2.0  # seconds that closing waits for pending work


class BackgroundTasks:
    """Background work, which only closing waits for."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Start work that reports its own failures, such as a write to the store."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self, *, cancel: bool = False) -> None:
        """Wait until all work is done, up to a limit.

        Args:
            cancel: Cancel what is still running then: it would go on after the store is closed.
        """
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)
        for task in self._tasks if cancel else ():
            task.cancel()
        if cancel:
            await asyncio.gather(*self._tasks, return_exceptions=True)
