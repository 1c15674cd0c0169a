"""Slots are shared by tenants: who was served for the least time is next."""

from __future__ import annotations

import asyncio
import contextvars

import hypothesis
from hypothesis import strategies as st

from components.examples import examples
from groundwire.fair_queue import CURRENT_TENANT, FairQueue


class Jobs:
    """Starts jobs of tenants that hold a slot until they are ended; the clock moves by what each is said to take."""

    def __init__(self, slots: int) -> None:
        self.now = 100.0
        self.queue = FairQueue(slots, lambda: self.now)
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str) -> None:
        """Start a job; the first letter of its name is its tenant."""
        context = contextvars.copy_context()
        context.run(CURRENT_TENANT.set, name[0])
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.get_running_loop().create_task(self._run(name), context=context)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def end(self, name: str, seconds: float = 0.0) -> None:
        self.now += seconds
        self._ends[name].set()
        await self._tasks[name]
        await asyncio.sleep(0)

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await asyncio.sleep(0)

    async def _run(self, name: str) -> None:
        async with self.queue.slot():
            self.begun.append(name)
            await self._ends[name].wait()


async def test_who_was_served_less_is_next() -> None:
    jobs = Jobs(1)
    for name in ("a1", "a2", "a3", "b1", "b2"):
        await jobs.start(name)
    await jobs.end("a1", 10.0)
    await jobs.end("b1", 1.0)
    await jobs.end("b2", 1.0)
    await jobs.end("a2", 1.0)
    assert jobs.begun == ["a1", "b1", "b2", "a2", "a3"]


async def test_a_tenant_that_comes_late_is_not_given_what_it_missed() -> None:
    jobs = Jobs(1)
    for number in range(3):
        await jobs.start(f"a{number}")
    await jobs.end("a0", 1_000.0)
    await jobs.end("a1", 1.0)
    for name in ("b1", "b2", "a3"):
        await jobs.start(name)
    await jobs.end("a2", 1.0)
    await jobs.end("b1", 5.0)
    assert jobs.begun[3:] == ["b1", "a3"]


async def test_the_last_of_several_slots_is_left_to_others_that_had_work_lately() -> None:
    jobs = Jobs(2)
    for name in ("a1", "a2", "b1", "a3"):
        await jobs.start(name)
    assert jobs.begun == ["a1", "a2"]  # alone, it may use all
    await jobs.end("a1")
    await jobs.end("b1")
    assert (jobs.begun, jobs.queue.running, jobs.queue.waiting) == (["a1", "a2", "b1"], 1, 1)
    await jobs.start("b2")
    assert jobs.begun[-1] == "b2"
    await jobs.end("b2")
    jobs.now += 61.0
    await jobs.start("a4")
    assert jobs.begun[-1] == "a3"


async def test_a_call_that_is_canceled_leaves_its_place() -> None:
    jobs = Jobs(1)
    for name in ("a1", "a2", "b1"):
        await jobs.start(name)
    await jobs.cancel("b1")
    await jobs.cancel("a1")
    assert jobs.begun == ["a1", "a2"]
    await jobs.cancel("a2")
    assert (jobs.queue.running, jobs.queue.waiting) == (0, 0)


async def test_one_canceled_as_it_is_given_a_slot_gives_it_back() -> None:
    jobs = Jobs(1)
    await jobs.start("a1")
    await jobs.start("b1")
    jobs._ends["a1"].set()
    await asyncio.sleep(0)
    assert (jobs.queue.running, jobs.queue.waiting, jobs.begun) == (1, 0, ["a1"])
    await jobs.cancel("b1")
    await jobs.start("c1")
    assert "c1" in jobs.begun


@hypothesis.settings(max_examples=examples(100))
@hypothesis.given(st.integers(1, 3), st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=40))
def test_no_slot_is_lost(slots: int, steps: list[tuple[str, int]]) -> None:
    async def play() -> None:
        jobs = Jobs(slots)
        live: list[str] = []
        for number, (tenant, step) in enumerate(steps):
            if step < 2 or not live:
                live.append(f"{tenant}{number}")
                await jobs.start(live[-1])
            else:
                name = live.pop(number % len(live))
                await (jobs.end if step == 2 and name in jobs.begun else jobs.cancel)(name)
            assert jobs.queue.running <= slots
        for name in live:
            await jobs.cancel(name)
        assert (jobs.queue.running, jobs.queue.waiting) == (0, 0)
        for number in range(slots):
            await jobs.start(f"z{number}")
        assert jobs.queue.running == slots or slots > 1
        for number in range(slots):
            await jobs.cancel(f"z{number}")

    asyncio.run(play())
