"""A day's allowance: counted whatever session it is used in, exact under many, settled on its own day."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import BudgetExceeded
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.routing.daily_quota import DailyLimits, DailyQuota, limits_of
from groundwire.settings import SessionSettings
from groundwire.storage import MemoryStore, Store
from groundwire.storage.base import Count

NOON = 20_000 * 86_400 + 43_200.0


class Days:
    """The time, as a test wants it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
async def store(days: Days) -> AsyncIterator[Store]:
    made = MemoryStore(clock=days)
    yield made
    await made.aclose()


def allowance(store: Store, days: Days, *, calls: int = 0, cost_usd: float = 0.0, name: str = "k") -> DailyQuota:
    return DailyQuota(store, DailyLimits(name=name, calls=calls, cost_usd=cost_usd), clock=days)


def session(
    store: Store, within: DailyQuota, name: str = "s", later: BackgroundTasks | None = None, **limits: float
) -> SessionBudget:
    own = Limits(**{"searches": 0, **limits})  # type: ignore[arg-type]
    return SessionBudget(store, name, own, later, quota=within)


async def test_sessions_and_pages_pay_into_one_day(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=3)
    await session(store, day, "a").take()
    await session(store, day, "b").take()
    await session(store, day, "c").take_page()
    for call in (session(store, day, "d").take, session(store, day, "a").take_page):
        with pytest.raises(BudgetExceeded, match="all 3 calls of the day") as caught:
            await call()
        assert (caught.value.limit, caught.value.spent, caught.value.retry_after) == (3, 3, 43_200)
    assert (await day.used())["calls"] == 3
    await session(store, allowance(store, days, calls=3, name="other")).take()
    days.now += 43_200  # midnight
    await session(store, day, "d").take()


async def test_money_is_set_aside_before_and_settled_after(store: Store, days: Days) -> None:
    day = allowance(store, days, cost_usd=0.010)
    own = session(store, day)
    first = await own.take(0.006)
    with pytest.raises(BudgetExceeded, match=r"its limit is 0\.01 US dollars per day"):
        await own.take(0.005)
    assert await day.used() == {"calls": 1, "cost_usd": 0.006}
    await own.settle(first, 0.002)
    second = await own.take(0.008)
    await own.settle(second, 0.001, searches=0)
    assert await day.used() == {"calls": 1, "cost_usd": pytest.approx(0.003)}
    await own.settle(await own.take_page(0.004), 0.004)
    await own.check_money()
    await own.settle(await own.take_page(), 0.003)  # nobody had said a price
    with pytest.raises(BudgetExceeded):
        await own.check_money()


async def test_pages_side_by_side_do_not_spend_more_than_there_is(store: Store, days: Days) -> None:
    day = allowance(store, days, cost_usd=0.010)
    for limit in (0.0, 0.010):
        own = session(store, day, str(limit), cost_usd=limit)
        first = await own.take_page(0.006)
        with pytest.raises(BudgetExceeded):
            await own.take_page(0.006)
        assert await day.used() == {"calls": 1, "cost_usd": 0.006}
        await own.settle(first, 0.0)
        await day.uncount(day.today(), 1)
    tight = session(store, day, "tight", cost_usd=0.005)
    with pytest.raises(BudgetExceeded, match="session's cost budget"):
        await tight.take_page(0.006)
    assert await day.used() == {"calls": 0, "cost_usd": 0}


async def test_what_a_session_refuses_is_not_counted_for_the_day(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=10, cost_usd=1.0)
    for limits in ({"searches": 1}, {"cost_usd": 0.1}):
        own = session(store, day, str(limits), **limits)
        taken = await own.take(0.1)
        before = await day.used()
        with pytest.raises(BudgetExceeded, match=r"Search limit|session's cost budget"):
            await own.take(0.1)
        assert await day.used() == before
        await own.settle(taken, searches=0)
    assert await day.used() == {"calls": 0, "cost_usd": 0}


async def test_what_began_before_midnight_is_settled_there(store: Store, days: Days) -> None:
    day, later = allowance(store, days, cost_usd=1.0), BackgroundTasks()
    own = session(store, day, later=later)
    taken = await own.take(0.5)
    bill = own.ledger(taken)
    assert await bill.charge(0.5)
    hold = await own.reserve_many(2, 0.1)
    yesterday = day.today()
    days.now += 86_400
    await own.take(0.05)
    bill.close()
    bill.correct(0.5, 0.2)  # a call that ends after its search
    await later.aclose()
    await own.settle(hold, searches=1)
    assert await day.used() == {"calls": 1, "cost_usd": pytest.approx(0.05)}
    assert (await store.count(f"day:k:{yesterday}:usd", 0)).total == 300_000
    assert (await store.count(f"day:k:{yesterday}:calls", 0)).total == 2


async def test_calls_beyond_the_reservation_are_paid_by_the_day(store: Store, days: Days) -> None:
    day = allowance(store, days, cost_usd=0.03)
    own = session(store, day, cost_usd=0.025)
    taken = await own.take(0.01)
    bill = own.ledger(taken)
    assert await bill.charge(0.01)
    assert await bill.charge(0.01)
    assert not await bill.charge(0.01)  # the session has no more; what the day set aside for it is given back
    assert (await day.used())["cost_usd"] == pytest.approx(0.02)
    wide = session(store, day, "wide")
    other = wide.ledger(await wide.take())
    assert await other.charge(0.01)
    assert not await other.charge(0.01)  # the day has no more


@given(calls=st.integers(0, 6), money=st.integers(0, 6), wanted=st.integers(1, 8), price=st.integers(0, 3))
async def test_as_many_searches_are_held_as_day_and_session_allow(
    calls: int, money: int, wanted: int, price: int
) -> None:
    days = Days()
    store = MemoryStore(clock=days)
    day = allowance(store, days, calls=calls, cost_usd=money / 100)
    own = session(store, day, searches=5)
    hold = await own.reserve_many(wanted, price / 100)
    allowed = min(wanted, 5, calls or wanted, money // price if money and price else wanted)
    assert hold.searches == allowed
    assert await day.used() == {"calls": allowed, "cost_usd": pytest.approx(allowed * price / 100)}
    await own.settle(hold, searches=0)
    assert await day.used() == {"calls": 0, "cost_usd": 0}


async def test_without_limits_a_day_has_no_end(store: Store, days: Days) -> None:
    day = DailyQuota(store, DailyLimits(name="k"), clock=days)
    await day.take(day.today())
    assert await day.used() == {"calls": 1, "cost_usd": 0}
    for _ in range(30):
        await day.take(day.today(), 1_000_000)
    await day.check_money()
    assert await day.used() == {"calls": 31, "cost_usd": 30}
    assert await day.take_up_to(day.today(), 50, 1_000_000) == 50


async def test_money_is_used_up_to_the_last_millionth(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=9, cost_usd=0.01)
    await day.take(day.today(), 9_999)
    await day.check_money()
    await day.add(day.today(), 1)
    with pytest.raises(BudgetExceeded) as caught:
        await day.check_money()
    assert (caught.value.limit, caught.value.spent, caught.value.retry_after) == (9, 1, 43_200)


async def test_a_day_is_forgotten_three_days_after_it_began_to_be_used(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=9, cost_usd=1.0)
    number = day.today()
    await day.take(number, 1_000)
    days.now += 3 * 86_400 - 1
    assert (await store.count(f"day:k:{number}:calls", 0)).total == 1
    assert (await store.count(f"day:k:{number}:usd", 0)).total == 1_000
    days.now += 2
    assert (await store.count(f"day:k:{number}:calls", 0)).total == 0
    assert (await store.count(f"day:k:{number}:usd", 0)).total == 0


async def test_many_at_once_get_exactly_what_there_is(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=7, cost_usd=0.05)

    async def take(number: int) -> bool:
        try:
            await session(store, day, str(number)).take(0.01)
        except BudgetExceeded:
            return False
        return True

    assert sum(await asyncio.gather(*(take(number) for number in range(50)))) == 5
    assert await day.used() == {"calls": 5, "cost_usd": 0.05}


async def test_what_is_left_of_a_day_is_asked_for_once_it_is_known(days: Days) -> None:
    class Counted(MemoryStore):
        counts = 0

        async def count(self, *args: Any, **options: Any) -> Count:
            self.counts += 1
            return await super().count(*args, **options)

    store = Counted()
    day = allowance(store, days, calls=7)
    assert await day.take_up_to(day.today(), 1_000, 0) == 7
    assert store.counts == 2
    assert await day.take_up_to(day.today(), 1_000, 0) == 0
    assert store.counts == 3
    await store.aclose()


def test_the_limits_of_a_session_are_those_of_its_settings() -> None:
    own = SessionSettings(max_searches=7, warning_threshold=5, max_cost_usd=1.5, max_tokens=900, idle_timeout=60.0)
    assert limits_of(own) == Limits(searches=7, warning_threshold=5, cost_usd=1.5, tokens=900, idle_timeout=60.0)


async def test_days_are_counted_since_the_epoch_and_a_call_without_a_price_moves_no_money() -> None:
    days = Days()
    store = MemoryStore(clock=days)
    quota = DailyQuota(store, DailyLimits(name="k"), clock=days)
    assert quota.today() == 20_000
    days.now += 43_199.0
    assert quota.today() == 20_000
    days.now += 1.0
    assert quota.today() == 20_001
    await quota.add(20_001, 100)
    await quota.take(20_001)
    assert await quota.used() == {"calls": 1, "cost_usd": pytest.approx(0.0001)}
    await store.aclose()


async def test_what_fits_is_found_in_a_few_tries() -> None:
    class Counting(MemoryStore):
        asked = 0

        async def count(
            self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None
        ) -> Count:
            self.asked += 1
            return await super().count(key, amount, limit=limit, ttl=ttl)

    store = Counting()
    quota = DailyQuota(store, DailyLimits(name="k", cost_usd=0.01))
    assert await quota.take_up_to(1, 1_000, 3_000) == 3
    assert store.asked == 4, "the calls, twice the money, and the calls that did not fit"
    await store.aclose()


async def test_what_the_session_does_not_allow_is_not_counted_for_the_day(store: Store, days: Days) -> None:
    day = allowance(store, days, calls=10, cost_usd=1.0)
    own = session(store, day, searches=3)
    hold = await own.reserve_many(8, 0.1)
    assert hold.searches == 3
    assert await day.used() == {"calls": 3, "cost_usd": pytest.approx(0.3)}
