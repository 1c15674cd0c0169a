"""The session's budget (haytham): exact, shared through the store, given back on failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import BudgetExceeded
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.storage import Store, open_store


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
    assert own.warning(await own.take()) is None
    assert own.warning(await own.take()) == "[WARNING: 1 searches remaining in session]"
    await own.take()
    with pytest.raises(BudgetExceeded) as caught:
        await own.take()
    assert str(caught.value) == (
        "Search limit reached (3/3). Use existing results or training knowledge. Limit resets with new session."
    )
    assert (caught.value.limit, caught.value.spent) == (3, 3)


@pytest.mark.req("H5")
async def test_a_new_session_begins_at_zero(store: Store) -> None:
    own = budget(store, searches=1)
    await own.take()
    await own.reset()
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
        await own.release(await own.take(0.01))
    await own.release(await own.take(0.01), cost_usd=0.002)
    assert (await own.usage())["cost_usd"] == pytest.approx(0.002)


@pytest.mark.req("B5")
async def test_page_text_is_counted_in_tokens(store: Store) -> None:
    own = budget(store, tokens=100)
    await own.check_tokens()
    await own.read(399)
    with pytest.raises(BudgetExceeded, match="100 of 100 tokens"):
        await own.check_tokens()


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
