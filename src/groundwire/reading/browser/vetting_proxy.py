"""The forward proxy between a browser and the network: it vets each connection and makes it itself.

A browser by itself follows redirects, opens sockets and resolves names without any check. Behind this proxy it resolves
nothing: each connection, for whatever purpose, is resolved once here, checked by the guard, and made to the checked
address. There is one proxy per page.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.reading.browser.pinned_connect import (
    READ_METHODS,
    BrowserRequest,
    Dialler,
    NotUnderstood,
    Streams,
    parse_head,
)
from groundwire.transport.connector import close_soon

_HEAD: Final = 65_536  # bytes
_HEAD_TIME: Final = 10.0  # seconds for a request head
_IDLE: Final = 60.0  # seconds without a byte in either direction
_PIECE: Final = 65_536
_ENTRIES: Final = Path("/proc/net/tcp")
_FAILURE: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
"""The response to every failure, so that a page cannot distinguish a blocked host from a nonexistent name."""
_TUNNEL: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"


class VettingProxy:
    """A forward proxy for HTTP, and for HTTPS and WebSockets through CONNECT, on its own loopback port.

    Args:
        dialler: Checks and opens connections.
        max_bytes: Maximum bytes received through it; beyond, all its connections are closed.
        max_requests: Maximum connections.
        idle: Seconds after which an idle connection is closed.

    Attributes:
        url: Its URL, once it listens: within its context.
        refused: The number of requests that the guard blocked, by host and port, prefixed with the method unless it is
            a read.
        failed: The unreachable hosts.
        received: The bytes received through it.
        exhausted: Whether one of the limits was reached.
    """

    def __init__(
        self, dialler: Dialler, *, max_bytes: int = 50_000_000, max_requests: int = 1_000, idle: float = _IDLE
    ) -> None:
        self._dialler = dialler
        self._max_bytes = max_bytes
        self._max_requests = max_requests
        self._idle = idle
        self._server: asyncio.Server | None = None
        self._port = 0
        self.url: str = ""
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._request_count = 0
        self.refused: Counter[str] = Counter()
        self.failed: set[str] = set()
        self.received: int = 0
        self.exhausted: bool = False

    async def __aenter__(self) -> VettingProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections and stop accepting. Idempotent."""
        self._closed = True
        if self._server is not None:
            close_soon(self._server)
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._closed:  # accepted just before closing
            writer.transport.abort()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, NotUnderstood):
            pass  # TimeoutError is an OSError; the connection ends in any case
        except asyncio.CancelledError:
            return  # the proxy is closed; nothing awaits this task
        finally:
            if self.exhausted:
                writer.transport.abort()
            else:
                writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.exhausted or not _is_ours(writer, self._port):
            return
        async with asyncio.timeout(_HEAD_TIME):
            head = await reader.readuntil(b"\r\n\r\n")
        request = parse_head(head)
        self._request_count += 1
        if self._request_count > self._max_requests:
            self._exhaust()
            return
        try:
            there = await self._dialler.open(request)
        except (BlockedAddress, InvalidRequest, OSError) as error:
            if isinstance(error, OSError):
                self.failed.add(request.authority)
            else:
                reads = request.method in READ_METHODS  # otherwise the page may be read there, but not this way
                self.refused[request.authority if reads else f"{request.method} {request.authority}"] += 1
            writer.write(_FAILURE)
            await writer.drain()
            return
        try:
            if request.tunnel:
                writer.write(_TUNNEL)
            await self._join(request, (reader, writer), there)
        finally:
            there[1].transport.abort()

    async def _join(self, request: BrowserRequest, browser: Streams, there: Streams) -> None:
        """Copy bytes both ways until the host or the browser closes."""
        sending = asyncio.ensure_future(self._send(request, browser[0], there[1]))
        try:
            await self._receive(there[0], browser[1])
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
                await sending

    async def _send(self, request: BrowserRequest, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Copy what the browser sends: everything for a tunnel, otherwise exactly one body."""
        remaining = request.length
        try:
            while request.tunnel or remaining:
                piece = await source.read(_PIECE if request.tunnel else min(_PIECE, remaining))
                if not piece:
                    break
                remaining -= len(piece)
                sink.write(piece)
                await sink.drain()
            while not request.tunnel and await source.read(_PIECE):
                pass  # data beyond the request is dropped
            sink.transport.abort()
        except OSError:
            sink.transport.abort()

    async def _receive(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(self._idle):
                piece = await source.read(_PIECE)
            if not piece:
                return
            self.received += len(piece)
            if self.received > self._max_bytes:
                self._exhaust()
                return
            sink.write(piece)
            await sink.drain()

    def _exhaust(self) -> None:
        self.exhausted = True
        self.close()


def _is_ours(writer: asyncio.StreamWriter, port: int) -> bool:
    """Return whether a peer belongs to the current user, as far as the platform tells; others are rejected."""
    peer = writer.get_extra_info("peername")
    if peer is None:
        return False
    here, there = f"0100007F:{port:04X}", f"0100007F:{peer[1]:04X}"
    try:
        lines = _ENTRIES.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return True
    for line in lines:
        fields = line.split()
        if len(fields) > 7 and fields[1] == there and fields[2] == here:
            return sys.platform == "win32" or fields[7] == str(os.getuid())
    return True
