"""What the strategies buy: success, latency and extra paid calls, beside the chain of document H in the same run.

The code is the real `Chain`; the providers are scripted and the clock is virtual, so that hours pass in seconds and
every contender meets the same fate for the same query. Latencies are lognormal (median 0.4 s, 99th percentile 2.5 s). A
provider with faults of share f fails so: 30 % HTTP 429, 10 % 202, 5 % 403, 15 % 500, 20 % hang, 5 % malformed, 10 % no
results, 5 % trickle (30 s), 5 % reset. Queries come twice a second. `extra` are paid calls that were answered beyond
those that an all-knowing sequential chain needs, per 100 queries. `limit` is the earliest answer of any provider.

    python benchmarks/routing.py [--queries 3000] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import math
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
from groundwire.routing import Chain
from groundwire.routing.policy import Strategy
from groundwire.testing.virtual_time import run_virtually

SIGMA = math.log(2.5 / 0.4) / 2.326  # of the lognormal distribution; 2.326 is the normal one's 99th percentile
QUICK = 0.05  # seconds that a refusal takes
MIX = {"429": 30, "202": 10, "403": 5, "500": 15, "hang": 20, "malformed": 5, "empty": 10, "trickle": 5, "reset": 5}
PAID = 0.005
HANG = 1e6

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

    name: str
    faults: float
    price_usd: float
    seed: int
    tries: dict[str, int] = field(default_factory=dict)
    billed: int = 0

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(search=True)

    def fate(self, query: str, attempt: int) -> tuple[str, float]:
        key = hashlib.sha256(f"{self.seed}:{self.name}:{query}:{attempt}".encode()).digest()
        draw = random.Random(key)
        if draw.random() < self.faults:
            return draw.choices(list(MIX), list(MIX.values()))[0], QUICK
        return "ok", draw.lognormvariate(math.log(0.4), SIGMA)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        attempt = self.tries[query] = self.tries.get(query, -1) + 1
        kind, seconds = self.fate(query, attempt)
        if kind in {"hang", "trickle"}:
            await asyncio.sleep(HANG)
        if kind == "ok":
            self.billed += self.price_usd > 0  # it answers, awaited or not
        await asyncio.sleep(seconds)
        if kind != "ok":
            raise ERRORS[kind](self.name)
        return [SearchResult(title="x", url="https://a.example/")]


async def as_document_h(providers: Sequence[Scripted], query: str) -> bool:
    """The chain of document H: in order, 15, 10 and 10 seconds for each read, so that a trickle takes its time."""
    for provider, seconds in zip(providers, (15.0, 10.0, 10.0), strict=True):
        kind, took = provider.fate(query, 0)
        if kind == "ok":
            provider.billed += provider.price_usd > 0
        await asyncio.sleep({"hang": seconds, "trickle": 30.0}.get(kind, took))
        if kind in {"ok", "trickle"}:
            return True
    return False


@dataclass
class Score:
    """What one contender did in one scenario."""

    seconds: list[float] = field(default_factory=list)
    answered: int = 0
    fallbacks: int = 0
    billed: int = 0

    def row(self, name: str, queries: int, needed: int) -> str:
        cut = statistics.quantiles(self.seconds, n=100)
        p50, p95, p99 = cut[49], cut[94], cut[98]
        extra = 100 * (self.billed - needed) / queries
        share = 100 * self.answered / queries
        mean = statistics.fmean(self.seconds)
        moved = 100 * self.fallbacks / queries
        return f"| {name} | {share:.2f} | {p50:.2f} | {p95:.2f} | {p99:.2f} | {mean:.2f} | {moved:.1f} | {extra:.1f} |"


SCENARIOS = {
    "no faults": (0.0, 0.01, 0.01),
    "10 % on the first": (0.10, 0.01, 0.01),
    "30 % on the first": (0.30, 0.01, 0.01),
    "30 % on all three": (0.30, 0.30, 0.30),
    "60 % on all three": (0.60, 0.60, 0.60),
}


def providers(faults: Sequence[float], seed: int) -> list[Scripted]:
    prices = (0.0, PAID, PAID)
    return [
        Scripted(name, share, price, seed)
        for name, share, price in zip(("duckduckgo", "brave", "tavily"), faults, prices, strict=True)
    ]


async def run(strategy: Strategy | None, made: list[Scripted], queries: int) -> Score:
    loop, score = asyncio.get_running_loop(), Score()
    chain = Chain(made, strategy=strategy or "hedge")

    async def one(number: int) -> None:
        await asyncio.sleep(number / 2)
        began, query = loop.time(), f"q{number}"
        if strategy is None:
            ok = await as_document_h(made, query)
            score.fallbacks += made[0].fate(query, 0)[0] != "ok"
        else:
            try:
                answer = await chain.search(Query(text=query), Deadline.after(10.0, loop.time))
                ok = True
                score.fallbacks += made[0].name not in answer.provider.split("+")
            except AllProvidersFailed:
                ok = False
        score.answered += ok
        score.seconds.append(loop.time() - began)

    await asyncio.gather(*(one(number) for number in range(queries)))
    await chain.aclose()
    score.billed = sum(provider.billed for provider in made)
    return score


def main() -> None:
    """Run all scenarios and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    contenders: dict[str, Strategy | None] = {
        "document H": None,
        "groundwire fallback": "fallback",
        "groundwire hedge": "hedge",
        "groundwire fuse": "fuse",
    }
    for title, faults in SCENARIOS.items():
        made = providers(faults, options.seed)
        needed, best = 0, []
        for number in range(options.queries):
            fates = [(one.fate(f"q{number}", 0), one.price_usd) for one in made]
            needed += next((price > 0 for (kind, _), price in fates if kind == "ok"), False)
            best.append(min((took for (kind, took), _ in fates if kind == "ok"), default=10.0))
        limit = statistics.quantiles(best, n=100)[98]
        print(f"\n{title}: {options.queries} queries, the limit's 99th percentile is {limit:.2f} s\n")
        print("| contender | success % | p50 s | p95 s | p99 s | mean s | fallback % | extra paid of 100 |")
        print("|" + " --- |" * 8)
        for name, strategy in contenders.items():
            print(f"{name} ...", end="\r", file=sys.stderr)
            score = run_virtually(run(strategy, providers(faults, options.seed), options.queries))
            print(score.row(name, options.queries, needed))


if __name__ == "__main__":
    main()
