"""Searches that a model's API makes are held before and settled after, in the session's one budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groundwire.errors import BudgetExceeded
from groundwire.routing.budget import Limits, Reservation, SessionBudget
from groundwire.storage import Store, open_store

pytestmark = pytest.mark.req("B5")


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = open_store("memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/store.sqlite3")
    yield made
    await made.aclose()


async def test_as_many_as_are_left_are_held(store: Store) -> None:
    own = SessionBudget(store, "s", Limits(searches=5))
    first = await own.reserve_many(3)
    second = await own.reserve_many(3)
    assert (first.searches, second.searches, (await own.reserve_many(3)).searches) == (3, 2, 0)
    with pytest.raises(BudgetExceeded):
        await own.take()
    await own.settle(first, searches=1)
    await own.settle(second, searches=2)
    assert (await own.usage())["searches"] == 3
    state = own.state()
    assert state is not None
    assert state.spent == 3
    await own.take()


async def test_money_bounds_them_too(store: Store) -> None:
    own = SessionBudget(store, "s", Limits(searches=0, cost_usd=0.025))
    hold = await own.reserve_many(5, price_usd=0.01)
    assert hold == Reservation(2, 20_000)
    assert (await own.reserve_many(1, price_usd=0.01)) == Reservation(0)
    await own.settle(hold, searches=1)
    assert (await own.usage()) == {"searches": 1, "cost_usd": 0.01, "tokens": 0}
    more = await own.reserve_many(1, price_usd=0.01)
    await own.settle(more, searches=1)
    assert (await own.usage())["cost_usd"] == pytest.approx(0.02)


async def test_more_than_was_held_is_counted_all_the_same(store: Store) -> None:
    own = SessionBudget(store, "s", Limits(searches=3))
    await own.settle(await own.reserve_many(2, price_usd=0.01), searches=7)
    assert (await own.usage())["searches"] == 7
    assert (await own.usage())["cost_usd"] == pytest.approx(0.07)
    assert (await own.reserve_many(1)).searches == 0


@pytest.mark.parametrize("seed", range(5))
async def test_simulated_sessions_never_overspend(store: Store, seed: int) -> None:
    """Many agents of one session, local and hosted, that fail, give back and go on, each with a budget of its own."""
    chance = random.Random(seed)
    limit = chance.randint(1, 30)
    made, running = 0, 0

    def check() -> None:
        assert made + running <= limit

    async def agent(number: int) -> None:
        nonlocal made, running
        own = SessionBudget(store, "shared", Limits(searches=limit))
        for _ in range(4):
            if number % 2:
                hold = await own.reserve_many(chance.randint(1, 6))
                used = chance.randint(0, hold.searches)
                running += hold.searches
                check()
                await asyncio.sleep(0)
                await own.settle(hold, searches=used)
                running, made = running - hold.searches, made + used
                check()
                continue
            try:
                reservation = await own.take()
            except BudgetExceeded:
                continue
            running += 1
            check()
            await asyncio.sleep(0)
            if chance.random() < 0.3:
                await own.settle(reservation, searches=0)
            else:
                made += 1
            running -= 1
            check()

    await asyncio.gather(*(agent(number) for number in range(8)))
    statistics = await SessionBudget(store, "shared", Limits(searches=limit)).usage()
    assert statistics["searches"] == made <= limit
