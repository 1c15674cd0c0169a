"""Nothing is dialled that the guard has not allowed: not by name, by address, by redirect, nor by a changed answer."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import pytest

from components.data_sets import SSRF_VECTORS, set_name
from groundwire.deadline import Deadline
from groundwire.errors import BlockedAddress, InvalidRequest, PageError
from groundwire.safety.guard import Guard
from groundwire.safety.ip_ranges import is_public
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.transport import Transport

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

PUBLIC = "93.184.215.14"

pytestmark = pytest.mark.req("Y13", "B3")


def soon() -> Deadline:
    return Deadline.after(60)


class Watched(Guard):
    """A guard that notes what is offered to its last gate, and lets only allowed origins through."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.permitted: list[tuple[str, int]] = []
        self.refused: list[tuple[str, int]] = []

    def permits(self, address: str, port: int) -> bool:
        allowed = super().permits(address, port)
        (self.permitted if allowed else self.refused).append((address, port))
        return allowed and not is_public(address)


class Careless(Watched):
    """A guard whose first two gates are open, so that only the last one is left."""

    def admit(self, url: str | WebUrl) -> WebUrl:
        return url if isinstance(url, WebUrl) else parse_url(url)

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return (PUBLIC, "127.0.0.1", "::1", "169.254.169.254")


def answers(*turns: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """Return a resolver whose answer changes; the last one stays."""
    coming = itertools.chain(turns, itertools.repeat(turns[-1]))

    async def resolve(host: str, port: int) -> Sequence[str]:
        return next(coming)

    return resolve


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.1", "2606:4700::1111"],
        ["0.0.0.0"],
        ["not an address"],
        [],
    ],
    ids=str,
)
async def test_names_that_lead_inside(connect: Connect, listener: Any, addresses: list[str]) -> None:
    guard = Watched(resolver=answers(addresses))
    with pytest.raises(BlockedAddress, match=r"^pub\.example\.com does not resolve") as caught:
        await connect(guard=guard).fetch(f"http://pub.example.com:{listener.port}/", deadline=soon())
    assert listener.connections == 0
    assert not guard.permitted
    assert not guard.refused
    assert not any(address and address in str(caught.value) for address in addresses)


async def test_rebinding_between_the_check_and_the_fetch(connect: Connect, listener: Any) -> None:
    guard = Watched(resolver=answers([PUBLIC], ["127.0.0.1"]))
    url = f"http://pub.example.com:{listener.port}/"
    await guard.check(url)
    with pytest.raises(BlockedAddress):
        await connect(guard=guard).fetch(url, deadline=soon())
    assert listener.connections == 0
    assert not guard.permitted


async def test_one_look_up_for_one_connection(connect: Connect, listener: Any) -> None:
    guard = Watched(resolver=answers([PUBLIC], ["127.0.0.1"]))
    with pytest.raises(BlockedAddress):
        await connect(guard=guard).fetch(f"http://pub.example.com:{listener.port}/", deadline=soon())
    assert guard.permitted == [(PUBLIC, listener.port)]
    assert listener.connections == 0


async def test_every_request_is_judged_afresh(connect: Connect, listener: Any) -> None:
    guard = Watched(resolver=answers([PUBLIC], ["127.0.0.1"]))
    transport = connect(guard=guard)
    for _ in range(3):
        with pytest.raises(BlockedAddress):
            await transport.fetch(f"http://pub.example.com:{listener.port}/", deadline=soon())
    assert guard.permitted == [(PUBLIC, listener.port)]
    assert listener.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])
async def test_literal_addresses_at_the_last_gate(connect: Connect, listener: Any, host: str) -> None:
    guard = Careless()
    with pytest.raises(BlockedAddress, match="only public web addresses"):
        await connect(guard=guard).fetch(f"http://{host}:{listener.port}/", deadline=soon())
    assert (listener.connections, guard.permitted, len(guard.refused)) == (0, [], 1)


async def test_looked_up_addresses_at_the_last_gate(connect: Connect, listener: Any) -> None:
    guard = Careless()
    with pytest.raises(BlockedAddress):
        await connect(guard=guard).fetch(f"http://anything.example.com:{listener.port}/", deadline=soon())
    assert listener.connections == 0
    assert {address for address, _ in guard.refused} == {"127.0.0.1", "::1", "169.254.169.254"}


async def test_calls_pass_the_same_gates(connect: Connect, listener: Any) -> None:
    transport = connect(guard=Watched(resolver=answers(["127.0.0.1"])))
    for url in (listener.url, f"http://pub.example.com:{listener.port}/"):
        with pytest.raises(BlockedAddress):
            await transport.call("searx", "GET", url, deadline=soon(), headers={"X-Key": "s3cret"})
    assert listener.connections == 0


async def test_an_allowed_origin_opens_itself_only(
    connect: Connect, serve: Serve, response: Response, listener: Any
) -> None:
    server: Any = await serve(
        lambda head: [
            response(b"", "302 Found", Location=f"http://inside.example.com:{listener.port}/")
            if head.startswith(b"GET /away ")
            else response(b"ok")
        ]
    )
    transport = connect(f"http://searx.test:{server.port}", resolver=answers(["127.0.0.1"]))
    own = f"http://searx.test:{server.port}/"
    assert (await transport.fetch(own, deadline=soon())).body == b"ok"
    for url in (own + "away", f"http://other.example.com:{server.port}/", f"http://127.0.0.1:{listener.port}/"):
        with pytest.raises(BlockedAddress):
            await transport.fetch(url, deadline=soon())
    assert listener.connections == 0
    assert len(server.heads) == 2


def vectors(*, redirecting: bool) -> list[Any]:
    """Return the vectors of each set."""
    return [
        pytest.param(
            [row for row in json.loads(path.read_text("utf-8")) if bool(row["redirects"]) is redirecting],
            id=set_name(path),
        )
        for path in SSRF_VECTORS
    ]


def vector_resolver(given: dict[str, Any]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """Answer as a vector says, and as glibc does for `localhost` and for numeric spellings."""
    turns = {host: answers(*(row["sequence"] if isinstance(row, dict) else [row])) for host, row in given.items()}

    async def resolve(host: str, port: int) -> Sequence[str]:
        if host in turns:
            return await turns[host](host, port)
        if host == "localhost" or host.endswith(".localhost"):
            return ["127.0.0.1", "::1"]
        return [socket.inet_ntoa(socket.inet_aton(host))]

    return resolve


def may_be_offered(vector: Any) -> set[str]:
    given = [row["sequence"] if isinstance(row, dict) else [row] for row in vector["dns"].values()]
    return {address for turns in given for turn in turns for address in turn if is_public(address)}


@pytest.mark.parametrize("cases", vectors(redirecting=False))
async def test_vectors_end_to_end(connect: Connect, cases: list[Any]) -> None:
    for vector in cases:
        guard = Watched(resolver=vector_resolver(vector["dns"]))
        with pytest.raises((BlockedAddress, InvalidRequest, PageError)):
            await connect(guard=guard).fetch(vector["url"], deadline=soon())
        name, url = vector["id"], vector["url"]
        assert not guard.refused, name
        assert {address for address, _ in guard.permitted if address not in url} <= may_be_offered(vector), name
        assert all(is_public(address) for address, _ in guard.permitted), name
        if vector.get("judge") != "dial":
            assert bool(guard.permitted) is (vector["expect"] == "allow"), name


def locations(redirects: Any) -> Iterable[str]:
    steps = redirects["loop"] if isinstance(redirects, dict) else redirects
    return [step["location"] if isinstance(step, dict) else step for step in steps]


@pytest.mark.parametrize("cases", vectors(redirecting=True))
async def test_vectors_as_redirects_end_to_end(
    connect: Connect, serve: Serve, response: Response, cases: list[Any]
) -> None:
    for vector in cases:
        await _redirected(connect, serve, response, vector)


async def _redirected(connect: Connect, serve: Serve, response: Response, vector: Any) -> None:
    *_, last = locations(vector["redirects"])
    server: Any = await serve(
        lambda head: [
            response(b"", "302 Found", Location=last)
            if head.startswith(b"GET /start ") or isinstance(vector["redirects"], dict)
            else response(b"end")
        ]
    )
    guard = Watched(allowed_origins=[server.url], resolver=vector_resolver(vector["dns"]))
    fetching = connect(guard=guard).fetch(server.url + "/start", deadline=soon())
    if last.startswith("/") and not last.startswith("//") and isinstance(vector["redirects"], list):
        assert (await fetching).body == b"end"
    else:
        with pytest.raises((BlockedAddress, PageError)):
            await fetching
    offered = {address for address, port in guard.permitted if port != server.port}
    assert not guard.refused
    assert offered <= may_be_offered(vector)
    assert not (vector["expect"] == "block" and offered)
