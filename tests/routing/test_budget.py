"""The session's budget (haytham): exact, shared through the store, given back on failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import BudgetExceeded
from groundwire.routing.budget import Limits, Reservation, SessionBudget, session_name
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.storage import MemoryStore, Store, open_store
from groundwire.storage.base import (
    Add,
    Answer,
    Count,
    Entry,
    Get,
    Lookup,
    Operation,
)
from groundwire.tools.conversions import for_model, warnings_for_model


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    made = open_store("memory://")
    yield made
    await made.aclose()


def budget(store: Store, session: str = "s", **limits: float) -> SessionBudget:
    return SessionBudget(store, session, Limits(**limits))  # type: ignore[arg-type]


@pytest.mark.req("H4")
async def test_the_texts_are_those_of_the_document(store: Store) -> None:
    own = budget(store, searches=3, warning_threshold=2)
    first = await own.take()
    assert (first.searches, first.spent, own.warning(first)) == (1, 1, None)
    assert own.warning(await own.take()) == "Searches left in this session: 1 of 3."
    await own.take()
    with pytest.raises(BudgetExceeded) as caught:
        await own.take()
    assert str(caught.value) == "Search limit reached (3/3). Limit resets with new session."
    assert for_model(caught.value) == (
        "Search limit reached (3/3). Use existing results or training knowledge. Limit resets with new session."
    )
    near = list(warnings_for_model(["another", "Searches left in this session: 1 of 3."]))
    assert near == ["another", "[WARNING: 1 searches remaining in session]"]
    assert (caught.value.limit, caught.value.spent) == (3, 3)


@pytest.mark.req("H5")
async def test_a_new_session_begins_at_zero(store: Store) -> None:
    own = budget(store, searches=1)
    await own.take()
    await own.reset()
    state = own.state()
    assert state is not None
    assert (state.spent, state.remaining) == (0, 1)
    await own.take()
    state = own.state()
    assert state is not None
    assert (state.spent, state.remaining) == (1, 0)
    await budget(store, "another", searches=1).take()


async def test_without_a_limit_nothing_is_said(store: Store) -> None:
    own = budget(store, searches=0)
    for _ in range(50):
        taken = await own.take()
    assert own.state() is None
    assert own.warning(taken) is None


@pytest.mark.req("H4", "B5")
async def test_the_count_is_exact_when_many_share_it(store: Store) -> None:
    shares = [budget(store, searches=100) for _ in range(8)]

    async def take(own: SessionBudget) -> int:
        granted = 0
        for _ in range(30):
            try:
                await own.take()
                granted += 1
            except BudgetExceeded:
                pass
        return granted

    assert sum(await asyncio.gather(*map(take, shares))) == 100


@pytest.mark.req("B5")
async def test_money_is_set_aside_and_settled(store: Store) -> None:
    own = budget(store, searches=0, cost_usd=0.01)
    first = await own.take(0.005)
    await own.take(0.005)
    with pytest.raises(BudgetExceeded, match=r"0\.0100 of 0\.0100 US dollars"):
        await own.take(0.005)
    await own.settle(first, 0.0)
    await own.take(0.005)
    statistics = await own.usage()
    assert statistics["searches"] == 3
    assert statistics["cost_usd"] == pytest.approx(0.01)


@pytest.mark.req("B5")
async def test_a_search_that_is_refused_costs_nothing(store: Store) -> None:
    budget = SessionBudget(store, "s", Limits(searches=1))
    await budget.take(0.01)
    with pytest.raises(BudgetExceeded):
        await budget.take(0.01)
    assert await budget.usage() == {"searches": 1, "cost_usd": pytest.approx(0.01), "tokens": 0}


@pytest.mark.req("B5")
async def test_a_failed_search_is_given_back_with_its_money(store: Store) -> None:
    own = budget(store, searches=1, cost_usd=0.01)
    for _ in range(5):
        await own.settle(await own.take(0.01), searches=0)
    await own.settle(await own.take(0.01), cost_usd=0.002, searches=0)
    assert (await own.usage())["cost_usd"] == pytest.approx(0.002)


@pytest.mark.req("B5")
async def test_page_text_is_counted_in_tokens(store: Store) -> None:
    own = budget(store, tokens=100)
    await own.check_tokens()
    await own.count_page_text(399)
    with pytest.raises(BudgetExceeded, match="100 of 100 tokens"):
        await own.check_tokens()


async def test_twenty_searches_with_a_warning_from_the_fifteenth_on(store: Store) -> None:
    own = budget(store, searches=20)
    for _ in range(14):
        assert own.warning(await own.take()) is None
    assert own.warning(await own.take()) == "Searches left in this session: 5 of 20."
    for _ in range(5):
        last = await own.take()
    assert own.warning(last) == "Searches left in this session: 0 of 20."
    with pytest.raises(BudgetExceeded, match=r"\(20/20\)"):
        await own.take()
    assert Limits().cost_usd == Limits().tokens == 0


async def test_nothing_is_known_before_the_first_search(store: Store) -> None:
    state = budget(store, searches=3).state()
    assert state is not None
    assert (state.limit, state.spent) == (3, 0)


@pytest.mark.req("B5")
async def test_money_is_used_up_when_it_is_spent_to_the_last_millionth(store: Store) -> None:
    own = budget(store, searches=5, cost_usd=0.01)
    await own.check_money()
    await own.settle(await own.take(), 0.009_999)
    await own.check_money()
    await own.settle(await own.take(), 0.000_001)
    with pytest.raises(BudgetExceeded, match=r"0\.0100 of 0\.0100") as caught:
        await own.check_money()
    assert (caught.value.limit, caught.value.spent) == (5, 2)
    await budget(store, "free", searches=5).check_money()


@pytest.mark.req("B5")
async def test_what_money_refuses_is_no_search(store: Store) -> None:
    own = budget(store, searches=5, cost_usd=0.01)
    await own.take(0.006)
    with pytest.raises(BudgetExceeded, match=r"0\.0060 of 0\.0100") as caught:
        await own.take(0.005)
    assert (caught.value.limit, caught.value.spent) == (5, 2)
    state = own.state()
    assert state is not None
    assert state.spent == 1
    assert await own.usage() == {"searches": 1, "cost_usd": pytest.approx(0.006), "tokens": 0}


@pytest.mark.req("B5")
async def test_what_the_count_refuses_costs_nothing_under_a_limit_of_money(store: Store) -> None:
    own = budget(store, searches=1, cost_usd=1.0)
    await own.take(0.1)
    with pytest.raises(BudgetExceeded, match="Search limit"):
        await own.take(0.1)
    assert await own.usage() == {"searches": 1, "cost_usd": pytest.approx(0.1), "tokens": 0}


async def test_searches_that_are_held_are_known_at_once(store: Store) -> None:
    own = budget(store, searches=5)
    await own.reserve_many(3)
    state = own.state()
    assert state is not None
    assert (state.spent, state.remaining) == (3, 2)


@pytest.mark.req("B5")
async def test_a_page_pays_where_money_is_limited(store: Store) -> None:
    own = budget(store, searches=5, cost_usd=0.01)
    await own.take()
    reservation = await own.take_page(0.01)
    assert (reservation.searches, reservation.spent, reservation.micro_usd, reservation.day) == (0, 1, 10_000, 0)
    with pytest.raises(BudgetExceeded, match=r"0\.0100 of 0\.0100") as caught:
        await own.take_page(0.001)
    assert caught.value.spent == 1
    await own.settle(reservation, 0.004)
    assert (await own.usage()) == {"searches": 1, "cost_usd": pytest.approx(0.004), "tokens": 0}
    free = budget(store, "free", searches=5)
    assert (await free.take_page(0.01)).micro_usd == 0
    assert (await free.usage())["cost_usd"] == 0


@pytest.mark.req("B5")
async def test_a_search_that_is_given_back_is_known_at_once(store: Store) -> None:
    own = budget(store, searches=2, cost_usd=0.05)
    taken = await own.take(0.02)
    await own.take(0.02)
    await own.settle(taken, searches=0)
    state = own.state()
    assert state is not None
    assert (state.spent, state.remaining) == (1, 1)
    assert (await own.usage())["cost_usd"] == pytest.approx(0.02)
    await own.settle(await own.take(0.02), cost_usd=0.005, searches=0)
    assert (await own.usage())["cost_usd"] == pytest.approx(0.025)


@pytest.mark.req("B5")
async def test_held_searches_are_known_and_settled(store: Store) -> None:
    own = budget(store, searches=10, cost_usd=0.05)
    hold = await own.reserve_many(8, 0.01)
    assert (hold.searches, hold.micro_usd, hold.day) == (5, 50_000, 0)
    state = own.state()
    assert state is not None
    assert state.spent == 5
    assert await own.usage() == {"searches": 5, "cost_usd": pytest.approx(0.05), "tokens": 0}
    await own.settle(hold, searches=3)
    state = own.state()
    assert state is not None
    assert state.spent == 3
    assert await own.usage() == {"searches": 3, "cost_usd": pytest.approx(0.03), "tokens": 0}
    nothing = await own.reserve_many(0)
    assert (nothing.searches, nothing.micro_usd) == (0, 0)
    await own.settle(nothing, searches=0)
    await own.settle(nothing, searches=1)
    other = budget(store, searches=10, cost_usd=0.05)
    assert await other.usage() == {"searches": 4, "cost_usd": pytest.approx(0.03), "tokens": 0}
    state = other.state()
    assert state is not None
    assert state.spent == 4


async def test_what_is_looked_up_along_with_a_search_has_its_answers(store: Store) -> None:
    own = budget(store, searches=10, cost_usd=0.05)
    await store.set("k", b"value", fresh=9.0)
    for price in (0.0, 0.01):
        look = Lookup((Get("k"),))
        await own.take(price, along=look)
        assert look.answers is not None
        (entry,) = look.answers
        assert isinstance(entry, Entry)
        assert entry.value == b"value"


class Rivals(MemoryStore):
    """A store in which somebody else counts in between, right after each refusal."""

    def __init__(self, *amounts: int) -> None:
        super().__init__()
        self._amounts = list(amounts)
        self.asked: list[float] = []

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        self.asked.append(amount)
        counted = await super().count(key, amount, limit=limit, ttl=ttl)
        if not counted.granted and self._amounts:
            await super().count(key, self._amounts.pop(0), ttl=ttl)
        return counted


@pytest.mark.req("B5")
async def test_it_is_tried_with_less_until_it_fits() -> None:
    store = Rivals(2, 3)
    own = budget(store, searches=10)
    assert (await own.reserve_many(12)).searches == 5
    assert store.asked == [12, 10, 8, 5]
    await store.aclose()


@pytest.mark.req("B5")
async def test_a_session_reads_up_to_its_tokens(store: Store) -> None:
    own = budget(store, tokens=100)
    await own.count_page_text(396)
    await own.check_tokens()
    await own.count_page_text(1)
    with pytest.raises(BudgetExceeded, match=r"100 of 100 tokens") as caught:
        await own.check_tokens()
    assert (caught.value.limit, caught.value.spent) == (100, 100)
    free = budget(store, "free")
    await free.count_page_text(400)
    assert (await free.usage())["tokens"] == 0
    await free.check_tokens()
    await own.reset()
    await own.check_tokens()
    assert await own.usage() == {"searches": 0, "cost_usd": 0, "tokens": 0}


async def test_a_session_is_forgotten_a_week_after_it_began() -> None:
    now = 0.0
    store = MemoryStore(clock=lambda: now)
    own = budget(store, searches=5, cost_usd=1.0, tokens=100)

    async def use() -> None:
        await own.settle(await own.take(0.1), 0.1)
        await own.settle(await own.take_page(0.1), 0.2)
        await own.settle(await own.reserve_many(1, 0.1), searches=1)
        await own.count_page_text(4)

    await use()
    used = {"searches": 2, "cost_usd": pytest.approx(0.4), "tokens": 1}
    now = 7 * 86_400 - 1
    assert await own.usage() == used
    now = 7 * 86_400 + 1
    assert await own.usage() == {"searches": 0, "cost_usd": 0, "tokens": 0}
    await store.aclose()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.req("H5")
async def test_an_idle_session_begins_anew_in_every_process(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    limits = Limits(searches=3, cost_usd=1.0, tokens=100, idle_timeout=600)
    one, other = (SessionBudget(store, "s", limits, clock=clock) for _ in range(2))
    await one.take(0.5)
    await one.count_page_text(40)
    clock.now = 599
    await other.take(0.1)
    clock.now = 599 + 599  # used meanwhile, elsewhere
    await one.take(0.1)
    with pytest.raises(
        BudgetExceeded, match=r"Limit resets with new session\. A session ends after 10 minutes without a call"
    ):
        await other.take()
    assert (await other.usage())["searches"] == 3
    clock.now += 601
    await asyncio.gather(one.take(), other.take(), one.take())
    assert await other.usage() == {"searches": 3, "cost_usd": 0, "tokens": 0}
    with pytest.raises(BudgetExceeded):
        await one.take()
    await store.aclose()


class Slow(MemoryStore):
    """The store as one of several processes sees it: each of its calls is sent, and its answer read, with a delay.

    Args:
        shared: The store that they share.
        delays: Turns of the event loop before and after each call; a starved process takes many.
    """

    def __init__(self, shared: MemoryStore, delays: Iterator[int]) -> None:
        super().__init__()
        self._shared = shared
        self._delays = delays

    async def _delay(self) -> None:
        for _ in range(next(self._delays)):
            await asyncio.sleep(0)

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        await self._delay()
        answers = await self._shared.batch(operations)
        await self._delay()
        return answers

    async def get(self, key: str) -> Entry | None:
        await self._delay()
        entry = await self._shared.get(key)
        await self._delay()
        return entry

    async def set(self, key: str, value: bytes, *, fresh: float, stale: float = 0.0) -> None:
        await self._delay()
        await self._shared.set(key, value, fresh=fresh, stale=stale)
        await self._delay()

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        await self._delay()
        counted = await self._shared.count(key, amount, limit=limit, ttl=ttl)
        await self._delay()
        return counted

    async def lease(self, key: str, *, owner: str, ttl: float) -> bool:
        await self._delay()
        held = await self._shared.lease(key, owner=owner, ttl=ttl)
        await self._delay()
        return held


async def _granted(own: SessionBudget, tries: int) -> int:
    granted = 0
    for _ in range(tries):
        with suppress(BudgetExceeded):
            await own.take()
            granted += 1
    return granted


@pytest.mark.req("H4", "B20")
@pytest.mark.parametrize("used_before", [0, 3])
@pytest.mark.parametrize("delay", range(2, 12))
async def test_a_process_that_is_slow_at_its_first_call_gives_nobody_a_second_budget(
    delay: int, used_before: int, clock: Clock
) -> None:
    shared = MemoryStore(clock=clock)
    limits = Limits(searches=4, idle_timeout=600)
    await _granted(SessionBudget(shared, "s", limits, clock=clock), used_before)
    clock.now += 601  # what was used before the pause does not count
    quick, slow = (SessionBudget(Slow(shared, repeat(turns)), "s", limits, clock=clock) for turns in (1, delay))
    granted = await asyncio.gather(_granted(quick, 8), _granted(slow, 8), _granted(slow, 8))
    assert sum(granted) == 4
    assert (await quick.usage())["searches"] == 4
    await shared.aclose()


@pytest.mark.req("H4", "B20")
@given(st.lists(st.sampled_from([1, 5, 30]), min_size=2, max_size=4), st.integers(0, 6))
def test_an_idle_session_begins_anew_once_in_whatever_order_the_processes_are_served(
    delays: list[int], used_before: int
) -> None:
    async def run() -> None:
        clock = Clock()
        shared = MemoryStore(clock=clock)
        limits = Limits(searches=6, idle_timeout=600)
        await _granted(SessionBudget(shared, "s", limits, clock=clock), used_before)
        clock.now += 601
        processes = [SessionBudget(Slow(shared, repeat(turns)), "s", limits, clock=clock) for turns in delays]
        assert sum(await asyncio.gather(*(_granted(own, 8) for own in processes))) == 6
        await shared.aclose()

    asyncio.run(run())


@pytest.mark.req("H5")
async def test_a_session_is_marked_as_used_every_eighth_of_its_idle_time(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    limits = Limits(searches=9, idle_timeout=800)
    one, other = (SessionBudget(store, "s", limits, clock=clock) for _ in range(2))
    for moment in (0.0, 99.0, 100.0, 199.0):  # the second mark is set after exactly an eighth
        clock.now = moment
        await one.take()
    clock.now = 899.0
    assert (await other.take()).spent == 5, "the last mark was set at 100"
    for moment in (0.0, 99.0, 100.0, 199.0):
        clock.now = 2_000.0 + moment
        await one.take()
    clock.now = 2_901.0
    assert (await other.take()).spent == 1, "and not later"
    clock.now = 2_901.0 + 801
    await one.take()
    assert (await other.usage())["searches"] == 1
    await store.aclose()


@pytest.mark.parametrize("limits", [Limits(cost_usd=1.0, idle_timeout=600), Limits(tokens=9, idle_timeout=600)])
async def test_every_kind_of_limit_begins_anew_after_the_idle_time(limits: Limits, clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    own = SessionBudget(store, "s", limits, clock=clock)
    await own.take(0.1)
    await own.count_page_text(8)
    clock.now = 601
    await own.take(0.1)
    assert await own.usage() == {"searches": 1, "cost_usd": pytest.approx(0.1), "tokens": 0}
    await store.aclose()


async def test_a_session_that_never_ends_stays_as_it_is(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    own = SessionBudget(store, "s", Limits(searches=1), clock=clock)
    await own.take()
    clock.now += 86_400
    with pytest.raises(BudgetExceeded, match=r"new session\.$"):
        await own.take()
    await store.aclose()


@pytest.mark.req("B5")
@given(st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 9_000)), max_size=20))
def test_money_adds_up_to_the_last_millionth(steps: list[tuple[int, int]]) -> None:
    async def run() -> float:
        store = open_store("memory://")
        own = budget(store, searches=0)
        for reserved, real in steps:
            await own.settle(await own.take(reserved / 1e6), real / 1e6)
        total = (await own.usage())["cost_usd"]
        await store.aclose()
        return total

    assert asyncio.run(run()) == pytest.approx(sum(real for _, real in steps) / 1e6, abs=1e-9)


def test_what_is_not_said_is_no_limit_and_nothing_reserved() -> None:
    assert Limits() == Limits(searches=0, warning_threshold=15, cost_usd=0.0, tokens=0, idle_timeout=0.0)
    assert Reservation() == Reservation(searches=0, micro_usd=0, day=0, spent=0)


def test_a_session_is_named_after_its_tenant_once() -> None:
    mine, other = Owner(tenant="t1"), Owner(tenant="t2")
    assert session_name(LOCAL, "s") == "s"
    assert session_name(mine, "s") == session_name(mine, session_name(mine, "s")) == "tenant:t1:s"
    assert session_name(other, session_name(mine, "s")) == "tenant:t2:tenant:t1:s"


async def test_without_a_price_nothing_is_set_aside(store: Store) -> None:
    own = budget(store, searches=9, cost_usd=1.0)
    await own.settle(await own.take(0.1), 0.1)
    for reservation in (await own.take(), await own.take_page(), await own.reserve_many(1)):
        assert reservation.micro_usd == 0
    assert (await own.usage())["cost_usd"] == pytest.approx(0.1)
    assert own.named
    assert not SessionBudget(store, "s", Limits(), named=False).named


@pytest.mark.parametrize(("spent", "left"), [(14, None), (15, 5), (19, 1), (20, 0), (23, 0)])
def test_what_is_left_is_never_negative(spent: int, left: int | None) -> None:
    own = SessionBudget(MemoryStore(), "s", Limits(searches=20, warning_threshold=15))
    told = None if left is None else f"Searches left in this session: {left} of 20."
    assert own.warning(Reservation(1, spent=spent)) == told


@pytest.mark.req("H5")
async def test_a_session_is_looked_up_once_for_all_who_use_it_and_each_owner_has_one(clock: Clock) -> None:
    class Counting(MemoryStore):
        batches = 0

        async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
            self.batches += len(operations) > 1 or isinstance(operations[0], Add)
            return await super().batch(operations)

    store, mine = Counting(clock=clock), Owner(tenant="t1")
    own = SessionBudget(store, "s", Limits(searches=3, idle_timeout=800), clock=clock)
    for number in range(1, 4):
        await own.within(None, LOCAL).take()
        assert store.batches == 1 + number, "one more for the idle time"
    theirs = own.within(None, mine)
    assert theirs.session == "tenant:t1:s"
    await _granted(theirs, 5)
    clock.now = 801
    await own.take()
    assert await _granted(own.within(None, mine), 5) == 3
    assert (await own.usage())["searches"] == 1
    await store.aclose()


@pytest.mark.req("H5")
async def test_whatever_comes_first_after_the_idle_time_begins_the_session_anew(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    limits = Limits(searches=2, cost_usd=0.02, tokens=10, idle_timeout=600)

    async def search(own: SessionBudget) -> int:
        return (await own.take()).spent

    async def page(own: SessionBudget) -> int:
        return (await own.take_page(0.02)).micro_usd

    async def many(own: SessionBudget) -> int:
        return (await own.reserve_many(9)).searches

    async def text(own: SessionBudget) -> int:
        await own.check_tokens()
        return 0

    for first, found in ((search, 1), (page, 20_000), (many, 2), (text, 0)):
        own = SessionBudget(store, first.__name__, limits, clock=clock)
        await own.take(0.02)
        await own.take()
        await own.count_page_text(40)
        with pytest.raises(BudgetExceeded):
            await own.check_tokens()
        clock.now += 601
        assert await first(own) == found
        assert (await own.usage())["tokens"] == 0
    await store.aclose()
