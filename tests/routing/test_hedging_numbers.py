"""When a hedge starts and what it costs, to the number, for providers whose latency and failure rate are known."""

from __future__ import annotations

import asyncio

import pytest

from components.calls import search_call
from groundwire.deadline import Deadline
from groundwire.models import Attempt, Query
from groundwire.routing.health import Health
from groundwire.routing.hedging import HedgedRunner, HedgeResult
from groundwire.routing.hedging_policy import HedgePolicy
from groundwire.routing.provider_call import ProviderCaller
from groundwire.routing.rate_limiter import RateLimiter
from groundwire.storage.memory import MemoryStore

from .test_hedging import SLOW_ENOUGH, Timed, down, now, virtually

pytestmark = pytest.mark.req("B14", "B29")

PRICE = 0.005


class Runs:
    """Searches by a runner whose pauses are not random."""

    def __init__(self, *providers: Timed, **numbers: float) -> None:
        self.time = asyncio.get_running_loop().time
        self.providers = providers
        self.health = Health(jitter=lambda: 1.0)
        self.runner = HedgedRunner(HedgePolicy(**numbers), self.health, random_=lambda: 0.5)  # type: ignore[arg-type]
        limiter = RateLimiter(MemoryStore(clock=self.time))
        self._caller = ProviderCaller(self.health, limiter=limiter)

    def lose(self, provider: str, share: float) -> float:
        """Report calls until about this share of them is lost, and return which it is."""
        while self.health.lost(provider) < share:
            self.health.report(Attempt(provider=provider, outcome="timeout"), answered=False)
            self.health.report(Attempt(provider=provider, outcome="ok"), answered=True)
        return self.health.lost(provider)

    async def search(self) -> HedgeResult:
        call = search_call(Query(text="q"), Deadline.after(10.0, self.time))
        return await self.runner.run(call, self.providers, self._caller, hedged=True)

    def spent(self, kept: float) -> float:
        """Return what is spent of the budget for extra paid calls, to a thousandth, if it is less than a call."""
        return next(part / 1_000 for part in range(1_001) if self.runner.extra.allows(kept - part / 1_000))


@virtually
async def test_a_call_is_lost_when_it_is_as_likely_dead_as_slow() -> None:
    first, paid = Timed("first", SLOW_ENOUGH), Timed("paid", 0.1, price=PRICE)
    runs = Runs(first, paid)
    lost = runs.lose("first", 0.3)
    habits = [number / 50 for number in range(1, 101)]
    for seconds in habits:
        runs.runner.latencies("first").add(seconds)
    await runs.search()
    await runs.runner.aclose()
    assert paid.asked == [habits[int((1 - lost / (1 - lost)) * 100)]]


@virtually
async def test_a_hedge_costs_as_much_of_a_call_as_the_slow_one_is_likely_to_answer() -> None:
    for rate in (0.0, 0.1, 0.3):
        await _hedge_costs(rate)


async def _hedge_costs(rate: float) -> None:
    first, paid = Timed("first", SLOW_ENOUGH), Timed("paid", 1.0, price=PRICE)
    runs = Runs(first, paid, extra_paid=1e-6, extra_paid_kept=4.0)
    lost = runs.lose("first", rate)
    began, searching = now(), asyncio.create_task(runs.search())
    await asyncio.sleep(1.0)
    assert paid.asked == [pytest.approx(began + 0.8, abs=0.001)], "three quarters of all answers come in 0.8 s"
    alive = (1 - lost) * 0.25
    assert runs.spent(4.0) == pytest.approx(alive / (alive + lost), abs=0.002)
    await searching
    await runs.runner.aclose()


@virtually
async def test_the_last_quarter_of_the_budget_is_for_a_call_that_may_end_without_an_answer() -> None:
    first, second = Timed("first", SLOW_ENOUGH), Timed("second", SLOW_ENOUGH)
    for others, is_asked in (([second], True), ([], False)):
        paid = Timed("paid", 0.1, price=PRICE)
        began = now()
        runs = Runs(first, *others, paid, extra_paid=1e-6, extra_paid_kept=4.0)
        runs.runner.extra.spend(3.2)
        await runs.search()
        assert (min(paid.asked) - began < 5.9) is is_asked, "otherwise it takes the place of a failure"
        await runs.runner.aclose()


@virtually
async def test_three_providers_that_find_nothing_are_enough() -> None:
    providers = [Timed(name, 0.1, rows=0) for name in "abcd"]
    runs = Runs(*providers)
    for name in "abcd":
        runs.health.report(Attempt(provider=name, outcome="ok"), answered=True)
    await asyncio.sleep(1.0)
    result = await runs.search()
    assert [len(provider.asked) for provider in providers] == [1, 1, 1, 0]
    assert [item.empty for item in result.results] == ["answered"] * 3


@virtually
async def test_losers_that_have_ended_make_room_for_others() -> None:
    loser = Timed("loser", 2.0)
    runs = Runs(loser, Timed("winner", 0.1), most_drained=2)
    for _ in range(4):
        await runs.search()
        await asyncio.sleep(5.0)
    assert len(loser.asked) == 4
    assert loser.cancelled == 0


@virtually
async def test_a_probe_of_a_further_round_that_was_not_needed_is_given_up() -> None:
    first, second = Timed("first", down("first"), 0.1), Timed("second", down("second"), 0.1)
    runs = Runs(first, second, retry_pause=3.0)
    for name in ("first", "second"):
        for _ in range(3):
            runs.health.report(Attempt(provider=name, outcome="unavailable"), answered=False)
    result = await runs.search()
    assert result.winner is not None
    assert (len(first.asked), len(second.asked)) == (2, 1)
    assert runs.health.order([second]).probes == {"second"}, "nobody else has to wait for its probe"


@virtually
async def test_a_hedge_beside_an_answer_was_extra_and_one_beside_a_failure_was_not() -> None:
    for habit, spent in ((1.0, 1.0), (SLOW_ENOUGH, 0.0)):
        first, paid = Timed("first", habit), Timed("paid", 1.0, price=PRICE)
        runs = Runs(first, paid, extra_paid=1e-6, extra_paid_kept=4.0)
        await runs.search()
        await asyncio.sleep(7.0)  # the loser has ended
        assert len(paid.asked) == 1
        assert runs.spent(4.0) == spent


@virtually
async def test_only_answers_with_rows_make_a_habit() -> None:
    failing, empty = Timed("failing", down("failing")), Timed("empty", 0.1, rows=0)
    runs = Runs(failing, empty, rounds=1)
    for _ in range(25):
        await runs.search()
    for name in ("failing", "empty"):
        assert runs.runner.latencies(name).quantile(0.5, 7.0) == 7.0
