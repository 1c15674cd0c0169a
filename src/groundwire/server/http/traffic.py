"""What runs in a gateway, and how it comes to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.server.http.failures import Failed, failed

__all__ = ["Counted", "Traffic"]

_T = TypeVar("_T")

_AGAIN = 2.0  # seconds; by then a load balancer has noticed, or another process has taken this one's place


class Traffic:
    """Counts the calls that run, and lets no more in once the gateway is to end."""

    def __init__(self) -> None:
        self.running = 0
        self.started = False
        self.leaving = False
        self.draining = False
        self._ended = False
        self._tasks: set[asyncio.Task[object]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call while the block runs.

        Raises:
            Failed: no new one is taken.
        """
        if self.draining:
            text = "The gateway is shutting down. Ask another one, or this one in a moment."
            raise failed(503, "draining", text, retry_after=_AGAIN, headers={"Connection": "close"})
        self.running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    def leave(self) -> None:
        """Say that the gateway is about to end; calls are still let in."""
        self.leaving = True

    def drain(self) -> None:
        """Let no more calls in."""
        self.leaving = self.draining = True

    async def until_ended(self, work: Awaitable[_T]) -> _T:
        """Await the work of a call.

        Raises:
            Failed: the gateway has ended it.
        """
        task = asyncio.current_task()
        if task is None:
            return await work
        self._tasks.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            if not self._ended or task.uncancel():  # somebody else wants it to end, too
                raise
            raise failed(503, "ended", "The gateway has shut down before this was done.", retry_after=_AGAIN) from None
        finally:
            self._tasks.discard(task)

    def end(self) -> None:
        """End the calls that run; their clients are told."""
        self.drain()
        self._ended = True
        for task in tuple(self._tasks):
            task.cancel()

    async def idle(self) -> None:
        """Return when no call runs."""
        await self._idle.wait()


class Counted:
    """An ASGI application whose requests are calls, but for those that only wait for news.

    Args:
        app: The application.
        traffic: Counts them.
    """

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self._app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it while the gateway ends."""
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            with self._traffic.call():
                await self._app(scope, receive, send)
        except Failed as failure:  # nothing was sent yet
            await failure.response()(scope, receive, send)
