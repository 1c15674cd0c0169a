"""The strategies under faults, beside a plain chain, a circuit breaker, a race, LangChain and LiteLLM.

Without `--sockets` the code is the real `Router`; the providers are scripted and the clock is virtual, so that hours
pass in seconds. With it the whole `Web` asks the miniature web's services over HTTP, beside the same others,
with time running at `--scale`. Every contender meets the same fate for the same query. `extra paid` are
paid calls that were answered beyond those that an all-knowing sequential chain needs, per 100 queries. `wrong nothing
found` are queries of which the caller was told that there is nothing; in all scenarios there always is. `peak requests`
are the requests in the worst second for each query that was under way in it.

    python benchmarks/routing.py [--queries 600] [--seeds 1 2 3 4 5] [--only "30 %"] [--unseen] [--peers] [--svg FILE]
    python benchmarks/routing.py --sockets [--queries 1000] [--scale 0.1]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import fallbacks
import peers
import routing_sockets
from fates import NAMES, PAID, SCENARIOS, SOCKETS, UNSEEN, Fates, Scenario
from scores import Score, joined, picture, table, verdicts

from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    AuthenticationFailed,
    ProviderBlocked,
    ProviderError,
    ProviderUnavailable,
    ProviderUnreachable,
    RateLimited,
    UnexpectedResponse,
    UnprovenEmpty,
)
from groundwire.models import NO_FILTERS, Filters, Query, SearchResult, Strategy
from groundwire.providers import Capabilities
from groundwire.routing import Router, SearchCall
from groundwire.routing.budget import Limits, Reservation, SessionBudget
from groundwire.routing.cost_ledger import CostLedger
from groundwire.storage.memory import MemoryStore
from world.virtual_time import run_virtually

PRICE = 0.005
CANARY = -1  # the number of the query that shows whether a provider searches at all

ERRORS: dict[str, Callable[[str, float | None], ProviderError]] = {
    "429": lambda name, after: RateLimited(name, "too many requests", status=429, retry_after=after),
    "202": lambda name, after: RateLimited(name, "too many requests", status=202, retry_after=after),
    "401": lambda name, _: AuthenticationFailed(name, "the key is not accepted", status=401),
    "403": lambda name, _: ProviderBlocked(name, "forbidden", status=403),
    "403 json": lambda name, _: ProviderBlocked(name, "forbidden", status=403),  # as `raise_for_status` reads it
    "500": lambda name, _: ProviderUnavailable(name, "failed", status=500),
    "malformed": lambda name, _: UnexpectedResponse(name, "malformed", status=200),
    "no address": lambda name, _: UnexpectedResponse(name, "answered with results without URLs", status=200),
    "unproven": lambda name, _: UnprovenEmpty(name, "no results", status=200),
    "reset": lambda name, _: ProviderUnreachable(name, "reset"),
}


class Provider(fallbacks.Scripted):
    """The same scripted provider in the form that the router asks."""

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
        fate = await self.fate(int(query) if query.isdigit() else CANARY)
        if fate.kind == "empty":
            return ()
        if fate.kind not in {"ok", "trickle"}:
            raise ERRORS[fate.kind](self.name, fate.retry_after)
        return [SearchResult(title="x", url="https://a.example/")]


async def granted(amount: int) -> bool:
    """Allow every paid request."""
    return True


async def run(strategy: Strategy, fates: Fates, queries: int) -> Score:
    """Run all queries with one of Groundwire's strategies."""
    loop = asyncio.get_running_loop()
    random.seed(fates.seed)  # pauses are drawn, too
    requests: list[float] = []
    made = [Provider(place, fates, requests) for place in range(len(NAMES))]
    router = Router(made)
    budget = SessionBudget(MemoryStore(), "benchmark", Limits())

    async def search(query: int) -> str:
        call = SearchCall(
            query=Query(text=str(query)),
            deadline=Deadline.after(fallbacks.DEADLINE, loop.time),
            strategy=strategy,
            budget=budget,
            reservation=Reservation(1),
            ledger=CostLedger(granted, lambda amount: None),
        )
        try:
            answer = await router.search(call)
        except AllProvidersFailed as error:
            raise fallbacks.Failed from error
        if not answer.results:
            raise fallbacks.Failed("nothing found")
        return answer.provider

    score = await fallbacks.score_of(search, made, fates, queries)
    await router.aclose()
    return score


def virtually(fates: Fates, queries: int, strategies: Sequence[Strategy]) -> dict[str, Score]:
    """Run every contender on a virtual clock."""
    scores = {name: run_virtually(fallbacks.run(make, fates, queries)) for name, make in fallbacks.CONTENDERS.items()}
    for strategy in strategies:
        scores[f"groundwire {strategy}"] = run_virtually(run(strategy, fates, queries))
    return scores


def of_libraries(cases: list[tuple[str, int, int]]) -> dict[str, list[Score]]:
    """Run the libraries' contenders on the same clock, in the environment that has them."""
    python, scores = peers.install_fallbacks(), {}
    env = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # it asks the web for prices otherwise
    for name, library in fallbacks.LIBRARIES.items():
        command = [str(python), str(Path(fallbacks.__file__)), library]
        done = subprocess.run(command, input=json.dumps(cases), stdout=subprocess.PIPE, text=True, check=True, env=env)
        scores[name] = [Score(**one) for one in json.loads(done.stdout.splitlines()[-1])]
    return scores


def main() -> None:
    """Run the scenarios and print a table for each, and at the end what misses its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, help="for each seed; by default 600, with sockets 1,000")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--strategies", nargs="+", default=["hedge"], choices=get_args(Strategy), help="of ours")
    parser.add_argument("--sockets", action="store_true", help="the whole Web over HTTP, in four scenarios")
    parser.add_argument("--scale", type=float, default=0.1, help="with sockets: how long a second takes, in seconds")
    parser.add_argument("--only", default="", help="only scenarios with this in their titles")
    parser.add_argument("--unseen", action="store_true", help="the scenarios that the policy was not developed with")
    parser.add_argument("--peers", action="store_true", help="LangChain and LiteLLM on the virtual clock, too")
    parser.add_argument("--svg", type=Path, help="a file for the picture")
    options = parser.parse_args()
    queries = options.queries or (1_000 if options.sockets else 600)
    chosen: dict[str, Scenario] = UNSEEN if options.unseen else SCENARIOS
    titles = [title for title in (SOCKETS if options.sockets else chosen) if options.only in title]
    seeds = options.seeds[:1] if options.sockets else options.seeds
    cases = [(title, seed, queries) for title in titles for seed in seeds]
    others = of_libraries(cases) if options.peers and not options.sockets else {}
    pictured: dict[str, dict[str, Score]] = {}
    missed: list[str] = []
    for title in titles:
        every: dict[str, list[Score]] = {}
        limits = []
        for seed in seeds:
            fates = Fates(chosen[title], seed)
            scores = (
                routing_sockets.run(fates, queries, options.scale)
                if options.sockets
                else virtually(fates, queries, options.strategies)
            )
            scores |= {name: rows[cases.index((title, seed, queries))] for name, rows in others.items()}
            needed, limit = fates.needed(queries)
            limits.append(limit)
            for name, score in scores.items():
                score.needed = needed
                every.setdefault(name, []).append(score)
        pictured[title] = {name: joined(rows) for name, rows in every.items()}
        limit = sum(limits) / len(limits)
        print(f"\n{title}: {len(seeds)} x {queries} queries, no p99 can be below {limit:.2f} s\n")
        print(table(pictured[title]), flush=True)
        missed += verdicts(title, every)
    print("\nAll targets are met." if not missed else "\nMissed:\n- " + "\n- ".join(missed), file=sys.stdout)
    if options.svg:
        options.svg.write_text(picture(pictured), encoding="utf-8")


if __name__ == "__main__":
    main()
