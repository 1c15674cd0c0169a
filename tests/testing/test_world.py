from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

import pytest

from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.testing.site import Site
from groundwire.testing.world import World as ShippedWorld
from world import World, wait_until_idle, wire_faults

Raw = Callable[..., Awaitable[bytes]]


def running() -> int:
    return sum(thread.name == "world" for thread in threading.enumerate())


def test_it_leaves_no_thread() -> None:
    before = running()
    with World() as world:
        port = world.searxng.port
    assert running() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_twenty_worlds_in_a_row() -> None:
    before = running()
    for _ in range(20):
        with World() as world, socket.create_connection(("127.0.0.1", world.site("docs").port), timeout=60) as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert peer.recv(12) == b"HTTP/1.1 200"
    assert running() == before


async def test_the_world_that_ships_serves_what_the_demo_needs_or_the_sites_it_is_given(raw: Raw) -> None:
    def garden(today: date) -> tuple[Site, ...]:
        return (Site("garden", "garden.test", (), today),)

    with ShippedWorld() as world:
        assert set(world.sites) == {"articles", "docs", "forum"}
        assert set(world.services) == {"searxng"}
        assert world.library.search("reciprocal rank fusion")
    with ShippedWorld(sites=garden) as world:
        assert b"garden.test" in await raw(world.site("garden").url)
        assert world.library.search("reciprocal rank fusion") == []


def test_one_world_can_run_twice() -> None:
    world = World()
    for _ in range(2):
        with world:
            assert urlsplit(world.searxng.url).port == world.searxng.port


@pytest.mark.parametrize(
    "fault",
    [InjectedFault.hang(), wire_faults.endless(), wire_faults.trickle(600), InjectedFault.delay(600)],
    ids=str,
)
def test_stops_in_spite_of_a_client_that_hangs(fault: InjectedFault) -> None:
    before = running()
    with World() as world:
        world.searxng.fail(fault)
        peer = socket.create_connection(("127.0.0.1", world.searxng.port))
        peer.sendall(b"GET /search?q=x HTTP/1.1\r\nHost: x\r\n\r\n")
        world.searxng.wait_for_requests(1)
    assert running() == before
    peer.close()


def test_start_and_stop_twice() -> None:
    world = World()
    with world, pytest.raises(RuntimeError, match="runs already"):
        world.start()
    world.stop()


def test_addresses_before_the_start_say_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="start the world first"):
        _ = World().searxng.url
    with pytest.raises(RuntimeError, match="Start the world first"):
        _ = World().closed_url


def test_unknown_names_list_the_known_ones(world: World) -> None:
    with pytest.raises(KeyError, match=r"articles, docs"):
        world.site("nowhere")
    with pytest.raises(KeyError, match=r"configuration"):
        world.site("docs").page("nowhere")


async def test_names_and_origins(world: World, raw: Raw) -> None:
    articles = world.site("articles")
    assert articles.named_url == f"http://encyclopedia.test:{articles.port}"
    assert {articles.url, articles.named_url, world.searxng.url} <= set(world.origins)
    assert world.names["encyclopedia.test"] == "127.0.0.1"
    assert await world.resolver("encyclopedia.test", 80) == ["127.0.0.1"]
    with pytest.raises(socket.gaierror):
        await world.resolver("example.com", 443)
    page = await raw(articles.page("bm25"), headers={"Host": f"encyclopedia.test:{articles.port}"})
    assert f'href="{articles.named_url}/wiki/bm25"'.encode() in page


def test_nobody_listens_at_the_closed_url(world: World) -> None:
    port = urlsplit(world.closed_url).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port or 0))


async def test_requests_are_recorded(world: World, raw: Raw) -> None:
    before = time.monotonic()
    await raw(f"{world.searxng.url}/search?q=a&q=b%20c", method="POST", headers={"X-Mark": "1"}, body=b"\x00\xff")
    (request,) = world.searxng.requests
    assert (request.method, request.path, request.target) == ("POST", "/search", "/search?q=a&q=b%20c")
    assert request.query == {"q": "b c"}
    assert request.headers["x-MARK"] == "1"
    assert request.body == b"\x00\xff"
    assert before <= request.at <= time.monotonic()
    world.searxng.forget()
    assert world.searxng.requests == []


def test_waiting_in_vain_says_what_came(world: World) -> None:
    with pytest.raises(TimeoutError, match=r"searxng got 0 of 1 requests"):
        world.searxng.wait_for_requests(1, timeout=0.01)


async def test_a_second_instance_has_its_own_faults(world: World, raw: Raw) -> None:
    second = world.add_searxng("backup")
    assert second.url in world.origins
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert (await raw(f"{second.url}/healthz")).startswith(b"HTTP/1.1 200")
    assert (await raw(f"{world.searxng.url}/healthz")).startswith(b"HTTP/1.1 500")
    assert len(second.requests) == len(world.searxng.requests) == 1
    with pytest.raises(ValueError, match="here already"):
        world.add_searxng("backup")


async def test_another_service_is_one_class(world: World, raw: Raw) -> None:
    class Echo(EmulatedServer):
        def handle(self, request: Recorded) -> EmulatedResponse:
            return EmulatedResponse.json({"asked": request.json()})

    echo = world.add(Echo("echo"))
    assert (await raw(echo.url, method="POST", body=b"[1]")).endswith(b'{"asked": [1]}')
    echo.fail(InjectedFault.close())
    assert await raw(echo.url, method="POST", body=b"[2]") == b""
    assert len(echo.requests) == 2


async def test_a_connection_that_is_dropped_is_seen(world: World) -> None:
    world.searxng.fail(InjectedFault.hang())
    _, writer = await asyncio.open_connection("127.0.0.1", world.searxng.port)
    writer.write(b"GET /search?q=x HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.to_thread(world.searxng.wait_for_requests, 1)
    assert world.searxng.connections == 1
    writer.close()
    await writer.wait_closed()
    await asyncio.to_thread(wait_until_idle, world.searxng)
    assert world.searxng.connections == 0


def test_today(world: World) -> None:
    assert (datetime.now(UTC).date() - world.today).days <= 1
    assert World(today=date(2031, 5, 1)).today == date(2031, 5, 1)
