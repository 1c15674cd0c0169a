"""What one process was told by a provider, the others know; and a store that fails changes nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import AllProvidersFailed, AuthenticationFailed, RateLimited
from groundwire.models import NO_FILTERS, Filters, Query, SearchResponse, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Health, HealthRecord
from groundwire.routing.hedging import HedgePolicy
from groundwire.routing.rate_limiter import Rate, RateLimiter, rate_in, record_key
from groundwire.routing.shared_health import SharedHealth
from groundwire.storage.base import Answer, Get, Operation, Store, StoreError
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually


class Planned:
    """A provider whose calls end as planned, the last entry for ever; None is an answer."""

    capabilities = Capabilities(search=True, domains="native")

    def __init__(self, name: str, *plan: Exception | None, account: str = "one") -> None:
        self.name = name
        self.account = account
        self._plan = list(plan)
        self.asked = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        self.asked += 1
        await asyncio.sleep(0.1)
        step = self._plan.pop(0) if len(self._plan) > 1 else self._plan[0]
        if step is not None:
            raise step
        return [SearchResult(title=query, url=f"https://{self.name}.example/")]


class Broken(MemoryStore):
    """A store that cannot be read nor written, and counts who tries."""

    def __init__(self) -> None:
        super().__init__()
        self.tries = 0

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        self.tries += 1
        raise StoreError("gone")


class Slow(MemoryStore):
    """A store that takes a minute to read."""

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        if isinstance(operations[0], Get):
            await asyncio.sleep(60)
        return await super().batch(operations)


class Counting(MemoryStore):
    """A store that counts how often it is read."""

    reads = 0

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        self.reads += isinstance(operations[0], Get)
        return await super().batch(operations)


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def now() -> float:
    return asyncio.get_running_loop().time()


def memory() -> MemoryStore:
    return MemoryStore(clock=asyncio.get_running_loop().time)


def chain(store: Store, *providers: Planned) -> CallingRouter:
    return CallingRouter(
        providers, store=store, clock=asyncio.get_running_loop().time, hedging=HedgePolicy(retries=0.0)
    )


async def search(asked: CallingRouter) -> SearchResponse:
    return await asked.ask(Query(text="q"), Deadline.after(10, asyncio.get_running_loop().time))


async def told(store: Store, error: Exception, *, account: str = "one", times: int = 1) -> None:
    """Let a process hear an error from the provider `first`, and end."""
    asked = chain(store, Planned("first", error, account=account), Planned("second", None))
    for _ in range(times):
        await search(asked)
    await asked.aclose()


@pytest.mark.req("B6", "B20")
@virtually
async def test_another_process_leaves_a_provider_alone_for_as_long_as_it_said() -> None:
    store = memory()
    await told(store, RateLimited("first", "slow down", retry_after=60))
    first = Planned("first", None)
    asked = chain(store, first, Planned("second", None))
    answer = await search(asked)
    assert (answer.provider, first.asked) == ("second", 0)
    assert "not called: in cooldown (slow down)" in answer.attempts[0].reason
    assert answer.attempts[0].retry_after == pytest.approx(60, abs=0.5)
    await asyncio.sleep(60)
    assert (await search(asked)).provider == "first"
    await asked.aclose()


@pytest.mark.req("B20")
@virtually
async def test_a_process_that_runs_already_hears_it_within_a_second_or_two() -> None:
    store, first = memory(), Planned("first", None)
    asked = chain(store, first, Planned("second", None))
    assert (await search(asked)).provider == "first"
    await told(store, RateLimited("first", "slow down", retry_after=60))
    await asyncio.sleep(1)
    await search(asked)
    assert (await search(asked)).provider == "second"
    await asked.aclose()


@virtually
async def test_a_new_key_is_tried_at_once_and_the_old_one_is_not() -> None:
    store = memory()
    await told(store, AuthenticationFailed("first", "the key is not accepted"), account="old key")
    for account, provider in (("new key", "first"), ("old key", "second")):
        asked = chain(store, Planned("first", None, account=account), Planned("second", None))
        assert (await search(asked)).provider == provider
        await asked.aclose()


@virtually
async def test_a_refused_key_is_nobody_elses_when_it_is_not_known_whose_it_is() -> None:
    store = memory()
    await told(store, AuthenticationFailed("first", "the key is not accepted"), account="")
    first = Planned("first", None, account="")
    asked = chain(store, first, Planned("second", None))
    assert (await search(asked)).provider == "first"
    await asked.aclose()


@pytest.mark.parametrize("make", [Broken, Slow])
def test_a_store_that_fails_does_not_fail_a_search_nor_hold_it_up(make: type[MemoryStore]) -> None:
    async def run() -> None:
        first = Planned("first", RateLimited("first", "slow down", retry_after=60), None)
        asked = chain(make(), first, Planned("second", None))
        assert (await search(asked)).provider == "second"
        assert now() < 0.35
        assert (await search(asked)).attempts[0].reason.startswith("not called: in cooldown"), "what we know counts"
        assert first.asked == 1
        await asked.aclose()

    run_virtually(run())


@virtually
async def test_the_store_is_read_once_a_second_however_many_searches_there_are() -> None:
    store = Counting(clock=asyncio.get_running_loop().time)
    asked = chain(store, Planned("first", None), Planned("second", None))
    for _ in range(30):
        await search(asked)
    assert now() == pytest.approx(3.0, abs=0.2)
    assert 3 <= store.reads <= 4, "three seconds"
    await asked.aclose()


@pytest.mark.parametrize(
    "row",
    [b"", b"\xff", b"[]", b'{"cooldown": "soon"}', b'{"cooldown": -1}', b'{"cooldown": 1e400}', b'{"interval": null}'],
)
def test_what_somebody_else_wrote_there_is_passed_over(row: bytes) -> None:
    async def run() -> None:
        store = memory()
        for kind in ("cooldown", "rest", "interval"):
            await store.set(record_key("first:one", kind), row, fresh=60)
        asked = chain(store, Planned("first", None))
        assert (await search(asked)).provider == "first"
        await asked.aclose()

    run_virtually(run())


def test_a_record_that_says_nothing_changes_nothing() -> None:
    assert set(HealthRecord().model_dump().values()) == {0, ""}
    assert rate_in(HealthRecord(burst=1)) is None
    assert rate_in(HealthRecord(interval=1.0)) is None
    assert rate_in(HealthRecord(interval=1.0, burst=1)) == Rate(1.0, 1)


@virtually
async def test_nobody_can_close_a_provider_for_more_than_an_hour() -> None:
    store, epoch = memory(), asyncio.get_running_loop().time
    await asyncio.sleep(1.0)
    row = HealthRecord(cooldown=3_650, outcome="nonsense", reason="x", interval=1e9, burst=1, written=epoch())
    await store.set("provider:first:one:cooldown", row.model_dump_json().encode(), fresh=1e6)
    asked = chain(store, Planned("first", None))
    with pytest.raises(AllProvidersFailed) as caught:
        await search(asked)
    assert caught.value.attempts[0].retry_after == 3_600
    await asked.aclose()
    asked = chain(store, Planned("first", None))
    row = HealthRecord(cooldown=1e9, rest=1e9, outcome="quota", reason="before the clock was set back", written=1e9)
    await store.set("provider:first:one:cooldown", row.model_dump_json().encode(), fresh=1e6)
    assert await search(asked)
    await asked.aclose()


class WallClock:
    """The time that a person or a server may set, while the loop's own goes on."""

    def __init__(self) -> None:
        self.offset = 1e9

    def __call__(self) -> float:
        return self.offset + now()


@pytest.mark.req("B6", "B20")
@pytest.mark.parametrize("seconds", [0, 30, 60, 3_600])
@pytest.mark.parametrize(
    ("error", "length"),
    [
        (RateLimited("first", "slow down", status=429, retry_after=20.0), 20.0),
        (AuthenticationFailed("first", "refused", status=401), 60.0),
    ],
)
def test_a_clock_that_is_set_back_keeps_a_provider_out_for_no_longer(
    seconds: float, error: Exception, length: float
) -> None:
    run_virtually(_set_back(seconds, error, length))


async def _set_back(seconds: float, error: Exception, length: float) -> None:
    wall, store = WallClock(), memory()
    first, seen = Planned("first", error, None), Planned("first", None)

    def process(provider: Planned) -> CallingRouter:
        return CallingRouter([provider, Planned("second", None)], store=store, clock=wall)

    its_own, other = process(first), process(seen)
    await search(its_own)
    await asyncio.sleep(2.0)
    assert (await search(other)).provider == "second"
    wall.offset -= seconds
    for _ in range(3):  # read once a second
        await asyncio.sleep(2.0)
        await search(its_own)
        await search(other)
    await asyncio.sleep(length)
    for asked in (its_own, other):
        assert (await search(asked)).provider == "first"
        await asked.aclose()
    await asyncio.sleep(seconds if seconds <= 60 else 0)  # which may be the clocks of two machines
    new = process(Planned("first", None))
    assert (await search(new)).provider == "first"
    await new.aclose()


def shared(
    store: Store, *, health: Health | None = None, limiter: RateLimiter | None = None, extra: ExtraBudget | None = None
) -> SharedHealth:
    """Return what a process shares; the epoch began a billion seconds before the test."""
    extra = extra or ExtraBudget(0.1, 6.0)
    return SharedHealth(store, health or Health(), limiter or RateLimiter(store), extra, lambda: 1e9 + now())


@pytest.mark.parametrize(
    ("changes", "kind", "seconds"),
    [
        ({"cooldown": 100.0, "outcome": "auth", "reason": "x" * 999}, "cooldown", 100.0),
        ({"rest": 7.0, "rests": 0, "reason": ""}, "rest", 7.0),
        ({"interval": 1.0, "burst": 1}, "interval", 86_400.0),
    ],
)
def test_a_record_lasts_until_its_end_and_one_of_a_rate_a_day(
    changes: dict[str, float | int | str], kind: str, seconds: float
) -> None:
    async def run() -> None:
        store = memory()
        one = shared(store)
        one.publish(Planned("p", None), changes)
        await one.aclose()
        entry = await store.get(record_key("p:one", kind))
        record = HealthRecord.parse(entry)
        assert entry is not None
        assert record is not None
        assert entry.fresh_until - now() == pytest.approx(seconds)
        assert len(record.reason) <= 300

    run_virtually(run())


@virtually
async def test_a_process_does_not_hear_what_it_has_said_itself_and_nothing_twice() -> None:
    store, provider, health, other = memory(), Planned("p", None), Health(), Health()
    one = shared(store, health=health)
    heard = shared(store, health=other)
    for _ in range(2):
        one.publish(provider, {"cooldown": 100.0, "outcome": "auth", "reason": "no"})
        for each in (one, heard):
            await asyncio.sleep(1.0)
            await each.read([provider])
        assert health.provider_health("p").state == "healthy"
        assert other.provider_health("p").seconds == pytest.approx(98.0, abs=0.1)
    await asyncio.sleep(50.0)
    await heard.read([provider])
    assert other.provider_health("p").seconds == pytest.approx(48.0, abs=0.1)


@virtually
async def test_a_search_waits_for_a_read_only_if_the_last_one_is_old() -> None:
    one, provider, waits = shared(Slow(clock=now)), Planned("p", None), []
    for at in (0.0, 1.5, 4.75, 5.0, 6.0):
        await asyncio.sleep(max(0.0, at - now()))
        began = now()
        await one.refresh([provider])
        waits.append(now() - began)
    assert waits == pytest.approx([0.1, 0.0, 0.0, 0.1, 0.1])
    began = now()
    await one.aclose()
    assert now() - began < 1.0, "a read that goes on is not waited for"


@virtually
async def test_the_end_of_a_pause_counts_from_when_it_began() -> None:
    store, provider = memory(), Planned("p", None)
    told = shared(store)
    told.publish(provider, {"interval": 2.0, "burst": 3})
    told.publish(provider, {"rest": 60.0, "rests": 1, "reason": "busy"})
    told.publish(provider, {"cooldown": 100.0, "outcome": "auth", "reason": "no"})
    await told.aclose()
    await asyncio.sleep(50.0)
    limiter, health = RateLimiter(store), Health()
    heard = shared(store, health=health, limiter=limiter)
    await heard.read([provider])
    assert limiter.pace(provider, "p:one") == Rate(2.0, 3)
    rest = limiter.pause_of(provider)
    assert rest is not None
    assert (round(rest[0], 3), rest[1]) == (10.0, "busy")
    assert health.provider_health("p").seconds == pytest.approx(50.0)
    await heard.aclose()


@virtually
async def test_the_store_is_read_again_after_exactly_a_second() -> None:
    store, provider = Counting(clock=now), Planned("p", None)
    one = shared(store)
    for _ in range(3):
        await one.refresh([provider])
        await asyncio.sleep(1.0)
    assert store.reads == 3
    await one.aclose()


@virtually
async def test_what_extra_calls_one_process_has_made_the_others_lack() -> None:
    store, one, other = memory(), ExtraBudget(0.1, 2.0), ExtraBudget(0.1, 2.0)
    first, second = shared(store, extra=one), shared(store, extra=other)
    one.spend(1.5)
    await first.read([])
    assert (one.allows(0.5), one.allows(1.0), other.allows(1.0)) == (True, False, True)
    await second.read([])
    assert (other.allows(0.5), other.allows(1.0)) == (True, False)
    await first.aclose()
    await second.aclose()


@virtually
async def test_closing_counts_what_was_spent_and_ends_a_read() -> None:
    store, extra, other = memory(), ExtraBudget(0.1, 2.0), ExtraBudget(0.1, 2.0)
    one = shared(store, extra=extra)
    extra.spend(1.5)
    await one.aclose()
    await other.exchange(store)
    assert (other.allows(0.5), other.allows(1.0)) == (True, False)
    slow, running = shared(Slow(clock=now)), asyncio.all_tasks()
    await slow.refresh([Planned("p", None)])
    assert asyncio.all_tasks() != running
    await slow.aclose()
    assert asyncio.all_tasks() == running


class Failing(MemoryStore):
    """A store that fails in a way nobody expects."""

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        if isinstance(operations[0], Get):
            raise RuntimeError("a bug")
        return await super().batch(operations)


@pytest.mark.parametrize("store", [Failing, Slow])
def test_a_read_that_fails_or_is_canceled_is_not_complained_about(store: type[MemoryStore]) -> None:
    complaints: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
        one = shared(store(clock=now))
        await one.refresh([Planned("p", None)])
        await one.aclose()
        await asyncio.sleep(0.0)
        del one
        gc.collect()

    run_virtually(run())
    assert complaints == []
