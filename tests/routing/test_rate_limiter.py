"""No provider is asked faster than it allows: what it says is learned, and calls take turns instead of storming."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from itertools import pairwise
from typing import Any

import pytest

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import AllProvidersFailed, RateLimited
from groundwire.models import (
    NO_FILTERS,
    Attempt,
    Filters,
    Outcome,
    Query,
    RateWindow,
    Results,
    SearchResponse,
    SearchResult,
)
from groundwire.providers import Capabilities, SearchProvider
from groundwire.providers.base import scope
from groundwire.routing.rate_limiter import Rate, RateLimiter, Slot, rate_of
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually

MONTH = 2_592_000.0


class Limited:
    """A provider that serves so many searches in any second, and says so in every answer."""

    capabilities = Capabilities(search=True, domains="native")
    tells_rates = True

    def __init__(self, limit: int = 1, *, latency: float = 0.4, name: str = "limited", left: int = 1_000) -> None:
        self.name = name
        self.account = "one"
        self._limit = limit
        self._latency = latency
        self._left = left
        self.served: list[float] = []
        self.refused = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        now = asyncio.get_running_loop().time()
        lately = [moment for moment in self.served if now - moment < 1]
        windows = (
            RateWindow(limit=self._limit, seconds=1, remaining=max(0, self._limit - len(lately) - 1), reset=1),
            RateWindow(limit=2_000, seconds=MONTH, remaining=self._left, reset=MONTH / 2),
        )
        if len(lately) >= self._limit:
            self.refused += 1
            raise RateLimited(self.name, "too many requests", status=429, retry_after=1, windows=windows)
        self.served.append(now)
        await asyncio.sleep(self._latency)
        return Results((SearchResult(title=query, url="https://a.example/"),), windows=windows)


class Other:
    """A provider without any limit."""

    capabilities = Capabilities(search=True, domains="native")

    def __init__(self, latency: float = 0.2) -> None:
        self.name = "other"
        self._latency = latency
        self.asked = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        self.asked += 1
        await asyncio.sleep(self._latency)
        return [SearchResult(title=query, url="https://b.example/")]


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def now() -> float:
    return asyncio.get_running_loop().time()


def store() -> MemoryStore:
    return MemoryStore(clock=asyncio.get_running_loop().time)


def chain(*providers: SearchProvider, on: MemoryStore | None = None) -> CallingRouter:
    return CallingRouter(providers, store=on or store(), clock=asyncio.get_running_loop().time)


async def search(asked: CallingRouter, seconds: float = 30.0) -> SearchResponse:
    return await asked.ask(Query(text="q"), Deadline.after(seconds, asyncio.get_running_loop().time))


@pytest.mark.req("B6")
@virtually
async def test_ten_calls_at_once_queue_and_none_is_refused() -> None:
    limited = Limited()
    asked = chain(limited)
    answers = await asyncio.gather(*(search(asked) for _ in range(10)))
    assert [answer.provider for answer in answers] == ["limited"] * 10
    assert (limited.refused, len(limited.served)) == (0, 10), "not even before it has said anything"
    assert now() < 9 * 1.25 + 1
    await asked.aclose()


@pytest.mark.req("B6", "B20")
@virtually
async def test_those_who_share_a_store_share_the_turns() -> None:
    limited, shared = Limited(), store()
    several = [chain(limited, on=shared) for _ in range(4)]
    answers = await asyncio.gather(*(search(asked) for asked in several * 3))
    assert len(answers) == 12
    assert limited.refused == 0
    for asked in several:
        await asked.aclose()


@virtually
async def test_a_fast_plan_is_not_slowed_down() -> None:
    limited = Limited(50)
    asked = chain(limited)
    await search(asked)
    began = now()
    await asyncio.gather(*(search(asked) for _ in range(8)))
    assert now() - began == pytest.approx(0.4, abs=0.01)
    await asyncio.gather(*(search(asked) for _ in range(80)))
    assert limited.refused == 0
    await asked.aclose()


@virtually
async def test_a_long_queue_is_left_to_others_and_takes_no_turns() -> None:
    limited, other = Limited(), Other(latency=1.0)
    asked = chain(limited, other)
    await search(asked)
    began = now()
    answers = await asyncio.gather(*(search(asked) for _ in range(10)))
    assert now() - began < 3
    assert limited.refused == 0
    assert 0 < sum(answer.provider == "limited" for answer in answers) < 10
    skipped = [answer.attempts[0] for answer in answers if answer.provider == "other"]
    assert any("not called: its rate limit allows a request in" in attempt.reason for attempt in skipped)
    await asyncio.sleep(3)
    assert (await search(asked)).provider == "limited", "no turn was taken by who did not wait for it"
    await asked.aclose()


@virtually
async def test_a_call_that_loses_while_it_waits_for_its_turn_is_never_sent() -> None:
    limited, other = Limited(latency=0.0), Other(latency=0.0)
    asked = chain(limited, other)
    await search(asked)
    answer = await search(asked)
    assert answer.provider == "other"
    assert now() == pytest.approx(0.8)
    left = answer.attempts[-1]
    assert (left.provider, left.abandoned, left.cost_usd) == ("limited", True, 0.0)
    assert left.reason == "not called: still waiting for its rate limit"
    await asyncio.sleep(5)
    assert len(limited.served) == 1
    await asked.aclose()


@virtually
async def test_a_turn_after_the_deadline_is_said_at_once() -> None:
    asked = chain(Limited())
    await search(asked)
    first = asyncio.create_task(search(asked))
    await asyncio.sleep(0)
    began = now()
    with pytest.raises(AllProvidersFailed, match="its rate limit allows a request after the deadline"):
        await search(asked, seconds=0.5)
    assert now() == began
    await first
    await asked.aclose()


@virtually
async def test_a_used_up_quota_is_believed_before_it_refuses() -> None:
    limited, other = Limited(left=0), Other()
    asked = chain(limited, other)
    assert (await search(asked)).provider == "limited"
    answer = await search(asked)
    assert answer.provider == "other"
    assert answer.attempts[0].outcome == "quota"
    assert "its limit of 2000 requests is used up" in answer.attempts[0].reason
    await asked.aclose()


@virtually
async def test_who_is_told_to_wait_a_moment_waits_and_asks_again() -> None:
    limited = Limited()
    limited.tells_rates = False
    limited.served.append(0.0)  # somebody else, with the same key
    answer = await search(chain(limited))
    assert answer.provider == "limited"
    assert [attempt.outcome for attempt in answer.attempts] == ["rate_limited", "ok"]
    assert limited.refused == 1


@virtually
async def test_what_is_left_of_a_window_is_respected_though_others_used_it() -> None:
    limited = Limited(10)
    limiter = RateLimiter(store())
    await limiter.update_limits(limited, (RateWindow(limit=10, seconds=1, remaining=0, reset=1),))
    assert (await limiter.acquire(limited, Deadline.after(9, now), 9)).wait == pytest.approx(1)


@virtually
async def test_when_the_first_answer_does_not_come_the_others_go_on() -> None:
    limited = Limited()
    limiter = RateLimiter(store())
    await limiter.acquire(limited, Deadline.after(9, now), 9)
    second = asyncio.create_task(limiter.acquire(limited, Deadline.after(9, now), 9))
    third = asyncio.create_task(limiter.acquire(limited, Deadline.after(9, now), 9))
    await asyncio.sleep(0.5)
    limiter.release(limited)
    assert (await second).wait == pytest.approx(0.5)
    assert (await third).granted
    silent = RateLimiter(store())
    await silent.acquire(limited, Deadline.after(9, now), 9)
    assert (await silent.acquire(limited, Deadline.after(9, now), 9)).wait == pytest.approx(2), "two seconds at most"


@pytest.mark.parametrize(
    ("windows", "rate"),
    [
        ((RateWindow(limit=1, seconds=1), RateWindow(limit=2_000, seconds=MONTH)), Rate(1.25, 1)),
        ((RateWindow(limit=50, seconds=1),), Rate(1.25 / 41, 10)),
        ((RateWindow(limit=50, seconds=1), RateWindow(limit=60, seconds=60)), Rate(60.25 / 49, 10)),
        ((RateWindow(limit=0, seconds=1),), None),
        ((RateWindow(limit=100),), None),
        ((RateWindow(limit=100, seconds=3_600),), None),
        ((), None),
    ],
)
def test_the_rate_of_windows(windows: tuple[RateWindow, ...], rate: Rate | None) -> None:
    found = rate_of(windows)
    if rate is None or found is None:
        assert found is rate
    else:
        assert found.interval == pytest.approx(rate.interval)
        assert found.burst == rate.burst


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
def test_no_span_of_a_window_holds_more_than_its_limit(limit: int) -> None:
    async def slots() -> list[float]:
        rate, paces = rate_of((RateWindow(limit=limit, seconds=1),)), store()
        assert rate is not None
        return [(await paces.pace("p", interval=rate.interval, burst=rate.burst)).wait for _ in range(4 * limit)]

    found = run_virtually(slots())
    for start in found:
        assert sum(start <= slot < start + 1 for slot in found) <= limit


@pytest.mark.req("B29")
def test_a_rate_is_lowered_once_for_each_second_that_was_too_full() -> None:
    async def run() -> None:
        limiter, asked = RateLimiter(MemoryStore()), Limited()
        clock, told = asyncio.get_running_loop().time, list[float]()
        slot = await limiter.acquire(asked, Deadline.after(60, clock), 60.0)
        for number in range(90):  # every other ten seconds too many
            full = number % 40 >= 20
            sent = slot._replace(at=clock(), density=20 if full else 10)
            limiter.report(sent, Attempt(provider="limited", outcome="rate_limited" if full else "ok"))
            if (at := limiter._learned[slot.where].refused_at) not in {-math.inf, *told}:
                told.append(at)
            await asyncio.sleep(0.25)
        assert [later - sooner >= 1.0 for sooner, later in pairwise(told)] == [True] * (len(told) - 1)
        assert len(told) >= 2

    run_virtually(run())


def test_an_account_has_a_pace_of_its_own() -> None:
    one, other = Limited(), Limited()
    other.account = "two"
    assert scope(one) != scope(other)
    assert scope(Other()) == "other"


@virtually
async def test_stray_refusals_after_a_quiet_period_are_no_rate_limit() -> None:
    """While a window fills up, each request has more before it than any earlier one."""
    limiter, provider = RateLimiter(store()), Other()

    async def call(outcome: Outcome) -> Slot:
        slot = await limiter.acquire(provider, Deadline.after(60, asyncio.get_running_loop().time), 5.0)
        limiter.report(slot, Attempt(provider="other", outcome=outcome, reason=""))
        await asyncio.sleep(0.5)
        return slot

    await call("ok")
    await asyncio.sleep(125.0)
    outcomes: tuple[Outcome, ...] = ("ok",) * 8 + ("rate_limited",) * 3 + ("ok",) * 3
    for outcome in outcomes:
        slot = await call(outcome)
        assert (slot.granted, slot.wait) == (True, 0.0)
