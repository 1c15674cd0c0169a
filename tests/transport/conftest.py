from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from groundwire.safety.guard import Guard, Resolver
from groundwire.transport import Transport
from groundwire.transport.connector import close_server

Answer = Callable[[bytes], Iterable[bytes]]


class RawServer:
    """A listener on 127.0.0.1 that counts connections, keeps the request heads and answers with given bytes.

    `answer` gets a request's head. Its last part being `hold` leaves the connection open without more bytes,
    `close` closes it; otherwise the next request is read.
    """

    hold = b"\0hold"
    close = b"\0close"

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.context = context
        self.connections = 0
        self.heads: list[bytes] = []
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [head.split(b" ", 2)[1].decode("latin-1") for head in self.heads]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context, backlog=256)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            await close_server(self._server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._exchanges(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.ended.set()
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchanges(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            self.asked.set()
            for part in self.answer(head):
                if part == self.close:
                    return
                if part == self.hold:
                    await reader.read()
                    return
                writer.write(part)
                await writer.drain()


class Forwarder:
    """A forward proxy on 127.0.0.1: absolute addresses and CONNECT, all led to one upstream port."""

    def __init__(self) -> None:
        self.upstream = 0
        self.refuse = b""
        self.heads: list[bytes] = []
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            await close_server(self._server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            if self.refuse:
                writer.write(self.refuse)
                await writer.drain()
                return
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream)
            try:
                if head.startswith(b"CONNECT "):
                    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    up_writer.write(head)
                await asyncio.gather(_copy(reader, up_writer), _copy(up_reader, writer))
            finally:
                up_writer.close()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


def plain(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return one whole answer; an underscore in a header's name stands for a hyphen."""
    fields = {"Content-Length": str(len(body))} | {name.replace("_", "-"): text for name, text in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {text}" for name, text in fields.items()), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


@pytest.fixture
def response() -> Callable[..., bytes]:
    return plain


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    """Start raw servers; give an answer, the same for all requests, or a function of the request's head."""
    started: list[RawServer] = []

    async def start(answer: bytes | Answer = b"", *, context: ssl.SSLContext | None = None) -> RawServer:
        server = RawServer((lambda _: [answer]) if isinstance(answer, bytes) else answer, context)
        await server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        await server.stop()


@pytest.fixture
async def listener() -> AsyncIterator[RawServer]:
    """A server that nobody may ever reach."""
    server = RawServer(lambda _: [plain(b"secret")])
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def forwarder() -> AsyncIterator[Forwarder]:
    server = Forwarder()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Transport]]:
    """Make transports to which the given origins are open; they are closed at the end."""
    made: list[Transport] = []

    def make(*origins: str, resolver: Resolver | None = None, guard: Guard | None = None, proxy: str = "") -> Transport:
        transport = Transport(guard or Guard(allowed_origins=origins, resolver=resolver), proxy=proxy)
        made.append(transport)
        return transport

    yield make
    for transport in made:
        await transport.aclose()
