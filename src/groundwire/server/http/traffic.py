"""What runs in a gateway: how much of it at once, and how it comes to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire.server.http.failures import failed

__all__ = ["Traffic"]

_AGAIN = 1.0  # seconds; calls take about that long
_AGAIN_ELSEWHERE = 2.0  # seconds; by then a load balancer has noticed


class Traffic:
    """Counts the calls that run, and lets no more in than may run at once, and none while the gateway ends.

    Args:
        most: How many may run at once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
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
            Failed: it may not be made now; when to try again is said.
        """
        if self.draining:
            raise failed(
                503, "draining", "The gateway is shutting down. Ask another one.", retry_after=_AGAIN_ELSEWHERE
            )
        if self.running >= self.most:
            text = f"The gateway has {self.most} calls at work already. Try again in a moment."
            raise failed(429, "too_many_calls", text, retry_after=_AGAIN)
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
