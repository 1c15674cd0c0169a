"""A proxy is used when it is set, and only then."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import BlockedAddress, ConfigurationError, PageUnavailable, ProviderUnreachable
from groundwire.safety.guard import Guard
from groundwire.settings import load
from groundwire.transport import Transport
from groundwire.transport.clients import HttpClients
from world import World

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B3")


def soon() -> Deadline:
    return Deadline.after(60)


async def test_proxies_of_the_environment_are_ignored(
    world: World, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, world.closed_url)
    reply = await connect(world.searxng.url).fetch(world.searxng.url, deadline=soon())
    assert reply.status == 200


async def test_a_proxy_gets_the_whole_address(
    connect: Connect, serve: Serve, response: Response, forwarder: Any
) -> None:
    server: Any = await serve(response(b"through"))
    forwarder.upstream = server.port
    transport = connect(proxy=forwarder.url)
    reply = await transport.fetch("http://pub.example.com/a%2Fb?q[]=1", deadline=soon())
    assert reply.body == b"through"
    assert forwarder.heads[0].startswith(b"GET http://pub.example.com/a%2Fb?q[]=1 HTTP/1.1\r\n")


async def test_a_user_name_is_for_the_proxy_only(
    connect: Connect, serve: Serve, response: Response, forwarder: Any
) -> None:
    server: Any = await serve(response(b"through"))
    forwarder.upstream = server.port
    transport = connect(proxy=forwarder.url.replace("//", "//user:pass@"))
    assert (await transport.fetch("http://pub.example.com/", deadline=soon())).body == b"through"
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz" in forwarder.heads[0]


async def test_https_goes_through_a_tunnel(connect: Connect, forwarder: Any) -> None:
    forwarder.refuse = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    transport = connect(proxy=forwarder.url)
    with pytest.raises(PageUnavailable, match=r"^pub\.example\.com .* proxy refused with HTTP 403.*network\.proxy"):
        await transport.fetch("https://pub.example.com/", deadline=soon())
    with pytest.raises(ProviderUnreachable, match="proxy"):
        await transport.call("brave", "GET", "https://pub.example.com/", deadline=soon(), headers={"X-Key": "s3cret"})
    assert all(head.startswith(b"CONNECT pub.example.com:443 HTTP/1.1\r\n") for head in forwarder.heads)
    assert not any(b"s3cret" in head for head in forwarder.heads)


async def test_a_dead_proxy_is_named_as_the_reason(world: World, connect: Connect) -> None:
    transport = connect(proxy=world.closed_url)
    for url in ("http://pub.example.com/", "https://pub.example.com/"):
        with pytest.raises(PageUnavailable, match=r"proxy does not respond.*network\.proxy") as caught:
            await transport.fetch(url, deadline=soon())
        assert "127." not in str(caught.value)


@pytest.mark.req("Y13")
async def test_the_form_of_addresses_is_judged_with_a_proxy_too(
    connect: Connect, serve: Serve, response: Response, forwarder: Any, listener: Any
) -> None:
    server: Any = await serve(response(b"", "302 Found", Location="http://169.254.169.254/latest"))
    forwarder.upstream = server.port
    transport = connect(proxy=forwarder.url)
    for url in (listener.url, "http://localhost/", "http://pub.example.com:6667/", "http://pub.example.com/"):
        with pytest.raises(BlockedAddress):
            await transport.fetch(url, deadline=soon())
    assert len(forwarder.heads) == 1
    assert listener.connections == 0


@pytest.mark.parametrize(
    "proxy",
    ["proxy:3128", "socks4://proxy.example:1080", "http://", "http://user:s3cret@", "http://[", "http://0x7f.1"],
)
def test_what_is_no_proxy(proxy: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^network\.proxy: .* Write it as") as caught:
        Transport(Guard(), proxy=proxy)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({"HTTPS_PROXY": "http://p.test:3128"}, "https://api.test/v1", "http://p.test:3128"),
        ({"HTTPS_PROXY": "http://p.test:3128"}, "http://api.test/v1", ""),
        ({"all_proxy": "p.test:3128"}, "https://api.test/v1", "http://p.test:3128"),
        ({"HTTPS_PROXY": "http://a.test:1", "https_proxy": "http://b.test:1"}, "https://api.test", "http://b.test:1"),
        ({"HTTPS_PROXY": "http://p.test:1", "NO_PROXY": "other.test, .api.test"}, "https://x.api.test", ""),
        ({"HTTPS_PROXY": "http://p.test:1", "NO_PROXY": "api.test"}, "https://notapi.test", "http://p.test:1"),
        ({"HTTPS_PROXY": "http://p.test:1", "no_proxy": "*"}, "https://api.test", ""),
        (
            {"HTTPS_PROXY": "http://p.test:1", "GROUNDWIRE_NETWORK_PROXY": "http://q.test:1"},
            "https://a.test",
            "http://q.test:1",
        ),
        ({"HTTP_PROXY": "http://p.test:1", "REQUEST_METHOD": "GET"}, "http://api.test", ""),
        ({"HTTPS_PROXY": " "}, "https://api.test", ""),
    ],
)
def test_the_proxy_of_a_service(environment: dict[str, str], url: str, proxy: str, tmp_path: Path) -> None:
    settings = load(environment=environment, folder=tmp_path, user_folder=tmp_path)
    assert settings.proxy_for(url) == proxy
    assert settings.warnings == ()


def test_a_proxy_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    settings = load(environment={"ALL_PROXY": "socks4://p.test:1080"}, folder=tmp_path, user_folder=tmp_path)
    assert settings.proxy_for("https://api.test") == ""
    assert [warning.partition(" ")[0] for warning in settings.warnings] == ["ALL_PROXY"]


async def test_services_go_through_the_proxy_of_the_environment_and_pages_do_not(
    serve: Serve, response: Response, forwarder: Any, tmp_path: Path
) -> None:
    server: Any = await serve(response(b"through"))
    forwarder.upstream = server.port
    settings = load(environment={"HTTP_PROXY": forwarder.url}, folder=tmp_path, user_folder=tmp_path)
    clients = HttpClients(settings, None, None)
    try:
        reply = await clients.service("http://api.example.com").fetch("http://api.example.com/x", deadline=soon())
        assert reply.body == b"through"
        assert clients.service("http://other.example.com") is clients.service("http://api.example.com")
        with pytest.raises((PageUnavailable, BlockedAddress)):
            await clients.pages.fetch("http://api.example.com/x", deadline=soon())
        assert len(forwarder.heads) == 1
    finally:
        await clients.aclose()


async def test_a_dead_resolver_is_told_from_a_name_that_does_not_exist(connect: Connect) -> None:
    async def failing(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN if host == "down.example.com" else socket.EAI_NONAME, "no")

    transport = connect(resolver=failing)
    with pytest.raises(PageUnavailable, match=r"^down\.example\.com could not be resolved.*DNS settings"):
        await transport.fetch("http://down.example.com/", deadline=soon())
    with pytest.raises(PageUnavailable, match=r"^gone\.example\.com does not resolve to .*spelling.*online"):
        await transport.fetch("http://gone.example.com/", deadline=soon())
