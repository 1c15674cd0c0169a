"""Running a gateway as a process of its own, until somebody asks it to end."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn

from groundwire.server.connection import bounded
from groundwire.server.http.gateway import Gateway

__all__ = ["run_gateway"]

_STOP = (signal.SIGINT, signal.SIGTERM)
_PARTING = 2  # seconds for connections that are still open then
_LAST_WORDS = 1.0  # seconds for calls that are ended to say so


class _Quiet(uvicorn.Server):
    """A server that leaves the signals of the process alone, and says when it serves."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


async def run_gateway(
    gateway: Gateway,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    grace: float,
    say: Callable[[str], None],
    notice: float = 0.0,
) -> int:
    """Serve until the process gets SIGINT or SIGTERM, and return which.

    From then on `/readyz` says 503. Calls are taken for as long as load balancers need to see that; those that run then
    have some time to end. The listener stays open meanwhile. A second signal ends everything at once.

    Args:
        gateway: What is served; it was started, and stays the caller's to close.
        listener: Where.
        ready: Is called when requests are taken.
        grace: Seconds that running calls have to end.
        say: Is told what is going on.
        notice: Seconds for which calls are still taken.
    """
    limits = gateway.web.settings.server
    config = uvicorn.Config(
        gateway,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_PARTING,
        **bounded(head_timeout=limits.header_timeout, connections=limits.connections),
    )
    server = _Quiet(config, ready)
    loop = asyncio.get_running_loop()
    came: list[int] = []
    asked, hurried = asyncio.Event(), asyncio.Event()

    def stop(number: int) -> None:
        (hurried if came else asked).set()
        came.append(number)

    for number in _STOP:
        loop.add_signal_handler(number, stop, number)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    ending = asyncio.create_task(_end(gateway, server, asked, hurried, notice, grace, say))
    try:
        await serving
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        for number in _STOP:
            loop.remove_signal_handler(number)
    return came[0] if came else 0


async def _end(
    gateway: Gateway,
    server: uvicorn.Server,
    asked: asyncio.Event,
    hurried: asyncio.Event,
    notice: float,
    grace: float,
    say: Callable[[str], None],
) -> None:
    await asked.wait()
    second = asyncio.create_task(hurried.wait())
    gateway.leave()
    if notice:
        say(f"Ending in {notice:g} seconds, until when calls are taken. Once more ends everything at once.")
        await asyncio.wait({second}, timeout=notice)
    gateway.drain()
    if gateway.running:
        say(f"Ending; {gateway.running} running calls have {grace:g} seconds. Once more ends them at once.")
    idle = asyncio.create_task(gateway.idle())
    try:
        await asyncio.wait({idle, second}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        gateway.end_calls()
        await asyncio.wait({idle}, timeout=_LAST_WORDS)
    finally:
        idle.cancel()
        second.cancel()
    server.force_exit = hurried.is_set()
    server.should_exit = True
    await hurried.wait()
    server.force_exit = True
