"""Responses of the miniature web that wait until a test releases them."""

from __future__ import annotations

import asyncio
import threading

from aiohttp import web

from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import EmulatedResponse, Wire


class Held:
    """Holds responses back: `endpoint.fail(held.fault, times=12)`."""

    def __init__(self) -> None:
        self.fault = InjectedFault("held", self._play)
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._released = False

    def release(self) -> None:
        """Release all responses, including future ones."""
        with self._lock:
            self._released = True
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    async def _play(self, wire: Wire, reply: EmulatedResponse) -> web.StreamResponse:
        event = asyncio.Event()
        with self._lock:
            if self._released:
                event.set()
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()
        return await wire.send(reply)
