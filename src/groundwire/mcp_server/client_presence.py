"""Whether the client of an MCP request is still connected, and the end of the work for one that is not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

__all__ = ["PRESENCE", "ClientGone", "Presence"]

PRESENCE: Final = "groundwire.presence"
"""The key of an HTTP connection's scope under which a server puts the presence of its client."""

_T = TypeVar("_T")


class ClientGone(Exception):
    """The client has disconnected."""


class Presence:
    """Tracks whether the client of a request is connected."""

    def __init__(self) -> None:
        self.has_left: bool = False
        self._running: set[asyncio.Future[Any]] = set()

    @staticmethod
    def of(request: Any) -> Presence | None:
        """Return the presence of an SDK request's client; None if unavailable, as on stdio."""
        presence = request.scope.get(PRESENCE) if request is not None else None
        return presence if isinstance(presence, Presence) else None

    async def during(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await work that is canceled when the client disconnects.

        Raises:
            ClientGone: it disconnected.
        """
        task = asyncio.ensure_future(work)
        self._running.add(task)
        if self.has_left:
            task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self.has_left and caller is not None and not caller.cancelling():
                raise ClientGone("The client disconnected.") from None
            raise
        finally:
            self._running.discard(task)
            task.cancel()

    def leave(self) -> None:
        """Record that the client has disconnected."""
        self.has_left = True
        for task in tuple(self._running):
            task.cancel()
