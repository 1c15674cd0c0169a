"""What goes out on the wire is what was asked, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from groundwire.deadline import Deadline
from groundwire.errors import ProviderUnreachable, UnexpectedResponse
from groundwire.safety.urls import parse_url
from groundwire.transport import Transport
from world import World

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B3")

TARGETS = [
    "/a%2Fb",
    "/a%2fb",
    "/%zz%",
    "/%41",
    "/a+b?c+d",
    "/?q[]=1&q[0]=2",
    "/a;b,c=d:e@f!$'()*",
    "/caf%C3%A9?x=%E9",
    "//double//slash/",
    "/?a=b=c&&d",
    "/?next=https://example.com/?a=1%26b=2",
    "/%F0%9F%8C%80/%00",
    "/?%23=%25",
    "/?a|b",
    "/~tilde/-_.",
]


@pytest.mark.parametrize("target", TARGETS)
async def test_the_target_is_sent_as_written(connect: Connect, serve: Serve, response: Response, target: str) -> None:
    server: Any = await serve(response(b"ok"))
    url = server.url + target
    reply = await connect(server.url).fetch(url, deadline=Deadline.after(60))
    assert server.targets == [parse_url(url).target]
    assert reply.url == parse_url(url).text


async def test_what_is_not_ascii_is_sent_encoded(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"ok"))
    await connect(server.url).fetch(server.url + "/ä?ö=ü#fragment", deadline=Deadline.after(60))
    assert server.targets == ["/%C3%A4?%C3%B6=%C3%BC"]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parameters_arrive_as_given(text: str) -> None:
    full = URL("http://127.0.0.1/search?a=%2Fb", encoded=True).extend_query({"q": text})
    assert str(full).isascii()
    assert parse_qsl(urlsplit(str(full)).query, keep_blank_values=True) == [("a", "/b"), ("q", text)]


@pytest.mark.parametrize("word", ["a&b=c", "1+1", "50%25 %", "naïve Straße 東京 🌀", "a;b#c?d/e", "", "x\ty\nz"])
async def test_parameters_on_the_wire(connect: Connect, serve: Serve, response: Response, word: str) -> None:
    server: Any = await serve(response(b"ok"))
    await connect(server.url).call(
        "searx", "GET", server.url + "/s%2Fearch?k=%zz", deadline=Deadline.after(60), params={"q": word, "n": "1"}
    )
    path, _, query = server.targets[0].partition("?")
    assert path == "/s%2Fearch"
    assert query.startswith("k=%zz&")
    assert parse_qsl(query, keep_blank_values=True)[1:] == [("q", word), ("n", "1")]


async def test_headers_of_ours(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"ok"))
    await connect(server.url).fetch(server.url, deadline=Deadline.after(60), headers={"Accept": "text/markdown"})
    head = server.heads[0].decode()
    assert "\r\nAccept-Encoding: gzip, deflate\r\n" in head
    assert "\r\nAccept: text/markdown\r\n" in head
    assert "\r\nUser-Agent: " in head


async def test_bodies_of_calls(world: World, connect: Connect) -> None:
    transport, url = connect(world.searxng.url), world.searxng.url + "/search"
    await transport.call("searx", "POST", url, deadline=Deadline.after(60), json_body={"q": "ü"})
    await transport.call("searx", "POST", url, deadline=Deadline.after(60), json_body=[])
    await transport.call("searx", "POST", url, deadline=Deadline.after(60), form={"q": "ü b&c"})
    bodies = [(request.headers["Content-Type"], request.body) for request in world.searxng.requests]
    assert [json.loads(body) for _, body in bodies[:2]] == [{"q": "ü"}, []]
    assert bodies[2] == ("application/x-www-form-urlencoded", b"q=%C3%BC+b%26c")


async def test_a_header_cannot_smuggle_another(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"ok"))
    with pytest.raises((UnexpectedResponse, ProviderUnreachable)) as caught:
        await connect(server.url).call(
            "brave", "GET", server.url, deadline=Deadline.after(60), headers={"X-Key": "s3cret\r\nX-Evil: 1"}
        )
    assert "s3cret" not in str(caught.value)
    assert not any(b"Evil" in head for head in server.heads)
