"""Reading one answer: bounded, decoded, shown once, with errors that say what to do."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import (
    DeadlineExceeded,
    PageRefused,
    PageTooLarge,
    PageUnavailable,
    ProviderTimeout,
    ProviderUnreachable,
    UnexpectedResponse,
)
from groundwire.testing import InjectedFault
from groundwire.transport import Head, Transport
from world import World, wire_faults
from world.bombs import bomb_fault

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B2")


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.fixture
def shown() -> list[Head]:
    return []


@pytest.mark.parametrize("body", [b"", b"x", b"x" * 1_023, b"x" * 1_024, b"x" * 300_000])
@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
async def test_the_head_is_shown_once(
    connect: Connect, serve: Serve, response: Response, shown: list[Head], body: bytes, coding: str
) -> None:
    packed = {"": body, "gzip": gzip.compress(body), "deflate": zlib.compress(body)}[coding]
    server: Any = await serve(
        response(packed, Content_Encoding=coding or "identity", Content_Type="Text/Plain; charset=x")
    )
    reply = await connect(server.url).fetch(server.url + "/a#b", deadline=soon(), inspect=shown.append)
    assert reply.body == body
    assert reply.url == server.url + "/a#b"
    assert reply.media_type == "text/plain"
    assert [(head.status, head.start) for head in shown] == [(200, body[:1_024])]
    assert reply.start == body[:1_024]


@pytest.mark.parametrize("error", [ValueError, OSError, PageRefused])
async def test_what_inspect_raises_ends_the_fetch(
    connect: Connect, serve: Serve, response: Response, error: type[Exception]
) -> None:
    server: Any = await serve(lambda _: [response(b"x" * 2_000, Content_Length="9000"), server.hold])
    raised = PageRefused("url", "no") if error is PageRefused else error("no")

    def refuse(head: Head) -> None:
        raise raised

    with pytest.raises(error) as caught:
        await connect(server.url).fetch(server.url, deadline=soon(), inspect=refuse)
    assert caught.value is raised
    await server.ended.wait()


async def test_it_is_shown_before_the_rest_is_read(connect: Connect, serve: Serve, response: Response) -> None:
    class Seen(Exception):
        pass

    def stop(head: Head) -> None:
        raise Seen

    server: Any = await serve(lambda _: [response(b"x" * 1_024, Content_Length="500000"), server.hold])
    with pytest.raises(Seen):
        await connect(server.url).fetch(server.url, deadline=soon(), inspect=stop)


async def test_a_length_beyond_the_cap_is_refused_at_once(
    connect: Connect, serve: Serve, response: Response, shown: list[Head]
) -> None:
    server: Any = await serve(lambda _: [response(b"some", Content_Length="20000000"), server.hold])
    with pytest.raises(PageTooLarge, match="10,000,000"):
        await connect(server.url).fetch(server.url, deadline=soon(), inspect=shown.append)
    assert [head.start for head in shown] == [b"some"]
    await server.ended.wait()


@pytest.mark.parametrize(("size", "fits"), [(5_000, True), (5_001, False)])
@pytest.mark.parametrize("length", [True, False])
async def test_the_cap_is_exact(
    connect: Connect, serve: Serve, response: Response, size: int, fits: bool, length: bool
) -> None:
    body = b"x" * size
    framed = f"{size:x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed
    server: Any = await serve(response(body) if length else chunked)
    fetching = connect(server.url).fetch(server.url, deadline=soon(), cap=5_000)
    if fits:
        assert (await fetching).body == body
    else:
        with pytest.raises(PageTooLarge):
            await fetching


async def test_the_cap_counts_the_wire_too(connect: Connect, serve: Serve) -> None:
    packed = gzip.compress(b"small") + bytes(6_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    server: Any = await serve(lambda _: [head + packed, server.close])
    with pytest.raises(PageTooLarge):
        await connect(server.url).fetch(server.url, deadline=soon(), cap=5_000)


@pytest.mark.parametrize("fault", [bomb_fault("gzip"), bomb_fault("deflate"), wire_faults.endless()], ids=str)
async def test_bombs(world: World, connect: Connect, shown: list[Head], fault: InjectedFault) -> None:
    world.searxng.fail(fault, times=None)
    transport = connect(world.searxng.url)
    with pytest.raises(PageTooLarge):
        await transport.fetch(world.searxng.url, deadline=soon(), inspect=shown.append)
    assert len(shown) == 1
    with pytest.raises(UnexpectedResponse, match="more than"):
        await transport.call("searxng", "GET", world.searxng.url, deadline=soon())


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "gzip"])
async def test_bodies_that_cannot_be_decoded(connect: Connect, serve: Serve, response: Response, coding: str) -> None:
    server: Any = await serve(response(b"plain words, not compressed", Content_Encoding=coding))
    transport = connect(server.url)
    with pytest.raises(PageUnavailable, match=r"The page at 127\.0\.0\.1 "):
        await transport.fetch(server.url, deadline=soon())
    with pytest.raises(UnexpectedResponse, match=r"127\.0\.0\.1:\d+ is "):
        await transport.call("searx", "GET", server.url, deadline=soon())


async def test_truncated_gzip_is_an_error(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(gzip.compress(b"x" * 5_000)[:-9], Content_Encoding="gzip"))
    with pytest.raises(PageUnavailable, match="in the middle"):
        await connect(server.url).fetch(server.url, deadline=soon())


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "200 OK"])
@pytest.mark.parametrize("coding", ["gzip", "br", "gzip, gzip"])
async def test_no_body_needs_no_decoding(
    connect: Connect, serve: Serve, response: Response, status: str, coding: str
) -> None:
    length = "99000000" if status.startswith("304") else "0"
    server: Any = await serve(response(b"", status, Content_Encoding=coding, Content_Length=length))
    transport = connect(server.url)
    for _ in range(2):
        reply = await transport.fetch(server.url, deadline=soon())
        assert (reply.status, reply.body) == (int(status[:3]), b"")
    assert server.connections == 1


@pytest.mark.parametrize("coding", ["br", "gzip"])
async def test_a_failure_is_told_by_its_status_whatever_its_body(
    connect: Connect, serve: Serve, response: Response, shown: list[Head], coding: str
) -> None:
    server: Any = await serve(response(b"busy", "429 Too Many Requests", Content_Encoding=coding, Retry_After="7"))
    transport = connect(server.url)
    reply = await transport.call("searx", "GET", server.url, deadline=soon())
    assert (reply.status, reply.headers["retry-after"]) == (429, "7")
    await transport.fetch(server.url, deadline=soon(), inspect=shown.append)
    assert [head.status for head in shown] == [429]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (InjectedFault.close(), "closed the connection"),
        (InjectedFault.reset(), "closed the connection"),
        (InjectedFault.reset(10), "ended its response early"),
        (InjectedFault.truncated(), "ended its response early"),
        (wire_faults.garbage(), "not HTTP"),
        (wire_faults.endless_headers(), "not HTTP"),
        (InjectedFault.status(200, headers={"X-Long": "x" * 1_000_000}), "not HTTP"),
    ],
    ids=str,
)
async def test_broken_answers(world: World, connect: Connect, fault: InjectedFault, says: str) -> None:
    world.searxng.fail(fault, times=None)
    transport = connect(world.searxng.url)
    with pytest.raises(PageUnavailable, match=f"^127.0.0.1 .*{says}.*Try again later"):
        await transport.fetch(world.searxng.url, deadline=soon())
    with pytest.raises((UnexpectedResponse, ProviderUnreachable), match=rf"^searx: 127.0.0.1:\d+ .*{says}"):
        await transport.call("searx", "POST", world.searxng.url, deadline=soon(), form={"q": "x"})


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"<html>not even a status line</html>\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
    ],
)
async def test_heads_that_are_no_http(connect: Connect, serve: Serve, head: bytes) -> None:
    server: Any = await serve(lambda _: [head, server.close])
    with pytest.raises(PageUnavailable):
        await connect(server.url).fetch(server.url, deadline=soon())


async def test_long_headers_and_odd_bytes_are_read(connect: Connect, serve: Serve, response: Response) -> None:
    fields = {
        "Content_Type": "text/html; charset=\udcff\udcfe",
        "Set_Cookie": "a=b; expires=never; \udcff",
        "Content_Security_Policy": "x" * 20_000,
    }
    server: Any = await serve(response(b"body", **fields))
    transport = connect(server.url)
    reply = await transport.fetch(server.url, deadline=soon())
    assert reply.body == b"body"
    assert reply.content_type == "text/html; charset=??"
    await transport.fetch(server.url, deadline=soon())
    assert b"cookie" not in server.heads[1].lower()


async def test_switching_protocols_is_no_way_to_hold_us(connect: Connect, serve: Serve) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    server: Any = await serve(lambda _: [head, server.hold])
    transport = connect(server.url)
    with contextlib.suppress(DeadlineExceeded):
        assert (await transport.fetch(server.url, deadline=Deadline.after(2))).status == 101
    await transport.aclose()
    await server.ended.wait()


@pytest.mark.parametrize(
    "fault",
    [InjectedFault.hang(), wire_faults.trickle(1), wire_faults.trickle_head(1), InjectedFault.delay(600)],
    ids=str,
)
async def test_the_deadline_holds(world: World, connect: Connect, fault: InjectedFault) -> None:
    world.searxng.fail(fault, times=None)
    transport = connect(world.searxng.url)
    with pytest.raises(DeadlineExceeded, match=r"127\.0\.0\.1 did not respond in time"):
        await transport.fetch(world.searxng.url, deadline=Deadline.after(0.2))
    with pytest.raises(ProviderTimeout, match="searx"):
        await transport.call("searx", "GET", world.searxng.url, deadline=Deadline.after(0.2))


async def test_nothing_is_sent_after_the_deadline(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"ok"))
    transport = connect(server.url)
    await transport.fetch(server.url, deadline=soon())
    with pytest.raises(DeadlineExceeded):
        await transport.fetch(server.url, deadline=Deadline.after(0))
    with pytest.raises(ProviderTimeout):
        await transport.call("searx", "GET", server.url, deadline=Deadline.after(0))
    await transport.fetch(server.url + "/last", deadline=soon())
    assert server.targets == ["/", "/last"]


async def test_one_deadline_for_all_hops(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(
        lambda head: [response(b"", "302 Found", Location="/2")] if head.startswith(b"GET / ") else [server.hold]
    )
    with pytest.raises(DeadlineExceeded):
        await connect(server.url).fetch(server.url, deadline=Deadline.after(2))
    assert server.targets == ["/", "/2"]


async def test_json_bodies(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"[" * 100_000))
    reply = await connect(server.url).call("searx", "GET", server.url, deadline=soon())
    with pytest.raises(ValueError, match="deeply"):
        reply.json()


async def test_errors_carry_no_key_and_no_address(connect: Connect, world: World) -> None:
    transport = connect(f"http://name.test:{world.searxng.port}", resolver=_to_loopback)
    world.searxng.fail(InjectedFault.close(), times=None)
    with pytest.raises(ProviderUnreachable) as caught:
        await transport.call(
            "brave",
            "GET",
            f"http://name.test:{world.searxng.port}/",
            deadline=soon(),
            params={"api_key": "k3y-s3cret"},
            headers={"X-Subscription-Token": "k3y-s3cret"},
        )
    text = str(caught.value)
    assert "name.test" in text
    assert "k3y" not in text
    assert "127." not in text


async def test_refused_connections_name_the_host_only(connect: Connect, world: World) -> None:
    port = world.closed_url.rpartition(":")[2]
    transport = connect(f"http://name.test:{port}", resolver=_to_loopback)
    with pytest.raises(PageUnavailable, match=r"^name\.test refused .* Try again later") as caught:
        await transport.fetch(f"http://name.test:{port}/", deadline=soon())
    assert "127." not in str(caught.value)
    with pytest.raises(ProviderUnreachable, match=r"^searx: name\.test:\d+ refused .* Check its address"):
        await transport.call("searx", "GET", f"http://name.test:{port}/", deadline=soon())


async def _to_loopback(host: str, port: int) -> list[str]:
    await asyncio.sleep(0)
    return ["127.0.0.1"]
