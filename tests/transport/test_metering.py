"""What comes from the wire is bounded whatever stands in it: framing of chunks, heads, interim answers."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from components.authority import Authority
from groundwire.deadline import Deadline
from groundwire.errors import PageTooLarge, PageUnavailable, UnexpectedResponse
from groundwire.transport import Transport
from groundwire.transport.connector import HEAD_ALLOWANCE, MeteredSocket
from groundwire.transport.errors import Overrun

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B2")

_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 100


def soon() -> Deadline:
    return Deadline.after(60)


def chunks(data: bytes, size: int, extension: bytes = b"") -> bytes:
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts) + b"0\r\n\r\n"


def counted(parts: Iterator[bytes], sent: list[int]) -> Iterator[bytes]:
    for part in parts:
        sent.append(len(part))
        yield part


@pytest.mark.parametrize("size", [1, 7, 4_096])
async def test_a_body_in_chunks_of_any_size_is_whole(connect: Connect, serve: Serve, size: int) -> None:
    body = bytes(range(256)) * 32
    server: Any = await serve(_CHUNKED + chunks(body, size))
    reply = await connect(server.url).fetch(server.url, deadline=soon(), cap=len(body))
    assert reply.body == body


async def test_a_body_up_to_its_cap_in_ordinary_chunks_is_whole(connect: Connect, serve: Serve) -> None:
    body = b"x" * 3_000_000
    server: Any = await serve(_CHUNKED + chunks(body, 1_024))
    assert len((await connect(server.url).fetch(server.url, deadline=soon(), cap=len(body))).body) == len(body)


@pytest.mark.parametrize("extension", [b"", b";" + b"x" * 500], ids=["small", "extended"])
async def test_more_framing_than_body_is_too_large(connect: Connect, serve: Serve, extension: bytes) -> None:
    sent: list[int] = []
    flood = chunks(b"x" * 1_000, 1, extension)[: -len(b"0\r\n\r\n")]
    server: Any = await serve(lambda _: counted(chain([_CHUNKED], repeat(flood, 2_000)), sent))
    with pytest.raises(PageTooLarge, match="more than 400,000 bytes"):
        await connect(server.url).fetch(server.url, deadline=soon(), cap=400_000)
    await server.ended.wait()
    assert sum(sent) < 10_000_000


async def test_interim_answers_without_end_are_refused(connect: Connect, serve: Serve) -> None:
    sent: list[int] = []
    server: Any = await serve(lambda _: counted(repeat(_HINTS, 2_000), sent))
    with pytest.raises(PageUnavailable, match="headers that never end"):
        await connect(server.url).fetch(server.url, deadline=soon())
    await server.ended.wait()
    assert HEAD_ALLOWANCE < sum(sent) < 10_000_000


async def test_interim_answers_of_a_provider_are_no_answer(connect: Connect, serve: Serve) -> None:
    server: Any = await serve(lambda _: repeat(_HINTS, 2_000))
    with pytest.raises(UnexpectedResponse, match="headers that never end"):
        await connect(server.url).call("brave", "GET", server.url, deadline=soon())


async def test_a_connection_lasts_for_any_number_of_answers(connect: Connect, serve: Serve, response: Response) -> None:
    """Small answers are here before anybody reads them; large ones have an allowance of their own."""
    large, small = response(b"x" * 300_000), response(b"x" * 40_000)
    server: Any = await serve(lambda head: [large if b"/large" in head else _HINTS + small])
    transport = connect(server.url)
    for number in range(40):
        path = "/large" if number % 4 == 0 else "/small"
        assert (await transport.fetch(server.url + path, deadline=soon(), cap=300_000)).status == 200
    assert server.connections == 1


async def test_what_a_large_body_was_allowed_is_not_left_to_the_next_head(
    connect: Connect, serve: Serve, response: Response
) -> None:
    sent: list[int] = []
    large = response(b"x" * 300_000)
    server: Any = await serve(lambda head: [large] if b"/large" in head else counted(repeat(_HINTS, 2_000), sent))
    transport = connect(server.url)
    assert (await transport.fetch(server.url + "/large", deadline=soon(), cap=50_000_000)).status == 200
    with pytest.raises(PageUnavailable, match="headers that never end"):
        await transport.fetch(server.url + "/hints", deadline=soon())
    await server.ended.wait()
    assert sum(sent) < 10_000_000


async def test_bytes_under_tls_are_counted(serve: Serve, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server: Any = await serve(lambda _: [b"x" * 2_000_000, b"\0close"], context=authority.context("localhost"))
    metered = MeteredSocket(socket.AF_INET, socket.SOCK_STREAM)
    metered.setblocking(False)
    await asyncio.get_running_loop().sock_connect(metered, ("127.0.0.1", server.port))
    context = ssl.create_default_context(cafile=authority.ca_file)
    reader, writer = await asyncio.open_connection(sock=metered, ssl=context, server_hostname="localhost")
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises(Overrun):
        await reader.read()
    assert metered.overrun
    writer.close()
    with pytest.raises(Overrun):
        await writer.wait_closed()
