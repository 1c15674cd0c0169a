"""When a hedge starts and what it costs, to the number, for providers whose latency and failure rate are known."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

import pytest

from components.calls import search_call
from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, RateLimited, RequestRefused
from groundwire.models import NO_FILTERS, Attempt, Filters, Query, SearchResult
from groundwire.routing.health import Health, HealthRecord
from groundwire.routing.hedging import HedgedRunner, HedgePolicy, HedgeResult
from groundwire.routing.provider_call import ProviderCaller
from groundwire.routing.rate_limiter import RateLimiter
from groundwire.storage.memory import MemoryStore

from .test_hedging import SLOW_ENOUGH, Timed, down, now, virtually

pytestmark = pytest.mark.req("B14", "B29")

PRICE = 0.005


class Runs:
    """Searches by a runner whose pauses are not random."""

    def __init__(self, *providers: Timed, attempt_timeout: float = 6.0, **numbers: float) -> None:
        self.time = asyncio.get_running_loop().time
        self.providers = providers
        self.health = Health(jitter=lambda: 1.0)
        self.random = 0.5
        policy = HedgePolicy(**numbers)  # type: ignore[arg-type]
        self.runner = HedgedRunner(policy, self.health, attempt_timeout=attempt_timeout, random_=lambda: self.random)
        self.limiter = RateLimiter(MemoryStore(clock=self.time))
        self.looks = 0
        self._caller = ProviderCaller(self.health, limiter=self.limiter)

    def lose(self, provider: str, share: float) -> float:
        """Report calls until about this share of them is lost, and return which it is."""
        while self.health.lost(provider) < share:
            self.health.report(Attempt(provider=provider, outcome="timeout"), answered=False)
            self.health.report(Attempt(provider=provider, outcome="ok"), answered=True)
        return self.health.lost(provider)

    def lossy(self, provider: str, usual: Sequence[float] = (0.2,) * 40) -> None:
        """Report latencies, and so many lost calls that a late one may be called again."""
        self.usual(provider, usual)
        self.lose(provider, 0.02)

    def usual(self, provider: str, seconds: Sequence[float]) -> None:
        """Report latencies."""
        for one in seconds:
            self.runner.latencies[provider].add(one)

    def known(self) -> None:
        """Make every provider one that has had rows, long enough ago for new outcomes to count."""
        for provider in self.providers:
            self.health.report(Attempt(provider=provider.name, outcome="ok"), answered=True, sent_at=-1.0)

    def pace(self, provider: str, interval: float) -> None:
        """Give a provider one slot in so many seconds."""
        self.limiter.merge(provider, HealthRecord(interval=interval, burst=1))

    def pace_free(self) -> None:
        """Give the free providers a rate limit, so that none is called a second time."""
        for provider in self.providers:
            if not provider.price_usd:
                self.pace(provider.name, 0.001)

    async def search(self, seconds: float = 10.0, *, hedged: bool = True) -> HedgeResult:
        call = search_call(Query(text="q"), Deadline.after(seconds, self._look))
        return await self.runner.run(call, self.providers, self._caller, hedged=hedged)

    def _look(self) -> float:
        """Count how often a search looks at the clock, which is a measure of its work."""
        self.looks += 1
        return self.time()

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
        runs.runner.latencies["first"].add(seconds)
    await runs.search()
    await runs.runner.aclose()
    assert paid.asked == [habits[int((1 - lost / (1 - lost)) * 100)]]


@virtually
async def test_a_hedge_costs_as_much_of_a_call_as_the_slow_one_is_likely_to_answer() -> None:
    for rate in (0.0, 0.1, 0.3):
        await _hedge_costs(rate)


async def _hedge_costs(rate: float) -> None:
    first, paid = Timed("first", SLOW_ENOUGH), Timed("paid", 1.0, price=PRICE)
    runs = Runs(first, paid, extra_paid=1e-6, extra_paid_burst=4.0)
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
        runs = Runs(first, *others, paid, extra_paid=1e-6, extra_paid_burst=4.0)
        runs.pace_free()
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
        runs = Runs(first, paid, extra_paid=1e-6, extra_paid_burst=4.0)
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
        assert runs.runner.latencies[name].quantile(0.5, 7.0) == 7.0


@virtually
async def test_requests_of_a_search_that_are_too_many_wait_for_their_second() -> None:
    down_all = [Timed(name, down(name)) for name in "abcd"]
    await Runs(*down_all, rounds=1).search()
    assert [one.asked for one in down_all] == [[0.0], [0.0], [0.0], [1.0]]
    began = now()
    slow, second = Timed("slow", SLOW_ENOUGH), Timed("second", 0.4)
    result = await Runs(slow, second, most_requests=1).search()
    assert second.asked == [pytest.approx(began + 1.0)], "it is late after 0.8 s"
    assert result.winner is not None
    began = now()
    slow, second = Timed("slow", 0.9), Timed("second", 0.4)
    result = await Runs(slow, second, most_requests=1).search()
    assert not second.asked, "an answer ends the wait"
    assert now() == pytest.approx(began + 0.9)


@virtually
async def test_a_wait_for_the_next_second_ends_with_the_deadline_and_says_who_was_not_called() -> None:
    failed, waiting = Timed("failed", down("failed")), Timed("waiting", 0.1)
    result = await Runs(failed, waiting, most_requests=1).search(0.5)
    assert now() == 0.5
    assert waiting.asked == []
    assert [(item.attempt.provider, item.attempt.outcome) for item in result.results] == [
        ("failed", "unavailable"),
        ("waiting", "timeout"),
    ]
    assert result.results[1].attempt.reason == "not called: no time was left"


@virtually
async def test_failures_are_not_results_without_rows() -> None:
    providers = [*(Timed(name, down(name)) for name in "abc"), Timed("d", 0.1)]
    runs = Runs(*providers)
    runs.known()
    result = await runs.search()
    assert result.winner is not None
    assert result.winner.attempt.provider == "d"


@virtually
async def test_the_next_provider_and_not_a_later_one_says_when_it_starts() -> None:
    habits = [number / 64 for number in range(16, 56)]
    for price, share in ((0.0, 0.5), (PRICE, 0.95)):
        began, first = now(), Timed("first", SLOW_ENOUGH)
        second, third = Timed("second", 0.1, price=price), Timed("third", 0.1, price=PRICE - price)
        runs = Runs(first, second, third)
        runs.usual("first", habits)
        await runs.search()
        assert second.asked == [pytest.approx(began + habits[int(share * 40)], abs=0.002)]
        await runs.runner.aclose()


@virtually
async def test_two_late_calls_may_use_what_is_left_of_the_budget_and_no_more() -> None:
    for spent, is_asked in ((3.6, True), (4.0, False)):
        began = now()
        paid = Timed("paid", 0.1, price=PRICE)
        runs = Runs(Timed("a", SLOW_ENOUGH), Timed("b", SLOW_ENOUGH), paid, extra_paid=1e-6, extra_paid_burst=4.0)
        runs.pace_free()
        runs.runner.extra.spend(spent)
        await runs.search()
        assert (min(paid.asked) - began < 5.9) is is_asked
        await runs.runner.aclose()


@virtually
async def test_a_hedge_that_the_budget_forbids_starts_soon_after_it_is_allowed_and_costs_little_work() -> None:
    first, paid = Timed("first", SLOW_ENOUGH), Timed("paid", 0.1, price=PRICE)
    runs = Runs(first, paid, extra_paid=1e-6, extra_paid_burst=4.0)
    runs.runner.extra.spend(4.0)
    searching = asyncio.create_task(runs.search())
    await asyncio.sleep(3.05)
    assert 20 < runs.looks < 400, "a few times for each tenth of a second"
    runs.runner.extra.spend(-3.0)
    await searching
    assert 3.05 <= paid.asked[0] <= 3.151
    await runs.runner.aclose()


@virtually
async def test_the_first_call_of_a_search_is_not_extra() -> None:
    for price in (0.0, PRICE):
        runs = Runs(Timed("only", 0.1, price=price), extra_paid=1e-6, extra_paid_burst=4.0)
        searching = asyncio.create_task(runs.search())
        await asyncio.sleep(0.05)
        assert runs.spent(4.0) == 0
        await searching
        assert runs.spent(4.0) == 0


@virtually
async def test_a_paid_call_in_place_of_a_failed_one_is_not_extra_and_one_of_a_further_round_is() -> None:
    failed, paid = Timed("failed", down("failed")), Timed("paid", 1.0, price=PRICE)
    runs = Runs(failed, paid, extra_paid=1e-6, extra_paid_burst=4.0)
    await runs.search()
    assert runs.spent(4.0) == 0
    again = Timed("again", down("again"), 1.0, price=PRICE)
    runs = Runs(again, extra_paid=1e-6, extra_paid_burst=4.0)
    searching = asyncio.create_task(runs.search())
    await asyncio.sleep(0.5)
    assert runs.spent(4.0) == 1.0
    await searching
    assert runs.spent(4.0) == 1.0


@virtually
async def test_a_paid_call_beside_one_that_is_lost_counts_whether_or_not_that_answers() -> None:
    again = Timed("again", SLOW_ENOUGH, 1.0, price=PRICE)
    runs = Runs(again, extra_paid=1e-6, extra_paid_burst=4.0)
    runs.lossy("again", [2.0] * 40)
    result = await runs.search()
    assert again.asked == [0.0, 2.0]
    assert result.winner is not None
    await asyncio.sleep(7.0)
    assert runs.spent(4.0) == 1.0


@virtually
async def test_a_hedge_that_fails_is_not_paid_and_one_that_is_cancelled_with_the_search_keeps_its_charge() -> None:
    first, failing = Timed("first", 1.5), Timed("failing", down("failing"), price=PRICE)
    runs = Runs(first, failing, extra_paid=1e-6, extra_paid_burst=4.0)
    await runs.search()
    assert len(failing.asked) == 1
    assert runs.spent(4.0) == 0
    first, slow = Timed("first", SLOW_ENOUGH), Timed("slow", SLOW_ENOUGH, price=PRICE)
    runs = Runs(first, slow, extra_paid=1e-6, extra_paid_burst=4.0)
    searching = asyncio.create_task(runs.search())
    await asyncio.sleep(1.5)
    searching.cancel()
    await asyncio.gather(searching, return_exceptions=True)
    await asyncio.sleep(0.1)
    assert (first.cancelled, slow.cancelled) == (1, 1)
    alive = 0.99 * 0.25
    assert runs.spent(4.0) == pytest.approx(alive / (alive + 0.01), abs=0.002)


@virtually
async def test_lost_calls_are_followed_three_times_at_most() -> None:
    await asyncio.sleep(1.0)
    only = Timed("only", SLOW_ENOUGH)
    runs = Runs(only)
    runs.lossy("only")
    await runs.search(5.5)
    assert only.asked == [1.0, 1.5, 2.0, 2.5]


@virtually
async def test_who_follows_a_lost_call_takes_a_retry() -> None:
    only = Timed("only", SLOW_ENOUGH)
    runs = Runs(only, retries=1e-6, retries_burst=1.0)
    runs.lossy("only")
    await runs.search(5.5)
    assert only.asked == [0.0, 0.5]


@virtually
async def test_a_call_is_lost_when_that_is_as_likely_as_slow() -> None:
    habits = [number / 100 for number in range(1, 201)]
    only = Timed("only", SLOW_ENOUGH, 0.1)
    runs = Runs(only)
    runs.usual("only", habits)
    lost = runs.lose("only", 0.02)
    await runs.search()
    assert only.asked == [0.0, habits[int((1 - lost / (1 - lost)) * 200)]]


@virtually
async def test_the_newest_call_is_lost_in_its_own_time_when_another_ends() -> None:
    empty, lost = Timed("empty", 1.0, rows=0), Timed("lost", SLOW_ENOUGH, 0.1)
    runs = Runs(empty, lost)
    runs.lossy("lost")
    await runs.search()
    assert lost.asked == [0.8, 1.3]


@virtually
async def test_nobody_is_followed_while_less_than_half_a_second_is_left_and_that_costs_no_work() -> None:
    for seconds, asked in ((1.0, [0.0, 0.5]), (0.95, [0.0])):
        began, only = now(), Timed("only", SLOW_ENOUGH)
        runs = Runs(only)
        runs.lossy("only")
        await runs.search(seconds)
        assert [round(at - began, 3) for at in only.asked] == asked
        assert now() == pytest.approx(began + seconds)
        assert runs.looks < 60


@virtually
async def test_a_call_that_waits_for_its_slot_is_neither_late_nor_lost() -> None:
    only = Timed("only", 0.1, SLOW_ENOUGH, 0.1)
    runs = Runs(only)
    runs.pace("only", 3.0)
    runs.lossy("only")
    await runs.search()
    assert only.asked == [0.0]
    runs.looks = 0
    searching = asyncio.create_task(runs.search())
    await asyncio.sleep(2.5)
    assert only.asked == [0.0]
    assert runs.looks < 40, "it is not looked at again and again while it waits"
    await searching
    assert only.asked == [0.0, 3.0, 6.0], "lost at 3.5, and then paced"


@virtually
async def test_who_waits_for_a_slot_lets_the_others_go_first_unless_nobody_else_is_left() -> None:
    paced, other = Timed("paced", 0.1), Timed("other", 0.1)
    for alone in (False, True):
        began = now()
        runs = Runs(*([paced] if alone else [paced, other]))
        runs.pace("paced", 4.0)
        await runs.search()
        await runs.search()
        assert now() - began == pytest.approx(4.1 if alone else 0.2)
    assert len(other.asked) == 1
    assert len(paced.asked) == 3


@virtually
async def test_what_was_still_running_is_told_with_its_time_and_its_price() -> None:
    first, second = Timed("first", SLOW_ENOUGH, price=PRICE), Timed("second", 0.4)
    result = await Runs(first, second).search()
    (left,) = result.abandoned
    assert (left.provider, left.outcome, left.abandoned) == ("first", "timeout", True)
    assert (left.latency_ms, left.cost_usd) == (1_200, PRICE)
    assert left.reason == "abandoned: another provider answered first"
    assert result.winner is result.results[-1]
    lost = await Runs(Timed("lost", SLOW_ENOUGH, price=PRICE)).search(0.5)
    (ended,) = (item.attempt for item in lost.results)
    assert (ended.outcome, ended.reason, ended.abandoned) == ("timeout", "no answer in time", False)
    assert (ended.latency_ms, ended.cost_usd) == (500, PRICE)
    assert lost.abandoned == []


@virtually
async def test_who_had_no_turn_was_not_sent_and_costs_nothing() -> None:
    paced = Timed("paced", 0.1, price=PRICE)
    runs = Runs(paced)
    await runs.limiter.acquire(paced, Deadline.after(10.0, runs.time), 10.0)
    runs.pace("paced", 4.0)
    await runs.search()
    other = Timed("other", 0.3)
    hedged = Runs(paced, other)
    hedged.limiter = runs.limiter
    waits = Runs(paced, other, unknown=0.1, shortest=0.1)
    waits.pace("paced", 1.5)
    await waits.search()
    result = await waits.search()
    assert [item.attempt.provider for item in result.results if item.rows] == ["other"]
    (left,) = result.abandoned
    assert (left.provider, left.outcome, left.reason) == (
        "paced",
        "rate_limited",
        "not called: still waiting for its rate limit",
    )
    assert left.cost_usd == 0


@virtually
async def test_a_retry_waits_its_pause_and_no_longer_than_the_time_allows() -> None:
    for seconds, asked in ((0.65, [0.0, 0.15]), (0.64, [0.0])):
        began, only = now(), Timed("only", down("only"), 0.1)
        await Runs(only).search(seconds)
        assert [round(at - began, 3) for at in only.asked] == asked
    began, only = now(), Timed("only", down("only"))
    await Runs(only).search()
    assert [round(at - began, 3) for at in only.asked] == [0.0, 0.15, 0.45], "0.1 s, doubled, with three quarters"
    began, only = now(), Timed("only", down("only"))
    await Runs(only, rounds=4).search()
    assert [round(at - began, 3) for at in only.asked] == [0.0, 0.15, 0.45, 1.05]


@virtually
async def test_only_those_that_failed_for_now_are_asked_in_the_next_round() -> None:
    for_good = AuthenticationFailed("for_good", "no such key", status=401)
    refused, empty, failed = Timed("refused", for_good), Timed("empty", 0.1, rows=0), Timed("failed", down("f"), 0.1)
    result = await Runs(refused, empty, failed).search()
    assert (len(refused.asked), len(empty.asked), len(failed.asked)) == (1, 1, 2)
    assert result.winner is not None


@virtually
async def test_the_shortest_time_that_was_said_is_waited_for_unless_somebody_said_none() -> None:
    def told(name: str, seconds: float) -> Timed:
        return Timed(name, RateLimited(name, "slow down", status=429, retry_after=seconds), 0.1)

    one, other = told("one", 3.0), told("other", 2.0)
    await Runs(one, other, retries=0.0).search()
    assert one.asked == [0.0, pytest.approx(2.15)]
    began = now()
    one, other = told("one", 1.0), Timed("other", down("other"), 0.1)
    await Runs(one, other).search()
    assert one.asked == [began, pytest.approx(began + 0.5)], "it rests for half a second, see RateLimiter"
    began = now()
    late = told("late", 9.0)
    await Runs(late).search(6.0)
    assert len(late.asked) == 1
    assert now() == pytest.approx(began), "nobody waits for what comes after the deadline"


@virtually
async def test_a_further_round_calls_a_paid_provider_only_within_the_budget() -> None:
    for left, times in ((1.0, 2), (0.99, 1)):
        paid = Timed("paid", down("paid"), 0.1, price=PRICE)
        runs = Runs(paid, extra_paid=1e-6, extra_paid_burst=4.0)
        runs.runner.extra.spend(4.0 - left)
        await runs.search()
        assert len(paid.asked) == times
    free = Timed("free", down("free"), 0.1)
    runs = Runs(free, extra_paid=1e-6, extra_paid_burst=4.0)
    runs.runner.extra.spend(4.0)
    await runs.search()
    assert len(free.asked) == 2


@virtually
async def test_without_hedging_nobody_is_called_beside_another_and_nobody_is_followed() -> None:
    only = Timed("only", SLOW_ENOUGH)
    runs = Runs(only, Timed("second", 0.1))
    runs.usual("only", [0.2] * 40)
    result = await runs.search(7.0, hedged=False)
    assert only.asked == [0.0]
    assert (runs.providers[1].asked, now()) == ([6.0], 6.1)
    assert result.winner is not None
    alone = Timed("alone", SLOW_ENOUGH)
    lost = await Runs(alone).search(5.0, hedged=False)
    assert len(alone.asked) == 1
    assert lost.winner is None


@virtually
async def test_a_quarter_of_the_budget_is_kept_from_hedges_of_one_late_call() -> None:
    for spent, starts in ((1.5, 0.8), (1.6, 1.2)):
        began, paid = now(), Timed("paid", 0.1, price=PRICE)
        runs = Runs(Timed("first", SLOW_ENOUGH), paid, extra_paid=1e-6, extra_paid_burst=4.0)
        runs.pace_free()
        runs.runner.extra.spend(spent)
        await runs.search()
        assert paid.asked == [pytest.approx(began + starts, abs=0.002)], "later, it is less likely to be extra"
        await runs.runner.aclose()


@virtually
async def test_searches_earn_further_rounds() -> None:
    only = Timed("only", down("only"))
    runs = Runs(only, retries=0.5, retries_burst=1.0)
    calls = []
    for _ in range(5):
        before = len(only.asked)
        await runs.search()
        await asyncio.sleep(30.0)
        calls.append(len(only.asked) - before)
    assert calls == [2, 1, 2, 1, 2]


@pytest.mark.req("B29")
@virtually
async def test_a_late_free_provider_is_called_once_more_before_a_paid_one_unless_it_has_a_rate_limit() -> None:
    for paced, calls in ((False, 2), (True, 1)):
        free, paid = Timed("free", SLOW_ENOUGH, 0.1), Timed("paid", 0.1, price=PRICE)
        runs = Runs(free, paid, extra_paid=0.0)
        runs.lossy("free", [0.8] * 40)
        if paced:
            runs.pace_free()
        finish = await runs.search()
        assert (len(free.asked), len(paid.asked)) == (calls, calls - 1 == 0), "it answers, at no cost"
        assert free.asked[1:] == [pytest.approx(free.asked[0] + 0.8)] * (calls - 1)
        assert finish.winner is not None
        await runs.runner.aclose()


@pytest.mark.req("B29")
@virtually
async def test_a_free_provider_that_failed_is_called_once_more_while_a_paid_one_is_late() -> None:
    free, paid = Timed("free", down("free"), 0.1), Timed("paid", SLOW_ENOUGH, price=PRICE)
    other = Timed("other", 0.1, price=PRICE)
    runs = Runs(free, paid, other)
    finish = await runs.search()
    assert finish.winner is not None
    assert finish.winner.attempt.provider == "free"
    assert (len(free.asked), other.asked) == (2, [])
    await runs.runner.aclose()


@pytest.mark.req("B29")
@virtually
async def test_a_free_provider_that_refused_the_query_is_not_called_once_more() -> None:
    refused = RequestRefused("free", "too long", status=400)
    free, paid = Timed("free", refused, 0.1), Timed("paid", 3.0, price=PRICE)
    runs = Runs(free, paid)
    finish = await runs.search()
    assert finish.winner is not None
    assert len(free.asked) == 1
    assert runs.health.provider_health("free").state == "healthy"
    await runs.runner.aclose()


class DownUntil(Timed):
    """A provider that fails until a moment."""

    until = 0.0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        rows = await super().search(query, limit=limit, filters=filters, deadline=deadline)
        if now() < self.until:
            raise down(self.name)
        return rows


@pytest.mark.req("B29", "H9")
@virtually
async def test_searches_wait_for_the_end_of_a_short_outage_and_take_turns() -> None:
    only = DownUntil("only", 0.1)
    runs = Runs(only)
    await runs.search()
    only.until = now() + 3.0
    finishes = await asyncio.gather(*(runs.search() for _ in range(10)))
    assert all(finish.winner is not None for finish in finishes)
    assert len(only.asked) <= 1 + 10 * 3 + 3 + 10, "one try a second for all of them, and each when it is over"


@pytest.mark.req("B29")
@virtually
async def test_a_longer_outage_is_waited_for_some_seconds_only() -> None:
    only = DownUntil("only", 0.1)
    runs = Runs(only)
    await runs.search()
    only.until, began = now() + 60.0, now()
    finishes = await asyncio.gather(*(runs.search() for _ in range(10)))
    assert all(finish.winner is None for finish in finishes)
    assert 4.0 <= now() - began <= 6.0


@virtually
async def test_an_outage_is_not_waited_for_without_rows_in_the_last_minute() -> None:
    only = Timed("only", down("only"))
    runs = Runs(only)
    began = now()
    assert (await runs.search()).winner is None
    assert now() - began < 2.0
    once = DownUntil("once", 0.1)
    runs = Runs(once)
    await runs.search()
    answered = now()
    assert runs.runner.answers == 1
    await asyncio.sleep(57.9)
    once.until = now() + 60.0
    assert (await runs.search()).winner is None
    assert runs.runner.answers == 1
    assert [round(at - answered, 2) for at in once.asked[1:]] == [57.9, 58.15, 58.55, 58.9, 59.8, 60.8]


@virtually
async def test_a_slow_provider_has_three_times_its_third_quartile_before_another_one_is_called_instead() -> None:
    for quartile, ends in ((1.0, 6.0), (2.5, 7.5), (4.0, 10.0)):
        began, runs = now(), Runs(Timed("first", SLOW_ENOUGH), Timed("second", 0.0), rounds=0)
        runs.usual("first", [0.1] * 16 + [quartile] + [30.0] * 5)
        finish = await runs.search(hedged=False)
        assert now() - began == pytest.approx(ends, abs=0.001)
        assert finish.results[0].attempt.outcome == "timeout"
    began, runs = now(), Runs(Timed("first", SLOW_ENOUGH), Timed("second", 0.0), rounds=0, attempt_timeout=1.0)
    finish = await runs.search(hedged=False)
    assert now() - began == pytest.approx(1.0, abs=0.001), "as long as nothing is known, it has what all have"
    reason = "no answer in 1 s, the limit of one attempt (search.attempt_timeout)"
    assert finish.results[0].attempt.reason == reason


@pytest.mark.req("B37")
@virtually
async def test_who_has_more_time_gives_each_attempt_more_and_who_has_less_not_less() -> None:
    for seconds, ends in ((30.0, 18.0), (10.0, 6.0), (8.0, 6.0)):
        began, first = now(), Timed("first", SLOW_ENOUGH)
        await Runs(first, Timed("second", 0.0)).search(seconds, hedged=False)
        assert now() - began == pytest.approx(ends, abs=0.001)
        assert len(first.asked) == 1


@pytest.mark.req("B37")
@virtually
async def test_the_last_that_can_still_answer_gets_all_of_the_time_and_one_request() -> None:
    for hedged, slow, others in itertools.product((True, False), (3.0, 4.5, 6.0, 7.0, 9.9), (False, True)):
        last, began = Timed("last", slow), now()
        down_ones = [Timed("down", down("down")), Timed("refused", AuthenticationFailed("refused", "no", status=401))]
        runs = Runs(*(down_ones if others else ()), last)
        finish = await runs.search(hedged=hedged)
        assert finish.winner is not None
        assert len(last.asked) == 1
        assert now() - began == pytest.approx(slow, abs=0.01)
        await runs.runner.aclose()


@pytest.mark.req("B37")
@virtually
async def test_one_that_failed_is_tried_again_while_the_slow_one_is_waited_for() -> None:
    slow, failed = Timed("slow", 7.0), Timed("failed", down("failed"), down("failed"), 0.1)
    finish = await Runs(slow, failed).search()
    assert (len(slow.asked), len(failed.asked)) == (1, 3)
    assert finish.winner is not None
    assert finish.winner.attempt.provider == "failed"


@pytest.mark.req("B37")
@virtually
async def test_a_service_is_called_again_only_if_it_usually_answers_and_is_known_to_lose_requests() -> None:
    for answers, share, calls in ((0, 0.3, 1), (4, 0.3, 1), (40, 0.0, 1), (5, 0.3, 2), (40, 0.3, 2)):
        only = Timed("only", SLOW_ENOUGH, 0.1)
        runs = Runs(only)
        runs.usual("only", [0.5] * answers)
        runs.lose("only", share)
        finish = await runs.search()
        assert len(only.asked) == calls, (answers, share)
        for left in finish.abandoned:
            assert left.reason == "abandoned: another request to it answered first"
        await runs.runner.aclose()
    slow = Timed("slow", SLOW_ENOUGH)
    runs = Runs(slow)
    runs.lossy("slow", [6.0] * 40)
    await runs.search()
    assert len(slow.asked) == 1, "a second request could not be answered any more"


@pytest.mark.req("B37")
@virtually
async def test_a_call_that_the_deadline_ends_counts_as_lost_and_one_that_the_caller_leaves_does_not() -> None:
    runs = Runs(Timed("only", SLOW_ENOUGH))
    for _ in range(3):
        await runs.search()
    assert runs.health.provider_health("only").state == "degraded"
    assert runs.health.lost("only") > 0.1
    left = Runs(Timed("only", SLOW_ENOUGH))
    for _ in range(3):
        searching = asyncio.create_task(left.search())
        await asyncio.sleep(5.0)
        searching.cancel()
        await asyncio.gather(searching, return_exceptions=True)
    assert left.health.lost("only") == 0.01


def test_the_defaults_of_the_policy() -> None:
    assert tuple(HedgePolicy()) == (
        0.95, 0.5, 0.15, 1.5, 2.0, 4.0, 0.8, 0.10, 8.0, 3, 3, 0.20, 10.0, 0.1, 0.5, 32, 3, 1.0
    )  # fmt: skip


@virtually
async def test_an_outage_is_ridden_out_in_steps_and_left_in_time_for_a_retry() -> None:
    for random, tries, ends in ((0.5, [0.0, 0.2, 1.2, 2.2], 2.4), (0.0, [0.0, 0.15, 1.2, 2.25], 2.45)):
        only = DownUntil("only", 0.1)
        runs = Runs(only, retries=0.0, retries_burst=0.0)
        await runs.search()
        runs.random, began = random, now()
        only.until = began + 60.0
        finish = await runs.search(3.0)
        assert finish.winner is None
        assert [at - began for at in only.asked[1:]] == pytest.approx(tries, abs=0.002)
        assert now() - began == pytest.approx(ends, abs=0.002), "half a second for a retry, and a tenth to notice"


@virtually
async def test_waiting_for_the_end_of_an_outage_takes_no_retries() -> None:
    only = DownUntil("only", 0.1)
    runs = Runs(only, retries=1.0, retries_burst=1.0)
    await runs.search()
    only.until = now() + 200.0
    await runs.search()
    assert len(only.asked) > 4
    await asyncio.sleep(100.0)
    before = len(only.asked)
    await runs.search()
    assert len(only.asked) - before == 2


@virtually
async def test_a_probe_that_is_too_dear_in_a_further_round_is_given_up() -> None:
    free, paid = Timed("free", down("free"), 0.1), Timed("paid", down("paid"), 0.1, price=PRICE)
    runs = Runs(free, paid, extra_paid=1e-6, extra_paid_burst=4.0, retry_pause=3.0)
    for _ in range(3):
        runs.health.report(Attempt(provider="paid", outcome="unavailable"), answered=False)
    runs.runner.extra.spend(4.0)
    await runs.search()
    assert (len(free.asked), len(paid.asked)) == (2, 1)
    assert runs.health.order([paid]).probes == {"paid"}


@virtually
async def test_who_waits_for_a_slot_is_as_likely_to_answer_as_one_that_has_just_been_called() -> None:
    paced, paid = Timed("paced", 0.1, 1.0), Timed("paid", 5.0, price=PRICE)
    runs = Runs(paced, paid, extra_paid=1e-6, extra_paid_burst=4.0, slot_wait=9.0)
    runs.pace("paced", 6.0)
    await runs.search()
    searching = asyncio.create_task(runs.search())
    await asyncio.sleep(1.0)
    assert (paced.asked, paid.asked) == ([0.0], [0.9])
    assert runs.spent(4.0) == pytest.approx(0.99, abs=0.002)
    await searching
    await runs.runner.aclose()
