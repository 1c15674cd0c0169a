"""The chain: order, outcomes, and when an empty answer is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

import pytest

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    UnprovenEmpty,
)
from groundwire.models import (
    NO_FILTERS,
    AttemptFinished,
    AttemptStarted,
    Event,
    Filters,
    Query,
    Results,
    SearchResponse,
    SearchResult,
)
from groundwire.providers import Capabilities, SearchProvider
from groundwire.routing.hedging import HedgePolicy
from groundwire.safety.urls import DomainPolicy
from world.virtual_time import run_virtually

ROW = SearchResult(title="A", url="https://a.example/x")


class Scripted:
    """A provider of somebody else: it does what a test says, for any query but the canary's."""

    def __init__(
        self,
        name: str,
        act: Callable[[], Awaitable[Sequence[SearchResult]]],
        *,
        canary: bool | None = None,
        domains: Literal["native", "operator", "none"] = "none",
    ) -> None:
        self.capabilities = Capabilities(search=True, domains=domains)
        self.name = name
        self._act = act
        self._canary = canary
        self.asked: list[str] = []

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        self.asked.append(query)
        if query == "wikipedia" and self._canary is not None:
            return [ROW] if self._canary else []
        return await self._act()


class Paid(Scripted):
    """The same, and it costs money."""

    price_usd = 0.005


def finds(*rows: SearchResult) -> Callable[[], Awaitable[Sequence[SearchResult]]]:
    async def act() -> Sequence[SearchResult]:
        return rows

    return act


def raises(error: Exception) -> Callable[[], Awaitable[Sequence[SearchResult]]]:
    async def act() -> Sequence[SearchResult]:
        raise error

    return act


def chain(*providers: SearchProvider, attempt_timeout: float = 5.0) -> CallingRouter:
    return CallingRouter(providers, attempt_timeout=attempt_timeout, strategy="fallback")


async def search(asked: CallingRouter, *, text: str = "q", seconds: float = 5.0, limit: int = 5) -> object:
    return await asked.ask(Query(text=text, limit=limit), Deadline.after(seconds))


@pytest.mark.req("H1", "H2")
async def test_providers_are_asked_in_order_and_the_first_results_win() -> None:
    first, second = Scripted("first", finds(ROW)), Scripted("second", finds(ROW))
    answer = await chain(first, second).ask(Query(text="q"), Deadline.after(60))
    assert answer.provider == "first"
    assert [attempt.outcome for attempt in answer.attempts] == ["ok"]
    assert second.asked == []


@pytest.mark.req("H2", "B1")
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RateLimited("first", "too many", status=429, retry_after=3), "rate_limited"),
        (QuotaExceeded("first", "used up", status=402), "quota"),
        (ProviderError("first", "broken", status=500), "unavailable"),
        (ZeroDivisionError("a bug"), "invalid_response"),
        (RuntimeError("a bug with canary-key in it"), "invalid_response"),
    ],
)
async def test_every_failure_leads_to_the_next_provider(error: Exception, outcome: str) -> None:
    answer = await chain(Scripted("first", raises(error)), Scripted("second", finds(ROW))).ask(
        Query(text="q"), Deadline.after(60)
    )
    assert answer.provider == "second"
    assert [attempt.outcome for attempt in answer.attempts] == [outcome, "ok"]
    assert answer.attempts[0].status == getattr(error, "status", None)
    assert answer.attempts[0].retry_after == getattr(error, "retry_after", None)
    assert "canary-key" not in answer.attempts[0].reason


@pytest.mark.req("H2")
async def test_when_all_fail_every_cause_is_named() -> None:
    failing = chain(
        Scripted("first", raises(RateLimited("first", "too many requests", status=429))),
        Scripted("second", raises(ValueError("x"))),
    )
    with pytest.raises(AllProvidersFailed) as caught:
        await search(failing)
    assert str(caught.value).startswith("Web search unavailable. Errors: first rate_limited, HTTP 429 after ")
    assert str(caught.value).count("second invalid_response") == 1
    assert str(caught.value).count("(3 times)") == 2
    assert [attempt.provider for attempt in caught.value.attempts] == ["first", "second"] * 3, "three rounds"


def test_a_provider_that_ignores_its_deadline_is_left_behind() -> None:
    async def hang() -> Sequence[SearchResult]:
        await asyncio.sleep(1_000)
        return []

    async def main() -> SearchResponse:
        asked = chain(Scripted("deaf", hang), Scripted("second", finds(ROW)), attempt_timeout=0.05)
        return await asked.ask(Query(text="q"), Deadline.after(60, asyncio.get_running_loop().time))

    answer = run_virtually(main())
    assert [attempt.outcome for attempt in answer.attempts] == ["timeout", "ok"]


async def test_who_was_not_asked_for_want_of_time_is_said() -> None:
    never = asyncio.Event()

    async def hang() -> Sequence[SearchResult]:
        await never.wait()
        return []

    with pytest.raises(AllProvidersFailed) as caught:
        await search(chain(Scripted("deaf", hang), Scripted("second", finds(ROW))), seconds=0.05)
    assert [attempt.reason for attempt in caught.value.attempts] == [
        "no answer in time",
        "not called: no time was left",
    ]


async def test_cancelling_goes_through() -> None:
    started = asyncio.Event()

    async def hang() -> Sequence[SearchResult]:
        started.set()
        await asyncio.Event().wait()
        return []

    task = asyncio.create_task(chain(Scripted("slow", hang)).ask(Query(text="q"), Deadline.after(60)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class TestEmpty:
    """Row B1: `empty` is said only when something shows that searching works."""

    @pytest.mark.req("B1", "B29")
    async def test_two_providers_that_had_rows_lately_and_agree_are_believed(self) -> None:
        def rows_once(name: str) -> Scripted:
            acts = iter((finds(ROW), finds()))
            return Scripted(name, lambda: next(acts, finds())())

        first, second = rows_once("first"), rows_once("second")
        asked = chain(first, second)
        assert (await asked.ask(Query(text="p"), Deadline.after(60))).provider == "first"
        alone = asked.restricted([second])
        assert isinstance(alone, CallingRouter)
        assert (await alone.ask(Query(text="p"), Deadline.after(60))).provider == "second"
        answer = await asked.ask(Query(text="q"), Deadline.after(60))
        assert answer.results == ()
        assert [attempt.outcome for attempt in answer.attempts] == ["empty", "empty"]
        assert first.asked == ["p", "q"]

    @pytest.mark.req("B1", "B29")
    async def test_two_that_never_had_rows_prove_nothing(self) -> None:
        asked = chain(Scripted("first", finds(), canary=False), Scripted("second", finds(), canary=False))
        with pytest.raises(AllProvidersFailed, match="unproven"):
            await search(asked, seconds=3.0)

    @pytest.mark.req("B1", "B29")
    async def test_two_empty_answers_do_not_keep_the_third_from_being_asked(self) -> None:
        first, second, third = Scripted("first", finds()), Scripted("second", finds()), Scripted("third", finds(ROW))
        answer = await chain(first, second, third).ask(Query(text="q"), Deadline.after(60))
        assert answer.provider == "third"

    @pytest.mark.req("B1", "B29")
    async def test_rows_without_an_address_are_no_empty_answer(self) -> None:
        nameless = replace(ROW, url="about:blank")
        with pytest.raises(AllProvidersFailed, match="without URLs"):
            await search(chain(Scripted("only", finds(nameless), canary=True)))

    @pytest.mark.req("B1")
    async def test_one_provider_is_believed_when_its_canary_sings(self) -> None:
        asked = Scripted("only", finds(), canary=True)
        chained = chain(asked)
        for _ in range(2):
            answer = await chained.ask(Query(text="q"), Deadline.after(60))
            assert answer.results == ()
        assert asked.asked == ["q", "wikipedia", "q"] * 2, "a canary of before says nothing about now"

    @pytest.mark.req("B1")
    async def test_one_provider_is_not_believed_when_its_canary_is_silent(self) -> None:
        with pytest.raises(AllProvidersFailed, match="unproven"):
            await search(chain(Scripted("only", finds(), canary=False)))

    @pytest.mark.req("B1")
    async def test_no_results_of_a_scraper_prove_nothing(self) -> None:
        quiet = raises(UnprovenEmpty("ddg", "no results (unproven)"))
        with pytest.raises(AllProvidersFailed, match="unproven"):
            await search(chain(Scripted("ddg", quiet, canary=False)))
        answer = await chain(Scripted("ddg", quiet, canary=True)).ask(Query(text="q"), Deadline.after(60))
        assert answer.attempts[0].outcome == "empty"

    @pytest.mark.req("B1")
    async def test_a_provider_that_lied_once_finds_something_after_all(self) -> None:
        acts = iter((finds(), finds(ROW)))
        answer = await chain(Scripted("only", lambda: next(acts)(), canary=True)).ask(
            Query(text="q"), Deadline.after(60)
        )
        assert [row.url for row in answer.results] == [ROW.url]
        assert [attempt.outcome for attempt in answer.attempts] == ["unavailable", "ok", "ok"]

    @pytest.mark.req("B1")
    async def test_a_provider_that_fails_after_its_canary_proves_nothing(self) -> None:
        acts = iter((finds(), raises(RateLimited("only", "too many requests", status=429))))
        with pytest.raises(AllProvidersFailed, match="rate_limited"):
            await search(chain(Scripted("only", lambda: next(acts)(), canary=True)))

    async def test_results_of_the_next_provider_come_before_any_proof(self) -> None:
        first = Scripted("first", finds(), canary=True)
        answer = await chain(first, Scripted("second", finds(ROW))).ask(Query(text="q"), Deadline.after(60))
        assert answer.provider == "second"
        assert first.asked == ["q"]

    async def test_a_failure_beside_a_proven_empty_answer_is_mentioned(self) -> None:
        limited = Scripted("first", raises(RateLimited("first", "too many requests", status=429)))
        answer = await chain(limited, Scripted("second", finds(), canary=True)).ask(Query(text="q"), Deadline.after(3))
        assert [attempt.outcome for attempt in answer.attempts if attempt.provider == "second"] == [
            "empty",
            "ok",
            "empty",
        ]
        assert "control query" in answer.attempts[-2].reason
        assert "first rate_limited" in answer.warnings[0]

    @pytest.mark.req("B1", "B29")
    @pytest.mark.parametrize("known", [True, False])
    async def test_where_no_control_query_can_be_paid_the_record_decides(self, known: bool) -> None:
        broken = Scripted("first", raises(ProviderError("first", "broken", status=500)))
        acts = iter((finds(ROW), finds())) if known else iter((finds(),))
        paid = Paid("second", lambda: next(acts)())
        asked = CallingRouter((broken, paid), strategy="fallback", hedging=HedgePolicy(extra_paid=0.0))
        if known:
            await search(asked)
            answer = await asked.ask(Query(text="q"), Deadline.after(60))
            assert answer.results == ()
            assert [one.outcome for one in answer.attempts if one.provider == "second"] == ["empty"]
        else:
            with pytest.raises(AllProvidersFailed, match="unproven"):
                await search(asked)

    @pytest.mark.req("B1", "B29")
    def test_whose_nothing_others_contradict_is_believed_only_with_another_one(self) -> None:
        async def run(others: Callable[[], Awaitable[Sequence[SearchResult]]]) -> SearchResponse:
            acts = iter((finds(ROW), others, others, others))
            first = Scripted("first", finds(), canary=True)
            asked = chain(first, Scripted("second", lambda: next(acts)(), canary=True))
            await search(asked)
            return await asked.ask(Query(text="q"), Deadline.after(60))

        assert run_virtually(run(finds())).results == ()
        with pytest.raises(AllProvidersFailed, match="unproven"):
            run_virtually(run(raises(ProviderError("second", "broken", status=500))))

    @pytest.mark.req("B1", "B29")
    @pytest.mark.parametrize(("contradicted", "believed"), [(0, True), (20, False)])
    def test_unproven_empties_of_a_provider_that_others_contradict_are_not_believed(
        self, contradicted: int, believed: bool
    ) -> None:
        async def run() -> SearchResponse:
            quiet = raises(UnprovenEmpty("first", "no results (unproven)"))
            first = Scripted("first", quiet, canary=True)
            acts = iter([finds(ROW)] * contradicted)
            down = raises(UnprovenEmpty("second", "no results (unproven)"))
            asked = chain(first, Scripted("second", lambda: next(acts, down)(), canary=False))
            for number in range(contradicted):
                await search(asked, text=str(number))
                await asyncio.sleep(60.0)
            return await asked.ask(Query(text="q"), Deadline.after(60))

        if believed:
            assert run_virtually(run()).results == ()
        else:
            with pytest.raises(AllProvidersFailed, match="unproven"):
                run_virtually(run())


@pytest.mark.req("B29")
def test_a_rest_is_shown_until_its_probe_is_answered() -> None:
    async def run() -> None:
        acts = iter((finds(ROW), raises(RateLimited("only", "slow down", status=429, retry_after=30.0)), finds(ROW)))
        asked = chain(Scripted("only", lambda: next(acts)()))
        await search(asked)
        with pytest.raises(AllProvidersFailed):
            await search(asked, seconds=0.4)
        (resting,) = asked.provider_health()
        assert (resting.state, 0 < resting.seconds <= 30.0, resting.reason) == ("cooldown", True, "slow down")
        await asyncio.sleep(31)
        (due,) = asked.provider_health()
        assert (due.state, due.seconds, due.reason) == ("degraded", 0.0, "slow down")
        await search(asked)
        assert asked.provider_health()[0].state == "healthy"

    run_virtually(run())


@pytest.mark.req("B14")
def test_a_fused_search_does_not_wait_long_for_the_last_one() -> None:
    async def hang() -> Sequence[SearchResult]:
        await asyncio.Event().wait()
        return []

    async def answered() -> tuple[float, SearchResponse]:
        loop = asyncio.get_running_loop()
        fused = CallingRouter(
            [Scripted("quick", finds(ROW)), Scripted("deaf", hang)],
            attempt_timeout=6.0,
            strategy="fuse",
            hedging=HedgePolicy(fuse_max_wait=1.5),
        )
        began = loop.time()
        answer = await fused.ask(Query(text="q"), Deadline(began + 10, loop.time))
        return loop.time() - began, answer

    seconds, answer = run_virtually(answered())
    assert 1.4 < seconds < 1.6
    assert answer.provider == "quick"
    assert [(one.provider, one.outcome, one.abandoned) for one in answer.attempts] == [
        ("quick", "ok", False),
        ("deaf", "timeout", True),
    ]


class TestRows:
    @pytest.mark.req("Y10", "B4")
    async def test_an_off_domain_row_is_never_returned(self) -> None:
        rows = [
            SearchResult(title=url, url=url)
            for url in (
                "https://en.wikipedia.org/wiki/X",
                "https://wikipedia.org.evil.example/",
                "https://notwikipedia.org/",
                "https://wikipedia.org/",
            )
        ]
        answer = await chain(Scripted("any", finds(*rows))).ask(
            Query(text="q", allowed_domains=("wikipedia.org",)), Deadline.after(60)
        )
        assert [row.url for row in answer.results] == ["https://en.wikipedia.org/wiki/X", "https://wikipedia.org/"]

    @pytest.mark.req("Y10")
    async def test_the_operators_lists_hold_for_results(self) -> None:
        policy = DomainPolicy(blocked=("bad.example",))
        rows = [SearchResult(title="x", url=url) for url in ("https://sub.bad.example/", "https://good.example/")]
        answer = await CallingRouter([Scripted("any", finds(*rows))], policy=policy).ask(
            Query(text="q"), Deadline.after(60)
        )
        assert [row.url for row in answer.results] == ["https://good.example/"]

    @pytest.mark.req("B1", "B4")
    async def test_off_domain_rows_prove_an_empty_answer_if_the_service_knew_the_domains(self) -> None:
        query = Query(text="q", allowed_domains=("wikipedia.org",))
        answer = await chain(Scripted("any", finds(ROW), domains="native")).ask(query, Deadline.after(60))
        assert answer.results == ()
        assert answer.attempts[0].outcome == "empty"
        assert "none of them on an allowed domain" in answer.attempts[0].reason
        with pytest.raises(AllProvidersFailed, match=r"does not support allowed_domains \(unproven\)"):
            await chain(Scripted("any", finds(ROW), canary=True)).ask(query, Deadline.after(60))

    async def test_the_limit_holds_even_if_a_provider_gives_more(self) -> None:
        rows = [SearchResult(title="x", url=f"https://a.example/{number}") for number in range(9)]
        answer = await chain(Scripted("any", finds(*rows))).ask(Query(text="q", limit=3), Deadline.after(60))
        assert len(answer.results) == 3

    async def test_partial_results_are_results_and_say_so(self) -> None:
        async def act() -> Sequence[SearchResult]:
            return Results((ROW,), partial=True, warnings=("half of it failed",))

        answer = await chain(Scripted("any", act)).ask(Query(text="q"), Deadline.after(60))
        assert answer.attempts[0].outcome == "partial"
        assert answer.warnings == ("half of it failed",)


async def test_an_observer_is_told_each_step() -> None:
    events: list[Event] = []
    told = CallingRouter(
        [Scripted("first", raises(RateLimited("first", "no"))), Scripted("second", finds(ROW))],
        attempt_listener=events.append,
    )
    await told.ask(Query(text="q"), Deadline.after(60))
    steps = [event.provider if isinstance(event, AttemptStarted) else event.attempt.outcome for event in events]
    assert steps == ["first", "rate_limited", "second", "ok"]
    assert isinstance(events[1], AttemptFinished)
