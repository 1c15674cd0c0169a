"""What befalls a request in the routing benchmarks: drawn from a seed, so that every contender meets the same."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["HANG", "NAMES", "PAID", "SCENARIOS", "TRICKLE", "Fates", "Scenario"]

NAMES = ("duckduckgo", "brave", "tavily")
PAID = (False, True, True)
SIGMA = math.log(2.5 / 0.4) / 2.326  # of the lognormal distribution; 2.326 is the normal one's 99th percentile
QUICK = 0.05  # seconds that a refusal takes
HANG, TRICKLE = 1e6, 30.0  # seconds
MIX = {"429": 30, "202": 10, "403": 5, "500": 15, "hang": 20, "malformed": 5, "empty": 10, "trickle": 5, "reset": 5}
RATE = 2.0  # queries a second
UP, DOWN = 120.0, 60.0  # seconds of a provider that has bursts


@dataclass(frozen=True)
class Scenario:
    """How ill the three providers are."""

    faults: tuple[float, float, float]
    """The share of requests that fail, for each."""
    first: Mapping[str, int] = field(default_factory=lambda: MIX)
    """How the first one fails, with weights."""
    bursts: bool = False
    """Whether the first one fails only in bursts, for a minute of three."""


SCENARIOS = {
    "no faults": Scenario((0.0, 0.01, 0.01)),
    "10 % on the first": Scenario((0.10, 0.01, 0.01)),
    "30 % on the first": Scenario((0.30, 0.01, 0.01)),
    "10 % on all three": Scenario((0.10, 0.10, 0.10)),
    "30 % on all three": Scenario((0.30, 0.30, 0.30)),
    "60 % on all three": Scenario((0.60, 0.60, 0.60)),
    "the first hangs": Scenario((1.0, 0.01, 0.01), {"hang": 1}),
    "429 in bursts on the first": Scenario((1.0, 0.01, 0.01), {"429": 1}, bursts=True),
}


@dataclass(frozen=True)
class Fates:
    """The fates of one run."""

    scenario: Scenario
    seed: int

    def of(self, place: int, query: int, attempt: int) -> tuple[str, float]:
        """Return what becomes of one request, and how many seconds that takes.

        Args:
            place: Which of the three providers.
            query: The number of the query, from 0; `RATE` of them come in a second.
            attempt: How often that provider has been asked this before.
        """
        draw = random.Random(hashlib.sha256(f"{self.seed}:{NAMES[place]}:{query}:{attempt}".encode()).digest())
        share = self.scenario.faults[place]
        if place == 0 and self.scenario.bursts and query / RATE % (UP + DOWN) < UP:
            share = 0.0
        if draw.random() >= share:
            return "ok", draw.lognormvariate(math.log(0.4), SIGMA)
        mix = MIX if place else self.scenario.first
        kind = draw.choices(list(mix), list(mix.values()))[0]
        return kind, {"hang": HANG, "trickle": TRICKLE}.get(kind, QUICK)

    def needs_paid(self, query: int) -> bool:
        """Tell whether an all-knowing chain that asks one after the other would pay for this query."""
        good = [place for place in range(len(NAMES)) if self.of(place, query, 0)[0] == "ok"]
        return bool(good) and PAID[good[0]]

    def earliest(self, query: int) -> float:
        """Return the seconds after which the first of all providers would answer, 10 if none would."""
        fates = [self.of(place, query, 0) for place in range(len(NAMES))]
        return min((took for kind, took in fates if kind == "ok"), default=10.0)
