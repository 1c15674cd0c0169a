"""Connections that wait for nobody for ever."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.fair_queue import CURRENT_TENANT
from groundwire_server.auth.admission import Admission
from groundwire_server.uvicorn_runner import InvalidRequests, bounded, serving

Serve = Callable[..., Any]


async def connect(gateway: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", gateway.port)


@pytest.mark.parametrize("data", [b"", b"\r\n\r\n"])
async def test_a_connection_that_says_nothing_is_closed(serve: Serve, data: bytes) -> None:
    gateway = await serve(bounds={"head_timeout": 0.05, "idle_timeout": 0.05})
    reader, writer = await connect(gateway)
    writer.write(data)
    assert await reader.read() == b""
    writer.close()


async def test_the_time_of_a_head_begins_with_its_first_byte(serve: Serve) -> None:
    """A client that opens a connection before it needs it, or that has no time to send, is not cut off."""
    gateway = await serve(bounds={"head_timeout": 0.05})
    (reader, writer), (late_reader, late_writer) = [await connect(gateway) for _ in range(2)]
    late_writer.write(b"GET ")
    assert b" 408 " in await late_reader.read()  # so much time has passed
    await get(reader, writer)
    for each in (writer, late_writer):
        each.close()


async def drip(writer: asyncio.StreamWriter, answered: asyncio.Task[bytes], data: bytes) -> int:
    """Send a byte at a time until there is an answer; return how many were sent."""
    for number, byte in enumerate(data):
        if answered.done() or writer.is_closing():
            return number
        writer.write(bytes([byte]))
        await asyncio.wait({answered}, timeout=0.02)
    return len(data)


async def test_a_head_that_drips_is_not_waited_for(serve: Serve) -> None:
    gateway = await serve(bounds={"head_timeout": 2.0})
    reader, writer = await connect(gateway)
    answered = asyncio.create_task(reader.read())
    sent = await drip(writer, answered, b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: b\r\n" * 50)
    assert 0 < sent < 200
    assert b" 408 " in await answered
    assert gateway.echo.seen == []
    writer.close()


async def test_the_second_head_of_a_connection_is_not_waited_for_either(serve: Serve) -> None:
    gateway = await serve(bounds={"head_timeout": 2.0})
    reader, writer = await connect(gateway)
    writer.write(b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(size)
    answered = asyncio.create_task(reader.read())
    assert await drip(writer, answered, b"GET /y HTTP/1.1\r\n" + b"X-A: b\r\n" * 50) < 200
    assert b" 408 " in await answered
    assert gateway.echo.seen == ["/x"]
    writer.close()


async def test_a_long_request_is_waited_for(serve: Serve) -> None:
    gateway = await serve(bounds={"head_timeout": 0.05})
    client = socket.create_connection(("127.0.0.1", gateway.port))
    client.sendall(
        b"GET /wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    )  # is there before the server knows of the connection
    reader, writer = await asyncio.open_connection(sock=client)
    await gateway.echo.entered.wait()
    await asyncio.sleep(0.15)  # three times as long as a head may take
    gateway.echo.go.set()
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_requests_in_a_row_are_answered_in_a_row(serve: Serve) -> None:
    gateway = await serve(bounds={"head_timeout": 30.0})
    reader, writer = await connect(gateway)
    one = "GET /{} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n"
    writer.write(
        "".join(one.format(number, "" if number < 4 else "Connection: close\r\n") for number in range(5)).encode()
    )
    said = await reader.read()
    assert said.count(b"HTTP/1.1 200") == 5
    assert gateway.echo.seen == [f"/{number}" for number in range(5)]
    writer.close()


async def test_the_rest_of_a_body_that_nobody_wants_is_not_waited_for(serve: Serve) -> None:
    gateway = await serve(bounds={"head_timeout": 2.0})
    reader, writer = await connect(gateway)
    writer.write(b"POST /deaf HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    ended = asyncio.create_task(reader.read())
    assert await drip(writer, ended, b"x" * 500) < 200
    await asyncio.wait({ended}, timeout=100)
    assert ended.done()
    ended.exception()
    writer.close()


async def test_a_client_that_does_not_read_is_not_waited_for(serve: Serve) -> None:
    gateway = await serve(bounds={"unread_timeout": 0.1})
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, ("127.0.0.1", gateway.port))
        await loop.sock_sendall(client, b"GET /huge HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await gateway.echo.ended.wait()


async def test_no_more_connections_than_there_may_be(serve: Serve) -> None:
    gateway = await serve(bounds={"connections": 1})
    held = asyncio.create_task(gateway.ask("/wait"))
    await gateway.echo.entered.wait()
    reader, writer = await connect(gateway)
    writer.write(b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n" + b"x" * 50_000)
    said = await reader.read()
    assert said.startswith(b"HTTP/1.1 503 ")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["code"] == "overloaded"
    writer.close()
    gateway.echo.go.set()
    assert (await held).status == 200


async def get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: bytes = b"") -> None:
    """Send a request, and read its answer."""
    writer.write(b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n" % headers)
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))


async def test_the_longest_idle_connection_ends_for_one_more(serve: Serve) -> None:
    gateway = await serve(bounds={"connections": 2})
    (first, to_first), (second, to_second) = [await connect(gateway) for _ in range(2)]
    await get(first, to_first)
    await get(second, to_second)
    await get(first, to_first)
    assert (await gateway.ask("/x")).status == 200
    assert await second.read() == b""
    await get(first, to_first)
    to_first.close()
    to_second.close()


async def test_who_has_no_valid_key_costs_no_one_else_an_idle_connection(serve: Serve) -> None:
    admission = Admission(100, clock=lambda: 0.0)
    gateway = await serve(bounds={"connections": 2, "admission": admission})
    admission.note(gateway.key().encode(), "ci")
    key = b"X-API-Key: %s\r\n" % gateway.made[0].encode()
    (known, to_known), (stranger, to_stranger) = [await connect(gateway) for _ in range(2)]
    await get(known, to_known, key)
    await get(stranger, to_stranger, key.replace(b"gw_", b"gw-"))
    assert (await gateway.ask("/x")).status == 401
    await get(known, to_known, key)
    assert await stranger.read() == b""
    to_known.close()
    to_stranger.close()


async def test_the_server_does_not_close_connections_that_clients_would_use_again(serve: Serve) -> None:
    """As it would do with `idle_timeout` of 5 s, which is uvicorn's default and that of httpx."""
    assert bounded()["timeout_keep_alive"] > 60  # which load balancers keep them for
    gateway = await serve(bounds={"idle_timeout": 0.01})
    reader, writer = await connect(gateway)
    await get(reader, writer)
    assert await reader.read() == b""
    writer.close()


async def test_a_connection_without_a_request_ends_for_one_more(serve: Serve) -> None:
    gateway = await serve(bounds={"connections": 2})
    (first, to_first), (_, to_second) = [await connect(gateway) for _ in range(2)]
    to_first.write(b"GET /x HTTP/1.1\r\nHost: ")
    assert (await gateway.ask("/x")).status == 200
    assert (await first.read()).startswith(b"HTTP/1.1 503 ")
    to_first.close()
    to_second.close()


@pytest.mark.parametrize("lines", [b"X-A: b\r\n" * 8_000, b"X-A: " + b"b" * 40_000 + b"\r\n", b"X-A: " + b"b" * 40_000])
async def test_a_head_that_is_too_large_is_not_read_to_its_end(serve: Serve, lines: bytes) -> None:
    gateway = await serve()
    answer = await gateway.raw(b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines + b"\r\n", close=False)
    assert answer.status in (400, 431), "all of it may be there at once"
    assert gateway.echo.seen == []


async def test_a_url_that_is_too_long_is_not_read(serve: Serve) -> None:
    gateway = await serve()
    line = b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\n"
    assert (await gateway.raw(line + b"Host: 127.0.0.1\r\n\r\n", close=False)).status in (400, 414)


async def test_blanks_around_a_headers_value_are_no_part_of_it(serve: Serve) -> None:
    gateway = await serve()
    head = b"GET /x HTTP/1.1\r\nHost:127.0.0.1 \t\r\nX-API-Key: \t" + gateway.key().encode() + b"  \r\n\r\n"
    assert (await gateway.raw(head, close=False)).status == 200


async def test_what_follows_a_body_is_no_header(serve: Serve) -> None:
    gateway = await serve(require_key=True)
    head = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = await gateway.raw(head + b"0\r\nX-API-Key: " + gateway.key().encode() + b"\r\n\r\n", close=False)
    assert answer.status == 401


BUSY = b"HTTP/1.1 503 "
LAST = b"\r\nconnection: close\r\n"
GET = b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}"


def full() -> Admission:
    """Return an admission that has no room for anyone; the clock of a test stands still."""
    admission = Admission(1, lambda: 100.0, queue=0)
    admission.note(b"127.0.0.1", "127.0.0.1")
    return admission


async def test_a_request_for_which_there_is_no_room_is_refused_before_it_is_parsed(serve: Serve) -> None:
    admission = full()
    gateway = await serve(bounds={"admission": admission})
    reader, writer = await connect(gateway)
    for request in (GET, POST, GET):  # on one connection
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(BUSY)
        assert LAST not in head
        assert b"\r\nretry-after: 1\r\n" in head
        size = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        assert json.loads(await reader.readexactly(size))["error"]["code"] == "overloaded"
    assert (gateway.echo.seen, admission.refused) == ([], 3)
    admission.queue = 1
    writer.write(GET)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.close()


@pytest.mark.parametrize(
    "request_",
    [
        GET + GET,
        b"HEAD" + GET[3:],
        POST[:-1],
        POST + b"GET",
        POST.replace(b"Connection: keep-alive", b"Connection: close"),
        POST.replace(b"Connection: keep-alive", b"Transfer-Encoding: chunked"),
        POST.replace(b"Connection: keep-alive", b"Content-Length: 2"),
        POST.replace(b"Content-Length: 2", b"Content-Length : 2"),
        POST.replace(b"Content-Length: 2", b"Content-Length: +2"),
        b"GET /x",
    ],
)
async def test_what_is_not_sure_to_be_one_whole_request_is_refused_with_the_end_of_its_connection(
    serve: Serve, request_: bytes
) -> None:
    gateway = await serve(bounds={"admission": full()})
    reader, writer = await connect(gateway)
    writer.write(request_)
    said = await reader.read()  # to its end
    assert said.count(BUSY) == 1
    assert LAST in said
    assert gateway.echo.seen == []
    writer.close()


async def test_health_is_told_when_there_is_no_room(serve: Serve) -> None:
    gateway = await serve(bounds={"admission": full()})
    for path in ("/healthz", "/readyz"):
        assert (await gateway.ask(path)).status == 200


async def test_a_client_that_is_not_known_yet_is_let_in_once_in_an_interval(serve: Serve) -> None:
    admission = full()
    gateway = await serve(bounds={"admission": admission}, require_key=True)
    key = gateway.key("alice")
    assert (await gateway.ask("/x", key=key)).status == 200
    assert (await gateway.ask("/x", key=key)).status == 503
    for _ in range(10):
        admission.observe(0.0)
    assert (await gateway.ask("/x", key=key)).status == 200


async def test_invalid_requests_are_logged_with_their_address_and_not_one_by_one(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    now = [0.0]
    gateway = await serve(bounds={"invalid": InvalidRequests(lambda: now[0])})
    for _ in range(20):
        assert (await gateway.raw(b"\x16\x03\x01 this is not HTTP\r\n\r\n")).status == 400
    now[0] = 10.0
    assert (await gateway.raw(b"GET\r\n\r\n")).status == 400
    assert (await gateway.ask("/x", Connection="Upgrade", Upgrade="websocket")).status == 200
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "Invalid HTTP request from 127.0.0.1",
        "Invalid HTTP request from 127.0.0.1; 19 more since the last such line",
    ]


async def test_a_request_does_not_begin_as_that_of_the_tenant_before_it_on_the_connection() -> None:
    """As tenants behind a load balancer share connections; a large body pauses the reading of one."""
    tenants: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        tenants.append(CURRENT_TENANT.get())
        CURRENT_TENANT.set("alice")
        while (await receive()).get("more_body"):
            pass
        await Response()(scope, receive, send)

    async with serving(app) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        for size in (1_000_000, 1):
            writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (size, bytes(size)))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.close()
    assert tenants == ["", ""]
