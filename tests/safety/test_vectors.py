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


sets = pytest.mark.parametrize(
    "vectors", [pytest.param(json.loads(path.read_text("utf-8")), id=set_name(path)) for path in SSRF_VECTORS]
)


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


@sets
async def test_every_vector_has_its_verdict(vectors: list[Any]) -> None:
    found = {row["id"]: await verdict(Guard(resolver=VectorResolver(row["dns"])), row) for row in vectors}
    assert found == {row["id"]: found[row["id"]] if row.get("judge") == "dial" else row["expect"] for row in vectors}


@sets
async def test_a_url_for_a_remote_reader(vectors: list[Any]) -> None:
    """Of the vectors that neither redirect nor change their addresses."""
    rows = [row for row in vectors if not row["redirects"] and row.get("judge") != "dial"]
    found = {}
    for row in rows:
        try:
            found[row["id"]] = (
                "allow" if (await Guard(resolver=VectorResolver(row["dns"])).check(row["url"])).text else ""
            )
        except (InvalidRequest, BlockedAddress):
            found[row["id"]] = "block"
    assert found == {row["id"]: row["expect"] for row in rows}
