"""The faults of the routing benchmark, drawn from a seed, so that every contender gets the same ones."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

NAMES = ("duckduckgo", "brave", "tavily")
PAID = (False, True, True)
SIGMA = math.log(2.5 / 0.4) / 2.326  # of the lognormal distribution; 2.326 is the normal one's 99th percentile
QUICK = 0.05  # seconds that a refusal takes
HANG, TRICKLE = 1e6, 30.0  # seconds
MIX = {"429": 30, "202": 10, "403": 5, "500": 15, "hang": 20, "malformed": 5, "unproven": 10, "trickle": 5, "reset": 5}


@dataclass(frozen=True)
class Fate:
    """How one request ends."""

    kind: str = "ok"
    """`ok`, a status, `403 json`, `unproven` or `empty` (no results, with and without a doubt), `malformed`,
    `no address`, `reset`, `hang` or `trickle`."""
    seconds: float = QUICK
    """How long that takes."""
    retry_after: float | None = None
    """The Retry-After in seconds."""


@dataclass(frozen=True)
class Ask:
    """One request, as the fault model sees it."""

    place: int
    """Which of the three providers."""
    at: float
    """Seconds since the start."""
    draw: random.Random
    """The same for every contender."""
    state: dict[str, Any]
    """What the provider remembers; each contender has providers of its own."""

    def answer(self, slower: float = 1.0) -> Fate:
        """Return an answer with rows: lognormal, median 0.4 s, 99th percentile 2.5 s."""
        return Fate("ok", slower * self.draw.lognormvariate(math.log(0.4), SIGMA))


Behavior = Callable[[Ask], Fate]


def faults(
    share: float | Callable[[float], float], mix: Mapping[str, int] = MIX, after: float | None = None
) -> Behavior:
    """Fail with a share, which may depend on the time; `after` is the Retry-After of refusals."""

    def behave(ask: Ask) -> Fate:
        if ask.draw.random() >= (share(ask.at) if callable(share) else share):
            return ask.answer()
        kind = ask.draw.choices(list(mix), list(mix.values()))[0]
        return Fate(kind, {"hang": HANG, "trickle": TRICKLE}.get(kind, QUICK), after)

    return behave


def always(kind: str, after: float | None = None) -> Behavior:
    """Always fail the same way."""
    return faults(1.0, {kind: 1}, after)


def during(up: float, down: float, then: Behavior, otherwise: Behavior, begin: float = 0.0) -> Behavior:
    """Behave differently for `down` seconds after each `up` seconds."""
    return lambda ask: (then if (ask.at - begin) % (up + down) >= up else otherwise)(ask)


def slower(times: float | Callable[[float], float]) -> Behavior:
    """Add a delay."""
    return lambda ask: ask.answer(times(ask.at) if callable(times) else times)


def limited(most: int, after: float | None, seconds: float = 1.0) -> Behavior:
    """Allow so many requests in any window of so many seconds, and refuse the others with a constant Retry-After."""

    def behave(ask: Ask) -> Fate:
        sent = ask.state["sent"] = [at for at in ask.state.get("sent", ()) if at > ask.at - seconds]
        if len(sent) >= most:
            return Fate("429", QUICK, after)
        sent.append(ask.at)
        return ask.answer()

    return behave


def crowded(most: int, seconds: float) -> Behavior:
    """Answer slowly when more than so many requests came in the last second."""

    def behave(ask: Ask) -> Fate:
        lately = ask.state["lately"] = [at for at in ask.state.get("lately", ()) if at > ask.at - 1.0] + [ask.at]
        return Fate("ok", seconds) if len(lately) > most else ask.answer()

    return behave


def alternating(kind: str) -> Behavior:
    """Fail every other request."""

    def behave(ask: Ask) -> Fate:
        ask.state["asked"] = ask.state.get("asked", 0) + 1
        return Fate(kind) if ask.state["asked"] % 2 else ask.answer()

    return behave


def banned(up: float, down: float) -> Behavior:
    """Refuse everything for a time, with an exact Retry-After."""

    def behave(ask: Ask) -> Fate:
        place = ask.at % (up + down)
        return Fate("429", QUICK, up + down - place) if place >= up else ask.answer()

    return behave


def scaled(times: float, behavior: Behavior) -> Behavior:
    """Answer so many times as fast or slowly."""

    def behave(ask: Ask) -> Fate:
        fate = behavior(ask)
        return Fate("ok", fate.seconds * times) if fate.kind == "ok" else fate

    return behave


def late_faults(share: float, mix: Mapping[str, int]) -> Behavior:
    """Fail after half a second to two seconds."""

    def behave(ask: Ask) -> Fate:
        if ask.draw.random() >= share:
            return ask.answer()
        return Fate(ask.draw.choices(list(mix), list(mix.values()))[0], ask.draw.uniform(0.5, 2.0))

    return behave


def fifth_of(seconds: float, then: Behavior) -> Behavior:
    """Behave differently in a fifth of all periods of so many seconds, the same ones for every provider."""
    return lambda ask: (then if random.Random(int(ask.at // seconds)).random() < 0.2 else WELL)(ask)


def overloaded(most: float) -> Behavior:
    """Fail for 20 s above so many requests per second, and until there are fewer than a third of that."""

    def behave(ask: Ask) -> Fate:
        lately = ask.state["lately"] = [at for at in ask.state.get("lately", ()) if at > ask.at - 5.0] + [ask.at]
        failing = ask.at < ask.state.get("until", 0.0)
        if len(lately) / 5.0 > (most / 3 if failing else most):
            ask.state["until"] = ask.at + 20.0
        return Fate("500") if ask.at < ask.state.get("until", 0.0) else ask.answer()

    return behave


GOOD, WELL = faults(0.0), faults(0.01)
_LATE = {"500": 3, "malformed": 1, "reset": 1}
_GARBAGE = {"malformed": 1, "no address": 1, "unproven": 1}


@dataclass(frozen=True)
class Scenario:
    """The behavior of the three providers, and the times of the queries."""

    providers: tuple[Behavior, Behavior, Behavior]
    rate: float = 2.0
    """Queries a second."""
    arrivals: str = "even"
    """`even`, `random` (a Poisson process) or `bursts` of twenty at once."""


def ill(*shares: float, **more: Any) -> Scenario:
    """Return a scenario in which the providers fail with these shares."""
    first, second, third = map(faults, shares)
    return Scenario((first, second, third), **more)


def together(seconds: float, kind: str = "500") -> Scenario:
    """Return a scenario in which all three are down together for some seconds of every minute."""
    down = during(60.0, seconds, always(kind), WELL)
    return Scenario((down, down, down))


SCENARIOS = {
    "no faults": ill(0.0, 0.01, 0.01),
    "10 % on the first": ill(0.10, 0.01, 0.01),
    "30 % on the first": ill(0.30, 0.01, 0.01),
    "10 % on all three": ill(0.10, 0.10, 0.10),
    "30 % on all three": ill(0.30, 0.30, 0.30),
    "60 % on all three": ill(0.60, 0.60, 0.60),
    "the first hangs": Scenario((always("hang"), WELL, WELL)),
    "30 % of calls to the first hang": Scenario((faults(0.3, {"hang": 1}), WELL, WELL)),
    "a hang of 2 s goes round": Scenario(
        tuple(during(4.0, 2.0, always("hang"), WELL, 2.0 * place) for place in range(3))  # type: ignore[arg-type]
    ),
    "429 in bursts on the first": Scenario((during(120.0, 60.0, always("429"), GOOD), WELL, WELL)),
    "403 of a firewall in bursts on the first": Scenario((during(120.0, 60.0, always("403"), GOOD), WELL, WELL)),
    "3 % of 403 in HTML on all": Scenario((faults(0.03, {"403": 1}),) * 3),
    "30 % on the first, 3 % of 403 in JSON on the others": Scenario(
        (faults(0.3), faults(0.03, {"403 json": 1}), faults(0.03, {"403 json": 1}))
    ),
    "the first is always empty, 30 % on the others": Scenario((always("empty"), faults(0.3), faults(0.3))),
    "the first turns empty for a minute of three, 10 % of the others": Scenario(
        (during(120.0, 60.0, always("empty"), GOOD), *(faults(0.1, {"empty": 1}),) * 2)
    ),
    "5 % of clean empties on all": Scenario((faults(0.05, {"empty": 1}),) * 3),
    "garbage with status 200 from the first, half of the time": Scenario((faults(0.5, _GARBAGE), WELL, WELL)),
    "the first allows 5/s, is asked 5/s, Retry-After 2": Scenario((limited(5, 2.0), WELL, WELL), 5.0, "random"),
    "the first allows 5/s, is asked 8/s": Scenario((limited(5, None), WELL, WELL), 8.0, "random"),
    "3 % of 429 with Retry-After 1 on the first": Scenario((faults(0.03, {"429": 1}, 1.0), WELL, WELL)),
    "2 % of 429 with Retry-After 30 on the first": Scenario((faults(0.02, {"429": 1}, 30.0), WELL, WELL)),
    "1 % of 429 with Retry-After 3600 on all": Scenario((faults(0.01, {"429": 1}, 3_600.0),) * 3),
    "the first refuses for 30 s and says so": Scenario((banned(90.0, 30.0), WELL, WELL)),
    "all are down for 2 s of a minute": together(2.0),
    "all are down for 10 s of a minute": together(10.0),
    "all hang for 2 s of a minute": together(2.0, "hang"),
    "all are down for a minute of two": together(60.0),
    "the first fails more and more": Scenario((faults(lambda at: min(1.0, at / 300.0)), WELL, WELL)),
    "the first is five times as slow for a minute of three": Scenario(
        (during(120.0, 60.0, slower(5.0), GOOD), WELL, WELL)
    ),
    "all are three times as slow and fail in 20 %": Scenario((during(60.0, 60.0, slower(3.0), faults(0.2)),) * 3),
    "bursts of twenty, 30 % on the first": ill(0.30, 0.01, 0.01, arrivals="bursts"),
    "the first recovers slowly": Scenario(
        (faults(lambda at: max(0.0, min(1.0, (120.0 - at % 180.0) / 90.0)), {"500": 1}), WELL, WELL)
    ),
    "the key of the second is dead": Scenario((faults(0.3), always("401"), WELL)),
    "two fail together for 5 s, a fifth of the time": Scenario((*(fifth_of(5.0, faults(1.0)),) * 2, WELL)),
    "30 % of late faults on the first": Scenario((late_faults(0.3, _LATE), WELL, WELL)),
    "30 % of late faults on all": Scenario((late_faults(0.3, _LATE),) * 3),
    "30 % of answers of the first drip": Scenario((faults(0.3, {"trickle": 1}), WELL, WELL)),
    "eight times as fast, 30 % on all": Scenario((scaled(0.125, faults(0.3)),) * 3),
    "the first takes 3 s, the others 0.2 s": Scenario((scaled(7.5, GOOD), *(scaled(0.5, WELL),) * 2)),
    "the latency of all rises sixfold in 5 minutes": Scenario((slower(lambda at: 1.0 + min(5.0, at / 60.0)),) * 3),
    "the first recovers only at a third of the load": Scenario((overloaded(3.0), WELL, WELL), 4.0, "random"),
    "half of all answers are a 403": Scenario((faults(0.5, {"403": 1}),) * 3),
    "2 % of 401 on all": Scenario((faults(0.02, {"401": 1}),) * 3),
    "60 % of clean empties on the first": Scenario((faults(0.6, {"empty": 1}), WELL, WELL)),
    "10 % of calls to all hang": Scenario((faults(0.1, {"hang": 1}),) * 3),
    "all are down for 4 s of 30": Scenario((during(26.0, 4.0, always("500"), WELL),) * 3),
}
"""The scenarios with which the policy was developed."""

UNSEEN = {
    "the first is up and down every 5 s": Scenario((during(5.0, 5.0, always("500"), GOOD), WELL, WELL)),
    "the first refuses after 3 s": Scenario((lambda ask: Fate("429", 3.0, 5.0), WELL, WELL)),
    "the first allows 20 in 10 s, is asked 3/s, no Retry-After": Scenario(
        (limited(20, None, 10.0), WELL, WELL), 3.0, "random"
    ),
    "40 % of resets on all, in bursts": Scenario((faults(0.4, {"reset": 1}),) * 3, arrivals="bursts"),
    "the second always hangs, 30 % on the first": Scenario((faults(0.3), always("hang"), WELL)),
    "rows without an address from the second, 30 % on the first": Scenario((faults(0.3), always("no address"), WELL)),
    "the latency of the first doubles every 2 minutes": Scenario(
        (slower(lambda at: 2.0 ** min(3.0, at // 120.0)), WELL, WELL)
    ),
    "every other answer of the first is empty": Scenario((alternating("empty"), WELL, WELL)),
    "the first answers after 5 s when asked more than 2/s": Scenario((crowded(2, 5.0), WELL, WELL), 3.0, "random"),
    "no name is resolved for 8 s of every 40": Scenario((during(32.0, 8.0, always("reset"), WELL),) * 3),
    "the key of the second is revoked after 2 minutes, 30 % on the first": Scenario(
        (faults(0.3), during(120.0, 1e9, always("401"), WELL), WELL)
    ),
    "a captive portal answers for all for 20 s of every 2 minutes": Scenario(
        (during(100.0, 20.0, always("malformed"), WELL),) * 3
    ),
}
"""Further ones, run only when the policy was finished."""

SOCKETS = ("30 % on the first", "30 % on all three", "the first hangs", "30 % of calls to the first hang")
"""Those that are run over HTTP."""


@dataclass(frozen=True)
class Fates:
    """The faults of one run."""

    scenario: Scenario
    seed: int

    def of(self, place: int, query: int, attempt: int, at: float, state: dict[str, Any]) -> Fate:
        """Return the outcome of one request.

        Args:
            place: Which of the three providers.
            query: The number of the query, from 0.
            attempt: How often that provider has been asked this before.
            at: Seconds since the start.
            state: What the provider remembers.
        """
        digest = hashlib.sha256(f"{self.seed}:{NAMES[place]}:{query}:{attempt}".encode()).digest()
        return self.scenario.providers[place](Ask(place, at, random.Random(digest), state))

    def arrivals(self, queries: int) -> list[float]:
        """Return the times of the queries, in seconds."""
        rate = self.scenario.rate
        if self.scenario.arrivals == "even":
            return [number / rate for number in range(queries)]
        if self.scenario.arrivals == "bursts":
            return [number // 20 * 20 / rate for number in range(queries)]
        draw, at, moments = random.Random(self.seed), 0.0, []
        for _ in range(queries):
            at += draw.expovariate(rate)
            moments.append(at)
        return moments

    def needed(self, queries: int) -> tuple[int, float]:
        """Return the minimum cost and latency: those of a chain that knows all outcomes in advance.

        Returns:
            Its paid answers, and the 99th percentile of the seconds after which any provider would answer (10 where
            none would).
        """
        states: list[dict[str, Any]] = [{} for _ in NAMES]
        paid, earliest = 0, []
        for query, at in enumerate(self.arrivals(queries)):
            found = False
            soonest = 10.0
            for place, state in enumerate(states):
                fate = self.of(place, query, 0, at, {} if found else state)
                if fate.kind == "ok":
                    paid += not found and PAID[place]
                    found, soonest = True, min(soonest, fate.seconds)
            earliest.append(soonest)
        return paid, sorted(earliest)[int(0.99 * len(earliest))]
