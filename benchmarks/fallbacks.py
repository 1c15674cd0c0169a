"""Other fallback implementations, on the virtual clock of `routing.py`.

Nothing of ours is used but that clock: with the name of a library this is run by the Python that has it.

    python fallbacks.py langchain "30 % on the first" 1 600
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fates import NAMES, PAID, SCENARIOS, TRICKLE, UNSEEN, Fate, Fates
from scores import Score

TIMEOUTS = (15.0, 10.0, 10.0)  # seconds for each read, of document 001
BREAKER_FAILURES, BREAKER_OPEN, BREAKER_TRY = 5, 30.0, 5.0  # in a row, seconds, and seconds for a request
DEADLINE = 10.0  # seconds, of the contenders that have one

LIBRARIES = {"LangChain with_fallbacks": "langchain", "LiteLLM Router fallbacks": "litellm"}


class Failed(Exception):
    """A provider did not answer with rows."""


@dataclass
class Scripted:
    """A provider whose outcome is drawn per query and attempt, the same for every contender."""

    place: int
    fates: Fates
    requests: list[float]
    tries: dict[int, int] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    billed: int = 0

    async def fate(self, query: int) -> Fate:
        """Return the outcome of a request sent now, after its duration, except for a hang."""
        now = asyncio.get_running_loop().time()
        self.requests.append(now)
        attempt = self.tries[query] = self.tries.get(query, -1) + 1
        fate = self.fates.of(self.place, query, attempt, now, self.state)
        self.billed += fate.kind == "ok" and PAID[self.place]  # it answers, awaited or not
        await asyncio.sleep(TRICKLE if fate.kind == "trickle" else fate.seconds)
        return fate

    async def ask(self, query: int, timeout: float) -> str:
        """Return the provider's name if it has rows; a trickle never lets a read time out."""
        async with asyncio.timeout(timeout) as limit:
            fate = self.fates.of(self.place, query, self.tries.get(query, -1) + 1, 0.0, dict(self.state))
            if fate.kind == "trickle":
                limit.reschedule(None)
            fate = await self.fate(query)
        if fate.kind not in {"ok", "trickle"}:
            raise Failed(f"{NAMES[self.place]}: {fate.kind}")
        return NAMES[self.place]


Search = Callable[[int], Awaitable[str]]


def chain(providers: list[Scripted]) -> Search:
    """Call one provider after another: 15, 10 and 10 seconds per read, no retry."""

    async def search(query: int) -> str:
        for provider, seconds in zip(providers, TIMEOUTS, strict=True):
            try:
                return await provider.ask(query, seconds)
            except (Failed, TimeoutError):
                continue
        raise Failed

    return search


def breaker(providers: list[Scripted]) -> Search:
    """The textbook circuit breaker: open after five failures in a row, half open after thirty seconds."""
    failures = [0] * len(providers)
    opened = [-BREAKER_OPEN] * len(providers)
    trying = [False] * len(providers)

    async def search(query: int) -> str:
        loop = asyncio.get_running_loop()
        until = loop.time() + DEADLINE
        for place, provider in enumerate(providers):
            is_open = failures[place] >= BREAKER_FAILURES
            if is_open and (loop.time() < opened[place] + BREAKER_OPEN or trying[place]):
                continue
            trying[place] = is_open
            try:
                found = await provider.ask(query, min(BREAKER_TRY, until - loop.time()))
            except (Failed, TimeoutError):
                failures[place] += 1
                opened[place] = loop.time()
            else:
                failures[place] = 0
                return found
            finally:
                trying[place] = False
        raise Failed

    return search


def race(providers: list[Scripted]) -> Search:
    """Call all at once; the first results win."""

    async def search(query: int) -> str:
        running = {asyncio.ensure_future(provider.ask(query, DEADLINE)) for provider in providers}
        try:
            while running:
                ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    if task.exception() is None:
                        return task.result()
        finally:
            for task in running:
                task.cancel()
        raise Failed

    return search


def langchain(providers: list[Scripted]) -> Search:
    """The same requests as Runnables, joined by `with_fallbacks`; each with the timeouts of the chain."""
    from langchain_core.runnables import RunnableLambda

    def runnable(place: int) -> Any:
        async def search(query: int) -> str:
            return await providers[place].ask(query, TIMEOUTS[place])

        return RunnableLambda(search)

    first, *others = map(runnable, range(len(providers)))
    joined = first.with_fallbacks(others)

    async def search(query: int) -> str:
        return str(await joined.ainvoke(query))

    return search


def litellm(providers: list[Scripted]) -> Search:
    """The same requests as search tools of LiteLLM's `Router` with its defaults; the first falls back to the others."""
    from litellm import Router

    tools = [{"search_tool_name": name, "litellm_params": {"search_provider": name}} for name in NAMES]
    router = Router(search_tools=tools, fallbacks=[{NAMES[0]: list(NAMES[1:])}])

    async def once(search_provider: str, query: str, **_: Any) -> str:
        place = NAMES.index(search_provider)
        return await providers[place].ask(int(query), TIMEOUTS[place])

    asearch = router.factory_function(once, call_type="asearch")  # as the Router makes its own from litellm.asearch

    async def search(query: int) -> str:
        return str(await asearch(query=str(query), search_tool_name=NAMES[0]))

    return search


CONTENDERS = {"chain of document 001": chain, "circuit breaker": breaker, "race of all": race}


async def run(make: Callable[[list[Scripted]], Search], fates: Fates, queries: int) -> Score:
    """Run all queries with one contender."""
    requests: list[float] = []
    made = [Scripted(place, fates, requests) for place in range(len(NAMES))]
    return await score_of(make(made), made, fates, queries)


async def score_of(search: Search, made: list[Scripted], fates: Fates, queries: int) -> Score:
    """Run all queries when they are due, and count."""
    loop, score = asyncio.get_running_loop(), Score()

    async def one(number: int, at: float) -> None:
        await asyncio.sleep(at)
        began, found = loop.time(), ""
        try:
            found = await search(number)
        except Exception as error:  # noqa: BLE001  # whatever it is, the query was not answered
            score.empties += "nothing found" in str(error)
        score.answered += bool(found)
        score.spans.append((began, loop.time()))

    await asyncio.gather(*(one(number, at) for number, at in enumerate(fates.arrivals(queries))))
    score.requests = sorted(made[0].requests)
    score.billed = sum(provider.billed for provider in made)
    return score


def main() -> None:
    """Run a library's contender for each of the scenarios on standard input, and print its scores as JSON."""
    path = Path(__file__).parents[1] / "tests/world/virtual_time.py"
    spec = importlib.util.spec_from_file_location("virtual_time", path)
    assert spec is not None
    assert spec.loader is not None
    virtual = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(virtual)
    make = {"langchain": langchain, "litellm": litellm}[sys.argv[1]]
    scores = []
    for title, seed, queries in json.load(sys.stdin):
        fates = Fates((SCENARIOS | UNSEEN)[title], seed)
        began = time.perf_counter()
        scores.append(dataclasses.asdict(virtual.run_virtually(run(make, fates, queries))))
        print(f"{title} ({seed}): {time.perf_counter() - began:.1f} s", file=sys.stderr)
    print(json.dumps(scores))


if __name__ == "__main__":
    main()
