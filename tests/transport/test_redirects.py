"""Redirects of pages: ten hops, each judged; nothing of ours crosses over."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import BlockedAddress, PageUnavailable, TooManyRedirects
from groundwire.safety.guard import Guard
from groundwire.transport import Head, Transport

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("Y13", "B3")


def soon() -> Deadline:
    return Deadline.after(60)


def first(head: bytes) -> bool:
    return head.startswith(b"GET /start")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(connect: Connect, serve: Serve, response: Response, status: int) -> None:
    server: Any = await serve(
        lambda head: [response(b"moved", f"{status} Moved", Location="end?x=1") if first(head) else response(b"end")]
    )
    seen: list[Head] = []
    reply = await connect(server.url).fetch(server.url + "/start", deadline=soon(), inspect=seen.append)
    assert (reply.status, reply.body, reply.url) == (200, b"end", server.url + "/end?x=1")
    assert [head.status for head in seen] == [200]
    assert all(head.startswith(b"GET ") for head in server.heads)


@pytest.mark.parametrize(
    "status", ["301 Moved", "308 Moved", "300 Choices", "304 Not Modified", "305 Proxy", "399 Odd"]
)
@pytest.mark.parametrize("location", [None, ""])
async def test_without_a_location_it_is_an_answer(
    connect: Connect, serve: Serve, response: Response, status: str, location: str | None
) -> None:
    server: Any = await serve(response(b"", status, **({} if location is None else {"Location": location})))
    seen: list[Head] = []
    reply = await connect(server.url).fetch(server.url, deadline=soon(), inspect=seen.append)
    assert (reply.status, len(seen), len(server.heads)) == (int(status[:3]), 1, 1)


async def test_a_location_on_another_status_means_nothing(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"made", "201 Created", Location="/other"))
    reply = await connect(server.url).fetch(server.url, deadline=soon())
    assert (reply.status, reply.body, server.targets) == (201, b"made", ["/"])


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/caf\u00e9?q=\u00fc", "/caf%C3%A9?q=%C3%BC"),
        ("/caf\udce9", "/caf%E9"),
        ("/two words?and more", "/two%20words?and%20more"),
        ("?only=query", "/start/here?only=query"),
        ("../up", "/up"),
        ("./same", "/start/same"),
        ("a%2Fb/%zz", "/start/a%2Fb/%zz"),
        ("/path:with:colons", "/path:with:colons"),
    ],
)
async def test_odd_locations(connect: Connect, serve: Serve, response: Response, location: str, target: str) -> None:
    server: Any = await serve(
        lambda head: [
            response(b"", "302 Found", Location=location) if head.startswith(b"GET /start/here ") else response(b"end")
        ]
    )
    reply = await connect(server.url).fetch(server.url + "/start/here", deadline=soon())
    assert (reply.body, server.targets[-1]) == (b"end", target)


@pytest.mark.parametrize(
    ("asked", "location", "final"),
    [
        ("/start#here", "/end", "/end#here"),
        ("/start#here", "/end#there", "/end#there"),
        ("/start", "/end#there", "/end#there"),
        ("/start#here", "?q", "/start?q#here"),
    ],
)
async def test_fragments_live_on_and_stay_at_home(
    connect: Connect, serve: Serve, response: Response, asked: str, location: str, final: str
) -> None:
    answers = iter([response(b"", "302 Found", Location=location), response(b"end")])
    server: Any = await serve(lambda _: [next(answers)])
    reply = await connect(server.url).fetch(server.url + asked, deadline=soon())
    assert reply.url == server.url + final
    assert not any("#" in target for target in server.targets)


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "javascript:alert(1)",
        "data:text/html,hi",
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/",
        "http://localhost:{port}/",
        "http://127.1:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://127.0.0.1:{port}/",
        "http://user:pass@127.0.0.1:{port}/",
        "http://user@example.com/",
        "http://exa mple.com/",
        "http://127.0.0.1:{port}\\@example.com/",
        "http://caf\udce9.example/",
        "https://127.0.0.1:{own}/",
        "http:///",
        "http://example.com:6667/",
        "/" + "x" * 9_000,
    ],
)
async def test_redirects_to_what_is_not_allowed(
    connect: Connect, serve: Serve, response: Response, listener: Any, location: str
) -> None:
    server: Any = await serve(
        lambda _: [response(b"", "302 Found", Location=location.format(port=listener.port, own=server.port))]
    )
    with pytest.raises(BlockedAddress, match="redirects to an address that is not allowed") as caught:
        await connect(server.url).fetch(server.url + "/start", deadline=soon())
    assert listener.connections == 0
    assert len(server.heads) == 1
    assert "127." not in str(caught.value)


@pytest.mark.parametrize(("redirects", "allowed"), [(10, True), (11, False)])
async def test_ten_redirects_and_no_more(
    connect: Connect, serve: Serve, response: Response, redirects: int, allowed: bool
) -> None:
    def answer(head: bytes) -> Sequence[bytes]:
        number = int(head.split(b" ")[1].removeprefix(b"/"))
        if number == redirects:
            return [response(b"end")]
        return [response(b"", "302 Found", Location=f"/{number + 1}")]

    server: Any = await serve(answer)
    fetching = connect(server.url).fetch(server.url + "/0", deadline=soon())
    if allowed:
        assert (await fetching).body == b"end"
    else:
        with pytest.raises(TooManyRedirects, match="more than 10 times"):
            await fetching
    assert len(server.heads) == 11
    assert server.connections == 1


async def test_a_loop_ends(connect: Connect, serve: Serve, response: Response) -> None:
    server: Any = await serve(response(b"again", "301 Moved", Location="/"))
    with pytest.raises(TooManyRedirects):
        await connect(server.url).fetch(server.url, deadline=soon())
    assert len(server.heads) == 11


@pytest.mark.parametrize("coding", ["br", "gzip"])
async def test_the_body_of_a_redirect_is_not_read(
    connect: Connect, serve: Serve, response: Response, coding: str
) -> None:
    moved = response(
        b"not compressed", "302 Found", Location="/end", Content_Encoding=coding, Content_Length="99999999"
    )
    server: Any = await serve(lambda head: [moved, server.hold] if first(head) else [response(b"end")])
    reply = await connect(server.url).fetch(server.url + "/start", deadline=soon())
    assert reply.body == b"end"
    assert server.connections == 2
    await server.ended.wait()


async def test_cookies_and_referrers_do_not_cross(connect: Connect, serve: Serve, response: Response) -> None:
    other = await serve(response(b"end", Set_Cookie="b=2; Path=/"))
    server: Any = await serve(response(b"", "302 Found", Location=other.url + "/end", Set_Cookie="a=1; Path=/"))
    transport = connect(guard=Guard(allowed_origins=(server.url, other.url), origin_redirects="allowed"))
    for _ in range(2):
        await transport.fetch(server.url + "/start", deadline=soon())
    with pytest.raises(BlockedAddress):
        await connect(server.url, other.url).fetch(server.url + "/start", deadline=soon())
    for head in server.heads + other.heads:
        lines = {line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:] if line}
        assert not lines & {b"cookie", b"referer", b"authorization", b"origin"}


@pytest.mark.parametrize(
    ("cookies", "sent"),
    [
        (["a=1"], "a=1"),
        (["a=1; Path=/; HttpOnly; SameSite=Lax", "b = x=y "], "a=1; b=x=y"),
        (["a=1; Domain=example.com; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "a=1"),
        (["a=1", "a=2"], "a=2"),
        (["a=1", "a=; Max-Age=0"], None),
        (["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], None),
        (["a=1; Expires=soon"], "a=1"),
        (["a=1; Secure"], None),
        (["=1", "a", "b=\u00e9", "c=" + "x" * 5_000], None),
        ([f"n{number}=1" for number in range(60)], "; ".join(f"n{number}=1" for number in range(50))),
    ],
)
async def test_a_cookie_goes_back_to_its_host_along_the_chain(
    connect: Connect, serve: Serve, response: Response, cookies: list[str], sent: str | None
) -> None:
    lines = "\r\nSet-Cookie: ".join(cookies)
    server: Any = await serve(
        lambda head: [
            response(b"", "302 Found", Location="/end", Set_Cookie=lines) if first(head) else response(b"end")
        ]
    )
    transport = connect(server.url)
    for _ in range(2):
        await transport.fetch(server.url + "/start", deadline=soon())
    found = [re.search(rb"\r\nCookie: ([^\r]*)", head) for head in server.heads]
    assert [one and one[1].decode() for one in found] == [None, sent, None, sent]


async def test_a_call_is_never_redirected(connect: Connect, serve: Serve, response: Response, listener: Any) -> None:
    moved = response(b"moved", "307 Temporary Redirect", Location=listener.url)
    server: Any = await serve(moved)
    reply = await connect(server.url, listener.url).call(
        "brave", "GET", server.url, deadline=soon(), headers={"X-Subscription-Token": "s3cret"}
    )
    assert (reply.status, reply.body) == (307, b"moved")
    assert listener.connections == 0


async def test_errors_name_the_host_that_failed(connect: Connect, serve: Serve, response: Response) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        if host == "gone.example.com":
            raise OSError("no such name")
        return ["10.0.0.7"]

    texts = []
    for host in ("gone.example.com", "inside.example.com"):
        server: Any = await serve(response(b"", "302 Found", Location=f"http://{host}/"))
        with pytest.raises((PageUnavailable, BlockedAddress)) as caught:
            await connect(server.url, resolver=resolver).fetch(server.url, deadline=soon())
        texts.append(str(caught.value).replace(host, "HOST"))
    assert texts[0] == texts[1]
    assert texts[0].startswith("HOST does not resolve to a public web address")
