"""A misbehaving web server on bare sockets: one path per behavior."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from groundwire.transport.connector import close_server
from world.bombs import bomb

CAP = 10_000_000  # bytes; the default of `read.max_bytes`
PROSE = "The lighthouse keeper counts ships every evening and writes their names into a heavy book. " * 8
PAGE = f"<!doctype html><title>Ships</title><main><h1>Ships</h1><p>{PROSE}</p></main>".encode()
_BLOCK = b"<p>and so on and on</p>\n" * 2_000


@dataclass(slots=True)
class Visit:
    """One connection."""

    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    sent: list[int] = field(default_factory=lambda: [0])

    async def send(self, data: bytes) -> None:
        """Write bytes and wait until they are sent."""
        self.writer.write(data)
        await self.writer.drain()
        self.sent[0] += len(data)

    async def answer(
        self, body: bytes = PAGE, *headers: str, status: str = "200 OK", length: int | None = None
    ) -> None:
        """Send a whole response, by default with HTML headers."""
        lines = headers or ("Content-Type: text/html; charset=utf-8",)
        head = "\r\n".join([f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body) if length is None else length}"])
        await self.send(f"{head}\r\nConnection: close\r\n\r\n".encode("latin-1") + body)

    async def begin(self, *headers: str) -> None:
        """Send a head without a length: the body lasts until the connection ends."""
        lines = headers or ("Content-Type: text/html",)
        await self.send(("\r\n".join(["HTTP/1.1 200 OK", *lines, "Connection: close"]) + "\r\n\r\n").encode("latin-1"))

    async def drip(self, data: bytes, pause: float = 0.02) -> None:
        """Send byte after byte, endlessly."""
        for byte in itertools.cycle(data):
            await self.send(bytes([byte]))
            await asyncio.sleep(pause)

    async def gone(self) -> None:
        """Wait until the client closes."""
        while await self.reader.read(4_096):
            pass

    def reset(self) -> None:
        """Break the connection with a TCP reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


async def _trickled_body(visit: Visit) -> None:
    await visit.begin()
    await visit.drip(b"<p>slow</p>")


async def _trickled_head(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    await visit.drip(b"a")


async def _endless_body(visit: Visit) -> None:
    await visit.begin()
    while True:
        await visit.send(_BLOCK)


async def _endless_chunks(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html", "Transfer-Encoding: chunked")
    while True:
        await visit.send(f"{len(_BLOCK):x}\r\n".encode() + _BLOCK + b"\r\n")


async def _tiny_chunks(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html", "Transfer-Encoding: chunked")
    while True:
        await visit.send(b"1\r\na\r\n" * 10_000)


async def _bomb(visit: Visit, coding: str) -> None:
    await visit.begin("Content-Type: text/html", f"Content-Encoding: {coding}")
    for part in bomb(coding, 1_000):
        await visit.send(part)


async def _gzip_members(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html", "Content-Encoding: gzip")
    member = gzip.compress(b"")
    for _ in range(2_000):
        await visit.send(member * 100)


async def _zstd(visit: Visit) -> None:
    await visit.answer(b"\x28\xb5\x2f\xfd" + b"\0" * 5_000, "Content-Type: text/html", "Content-Encoding: zstd")


async def _short(visit: Visit) -> None:
    await visit.answer(length=len(PAGE) + 1_000)


async def _long(visit: Visit) -> None:
    await visit.answer(length=len(PAGE) // 2)


async def _huge_length(visit: Visit) -> None:
    await visit.answer(length=10**15)
    await visit.gone()


async def _negative_length(visit: Visit) -> None:
    await visit.answer(length=-5)


async def _broken_chunks(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html", "Transfer-Encoding: chunked")
    await visit.send(b"zz\r\nthis is no chunk\r\n")


async def _huge_chunk(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html", "Transfer-Encoding: chunked")
    await visit.send(b"ffffffffffffffff\r\n" + PAGE)
    await visit.gone()


async def _header_flood(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        await visit.send(b"".join(b"X-%d-%d: f\r\n" % (number, part) for part in range(500)))


async def _huge_header(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nX-Huge: ")
    while True:
        await visit.send(b"h" * 65_536)


async def _redirects(visit: Visit) -> None:
    number = int(visit.path.rpartition("/")[2]) if visit.path.count("/") > 1 else 0
    await visit.answer(b"", f"Location: /redirects/{number + 1}", status="302 Found")


async def _loop(visit: Visit) -> None:
    await visit.answer(b"", "Location: /redirect-loop", status="301 Moved")


async def _to_private(visit: Visit) -> None:
    await visit.answer(b"", "Location: http://169.254.169.254/latest/meta-data", status="302 Found")


async def _redirect_with_bomb(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html")
    await visit.gone()


async def _endless_redirect(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 302 Found\r\nLocation: /right\r\nConnection: close\r\n\r\n")
    while True:
        await visit.send(_BLOCK)


async def _rot13(visit: Visit) -> None:
    await visit.answer(PAGE, "Content-Type: text/html; charset=rot13")


async def _png(visit: Visit) -> None:
    await visit.answer(b"\x89PNG\r\n\x1a\n" + b"\0" * 200_000)


async def _video(visit: Visit) -> None:
    await visit.begin("Content-Type: video/mp4")
    while True:
        await visit.send(b"\0\0\0\x18ftypmp42" + b"\x11" * 100_000)


async def _no_type(visit: Visit) -> None:
    await visit.answer(PAGE, "X-Nothing: here")


async def _slow_close(visit: Visit) -> None:
    await visit.answer()
    await visit.gone()


async def _no_end(visit: Visit) -> None:
    await visit.begin()
    await visit.send(PAGE)
    await visit.gone()


async def _reset(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n" + PAGE)
    visit.reset()


async def _reset_at_once(visit: Visit) -> None:
    visit.reset()


async def _informational_flood(visit: Visit) -> None:
    while True:
        await visit.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 100)


async def _few_hints(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
    await visit.answer()


async def _http_09(visit: Visit) -> None:
    await visit.send(PAGE)


async def _nulls(visit: Visit) -> None:
    await visit.answer(PAGE.replace(b"evening", b"eve\0ning"))


async def _null_in_header(visit: Visit) -> None:
    await visit.answer(PAGE, "Content-Type: text/html", "X-Null: a\0b")


async def _no_content(visit: Visit) -> None:
    await visit.answer(PAGE, status="204 No Content")


async def _not_modified(visit: Visit) -> None:
    await visit.answer(PAGE, status="304 Not Modified")


async def _status_999(visit: Visit) -> None:
    await visit.answer(PAGE, status="999 Request denied")


async def _status_words(visit: Visit) -> None:
    await visit.answer(PAGE, status="OK fine")


async def _unknown_coding(visit: Visit) -> None:
    await visit.answer(PAGE, "Content-Type: text/html", "Content-Encoding: rot13")


async def _two_codings(visit: Visit) -> None:
    body = gzip.compress(zlib.compress(PAGE))
    await visit.answer(body, "Content-Type: text/html", "Content-Encoding: deflate", "Content-Encoding: gzip")


async def _false_gzip(visit: Visit) -> None:
    await visit.answer(PAGE, "Content-Type: text/html", "Content-Encoding: gzip")


async def _cut_gzip(visit: Visit) -> None:
    await visit.answer(gzip.compress(PAGE)[:-20], "Content-Type: text/html", "Content-Encoding: gzip")


async def _two_lengths(visit: Visit) -> None:
    await visit.answer(PAGE, "Content-Type: text/html", "Content-Length: 5")


async def _never(visit: Visit) -> None:
    await visit.gone()


async def _refresh_page(visit: Visit) -> None:
    await visit.answer(b"<meta http-equiv=refresh content='0; url=http://127.0.0.1/'>")


async def _heavy(visit: Visit, unit: bytes, size: int) -> None:
    await visit.begin("Content-Type: text/html; charset=utf-8")
    await visit.send(b"<!doctype html><title>Heavy</title><p>It begins.</p>")
    part = unit * (65_536 // len(unit))
    for _ in range(size // len(part)):
        await visit.send(part)


async def _entities(visit: Visit) -> None:
    await visit.begin()
    await visit.send(b"<p>" + b"&CounterClockwiseContourIntegral;" * 250_000)


async def _formatting(visit: Visit) -> None:
    await visit.answer(b"".join(b"<p><b id=%d>x" % number for number in range(30_000)))


async def _emoji(visit: Visit) -> None:
    await visit.begin("Content-Type: text/html; charset=utf-8")
    await visit.send(b"<p>\xf0\x9f\x90\x8b" + b"whale " * 1_600_000)


async def _right(visit: Visit) -> None:
    await visit.answer()


Behavior = Callable[[Visit], Awaitable[None]]

BEHAVIORS: dict[str, tuple[Behavior, str]] = {
    "right": (_right, "text"),
    "trickled-body": (_trickled_body, "DeadlineExceeded"),
    "trickled-head": (_trickled_head, "DeadlineExceeded"),
    "never-answers": (_never, "DeadlineExceeded"),
    "no-end": (_no_end, "DeadlineExceeded"),
    "endless-body": (_endless_body, "PageTooLarge DeadlineExceeded"),
    "endless-chunks": (_endless_chunks, "PageTooLarge DeadlineExceeded"),
    "tiny-chunks": (_tiny_chunks, "DeadlineExceeded PageTooLarge"),
    "gzip-bomb": (lambda visit: _bomb(visit, "gzip"), "PageTooLarge"),
    "deflate-bomb": (lambda visit: _bomb(visit, "deflate"), "PageTooLarge"),
    "double-gzip-bomb": (lambda visit: _bomb(visit, "gzip, gzip"), "PageUnavailable"),
    "gzip-members": (_gzip_members, "PageUnavailable"),
    "zstd": (_zstd, "PageUnavailable"),
    "unknown-coding": (_unknown_coding, "PageUnavailable"),
    "two-codings": (_two_codings, "PageUnavailable"),
    "false-gzip": (_false_gzip, "PageUnavailable"),
    "cut-gzip": (_cut_gzip, "PageUnavailable"),
    "length-too-long": (_short, "PageUnavailable"),
    "length-too-short": (_long, "text PageUnavailable"),
    "length-huge": (_huge_length, "PageTooLarge"),
    "length-negative": (_negative_length, "PageUnavailable"),
    "two-lengths": (_two_lengths, "PageUnavailable"),
    "broken-chunks": (_broken_chunks, "PageUnavailable DeadlineExceeded"),
    "huge-chunk": (_huge_chunk, "PageUnavailable DeadlineExceeded"),
    "header-flood": (_header_flood, "PageUnavailable"),
    "huge-header": (_huge_header, "PageUnavailable"),
    "null-in-header": (_null_in_header, "PageUnavailable"),
    "redirects": (_redirects, "TooManyRedirects"),
    "redirect-loop": (_loop, "TooManyRedirects"),
    "redirect-to-metadata": (_to_private, "BlockedAddress"),
    "redirect-with-endless-body": (_endless_redirect, "text"),
    "refresh-only": (_refresh_page, "BlockedAddress"),
    "rot13": (_rot13, "text"),
    "png-as-html": (_png, "UnsupportedContent"),
    "video": (_video, "UnsupportedContent"),
    "no-type": (_no_type, "text"),
    "slow-close": (_slow_close, "text"),
    "reset-in-body": (_reset, "PageUnavailable"),
    "reset-at-once": (_reset_at_once, "PageUnavailable"),
    "hints-flood": (_informational_flood, "PageUnavailable"),
    "hints": (_few_hints, "text"),
    "http-0.9": (_http_09, "PageUnavailable"),
    "nulls": (_nulls, "text"),
    "no-content": (_no_content, "PageEmpty PageUnavailable"),
    "not-modified": (_not_modified, "PageUnavailable"),
    "status-999": (_status_999, "PageRefused PageUnavailable"),
    "status-words": (_status_words, "PageUnavailable"),
    "heavy-nesting": (lambda visit: _heavy(visit, b"<div>", 9_000_000), "Heavy DeadlineExceeded"),
    "heavy-cells": (lambda visit: _heavy(visit, b"<table><tr><td>c", 9_000_000), "Heavy DeadlineExceeded"),
    "heavy-links": (lambda visit: _heavy(visit, b"<a href=/x>to</a> ", 9_000_000), "Heavy DeadlineExceeded"),
    "formatting": (_formatting, "Heavy DeadlineExceeded"),
    "entities": (_entities, "Heavy DeadlineExceeded"),
    "wide-letters": (_emoji, "Heavy DeadlineExceeded"),
}
"""The server's behavior at `/NAME`, and the allowed outcomes: errors, `text` for the page, `Heavy` for any text."""


class HostileServer:
    """A server on loopback; `async with` starts and ends it."""

    def __init__(self) -> None:
        self.sent: dict[str, int] = {}
        """Bytes sent, by behavior."""
        self.faults: list[BaseException] = []
        """Errors of the server itself."""
        self._server: asyncio.Server | None = None
        self._visits: set[asyncio.Task[None]] = set()

    @property
    def origin(self) -> str:
        """Its URL."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=65_536)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        await close_server(self._server)
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._visits.add(task)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 131_072)
        visit = Visit("", reader, writer)
        name = ""
        try:
            line = await reader.readexactly(1)
            if line == b"\x16":  # the first byte of a TLS handshake (RFC 8446, 5.1)
                await visit.send(b"220 no web server here\r\n")
                return
            line += await reader.readline()
            visit.path = line.split()[1].decode() if line.count(b" ") >= 2 else "/right"
            name = visit.path.split("/")[1]
            while (await reader.readline()).strip():
                pass
            await BEHAVIORS[name][0](visit)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except (LookupError, ValueError, OSError) as error:
            self.faults.append(error)
        finally:
            self.sent[name] = self.sent.get(name, 0) + visit.sent[0]
            self._visits.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
