"""No request holds up the others: heavy work is done in processes, which end when nobody waits for them any more."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire.testing.world import World

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc for processes"),
]

SENTENCES = "".join(f"The harbor number {number} counts {number + 7} ships [1]. " for number in range(150))
BODIES: dict[str, dict[str, Any]] = {
    "markers": {"answer": "[1]" * 33_000, "sources": []},
    "markers in their sentences": {"answer": "Ships [1]. " * 16_000, "sources": []},
    "sentences of a source": {"answer": SENTENCES, "sources": [{"number": 1, "content": SENTENCES}]},
    "blanks": {"answer": " " * 900_000, "sources": []},
}


def workers() -> set[int]:
    """Return the worker processes of this one."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return {pid for pid in found if "worker_main" in Path(f"/proc/{pid}/cmdline").read_text()}


def status(pid: int) -> str:
    """Return what the system says of a process."""
    return Path(f"/proc/{pid}/status").read_text()


def ended(pid: int) -> None:
    """Return when a process is gone."""
    while Path(f"/proc/{pid}").exists():
        os.sched_yield()


async def stopped(request: asyncio.Future[Any], before: set[int]) -> int:
    """Stop the worker that a request has started, as soon as it is there, so that the request stays in work."""
    while not (new := workers() - before):
        assert not request.done(), "it was done without a process"
        await asyncio.sleep(0)
    (pid,) = new
    os.kill(pid, signal.SIGSTOP)
    return pid


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_health_is_told_while_a_large_answer_is_checked(
    gateway: Callable[..., Any], body: dict[str, Any]
) -> None:
    client = await (await gateway()).client()
    before = workers()
    request = asyncio.ensure_future(client.post("/v1/verify", json=body))
    pid = await stopped(request, before)
    async with client.get("/healthz") as health:
        assert health.status == 200
    assert not request.done()
    os.kill(pid, signal.SIGCONT)
    async with await request as reply:
        assert reply.status == 200
        findings = (await reply.json())["findings"]
    assert [one["verdict"] for one in findings if one["sources"] == [1]][:1] != ["not_found"]


async def test_a_call_that_takes_too_long_ends_its_work(gateway: Callable[..., Any]) -> None:
    client = await (await gateway()).client()
    before = workers()
    request = asyncio.ensure_future(client.post("/v1/verify", json=BODIES["sentences of a source"] | {"timeout": 1}))
    pid = await stopped(request, before)
    async with await request as reply:
        assert reply.status == 504
    await asyncio.to_thread(ended, pid)


async def test_too_much_to_check_is_refused_with_what_to_do(gateway: Callable[..., Any]) -> None:
    client = await (await gateway()).client()
    body = {"answer": "Ships [1]. " * 16_000, "sources": [{"number": 1, "content": "Ships."}]}
    async with client.post("/v1/verify", json=body) as reply:
        assert reply.status == 400
        assert "in parts" in (await reply.json())["error"]["message"]


async def test_the_gateway_parses_every_page_in_a_process(gateway: Callable[..., Any], world: World) -> None:
    client: aiohttp.ClientSession = await (await gateway()).client()
    before = workers()
    async with client.post(
        "/v1/pages", json={"url": world.site("articles").url + "/wiki/reciprocal-rank-fusion"}
    ) as reply:
        assert reply.status == 200
    (pid,) = workers() - before
    assert "Seccomp:\t2" in status(pid)


async def test_an_operator_may_have_only_heavy_pages_parsed_there(gateway: Callable[..., Any], world: World) -> None:
    client: aiohttp.ClientSession = await (await gateway(read={"isolation": "heavy"})).client()
    before = workers()
    async with client.post(
        "/v1/pages", json={"url": world.site("articles").url + "/wiki/reciprocal-rank-fusion"}
    ) as reply:
        assert reply.status == 200
    assert workers() == before
