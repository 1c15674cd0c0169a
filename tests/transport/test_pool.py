"""Connections are shared, never after a body was left unread, and none outlives its request or the transport."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import Closed, PageError, PageTooLarge
from groundwire.testing import InjectedFault
from groundwire.transport import Transport
from world import World, wire_faults
from world.bombs import bomb_fault

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.req("B3")
async def test_connections_are_reused(world: World, connect: Connect) -> None:
    transport = connect(world.searxng.url)
    for _ in range(20):
        await transport.call("searx", "GET", world.searxng.url + "/search", deadline=soon(), params={"q": "x"})
        await transport.fetch(world.searxng.url, deadline=soon())
    assert world.searxng.connections == 1
    assert len(world.searxng.requests) == 40


@pytest.mark.req("B2")
async def test_a_connection_with_an_unread_body_is_closed(connect: Connect, serve: Serve, response: Response) -> None:
    big = response(b"x" * 2_000, Content_Length="500000")
    server: Any = await serve(lambda head: [big, server.hold] if b"/big" in head else [response(b"small")])
    transport = connect(server.url)
    with pytest.raises(PageTooLarge):
        await transport.fetch(server.url + "/big", deadline=soon(), cap=1_000)
    await server.ended.wait()
    assert (await transport.fetch(server.url, deadline=soon())).body == b"small"
    assert server.connections == 2


@pytest.mark.req("B3")
async def test_many_at_once(world: World, connect: Connect) -> None:
    transport = connect(world.searxng.url)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(transport.fetch(f"{world.searxng.url}/?n={number}", deadline=soon()))
            for number in range(64)
        ]
    assert {task.result().status for task in tasks} == {200}
    assert {request.target for request in world.searxng.requests} == {f"/?n={number}" for number in range(64)}
    await transport.aclose()


@pytest.mark.req("B2")
@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK\r\nConte", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbody"]
)
async def test_a_cancelled_request_leaves_nothing(connect: Connect, serve: Serve, sent: bytes) -> None:
    server: Any = await serve(lambda _: [sent, server.hold])
    transport = connect(server.url)
    before = asyncio.all_tasks()
    task = asyncio.create_task(transport.fetch(server.url, deadline=soon()))
    await server.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.ended.wait()
    ours = {one for one in asyncio.all_tasks() - before if "RawServer" not in repr(one)}
    assert not ours


@pytest.mark.req("B2")
async def test_a_request_cancelled_while_its_name_is_looked_up(connect: Connect) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def resolver(host: str, port: int) -> list[str]:
        asked.set()
        await answer.wait()
        return ["10.0.0.1"]

    transport = connect(resolver=resolver)
    before = asyncio.all_tasks()
    task = asyncio.create_task(transport.fetch("http://slow.example.com/", deadline=soon()))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await transport.aclose()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


@pytest.mark.req("B3")
@pytest.mark.parametrize(
    "answer", [[], [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b"x" * 2_000]], ids=["head", "body"]
)
async def test_closing_under_a_request(connect: Connect, serve: Serve, answer: list[bytes]) -> None:
    server: Any = await serve(lambda _: [*answer, server.hold])
    transport = connect(server.url)
    reading = asyncio.Event()
    task = asyncio.create_task(transport.fetch(server.url, deadline=soon(), inspect=lambda _: reading.set()))
    await (reading if answer else server.asked).wait()
    await transport.aclose()
    with pytest.raises(Closed):
        await task
    await server.ended.wait()


@pytest.mark.req("B3")
@pytest.mark.parametrize("steps", range(12))
@pytest.mark.parametrize("used", [True, False])
async def test_closing_at_any_step_of_a_request(
    connect: Connect, serve: Serve, response: Response, steps: int, used: bool
) -> None:
    server: Any = await serve(lambda head: [response(b"ok")] if b"/first" in head else [server.hold])
    transport = connect(server.url)
    if used:
        await transport.fetch(server.url + "/first", deadline=soon())
    task = asyncio.create_task(transport.fetch(server.url, deadline=soon()))
    for _ in range(steps):
        await asyncio.sleep(0)
    closing = [asyncio.create_task(transport.aclose()) for _ in range(2)]
    with pytest.raises(Closed):
        await task
    await asyncio.gather(*closing)


@pytest.mark.req("B3")
async def test_after_closing(world: World, connect: Connect) -> None:
    unused, transport = connect(world.searxng.url), connect(world.searxng.url)
    await transport.fetch(world.searxng.url, deadline=soon())
    for one in (unused, transport):
        await one.aclose()
        await one.aclose()
        with pytest.raises(Closed):
            await one.fetch(world.searxng.url, deadline=soon())
        with pytest.raises(Closed):
            await one.call("searx", "GET", world.searxng.url, deadline=soon())
    await asyncio.to_thread(_until, lambda: world.searxng.connections == 0)


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _until(done: Callable[[], bool]) -> None:
    while not done():
        os.sched_yield()


@pytest.mark.req("B2")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted as Linux shows them")
async def test_no_socket_is_left_after_errors(world: World, connect: Connect) -> None:
    transport = connect(world.searxng.url)
    await transport.fetch(world.searxng.url, deadline=soon())
    faults = [
        InjectedFault.reset(),
        InjectedFault.reset(5),
        InjectedFault.truncated(),
        wire_faults.garbage(),
        bomb_fault(),
        InjectedFault.close(),
    ]
    before = _open_files()
    for fault in faults * 3:
        world.searxng.heal()
        world.searxng.fail(fault, times=None)
        with pytest.raises(PageError):
            await transport.fetch(world.searxng.url, deadline=soon())
    await transport.aclose()
    gc.collect()
    await asyncio.to_thread(_until, lambda: _open_files() <= before)


_BOMB = """
import asyncio, resource, sys
from groundwire.deadline import Deadline
from groundwire.errors import PageTooLarge, PageError
from groundwire.safety.guard import Guard
from groundwire.testing import InjectedFault
from groundwire.transport import Transport
from world import World
from world.bombs import bomb_fault

async def main():
    with World() as world:
        transport = Transport(Guard(allowed_origins=[world.searxng.url]))
        for _ in range(2):
            await transport.fetch(world.searxng.url, deadline=Deadline.after(60))
        world.searxng.fail(bomb_fault("gzip", mb=10_000))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            await transport.fetch(world.searxng.url, deadline=Deadline.after(60))
        except PageTooLarge:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        await transport.aclose()

asyncio.run(main())
"""


@pytest.mark.req("B2")
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_a_bomb_of_ten_gigabytes_costs_little() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", _BOMB], env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert ran.stdout, ran.stderr
    assert int(ran.stdout) < 40_000  # kilobytes
