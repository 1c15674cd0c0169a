"""Admission: as many requests as the loop can carry, in turn by tenant; who has most is refused first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from groundwire_server.auth.admission import Admission
from groundwire_server.auth.error_response import Refusal


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Door:
    """An admission with requests that end when a test says so."""

    def __init__(self, most: int) -> None:
        self.clock = Clock()
        self.admission = Admission(most, self.clock)
        self.entered: list[str] = []
        self.refused: list[str] = []
        self.reasons: set[tuple[int, str, int | None]] = set()
        self.tasks: list[asyncio.Task[None]] = []
        self._ended: list[asyncio.Event] = []

    async def ask(self, owner: str, times: int = 1) -> None:
        for _ in range(times):
            end = asyncio.Event()
            self.tasks.append(asyncio.create_task(self._one(owner, end)))
        await self.settle()

    async def end(self, owner: str) -> None:
        """End the first request of an owner that is in progress."""
        at = self.entered.index(owner)
        self.entered[at] = f"{owner} ended"
        self._ended[at].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def _one(self, owner: str, end: asyncio.Event) -> None:
        try:
            async with self.admission.turn(owner):
                self.entered.append(owner)
                self._ended.append(end)
                await end.wait()
        except Refusal as refusal:
            self.refused.append(owner)
            self.reasons.add((refusal.status, refusal.code, refusal.retry_after))


@asynccontextmanager
async def door(most: int) -> AsyncIterator[Door]:
    made = Door(most)
    try:
        yield made
    finally:
        for task in made.tasks:
            task.cancel()
        await asyncio.gather(*made.tasks, return_exceptions=True)
        made.admission.close()
        assert made.admission.running == 0  # whatever has happened


async def test_owners_take_turns() -> None:
    async with door(most=2) as made:
        await made.ask("alice", 6)
        await made.ask("bob")
        assert made.entered == ["alice", "alice"]
        await made.end("alice")
        await made.end("alice")
        assert made.entered[2:] == ["alice", "bob"]  # alice has four more, and bob does not wait for them


async def test_who_has_most_is_refused_first() -> None:
    async with door(most=1) as made:
        await made.ask("alice", 9)  # one in progress, eight waiting: the queue of a server that has done nothing yet
        assert made.admission.is_full
        await made.ask("bob")
        assert made.refused == ["alice"]
        await made.ask("alice")
        assert made.refused == ["alice", "alice"]
        assert made.reasons == {(503, "overloaded", 1)}
        await made.end("alice")
        await made.end("alice")
        assert "bob" in made.entered


async def test_nobody_waits_longer_than_two_seconds() -> None:
    async with door(most=1) as made:
        await made.ask("alice", 3)
        made.clock.now += 2.1
        made.admission.observe(0.0)
        await made.settle()
        assert made.refused == ["alice", "alice"]


async def test_the_limit_follows_a_standing_lag() -> None:
    async with door(most=1_000) as made:
        while made.admission.limit < 200:
            await made.ask("alice", 2 + int(made.admission.limit) - made.admission.running)
            for _ in range(9):
                made.admission.observe(0.2)
            made.admission.observe(0.0)  # one turn in time: no standing delay
            await made.settle()
        risen = made.admission.limit
        for _ in range(10):
            made.admission.observe(0.2)
        assert made.admission.limit < risen
        for _ in range(300):
            made.admission.observe(0.2)
        assert made.admission.limit == 64  # with fewer the loop would be idle at times


async def test_a_lag_does_not_raise_the_limit_above_the_most() -> None:
    async with door(most=5) as made:
        await made.ask("alice", 8)
        for _ in range(10):
            made.admission.observe(0.2)
        await made.settle()
        assert (made.admission.limit, made.admission.running) == (5, 5)


async def test_the_limit_rises_while_the_loop_is_in_time() -> None:
    async with door(most=1_000) as made:
        while made.admission.limit < 1_000:
            before = made.admission.limit
            await made.ask("alice", 2 + int(before) - made.admission.running)
            for _ in range(10):
                made.admission.observe(0.0)
            await made.settle()
            assert made.admission.limit > before
        assert made.refused == []


async def test_those_who_leave_while_they_wait_take_no_place() -> None:
    async with door(most=1) as made:
        await made.ask("alice", 3)
        made.tasks[1].cancel()
        await made.settle()
        await made.end("alice")
        assert made.entered == ["alice ended", "alice"]
        await made.end("alice")
        assert made.admission.running == 0


async def test_one_who_leaves_when_let_in_gives_the_place_on() -> None:
    admission = Admission(1, Clock())
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(admission.turn("alice"))

        async def wait() -> None:
            async with admission.turn("bob"):
                pytest.fail("it was canceled before")

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await stack.aclose()  # lets bob in
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert admission.running == 0
    admission.close()
