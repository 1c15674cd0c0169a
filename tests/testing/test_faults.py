from __future__ import annotations

import asyncio
import gzip
import importlib
import importlib.util
import itertools
import threading
import zlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, cast

import aiohttp
import pytest

from components.work import growth, memory
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.testing.http_messages import Wire
from world import World, wait_until_idle, wire_faults
from world.bombs import bomb, bomb_fault
from world.virtual_time import run_virtually

Raw = Callable[..., Coroutine[Any, Any, bytes]]


@pytest.fixture
def url(world: World) -> str:
    return f"{world.searxng.url}/search?q=wikipedia&format=json"


def split(received: bytes) -> tuple[bytes, bytes]:
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body


def dechunked(body: bytes) -> bytes:
    data = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        data += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return data


async def test_status(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.status(429, b'{"error": "slow down"}', headers={"Retry-After": "7"}))
    head, body = split(await raw(url))
    assert head.startswith(b"HTTP/1.1 429 Too Many Requests")
    assert b"Retry-After: 7" in head
    assert b"Content-Type: application/json" in head
    assert body == b'{"error": "slow down"}'
    assert (await raw(url)).startswith(b"HTTP/1.1 200")


async def test_faults_queue_and_heal(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.status(500), times=2)
    world.searxng.fail(InjectedFault.status(503), times=None)
    assert [(await raw(url))[9:12] for _ in range(4)] == [b"500", b"500", b"503", b"503"]
    world.searxng.heal()
    assert (await raw(url))[9:12] == b"200"


async def test_a_fault_may_choose_its_requests(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.status(418), when=lambda request: "slow" in request.query.get("q", ""))
    assert (await raw(url))[9:12] == b"200"
    assert (await raw(f"{world.searxng.url}/search?q=slow"))[9:12] == b"418"
    assert (await raw(f"{world.searxng.url}/search?q=slow"))[9:12] == b"200"


def test_faults_are_handed_out_once_each_across_threads(world: World) -> None:
    def plan() -> None:
        for _ in range(50):
            world.searxng.fail(InjectedFault.close())

    threads = [threading.Thread(target=plan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def ask() -> list[bytes]:
        async def one() -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", world.searxng.port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            return answer

        return await asyncio.gather(*(one() for _ in range(230)))

    answers = asyncio.run(ask())
    assert answers.count(b"") == 200
    assert len(world.searxng.requests) == 230


async def test_delay_then_the_normal_answer(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.delay(0.05))
    assert (await raw(url)).startswith(b"HTTP/1.1 200")


def test_a_delay_is_as_long_as_it_says() -> None:
    class Noting:
        async def send(self, reply: EmulatedResponse) -> float:
            return asyncio.get_running_loop().time()

    async def main() -> Any:
        return await InjectedFault.delay(30.0).play(cast("Wire", Noting()), EmulatedResponse.text("late"))

    assert run_virtually(main()) == pytest.approx(30.0)


async def test_hang(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.hang())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await raw(url, limit=1)
    await asyncio.to_thread(world.searxng.wait_for_requests, 1)


async def test_close(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.close())
    assert await raw(url) == b""


async def test_reset(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.reset())
    with pytest.raises(ConnectionResetError):
        await raw(url)


@pytest.mark.parametrize("after", [0, 20, 1_000_000])
async def test_reset_within_the_body(world: World, url: str, after: int) -> None:
    world.searxng.fail(InjectedFault.reset(after))
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        with pytest.raises(aiohttp.ClientError):
            await answer.read()


async def test_a_reset_never_follows_a_complete_response(world: World, url: str) -> None:
    """A client would use such a connection again, and the next request fail by it or not, as it happens."""
    world.searxng.fail(InjectedFault.reply("none", lambda _: EmulatedResponse(fault=InjectedFault.reset(after=0))))
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        with pytest.raises(aiohttp.ClientError):
            await answer.read()


async def test_trickle(world: World, url: str, raw: Raw) -> None:
    healthy = split(await raw(url))[1]
    world.searxng.fail(wire_faults.trickle(0.0))
    head, body = split(await raw(url))
    assert f"Content-Length: {len(healthy)}".encode() in head
    assert body == healthy
    world.searxng.fail(wire_faults.trickle(60))
    head, body = split(await raw(url, limit=len(head) + 5))
    assert body == healthy[:1]


async def test_trickle_head(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(wire_faults.trickle_head(60))
    assert await raw(url, limit=1) == b"H"
    world.searxng.fail(wire_faults.trickle_head(0.0))
    assert (await raw(url)).startswith(b"HTTP/1.1 200 OK\r\n")


async def test_truncated(world: World, url: str, raw: Raw) -> None:
    healthy = split(await raw(url))[1]
    world.searxng.fail(InjectedFault.truncated(7), times=2)
    head, body = split(await raw(url))
    assert f"Content-Length: {len(healthy) + 7}".encode() in head
    assert body == healthy
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()


async def test_wrong_length(world: World, url: str, raw: Raw) -> None:
    healthy = split(await raw(url))[1]
    world.searxng.fail(wire_faults.wrong_length())
    head, body = split(await raw(url))
    assert f"Content-Length: {len(healthy) // 2}".encode() in head
    assert body == healthy


async def test_garbage(world: World, url: str) -> None:
    world.searxng.fail(wire_faults.garbage())
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.get(url)


async def test_wrong_json(world: World, url: str, raw: Raw) -> None:
    healthy = split(await raw(url))[1]
    world.searxng.fail(InjectedFault.wrong_json())
    head, body = split(await raw(url))
    assert b"Content-Type: application/json" in head
    assert body == healthy[: len(healthy) // 2]


async def test_html_for_json(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.html_for_json())
    head, body = split(await raw(url))
    assert head.startswith(b"HTTP/1.1 200")
    assert b"text/html" in head
    assert b"captcha" in body


async def test_empty_body(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.empty_body())
    head, body = split(await raw(url))
    assert b"Content-Length: 0" in head
    assert b"application/json" in head
    assert body == b""


async def test_not_gzip(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(wire_faults.not_gzip())
    head, body = split(await raw(url))
    assert b"Content-Encoding: gzip" in head
    assert body.startswith(b"{")


async def test_redirect_is_sent_as_given(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(InjectedFault.redirect("http://169.254.169.254/ x", 307))
    head, _ = split(await raw(url))
    assert head.startswith(b"HTTP/1.1 307")
    assert b"Location: http://169.254.169.254/ x\r\n" in head


@pytest.mark.parametrize(
    ("encoding", "bits"), [("gzip", (31,)), ("deflate", (15,)), ("gzip, gzip", (31, 31)), ("deflate, gzip", (31, 15))]
)
async def test_bomb(world: World, url: str, raw: Raw, encoding: str, bits: tuple[int, ...]) -> None:
    world.searxng.fail(bomb_fault(encoding, mb=20))
    head, body = split(await raw(url))
    assert f"Content-Encoding: {encoding}".encode() in head
    data = dechunked(body)
    assert len(data) < 60_000
    for window in bits:
        data = zlib.decompress(data, window)
    assert data == b" " * 20_000_000


def test_bomb_costs_the_server_little() -> None:
    assert gzip.decompress(b"".join(bomb("gzip", 3))) == b" " * 3_000_000
    assert sum(map(len, bomb("gzip", 200))) < 300_000
    assert growth(lambda mb: list(bomb("gzip", mb)), 25, 100) < 5
    assert memory(lambda: sum(map(len, bomb("gzip", 200)))) < 4_000_000


def test_brotli_bomb_or_what_is_missing() -> None:
    if importlib.util.find_spec("brotli") is None:
        with pytest.raises(ValueError, match=r"Brotli is not installed: .*brotli"):
            bomb_fault("br")
    else:
        assert importlib.import_module("brotli").decompress(b"".join(bomb("br", 3))) == b" " * 3_000_000


@pytest.mark.parametrize("encoding", ["lzma", "gzip, br", ""])
def test_unknown_bombs_are_told_at_once(encoding: str) -> None:
    with pytest.raises(ValueError, match="gzip"):
        bomb_fault(encoding)


async def test_endless_body(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(wire_faults.endless(b"again " * 1000))
    received = await raw(url, limit=1_000_000)
    assert len(received) == 1_000_000
    assert dechunked(split(received)[1])[:12_000] == b"again " * 2000


async def test_endless_headers(world: World, url: str, raw: Raw) -> None:
    world.searxng.fail(wire_faults.endless_headers())
    received = await raw(url, limit=1_000_000)
    assert len(received) == 1_000_000
    assert b"\r\n\r\n" not in received
    assert b"X-Filler-100: " in received


class Inside(EmulatedServer):
    """Says how many tasks the thread of the world has."""

    def __init__(self) -> None:
        super().__init__("inside")

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse.text(str(len(asyncio.all_tasks())))


@pytest.mark.parametrize("fault", [InjectedFault.hang(), wire_faults.endless(), wire_faults.endless_headers()], ids=str)
async def test_no_work_once_the_client_is_gone(world: World, url: str, raw: Raw, fault: InjectedFault) -> None:
    inside = world.add(Inside())

    async def tasks() -> bytes:
        return split(await raw(inside.url))[1]

    before = await tasks()
    world.searxng.fail(fault, times=5)
    for number in range(5):
        reading = asyncio.create_task(raw(url))
        await asyncio.to_thread(world.searxng.wait_for_requests, number + 1)
        reading.cancel()
    await asyncio.to_thread(wait_until_idle, world.searxng)
    while await tasks() != before:
        pass  # a connection that has ended has a few steps to go


async def test_a_client_that_does_not_read_costs_nothing(world: World, raw: Raw) -> None:
    sent = itertools.count()
    world.searxng.fail(
        InjectedFault.reply("counted", lambda reply: replace(reply, chunks=lambda: (b"%09d" % n * 500 for n in sent)))
    )
    _, writer = await asyncio.open_connection("127.0.0.1", world.searxng.port, limit=1024)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.to_thread(world.searxng.wait_for_requests, 1)

    async def sent_meanwhile() -> int:
        before = next(sent)
        for _ in range(5):
            await raw(f"{world.site('docs').url}/")
        return next(sent) - before - 1

    while await sent_meanwhile():
        pass  # what is sent at first fills the buffers of the kernel
    writer.close()


async def test_faults_work_on_sites_too(world: World, raw: Raw) -> None:
    articles = world.site("articles")
    for fault in (InjectedFault.close(), InjectedFault.status(503)):
        articles.fail(fault)
    answers = [await raw(articles.page("bm25")) for _ in range(3)]
    assert [answer[9:12] for answer in answers] == [b"", b"503", b"200"]


def test_faults_are_values() -> None:
    assert InjectedFault.status(429) == InjectedFault.status(429)
    assert repr(InjectedFault.delay(0.3)) == "InjectedFault(label='delay(0.3)')"
    made = [
        InjectedFault.hang(),
        InjectedFault.close(),
        InjectedFault.reset(),
        wire_faults.garbage(),
        wire_faults.endless(),
        bomb_fault(),
    ]
    assert all(a != b for a, b in itertools.combinations(made, 2))
