"""The parts of the MCP server by themselves: progress, addresses of resources, clients that go."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groundwire.mcp_server.handlers import page_of, page_uri
from groundwire.mcp_server.sessions import reporting
from groundwire.models import AttemptStarted
from groundwire.telemetry.call_events import with_listener


@given(st.text(min_size=1))
def test_a_page_comes_back_from_its_resource(url: str) -> None:
    storable = url.encode("utf-8", "replace").decode()
    assert page_of(page_uri(storable)) == (storable, None)
    assert page_of(page_uri(storable) + "?cursor=%232") == (storable, "#2")


def test_resources_that_are_no_pages() -> None:
    assert page_of("groundwire://session") is None
    assert page_of("groundwire://page/") is None
    assert page_of("groundwire://page/https://a.example/b?c=d") == ("https://a.example/b?c=d", None)


async def test_a_silent_call_is_heard_of_again_and_again() -> None:
    told: list[tuple[float, float | None, str | None]] = []
    enough = asyncio.Event()

    async def report(done: float, total: float | None, text: str | None) -> None:
        told.append((done, total, text))
        if len(told) == 3:
            enough.set()

    async def work() -> str:
        await enough.wait()
        return "done"

    assert await reporting(report, 20.0, work(), heartbeat=0.001) == "done"
    assert [total for _, total, _ in told] == [20.0] * len(told)
    assert all(before[0] < after[0] for before, after in pairwise(told))
    assert all(text and "Still running" in text for _, _, text in told)


async def test_a_report_just_before_the_end_is_the_last() -> None:
    async def report(done: float, total: float | None, text: str | None) -> None:
        pass

    tell, others = with_listener(None), asyncio.all_tasks()
    for turns in range(12):

        async def work(turns: int = turns) -> None:
            await asyncio.sleep(0)
            tell(AttemptStarted("tavily"))
            for _ in range(turns):
                await asyncio.sleep(0)

        await reporting(report, 20.0, work(), heartbeat=60.0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == others


async def test_a_client_that_hears_nothing_more_harms_no_call() -> None:
    failed = asyncio.Event()

    async def report(done: float, total: float | None, text: str | None) -> None:
        failed.set()
        raise BrokenPipeError

    async def work() -> str:
        await failed.wait()
        return "done"

    assert await reporting(report, 20.0, work(), heartbeat=0.001) == "done"
