"""The score card, over real stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.step_store import StepStore
from components.work import lines
from groundwire.storage import MemoryStore, Store, StoreError, open_store
from groundwire.telemetry.daily_counters import BOUNDS, KEPT_DAYS, Scores, bucket_of, counter_key, quantile
from groundwire.telemetry.scorecard import score_card

Make = Callable[..., Any]
DAY = 86_400.0


def day_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


@pytest.mark.req("H9", "B18")
async def test_every_number_of_the_card(store: Store, searched: Make, opened: Make, attempt: Make) -> None:
    scores = Scores(store)
    for _ in range(6):
        scores.search_done(
            searched(attempts=(attempt("duckduckgo", latency_ms=400),), provider="duckduckgo", seconds=0.4)
        )
    refused = attempt("duckduckgo", "blocked", status=403, latency_ms=30)
    scores.search_done(searched(attempts=(refused, attempt("brave", latency_ms=900, cost_usd=0.003)), seconds=0.93))
    scores.search_done(searched(attempts=(refused, attempt("brave", "empty", latency_ms=100)), results=0, seconds=0.13))
    scores.search_done(searched(attempts=(), cached=True, stale=True, seconds=0.0))
    scores.search_done(
        searched(attempts=(refused,), provider=None, results=0, error="AllProvidersFailed", seconds=1.54)
    )
    scores.search_done(searched(attempts=(), provider=None, results=0, error="BudgetExceeded", seconds=0.0))
    scores.search_done(searched(attempts=(), provider=None, results=0, error="CancelledError", seconds=9.0))
    scores.page_done(opened())
    await scores.aclose()

    card = await score_card(store)
    searches = card.searches
    assert (searches.calls, searches.answered, searches.empty, searches.failed) == (10, 8, 1, 1)
    assert (searches.refused, searches.canceled, searches.cached, searches.stale) == (1, 1, 1, 1)
    assert (searches.fallbacks, searches.forbidden_shown) == (2, 1)
    assert (searches.success_rate, searches.fallback_share) == (0.9, 0.2)
    assert searches.mean_ms == pytest.approx(500.0)
    assert [(target.value, target.met) for target in searches.targets()] == [
        (0.9, False),
        (0.2, False),
        (500.0, True),
        (1, False),
    ]
    first, second, third = card.providers
    assert (first.provider, first.role, first.attempts, first.good, first.forbidden) == (
        "duckduckgo",
        "search",
        9,
        6,
        3,
    )
    assert (first.mean_ms, first.answers, first.fallback_answers) == (400.0, 6, 0)
    assert first.p95_ms == pytest.approx(490)
    assert first.success_rate == pytest.approx(2 / 3)
    assert (second.provider, second.good, second.empty, second.fallback_share) == ("brave", 2, 1, 1.0)
    assert second.cost_usd == 0.003
    assert (third.provider, third.role, third.attempts, third.answers) == ("local", "read", 1, 0)
    assert card.pages.calls == 1
    assert not card.is_empty


async def test_what_is_no_fault_of_a_provider(store: Store, searched: Make, opened: Make, attempt: Make) -> None:
    scores = Scores(store)
    late = attempt("duckduckgo", "timeout", abandoned=True, latency_ms=900)
    scores.search_done(searched(attempts=(attempt("duckduckgo"),), provider="duckduckgo"))
    scores.search_done(searched(attempts=(late, attempt("brave"))))
    missing = attempt("local", "unavailable", status=404)
    scores.page_done(opened(attempts=(missing,), reader=None, error="PageNotFound"))
    scores.page_done(opened(attempts=(missing,), reader=None, error="PageUnavailable"))
    await scores.aclose()
    card = await score_card(store)
    rates = {score.provider: (score.attempts, score.success_rate) for score in card.providers}
    assert rates == {"duckduckgo": (2, 1.0), "brave": (1, 1.0), "local": (2, 0.5)}


async def test_nothing_recorded(store: Store) -> None:
    card = await score_card(store)
    assert card.is_empty
    assert card.providers == ()
    assert {target.met for target in card.searches.targets()} == {None}
    assert card.searches.mean_ms is card.searches.p95_ms is None


async def test_many_tell_one_store(tmp_path: Path, searched: Make) -> None:
    stores = [open_store(f"sqlite:///{tmp_path / 'store.sqlite3'}") for _ in range(4)]
    many = [Scores(store) for store in stores]
    for scores in many:
        for _ in range(25):
            scores.search_done(searched())
    await asyncio.gather(*(scores.aclose() for scores in many))
    card = await score_card(stores[0])
    assert card.searches.calls == 100
    assert card.providers[0].attempts == 100
    for store in stores:
        await store.aclose()


async def test_days_are_apart_and_end(searched: Make) -> None:
    now = 1_900_000_000.0
    store = MemoryStore(clock=lambda: now)
    scores = Scores(store, clock=lambda: now)
    scores.search_done(searched())
    await scores.flush()
    now += 3 * DAY
    scores.search_done(searched())
    await scores.aclose()
    counted = [(await score_card(store, days, clock=lambda: now)).searches.calls for days in (1, 3, 4, KEPT_DAYS)]
    assert counted == [1, 1, 2, 2]
    now += 33 * DAY
    assert (await score_card(store, KEPT_DAYS, clock=lambda: now)).searches.calls == 1
    old = counter_key(int(now // DAY) - 36, "call", "web_search", "calls")
    assert (await store.count(old, 0)).total == 0
    assert (await store.count(old.replace(day_of(now - 36 * DAY), day_of(now - 33 * DAY)), 0)).total == 1


@pytest.mark.parametrize("days", [0, -1, KEPT_DAYS + 1])
async def test_days_out_of_bounds(days: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 35"):
        await score_card(MemoryStore(), days)


class Counting(StepStore):
    """A store that notes what it is told, and can be away."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0
        self.away = False
        self.heard = asyncio.Event()

    async def count(self, key: str, amount: float, **limits: Any) -> Any:
        if self.away:
            raise StoreError("away")
        self.told += bool(amount)
        answer = await super().count(key, amount, **limits)
        self.heard.set()
        return answer


async def test_a_call_writes_nothing_and_many_calls_are_one_addition(searched: Make) -> None:
    store = Counting()
    scores = Scores(store, every=0.02)
    for _ in range(1_000):
        scores.search_done(searched())
    assert store.told == 0
    await store.heard.wait()  # told in the background, without anybody closing
    await scores.aclose()
    assert store.told < 15
    assert (await score_card(store)).searches.calls == 1_000


async def test_what_a_store_cannot_take_is_kept(searched: Make) -> None:
    store = Counting()
    scores = Scores(store)
    store.away = True
    scores.search_done(searched())
    await scores.flush()
    scores.search_done(searched())
    store.away = False
    await scores.aclose()
    assert (await score_card(store)).searches.calls == 2


async def test_a_call_on_a_thread_without_a_loop_is_told_at_the_end(searched: Make) -> None:
    store = MemoryStore()
    scores = Scores(store)
    await asyncio.to_thread(scores.search_done, searched())
    await scores.aclose()
    assert (await score_card(store)).searches.calls == 1


@pytest.mark.req("B18")
def test_a_call_costs_little(searched: Make) -> None:
    scores = Scores(MemoryStore())
    done = searched()
    for _ in range(1_000):
        scores.search_done(done)
    assert lines(lambda: scores.search_done(done)) < 500


@given(st.lists(st.floats(0, 9.9), min_size=1), st.floats(0.01, 1))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(durations: list[float], share: float) -> None:
    counts = [0] * (len(BOUNDS) + 1)
    for seconds in durations:
        counts[bucket_of(seconds)] += 1
    told = quantile(counts, share)
    rank = max(1, -int(-share * len(durations) // 1))
    true = sorted(durations)[min(rank, len(durations)) - 1]
    number = bucket_of(true)
    assert told is not None
    assert (BOUNDS[number - 1] if number else 0.0) <= told <= BOUNDS[number]


def test_quantiles_at_the_ends() -> None:
    assert quantile([0] * 13, 0.95) is None
    assert quantile([0] * 12 + [5], 0.95) == 10.0
    assert quantile([4] + [0] * 12, 0.5) == pytest.approx(0.025)
    assert quantile([3] + [0] * 12, 1.0) == 0.05
