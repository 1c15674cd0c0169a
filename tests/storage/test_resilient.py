"""A store that fails never fails a call."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Sequence

import pytest

from components.step_store import StepStore, run_each
from groundwire.storage import Count, Entry, MemoryStore, Pace, ResilientStore, StoreError, open_store
from groundwire.storage.base import Add, Answer, Get, Operation, Set
from world.virtual_time import run_virtually


class Moody(StepStore):
    """A store in memory that is gone, or hangs, when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = False
        self.hangs = False
        self.asked = 0

    async def _mood(self) -> None:
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.gone:
            raise StoreError("The store is gone.")

    async def get(self, key: str) -> Entry | None:
        await self._mood()
        return await super().get(key)

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        await self._mood()
        await super().set(key, value, fresh=fresh, stale=stale)

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        await self._mood()
        return await super().count(key, amount, limit=limit, ttl=ttl)

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        await self._mood()
        return await super().pace(key, interval=interval, burst=burst, max_wait=max_wait)

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        await self._mood()
        return await super().lease(key, owner=owner, ttl=ttl)

    async def release(self, key: str, *, owner: str) -> None:
        await self._mood()
        await super().release(key, owner=owner)

    async def delete(self, key: str) -> None:
        await self._mood()
        await super().delete(key)


@pytest.fixture
def real() -> Moody:
    return Moody()


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
async def store(real: Moody, now: list[float]) -> AsyncIterator[ResilientStore]:
    made = ResilientStore(real, bound=0.05, pause=1, clock=lambda: now[0])
    yield made
    await made.aclose()


@pytest.mark.parametrize("trouble", ["gone", "hangs"])
async def test_every_call_is_answered_from_memory(store: ResilientStore, real: Moody, trouble: str) -> None:
    setattr(real, trouble, True)
    await store.set("k", b"v", fresh=60)
    found = await store.get("k")
    assert found is not None
    assert found.value == b"v"
    assert await store.count("c", 2, limit=2) == Count(True, 2)
    assert await store.count("c", 1, limit=2) == Count(False, 2)
    assert (await store.pace("p", interval=10)).wait == 0
    assert (await store.pace("p", interval=10)).wait == pytest.approx(10, abs=1)
    assert await store.lease("l", owner="one", ttl=60)
    assert not await store.lease("l", owner="other", ttl=60)
    await store.release("l", owner="one")
    assert await store.lease("l", owner="other", ttl=60)
    await store.delete("k")
    assert await store.get("k") is None
    assert real.asked == 2  # the first write and the first read; the pause keeps the others away


async def test_one_warning_and_one_note_tell_of_an_outage(
    store: ResilientStore, real: Moody, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="groundwire.storage")
    real.gone = True
    for _ in range(5):
        await asyncio.gather(*(store.count("c", 1) for _ in range(10)), *(store.get("k") for _ in range(10)))
        now[0] += 100
    real.gone = False
    await asyncio.gather(store.count("c", 1), store.get("k"))
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert caplog.messages[0] == "The store is gone. Using process memory instead, which other processes cannot see."


async def test_the_pause_grows_while_the_store_stays_away(store: ResilientStore, real: Moody, now: list[float]) -> None:
    real.gone = True
    tried = []
    for _ in range(200):
        before = real.asked
        await store.count("c", 1)
        if real.asked > before:
            tried.append(now[0])
        now[0] += 0.5
    assert tried == [0, 1, 3, 7, 15, 31, 61, 91]


async def test_one_call_tries_while_the_others_go_on(store: ResilientStore, real: Moody, now: list[float]) -> None:
    real.hangs = True
    await store.count("c", 1)
    now[0] += 1.5
    before = real.asked
    await asyncio.gather(*(store.lease(f"l{number}", owner="one", ttl=60) for number in range(20)))
    assert real.asked == before + 1


async def test_a_cancelled_try_lets_the_next_one_through(store: ResilientStore, real: Moody, now: list[float]) -> None:
    real.hangs = True
    await store.count("c", 1)
    now[0] += 1.5
    trying = asyncio.ensure_future(store.lease("l", owner="one", ttl=60))
    await asyncio.sleep(0)
    trying.cancel()
    await asyncio.gather(trying, return_exceptions=True)
    real.hangs = False
    assert await store.lease("l", owner="one", ttl=60)
    assert not store.degraded


@pytest.mark.req("H4")
async def test_a_budget_goes_on_through_an_outage_and_after_it(
    store: ResilientStore, real: Moody, now: list[float]
) -> None:
    await store.count("c", 3, limit=5)
    real.gone = True
    assert await store.count("c", 1, limit=5) == Count(True, 4)
    assert await store.count("c", 2, limit=5) == Count(False, 4)
    await store.count("refunded", 3)
    await store.count("refunded", -1)
    now[0] += 1.5
    real.gone = False
    assert await store.count("c", 2, limit=5) == Count(False, 4)
    assert await MemoryStore.count(real, "c", 0) == Count(True, 4)
    assert await MemoryStore.count(real, "refunded", 0) == Count(True, 2)
    assert await store.count("c", 1, limit=5) == Count(True, 5)
    real.gone = True  # a second outage begins where the store was, not where the first one ended
    assert await store.count("c", 1, limit=5) == Count(False, 5)
    await store.count("c", -2)
    now[0] += 1.5
    real.gone = False
    assert await store.count("c", 0) == Count(True, 3)


class Gated(Moody):
    """A store of which one counter waits at a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        if key == "gated":
            await self.gate.wait()
        return await super().count(key, amount, limit=limit, ttl=ttl)


@pytest.mark.req("H4", "B20")
async def test_what_was_counted_while_the_store_came_back_is_known_if_it_goes_again(now: list[float]) -> None:
    real = Gated()
    store = ResilientStore(real, bound=60, pause=1, clock=lambda: now[0])
    real.gone = True
    assert await store.count("c", 1, limit=2, ttl=600) == Count(True, 1)
    real.gone = False
    now[0] += 1.5
    real.gate.clear()
    probe = asyncio.create_task(store.count("gated", 1))
    await asyncio.sleep(0)
    assert await store.count("c", 1, limit=2, ttl=600) == Count(True, 2)
    real.gate.set()
    await probe
    real.gone = True
    assert await store.count("c", 1, limit=2, ttl=600) == Count(False, 2)
    real.gone = False
    now[0] += 1.5
    assert await store.count("c", 0) == Count(True, 2)
    await store.aclose()


class ReadOnly(StepStore):
    """A store that can be read, with a delay, and not be written."""

    async def get(self, key: str) -> Entry | None:
        await asyncio.sleep(0)
        return await super().get(key)

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        raise StoreError("The store is full.")


@pytest.mark.req("B20")
async def test_a_batch_that_a_value_ends_is_one_step_while_nothing_can_be_written(now: list[float]) -> None:
    store = ResilientStore(ReadOnly(), clock=lambda: now[0])
    once = (Get("k", ends=True), Add("c", 1), Set("k", b"", 60))
    ran = await asyncio.gather(*(store.batch(once) for _ in range(5)))
    assert sorted(map(len, ran)) == [1, 1, 1, 1, 3]
    assert store.degraded
    await store.aclose()


@pytest.mark.req("B20")
@pytest.mark.parametrize("batched", [False, True])
async def test_an_outage_goes_on_from_the_largest_total_of_calls_at_the_same_time(
    now: list[float], batched: bool
) -> None:
    class Turning(Moody):
        """A store whose answers come in the reverse order, five at a time."""

        async def count(
            self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None
        ) -> Count:
            answer = await super().count(key, amount, limit=limit, ttl=ttl)
            for _ in range(30 - 5 * int(answer.total)):
                await asyncio.sleep(0)
            return answer

        async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
            return await run_each(self, operations)

    real = Turning()
    store = ResilientStore(real, bound=60, clock=lambda: now[0])

    async def count() -> float:
        if not batched:
            return (await store.count("c", 1)).total
        (answer,) = await store.batch((Add("c", 1),))
        assert isinstance(answer, Count)
        return answer.total

    assert await asyncio.gather(*(count() for _ in range(5))) == [1, 2, 3, 4, 5]
    real.gone = True
    assert await count() == 6
    real.gone = False
    now[0] += 1.5
    await store.count("c", -3)
    assert await store.count("c", 1) == Count(True, 4)
    real.gone = True
    assert await count() == 5
    await store.aclose()


@pytest.mark.req("B20")
async def test_only_a_call_that_was_sent_in_an_outage_and_writes_ends_it(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="groundwire.storage")
    real = Gated()
    store = ResilientStore(real, bound=60, pause=1, clock=lambda: now[0])
    real.gate.clear()
    before = asyncio.create_task(store.count("gated", 1))
    await asyncio.sleep(0)
    real.gone = True
    await store.lease("l", owner="me", ttl=60)
    real.gone = False
    real.gate.set()
    await before
    states = [store.degraded]
    now[0] += 1.5
    assert await store.count("c", 0) == Count(True, 0)
    assert await store.batch((Get("k", ends=True), Add("c", 0))) == [None, Count(True, 0)]
    states.append(store.degraded)
    assert await store.count("c", 1) == Count(True, 1)
    assert [*states, store.degraded] == [True, True, False]
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await store.aclose()


async def test_a_counter_that_ended_is_not_continued(store: ResilientStore, real: Moody, now: list[float]) -> None:
    await store.count("c", 3, ttl=60)
    now[0] += 61
    real.gone = True
    assert await store.count("c", 0) == Count(True, 0)


async def test_what_was_kept_in_an_outage_is_not_shown_in_the_next(
    store: ResilientStore, real: Moody, now: list[float]
) -> None:
    real.gone = True
    await store.set("k", b"old", fresh=60)
    real.gone = False
    now[0] += 1.5
    await store.set("k", b"new", fresh=60)
    real.gone = True
    await store.set("other", b"x", fresh=60)
    assert await store.get("k") is None


@pytest.mark.req("B20")
@pytest.mark.parametrize("server", ["refuses", "is silent"])
async def test_a_dead_server_costs_no_more_than_the_bound(server: str, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        if server == "refuses":
            listening.close()
        store = open_store(f"valkey://:hunter2@127.0.0.1:{port}/0", timeout=0.25)
        assert await store.count("c", 1, limit=1) == Count(True, 1)
        assert await store.count("c", 1, limit=1) == Count(False, 1)
        assert await store.get("k") is None
        await store.aclose()
    (record,) = caplog.records
    assert record.getMessage().startswith("The s")  # the store, or its server, which is named in each form
    assert "hunter2" not in caplog.text


@pytest.mark.req("B20")
def test_a_silent_store_is_given_up_after_twice_the_bound() -> None:
    async def main() -> float:
        real = Moody()
        real.hangs = True
        store = ResilientStore(real, bound=0.25)
        assert await asyncio.gather(*(store.get("k") for _ in range(3))) == [None] * 3
        return asyncio.get_running_loop().time()

    assert run_virtually(main()) == pytest.approx(0.5)


class Late(StepStore):
    """A store whose answer comes while nothing of this process runs."""

    async def get(self, key: str) -> Entry | None:
        await asyncio.sleep(0)
        time.sleep(0.2)  # noqa: ASYNC251
        for _ in range(5):  # the answer is seen some turns of the loop later
            await asyncio.sleep(0)
        return Entry(b"late", 1.0, 1.0)


@pytest.mark.req("B20")
async def test_that_this_process_was_busy_is_no_fault_of_the_store() -> None:
    store = ResilientStore(Late(), bound=0.05)
    assert await store.get("k") == Entry(b"late", 1.0, 1.0)
    assert not store.degraded
    await store.aclose()
