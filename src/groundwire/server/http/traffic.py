"""What runs in a gateway, and how it comes to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.server.http.failures import Failed, failed

__all__ = ["Counted", "Traffic"]

_AGAIN = 2.0  # seconds; by then a load balancer has noticed, or another process has taken this one's place


class Traffic:
    """Counts the calls that run, and lets no more in once the gateway is to end."""

    def __init__(self) -> None:
        self.running = 0
        self.started = False
        self.leaving = False
        self.draining = False
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
