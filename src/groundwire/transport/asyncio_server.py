"""Graceful closing of servers, without losing connections that were just accepted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

__all__ = ["close_server", "close_soon"]

_TURNS: Final = 3  # accepted, made known to the protocol, and the first step of what `asyncio.start_server` serves with


def close_soon(server: asyncio.Server) -> None:
    """Close a server of the running loop: accept no more, and hand over accepted connections first.

    asyncio accepts a connection in one turn of the loop and hands it over in the next. A server that is closed between
    them refuses it, and the connection stays open until the garbage collector warns of it (`Server._attach` and
    `_accept_connection2` in CPython 3.11 to 3.14).

    Args:
        server: Is closed in the next turn of the loop. Idempotent.
    """
    loop = server.get_loop()
    with suppress(NotImplementedError):  # a loop without socket readers
        for listener in server.sockets:
            loop.remove_reader(listener.fileno())
    loop.call_soon(server.close)


async def close_server(server: asyncio.Server) -> None:
    """Close a server as `close_soon` does, and wait until all accepted connections are being served.

    Args:
        server: Serves on; its connections are the caller's to end.
    """
    close_soon(server)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
