"""The guard gives the verdict of every vector, hop by hop, with the vector's own look-ups."""

import itertools
import json
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from components.data_sets import SSRF_VECTORS, set_name
from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.safety.guard import Guard
from groundwire.safety.ip_ranges import is_public
from groundwire.safety.urls import WebUrl, join_url

MAX_HOPS = 10

pytestmark = pytest.mark.req("Y13", "B3")


def vectors(*, one_look: bool = False) -> list[Any]:
    """Return the vectors; with `one_look`, those that neither redirect nor change their addresses."""
    return [
        pytest.param(row, id=f"{set_name(path)}-{row['id']}")
        for path in SSRF_VECTORS
        for row in json.loads(path.read_text("utf-8"))
        if not (one_look and (row["redirects"] or row.get("judge") == "dial"))
    ]


class VectorResolver:
    """Answers as a vector says, and as glibc does for `localhost` and for numeric spellings."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = {
            host: iter(_sequence(given["sequence"])) if isinstance(given, dict) else itertools.repeat(given)
            for host, given in answers.items()
        }

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        if host in self.answers:
            return next(self.answers[host])
        if host == "localhost" or host.endswith(".localhost"):
            return ["127.0.0.1", "::1"]
        return [socket.inet_ntoa(socket.inet_aton(host))]


def _sequence(turns: list[list[str]]) -> Iterator[list[str]]:
    yield from turns
    while True:
        yield turns[-1]


def hops(redirects: Any) -> Iterator[str]:
    steps = itertools.cycle(redirects["loop"]) if isinstance(redirects, dict) else redirects
    for step in steps:
        yield step["location"] if isinstance(step, dict) else step


async def walk(guard: Guard, vector: Any) -> list[tuple[WebUrl, tuple[str, ...]]]:
    """Follow a vector to its end; return where each hop would connect to."""
    url = guard.admit(vector["url"])
    visited = [(url, await guard.resolve(url.host, url.port))]
    for location in hops(vector["redirects"]):
        if len(visited) > MAX_HOPS:
            raise BlockedAddress("too many hops")
        url = guard.admit(join_url(url, location))
        visited.append((url, await guard.resolve(url.host, url.port)))
    return visited


def given_addresses(vector: Any, host: str) -> set[str]:
    given = vector["dns"].get(host, [host])
    return set(itertools.chain(*given["sequence"])) if isinstance(given, dict) else set(given)


async def verdict(guard: Guard, vector: Any) -> str:
    """Return `allow` or `block`, and assert that whatever would be connected to is public and was looked up."""
    try:
        visited = await walk(guard, vector)
    except (InvalidRequest, BlockedAddress, OSError):
        return "block"
    for url, addresses in visited:
        assert addresses
        assert set(addresses) <= given_addresses(vector, url.host)
        assert all(is_public(address) and guard.permits(address, url.port) for address in addresses)
    return "allow"


@pytest.mark.parametrize("vector", vectors())
async def test_vector(vector: Any) -> None:
    found = await verdict(Guard(resolver=VectorResolver(vector["dns"])), vector)
    assert found == vector["expect"] or vector.get("judge") == "dial"


@pytest.mark.parametrize("vector", vectors(one_look=True))
async def test_a_url_for_a_remote_reader(vector: Any) -> None:
    guard = Guard(resolver=VectorResolver(vector["dns"]))
    if vector["expect"] == "allow":
        assert (await guard.check(vector["url"])).text
    else:
        with pytest.raises((InvalidRequest, BlockedAddress)):
            await guard.check(vector["url"])
