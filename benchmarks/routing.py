"""What the strategies buy: success, latency and extra paid calls, beside haytham's chain in the same run.

Without `--sockets` the code is the real `Router`; the providers are scripted and the clock is virtual, so that hours
pass in seconds. With it the whole `Web` asks the miniature web's services over HTTP, beside haytham's chain
and LangChain's `with_fallbacks` over the same three, with time running at `--scale`. Every contender meets the same
fate for the same query. Latencies are lognormal (median 0.4 s, 99th percentile 2.5 s). A provider with faults of share
f fails so: 30 % HTTP 429, 10 % 202, 5 % 403, 15 % 500, 20 % hang, 5 % malformed, 10 % no results, 5 % trickle (30 s),
5 % reset. Queries come twice a second. `extra` are paid calls that were answered beyond those that an all-knowing
sequential chain needs, per 100 queries; the ten tokens with which a hedge's bucket begins are among them, so that a
short run shows more. `limit` is the earliest answer of any provider.

    python benchmarks/routing.py [--queries 3000] [--seed 1] [--only "30 %"] [--svg routing.svg]
    python benchmarks/routing.py --sockets [--queries 1000] [--scale 0.1]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import routing_sockets
from fates import HANG, NAMES, PAID, RATE, SCENARIOS, Fates, Scenario
from scores import SEQUENTIAL, Score, picture, table, verdicts

from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    ProviderBlocked,
    ProviderError,
    ProviderUnavailable,
    ProviderUnreachable,
    RateLimited,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import NO_FILTERS, Filters, Query, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing import Router, SearchCall
from groundwire.routing.budget import Reservation
from groundwire.routing.cost_ledger import CostLedger
from groundwire.routing.hedging_policy import Strategy
from groundwire.testing.virtual_time import run_virtually

PRICE = 0.005
CANARY = -1  # the number of the query that shows whether a provider searches at all
TIMEOUTS = (15.0, 10.0, 10.0)  # seconds, of haytham

ERRORS: dict[str, Callable[[str], ProviderError]] = {
    "429": lambda name: RateLimited(name, "too many requests", status=429),
    "202": lambda name: RateLimited(name, "too many requests", status=202),
    "403": lambda name: ProviderBlocked(name, "forbidden", status=403),
    "500": lambda name: ProviderUnavailable(name, "failed", status=500),
    "malformed": lambda name: UnexpectedResponse(name, "malformed", status=200),
    "empty": lambda name: UnprovenEmpty(name, "no results", status=200),
    "reset": lambda name: ProviderUnreachable(name, "reset"),
}


@dataclass
class Scripted:
    """A provider whose fate is drawn for each query and attempt, alike for every contender."""

    place: int
    fates: Fates
    tries: dict[str, int] = field(default_factory=dict)
    billed: int = 0

    @property
    def name(self) -> str:
        return NAMES[self.place]

    @property
    def price_usd(self) -> float:
        return PRICE if PAID[self.place] else 0.0

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(search=True)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        number = int(query) if query.isdigit() else CANARY
        attempt = self.tries[query] = self.tries.get(query, -1) + 1
        kind, seconds = self.fates.of(self.place, number, attempt)
        if kind == "ok":
            self.billed += PAID[self.place]  # it answers, awaited or not
        await asyncio.sleep(HANG if kind == "trickle" else seconds)
        if kind != "ok":
            raise ERRORS[kind](self.name)
        return [SearchResult(title="x", url="https://a.example/")]


async def as_document_h(providers: Sequence[Scripted], query: int) -> tuple[str, bool]:
    """The chain of haytham: in order, 15, 10 and 10 seconds for each read, so that a trickle takes its time.

    Returns:
        Who answered, if anybody did, and whether a 403 was met.
    """
    forbidden = False
    for provider, seconds in zip(providers, TIMEOUTS, strict=True):
        kind, took = provider.fates.of(provider.place, query, 0)
        if kind == "ok":
            provider.billed += PAID[provider.place]
        forbidden |= kind == "403"
        await asyncio.sleep(min(took, seconds) if kind == "hang" else took)
        if kind in {"ok", "trickle"}:
            return provider.name, False
    return "", forbidden


async def granted(amount: int) -> bool:
    """Let every request be paid."""
    return True


async def run(strategy: Strategy | None, fates: Fates, queries: int) -> Score:
    """Let one contender answer all queries; None is haytham's chain."""
    loop, score = asyncio.get_running_loop(), Score()
    made = [Scripted(place, fates) for place in range(len(NAMES))]
    chain = Router(made)

    async def one(number: int) -> None:
        await asyncio.sleep(number / RATE)
        began, answered_by, forbidden = loop.time(), "", False
        if strategy is None:
            answered_by, forbidden = await as_document_h(made, number)
        else:
            try:
                answer = await chain.search(
                    SearchCall(
                        query=Query(text=str(number)),
                        deadline=Deadline.after(10.0, loop.time),
                        strategy=strategy,
                        tenant="",
                        session="benchmark",
                        reservation=Reservation(1),
                        ledger=CostLedger(granted, lambda amount: None),
                    )
                )
                answered_by = answer.provider if answer.results else ""
                score.empties += not answer.results
            except AllProvidersFailed as error:
                forbidden = "403" in str(error) or "forbidden" in str(error)
        score.answered += bool(answered_by)
        score.fallbacks += bool(answered_by) and NAMES[0] not in answered_by.split("+")
        score.forbidden += forbidden
        score.seconds.append(loop.time() - began)

    await asyncio.gather(*(one(number) for number in range(queries)))
    await chain.aclose()
    score.billed = sum(provider.billed for provider in made)
    return score


def virtually(scenario: Scenario, queries: int, seed: int) -> dict[str, Score]:
    """Run every contender on a virtual clock."""
    contenders: dict[str, Strategy | None] = {
        SEQUENTIAL: None,
        "groundwire fallback": "fallback",
        "groundwire hedge": "hedge",
        "groundwire fuse": "fuse",
    }
    scores = {}
    for name, strategy in contenders.items():
        print(f"{name} ...", end="\r", file=sys.stderr)
        scores[name] = run_virtually(run(strategy, Fates(scenario, seed), queries))
    return scores


def main() -> None:
    """Run the scenarios and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, help="by default 3,000, with sockets 1,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sockets", action="store_true", help="the whole Web over HTTP, beside LangChain too")
    parser.add_argument("--scale", type=float, default=0.1, help="with sockets: how long a second takes, in seconds")
    parser.add_argument("--only", default="", help="only scenarios with this in their titles")
    parser.add_argument("--svg", type=Path, help="a file for the picture")
    options = parser.parse_args()
    queries = options.queries or (1_000 if options.sockets else 3_000)
    every: dict[str, dict[str, Score]] = {}
    for title, scenario in SCENARIOS.items():
        if options.only not in title:
            continue
        fates = Fates(scenario, options.seed)
        limit = statistics.quantiles([fates.earliest(number) for number in range(queries)], n=100)[98]
        print(f"\n{title}: {queries} queries, the limit's 99th percentile is {limit:.2f} s\n", flush=True)
        if options.sockets:
            scores = routing_sockets.run(fates, queries, options.scale)
        else:
            scores = virtually(scenario, queries, options.seed)
        for score in scores.values():
            score.needed = sum(fates.needs_paid(number) for number in range(queries))
        every[title] = scores
        print(table(scores))
        if text := verdicts(title, scores):
            print(f"\n{text}", flush=True)
    if options.svg:
        options.svg.write_text(picture(every), encoding="utf-8")


if __name__ == "__main__":
    main()
