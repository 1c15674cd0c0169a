"""The forward proxy that stands between a browser and everything else: it vets each connection and makes it itself.

A browser by itself follows redirects, opens sockets and resolves names without any check. Behind this proxy it
resolves nothing: each connection that it wants, for whatever reason, is resolved here once, judged by the guard, and
made to the judged address. One proxy serves one page and ends with it.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from groundwire.reading.browser.pinned_connect import READING, REFUSALS, Dialler, Streams
from groundwire.reading.browser.proxy_requests import BrowserRequest, NotUnderstood, parse_head
from groundwire.transport.asyncio_server import close_soon

__all__ = ["VettingProxy"]

_HEAD: Final = 65_536  # bytes
_HEAD_TIME: Final = 10.0  # seconds for a request's head
_IDLE: Final = 60.0  # seconds without a byte in either direction
_PIECE: Final = 65_536
_ENTRIES: Final = Path("/proc/net/tcp")
_NO: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
"""What is said to everything that does not work, so that a page cannot tell a refusal from a name that is not there."""
_TUNNEL: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"


class VettingProxy:
    """A forward proxy for HTTP, and for HTTPS and WebSockets by CONNECT, on a port of its own on loopback.

    Args:
        dialler: Judges and opens connections.
        max_bytes: The most bytes that may come through it; with more, all its connections end.
        max_requests: The most connections that may be asked for.
        idle: Seconds after which a connection without traffic ends.

    Attributes:
        refused: How often what the guard refused was asked for, by host and port; with the method before them if that
            is not one of reading.
        failed: The hosts that could not be reached.
        received: The bytes that have come through it.
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
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked = 0
        self.refused: Counter[str] = Counter()
        self.failed: set[str] = set()
        self.received: int = 0
        self.exhausted: bool = False

    @property
    def url(self) -> str:
        """Its address.

        Raises:
            RuntimeError: it has not been started.
        """
        if not self._port:
            raise RuntimeError("The proxy does not run.")
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_HEAD)
        self._port = self._server.sockets[0].getsockname()[1]

    async def __aenter__(self) -> VettingProxy:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections at once; nothing is accepted any more. Closing twice is fine."""
        self._closed = True
        if self._server is not None:
            close_soon(self._server)
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._closed:  # accepted just before the end
            writer.transport.abort()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, NotUnderstood):
            pass  # TimeoutError is an OSError; whatever it was, the connection ends
        except asyncio.CancelledError:
            return  # the proxy is closed; nothing waits for this task
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
        asked = parse_head(head)
        self._asked += 1
        if self._asked > self._max_requests:
            self._exhaust()
            return
        try:
            there = await self._dialler.open(asked)
        except REFUSALS:
            reads = asked.method in READING  # else the page may be read there, and this it may not do
            self.refused[asked.authority if reads else f"{asked.method} {asked.authority}"] += 1
            await _say(writer, _NO)
            return
        except OSError:
            self.failed.add(asked.authority)
            await _say(writer, _NO)
            return
        try:
            if asked.tunnel:
                writer.write(_TUNNEL)
            await self._join(asked, (reader, writer), there)
        finally:
            there[1].transport.abort()

    async def _join(self, asked: BrowserRequest, browser: Streams, there: Streams) -> None:
        """Carry bytes both ways until the host has no more, or the browser has gone."""
        sending = asyncio.ensure_future(self._send(asked, browser[0], there[1]))
        try:
            await self._receive(there[0], browser[1])
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
                await sending

    async def _send(self, asked: BrowserRequest, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry what the browser sends: all of it through a tunnel, otherwise one body and not a byte more."""
        left = asked.length
        try:
            while asked.tunnel or left:
                piece = await source.read(_PIECE if asked.tunnel else min(_PIECE, left))
                if not piece:
                    break
                left -= len(piece)
                sink.write(piece)
                await sink.drain()
            while not asked.tunnel and await source.read(_PIECE):
                pass  # what is sent beside one request is dropped
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


async def _say(writer: asyncio.StreamWriter, answer: bytes) -> None:
    writer.write(answer)
    await writer.drain()


def _is_ours(writer: asyncio.StreamWriter, port: int) -> bool:
    """Tell whether a peer belongs to this user, as far as the platform says; others have no business here."""
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
            return fields[7] == str(os.getuid())
    return True
