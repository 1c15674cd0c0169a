"""A SOCKS5 proxy is used as an HTTP proxy is; the guard's rules stay the same."""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from groundwire._version import install_extra
from groundwire.deadline import Deadline
from groundwire.errors import BlockedAddress, ConfigurationError, DeadlineExceeded, PageUnavailable, ProviderUnreachable
from groundwire.safety.guard import Guard
from groundwire.settings import load
from groundwire.transport import Transport
from groundwire.transport.clients import HttpClients
from world.socks import SocksServer

from .test_tls import certified

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B3")
PAGE = "http://pub.example.com/a"
PUBLIC, PUBLIC_6 = "93.184.216.34", "2606:2800:220:1::1"


async def public(host: str, port: int) -> Sequence[str]:
    return {"inside.example.com": ["10.0.0.7"]}.get(host, [PUBLIC_6, PUBLIC])


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.parametrize(
    ("scheme", "login", "asked"),
    [
        ("socks5h", None, ("pub.example.com", 80)),
        ("socks5", None, (PUBLIC_6, 80)),
        ("SOCKS5H", ("user", "p@ss"), ("pub.example.com", 80)),
    ],
)
async def test_pages_and_searches_go_through_it(
    scheme: str, login: tuple[str, str] | None, asked: tuple[str, int], connect: Connect, serve: Serve,
    response: Response,
) -> None:  # fmt: skip
    server: Any = await serve(response(b"{}"))
    async with SocksServer(server.port, login=login) as proxy:
        transport = connect(proxy=proxy.url(scheme, "user:p%40ss" if login else ""), resolver=public)
        assert (await transport.fetch(PAGE, deadline=soon())).body == b"{}"
        assert (await transport.call("brave", "GET", PAGE, deadline=soon())).json() == {}
        assert proxy.destinations == [asked]  # the second goes over the same connection
        assert proxy.logins == ([login] if login else [])
    assert server.targets == ["/a", "/a"]
    assert b"Host: pub.example.com\r\n" in server.heads[0]


async def test_the_next_address_is_tried(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"here"))
    async with SocksServer(server.port, reply=(3, 0)) as proxy:
        reply = await connect(proxy=proxy.url("socks5"), resolver=public).fetch(PAGE, deadline=soon())
        assert (reply.body, proxy.destinations) == (b"here", [(PUBLIC_6, 80), (PUBLIC, 80)])


async def test_a_certificate_is_checked_for_the_name(
    connect: Connect, serve: Serve, response: Response, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: Any = await serve(response(b"secret"), context=certified(tmp_path / "server.pem", -1, 1))
    async with SocksServer(server.port) as proxy:
        transport = connect(proxy=proxy.url("socks5"), resolver=public)
        with pytest.raises(PageUnavailable, match="TLS certificate from an authority that is not trusted"):
            await transport.fetch("https://pub.example.com/", deadline=soon())
        assert proxy.destinations[0] == (PUBLIC_6, 443)


@pytest.mark.req("Y13")
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_the_guard_judges_as_with_other_proxies(
    scheme: str, connect: Connect, serve: Serve, response: Response, listener: Any
) -> None:
    server: Any = await serve(response(b"", "302 Found", Location="http://169.254.169.254/latest"))
    async with SocksServer(server.port) as proxy:
        transport = connect(proxy=proxy.url(scheme), resolver=public)
        for url in (listener.url, "http://localhost/", "http://pub.example.com:6667/", PAGE):
            with pytest.raises(BlockedAddress):
                await transport.fetch(url, deadline=soon())
        assert len(proxy.destinations) == 1
        if scheme == "socks5":  # its names are resolved and checked here
            with pytest.raises(BlockedAddress):
                await transport.fetch("http://inside.example.com/", deadline=soon())
            assert len(proxy.destinations) == 1
    assert listener.connections == 0


@pytest.mark.parametrize(
    ("server", "login", "said"),
    [
        (SocksServer(login=("user", "pass")), "", r"the proxy refused \(.*authentication.*network\.proxy"),
        (SocksServer(login=("user", "pass")), "user:wrong", r"the proxy refused \(.*authentication.*network\.proxy"),
        (SocksServer(reply=(2,)), "", r"the proxy refused \(Connection not allowed.*network\.proxy"),
        (SocksServer(reply=(4,)), "", r" through the proxy \(Host unreachable\)"),
        (SocksServer(reply=(99,)), "", r"the proxy refused \(Invalid reply code.*network\.proxy"),
        (
            SocksServer(garbage=b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "",
            r"the proxy refused \(.*version.*network\.proxy",
        ),
    ],
    ids=["login wanted", "login wrong", "not allowed", "unreachable", "odd reply", "no SOCKS"],
)
async def test_what_a_proxy_says_is_told(server: SocksServer, login: str, said: str, connect: Connect) -> None:
    async with server as proxy:
        transport = connect(proxy=proxy.url(login=login))
        with pytest.raises(PageUnavailable, match=rf"^pub\.example\.com could not be reached.*{said}") as page:
            await transport.fetch(PAGE, deadline=soon())
        with pytest.raises(ProviderUnreachable, match="proxy"):
            await transport.call("brave", "GET", PAGE, deadline=soon())
        assert "127." not in str(page.value)
        assert "wrong" not in str(page.value)


async def test_a_dead_proxy_is_named_as_the_reason(connect: Connect) -> None:
    async with SocksServer() as proxy:
        gone = proxy.url()
    with pytest.raises(PageUnavailable, match=r"proxy does not respond.*network\.proxy"):
        await connect(proxy=gone).fetch(PAGE, deadline=soon())


async def test_a_proxy_that_hangs_is_left_at_the_deadline(connect: Connect) -> None:
    async with SocksServer(hangs=True) as proxy:
        call = asyncio.create_task(connect(proxy=proxy.url()).fetch(PAGE, deadline=soon()))
        await proxy.asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await proxy.left.wait()  # and its connection is closed
        with pytest.raises(DeadlineExceeded):
            await connect(proxy=proxy.url()).fetch(PAGE, deadline=Deadline.after(0.05))


async def test_headers_that_never_end_are_stopped(connect: Connect, serve: Serve) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </%s>\r\n\r\n" % (b"x" * 4_000)
    server: Any = await serve(lambda _: itertools.repeat(hint))
    async with SocksServer(server.port) as proxy:
        with pytest.raises(PageUnavailable, match="headers that never end"):
            await connect(proxy=proxy.url()).fetch(PAGE, deadline=soon())


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5h://",
        "socks5://user@p.test",
        "socks5h://u:ü@p.test",
        "socks5://p.test:99999",
        f"socks5://u:{'s' * 256}@p",
    ],
)
def test_what_is_no_proxy(proxy: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^network\.proxy: .*SOCKS5") as caught:
        Transport(Guard(), proxy=proxy)
    assert "sss" not in str(caught.value)


def test_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_socks", None)
    with pytest.raises(ConfigurationError, match=re.escape(install_extra("socks"))):
        Transport(Guard(), proxy="socks5h://p.test")


@pytest.mark.parametrize("name", ["ALL_PROXY", "http_proxy"])
async def test_services_go_through_that_of_the_environment(
    name: str, serve: Serve, response: Response, tmp_path: Path
) -> None:
    server: Any = await serve(response(b"through"))
    async with SocksServer(server.port) as proxy:
        settings = load(environment={name: proxy.url()}, folder=tmp_path, user_folder=tmp_path)
        clients = HttpClients(settings, None, None)
        try:
            reply = await clients.service(PAGE).fetch(PAGE, deadline=soon())
        finally:
            await clients.aclose()
        assert (reply.body, proxy.destinations) == (b"through", [("pub.example.com", 80)])
