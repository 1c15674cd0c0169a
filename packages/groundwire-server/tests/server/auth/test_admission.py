"""Admission: as many requests as the loop can carry, in turn by tenant; who has most is refused first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from groundwire.fair_queue import CURRENT_TENANT
from groundwire_server.auth.admission import Admission
from groundwire_server.error_body import Failed
from groundwire_server.fair_loop import run


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
        self.admission = Admission(most, self.clock, queue=8)
        self.entered: list[str] = []
        self.refused: list[str] = []
        self.reasons: set[tuple[int, str, float | None]] = set()
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
        except Failed as refusal:
            self.refused.append(owner)
            self.reasons.add((refusal.status, refusal.problem.code, refusal.problem.retry_after))


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
        await made.ask("alice", 9)  # one in progress, eight waiting
        assert made.admission.is_full
        await made.ask("bob")
        assert made.refused == ["alice"]
        await made.ask("alice")
        assert made.refused == ["alice", "alice"]
        assert made.reasons == {(503, "overloaded", 1)}
        await made.end("alice")
        await made.end("alice")
        assert "bob" in made.entered


async def test_before_it_is_parsed_a_request_of_who_has_most_is_refused() -> None:
    async with door(most=1) as made:
        for owner in ("alice", "bob"):
            made.admission.note(owner.encode(), owner)
        assert not made.admission.refuses(b"alice", "")
        await made.ask("alice", 9)
        assert made.admission.refuses(b"alice", "")
        assert not made.admission.refuses(b"bob", "")
        assert [made.admission.refuses(b"", "10.0.0.1") for _ in range(2)] == [False, True]
        assert [made.admission.refuses(b"", f"2001:db8::{number}") for number in range(3)] == [False, True, True]
        assert made.admission.refused == 4


async def test_requests_let_in_and_not_parsed_yet_have_their_room() -> None:
    admission = Admission(1, Clock(), queue=2)
    admission.note(b"alice", "alice")
    assert [admission.refuses(b"alice", "") for _ in range(3)] == [False, False, True]
    admission.observe(0.0)  # they were not heard of again: refused for another reason
    assert not admission.refuses(b"alice", "")


async def test_nobody_waits_longer_than_two_seconds() -> None:
    async with door(most=1) as made:
        await made.ask("alice", 3)
        made.clock.now += 2.1
        made.admission.observe(0.0)
        await made.settle()
        assert made.refused == ["alice", "alice"]


async def test_the_limit_follows_the_work_of_most_turns_of_the_loop() -> None:
    async with door(most=1_000) as made:
        while made.admission.limit < 200:
            await made.ask("alice", 2 + int(made.admission.limit) - made.admission.running)
            for work in (0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0):  # now and then, a turn takes longer
                made.admission.observe(work)
            await made.settle()
        risen = made.admission.limit
        for work in (0.003, 0.003, 0.003, 0.003, 0.003, 0.003, 0.0, 0.0, 0.0, 0.0):
            made.admission.observe(work)
        assert made.admission.limit < risen
        for _ in range(300):
            made.admission.observe(0.2)
        assert made.admission.limit == 16  # with fewer the loop would be idle at times


async def test_the_limit_falls_while_each_turn_of_the_loop_has_much_to_do() -> None:
    admission = Admission(100)
    first = admission.limit
    async with asyncio.timeout(60), admission.turn("alice"):
        while admission.limit >= first:
            end = time.thread_time() + 0.004
            while time.thread_time() < end:
                pass
            await asyncio.sleep(0)
    admission.close()


async def test_much_work_does_not_raise_the_limit_above_the_most() -> None:
    async with door(most=5) as made:
        await made.ask("alice", 8)
        for _ in range(10):
            made.admission.observe(0.2)
        await made.settle()
        assert (made.admission.limit, made.admission.running) == (5, 5)


async def test_an_owner_with_no_request_in_progress_has_a_place_above_the_limit() -> None:
    async with door(most=1_000) as made:
        limit = int(made.admission.limit)
        await made.ask("alice", limit + 20)
        others = [f"bob{number}" for number in range(10)]
        for owner in others:
            await made.ask(owner)
        assert made.entered[limit:] == others[:8]
        await made.ask("bob0")
        assert made.entered.count("bob0") == 1  # the second waits in turn


async def test_owners_that_come_back_do_not_go_before_one_that_waits() -> None:
    async with door(most=1_000) as made:
        owners = [f"tenant{number}" for number in range(int(made.admission.limit) + 8)]
        for owner in (*owners, "bob"):
            await made.ask(owner)
        assert "bob" not in made.entered
        await made.end(owners[0])
        await made.ask(owners[0])  # as a client does that sends one request after the other
        assert made.entered[-1] == "bob"
        await made.end(owners[1])
        assert made.entered[-1] == owners[0]


async def limit_after(made: Door, work: float) -> float:
    """Return the share of the limit that is left after an interval."""
    before = made.admission.limit
    for _ in range(10):
        made.admission.observe(work)
    await made.settle()
    return made.admission.limit / before


async def test_turns_are_shorter_while_one_owner_has_most_places_and_another_wants_some() -> None:
    async with door(most=1_000) as made:
        await made.ask("alice", 40)
        assert await limit_after(made, 0.0015) == 1
        await made.ask("bob")
        await made.end("bob")  # by the end of the interval
        assert await limit_after(made, 0.0015) < 1
        assert await limit_after(made, 0.0015) == 1  # bob is gone


async def test_turns_are_longer_while_owners_have_as_many_places() -> None:
    async with door(most=1_000) as made:
        for owner in ("alice", "bob", "carol"):
            await made.ask(owner, 20)
        assert await limit_after(made, 0.0015) == 1
        assert await limit_after(made, 0.0025) < 1


async def test_the_limit_does_not_rise_while_every_timer_is_late() -> None:
    async with door(most=1_000) as made:
        before = made.admission.limit
        for lags, rises in (([0.3] * 10, False), ([0.3] * 9 + [0.01], True)):
            await made.ask("alice", 2 + int(before) - made.admission.running)
            for lag in lags:
                made.admission.observe(0.0, lag)
            await made.settle()
            assert (made.admission.limit > before) is rises


async def test_a_pause_is_no_part_of_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    admission = Admission(100_000, queue=0)

    async def requests() -> int:
        """Make requests for an interval, and return how many may wait then."""
        nonlocal now
        for _ in range(10):
            async with admission.turn("alice"):
                pass
            now += 0.02
            for _ in range(5):
                await asyncio.sleep(0)  # the measurement that began with it ends, and no other begins
        return admission._room

    rooms = [await requests() for _ in range(20)]
    for _ in range(6):
        now += 600.0
        rooms.append(await requests())
    admission.close()
    assert rooms[-1] == rooms[19] > 0


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


async def test_requests_that_ask_for_no_place_do_not_fill_it() -> None:
    admission = Admission(100, queue=4)
    admission.note(b"key", "alice")
    for _ in range(4):  # refused afterwards, such as for a wrong key
        assert not admission.refuses(b"wrong", "10.0.0.1")
    assert admission.refuses(b"key", "10.0.0.2")
    measured = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, measured.set)  # after the measurement that is due by then
    await measured.wait()
    assert not admission.refuses(b"key", "10.0.0.2")
    assert not admission.refuses(b"", "10.0.0.3")
    admission.close()


def test_a_turn_of_the_loop_is_measured_whosever_request_was_first() -> None:
    """On the server's loop, what runs in a tenant's context has to wait only for its turn."""

    def busy(seconds: float) -> None:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass

    async def heavy() -> None:
        CURRENT_TENANT.set("heavy")
        for _ in range(60):
            busy(0.0002)
            await asyncio.sleep(0)

    async def work() -> float:
        CURRENT_TENANT.set("light")
        admission = Admission(100)
        async with admission.turn("light"):
            await asyncio.gather(*(asyncio.create_task(heavy()) for _ in range(50)))
            limit = admission.limit
        admission.close()
        return limit

    assert run(work()) < 64, "each turn took 10 ms of CPU"
