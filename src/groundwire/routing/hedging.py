"""Which provider starts when: in order, or hedged.

The next provider starts at once when a running one has certainly failed. With hedging it also starts when the running
one is later than its own habits say: towards a free provider soon, towards a paid one later and for a token, and
without a token once the call is more likely dead than slow. The first rows win; a loser is listened to for a
while, for what it teaches about its habits. Transient failures are retried while time and tokens last.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundwire.models import Attempt, Outcome
from groundwire.providers import SearchProvider
from groundwire.routing.calls import SearchCall
from groundwire.routing.health import Cooldown, Health
from groundwire.routing.hedging_policy import HedgePolicy, Latencies, Tokens
from groundwire.routing.provider_call import AttemptResult, AttemptState, ProviderCaller, make_attempt, price_of

__all__ = ["HedgeResult", "HedgedRunner", "skipped_cooldown"]

_TRANSIENT: frozenset[Outcome] = frozenset({"timeout", "network", "unavailable", "invalid_response", "rate_limited"})
_LEFT = "left behind: another provider answered first"
_NO_TURN = "not asked: its turn had not come yet"


@dataclass(slots=True)
class HedgeResult:
    """How a search by several providers ended."""

    winner: AttemptResult | None = None
    """The result that has rows, if one has."""
    results: list[AttemptResult] = field(default_factory=list)
    """Every result, in the order in which they ended; the winner is the last."""
    left: list[Attempt] = field(default_factory=list)
    """Attempts that were still running."""


@dataclass(slots=True)
class _Running:
    provider: SearchProvider
    since: float
    state: AttemptState


class HedgedRunner:
    """Runs calls, and remembers from one to the next how the providers behave.

    Args:
        policy: The numbers.
        health: Orders the providers.
        random_: A factor from 0 to 1 for pauses.
    """

    def __init__(self, policy: HedgePolicy, health: Health, *, random_: Callable[[], float] = random.random) -> None:
        self._policy = policy
        self._random = random_
        self.health = health
        self._latencies: dict[str, Latencies] = {}
        self._hedges = Tokens(policy.paid_hedges, policy.paid_hedges_kept)
        self._retries = Tokens(policy.retries, policy.retries_kept)
        self._drained: set[asyncio.Task[AttemptResult]] = set()

    async def run(
        self, call: SearchCall, providers: Sequence[SearchProvider], caller: ProviderCaller, *, hedged: bool
    ) -> HedgeResult:
        """Ask until one provider has rows, or all have failed for certain.

        Args:
            call: The call.
            providers: In the order in which they are asked.
            caller: Makes the attempts.
            hedged: Whether the next provider may start while one is running.
        """
        self._hedges.earn()
        self._retries.earn()
        return await _HedgedRun(self, call, caller, hedged).through(providers)

    async def aclose(self) -> None:
        """Cancel the calls that are still listened to."""
        drained = list(self._drained)
        for task in drained:
            task.cancel()
        await asyncio.gather(*drained, return_exceptions=True)

    def latencies(self, provider: str) -> Latencies:
        """Return the habits of a provider."""
        return self._latencies.setdefault(provider, Latencies())

    def drain(self, task: asyncio.Task[AttemptResult]) -> None:
        """Let a call that lost end by itself, if not too many do already."""
        if len(self._drained) >= self._policy.most_drained:
            task.cancel()
            return
        self._drained.add(task)
        task.add_done_callback(self._drained.discard)


class _HedgedRun:
    """One search."""

    def __init__(self, runner: HedgedRunner, call: SearchCall, caller: ProviderCaller, hedged: bool) -> None:
        self._runner = runner
        self._policy = runner._policy
        self._call = call
        self._caller = caller
        self._deadline = call.deadline
        self._hedged = hedged
        self._loop = asyncio.get_running_loop()
        self._running: dict[asyncio.Task[AttemptResult], _Running] = {}
        self._queue: list[SearchProvider] = []
        self._probes: set[str] = set()
        self._round = 1
        self._finish = HedgeResult()

    async def through(self, providers: Sequence[SearchProvider]) -> HedgeResult:
        order = self._runner.health.order(providers)
        self._queue, self._probes = list(order.queue), set(order.probes)
        self._finish.results += [AttemptResult(skipped_cooldown(one)) for one in order.closed]
        try:
            while not self._is_over():
                if self._may_start():
                    self._start(self._queue.pop(0))
                elif self._running:
                    if not self._queue and self._is_lost():
                        self._ask_again(providers)
                    else:
                        await self._wait()
                elif not await self._next_round(providers):
                    break
        finally:
            self._leave()
        for provider in self._queue:
            if self._finish.winner is None and self._deadline.passed:
                self._finish.results.append(
                    AttemptResult(make_attempt(provider.name, "timeout", "not asked: no time was left"))
                )
        return self._finish

    def _is_over(self) -> bool:
        clean = sum(item.empty == "answered" for item in self._finish.results)
        return self._finish.winner is not None or self._deadline.passed or clean > 1

    def _may_start(self) -> bool:
        if not self._queue:
            return False
        if not self._running:
            return True
        if not self._hedged:
            return False
        newest = max(self._running.values(), key=lambda one: one.since)
        late = self._loop.time() - newest.since
        following = self._queue[0]
        free = price_of(following) == 0 or newest.provider.name in self._probes
        if late >= self._delay(newest.provider, following) and (free or self._runner._hedges.has_one):
            if not free:
                self._runner._hedges.spend()
            return True
        return self._is_presumed_lost(newest, self._lost_after(newest.provider))

    def _start(self, provider: SearchProvider) -> None:
        state = AttemptState(self._policy.longest if self._queue else math.inf)
        task = self._loop.create_task(self._attempt(provider, state))
        self._running[task] = _Running(provider, self._loop.time(), state)

    async def _attempt(self, provider: SearchProvider, state: AttemptState) -> AttemptResult:
        done = await self._caller.attempt(provider, self._call, state)
        if state.sent and done.rows:
            self._runner.latencies(provider.name).add(self._loop.time() - state.sent_at.result())
        return done

    async def _wait(self) -> None:
        """Wait until a call ends, or until the next provider may have to start."""
        wake = self._deadline.remaining()
        if self._hedged and self._queue:
            newest = max(self._running.values(), key=lambda one: one.since)
            late = self._loop.time() - newest.since
            free = price_of(self._queue[0]) == 0 or newest.provider.name in self._probes
            if newest.state.sent:
                moment = newest.state.sent_at.result() + self._lost_after(newest.provider)
                wake = min(wake, max(0.001, moment - self._loop.time()))
            if free or self._runner._hedges.has_one:
                wake = min(wake, max(0.001, self._delay(newest.provider, self._queue[0]) - late))
        elif self._may_retry():
            newest = max(self._running.values(), key=lambda one: one.since)
            if newest.state.sent:
                moment = newest.state.sent_at.result() + self._lost_for_good(newest.provider)
                wake = min(wake, max(0.001, moment - self._loop.time()))
        unsent: list[asyncio.Future[Any]] = [one.state.sent_at for one in self._running.values() if not one.state.sent]
        await asyncio.wait([*unsent, *self._running], timeout=wake, return_when=asyncio.FIRST_COMPLETED)
        ended = [task for task in self._running if task.done()]
        for task in sorted(ended, key=lambda one: self._running[one].since):
            del self._running[task]
            done = task.result()
            if done.rows and self._finish.winner is None:
                self._finish.winner = done
            else:
                self._finish.results.append(done)
        if self._finish.winner is not None:
            self._finish.results.append(self._finish.winner)

    async def _next_round(self, providers: Sequence[SearchProvider]) -> bool:
        """After a pause queue those again whose failure may pass, if time and tokens are left."""
        policy = self._policy
        pause = policy.retry_pause * 2**self._round * (0.5 + self._runner._random() / 2)
        failed = self._failed_for_now()
        if not failed or self._round >= policy.rounds:
            return False
        said = 0.0 not in failed.values()
        if said:  # they said when, and to ask then is no storm: it takes no token
            pause += min(failed.values())
        elif not self._runner._retries.has_one:
            return False
        if self._deadline.remaining() < policy.least_for_retry + pause:
            return False
        await asyncio.sleep(pause)
        return self._ask_again(providers, free=said)

    def _ask_again(self, providers: Sequence[SearchProvider], *, free: bool = False) -> bool:
        """Begin another round with those whose failure may pass, and with the one that is presumed lost."""
        if not free:
            self._runner._retries.spend()
        self._round += 1
        names = self._failed_for_now().keys() | {one.provider.name for one in self._running.values()}
        order = self._runner.health.order([provider for provider in providers if provider.name in names])
        self._queue, self._probes = list(order.queue), self._probes | order.probes
        return bool(self._queue)

    def _failed_for_now(self) -> dict[str, float]:
        """Return whose failure may pass, each with the seconds after which it said that it may be asked again."""
        last = {item.attempt.provider: item for item in self._finish.results}
        return {
            name: item.attempt.retry_after or 0.0
            for name, item in last.items()
            if item.attempt.outcome in _TRANSIENT
            and item.empty == "no"
            and (item.attempt.retry_after or 0.0) < self._deadline.remaining()
        }

    def _may_retry(self) -> bool:
        return self._hedged and self._round < self._policy.rounds and self._runner._retries.has_one

    def _is_lost(self) -> bool:
        """Whether every provider was asked and the newest call is more likely dead than slow."""
        if not self._may_retry() or self._deadline.remaining() < self._policy.least_for_retry:
            return False
        newest = max(self._running.values(), key=lambda one: one.since)
        return self._is_presumed_lost(newest, self._lost_for_good(newest.provider))

    def _is_presumed_lost(self, one: _Running, after: float) -> bool:
        """Whether a call was sent so many seconds ago; one that waits for its turn is not lost."""
        return one.state.sent and self._loop.time() - one.state.sent_at.result() >= after

    def _lost_for_good(self, provider: SearchProvider) -> float:
        return max(self._lost_after(provider), self._policy.least_for_retry)

    def _leave(self) -> None:
        for provider in self._queue:
            if provider.name in self._probes:
                self._runner.health.give_up_probe(provider.name)
        for task, one in self._running.items():
            since = round((self._loop.time() - one.since) * 1_000)
            won = self._finish.winner is not None
            left = Attempt(
                provider=one.provider.name,
                outcome="timeout" if one.state.sent else "rate_limited",
                reason=(_LEFT if won else "no answer in time") if one.state.sent else _NO_TURN,
                latency_ms=since,
                cost_usd=price_of(one.provider) if one.state.sent else 0.0,  # until more is known
                abandoned=won,
            )
            if won and one.state.sent:
                self._runner.drain(task)
            else:
                task.cancel()  # one that was not sent yet costs nothing that way
            if won:
                self._finish.left.append(left)
            else:
                self._finish.results.append(AttemptResult(left))

    def _delay(self, running: SearchProvider, following: SearchProvider) -> float:
        """Return after how many seconds the next provider is called to help."""
        policy = self._policy
        share = policy.free_quantile if price_of(following) == 0 else policy.quantile
        if running.name in self._probes:
            share = min(share, 0.5)
        usual = self._runner.latencies(running.name).quantile(share, policy.unknown)
        return min(max(usual, policy.shortest), policy.longest)

    def _lost_after(self, running: SearchProvider) -> float:
        """Return after how many seconds a call is more likely dead than slow: when 1 - F(t) < h / (1 - h)."""
        policy = self._policy
        lost = self._runner.health.lost(running.name)
        usual = self._runner.latencies(running.name).quantile(1 - lost / (1 - lost), 2.5 * policy.unknown)
        return min(max(usual, policy.shortest), self._caller.attempt_timeout)


def skipped_cooldown(closed: Cooldown) -> Attempt:
    """Return the attempt that was not made, because the provider is in a cooldown."""
    said = f" ({closed.reason})" if closed.reason else ""
    return Attempt(
        provider=closed.provider.name,
        outcome=closed.outcome,
        reason=f"not asked: it said when it may be asked again{said}",
        retry_after=round(closed.seconds, 3),
    )
