"""Every call that a provider may charge for is on the session's bill, once, whenever it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    BudgetExceeded,
    ProviderUnavailable,
    RateLimited,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Filters, Query, Results, SearchResult, Strategy
from groundwire.providers import Capabilities
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.routing.cost_ledger import CostLedger, micro
from groundwire.routing.hedging import HedgePolicy
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually


class Paid:
    """A provider that answers, or fails, after some time."""

    capabilities = Capabilities(search=True, domains="native")

    def __init__(
        self,
        name: str,
        seconds: float,
        error: Exception | None = None,
        *,
        price: float = 0.005,
        cost: float | None = None,
    ) -> None:
        self.name = name
        self.price_usd = price
        self._seconds = seconds
        self._error = error
        self._cost = cost
        self.asked = 0
        self.daily_searches = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        self.asked += 1
        await asyncio.sleep(self._seconds)
        if self._error is not None:
            raise self._error
        rows = (SearchResult(title=query, url=f"https://{self.name}.example/"),)
        return rows if self._cost is None else Results(rows, cost_usd=self._cost)


class Desk:
    """A session's budget and a chain; what `Web` does with them."""

    def __init__(self, *providers: Paid, strategy: Strategy = "hedge", money: float = 0.0, **numbers: Any) -> None:
        loop = asyncio.get_running_loop()
        self.later = BackgroundTasks()
        self.budget = SessionBudget(MemoryStore(clock=loop.time), "s", Limits(cost_usd=money), self.later)
        self.chain = CallingRouter(providers, strategy=strategy, hedging=HedgePolicy(**numbers))

    async def search(self, seconds: float = 10.0) -> str:
        reservation = await self.budget.take(self.chain.price_usd)
        bill = self.budget.ledger(reservation)
        loop = asyncio.get_running_loop()
        try:
            answer = await self.chain.ask(Query(text="q"), Deadline.after(seconds, loop.time), bill)
        except BaseException:
            await self.budget.settle(reservation, bill.close(), searches=0)
            raise
        await self.budget.settle(reservation, bill.close())
        return answer.provider

    async def spent(self) -> float:
        return (await self.budget.usage())["cost_usd"]

    async def aclose(self) -> None:
        await self.chain.aclose()
        await self.later.aclose()


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


async def test_a_bill_takes_more_only_beyond_what_was_set_aside() -> None:
    asked: list[int] = []
    late: list[int] = []

    async def reserve(amount: int) -> bool:
        asked.append(amount)
        return amount < 5_000

    bill = CostLedger(reserve, late.append, 10_000)
    assert await bill.charge(0.01)
    assert asked == []
    assert await bill.charge(0.000_001)
    assert asked == [1]
    assert not await bill.charge(0.005)
    bill.correct(0.01, 0.004)
    assert await bill.charge(0.006)
    assert asked == [1, 5_000]
    assert late == []
    assert bill.close() == pytest.approx(0.01)
    bill.correct(0.006, 0.006)
    bill.correct(0.006, 0.002)
    assert late == [-4_000]
    assert await bill.charge(0.001)
    assert asked == [1, 5_000, 1_000], "what is charged after the end is asked for, whatever is left"

    nothing = CostLedger(reserve, late.append)
    assert await nothing.charge(0.0)
    assert await nothing.charge(0.000_001)
    assert asked[3:] == [1]
    assert nothing.close() == 0


@pytest.mark.parametrize(
    ("usd", "millionths"),
    [(0.0, 0), (0.005, 5_000), (0.1 + 0.2, 300_000), (1e-6, 1), (1.2e-6, 2), (1e-9, 1), (1e-10, 0)],
)
def test_amounts_are_rounded_up_but_for_noise(usd: float, millionths: int) -> None:
    assert micro(usd) == millionths


@pytest.mark.req("B5", "B14")
@virtually
async def test_a_loser_that_answers_later_is_charged_as_well() -> None:
    desk = Desk(Paid("first", 2.0), Paid("second", 0.1, price=0.008))
    assert await desk.search() == "second"
    assert await desk.spent() == pytest.approx(0.013)
    await asyncio.sleep(5)
    assert await desk.spent() == pytest.approx(0.013)
    await desk.aclose()
    assert await desk.spent() == pytest.approx(0.013), "once"


@pytest.mark.req("B5", "B14")
@virtually
async def test_a_loser_that_fails_is_refunded_when_it_does() -> None:
    desk = Desk(Paid("first", 2.0, ProviderUnavailable("first", "down", status=500)), Paid("second", 0.1, price=0.008))
    assert await desk.search() == "second"
    assert await desk.spent() == pytest.approx(0.013), "it was sent, and nobody knows yet"
    await asyncio.sleep(5)
    assert await desk.spent() == pytest.approx(0.008)
    await desk.aclose()


@virtually
async def test_a_loser_that_is_cancelled_after_it_was_sent_stays_charged() -> None:
    desk = Desk(Paid("first", 5.0), Paid("second", 0.1, price=0.008), most_drained=0)
    assert await desk.search() == "second"
    await desk.aclose()
    assert await desk.spent() == pytest.approx(0.013)


@virtually
async def test_closing_settles_what_is_still_under_way() -> None:
    desk = Desk(Paid("first", 5.0, RateLimited("first", "no", status=429)), Paid("second", 0.1))
    await desk.search()
    await desk.aclose()
    assert await desk.spent() == pytest.approx(0.010)


@virtually
async def test_who_leaves_pays_for_what_was_sent() -> None:
    desk = Desk(Paid("first", 5.0), Paid("second", 5.0, price=0.008))
    task = asyncio.create_task(desk.search())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await desk.aclose()
    assert await desk.spent() == pytest.approx(0.013)
    assert (await desk.budget.usage())["searches"] == 0


@pytest.mark.parametrize(
    ("error", "cost"),
    [
        (RateLimited("first", "no", status=429, retry_after=60), 0.0),
        (ProviderUnavailable("first", "down", status=500), 0.0),
        (UnexpectedResponse("first", "broken JSON", status=200), 0.005),
        (ZeroDivisionError(), 0.0),
    ],
)
def test_a_failure_costs_what_the_service_charges_for_it(error: Exception, cost: float) -> None:
    async def run() -> None:
        desk = Desk(Paid("first", 0.1, error), Paid("second", 0.1, price=0.0))
        assert await desk.search() == "second"
        await desk.aclose()
        assert await desk.spent() == pytest.approx(cost)

    run_virtually(run())


@virtually
async def test_what_an_answer_says_that_it_cost_counts() -> None:
    desk = Desk(Paid("first", 0.1, price=0.005, cost=0.002))
    await desk.search()
    assert await desk.spent() == pytest.approx(0.002)


@virtually
async def test_a_call_without_an_answer_in_time_may_be_charged() -> None:
    desk = Desk(Paid("first", 60), retries=0.0)
    with pytest.raises(AllProvidersFailed) as caught:
        await desk.search(seconds=3)
    assert await desk.spent() == pytest.approx(0.005)
    assert sum(attempt.cost_usd for attempt in caught.value.attempts) == pytest.approx(0.005)


@pytest.mark.req("B5")
@virtually
async def test_further_rounds_never_spend_more_than_the_session_has() -> None:
    first = Paid("first", 0.1, UnexpectedResponse("first", "broken JSON", status=200))
    desk = Desk(first, money=0.011)
    with pytest.raises(AllProvidersFailed, match="not called: it costs more than the session's remaining budget"):
        await desk.search()
    assert first.asked == 2, "a third round would have made 0.015"
    assert await desk.spent() == pytest.approx(0.010)
    with pytest.raises(BudgetExceeded, match="cost budget is used up"):
        await desk.search()
    await desk.aclose()


@virtually
async def test_fuse_pays_for_all_whom_it_asks() -> None:
    desk = Desk(Paid("a", 0.1), Paid("b", 0.2, price=0.008), strategy="fuse")
    assert await desk.search() == "a+b"
    assert await desk.spent() == pytest.approx(0.013)


def test_closing_waits_two_seconds_for_what_is_still_written() -> None:
    async def run(seconds: float) -> tuple[bool, float]:
        tasks, written = BackgroundTasks(), asyncio.Event()

        async def write() -> None:
            await asyncio.sleep(seconds)
            written.set()

        tasks.start(write())
        await tasks.aclose()
        return written.is_set(), asyncio.get_running_loop().time()

    assert run_virtually(run(1.9)) == (True, 1.9)
    assert run_virtually(run(2.1)) == (False, 2.0)


def test_what_need_not_end_is_canceled_then() -> None:
    async def run() -> tuple[bool, float]:
        tasks, ended = BackgroundTasks(), asyncio.Event()

        async def ask() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.set()

        tasks.start(ask())
        await tasks.aclose(cancel=True)
        return ended.is_set(), asyncio.get_running_loop().time()

    assert run_virtually(run()) == (True, 2.0)


async def test_a_cost_that_nothing_was_charged_for_is_added() -> None:
    late: list[int] = []

    async def reserve(amount: int) -> bool:
        return True

    ledger = CostLedger(reserve, late.append)
    ledger.add(0.004)
    assert ledger.close() == 0.004
    assert late == []
    ledger.add(0.002)
    assert late == [2_000], "after the end of the call it is passed on"


@pytest.mark.req("B5")
@virtually
async def test_a_search_that_its_daily_limit_forbids_costs_nothing() -> None:
    provider = Paid("first", 0.1)
    provider.daily_searches = 1
    desk = Desk(provider)
    assert await desk.search() == "first"
    with pytest.raises(AllProvidersFailed, match="searches per day are used up"):
        await desk.search()
    assert provider.asked == 1
    assert await desk.spent() == pytest.approx(0.005)
    await desk.aclose()
