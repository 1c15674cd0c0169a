"""The cache: its phases, one load for all, whose deadline counts, and nothing left behind."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.step_store import StepStore, run_each
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    BlockedDomain,
    BudgetExceeded,
    Closed,
    DeadlineExceeded,
    InvalidRequest,
    PageNotFound,
    PageUnavailable,
    RateLimited,
)
from groundwire.routing.cache import Cache, CacheResult, CacheTtl, Codec
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.storage import Count, Entry, MemoryStore, Pace, Store, StoreError, open_store
from groundwire.storage.base import (
    Answer,
    Get,
    Lookup,
    Operation,
    Register,
    Release,
    Set,
)
from world.virtual_time import run_virtually

T = TypeVar("T")

LIFE = CacheTtl(fresh=60, stale=6_600)
DOWN = RateLimited("x", "too many requests")


class Clock:
    """The time, which stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Source:
    """What lies behind the cache: it counts how often it is asked, and waits while a test holds it."""

    def __init__(self, *, life: CacheTtl = LIFE) -> None:
        self.life = life
        self.loads = 0
        self.ended = 0
        self.cleaning = 0
        self.cancelled = 0
        self.error: Exception | None = None
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def load(self) -> str:
        self.loads += 1
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await steps(self.cleaning)
            raise
        self.ended += 1
        if self.error is not None:
            raise self.error
        return f"v{self.loads}"

    async def ask(
        self,
        cache: Cache,
        key: str = "k",
        *,
        seconds: float = 4.0,
        refresh: bool = False,
        deadline: Deadline | None = None,
        owner: Owner = LOCAL,
        look: Lookup | None = None,
    ) -> CacheResult[str]:
        return await cache.get_or_load(
            key,
            self.load,
            codec=Codec(str.encode, bytes.decode, lambda value: self.life),
            deadline=deadline or Deadline.after(seconds),
            owner=owner,
            refresh=refresh,
            look=look,
        )

    async def ask_and_settle(self, cache: Cache) -> CacheResult[str]:
        """Ask, and wait until everything that this began has ended."""
        tasks = Tasks()
        answer = await self.ask(cache)
        await tasks.settled()
        return answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/store.sqlite3"
    opened = open_store(url, clock=clock)
    yield opened
    await opened.aclose()


@pytest.fixture
async def cache(store: Store, clock: Clock) -> AsyncIterator[Cache]:
    made = Cache(store, clock=clock)
    yield made
    await made.aclose()


@pytest.mark.req("Y9", "C5")
async def test_what_was_loaded_is_kept(cache: Cache, clock: Clock) -> None:
    source = Source()
    assert await source.ask_and_settle(cache) == CacheResult("v1")
    clock.now += 30
    assert await source.ask(cache) == CacheResult("v1", cached=True, age=30)
    assert await source.ask(cache, "other") == CacheResult("v2")


@pytest.mark.req("B19")
@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (59, CacheResult("v1", cached=True, age=59)),
        (61, CacheResult("v1", cached=True, stale=True, age=61)),
        (6_659, CacheResult("v1", cached=True, stale=True, age=6_659)),
        (6_661, None),
    ],
)
async def test_the_phases_of_a_value_whose_source_is_down(
    cache: Cache, clock: Clock, age: float, expected: CacheResult[str] | None
) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += age
    source.error = AllProvidersFailed(())
    if expected is None:
        with pytest.raises(AllProvidersFailed):
            await source.ask(cache)
    else:
        assert await source.ask(cache) == expected


@pytest.mark.req("B19")
async def test_a_stale_value_is_loaded_anew_once(cache: Cache, store: Store, clock: Clock) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += 61
    others = Cache(store, clock=clock)
    answers = await asyncio.gather(*(source.ask(one) for one in (cache, others) for _ in range(20)))
    assert {answer.value for answer in answers} == {"v2"}
    assert not any(answer.stale for answer in answers)
    assert source.loads == 2
    await others.aclose()


@pytest.mark.req("B19")
async def test_many_who_ask_at_once_cause_one_load(cache: Cache) -> None:
    source = Source()
    answers = await asyncio.gather(*(source.ask(cache) for _ in range(50)))
    assert Counter(answers) == {CacheResult("v1"): 1, CacheResult("v1", cached=True): 49}


@pytest.mark.req("B19")
async def test_two_processes_cause_one_load(store: Store, clock: Clock) -> None:
    source = Source()
    source.open.clear()
    one, other = Cache(store, clock=clock), Cache(store, clock=clock)
    calls = [asyncio.create_task(source.ask(cache)) for cache in (one, other) for _ in range(5)]
    await source.begun.wait()
    source.open.set()
    answers = await asyncio.gather(*calls)
    assert Counter(answers) == {CacheResult("v1"): 1, CacheResult("v1", cached=True): 9}
    await one.aclose()
    await other.aclose()


@pytest.mark.req("B19")
async def test_a_failure_goes_to_all_and_is_not_kept(cache: Cache) -> None:
    source = Source()
    source.error = DOWN
    source.open.clear()
    calls = [asyncio.create_task(source.ask(cache)) for _ in range(10)]
    await source.begun.wait()
    source.begun.clear()
    calls.append(asyncio.create_task(source.ask(cache, "other")))
    await source.begun.wait()  # what came before it has joined the load
    source.open.set()
    assert await asyncio.gather(*calls, return_exceptions=True) == [DOWN] * 11
    assert source.loads == 2
    source.error = None
    assert await source.ask(cache) == CacheResult("v3")


@pytest.mark.req("B19")
@pytest.mark.parametrize("error", [BlockedDomain("no"), PageNotFound("u", "gone")])
async def test_what_must_not_be_seen_any_more_is_forgotten(cache: Cache, clock: Clock, error: Exception) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += 661
    source.error = error
    with pytest.raises(type(error)):
        await source.ask(cache)
    source.error = DOWN
    with pytest.raises(RateLimited):
        await source.ask(cache)


@pytest.mark.parametrize(
    "error", [InvalidRequest("a", "b", "c"), BudgetExceeded("spent", limit=1, spent=1)], ids=["invalid", "budget"]
)
async def test_an_older_value_does_not_hide_what_only_the_caller_can_mend(
    cache: Cache, clock: Clock, error: Exception
) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += 661
    source.error = error
    with pytest.raises(type(error)):
        await source.ask(cache)


@pytest.mark.req("B19")
@pytest.mark.parametrize("error", [PageUnavailable("u", "down"), DeadlineExceeded("late"), OSError("reset")])
async def test_an_older_value_stands_in_for_a_failure(cache: Cache, clock: Clock, error: Exception) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += 661
    source.error = error
    assert await source.ask(cache) == CacheResult("v1", cached=True, stale=True, age=661)


async def test_an_older_value_stands_in_when_the_time_is_up(cache: Cache, clock: Clock) -> None:
    source = Source()
    await source.ask_and_settle(cache)
    clock.now += 661
    source.open.clear()
    assert (await source.ask(cache, seconds=0.5)).stale


@pytest.mark.req("B19")
async def test_bypass_loads_and_keeps(cache: Cache) -> None:
    source = Source()
    await source.ask(cache)
    answers = await asyncio.gather(*(source.ask(cache, refresh=True) for _ in range(5)))
    assert Counter(answers) == {CacheResult("v2"): 1, CacheResult("v2", cached=True): 4}
    assert await source.ask(cache) == CacheResult("v2", cached=True)
    source.error = DOWN
    with pytest.raises(RateLimited):
        await source.ask(cache, refresh=True)


async def test_a_life_of_zero_is_not_kept(cache: Cache) -> None:
    source = Source(life=CacheTtl())
    assert [await source.ask(cache) for _ in range(2)] == [CacheResult("v1"), CacheResult("v2")]


async def test_a_cancelled_caller_does_not_end_the_load_of_others(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    first = asyncio.create_task(source.ask(cache))
    await source.begun.wait()  # it is the one that loads, though a busy store may answer the next ones before it
    source.begun.clear()
    second, third = (asyncio.create_task(source.ask(cache)) for _ in range(2))
    last = asyncio.create_task(source.ask(cache, "other"))
    await source.begun.wait()  # what came before it has joined the load
    for task in (first, third):
        task.cancel()
    await asyncio.wait({first, third})
    assert (first.cancelled(), third.cancelled(), source.cancelled) == (True, True, 0)
    source.open.set()
    assert await second == CacheResult("v2", cached=True)
    assert await last == CacheResult("v2")
    assert source.loads == 2


async def test_the_last_caller_that_goes_ends_the_load(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    calls = [asyncio.create_task(source.ask(cache)) for _ in range(3)]
    await source.begun.wait()
    for task in calls:
        task.cancel()
    await asyncio.wait(calls)
    assert source.cancelled == 1
    source.open.set()
    assert await source.ask(cache) == CacheResult("v2")


async def test_who_comes_while_an_abandoned_load_cleans_up_is_served(clock: Clock) -> None:
    for step in range(20):
        cache, source = Cache(Watched(MemoryStore(clock=clock)), clock=clock), Source()
        source.open.clear()
        source.cleaning = 10
        abandoned = asyncio.create_task(source.ask(cache))
        await source.begun.wait()
        abandoned.cancel()
        await steps(step)
        source.open.set()
        assert await source.ask(cache) == CacheResult("v2")
        await cache.aclose()


async def test_a_load_that_cancels_itself_is_a_failure(cache: Cache) -> None:
    async def load() -> str:
        raise asyncio.CancelledError

    with pytest.raises(DeadlineExceeded):
        await cache.get_or_load(
            "k",
            load,
            codec=Codec(str.encode, bytes.decode, lambda value: LIFE),
            deadline=Deadline.after(1_000),
            owner=LOCAL,
        )


@pytest.mark.parametrize("error", [None, DOWN], ids=["up", "down"])
async def test_a_call_returns_when_what_it_began_has_ended(clock: Clock, error: Exception | None) -> None:
    cache, source, tasks = Cache(Watched(MemoryStore(clock=clock)), clock=clock), Source(), Tasks()
    source.error = error
    with suppress(RateLimited):
        await source.ask(cache)
    assert not tasks.left()


async def test_each_caller_has_its_own_deadline(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    patient = asyncio.create_task(source.ask(cache))
    await source.begun.wait()
    with pytest.raises(DeadlineExceeded):
        await source.ask(cache, seconds=0.05)
    source.open.set()
    assert await patient == CacheResult("v1")


async def test_a_load_that_ignores_the_deadline_is_ended(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    with pytest.raises(DeadlineExceeded):
        await source.ask(cache, seconds=0.5)
    assert source.cancelled == 1


async def test_a_load_that_meets_the_deadline_can_say_what_it_tried(cache: Cache) -> None:
    assert await cache.store.get("k") is None  # a file is opened before the time begins
    deadline = Deadline.after(0.05)

    async def load() -> str:
        try:
            with deadline.timeout():
                await asyncio.Event().wait()
        except TimeoutError:
            await asyncio.sleep(0.001)
        raise AllProvidersFailed(())

    codec = Codec(str.encode, bytes.decode, lambda value: LIFE)
    with pytest.raises(AllProvidersFailed):
        await cache.get_or_load("k", load, codec=codec, deadline=deadline, owner=LOCAL)


async def test_a_patient_caller_tries_again_when_an_impatient_one_had_no_time(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    moments = [0.0]
    short = Deadline(1.0, lambda: moments[0])
    hasty = asyncio.create_task(source.ask(cache, deadline=short))
    await source.begun.wait()
    patient = asyncio.create_task(source.ask(cache))
    source.begun.clear()
    other = asyncio.create_task(source.ask(cache, "other"))
    await source.begun.wait()  # what came before it has joined the load
    moments[0] = 2.0
    source.error = AllProvidersFailed(())

    async def recover() -> None:
        with suppress(AllProvidersFailed):
            await hasty
        source.error = None

    source.open.set()
    await asyncio.gather(recover(), patient, other, return_exceptions=True)
    assert patient.result() == CacheResult("v3")


async def test_closing_ends_loads_and_refuses_new_ones(store: Store, clock: Clock) -> None:
    cache, source = Cache(store, clock=clock), Source()
    source.open.clear()
    calls = [asyncio.create_task(source.ask(cache)) for _ in range(3)]
    await source.begun.wait()
    await cache.aclose()
    assert [type(error) for error in await asyncio.gather(*calls, return_exceptions=True)] == [Closed] * 3
    assert source.cancelled == 1
    with pytest.raises(Closed):
        await source.ask(cache)
    await cache.aclose()
    source.open.set()
    other = Cache(store, clock=clock)
    assert await source.ask(other) == CacheResult("v2"), "the lease was given back"
    await other.aclose()


async def test_a_lease_is_renewed_while_the_load_runs(clock: Clock) -> None:
    store = Watched(MemoryStore())
    one, other = Cache(store, lease=0.06), Cache(store, lease=0.06)
    source = Source()
    source.open.clear()
    first = asyncio.create_task(source.ask(one))
    await source.begun.wait()
    second = asyncio.create_task(source.ask(other))
    await store.until(lambda: max(store.granted.values()) >= 6)
    source.open.set()
    assert [answer.value for answer in await asyncio.gather(first, second)] == ["v1", "v1"]
    assert source.loads == 1
    await one.aclose()
    await other.aclose()


def test_a_lease_is_renewed_three_times_in_its_life() -> None:
    async def run() -> list[float]:
        loop, moments = asyncio.get_running_loop(), list[float]()

        class Telling(StepStore):
            async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
                moments.append(loop.time())
                return await super().lease(key, owner=owner, ttl=ttl)

        cache, source = Cache(Telling(clock=loop.time), clock=loop.time, lease=3.0), Source()
        source.open.clear()
        call = asyncio.create_task(source.ask(cache, deadline=Deadline.after(60.0, loop.time)))
        await asyncio.sleep(4.5)
        source.open.set()
        await call
        await cache.aclose()
        return [moment for moment in moments if moment]

    assert run_virtually(run()) == pytest.approx([1.0, 2.0, 3.0, 4.0])


class Leases(StepStore):
    """A store that knows when which lease was asked for, and for how long."""

    def __init__(self, *, slow: bool = False) -> None:
        super().__init__(clock=lambda: 1_800_000_000.0 + asyncio.get_running_loop().time())
        self.asked: list[tuple[str, float, float]] = []
        self._slow = slow

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        self.asked.append((key, round(asyncio.get_running_loop().time(), 4), ttl))
        return await super().lease(key, owner=owner, ttl=ttl)

    async def release(self, key: str, *, owner: str) -> None:
        if self._slow:
            await asyncio.Event().wait()
        await super().release(key, owner=owner)


def virtual_cache(store: MemoryStore) -> Cache:
    return Cache(store, clock=lambda: 1_800_000_000.0 + asyncio.get_running_loop().time())


def virtual_deadline(seconds: float) -> Deadline:
    return Deadline.after(seconds, asyncio.get_running_loop().time)


def test_what_another_process_loads_is_looked_for_ever_less_often() -> None:
    async def run() -> list[float]:
        store = Leases()
        await store.lease("load:k", owner="another", ttl=99.0)
        store.asked.clear()
        cache = virtual_cache(store)
        with pytest.raises(DeadlineExceeded):
            await Source().ask(cache, deadline=virtual_deadline(0.2))
        await cache.aclose()
        assert {ttl for _, _, ttl in store.asked} == {3.0}
        return sorted({at for _, at, _ in store.asked})

    assert run_virtually(run())[:7] == [0.0, 0.005, 0.015, 0.035, 0.075, 0.125, 0.175]


def test_closing_waits_for_two_seconds_for_what_was_begun() -> None:
    async def run() -> float:
        loop = asyncio.get_running_loop()
        cache = virtual_cache(Leases(slow=True))
        cache.lookup("k")
        cache.abandon("k")
        began = loop.time()
        await cache.aclose()
        stuck = loop.time() - began
        cache = virtual_cache(Leases())
        cache.lookup("other")
        cache.abandon("other")
        await asyncio.sleep(100.0)
        assert not cache._tasks._tasks
        return stuck

    assert run_virtually(run()) == 2.0


async def test_the_ends_of_a_thousand_loads_are_remembered(cache: Cache) -> None:
    source = Source(life=CacheTtl())
    for number in range(1_002):
        await source.ask(cache, str(number))
    assert list(cache._load_ends) == [str(number) for number in range(2, 1_002)]


async def test_a_value_is_loaded_once_unless_a_new_one_is_asked_for(cache: Cache) -> None:
    source, codec = Source(), Codec(str.encode, bytes.decode, lambda value: LIFE)
    for _ in range(2):
        await cache.get_or_load("k", source.load, Deadline.after(4.0), codec, owner=LOCAL)
    assert source.loads == 1


async def test_a_lease_that_is_held_is_not_given_up_for_another_call(store: Store, clock: Clock) -> None:
    cache, source, tasks = Cache(store, clock=clock), Source(), Tasks()
    source.open.clear()
    call = asyncio.create_task(source.ask(cache, deadline=Deadline(1e18, clock)))
    await source.begun.wait()
    cache.abandon("k")
    for _ in range(3):
        assert not await store.lease("load:k", owner="other", ttl=3.0)
    source.open.set()
    await call
    await tasks.settled()
    assert await store.lease("load:k", owner="other", ttl=3.0)
    await cache.aclose()


@pytest.mark.parametrize("refresh", [False, True])
def test_a_call_that_has_no_time_left_does_not_give_up_the_lease_of_a_load_that_goes_on(refresh: bool) -> None:
    async def run() -> tuple[bool, bool]:
        store, source = Leases(), Source()
        cache = virtual_cache(store)
        source.open.clear()
        patient = asyncio.create_task(source.ask(cache, deadline=virtual_deadline(9.0)))
        await source.begun.wait()
        with pytest.raises(DeadlineExceeded):
            await source.ask(cache, deadline=virtual_deadline(1.0), refresh=refresh)
        during = await store.lease("load:k", owner="other", ttl=3.0)
        source.open.set()
        await patient
        await cache.aclose()
        return during, await store.lease("load:k", owner="other", ttl=3.0)

    assert run_virtually(run()) == (False, True)


@pytest.mark.parametrize("refresh", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_a_call_of_another_tenant_does_not_give_up_the_lease_of_a_load_that_goes_on(refresh: bool, fails: bool) -> None:
    async def run() -> list[bool]:
        store, one, other = Leases(), Source(), Source()
        cache = virtual_cache(store)
        one.open.clear()
        other.error = DOWN if fails else None
        patient = asyncio.create_task(one.ask(cache, deadline=virtual_deadline(9.0), owner=Owner("one")))
        await one.begun.wait()
        for name in ("two", "three"):
            with pytest.raises(RateLimited) if fails else nullcontext():
                await other.ask(cache, deadline=virtual_deadline(1.0), refresh=refresh, owner=Owner(name))
        held = [await store.lease("load:k", owner="other", ttl=3.0)]
        one.open.set()
        await patient
        held.append(await store.lease("load:k", owner="other", ttl=3.0))
        await cache.aclose()
        return held

    assert run_virtually(run()) == [False, True]


def test_a_load_that_failed_holds_no_lease_any_more() -> None:
    async def run() -> int:
        store, source = Leases(), Source()
        cache, source.error = virtual_cache(store), DOWN
        with pytest.raises(RateLimited):
            await source.ask(cache, deadline=virtual_deadline(1.0))
        assert await store.lease("load:k", owner="other", ttl=99.0)
        with pytest.raises(DeadlineExceeded):
            await source.ask(cache, deadline=virtual_deadline(1.0))
        await cache.aclose()
        return source.loads

    assert run_virtually(run()) == 1


def test_a_load_ends_although_the_store_answers_a_renewal_that_was_canceled() -> None:
    async def run() -> tuple[str, bool]:
        loop, renewing = asyncio.get_running_loop(), asyncio.Event()

        class Deaf(StepStore):
            async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
                if not source.ended and source.begun.is_set():
                    renewing.set()
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(0.5)
                return await super().lease(key, owner=owner, ttl=ttl)

        store, source = Deaf(clock=loop.time), Source()
        cache = Cache(store, clock=loop.time, lease=3.0)
        source.open.clear()
        call = asyncio.create_task(source.ask(cache, deadline=Deadline.after(60.0, loop.time)))
        await renewing.wait()
        source.open.set()
        found = await call
        await asyncio.sleep(9.0)
        free = await store.lease("load:k", owner="another", ttl=3.0)
        await cache.aclose()
        return found.value, free

    assert run_virtually(run()) == ("v1", True)


async def test_a_renewal_under_way_does_not_outlive_the_load(clock: Clock) -> None:
    store, tasks = Stubborn(MemoryStore(clock=clock)), Tasks()
    cache, source = Cache(store, clock=clock, lease=0.03), Source()
    source.open.clear()
    call = asyncio.create_task(source.ask(cache))
    await store.until(lambda: store.renewing)
    source.open.set()
    await call
    await cache.aclose()
    await tasks.settled()
    assert not await store.held()


async def test_another_process_may_bring_the_value_before_the_lease_is_had(clock: Clock) -> None:
    store = Watched(MemoryStore(clock=clock))
    source, one, other = Source(), Cache(store, clock=clock), Cache(store, clock=clock)

    async def meanwhile() -> None:
        await source.ask(other)

    store.meanwhile = meanwhile
    assert await source.ask(one) == CacheResult("v1", cached=True)
    assert source.loads == 1


async def test_who_waits_for_another_process_waits_no_longer_than_the_deadline(clock: Clock) -> None:
    store = Watched(MemoryStore(clock=clock))
    source, one, other = Source(), Cache(store, clock=clock), Cache(store, clock=clock)
    source.open.clear()
    first = asyncio.create_task(source.ask(one))
    await source.begun.wait()
    moments = [0.0]
    second = asyncio.create_task(source.ask(other, deadline=Deadline(1_000.0, lambda: moments[0])))
    await store.until(lambda: store.asked["load:k"] > 2)
    moments[0] = 2_000.0
    with pytest.raises(DeadlineExceeded):
        await second
    source.open.set()
    assert await first == CacheResult("v1")
    assert source.loads == 1
    await one.aclose()


async def test_bypass_does_not_take_what_was_asked_for_before(cache: Cache) -> None:
    source = Source()
    source.open.clear()
    before = asyncio.create_task(source.ask(cache))
    await source.begun.wait()
    source.begun.clear()
    refreshed = asyncio.create_task(source.ask(cache, refresh=True))
    await source.begun.wait()
    source.open.set()
    assert not (await before).cached
    assert not (await refreshed).cached
    assert source.loads == 2


@pytest.mark.parametrize("error", [None, DOWN], ids=["not kept", "failed"])
async def test_who_comes_after_an_answer_that_is_not_kept_does_not_get_it(
    clock: Clock, error: Exception | None
) -> None:
    after = 0
    for step in range(40):
        store, source = Watched(MemoryStore(clock=clock)), Source(life=CacheTtl())
        source.error = error
        cache = Cache(store, clock=clock)
        first = asyncio.create_task(source.ask(cache))
        await steps(step)
        ended = source.ended
        after += ended
        source.error = None if ended else error
        _, second = await asyncio.gather(first, source.ask(cache), return_exceptions=True)
        assert not ended or second == CacheResult("v2")
    assert 0 < after < 40


@pytest.mark.parametrize("life", [LIFE, CacheTtl()])
def test_who_comes_while_an_answer_is_stored_gets_it_if_it_is_kept(life: CacheTtl) -> None:
    class Slow(Leases):
        async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
            if any(isinstance(one, Set | Release) for one in operations):
                await asyncio.sleep(1.0)
            return await super().batch(operations)

    async def run() -> list[str]:
        source, cache = Source(life=life), virtual_cache(Slow())
        first = asyncio.create_task(source.ask(cache, deadline=virtual_deadline(9.0)))
        await asyncio.sleep(0.1)
        assert source.ended == 1
        second = await source.ask(cache, deadline=virtual_deadline(9.0))
        await cache.aclose()
        return [(await first).value, second.value]

    assert run_virtually(run()) == ["v1", "v1" if life == LIFE else "v2"]


@pytest.mark.parametrize("shared", [True, False])
async def test_a_value_that_was_stored_since_the_lookup_is_not_loaded_again(clock: Clock, shared: bool) -> None:
    store, source = Watched(MemoryStore(clock=clock)), Source()
    cache = Cache(store, clock=clock, shared=shared)
    look = cache.lookup("k")
    look.answers = (None, False) if shared else (None,)
    if shared:
        await warm(store, clock, source, 1)
    else:  # only this cache stores values
        await source.ask(cache)
        clock.now += 1
    assert await source.ask(cache, look=look) == CacheResult("v1", cached=True, age=1.0)
    await cache.aclose()


def test_a_value_of_another_process_is_found_before_it_releases_its_lease() -> None:
    async def run() -> tuple[CacheResult[str], float]:
        store, source = Leases(), Source()
        cache, other = virtual_cache(store), virtual_cache(store)
        assert await store.lease("load:k", owner="third", ttl=99.0)
        call = asyncio.create_task(source.ask(cache, deadline=virtual_deadline(9.0)))
        await asyncio.sleep(1.0)
        await source.ask(other, deadline=virtual_deadline(9.0), refresh=True)
        found = await call
        await cache.aclose()
        await other.aclose()
        return found, asyncio.get_running_loop().time()

    found, now = run_virtually(run())
    assert found.value == "v1"
    assert now <= 1.05


def test_a_store_that_takes_the_lease_and_does_not_answer() -> None:
    class Silent(Leases):
        async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
            await super().batch(operations)
            await asyncio.Event().wait()
            return ()

    async def run() -> bool:
        store = Silent()
        cache = virtual_cache(store)
        with pytest.raises(DeadlineExceeded):
            await Source().ask(cache, deadline=virtual_deadline(1.0))
        await cache.aclose()
        return await store.lease("load:k", owner="other", ttl=3.0)

    assert run_virtually(run())


def test_a_short_load_never_renews_its_lease() -> None:
    async def run() -> list[str]:
        store, source = Leases(), Source()
        cache = virtual_cache(store)
        await source.ask(cache, deadline=virtual_deadline(1.0))
        await asyncio.sleep(9.0)
        await cache.aclose()
        return [key for key, _, _ in store.asked]

    assert run_virtually(run()) == ["load:k"]


@pytest.mark.parametrize(("life", "packed"), [(CacheTtl(), 0), (CacheTtl(0.5), 1), (CacheTtl(0.0, 0.5), 1)])
async def test_a_value_is_packed_if_it_has_any_life(cache: Cache, life: CacheTtl, packed: int) -> None:
    seen: list[str] = []

    def encode(value: str) -> bytes:
        seen.append(value)
        return value.encode()

    codec = Codec(encode, bytes.decode, lambda value: life)
    await cache.get_or_load("k", Source().load, Deadline.after(4.0), codec, owner=LOCAL)
    assert len(seen) == packed


async def test_operations_along_with_a_new_value_are_answered(cache: Cache) -> None:
    codec: Codec[str] = Codec(str.encode, bytes.decode, lambda value: LIFE)

    async def call() -> CacheResult[str]:
        return await cache.get_or_load(
            "k",
            Source().load,
            Deadline.after(4.0),
            codec,
            owner=LOCAL,
            also=lambda value: [Set(f"of {value}", b"1", 60.0, 0.0), Get(f"of {value}"), Get("nothing")],
        )

    _, found, nothing = (await call()).also
    assert isinstance(found, Entry)
    assert (found.value, nothing) == (b"1", None)
    assert (await call()).also == ()


class Broken(Store):
    """A store that cannot do anything."""

    def __init__(self) -> None:
        self.calls = 0

    async def get(self, key: str) -> Entry | None:
        raise self._failure()

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        raise self._failure()

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        raise self._failure()

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        raise self._failure()

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        raise self._failure()

    async def release(self, key: str, *, owner: str) -> None:
        raise self._failure()

    async def delete(self, key: str) -> None:
        raise self._failure()

    async def aclose(self) -> None:
        """Nothing is open."""

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        raise self._failure()

    async def register(self, key: str) -> Register:
        raise self._failure()

    def _failure(self) -> Exception:
        self.calls += 1
        return StoreError("full") if self.calls % 2 else OSError("gone")


async def test_a_broken_store_fails_no_call_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    source, cache, tasks = Source(), Cache(Broken()), Tasks()
    with caplog.at_level(logging.WARNING):
        answers = await asyncio.gather(*(source.ask(cache) for _ in range(5)))
        assert Counter(answers) == {CacheResult("v1"): 1, CacheResult("v1", cached=True): 4}
        await tasks.settled()
        assert await source.ask_and_settle(cache) == CacheResult("v2")
    assert len(caplog.records) == 1
    source.error = PageNotFound("u", "gone")
    with pytest.raises(PageNotFound):
        await source.ask(cache)
    await cache.aclose()


class NoLeases(StepStore):
    """A store that keeps values and gives no leases."""

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        raise StoreError("read only")


async def test_without_leases_a_stale_value_is_fetched_anew_all_the_same(clock: Clock) -> None:
    source, cache, tasks = Source(), Cache(NoLeases(clock=clock), clock=clock), Tasks()
    assert (await source.ask(cache)).value == "v1"
    clock.now += LIFE.fresh + 1
    assert await source.ask(cache) == CacheResult("v2")
    await tasks.settled()
    assert await source.ask(cache) == CacheResult("v2", cached=True)
    await cache.aclose()


async def test_an_abandoned_lookup_keeps_no_other_process_waiting(store: Store, clock: Clock) -> None:
    cache, tasks = Cache(store, clock=clock), Tasks()
    await Source(life=CacheTtl()).ask_and_settle(cache)
    look = cache.lookup("k")
    assert list(await store.batch(look.operations)) == [None, True]
    assert not await store.lease("load:k", owner="other", ttl=3.0)
    cache.abandon("k")
    await tasks.settled()
    assert await store.lease("load:k", owner="other", ttl=3.0)
    await cache.aclose()


async def test_an_old_value_is_renewed_unless_a_new_one_is_asked_for(cache: Cache, clock: Clock) -> None:
    source, old = Source(), list[str]()

    async def renew(value: str) -> str:
        old.append(value)
        return f"{value} again"

    async def ask(*, refresh: bool = False) -> str:
        kept = await cache.get_or_load(
            "k",
            source.load,
            codec=Codec(str.encode, bytes.decode, lambda value: LIFE),
            deadline=Deadline.after(4),
            owner=LOCAL,
            refresh=refresh,
            renew=renew,
        )
        return kept.value

    assert await ask() == "v1"
    clock.now += LIFE.fresh + 1
    assert await ask() == "v1 again"
    assert await ask(refresh=True) == "v2"
    clock.now += LIFE.fresh + LIFE.stale + 1
    assert await ask() == "v3"
    assert old == ["v1"]


async def test_a_value_that_cannot_be_packed_is_returned_all_the_same(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    async def load() -> str:
        return "\ud800"

    for _ in range(2):
        answer = await cache.get_or_load(
            "k",
            load,
            codec=Codec(str.encode, bytes.decode, lambda value: LIFE),
            deadline=Deadline.after(60),
            owner=LOCAL,
        )
        assert answer == CacheResult("\ud800")
    assert "could not be cached" in caplog.text


@given(st.binary(max_size=60) | st.builds(lambda form, rest: form + rest, st.just(b"g1"), st.binary(max_size=40)))
def test_whatever_is_kept_under_a_key_fails_no_call(data: bytes) -> None:
    async def run() -> None:
        source, store = Source(), MemoryStore()
        await store.set("k", data, fresh=60)
        cache = Cache(store)
        answer = await source.ask(cache)
        assert answer.value == "v1" or data.startswith(b"g1")
        await cache.aclose()

    asyncio.run(run())


class Watched(Store):
    """A store that gives way before and after each operation, as a real one may, and notes the leases."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked: Counter[str] = Counter()
        self.granted: Counter[str] = Counter()
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        self._changed = asyncio.Condition()

    async def until(self, true: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(true)

    async def get(self, key: str) -> Entry | None:
        return await self._slowly(self.store.get(key))

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        await self._slowly(self.store.set(key, value, fresh=fresh, stale=stale))

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        return await self._slowly(self.store.count(key, amount, limit=limit, ttl=ttl))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        return await self._slowly(self.store.pace(key, interval=interval, burst=burst, max_wait=max_wait))

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        if (meanwhile := self.meanwhile) is not None:
            self.meanwhile = None
            await meanwhile()
        granted = await self._slowly(self.store.lease(key, owner=owner, ttl=ttl))
        self.asked[key] += 1
        self.granted[key] += granted
        async with self._changed:
            self._changed.notify_all()
        return granted

    async def release(self, key: str, *, owner: str) -> None:
        await self._slowly(self.store.release(key, owner=owner))

    async def delete(self, key: str) -> None:
        await self._slowly(self.store.delete(key))

    async def aclose(self) -> None:
        await self.store.aclose()

    async def held(self) -> list[str]:
        """Return the leases that were not given back."""
        return [key for key in self.granted if not await self.store.lease(key, owner="somebody else", ttl=0)]

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        if (meanwhile := self.meanwhile) is not None:  # a batch is one step, which nothing comes between
            self.meanwhile = None
            await meanwhile()
        return await run_each(self, operations)

    async def register(self, key: str) -> Register:
        return await self.store.register(key)

    async def _slowly(self, operation: Coroutine[Any, Any, T]) -> T:
        try:
            await asyncio.sleep(0)
            answer = await operation
        finally:
            operation.close()
        await asyncio.sleep(0)
        return answer


class Stubborn(Watched):
    """A store that renews a lease even if the one who asked for it has gone meanwhile."""

    renewing = False

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        if self.granted[key]:
            async with self._changed:
                self.renewing = True
                self._changed.notify_all()
            try:
                await asyncio.Event().wait()
            finally:
                await steps(20)
                await self.store.lease(key, owner=owner, ttl=ttl)
        return await super().lease(key, owner=owner, ttl=ttl)


class Tasks:
    """The tasks that were begun since."""

    def __init__(self) -> None:
        self._before = asyncio.all_tasks()

    def left(self) -> set[asyncio.Task[Any]]:
        return asyncio.all_tasks() - self._before

    async def settled(self) -> None:
        """Give way until they have ended, or long enough to know that one hangs."""
        for _ in range(1_000):
            if not self.left():
                return
            await asyncio.sleep(0.001)
        raise AssertionError(f"still running: {self.left()}")


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def warm(store: Watched, clock: Clock, source: Source, age: float) -> None:
    cache = Cache(store, clock=clock)
    await source.ask(cache)
    await cache.aclose()
    clock.now += age
    store.granted.clear()


@pytest.mark.parametrize("age", [None, 61], ids=["missing", "stale"])
@pytest.mark.parametrize("refresh", [False, True], ids=["kept", "refresh"])
@pytest.mark.parametrize("error", [None, DOWN, PageNotFound("u", "gone")], ids=["up", "down", "gone"])
async def test_a_call_that_is_cancelled_anywhere_leaves_nothing_behind(
    clock: Clock, age: float | None, refresh: bool, error: Exception | None
) -> None:
    cancelled, tasks = 0, Tasks()
    for step in range(60):
        store, source = Watched(MemoryStore(clock=clock)), Source()
        if age is not None:
            await warm(store, clock, source, age)
        cache = Cache(store, clock=clock)
        source.error = error
        call = asyncio.create_task(source.ask(cache, refresh=refresh))
        await steps(step)
        call.cancel()
        await asyncio.wait({call})
        cancelled += call.cancelled()
        await tasks.settled()
        assert not await store.held()
        assert not refresh or store.granted.total() == 0
        source.error = None
        assert (await source.ask(cache)).value.startswith("v"), "the next one is served"
        await cache.aclose()
        await tasks.settled()
        assert not await store.held()
    assert 3 < cancelled < 60


async def test_of_two_calls_either_can_be_cancelled_anywhere(clock: Clock) -> None:
    cancelled, tasks = 0, Tasks()
    for step in range(2, 50):
        for which in (0, 1):
            store, source = Watched(MemoryStore(clock=clock)), Source()
            cache = Cache(store, clock=clock)
            calls = [asyncio.create_task(source.ask(cache)) for _ in range(2)]
            await steps(step)
            calls[which].cancel()
            await asyncio.wait(calls)
            cancelled += calls[which].cancelled()
            assert calls[1 - which].result().value == "v1"
            assert source.loads == 1
            await tasks.settled()
            assert not await store.held()
            await cache.aclose()
    assert cancelled > 6


@pytest.mark.parametrize("age", [None, 61], ids=["missing", "stale"])
async def test_closing_at_any_moment_leaves_nothing_behind(clock: Clock, age: float | None) -> None:
    closed, tasks = 0, Tasks()
    for step in range(60):
        store, source = Watched(MemoryStore(clock=clock)), Source()
        if age is not None:
            await warm(store, clock, source, age)
        cache = Cache(store, clock=clock)
        call = asyncio.create_task(source.ask(cache))
        await steps(step)
        await cache.aclose()
        try:
            assert (await call).value
        except Closed:
            closed += 1
        assert not tasks.left()
        assert not await store.held()
    assert closed > 3
