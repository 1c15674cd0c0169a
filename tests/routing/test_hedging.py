"""The strategies on a virtual clock: exact moments, no waiting."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    AuthenticationFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
)
from groundwire.models import NO_FILTERS, Filters, Query, SearchResponse, SearchResult, Strategy
from groundwire.providers import Capabilities
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Health
from groundwire.routing.hedging import HedgePolicy
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually

_T = TypeVar("_T")

SLOW_ENOUGH = 30.0


class Timed:
    """A provider that takes its time; each call takes the next entry of its plan, the last for ever."""

    capabilities = Capabilities(search=True, domains="native")

    def __init__(self, name: str, *plan: float | Exception, price: float = 0.0, rows: int = 1) -> None:
        self.name = name
        self.price_usd = price
        self._plan = list(plan)
        self._rows = rows
        self.asked: list[float] = []
        self.cancelled = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        now = asyncio.get_running_loop().time()
        self.asked.append(round(now, 3))
        step = self._plan.pop(0) if len(self._plan) > 1 else self._plan[0]
        if isinstance(step, Exception):
            raise step
        try:
            await asyncio.sleep(step)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [SearchResult(title=self.name, url=f"https://{self.name}.example/{row}") for row in range(self._rows)]


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def chain(*providers: Timed, strategy: Strategy = "hedge", **numbers: Any) -> CallingRouter:
    return CallingRouter(providers, strategy=strategy, hedging=HedgePolicy(**numbers))


async def search(asked: CallingRouter, seconds: float = 10.0) -> SearchResponse:
    loop = asyncio.get_running_loop()
    return await asked.ask(Query(text="q"), Deadline.after(seconds, loop.time))


def now() -> float:
    return round(asyncio.get_running_loop().time(), 3)


def down(name: str) -> ProviderUnavailable:
    return ProviderUnavailable(name, "down", status=500)


@pytest.mark.req("H2", "B14")
@virtually
async def test_a_certain_failure_starts_the_next_at_once() -> None:
    first, second = Timed("first", down("first")), Timed("second", 0.4)
    answer = await search(chain(first, second))
    assert (answer.provider, now()) == ("second", 0.4)


@pytest.mark.req("B14")
@virtually
async def test_the_next_starts_when_the_running_one_is_late_and_the_first_answer_wins() -> None:
    first, second = Timed("first", SLOW_ENOUGH), Timed("second", 0.4)
    asked = chain(first, second)
    answer = await search(asked)
    assert second.asked == [0.8]
    assert (answer.provider, now()) == ("second", 1.2)
    left = answer.attempts[-1]
    assert (left.provider, left.abandoned, left.latency_ms) == ("first", True, 1200)
    await asked.aclose()
    assert first.cancelled == 1


@pytest.mark.req("B14")
@virtually
async def test_a_late_answer_still_wins_over_a_hedge_that_is_later() -> None:
    answer = await search(chain(Timed("first", 1.0), Timed("second", 5.0)))
    assert (answer.provider, now()) == ("first", 1.0)


@virtually
async def test_the_delay_is_the_running_providers_own_habit() -> None:
    fast = [0.4 - number / 100 for number in range(30)]  # each sooner than the last, so that none is late
    first, second = Timed("first", *fast, SLOW_ENOUGH), Timed("second", 0.2, price=0.005)
    asked = chain(first, second)
    for _ in fast:
        await search(asked)
    began = now()
    await search(asked)
    assert second.asked == [pytest.approx(began + sorted(fast)[28], abs=0.002)], "its 95th percentile"
    await asked.aclose()


@pytest.mark.req("B29")
@virtually
async def test_a_hedge_to_a_paid_provider_is_paid_by_the_budget_and_without_one_waits_for_the_failure() -> None:
    first, paid = Timed("first", SLOW_ENOUGH), Timed("paid", 0.1, price=0.005)
    asked = chain(first, paid, extra_paid=0.0)
    await search(asked)
    assert paid.asked == [pytest.approx(6.05, abs=0.06)], "the attempt's timeout"
    assert len(first.asked) == 1, "a service that has not answered yet is not called again"
    await asked.aclose()


@pytest.mark.req("B29")
@virtually
async def test_help_that_turned_out_extra_is_charged_and_help_in_place_of_a_lost_call_is_not() -> None:
    for habit, rows, helped in ((1.0, 1, 2), (SLOW_ENOUGH, 1, 3), (1.0, 0, 3)):
        first, paid = Timed("first", habit, rows=rows), Timed("paid", 0.1, price=0.005)
        asked = chain(first, paid, extra_paid=0.001, extra_paid_burst=2.7)  # a quarter is not for help
        for _ in range(3):
            await search(asked)
            await asyncio.sleep(7)  # the loser has ended
        waits = [min(start - began for began in first.asked if began <= start) for start in paid.asked]
        assert sum(wait < 6 for wait in waits) == helped
        await asked.aclose()


@pytest.mark.req("B29")
@virtually
async def test_each_search_earns_a_part_of_an_extra_call() -> None:
    first, paid = Timed("first", 1.0), Timed("paid", 0.1, price=0.005)
    asked = chain(first, paid, extra_paid=0.5, extra_paid_burst=2.0)
    for _ in range(9):
        await search(asked)
        await asyncio.sleep(7)  # the loser has ended
    assert 4 <= len(paid.asked) <= 6
    await asked.aclose()


@pytest.mark.req("C5", "H9")
@virtually
async def test_transient_failures_are_tried_again_with_growing_pauses() -> None:
    only = Timed("only", down("only"), down("only"), 0.1)
    answer = await search(chain(only))
    assert answer.provider == "only"
    first, second, third = only.asked
    assert 0.1 <= second - first <= 0.2
    assert 0.2 <= third - second <= 0.4
    assert [attempt.outcome for attempt in answer.attempts] == ["unavailable", "unavailable", "ok"]


@virtually
async def test_retries_end_with_the_tokens() -> None:
    only = Timed("only", down("only"))
    asked = chain(only, retries=0.2, retries_burst=2.0)
    for _ in range(3):
        with pytest.raises(AllProvidersFailed):
            await search(asked)
    assert len(only.asked) == 3 + 2


@pytest.mark.req("B6", "B29")
@virtually
async def test_a_retry_after_of_who_has_never_answered_is_believed_for_a_minute() -> None:
    first, second = Timed("first", RateLimited("first", "slow down", retry_after=600), 0.1), Timed("second", 0.1)
    asked = chain(first, second)
    await search(asked)
    answer = await search(asked)
    assert answer.attempts[0].reason == "not called: in cooldown (slow down)"
    assert answer.attempts[0].retry_after == pytest.approx(60, abs=1)
    assert len(first.asked) == 1
    assert asked.provider_health()[0].state == "cooldown"
    await asyncio.sleep(60)
    assert (await search(asked)).provider == "first"


@pytest.mark.req("B6", "B29")
@virtually
async def test_a_retry_after_of_who_answers_otherwise_is_tested_soon_and_each_time_twice_as_late() -> None:
    hour = RateLimited("first", "slow down", retry_after=3_600)
    first, second = Timed("first", 0.1, *[hour] * 5, 0.1), Timed("second", 0.0)
    asked = chain(first, second)
    await search(asked)
    refused = now()
    while len(first.asked) < 7:
        await search(asked)
        await asyncio.sleep(0.1)
    gaps = [later - sooner for sooner, later in itertools.pairwise(first.asked[1:])]
    assert first.asked[1] == refused
    for gap, rest in zip(gaps, (0.5, 1.0, 2.0, 4.0, 8.0), strict=True):
        assert rest - 0.001 <= gap < 2 * rest + 1
    await search(asked)
    assert asked.provider_health()[0].state == "healthy"


@pytest.mark.req("B29")
@virtually
async def test_a_short_rest_of_a_free_provider_is_waited_for_and_costs_no_paid_call() -> None:
    stray = RateLimited("free", "slow down", retry_after=2)
    free, paid = Timed("free", 0.1, stray, 0.1), Timed("paid", 0.1, price=0.005)
    asked = chain(free, paid)
    for _ in range(20):
        await search(asked)
    assert len(paid.asked) == 1, "in place of the one that was refused"


@virtually
async def test_what_is_inferred_moves_a_provider_to_the_end_and_never_out() -> None:
    first = Timed("first", *[down("first")] * 4, 0.1)
    second = Timed("second", 0.1)
    asked = chain(first, second)
    for _ in range(4):
        assert (await search(asked)).provider == "second"
    before = len(first.asked)
    await search(asked)
    assert len(first.asked) == before, "a suspect comes last"
    await asyncio.sleep(3)
    assert (await search(asked)).provider == "first", "one request probes it when its time is up"
    asked = chain(Timed("only", *[down("only")] * 3, 0.1), retries=0.0)
    for _ in range(3):
        with pytest.raises(AllProvidersFailed):
            await search(asked)
    assert (await search(asked)).provider == "only", "the only one is asked whatever we think of it"


@virtually
async def test_a_quota_or_a_key_that_is_refused_is_asked_about_again_after_a_minute() -> None:
    await _asked_after_a_minute(QuotaExceeded("first", "used up"))
    await _asked_after_a_minute(AuthenticationFailed("first", "a wrong key"))


async def _asked_after_a_minute(error: ProviderError) -> None:
    first, second = Timed("first", error, 0.1), Timed("second", 0.1)
    asked = chain(first, second)
    for _ in range(5):
        answer = await search(asked)
    assert len(first.asked) == 1
    assert answer.attempts[0].outcome == error.outcome
    assert error.reason in answer.attempts[0].reason
    await asyncio.sleep(60)
    assert (await search(asked)).provider == "first"


@pytest.mark.req("B14")
@virtually
async def test_fallback_waits_for_each() -> None:
    first, second = Timed("first", SLOW_ENOUGH), Timed("second", 0.4)
    answer = await search(chain(first, second, strategy="fallback"))
    assert (answer.provider, now()) == ("second", 6.4)
    assert [attempt.outcome for attempt in answer.attempts] == ["timeout", "ok"]


@pytest.mark.req("B14")
@virtually
async def test_fuse_asks_several_at_once_and_names_all_who_found_a_page() -> None:
    both = chain(Timed("a", 0.2), Timed("b", 0.5), Timed("c", down("c")), Timed("d", 0.1), strategy="fuse")
    answer = await search(both)
    assert (answer.provider, now()) == ("a+b", 0.5)
    assert {row.source for row in answer.results} == {"a", "b"}
    assert [attempt.outcome for attempt in answer.attempts] == ["ok", "ok", "unavailable"]


@pytest.mark.req("H2", "B14")
@virtually
async def test_fuse_says_why_a_provider_was_not_called() -> None:
    resting = Timed("resting", RateLimited("resting", "slow down", retry_after=90.0))
    both = chain(resting, Timed("b", 0.1), strategy="fuse")
    await search(both)
    attempts = {attempt.provider: attempt for attempt in (await search(both)).attempts}
    assert len(resting.asked) == 1
    assert (attempts["resting"].outcome, attempts["resting"].abandoned) == ("rate_limited", False)
    assert attempts["resting"].reason == "not called: in cooldown (slow down)"


@virtually
async def test_the_deadline_ends_everything_and_names_each() -> None:
    first, second = Timed("first", SLOW_ENOUGH), Timed("second", SLOW_ENOUGH)
    with pytest.raises(AllProvidersFailed) as caught:
        await search(chain(first, second), seconds=3.0)
    assert now() == 3.0
    assert {attempt.provider for attempt in caught.value.attempts} == {"first", "second"}
    assert {attempt.outcome for attempt in caught.value.attempts} == {"timeout"}
    await asyncio.sleep(0)
    assert (first.cancelled, second.cancelled) == (1, 1)


@virtually
async def test_cancelling_leaves_no_call_behind() -> None:
    first, second = Timed("first", SLOW_ENOUGH), Timed("second", SLOW_ENOUGH)
    task = asyncio.create_task(search(chain(first, second)))
    await asyncio.sleep(1.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert (first.cancelled, second.cancelled) == (1, 1)
    assert len(asyncio.all_tasks()) == 1


def test_the_numbers_are_those_that_the_simulation_chose() -> None:
    policy = HedgePolicy()
    assert (policy.quantile, policy.free_quantile) == (0.95, 0.5)
    assert (policy.shortest, policy.longest, policy.unknown) == (0.15, 1.5, 0.8)
    assert (policy.extra_paid, policy.extra_paid_burst, policy.most_requests) == (0.1, 8, 3)
    assert (policy.rounds, policy.retries, policy.retries_burst) == (3, 0.2, 10)
    assert (policy.retry_pause, policy.least_for_retry) == (0.1, 0.5)
    assert (policy.most_drained, policy.fused, policy.fuse_max_wait) == (32, 3, 1.0)


@pytest.mark.req("B29")
@virtually
async def test_one_search_sends_three_requests_a_second_at_most() -> None:
    several = [Timed(name, down(name)) for name in "abcd"]
    with pytest.raises(AllProvidersFailed):
        await search(chain(*several))
    moments = sorted(at for one in several for at in one.asked)
    assert len(moments) == 12
    for first in moments:
        assert sum(first <= at < first + 0.999 for at in moments) <= 3


@pytest.mark.req("B29")
@virtually
async def test_processes_share_the_budget_of_extra_paid_calls() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    one, other = ExtraBudget(0.1, 3.0), ExtraBudget(0.1, 3.0)
    one.spend(2.5)
    assert other.allows(1.0)
    await one.exchange(store)
    await other.exchange(store)
    assert not other.allows(1.0)
    assert other.allows(0.3), "help that is probably needed"
    for _ in range(20):
        other.earn()
    await other.exchange(store)
    one.earn()
    await one.exchange(store)
    assert one.allows(2.0)


@virtually
async def test_the_third_starts_when_the_second_is_late_too() -> None:
    plan = [Timed(name, SLOW_ENOUGH) for name in ("first", "second")]
    third = Timed("third", 0.4)
    asked = chain(*plan, third)
    answer = await search(asked)
    assert [one.asked for one in (*plan, third)] == [[0.0], [0.8], [1.6]]
    assert (answer.provider, now()) == ("third", 2.0)
    assert [(left.provider, left.latency_ms, left.abandoned) for left in answer.attempts if left.abandoned] == [
        ("first", 2_000, True),
        ("second", 1_200, True),
    ]
    await asked.aclose()


@pytest.mark.parametrize(("usual", "second_starts"), [(0.05, 0.15), (0.5, 0.5), (3.0, 1.5)])
def test_no_hedge_comes_sooner_than_the_shortest_or_later_than_the_longest(usual: float, second_starts: float) -> None:
    async def run() -> None:
        first, second = Timed("first", *([usual] * 20), SLOW_ENOUGH), Timed("second", 0.1)
        asked = chain(first, second)
        for _ in range(20):
            await search(asked)
            await asyncio.sleep(5)  # who lost is listened to
        began = now()
        await search(asked)
        assert second.asked[-1] == pytest.approx(began + second_starts, abs=0.002)
        await asked.aclose()

    run_virtually(run())


@virtually
async def test_no_more_than_three_rounds() -> None:
    only = Timed("only", down("only"))
    with pytest.raises(AllProvidersFailed):
        await search(chain(only, retries=1.0))
    assert len(only.asked) == 3
    pauses = [later - sooner for sooner, later in itertools.pairwise(only.asked)]
    assert 0.1 <= pauses[0] <= 0.2
    assert 0.2 <= pauses[1] <= 0.4


@virtually
async def test_a_failure_that_will_not_pass_is_not_tried_again() -> None:
    refused = Timed("refused", AuthenticationFailed("refused", "no such key", status=401))
    with pytest.raises(AllProvidersFailed):
        await search(chain(refused))
    assert len(refused.asked) == 1


@virtually
async def test_who_says_when_is_asked_then_without_a_token_if_there_is_time() -> None:
    for seconds, times in ((10.0, 2), (3.0, 1)):
        said = Timed("said", RateLimited("said", "slow down", status=429, retry_after=3.0), 0.1)
        asked = chain(said, retries=0.0)
        began = now()
        if times == 2:
            await search(asked, seconds=seconds)
            assert 3.1 <= said.asked[1] - began <= 3.2
        else:
            with pytest.raises(AllProvidersFailed):
                await search(asked, seconds=seconds)
        assert len(said.asked) == times
        await asked.aclose()


@virtually
async def test_only_so_many_losers_are_listened_to() -> None:
    losers = [Timed(f"loser{number}", SLOW_ENOUGH) for number in range(3)]
    asked = chain(*losers, Timed("winner", 0.1), most_drained=2)
    await search(asked)
    await asyncio.sleep(0)
    assert sum(loser.cancelled for loser in losers) == 1
    await asked.aclose()
    assert sum(loser.cancelled for loser in losers) == 3


def test_what_is_said_of_a_provider_in_a_cooldown() -> None:
    health, first = Health(lambda: 0.0), Timed("first", 0.1)
    health.cool_down("first", 12.34567, "quota", "come tomorrow")
    (attempt,) = health.order([first]).skipped
    assert (attempt.provider, attempt.outcome, attempt.retry_after) == ("first", "quota", 12.346)
    assert attempt.reason == "not called: in cooldown (come tomorrow)"
    health.cool_down("first", 60.0)
    assert not health.order([first]).skipped[0].reason.endswith(")")
