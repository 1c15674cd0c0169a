"""Detection of client disconnects, and cancellation of the work for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, TypeVar

__all__ = ["ASGIApp", "ClientGone", "Message", "Presence", "Receive", "Scope", "Send", "watched"]

_KEY = "groundwire.presence"

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_T = TypeVar("_T")


class ClientGone(Exception):
    """The client has disconnected."""


class Presence:
    """Tracks whether the client of a request is connected."""

    def __init__(self) -> None:
        self.gone: bool = False
        self._running: set[asyncio.Future[Any]] = set()

    @staticmethod
    def of(request: Any) -> Presence | None:
        """Return the presence of an SDK request's client; None if unavailable, as on stdio."""
        found = request.scope.get(_KEY) if request is not None else None
        return found if isinstance(found, Presence) else None

    async def during(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Await work that is canceled when the client disconnects.

        Raises:
            ClientGone: it disconnected.
        """
        task = asyncio.ensure_future(work)
        self._running.add(task)
        if self.gone:
            task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self.gone and caller is not None and not caller.cancelling():
                raise ClientGone("The client disconnected.") from None
            raise
        finally:
            self._running.discard(task)
            task.cancel()

    def leave(self) -> None:
        """Record that the client has disconnected."""
        self.gone = True
        for task in tuple(self._running):
            task.cancel()


def watched(app: ASGIApp) -> ASGIApp:
    """Return an ASGI application whose requests know whether their client is connected."""

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        presence = scope[_KEY] = Presence()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                presence.leave()
            return message

        await app(scope, received, send)

    return watching
