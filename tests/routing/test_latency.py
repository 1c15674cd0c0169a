"""The quantiles of a provider's answers: exact, of the last two hundred, and only of enough of them."""

from __future__ import annotations

import asyncio

import pytest

from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.hedging import Latencies
from groundwire.storage.base import Count, StoreError
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually


def test_fewer_than_twenty_answers_say_nothing() -> None:
    latencies = Latencies()
    for _ in range(19):
        latencies.add(1.0)
    assert latencies.quantile(0.5, 7.0) == 7.0
    latencies.add(1.0)
    assert latencies.quantile(0.5, 7.0) == 1.0


@pytest.mark.parametrize(
    ("share", "seconds"), [(0.0, 1.0), (0.49, 50.0), (0.5, 51.0), (0.95, 96.0), (0.995, 100.0), (1.0, 100.0)]
)
def test_a_quantile_is_one_of_the_answers(share: float, seconds: float) -> None:
    latencies = Latencies()
    for number in range(1, 51):
        latencies.add(float(number))
        latencies.add(float(101 - number))
    assert latencies.quantile(share, 0.0) == seconds


def test_the_last_two_hundred_count() -> None:
    latencies = Latencies()
    latencies.add(0.5)
    for _ in range(199):
        latencies.add(3.0)
    assert latencies.quantile(0.0, 0.0) == 0.5
    latencies.add(9.0)
    assert latencies.quantile(0.0, 0.0) == 3.0
    assert latencies.quantile(1.0, 0.0) == 9.0
    for _ in range(199):
        latencies.add(4.0)
    assert (latencies.quantile(0.0, 0.0), latencies.quantile(1.0, 0.0)) == (4.0, 9.0)
    latencies.add(4.0)
    assert latencies.quantile(1.0, 0.0) == 4.0


def test_how_many_answers_take_longer() -> None:
    latencies = Latencies()
    for number in range(1, 20):
        latencies.add(float(number))
    assert latencies.later(6.0, 12.0) == 0.5, "too few are known: a quarter take longer than 12 s"
    latencies.add(20.0)
    assert latencies.later(0.5, 12.0) == 20.5 / 21
    assert latencies.later(5.0, 12.0) == 15.5 / 21
    assert latencies.later(20.0, 12.0) == 0.5 / 21, "one more is always thought possible"


def test_a_whole_call_is_allowed_while_one_is_left_and_a_part_the_less_the_less_is_left() -> None:
    budget = ExtraBudget(0.1, 6.0)
    budget.spend(5.0)
    assert budget.allows(1.0)
    assert not budget.allows(0.4), "one sixth is left: a hedge may be extra with a probability of a third"
    assert budget.allows(0.33)
    assert budget.allows(1.0, reserve=0.0)
    assert not budget.allows(1.0, reserve=0.5)
    budget.earn()
    budget.spend(0.2)
    assert not budget.allows(1.0)


@pytest.mark.parametrize(
    ("kept", "spent", "calls", "reserve", "allowed"),
    [
        (4.0, 3.0, 1.0, 0.0, True),
        (4.0, 3.01, 1.0, 0.0, False),
        (4.0, 2.0, 1.0, 0.25, True),
        (4.0, 2.01, 1.0, 0.25, False),
        (4.0, 3.0, 0.5, 0.0, True),
        (4.0, 3.0, 0.51, 0.0, False),
        (4.0, 3.0, 1.5, 0.0, False),
        (4.0, 1.0, 2.0, 0.0, True),
        (1.0, 0.0, 1.0, 0.25, True),
        (1.5, 0.5, 1.0, 0.5, False),
        (1.5, 0.0, 1.0, 0.5, True),
        (0.5, 0.0, 0.5, 0.5, True),
        (0.5, 0.25, 0.25, 0.0, True),
        (0.5, 0.25, 0.26, 0.0, False),
    ],
)
def test_what_the_budget_allows(kept: float, spent: float, calls: float, reserve: float, allowed: bool) -> None:
    budget = ExtraBudget(0.1, kept)
    budget.spend(spent)
    assert budget.allows(calls, reserve=reserve) is allowed
    if not reserve:
        assert budget.allows(calls) is allowed


def test_who_earns_nothing_may_spend_nothing() -> None:
    for earned in (0.0, -1.0):
        assert not ExtraBudget(earned, 4.0).allows(1.0)
        assert not ExtraBudget(earned, 4.0).allows(0.001)
    assert ExtraBudget(0.0, 4.0).allows(0.0)
    assert ExtraBudget(0.001, 1.0).allows(1.0)
    assert not ExtraBudget(0.001, 1.0).allows(1.001)


class Failing(MemoryStore):
    """A store that fails on request."""

    gone = False

    async def count(self, key: str, amount: float, *, limit: float | None = None, ttl: float | None = None) -> Count:
        if self.gone:
            raise StoreError("gone")
        return await super().count(key, amount, limit=limit, ttl=ttl)


def test_what_was_spent_is_counted_in_the_store_for_an_hour_and_without_it_in_the_process() -> None:
    async def run() -> None:
        store = Failing(clock=asyncio.get_running_loop().time)
        one, other = ExtraBudget(0.5, 2.0), ExtraBudget(0.5, 2.0)
        one.spend(1.25)
        await one.exchange(store)
        assert (one.allows(0.75), one.allows(1.0)) == (True, False)
        assert other.allows(2.0)
        await other.exchange(store)
        assert (other.allows(0.75), other.allows(1.0)) == (True, False)
        other.earn()
        other.earn()
        assert other.allows(1.75)
        assert not other.allows(1.76)
        await other.exchange(store)
        await asyncio.sleep(5.0)
        await one.exchange(store)
        assert (one.allows(1.75), one.allows(2.0)) == (True, False)
        for _ in range(5):
            one.earn()
        assert one.allows(2.0), "what others spent is given back as well"
        assert not one.allows(2.01), "and no more than that"
        await asyncio.sleep(3_594.9)
        await one.exchange(store)
        store.gone = True
        one.spend(1.5)
        await one.exchange(store)
        assert (one.allows(0.5), one.allows(1.0)) == (True, False)
        for _ in range(4):
            one.earn()
            await one.exchange(store)
        assert (one.allows(2.0), one.allows(2.01)) == (True, False)

    run_virtually(run())


def test_spending_is_forgotten_an_hour_after_it_began() -> None:
    async def run(seconds: float) -> bool:
        store = Failing(clock=asyncio.get_running_loop().time)
        budget = ExtraBudget(0.5, 2.0)
        budget.spend(1.5)
        await budget.exchange(store)
        await asyncio.sleep(seconds)
        await budget.exchange(store)
        return budget.allows(2.0)

    assert not run_virtually(run(3_599.5))
    assert run_virtually(run(3_600.5))


def test_what_is_earned_is_spent_whole_and_never_more_than_is_kept() -> None:
    budget = ExtraBudget(0.5, 2.0)
    given = []
    for step in "ssseeseeeeeesss":
        if step == "e":
            budget.earn()
        elif budget.allows(1):
            budget.spend(1)
            given.append(True)
        else:
            given.append(False)
    assert given == [True, True, False, True, True, True, False]
    assert not ExtraBudget(0.01, 0.99).allows(1)
