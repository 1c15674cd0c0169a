"""When a rate limiter lets a call go, to the second: pauses, stated limits, and rates learned from refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.models import NO_FILTERS, Attempt, Filters, Outcome, RateWindow, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing.health import HealthRecord
from groundwire.routing.rate_limiter import Rate, RateLimiter, Slot, rate_in, rate_of, record_key
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually

pytestmark = pytest.mark.req("B6")


class Asked:
    """A provider that is only named: what it answers is said to the limiter directly."""

    capabilities = Capabilities(search=True, domains="native")

    def __init__(self, *, delay: float = 0.0, tells_rates: bool = False) -> None:
        self.name = "asked"
        self.delay = delay
        self.tells_rates = tells_rates

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        return []


def merge(
    limiter: RateLimiter,
    rate: Rate | None = None,
    *,
    rest: float = 0.0,
    times: int = 0,
    reason: str = "",
) -> None:
    """Merge what another process was told by the provider."""
    interval, burst = rate or (0.0, 0)
    limiter.merge("asked", HealthRecord(interval=interval, burst=burst, rest=rest, rests=times, reason=reason))


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def now() -> float:
    return asyncio.get_running_loop().time()


def limited() -> RateLimiter:
    return RateLimiter(MemoryStore(clock=now))


async def turn(limiter: RateLimiter, provider: Asked, *, seconds: float = 1_000.0, max_wait: float = 1_000.0) -> Slot:
    return await limiter.acquire(provider, Deadline.after(seconds, now), max_wait)


def tell(limiter: RateLimiter, slot: Slot, outcome: Outcome = "ok", **more: Any) -> dict[str, Any]:
    return dict(limiter.report(slot, Attempt(provider="asked", outcome=outcome, **more)))


@virtually
async def test_without_a_limit_nobody_waits() -> None:
    limiter, provider = limited(), Asked()
    slots = [await turn(limiter, provider) for _ in range(3)]
    assert [(slot.granted, slot.wait, slot.interval, slot.at, slot.where) for slot in slots] == [
        (True, 0.0, 0.0, now(), "asked")
    ] * 3
    assert limiter.pause_of(provider) is None


@virtually
async def test_the_operators_delay_is_kept() -> None:
    limiter, provider, began = limited(), Asked(delay=2.0), now()
    slots = await asyncio.gather(*(turn(limiter, provider) for _ in range(3)))
    assert sorted(slot.at - began for slot in slots) == [0.0, 2.0, 4.0]
    assert sorted(slot.wait for slot in slots) == [0.0, 2.0, 4.0]
    assert {slot.interval for slot in slots} == {2.0}
    refused = await turn(limiter, provider, max_wait=1.0)
    assert (refused.granted, refused.wait, refused.at) == (False, 2.0, 0.0)
    assert now() - began == 4.0
    assert not (await turn(limiter, provider, seconds=1.9)).granted
    assert (await turn(limiter, provider, seconds=2.0)).granted


@virtually
async def test_the_slower_of_two_rates_counts() -> None:
    for delay, expected in ((2.0, 2.0), (0.5, 1.25)):
        limiter, provider = limited(), Asked(delay=delay)
        await limiter.update_limits(provider, [RateWindow(limit=1, seconds=1)])
        await turn(limiter, provider)
        assert (await turn(limiter, provider)).interval == expected


@virtually
async def test_a_pause_begins_short_and_doubles_up_to_what_was_asked_for() -> None:
    limiter, provider, lengths = limited(), Asked(), []
    slot = await turn(limiter, provider)
    tell(limiter, slot)
    for _ in range(6):
        slot = await turn(limiter, provider)
        changes = tell(limiter, slot, "rate_limited", retry_after=7.0, reason="slow down: q")
        rest = limiter.pause_of(provider)
        assert rest is not None
        assert rest[0] == pytest.approx(changes["rest"])
        assert rest[1] == "slow down"
        lengths.append(changes["rest"])
    assert lengths == [0.5, 1.0, 2.0, 4.0, 7.0, 7.0]
    assert changes["rests"] == 5
    assert changes["reason"] == "slow down"
    refused = await turn(limiter, provider, max_wait=6.9)
    assert (refused.granted, refused.wait, refused.pause_reason) == (False, 7.0, " (slow down)")
    slot = await turn(limiter, provider, max_wait=7.0)
    assert (slot.granted, slot.wait) == (True, 7.0)
    await asyncio.sleep(2.0)
    assert limiter.pause_of(provider) == (0.0, "slow down")
    assert tell(limiter, slot) == {}
    assert limiter.pause_of(provider) is None
    slot = await turn(limiter, provider)
    assert tell(limiter, slot, "rate_limited", retry_after=7.0)["rest"] == 0.5


@pytest.mark.parametrize(
    ("answered", "asked", "rest"),
    [
        (True, 100.0, 0.5), (False, 5.0, 0.5), (False, 5.1, 5.1), (False, 100.0, 60.0), (False, 0.2, 0.2),
        (True, 0.2, 0.2),
    ],
)  # fmt: skip
def test_the_first_pause(answered: bool, asked: float, rest: float) -> None:
    async def run() -> None:
        limiter, provider = limited(), Asked()
        slot = await turn(limiter, provider)
        if answered:
            tell(limiter, slot, "partial")
        assert tell(limiter, slot, "rate_limited", retry_after=asked)["rest"] == rest

    run_virtually(run())


@virtually
async def test_no_pause_is_longer_than_an_hour() -> None:
    limiter, provider = limited(), Asked()
    for expected in (60.0, 120.0, 240.0, 480.0, 960.0, 1_920.0, 3_600.0, 3_600.0):
        slot = await turn(limiter, provider, seconds=9_999, max_wait=9_999)
        assert tell(limiter, slot, "rate_limited", retry_after=1e9)["rest"] == expected


@pytest.mark.parametrize("outcome", ["auth", "quota"])
def test_a_refused_key_needs_no_pause(outcome: Outcome) -> None:
    async def run() -> None:
        limiter, provider = limited(), Asked()
        assert tell(limiter, await turn(limiter, provider), outcome, retry_after=9.0) == {}
        assert limiter.pause_of(provider) is None

    run_virtually(run())


@virtually
async def test_a_late_refusal_does_not_begin_another_pause() -> None:
    limiter, provider = limited(), Asked()
    early, late = await turn(limiter, provider), await turn(limiter, provider)
    tell(limiter, early)
    assert tell(limiter, early, "rate_limited", retry_after=3.0)["rest"] == 0.5
    assert tell(limiter, late, "rate_limited", retry_after=3.0) == {}
    tell(limiter, late)  # a response to a request from before the pause does not end it
    assert limiter.pause_of(provider) is not None


@virtually
async def test_the_first_call_after_a_pause_is_a_probe_and_the_others_wait_for_it() -> None:
    limiter, provider = limited(), Asked()
    slot = await turn(limiter, provider)
    tell(limiter, slot)
    tell(limiter, slot, "rate_limited", retry_after=3.0)
    began = now()
    probe = await turn(limiter, provider)
    assert now() - began == 0.5
    waiting = asyncio.create_task(turn(limiter, provider))
    impatient = await turn(limiter, provider, max_wait=1.0)
    assert (impatient.granted, impatient.wait, now() - began) == (False, 0.5, 1.5)
    assert not waiting.done()
    tell(limiter, probe)
    assert (await waiting).granted
    assert now() - began == 1.5


@virtually
async def test_a_probe_that_is_given_up_lets_the_next_one_go() -> None:
    limiter, provider = limited(), Asked()
    slot = await turn(limiter, provider)
    tell(limiter, slot, "rate_limited", retry_after=1.0)
    await turn(limiter, provider)
    waiting = asyncio.create_task(turn(limiter, provider))
    await asyncio.sleep(1.0)
    assert not waiting.done()
    limiter.release(provider)
    assert (await waiting).granted


@virtually
async def test_a_used_up_window_holds_calls_back_until_it_ends() -> None:
    limiter, provider, began = limited(), Asked(), now()
    window = RateWindow(limit=10, seconds=30, remaining=0, reset=12.0)
    assert await limiter.update_limits(provider, [window]) == Rate(30.25 / 9, 2)
    assert await limiter.update_limits(provider, [window]) is None
    early = await turn(limiter, provider, max_wait=11.0)
    assert (early.granted, early.wait) == (False, 12.0)
    slot = await turn(limiter, provider)
    assert slot.wait == 12.0
    assert now() - began == 12.0


@pytest.mark.parametrize(
    ("window", "held"),
    [
        (RateWindow(limit=10, seconds=60, remaining=0, reset=99.0), 60.0),
        (RateWindow(limit=10, seconds=61, remaining=0, reset=9.0), 0.0),
        (RateWindow(limit=10, seconds=30, remaining=1, reset=9.0), 0.0),
        (RateWindow(limit=1, seconds=30, remaining=0, reset=40.0), 30.25),  # its pace
        (RateWindow(limit=2, remaining=0, reset=9.0), 9.0),
        (RateWindow(limit=0, seconds=30, remaining=0, reset=9.0), 0.0),
        (RateWindow(limit=10, remaining=0, reset=9.0), 9.0),
        (RateWindow(limit=10, remaining=0, reset=60.5), 0.0),
        (RateWindow(limit=10, seconds=30, remaining=0), 0.0),
    ],
)
def test_which_windows_hold_calls_back(window: RateWindow, held: float) -> None:
    async def run() -> None:
        limiter, provider = limited(), Asked()
        await limiter.update_limits(provider, [window])
        assert (await turn(limiter, provider)).wait == pytest.approx(held, abs=0.01)

    run_virtually(run())


@virtually
async def test_calls_wait_for_the_first_response_but_not_for_long() -> None:
    limiter, provider, began = limited(), Asked(tells_rates=True), now()
    first = await turn(limiter, provider)
    assert first.wait == 0.0
    waiting = asyncio.create_task(turn(limiter, provider))
    await asyncio.sleep(1.0)
    assert not waiting.done()
    await limiter.update_limits(provider, [RateWindow(limit=1, seconds=4)])
    slot = await waiting
    assert slot.at - began == pytest.approx(1.0 + 4.25)
    assert slot.interval == 4.25

    limiter, began = limited(), now()
    await turn(limiter, provider)
    assert (await turn(limiter, provider)).wait == 2.0  # it has not come
    limiter = limited()
    await turn(limiter, provider)
    assert (await turn(limiter, provider, max_wait=0.5)).wait == 0.5


@virtually
async def test_another_process_that_waits_hears_of_the_rate_from_the_store() -> None:
    store, provider, began = MemoryStore(clock=now), Asked(tells_rates=True), now()
    one, other = RateLimiter(store), RateLimiter(store)
    await turn(one, provider)
    waiting = asyncio.create_task(turn(other, provider))
    await asyncio.sleep(0.5)
    assert not waiting.done()
    record = HealthRecord(interval=3.0, burst=1)
    await store.set(record_key("asked", "interval"), record.model_dump_json().encode(), fresh=99.0)
    slot = await waiting
    assert slot.interval == 3.0
    assert now() - began <= 0.6


async def rising(limiter: RateLimiter, provider: Asked, good: int, refused: int, per_second: float) -> list[float]:
    """Make calls, of which the last ones are refused, and return the rates that are learned from these."""
    rates = []
    for number in range(good + refused):
        slot, before = await turn(limiter, provider), limiter._learned["asked"].refused_at
        assert tell(limiter, slot, "ok" if number < good else "rate_limited") == {}, "others find it out by themselves"
        learned = limiter._learned["asked"]
        rates += [learned.limit] if learned.refused_at > before else []
        await asyncio.sleep(1 / per_second)
    return rates


@virtually
async def test_a_rate_is_learned_from_three_refusals_at_a_higher_rate_than_before() -> None:
    limiter, provider = limited(), Asked()
    assert await rising(limiter, provider, 40, 0, 2.0) == []
    await asyncio.sleep(2.0)
    (rate,) = await rising(limiter, provider, 10, 4, 20.0)
    assert rate == pytest.approx(0.95 * 10)  # refused with ten served in the second before
    assert (await turn(limiter, provider)).interval == pytest.approx(1 / rate, rel=0.02)


@virtually
async def test_nothing_is_learned_from_fewer_refusals_or_at_the_usual_rate() -> None:
    limiter, provider = limited(), Asked()
    await rising(limiter, provider, 40, 0, 2.0)
    await asyncio.sleep(2.0)
    assert await rising(limiter, provider, 10, 2, 20.0) == []
    limiter = limited()
    assert await rising(limiter, provider, 40, 12, 2.0) == []
    limiter = limited()
    assert await rising(limiter, provider, 4, 12, 4.0) == []
    assert (await turn(limiter, provider)).interval == 0.0


def learn(limiter: RateLimiter, limit: float) -> None:
    """Let a limiter have learned a rate just now."""
    learned = limiter._learned["asked"]
    learned.limit, learned.refused_at = limit, now()


@virtually
async def test_a_learned_rate_grows_by_half_a_percent_a_second_and_is_forgotten_when_doubled() -> None:
    limiter, provider, began = limited(), Asked(), now()
    learn(limiter, 2.0)
    assert (await turn(limiter, provider)).interval == pytest.approx(0.5)
    await asyncio.sleep(100.0 - (now() - began))
    assert (await turn(limiter, provider)).interval == pytest.approx(1 / 3, rel=1e-3)
    await asyncio.sleep(199.9 - (now() - began))
    assert (await turn(limiter, provider)).interval == pytest.approx(1 / 4, rel=1e-3)
    await asyncio.sleep(200.0 - (now() - began))
    assert (await turn(limiter, provider)).interval == 0.0


@virtually
async def test_a_pause_and_a_rate_of_another_process_hold_here_too() -> None:
    limiter, provider, began = limited(), Asked(), now()
    merge(limiter, Rate(3.0, 1), rest=5.0, times=2, reason="busy")
    assert limiter.pause_of(provider) == (5.0, "busy")
    merge(limiter, rest=50.0, times=2)
    assert limiter.pause_of(provider) == (5.0, "busy")
    slot = await turn(limiter, provider)
    assert (now() - began, slot.interval) == (5.0, 3.0)
    assert tell(limiter, slot, "rate_limited", retry_after=99.0) == {
        "rest": 99.0, "rests": 3, "reason": ""}  # fmt: skip
    limiter = limited()
    merge(limiter, rest=9_999.0, times=99)
    assert limiter.pause_of(provider) == (3_600.0, "")
    slot = await turn(limiter, provider, seconds=9_999, max_wait=9_999)
    assert tell(limiter, slot, "rate_limited", retry_after=9.0)["rests"] == 21
    limiter = limited()
    merge(limiter, rest=0.5, times=0)
    assert limiter.pause_of(provider) == (0.5, "")
    limiter = limited()
    merge(limiter, rest=0.0, times=9)
    assert limiter.pause_of(provider) is None


@pytest.mark.parametrize(
    ("record", "rate"),
    [
        (HealthRecord(interval=2.0, burst=3), Rate(2.0, 3)),
        (HealthRecord(interval=99.0, burst=1), Rate(60.0, 1)),
        (HealthRecord(interval=2.0), None),
        (HealthRecord(burst=2), None),
    ],
)
def test_the_rate_in_a_record(record: HealthRecord, rate: Rate | None) -> None:
    assert rate_in(record) == rate


def test_the_bursts_of_windows() -> None:
    assert rate_of([RateWindow(limit=4, seconds=60)]) == Rate(60.25 / 4, 1)
    assert rate_of([RateWindow(limit=10, seconds=60)]) == Rate(60.25 / 9, 2)
    assert rate_of([RateWindow(limit=10, seconds=60.1)]) is None
    assert rate_of([RateWindow(limit=10, reset=5.0)]) is None


@virtually
async def test_the_requests_of_a_second_are_counted() -> None:
    limiter, provider = limited(), Asked()
    densities = []
    for _ in range(4):
        densities.append((await turn(limiter, provider)).density)
        await asyncio.sleep(0.4)
    assert densities == [0, 1, 2, 2]
    await asyncio.sleep(9.0)
    assert (await turn(limiter, provider)).density == 0


@virtually
async def test_a_stated_rate_stays_when_a_response_says_nothing_of_it() -> None:
    limiter, provider = limited(), Asked()
    await limiter.update_limits(provider, [RateWindow(limit=1, seconds=4)])
    assert await limiter.update_limits(provider, []) is None
    assert (await turn(limiter, provider)).interval == 4.25
    assert await limiter.update_limits(provider, [RateWindow(limit=1, seconds=9)]) == Rate(9.25, 1)
    assert (await turn(limiter, provider)).interval == 9.25


@virtually
async def test_a_learned_rate_allows_no_burst() -> None:
    limiter, provider = limited(), Asked()
    learn(limiter, 2.0)
    assert [(await turn(limiter, provider)).wait for _ in range(2)] == [0.0, pytest.approx(0.5)]


@virtually
async def test_nobody_waits_for_a_probe_longer_than_it_has_time() -> None:
    limiter, provider = limited(), Asked()
    slot = await turn(limiter, provider)
    tell(limiter, slot, "rate_limited", retry_after=1.0)
    await turn(limiter, provider)
    began = now()
    assert not (await turn(limiter, provider, max_wait=0.25)).granted
    assert now() - began == 0.25


@virtually
async def test_a_call_waits_for_a_used_up_window_exactly_as_long_as_it_may() -> None:
    limiter, provider = limited(), Asked()
    await limiter.update_limits(provider, [RateWindow(limit=10, seconds=30, remaining=0, reset=2.0)])
    await asyncio.sleep(5.0)
    await limiter.update_limits(provider, [RateWindow(limit=10, seconds=30, remaining=0, reset=2.0)])
    refused = await turn(limiter, provider, max_wait=1.75)
    assert (refused.granted, refused.wait) == (False, 2.0)
    slot = await turn(limiter, provider, max_wait=2.0)
    assert (slot.granted, slot.wait) == (True, 2.0)


@virtually
async def test_five_responses_are_enough_to_learn_from_and_four_are_not() -> None:
    for good, learned in ((4, 0), (5, 1)):
        limiter, provider = limited(), Asked()
        for _ in range(2):  # without a response; the window of a second fills up
            await turn(limiter, provider)
            await asyncio.sleep(1.0)
        assert await rising(limiter, provider, good, 0, 1.0) == []
        for _ in range(3):
            await turn(limiter, provider)
        assert len(await rising(limiter, provider, 0, 3, 20.0)) == learned


@virtually
async def test_nobody_waits_for_a_first_response_that_will_not_come() -> None:
    limiter, provider = limited(), Asked(tells_rates=True)
    assert (await turn(limiter, provider)).wait == 0.0
    limiter.release(provider)
    slots = await asyncio.gather(*(turn(limiter, provider) for _ in range(3)))
    assert [slot.wait for slot in slots] == [0.0, 0.0, 0.0]


@virtually
async def test_a_call_that_would_wait_too_long_takes_no_slot() -> None:
    limiter, provider = limited(), Asked(delay=0.8)
    assert (await turn(limiter, provider)).granted
    late = await turn(limiter, provider, max_wait=0.5)
    assert not late.granted
    assert late.wait == pytest.approx(0.8)
    assert (await turn(limiter, provider, max_wait=0.8)).granted
    assert now() == pytest.approx(0.8)


@virtually
async def test_a_call_that_is_canceled_while_it_waits_is_canceled() -> None:
    limiter, provider = limited(), Asked(delay=5.0)
    await turn(limiter, provider)
    waiting = asyncio.create_task(turn(limiter, provider))
    await asyncio.sleep(1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert now() == 1.0


@virtually
async def test_those_that_wait_for_a_probe_hear_at_once_that_it_failed() -> None:
    limiter, provider = limited(), Asked()
    tell(limiter, await turn(limiter, provider))
    rest = tell(limiter, await turn(limiter, provider), "rate_limited", retry_after=60.0)["rest"]
    await asyncio.sleep(rest)
    probe = await turn(limiter, provider)
    waiting = asyncio.create_task(turn(limiter, provider, max_wait=rest))
    await asyncio.sleep(0.25)
    began, longer = now(), tell(limiter, probe, "rate_limited", retry_after=60.0)["rest"]
    assert longer > rest
    slot = await waiting
    assert (slot.granted, slot.wait, now()) == (False, longer, began)


LOW = 3
"""The requests in the second before one that is answered."""


def learned_from(answered: Sequence[int], refused: Sequence[tuple[float, int]]) -> Rate | None:
    """Return the rate after some answers and some refusals, each refusal at a time."""

    async def run() -> Rate | None:
        limiter, provider = limited(), Asked()
        for density in answered:
            tell(limiter, Slot(True, 0.0, 0.0, "", "asked", now(), density))
        for at, density in refused:
            await asyncio.sleep(at - now())
            tell(limiter, Slot(True, 0.0, 0.0, "", "asked", now(), density), "rate_limited")
        return limiter.pace(provider, "asked")

    return run_virtually(run())


@pytest.mark.parametrize(("density", "rate"), [(20, Rate(1 / (0.95 * 20))), (4, Rate(1 / (0.95 * 4))), (LOW, None)])
def test_a_rate_is_learned_above_any_that_was_answered(density: int, rate: Rate | None) -> None:
    assert learned_from([LOW] * 5, [(0.0, density)] * 3) == (rate and pytest.approx(rate))


def test_one_request_in_a_second_may_be_too_many() -> None:
    assert learned_from([0] * 5, [(0.0, 1)] * 3) == pytest.approx(Rate(1 / 0.95))


@pytest.mark.parametrize(("later", "learned"), [(49, False), (50, True)])
def test_fifty_answers_are_compared(later: int, learned: bool) -> None:
    rate = learned_from([9] + [LOW] * later, [(0.0, 8)] * 3)
    assert (rate is not None) is learned


@pytest.mark.parametrize(("after", "times"), [(0.75, 1), (1.0, 2)])
def test_a_rate_is_learned_again_once_its_second_has_passed(after: float, times: int) -> None:
    rate = learned_from([LOW] * 5, [(0.0, 20), (0.0, 20), (0.0, 20), (after, 20)])
    expected = 0.95 * 20 * (1 + 0.005 * after) if times == 1 else 0.95 * 0.95 * 20 * (1 + 0.005 * after)
    assert rate == pytest.approx(Rate(1 / min(expected, 0.95 * 20 * (1 + 0.005 * after))))


async def _held() -> tuple[RateLimiter, Asked]:
    limiter, provider = limited(), Asked()
    await limiter.update_limits(provider, [RateWindow(limit=10, remaining=0, reset=5.0)])
    return limiter, provider


async def _paced() -> tuple[RateLimiter, Asked]:
    limiter, provider = limited(), Asked(delay=5.0)
    await turn(limiter, provider)
    return limiter, provider


@pytest.mark.parametrize("slow", [_held, _paced])
def test_a_probe_that_has_no_slot_in_time_lets_the_next_one_probe(
    slow: Callable[[], Coroutine[Any, Any, tuple[RateLimiter, Asked]]],
) -> None:
    async def run() -> None:
        limiter, provider = await slow()
        merge(limiter, rest=1.0, times=0)
        refused = await turn(limiter, provider, max_wait=2.0)
        assert (refused.granted, refused.wait, now()) == (False, 4.0, 1.0)
        canceled = asyncio.create_task(turn(limiter, provider))
        await asyncio.sleep(1.0)
        canceled.cancel()
        await asyncio.gather(canceled, return_exceptions=True)
        assert (await turn(limiter, provider, max_wait=20.0)).granted

    run_virtually(run())


@virtually
async def test_a_slot_that_is_free_is_taken_without_time_to_wait() -> None:
    limiter, provider = limited(), Asked(delay=1.0)
    await asyncio.sleep(1.0)
    assert (await turn(limiter, provider, max_wait=-0.5)).granted


@virtually
async def test_all_calls_of_a_process_hear_what_another_was_told_or_wait_no_longer() -> None:
    store, provider = MemoryStore(clock=now), Asked(tells_rates=True)
    one, other, third = RateLimiter(store), RateLimiter(store), RateLimiter(store)
    await turn(one, provider)
    waiting = [asyncio.create_task(turn(other, provider)) for _ in range(2)]
    canceled, follows = (asyncio.create_task(turn(third, provider)) for _ in range(2))
    await asyncio.sleep(0.25)
    canceled.cancel()
    assert (await follows).at == 0.25
    assert canceled.cancelled()
    record = HealthRecord(interval=3.0, burst=2)
    await store.set(record_key("asked", "interval"), record.model_dump_json().encode(), fresh=99.0)
    assert [(await task).at <= 0.35 for task in waiting] == [True, True]
    store = MemoryStore(clock=now)
    await turn(RateLimiter(store), provider)
    assert (await turn(RateLimiter(store), provider, max_wait=0.05)).wait == pytest.approx(0.05)
