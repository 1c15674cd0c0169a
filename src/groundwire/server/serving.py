"""Serving an ASGI application until somebody says stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from groundwire.server.connection import bounded
from groundwire.server.listening import listen

__all__ = ["serve", "serving"]

_PARTING = 3  # seconds that conversations have to end


async def serve(app: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> int:
    """Serve until the process gets SIGINT or SIGTERM, and return which; what goes on then has a few seconds to end.

    Args:
        app: What is served.
        listener: Where.
        ready: Is called when requests are taken.
    """
    server = _Quiet(_config(app, bounded()))
    loop = asyncio.get_running_loop()
    came: list[int] = []

    def stop(number: int) -> None:
        server.force_exit = bool(came)  # who asks twice does not want to wait
        came.append(number)
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        ready()
        await task
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return came[0] if came else 0


@asynccontextmanager
async def serving(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, options: Mapping[str, Any] | None = None
) -> AsyncIterator[str]:
    """Serve in this event loop while the block runs, and give the address, such as `http://127.0.0.1:41233`.

    Args:
        app: What is served.
        host: Where.
        port: Where; 0 is any that is free.
        options: Other bounds of the connections; see `groundwire.server.connection.bounded`.
    """
    listener = listen(host, port)
    server = _Quiet(_config(app, options or bounded()))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


class _Quiet(uvicorn.Server):
    """A server that leaves the signals of the process alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


def _config(app: ASGIApp, options: Mapping[str, Any]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_PARTING,
        **options,
    )
