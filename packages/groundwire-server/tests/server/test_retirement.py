"""A process that leaves its socket to others loses no request, not even of a client with an idle connection."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from components.held import Held
from groundwire import Settings
from groundwire.testing.http_messages import Recorded
from groundwire_server.api import Gateway, build_gateway
from groundwire_server.uvicorn_runner import RETIRE, bounded, listen, run
from world import World

pytestmark = [pytest.mark.req("B18"), pytest.mark.skipif(sys.platform == "win32", reason="it has no signals")]

GET = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
BODY = b'{"query": "reciprocal rank fusion", "timeout": 60}'
SEARCH = b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SEARCH += b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Client:
    """A connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def answer(self) -> tuple[int, bool]:
        """Return the status of the next response, and whether it ends the connection."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        await self.reader.readexactly(int(head.partition(b"content-length: ")[2].split()[0]))
        if ends := b"\r\nconnection: close\r\n" in head:
            await self.end()
        return int(head.split()[1]), ends

    async def end(self) -> None:
        """Wait until the server has ended the connection."""
        assert await self.reader.read() == b""
        self.writer.close()

    async def ask(self, request: bytes) -> tuple[int, bool]:
        self.writer.write(request)
        return await self.answer()


class Calls:
    """The calls of a gateway, and the connections without a request when it began to refuse calls."""

    def __init__(self, gateway: Gateway, http: Any) -> None:
        self.idle_when_drained = -1
        self._traffic = gateway.traffic
        self._http = http

    def __getattr__(self, name: str) -> Any:
        return getattr(self._traffic, name)

    def drain(self) -> None:
        self.idle_when_drained = sum(map(len, (self._http.silent, *self._http.idle)))
        self._traffic.drain()


class Process:
    """A gateway that is one of several processes, in this one."""

    def __init__(self, calls: Calls, port: int, served: asyncio.Task[int], retired: asyncio.Event) -> None:
        self.calls = calls
        self.served = served
        self._port = port
        self._retired = retired

    async def client(self) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self._port))

    def connected(self) -> socket.socket:
        """Connect before the server's loop goes on."""
        connection = socket.create_connection(("127.0.0.1", self._port))
        connection.setblocking(False)
        return connection

    async def retire(self) -> None:
        os.kill(os.getpid(), RETIRE)
        await self._retired.wait()


@asynccontextmanager
async def serving(
    settings: Callable[..., Settings],
    idle_timeout: float,
    in_front: Callable[[Gateway], ASGIApp] = lambda gateway: gateway,
) -> AsyncIterator[Process]:
    begun, retired, bounds = asyncio.Event(), asyncio.Event(), bounded(idle_timeout=idle_timeout)
    with listen("127.0.0.1", 0) as listener:
        async with build_gateway(settings(), page=False) as gateway:
            calls = Calls(gateway, bounds["http"])
            options: dict[str, Any] = {"calls": calls, "grace": 60.0, "say": lambda _: None}
            options |= {"retire": retired.set, "options": bounds}
            served = asyncio.create_task(run(in_front(gateway), listener, begun.set, **options))
            await begun.wait()
            yield Process(calls, listener.getsockname()[1], served, retired)
            served.cancel()
            await asyncio.gather(served, return_exceptions=True)


async def test_it_answers_on_idle_connections_until_it_would_close_them(settings: Callable[..., Settings]) -> None:
    async with serving(settings, 1.0) as process:
        client = await process.client()
        assert await client.ask(GET % b"/healthz") == (200, False)
        await process.retire()
        await client.end()
        assert await process.served == 0
        assert process.calls.idle_when_drained == 0, "a request on it would have been refused"


async def test_it_answers_on_a_connection_that_came_at_that_moment(settings: Callable[..., Settings]) -> None:
    """The loop learns of both at once, first of the signal: the connection is accepted, and has no server yet."""
    async with serving(settings, 300.0) as process:
        signal.raise_signal(RETIRE)
        with process.connected() as connection:
            client = Client(*await asyncio.open_connection(sock=connection))
            assert await client.ask(GET % b"/healthz") == (200, True)
        assert await process.served == 0


async def test_it_ends_when_no_connection_is_left(settings: Callable[..., Settings], world: World) -> None:
    loop, asked, held = asyncio.get_running_loop(), asyncio.Event(), Held()

    def note(_request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    async with serving(settings, 300.0) as process:
        idle, running, silent = [await process.client() for _ in range(3)]
        assert await idle.ask(GET % b"/readyz") == (200, False)
        world.searxng.fail(held.fault, when=note)
        running.writer.write(SEARCH)
        await asked.wait()
        await process.retire()
        assert await idle.ask(GET % b"/readyz") == (200, True), "the server as a whole is ready"
        held.release()
        assert await running.answer() == (200, True), "although it began before"
        assert await silent.ask(SEARCH) == (200, True)
        assert await process.served == 0


async def test_it_answers_a_request_that_is_no_call_yet(settings: Callable[..., Settings]) -> None:
    """As while its key is looked up, or while it waits for its turn."""
    came, goes_on = asyncio.Event(), asyncio.Event()

    def holding(gateway: Gateway) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            came.set()
            await goes_on.wait()
            await gateway(scope, receive, send)

        return app

    async with serving(settings, 300.0, holding) as process:
        client = await process.client()
        client.writer.write(SEARCH)
        await came.wait()
        await process.retire()
        for _ in range(10):
            await asyncio.sleep(0)
        goes_on.set()
        assert await client.answer() == (200, True)
        assert await process.served == 0


async def test_a_signal_to_stop_does_not_wait_for_idle_connections(
    settings: Callable[..., Settings], world: World
) -> None:
    async with serving(settings, 300.0) as process:
        client = await process.client()
        assert await client.ask(GET % b"/healthz") == (200, False)
        await process.retire()
        os.kill(os.getpid(), 15)
        await client.end()
        assert await process.served == 15
