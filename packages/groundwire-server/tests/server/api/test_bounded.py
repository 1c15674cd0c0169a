"""No request holds up the others: heavy work is done in processes, which end when nobody waits for them any more."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire.citations.verify.limits import MAX_BRACKETS, MAX_SEARCHED, MAX_SENTENCES
from world import World

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc for processes"),
]

SENTENCES = "".join(f"The harbor number {number} counts {number + 7} ships [1]. " for number in range(150))
BODIES: dict[str, dict[str, Any]] = {
    "markers": {"answer": "[1]" * MAX_BRACKETS, "sources": []},
    "markers in their sentences": {"answer": "Ships [1]. " * MAX_BRACKETS, "sources": []},
    "sentences of a source": {"answer": SENTENCES, "sources": [{"number": 1, "content": SENTENCES}]},
    "blanks": {"answer": " " * 900_000, "sources": []},
}

MANY = "".join(f"The harbor number {number} counts {number + 7} ships [1]. " for number in range(3_000))
HARBOR = {"number": 1, "content": "Ships sail."}
BRACKETS, LINES, LONG = f"{MAX_BRACKETS:,} markers", f"{MAX_SENTENCES:,} sentences", f"{MAX_SEARCHED:,} characters"
HOSTILE: dict[str, tuple[str, dict[str, Any]]] = {
    "markers": (BRACKETS, {"answer": "[1]" * 300_000, "sources": []}),
    "brackets": (BRACKETS, {"answer": "[" * 900_000, "sources": [HARBOR]}),
    "formulas": (BRACKETS, {"answer": "\\[" * 450_000, "sources": [HARBOR]}),
    "wide markers": (BRACKETS, {"answer": "船来了【1】。" * 60_000, "sources": [HARBOR]}),
    "markers in their sentences": (BRACKETS, {"answer": "Ships [1]. " * 86_000, "sources": [HARBOR]}),
    "wide sentences": (LINES, {"answer": "船来了。" * 100_000, "sources": [HARBOR]}),
    "tables": (LINES, {"answer": "| a | b |\n|---|---|\n" * 45_000, "sources": [HARBOR]}),
    "fences": (LINES, {"answer": "```\nx\n```\n" * 80_000, "sources": [HARBOR]}),
    "items": (LINES, {"answer": "- a\n" * 200_000, "sources": [HARBOR]}),
    "a long source": (LONG, {"answer": MANY, "sources": [{"number": 1, "content": MANY * 7}]}),
    "a long source in lists": (
        LONG,
        {"answer": "[0-9, 1-5] " * 5_000, "sources": [{"number": 1, "content": MANY * 7}]},
    ),
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
    request = asyncio.ensure_future(client.post("/v1/verify", json=BODIES["sentences of a source"] | {"timeout": 5}))
    pid = await stopped(request, before)
    async with await request as reply:
        assert reply.status == 504
    await asyncio.to_thread(ended, pid)


@pytest.mark.req("B23")
@pytest.mark.parametrize(("limit", "body"), HOSTILE.values(), ids=HOSTILE)
async def test_too_much_to_check_is_refused_before_any_work_with_what_to_do(
    gateway: Callable[..., Any], limit: str, body: dict[str, Any]
) -> None:
    client = await (await gateway()).client()
    before = workers()
    of_session = [] if limit == LONG else [{"answer": body["answer"], "session": "own"}]  # which has no long source
    for asked in (body, *of_session):
        data = io.BytesIO(json.dumps(asked, ensure_ascii=False).encode())
        async with client.post("/v1/verify", data=data, headers={"Content-Type": "application/json"}) as reply:
            said = await reply.json()
            assert reply.status == 400, said
            assert limit in said["error"]["message"]
            assert "in parts" in said["error"]["message"]
    assert workers() == before


@pytest.mark.req("B23", "B43")
async def test_a_page_does_not_wait_for_the_answers_that_another_tenant_has_checked(
    gateway: Callable[..., Any], world: World
) -> None:
    served = await gateway(holders={"alice": {}, "bob": {}}, read={"isolation": "auto"})
    alice, bob = await served.holder("alice"), await served.holder("bob")
    before, pids = workers(), set[int]()
    requests = list[asyncio.Future[aiohttp.ClientResponse]]()
    processes = min(4, max(2, (os.cpu_count() or 2) // 2))
    while len(requests) < 12:  # the others wait for their turn
        requests.append(asyncio.ensure_future(alice.post("/v1/verify", json=BODIES["sentences of a source"])))
        if len(requests) <= processes:
            pids.add(await stopped(requests[-1], before | pids))
    async with bob.post("/v1/pages", json={"url": f"{world.site('articles').url}/wiki/bm25"}) as reply:
        assert reply.status == 200
    assert not any(request.done() for request in requests)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    for request in requests:
        async with await request as reply:
            assert reply.status == 200


async def test_the_gateway_parses_every_page_in_a_process(gateway: Callable[..., Any], world: World) -> None:
    client: aiohttp.ClientSession = await (await gateway(read={"isolation": "auto"})).client()
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
