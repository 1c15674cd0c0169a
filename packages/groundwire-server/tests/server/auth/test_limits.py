"""The limits of a key hold over all gateways that share a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from groundwire.storage import MemoryStore, Store, open_store
from groundwire.storage.base import Pace
from groundwire_server.auth.error_response import Refusal
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.auth.rate_limits import Failures, Rates, Slots, rate_headers
from world.virtual_time import run_virtually


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "sqlite"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[], tuple[Store, Store]]]:
    """Make what two gateways hold of one store."""
    made: list[Store] = []

    def make() -> tuple[Store, Store]:
        if request.param == "memory":
            made.append(MemoryStore())
            return made[0], made[0]
        url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
        made.extend((open_store(url, timeout=60.0), open_store(url, timeout=60.0)))
        return made[0], made[1]

    yield make
    for store in made:
        await store.aclose()


async def test_one_rate_for_two_gateways(stores: Callable[[], tuple[Store, Store]]) -> None:
    gateways = [Rates(store, 0, 0) for store in stores()]
    limits = KeyLimits(rate=1, burst=6)

    async def take(number: int) -> int:
        try:
            await gateways[number % 2].take("k", limits)
        except Refusal as refusal:
            return refusal.status if refusal.retry_after else 0
        return 200

    given = [await take(number) for number in range(12)]
    assert given == [200] * 6 + [429] * 6
    assert await gateways[0].take("other", limits)
    assert await gateways[0].take("without", KeyLimits()) == {}


async def test_one_number_of_slots_for_two_gateways(stores: Callable[[], tuple[Store, Store]]) -> None:
    gateways = [Slots(store) for store in stores()]
    limits = KeyLimits(concurrent=3)
    async with AsyncExitStack() as stack:
        for number in range(3):
            await stack.enter_async_context(gateways[number % 2].hold("k", limits))
        for gateway in gateways:
            with pytest.raises(Refusal) as caught:
                async with gateway.hold("k", limits):
                    pytest.fail("there is no slot left")
            assert caught.value.status == 429
        async with gateways[1].hold("other", limits), gateways[1].hold("without", KeyLimits()):
            pass
    async with gateways[1].hold("k", limits):
        pass
    for gateway in gateways:
        await gateway.aclose()


async def test_many_at_once_never_hold_more_than_there_are() -> None:
    slots, limits = Slots(MemoryStore()), KeyLimits(concurrent=4)
    held, most, refused = 0, 0, 0

    async def one() -> None:
        nonlocal held, most, refused
        try:
            async with slots.hold("k", limits):
                held += 1
                most = max(most, held)
                await asyncio.sleep(0)
                held -= 1
        except Refusal:
            refused += 1

    await asyncio.gather(*(one() for _ in range(50)))
    assert 1 <= most <= 4
    assert refused == 50 - 4
    await slots.aclose()


async def test_the_slots_of_a_gateway_that_was_killed_are_free_again() -> None:
    clock, limits = Clock(), KeyLimits(concurrent=1)
    store = MemoryStore(clock=clock)
    killed, other = Slots(store, ttl=30), Slots(store, ttl=30)
    stack = AsyncExitStack()
    await stack.enter_async_context(killed.hold("k", limits))
    clock.now += 20
    await killed.renew()
    clock.now += 20
    with pytest.raises(Refusal):
        await other.hold("k", limits).__aenter__()
    clock.now += 10.1  # nobody renews any more
    async with other.hold("k", limits):
        await stack.aclose()  # what it gives back is not its own any more
        with pytest.raises(Refusal):
            await killed.hold("k", limits).__aenter__()
    for slots in (killed, other):
        await slots.aclose()


async def test_a_slot_is_renewed_while_it_is_held() -> None:
    clock, limits = Clock(), KeyLimits(concurrent=1)
    renewed = asyncio.Event()

    class Telling(MemoryStore):
        async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
            if mine := await super().lease(key, owner=owner, ttl=ttl):
                leases.append(owner)
            if len(leases) > 2:
                renewed.set()
            return mine

    leases: list[str] = []
    slots = Slots(Telling(clock=clock), ttl=0.03)
    async with slots.hold("k", limits):
        await renewed.wait()
    assert len(set(leases)) == 1
    await slots.aclose()


async def test_a_request_that_is_cancelled_gives_its_slot_back() -> None:
    slots, limits = Slots(MemoryStore()), KeyLimits(concurrent=1)
    entered = asyncio.Event()

    async def request() -> None:
        async with slots.hold("k", limits):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(request())
    await entered.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with slots.hold("k", limits):
        pass
    await slots.aclose()


async def test_who_asks_for_too_much_is_told_when_to_come_again() -> None:
    clock = Clock()
    rates, slots = Rates(MemoryStore(clock=clock), 60, 0), Slots(MemoryStore(clock=clock))
    for _ in range(10):
        headers = await rates.take("k", KeyLimits())
    assert headers == {"ratelimit-policy": '"requests";q=10;w=10', "ratelimit": '"requests";r=0;t=10'}
    with pytest.raises(Refusal, match="60 requests a minute, in bursts of 10") as caught:
        await rates.take("k", KeyLimits())
    assert caught.value.status == 429
    assert caught.value.retry_after == pytest.approx(1.0)
    clock.now += 1
    await rates.take("k", KeyLimits())
    async with slots.hold("k", KeyLimits(concurrent=1)):
        with pytest.raises(Refusal, match="has 1 requests in progress") as caught:
            await slots.hold("k", KeyLimits(concurrent=1)).__aenter__()
    assert (caught.value.status, caught.value.retry_after) == (429, 1.0)
    await slots.aclose()


@pytest.mark.parametrize(
    ("general", "own", "burst"),
    [
        ((60, 0), {}, 10),
        ((60, 3), {}, 3),
        ((60, 3), {"rate": 12}, 2),
        ((60, 3), {"rate": 13}, 3),
        ((60, 3), {"rate": 12, "burst": 7}, 7),
        ((60, 3), {"burst": 7}, 3),
        ((0, 3), {"rate": 1}, 1),
    ],
)
async def test_a_keys_own_rate_comes_with_its_own_burst(
    general: tuple[int, int], own: dict[str, int], burst: int
) -> None:
    clock = Clock()
    rates = Rates(MemoryStore(clock=clock), *general)
    for _ in range(burst):
        await rates.take("k", KeyLimits.model_validate(own))
    with pytest.raises(Refusal):
        await rates.take("k", KeyLimits.model_validate(own))


async def test_leases_hold_for_half_a_minute_and_closing_ends_renewing() -> None:
    clock, limits, tasks = Clock(), KeyLimits(concurrent=1), asyncio.all_tasks()
    store = MemoryStore(clock=clock)
    killed, other = Slots(store), Slots(store)
    await killed.hold("k", limits).__aenter__()
    clock.now += 29
    with pytest.raises(Refusal):
        await other.hold("k", limits).__aenter__()
    clock.now += 1.5
    async with other.hold("k", limits):
        pass
    assert len(asyncio.all_tasks()) > len(tasks)
    for slots in (killed, other, Slots(store)):
        await slots.aclose()
        await slots.aclose()
    assert asyncio.all_tasks() == tasks


@pytest.mark.parametrize(
    ("pace", "left", "reset"),
    [
        (Pace(granted=True, wait=0, backlog=1.0), 9, 1),
        (Pace(granted=True, wait=0, backlog=10.0), 0, 10),
        (Pace(granted=True, wait=0, backlog=9.1), 0, 10),
        (Pace(granted=False, wait=0.4, backlog=9.4), 0, 1),
    ],
)
def test_what_a_client_is_told(pace: Pace, left: int, reset: int) -> None:
    headers = rate_headers(pace, 1.0, 10)
    assert headers == {"ratelimit-policy": '"requests";q=10;w=10', "ratelimit": f'"requests";r={left};t={reset}'}


async def test_a_store_that_fails_says_so_and_holds_nothing() -> None:
    class Failing(MemoryStore):
        async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
            if not failed:
                failed.append(key)
                raise ConnectionError("no store")
            return await super().lease(key, owner=owner, ttl=ttl)

    failed: list[str] = []
    slots, limits = Slots(Failing()), KeyLimits(concurrent=1)
    with pytest.raises(ConnectionError, match="no store"):
        await slots.hold("k", limits).__aenter__()
    async with slots.hold("k", limits):
        pass
    await slots.aclose()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", True),
        ("2001:db8:0:1::1", "2001:db8::1", False),
        ("2001:db8::8000:0:0:1", "2001:db8::1", True),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("a name", "a name", True),
        ("a name", "another", False),
    ],
)
async def test_wrong_keys_are_counted_by_address_and_by_network(one: str, other: str, same: bool) -> None:
    clock = Clock()
    failures = Failures(MemoryStore(clock=clock))
    assert [await failures.count(one) for _ in range(10)] == [0.0] * 10
    assert await failures.count(one) == pytest.approx(6.0)
    assert await failures.count(other) == (pytest.approx(6.0) if same else 0.0)
    clock.now += 5.5
    assert await failures.count(one) == 1.0, "at least a second"
    clock.now += 0.5
    assert await failures.count(one) == 0.0


async def test_requests_of_one_process_never_share_a_slot_while_the_store_takes_its_time() -> None:
    class Slow(MemoryStore):
        async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
            await asyncio.sleep(0)
            mine = await super().lease(key, owner=owner, ttl=ttl)
            await asyncio.sleep(0)
            return mine

    slots, limits = Slots(Slow()), KeyLimits(concurrent=8)
    held = 0

    async def one() -> None:
        nonlocal held
        async with slots.hold("k", limits):
            held += 1
            await asyncio.sleep(0.01)

    results = await asyncio.gather(*(one() for _ in range(12)), return_exceptions=True)
    assert {type(result) for result in results} <= {type(None), Refusal}
    assert held == sum(result is None for result in results)
    assert not slots.__dict__["_slots"]
    await slots.aclose()


def test_a_lease_is_renewed_three_times_in_its_life() -> None:
    async def run() -> list[float]:
        moments: list[float] = []
        clock = asyncio.get_running_loop().time

        class Telling(MemoryStore):
            async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
                moments.append(clock())
                return await super().lease(key, owner=owner, ttl=ttl)

        slots = Slots(Telling(clock=clock), ttl=30.0)
        async with slots.hold("k", KeyLimits(concurrent=1)):
            await asyncio.sleep(35.0)
        await slots.aclose()
        return moments

    assert run_virtually(run()) == pytest.approx([0.0, 10.0, 20.0, 30.0])


def test_a_backlog_beyond_the_burst_leaves_nothing() -> None:
    told = rate_headers(Pace(granted=True, wait=0.0, backlog=70.0), 10.0, 6)
    assert told["ratelimit"] == '"requests";r=0;t=70'


async def test_a_store_that_fails_counts_no_wrong_key() -> None:
    store = MemoryStore()
    await store.aclose()
    assert await Failures(store, burst=1).count("192.0.2.1") == 0.0


async def test_who_finds_no_slot_is_told_to_come_again_in_a_second() -> None:
    slots, limits = Slots(MemoryStore()), KeyLimits(concurrent=1)
    async with slots.hold("k", limits):
        with pytest.raises(Refusal) as caught:
            await slots.hold("k", limits).__aenter__()
    assert caught.value.retry_after == 1.0
    await slots.aclose()


@pytest.mark.parametrize(
    ("backlog", "interval", "burst", "left"), [(4.0, 4.0, 6, 5), (0.5, 0.5, 4, 3), (1.1, 0.5, 4, 1), (2.0, 0.5, 4, 0)]
)
def test_how_many_requests_are_left_at_another_pace(backlog: float, interval: float, burst: int, left: int) -> None:
    told = rate_headers(Pace(granted=True, wait=0.0, backlog=backlog), interval, burst)
    assert told["ratelimit"].startswith(f'"requests";r={left};')


class SlowToLease(MemoryStore):
    """A store that says only after a while that a lease was given."""

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        given = await super().lease(key, owner=owner, ttl=ttl)
        await asyncio.sleep(1.0)
        return given


def test_requests_that_come_together_hold_slots_of_their_own() -> None:
    async def run() -> None:
        slots, limits = Slots(SlowToLease(clock=asyncio.get_running_loop().time)), KeyLimits(concurrent=8)
        held = asyncio.Barrier(8)

        async def request() -> None:
            async with slots.hold("k", limits):
                await held.wait()

        await asyncio.gather(*(request() for _ in range(8)))
        await slots.aclose()

    run_virtually(run())


def test_a_request_that_is_canceled_while_it_takes_a_slot_leaves_it_free_and_closing_waits_for_nothing() -> None:
    async def run() -> None:
        store, limits = SlowToLease(clock=asyncio.get_running_loop().time), KeyLimits(concurrent=1)
        one, other = Slots(store), Slots(store)
        canceled = asyncio.create_task(one.hold("k", limits).__aenter__())
        await asyncio.sleep(0.5)
        canceled.cancel()
        await asyncio.gather(canceled, return_exceptions=True)
        async with other.hold("k", limits):
            began = asyncio.get_running_loop().time()
            await other.aclose()
            assert asyncio.get_running_loop().time() == began

    run_virtually(run())
