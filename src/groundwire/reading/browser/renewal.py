"""What is started on first use and replaced when it is worn or dead, with one start for all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from groundwire.errors import Closed

__all__ = ["Renewed"]

_END_TIME: Final = 5.0  # seconds for a start that had better complete
_Process = TypeVar("_Process")


class Renewed(Generic[_Process]):
    """A process, always one that serves. All calls must run in one event loop.

    Args:
        start: Starts one.
        serves: Returns whether one can take further work.
        end: Ends one that does not.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[_Process]],
        serves: Callable[[_Process], bool],
        end: Callable[[_Process], Awaitable[None]],
    ) -> None:
        self._start = start
        self._serves = serves
        self._end = end
        self._task: asyncio.Task[_Process] | None = None
        self._closed = False

    async def get(self) -> _Process:
        """Return a running process; a start completes even if its caller is canceled.

        Raises:
            Closed: it was closed. Whatever the start raises.
        """
        if self._closed:
            raise Closed("This Web is closed; create a new one.")
        current, task = self._current(), self._task
        if task is None or (task.done() and (current is None or not self._serves(current))):
            task = self._task = asyncio.get_running_loop().create_task(self._replace(current))
        await asyncio.wait({task})
        if task.cancelled():
            raise Closed("This Web is closed; create a new one.")
        return task.result()

    async def aclose(self) -> None:
        """End the process, and a start that takes too long."""
        self._closed = True
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_END_TIME)
            self._task.cancel()
            await asyncio.wait({self._task})
        if (current := self._current()) is not None:
            await self._end(current)

    def _current(self) -> _Process | None:
        task = self._task
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    async def _replace(self, former: _Process | None) -> _Process:
        if former is not None:
            await self._end(former)
        return await self._start()
