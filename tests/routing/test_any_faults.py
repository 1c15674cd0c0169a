"""What holds whatever three providers do, on a virtual clock: drawn scripts of faults, latencies and empty answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.calls import CallingRouter
from components.examples import examples
from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    AuthenticationFailed,
    ProviderBlocked,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import NO_FILTERS, Filters, Query, SearchResponse, SearchResult, Strategy
from groundwire.providers import Capabilities
from world.virtual_time import run_virtually

DEADLINE, LATE = 10.0, 0.25  # seconds; how much later than the deadline a search may end
ATTEMPT = 6.0  # seconds that an attempt may take
NAMES = ("free", "paid", "dear")
CANARY = "wikipedia"

Kind = Literal[
    "rows",
    "nothing",
    "unproven",
    "429",
    "429 later",
    "quota",
    "auth",
    "403",
    "500",
    "reset",
    "malformed",
    "bug",
    "hang",
]
FAILURES: dict[Kind, Callable[[str], Exception]] = {
    "unproven": lambda name: UnprovenEmpty(name, "no results", status=200),
    "429": lambda name: RateLimited(name, "too many requests", status=429),
    "429 later": lambda name: RateLimited(name, "too many requests", status=429, retry_after=3.0),
    "quota": lambda name: QuotaExceeded(name, "used up", status=402),
    "auth": lambda name: AuthenticationFailed(name, "refused", status=401),
    "403": lambda name: ProviderBlocked(name, "forbidden", status=403),
    "500": lambda name: ProviderUnavailable(name, "failed", status=500),
    "reset": lambda name: ProviderUnreachable(name, "reset"),
    "malformed": lambda name: UnexpectedResponse(name, "malformed", status=200),
    "bug": lambda _: ZeroDivisionError("a provider of somebody else broke"),
}
SILENT = frozenset({"hang"})
CERTAIN = tuple(kind for kind in get_args(Kind) if kind not in {"rows", "nothing", "unproven", "hang"})

Step = tuple[Kind, float]


@dataclass
class Drawn:
    """A provider that follows a script, the last step for ever, and keeps what it said to which query."""

    capabilities = Capabilities(search=True)

    name: str
    script: Sequence[Step]
    canary: bool
    price_usd: float
    taken: int = 0
    said: list[tuple[str, Kind]] = field(default_factory=list)
    canaries: int = 0

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        if query == CANARY:
            self.canaries += self.canary
            return [_row(self.name)] if self.canary else []
        kind, seconds = self.script[min(self.taken, len(self.script) - 1)]
        self.taken += 1
        await asyncio.sleep(1e6 if kind in SILENT else seconds)
        self.said.append((query, kind))
        if kind in FAILURES:
            raise FAILURES[kind](self.name)
        return [_row(self.name)] if kind == "rows" else []


def _row(name: str) -> SearchResult:
    return SearchResult(title=name, url=f"https://{name}.example/")


# An answer at the very moment in which an attempt ends may count or not: such a tie proves nothing.
SECONDS = st.floats(0.0, 14.0).filter(lambda seconds: seconds != ATTEMPT)
STEPS = st.lists(st.tuples(st.sampled_from(get_args(Kind)), SECONDS), min_size=1, max_size=4)
PROVIDERS = st.tuples(*(st.tuples(STEPS, st.booleans()) for _ in NAMES))


def providers(drawn: Sequence[tuple[Sequence[Step], bool]]) -> list[Drawn]:
    return [
        Drawn(name, script, canary, price)
        for name, (script, canary), price in zip(NAMES, drawn, (0.0, 0.005, 0.008), strict=True)
    ]


async def _searches(made: Sequence[Drawn], strategy: Strategy, count: int) -> None:
    loop = asyncio.get_running_loop()
    chain = CallingRouter(made, strategy=strategy, attempt_timeout=ATTEMPT)
    try:
        for number in range(count):
            began = loop.time()
            answer, named = await _answer(chain, f"q{number}")
            assert answer is not None or strategy == "fuse" or named == set(NAMES), "a failure names each"
            ended = loop.time()
            assert ended <= began + DEADLINE + LATE, "nothing outlasts the deadline"
            # A call that lost may end during a later search, and says nothing about that one.
            said = [(one.name, kind) for one in made for query, kind in one.said if query == f"q{number}"]
            _judge(made, said, answer)
    finally:
        await chain.aclose()


async def _answer(chain: CallingRouter, words: str) -> tuple[SearchResponse | None, set[str]]:
    """Return what a search gave, or None and the names in its failure."""
    deadline = Deadline.after(DEADLINE, asyncio.get_running_loop().time)
    try:
        return await chain.ask(Query(text=words), deadline), set()
    except AllProvidersFailed as failure:
        return None, {attempt.provider for attempt in failure.attempts}


def _judge(made: Sequence[Drawn], said: Sequence[tuple[str, Kind]], answer: SearchResponse | None) -> None:
    winners = {name for name, kind in said if kind == "rows"}
    rows = answer is not None and bool(answer.results)
    assert rows == bool(winners), "an answer that came is not lost, and none is made up"
    if answer is None:
        return
    if rows:
        assert set(answer.provider.split("+")) <= winners
        assert answer.attempts
        return
    nothing = {name for name, kind in said if kind == "nothing"}
    shown = {one.name for one in made if one.canaries}
    doubtful = {name for name, kind in said if kind in {"nothing", "unproven"}}
    assert len(nothing) > 1 or doubtful & shown, "an empty answer is proven by a second index or by a canary"


@pytest.mark.req("B1", "H2", "C5")
@settings(max_examples=examples(200))
@given(drawn=PROVIDERS, strategy=st.sampled_from(get_args(Strategy)), count=st.integers(1, 3))
@example(
    drawn=(([("rows", 1.0)], False), ([("nothing", 0.0)], False), ([("rows", 0.0), ("nothing", 0.0)], False)),
    strategy="hedge",
    count=2,
)
def test_no_script_of_faults_loses_an_answer_or_outlasts_the_deadline_or_makes_up_an_empty_one(
    drawn: Sequence[tuple[Sequence[Step], bool]], strategy: Strategy, count: int
) -> None:
    run_virtually(_searches(providers(drawn), strategy, count))


@pytest.mark.req("H2", "B14", "H9")
@pytest.mark.parametrize("kind", [*CERTAIN, "hang"])
def test_the_second_answers_within_its_latency_and_the_hedge_delay(kind: Kind) -> None:
    async def moment() -> tuple[str, float]:
        loop = asyncio.get_running_loop()
        made = providers([([(kind, 0.05)], True), ([("rows", 0.4)], True), ([("rows", 0.4)], True)])
        chain = CallingRouter(made)
        answer = await chain.ask(Query(text="q"), Deadline.after(DEADLINE, loop.time))
        ended = loop.time()
        await chain.aclose()
        return answer.provider, ended

    provider, ended = run_virtually(moment())
    assert provider == "paid"
    assert ended == pytest.approx(0.8 + 0.4 if kind in SILENT else 0.05 + 0.4, abs=1e-6)


@pytest.mark.req("C5", "H9")
@pytest.mark.parametrize("kind", ["hang", "500", "429", "429 later", "reset", "malformed"])
def test_a_repaired_provider_is_back_after_one_probe(kind: Kind) -> None:
    """Ill for a minute, a search every second; once well, it is asked once in vain at most, then answers all."""

    async def answered_by() -> list[str]:
        loop = asyncio.get_running_loop()
        script: list[Step] = [(kind, 0.05)]
        first = Drawn(NAMES[0], script, canary=True, price_usd=0.0)
        others = providers([(script, True), ([("rows", 0.1)], True), ([("rows", 0.1)], True)])[1:]
        chain = CallingRouter([first, *others])
        for number in range(60):
            await chain.ask(Query(text=f"ill {number}"), Deadline.after(DEADLINE, loop.time))
            await asyncio.sleep(1.0)
        script[0] = ("rows", 0.1)  # repaired
        # The longest suspicion, 20 s and a fifth; it begins when the last call that hung has used up its time.
        await asyncio.sleep(24.0 + (10.0 if kind in SILENT else 0.0))
        await chain.ask(Query(text="probe"), Deadline.after(DEADLINE, loop.time))
        answers = [await _answer(chain, f"well {number}") for number in range(5)]
        await chain.aclose()
        return [answer.provider if answer else "nobody" for answer, _ in answers]

    assert run_virtually(answered_by()) == [NAMES[0]] * 5


@pytest.mark.req("H2", "B1")
def test_a_fused_search_that_may_ask_nobody_names_each_and_says_why() -> None:
    async def named() -> set[str]:
        made = providers([([("429 later", 0.05)], True)] * 3)
        chain = CallingRouter(made, strategy="fuse")
        await _answer(chain, "all say when they may be asked again")
        return (await _answer(chain, "before that"))[1]

    assert run_virtually(named()) == set(NAMES)


@pytest.mark.req("B1", "H2")
def test_a_provider_that_begins_to_refuse_by_empty_pages_proves_nothing_by_an_older_canary() -> None:
    async def told() -> list[SearchResponse | None]:
        only = Drawn(NAMES[0], [("unproven", 0.05)], canary=True, price_usd=0.0)
        chain = CallingRouter([only])
        before = (await _answer(chain, "words that no page has"))[0]
        only.canary = False  # from now on whatever it is asked gives an empty page
        return [before, (await _answer(chain, "words that many pages have"))[0]]

    before, after = run_virtually(told())
    assert before is not None, "the canary showed that it searches"
    assert not before.results
    assert after is None, "it refuses, and nobody has looked since it began to"
