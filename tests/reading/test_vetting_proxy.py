"""The proxy behind which a browser stands: what it carries, what it refuses, and that it ends."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.application import Application
from components.forbidden import Forbidden
from groundwire.reading.browser.idle_detection import Look, Settling
from groundwire.reading.browser.launch import find_chromium
from groundwire.reading.browser.pinned_connect import Dialler, NotUnderstood, parse_head
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.testing import EmulatedResponse, InjectedFault
from world import World, wait_until_idle, wire_faults
from world.socks import SocksServer


@pytest.fixture
def site(world: World) -> Application:
    return world.add(Application())


async def resolver(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def proxy_for(*origins: str, upstream: str = "", **limits: int) -> VettingProxy:
    page = parse_url(origins[0]) if origins else None
    return VettingProxy(Dialler(Guard(allowed_origins=origins, resolver=resolver), page, upstream), **limits)


async def asked(proxy: VettingProxy, data: bytes) -> bytes:
    """Send bytes to a proxy and return all that comes back."""
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    answer = await reader.read(-1)
    writer.close()
    return answer


def get(url: str, *headers: str) -> bytes:
    host = url.split("/")[2]
    return "\r\n".join([f"GET {url} HTTP/1.1", f"Host: {host}", *headers, "", ""]).encode()


@pytest.mark.req("B3")
async def test_a_request_is_carried_without_what_is_for_the_proxy(site: Application) -> None:
    async with proxy_for(site.url) as proxy:
        data = get(
            f"{site.url}/api/data?x=1", "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic eDp5", "A: b"
        )
        answer = await asked(proxy, data)
    assert answer.startswith(b"HTTP/1.1 200")
    (request,) = site.requests
    assert request.target == "/api/data?x=1"
    assert request.headers["A"] == "b"
    assert not [name for name in request.headers if name.lower().startswith("proxy")]
    assert proxy.received == len(answer)


async def test_a_tunnel_is_carried_and_a_body_too(site: Application) -> None:
    place = site.url.removeprefix("http://")
    async with proxy_for(site.url) as proxy:
        inside = get(f"{site.url}/api/data", "Connection: close").replace(site.url.encode(), b"", 1)
        answer = await asked(proxy, f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode() + inside)
        assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
        body = (
            b"GET http://%s/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwordsGET http://other/ HTTP/1.1\r\n\r\n"
        )
        await asked(proxy, body % place.encode())
    assert [request.body for request in site.requests] == [b"", b"words"]


@pytest.mark.req("B3")
async def test_an_allowed_origin_is_for_its_own_page_and_to_be_read(site: Application, world: World) -> None:
    other = world.add(Application("other"))
    async with proxy_for(site.url, other.url) as proxy:
        assert (await asked(proxy, get(f"{site.url}/api/data"))).startswith(b"HTTP/1.1 200")
        place = site.url.removeprefix("http://")
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            data = get(f"{site.url}/x", "Content-Length: 0").replace(b"GET", method.encode(), 1)
            assert (await asked(proxy, data)).startswith(b"HTTP/1.1 502"), method
        assert (await asked(proxy, get(f"{other.url}/api/data"))).startswith(b"HTTP/1.1 502")
        place = other.url.removeprefix("http://")
        assert (await asked(proxy, f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())).startswith(b"HTTP/1.1 502")
    assert [request.path for request in site.requests] == ["/api/data"]
    assert other.requests == []


@pytest.mark.req("B3", "Y13")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "name.test", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0", "127.1"]
)
@pytest.mark.parametrize("tunnel", [True, False])
async def test_what_is_forbidden_is_not_dialled(host: str, tunnel: bool) -> None:
    with Forbidden() as forbidden:
        async with proxy_for() as proxy:
            place = f"{host}:{forbidden.port}"
            data = f"CONNECT {place} HTTP/1.1\r\n\r\n".encode() if tunnel else get(f"http://{place}/")
            assert (await asked(proxy, data)).startswith(b"HTTP/1.1 502")
            assert proxy.refused.total() == 1
    assert forbidden.hits == []


async def test_a_refusal_looks_like_a_name_that_is_not_there() -> None:
    async def nobody(host: str, port: int) -> Sequence[str]:
        raise OSError

    missing = VettingProxy(Dialler(Guard(resolver=nobody), None))
    async with proxy_for() as refusing, missing:
        told = await asked(refusing, get("http://inside.example/"))
        assert told == await asked(missing, get("http://inside.example/"))
    assert refusing.refused
    assert missing.failed == {"inside.example:80"}


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"GET https://a.example/ HTTP/1.1\r\n\r\n",
        b"GET http://user@a.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.example HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:0 HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:99999 HTTP/1.1\r\n\r\n",
        b"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://a.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        b"\r\n\r\n",
    ],
)
async def test_what_no_browser_sends_ends_the_connection(data: bytes) -> None:
    with pytest.raises(NotUnderstood):
        parse_head(data)
    async with proxy_for() as proxy:
        assert await asked(proxy, data) == b""


@given(st.binary(max_size=200))
def test_any_bytes_can_be_looked_at(data: bytes) -> None:
    try:
        found = parse_head(data + b"\r\n\r\n")
    except NotUnderstood:
        return
    assert 0 < found.port < 65_536


async def test_bytes_and_requests_are_counted(site: Application) -> None:
    site.pages["/endless"] = EmulatedResponse(fault=wire_faults.endless(bytes(10_000)))
    async with proxy_for(site.url, max_bytes=200_000) as proxy:
        answer = await asked(proxy, get(site.url + "/endless"))
        assert len(answer) <= 200_000
        assert proxy.exhausted
    async with proxy_for(site.url, max_requests=2) as proxy:
        answers = [await asked(proxy, get(site.url + "/api/data")) for _ in range(2)]
        assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
        assert await asked(proxy, get(site.url + "/api/data")) == b""


async def test_closing_ends_what_is_under_way(site: Application) -> None:
    site.pages["/silent"] = EmulatedResponse(fault=InjectedFault.hang())
    async with proxy_for(site.url) as proxy:
        waiting = asyncio.create_task(asked(proxy, get(site.url + "/silent")))
        await asyncio.to_thread(site.wait_for_requests, 1)
        proxy.close()
        assert await waiting == b""
    await asyncio.to_thread(wait_until_idle, site)


@pytest.mark.req("B3")
@pytest.mark.parametrize("before", [False, True], ids=["the connection is seen first", "the end is seen first"])
async def test_a_connection_that_comes_while_it_closes_is_ended(before: bool) -> None:
    gc.collect()  # what other tests left is not of this one
    loop, closed = asyncio.get_running_loop(), asyncio.Event()
    proxy = proxy_for()
    await proxy.__aenter__()
    host, _, port = proxy.url.removeprefix("http://").partition(":")

    def close() -> None:
        loop.remove_reader(bell)
        proxy.close()
        closed.set()

    bell, rope = socket.socketpair()
    with bell, rope, socket.socket() as late, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loop.add_reader(bell, close)
        if before:
            rope.send(b"!")
        late.connect((host, int(port)))
        if not before:
            rope.send(b"!")  # both are looked at in one turn of the loop, in the order in which they came
        await closed.wait()
        late.setblocking(False)
        async with asyncio.timeout(100):
            with suppress(ConnectionResetError):
                assert await loop.sock_recv(late, 1) == b""
        gc.collect()
    assert [str(one.message) for one in said] == []


async def test_the_operators_proxy_is_gone_through(site: Application) -> None:
    place = site.url.removeprefix("http://")
    async with proxy_for(site.url) as upstream, proxy_for(site.url, upstream=upstream.url) as proxy:
        assert (await asked(proxy, get(site.url + "/api/data"))).startswith(b"HTTP/1.1 200")
        inside = get(f"{site.url}/api/data", "Connection: close").replace(site.url.encode(), b"", 1)
        answer = await asked(proxy, f"CONNECT {place} HTTP/1.1\r\n\r\n".encode() + inside)
        assert b"HTTP/1.1 200 OK" in answer
        assert upstream.received >= proxy.received > 0
        with_inside = await asked(proxy, get("http://10.0.0.1/"))
    assert with_inside.startswith(b"HTTP/1.1 502")
    assert not upstream.refused


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_the_operators_socks_proxy_is_gone_through(scheme: str, site: Application) -> None:
    own = urlsplit(site.url).port or 0
    async with SocksServer(own, login=("u", "p")) as upstream:
        async with proxy_for(site.url, upstream=upstream.url(scheme, "u:p")) as proxy:
            assert (await asked(proxy, get(site.url + "/api/data"))).startswith(b"HTTP/1.1 200")
            inside = get(f"{site.url}/api/data", "Connection: close").replace(site.url.encode(), b"", 1)
            place = site.url.removeprefix("http://")
            answer = await asked(proxy, f"CONNECT {place} HTTP/1.1\r\n\r\n".encode() + inside)
            assert b"HTTP/1.1 200 OK" in answer
            for url in ("http://10.0.0.1/", "http://pub.example.com:6667/"):
                assert (await asked(proxy, get(url))).startswith(b"HTTP/1.1 502")
            named = await asked(proxy, get("http://inside.example.com/"))  # resolves to loopback here
        by_name = scheme == "socks5h"  # the proxy's own look-up, as with HTTP proxies
        assert named.startswith(b"HTTP/1.1 502") is not by_name
        assert upstream.destinations == [("127.0.0.1", own)] * 2 + [("inside.example.com", 80)] * by_name
    async with proxy_for(site.url, upstream=upstream.url(scheme, "u:p")) as proxy:
        assert (await asked(proxy, get(site.url + "/api/data"))).startswith(b"HTTP/1.1 502")


def test_a_browser_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium() is None
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert find_chromium() == program


def test_playwrights_latest_browser_is_found_a_shell_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shells = [f"chromium_headless_shell-{revision}/linux/headless_shell" for revision in (1200, 1250)]
    for name in ("chromium-1300/linux/chrome", *shells, "chromium_headless_shell-1250/linux/readme"):
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o700)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium() == tmp_path / shells[1]


FULL = Look(ready="complete", nodes=50, text=800)


@pytest.mark.parametrize(
    ("look", "seconds"),
    [
        (FULL, 0.4),
        (Look(ready="complete", nodes=50, text=800, timers=0), 0.1),
        (Look(ready="complete", nodes=50, text=800, loading=True), 1.5),
        (Look(ready="complete", nodes=5, text=10), 1.5),
        (Look(ready="interactive", nodes=50, text=800), 0.4),
        (Look(ready="complete", nodes=50, text=800, scripts=False), 0.0),
    ],
)
def test_a_page_is_done_when_it_has_been_quiet_for_long_enough(look: Look, seconds: float) -> None:
    settling = Settling(0.0)
    settling.saw(look, 10.0)
    assert settling.done(10.001 + seconds)
    assert seconds == 0 or not settling.done(10.0 + seconds - 0.01)


def test_a_request_is_waited_for_but_not_for_ever() -> None:
    settling = Settling(0.0)
    settling.saw(FULL, 0.0)
    settling.began("data", "fetch", 0.0)
    settling.began("picture", "image", 0.0)
    assert not settling.done(2.9)
    assert settling.done(3.0)
    settling.ended("data", 3.1)
    assert not settling.done(3.2)
    assert settling.done(3.6)
    settling.saw(Look.of({"ready": "complete", "nodes": 50, "text": 800, "requests": 1}), 4.0)  # not reported yet
    assert not settling.done(100.0)


def test_a_page_that_has_no_text_yet_is_not_done_while_it_loads() -> None:
    settling = Settling(0.0)
    settling.began("data", "fetch", 0.0)
    settling.saw(Look(ready="complete", nodes=5, text=10), 0.0)
    assert not settling.done(100.0)
    settling.ended("data", 100.0)
    assert settling.done(101.6)
    settling.saw(Look(ready="complete", nodes=5, text=10, loading=True), 102.0)
    assert not settling.done(200.0)


@given(
    st.none()
    | st.text()
    | st.lists(st.integers())
    | st.dictionaries(
        st.sampled_from(["ready", "nodes", "text", "loading", "requests"]),
        st.text() | st.floats() | st.integers() | st.none(),
    )
)
def test_a_page_may_tell_anything(told: object) -> None:
    look = Look.of(told)
    assert look.ready in {"loading", "interactive", "complete"}
