"""The gate that requests for pages go through, and bodies that are cut."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from components.ruled import Ruled
from groundwire.cassette import Cassette
from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, PagePaced, PageTooLarge, TooManyRedirects
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl
from groundwire.transport import FetchSlot, Transport
from world import World


class Watching:
    """A gate that lets everything through but one path."""

    def __init__(self, shut: str = "") -> None:
        self.visits: list[tuple[str, FetchSlot]] = []
        self._shut = shut

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> None:
        """Let everything through."""

    @asynccontextmanager
    async def visit(self, url: WebUrl, deadline: Deadline) -> AsyncGenerator[FetchSlot]:
        if url.target == self._shut:
            raise PagePaced(url.text, "Not now. Try again in 3 seconds.", retry_after=3.0)
        if url.target == "/late":
            raise DeadlineExceeded("The gate was late.")
        visit = FetchSlot()
        self.visits.append((url.target, visit))
        yield visit


@pytest.fixture
def site(world: World) -> Ruled:
    made = world.add(Ruled("tides"))
    made.moved |= {"/a": "/b", "/b": "/c"}
    return made


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.req("B3")
async def test_every_hop_goes_through_the_gate(site: Ruled) -> None:
    transport = Transport(Guard(allowed_origins=[site.url]))
    gate = transport.gate = Watching()
    await transport.fetch(f"{site.url}/a", deadline=soon())
    assert [target for target, _ in gate.visits] == ["/a", "/b", "/c"]
    assert [visit.status for _, visit in gate.visits] == [0, 0, 200]
    assert "Content-Type" in gate.visits[-1][1].headers
    await transport.fetch(f"{site.url}/a", deadline=soon(), gated=False)
    await transport.call("x", "GET", f"{site.url}/a", deadline=soon())
    assert len(gate.visits) == 3
    await transport.aclose()


@pytest.mark.req("B3")
async def test_what_the_gate_says_is_what_is_said(site: Ruled) -> None:
    transport = Transport(Guard(allowed_origins=[site.url]))
    transport.gate = Watching(shut="/c")
    with pytest.raises(PagePaced, match="3 seconds"):
        await transport.fetch(f"{site.url}/a", deadline=soon())
    with pytest.raises(DeadlineExceeded, match="The gate was late"):
        await transport.fetch(f"{site.url}/late", deadline=soon())
    assert [request.path for request in site.requests] == ["/a", "/b"]
    await transport.aclose()


async def test_redirects_have_a_bound_of_ones_own(site: Ruled) -> None:
    transport = Transport(Guard(allowed_origins=[site.url]))
    with pytest.raises(TooManyRedirects, match="more than 1 times"):
        await transport.fetch(f"{site.url}/a", deadline=soon(), hops=1)
    await transport.aclose()


async def test_a_long_body_is_cut_where_that_is_wanted(site: Ruled, tmp_path: Path) -> None:
    site.text = "tide " * 20_000
    file = tmp_path / "one.jsonl"
    cassette = Cassette.record(file)
    transport = Transport(Guard(allowed_origins=[site.url]), cassette=cassette)
    reply = await transport.fetch(f"{site.url}/x", deadline=soon(), cap=5_000, cut=True)
    assert len(reply.body) == 5_000
    with pytest.raises(PageTooLarge):
        await transport.fetch(f"{site.url}/y", deadline=soon(), cap=5_000)
    await transport.aclose()
    again = Transport(Guard(allowed_origins=[site.url]), cassette=Cassette.replay(file))
    assert (await again.fetch(f"{site.url}/x", deadline=soon(), cap=5_000, cut=True)).body == reply.body
    await again.aclose()
