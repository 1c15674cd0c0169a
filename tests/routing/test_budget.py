"""The session's budget (document H)."""

from __future__ import annotations

import threading

import pytest

from groundwire.errors import BudgetExceeded
from groundwire.routing import SessionBudget


@pytest.mark.req("H4")
def test_the_texts_are_those_of_the_document() -> None:
    budget = SessionBudget(2, 1)
    assert budget.warning() is None
    budget.take()
    assert budget.warning() == "[WARNING: 1 searches remaining in session]"
    budget.take()
    with pytest.raises(BudgetExceeded) as caught:
        budget.take()
    assert str(caught.value) == (
        "Search limit reached (2/2). Use existing results or training knowledge. Limit resets with new session."
    )
    assert (caught.value.limit, caught.value.spent) == (2, 2)


@pytest.mark.req("H5")
def test_a_new_session_begins_at_zero() -> None:
    budget = SessionBudget(1, 1)
    budget.take()
    budget.reset()
    budget.take()
    state = budget.state()
    assert state is not None
    assert (state.spent, state.remaining) == (1, 0)


def test_without_a_limit_nothing_is_said() -> None:
    budget = SessionBudget(0, 0)
    for _ in range(100):
        budget.take()
    assert budget.state() is None
    assert budget.warning() is None


@pytest.mark.req("H4")
def test_the_count_is_exact_under_threads() -> None:
    budget = SessionBudget(1_000, 1_000)
    refused = []

    def take() -> None:
        for _ in range(300):
            try:
                budget.take()
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 8 * 300 - 1_000


def test_a_failed_search_is_given_back() -> None:
    budget = SessionBudget(1, 1)
    budget.take()
    budget.give_back()
    budget.take()
    budget.give_back()
    budget.give_back()
    state = budget.state()
    assert state is not None
    assert state.spent == 0
