"""The order and timing of provider calls: sequential, or hedged.

The next provider starts immediately when a running one has failed permanently. With hedging, it also starts when the
running one is later than its usual latency: early for a free provider, which may be called once more, later for a paid
one, and within a budget for extra paid calls. The first rows win; a losing call continues for a while, to learn its
latency. Transient failures are retried while time and tokens last, and a short outage is waited for.

An attempt has a timeout only while another provider could be called instead: the last one that can still answer gets
all of the time that is left. A service that has not answered is not called again, unless it is known to lose requests.
"""

from __future__ import annotations

import asyncio
import bisect
import math
import random
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from groundwire.models import Attempt, Outcome
from groundwire.providers.base import SearchProvider, price_of, scope
from groundwire.routing.calls import SearchCall
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Health
from groundwire.routing.provider_call import AttemptResult, AttemptState, ProviderCaller, make_attempt

_LOST_TO_PROVIDER = "abandoned: another provider answered first"
_LOST_TO_REPEAT = "abandoned: another request to it answered first"
# The effect of each rule was measured by switching it off: benchmarks/NOTES.md, "Rules of routing switched off".
_SUFFICIENT_EMPTIES = 3  # credible empty results that suffice, with four providers or more
_URGENT_LATE_CALLS = 2  # late calls that make the next one urgent; never: p99 2.83 -> 3.41 s when a hang goes round
# The share of the budget that hedges of late calls leave to searches that would end without a result. None: 99.0 ->
# 97.8 % answered with a first provider that is always empty and 30 % faults on the others.
_ANSWER_RESERVE = 1 / 4
# Third quartiles of a slow provider's latency. 0: 12.1 -> 15.4 paid calls of 100 beside one of 3 s.
_TIMEOUT_QUARTILES = 3.0
_REPEATED: frozenset[Outcome] = frozenset({"timeout", "network", "unavailable", "invalid_response"})
_FEWEST_ANSWERS = 5  # answers; a service with fewer that does not answer in time may just be slow
# Without waiting, outages of 4 s in 30: 100 -> 89.8 % answered; without turns, 90.5 -> 89.5 % when no name resolves.
_OUTAGE, _TURN, _POLL = 60.0, 1.0, 0.1  # seconds since the last rows, between two tries of all, and two checks
_TRANSIENT: frozenset[Outcome] = frozenset(
    {"timeout", "network", "unavailable", "invalid_response", "rate_limited", "blocked"}
)


class HedgePolicy(NamedTuple):
    """When the next provider starts, and how often a failed one is retried.

    What each rule changes is in `benchmarks/NOTES.md`, "Rules of routing switched off". The defaults were chosen by a
    simulation of the fault patterns in `benchmarks/fates.py` and confirmed on sockets: hedging at the running
    provider's own 95th percentile costs about 5 % more calls and removes the long tail.
    """

    quantile: float = 0.95
    """The share of the running provider's latencies after which a paid provider is started as a hedge."""
    free_quantile: float = 0.5
    """The same for a free provider."""
    shortest: float = 0.15
    """The minimum in seconds."""
    longest: float = 1.5
    """The maximum in seconds."""
    slot_wait: float = 2.0
    """Maximum seconds to wait for a rate-limit slot while other providers could be called."""
    outage_wait: float = 4.0
    """Maximum seconds to wait for the end of a short outage of all providers."""
    unknown: float = 0.8
    """Seconds, until a provider has enough samples."""
    extra_paid: float = 0.10
    """Maximum paid calls per search, in the long run, beyond those of a sequential chain: hedges, further rounds
    and control queries."""
    extra_paid_burst: float = 8.0
    """How many may be made at once after a quiet period."""
    most_requests: int = 3
    """Maximum requests of one search per second; further ones wait."""
    rounds: int = 3
    """Maximum rounds for transient failures."""
    retries: float = 0.20
    """Tokens that a search earns; a further round costs a whole one."""
    retries_burst: float = 10.0
    """Maximum tokens that accumulate."""
    retry_pause: float = 0.1
    """Seconds before the second round, doubled for the third, with a jitter of half."""
    least_for_retry: float = 0.5
    """Seconds that must be left for a further round."""
    most_drained: int = 32
    """Losing calls that continue to run; more are canceled."""
    fused: int = 3
    """How many providers are called at once for `fuse`."""
    fuse_max_wait: float = 1.0
    """Seconds for the others after one of them has results."""


_WINDOW = 200  # responses
_FEWEST_SAMPLES = 20  # responses; fewer say nothing about a tail


class Latencies:
    """The exact quantiles of a provider's last 200 successful answers, in seconds."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        """Record a latency."""
        self._order.append(seconds)
        bisect.insort(self._sorted, seconds)
        if len(self._order) > _WINDOW:
            self._sorted.pop(bisect.bisect_left(self._sorted, self._order.popleft()))

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def longest(self) -> float:
        """The longest of them, or 0."""
        return self._sorted[-1] if self._sorted else 0.0

    def quantile(self, share: float, unknown: float) -> float:
        """Return a quantile of the latencies, or `unknown` while there are too few."""
        if len(self) < _FEWEST_SAMPLES:
            return unknown
        return self._sorted[min(len(self._sorted) - 1, int(share * len(self._sorted)))]

    def later(self, seconds: float, unknown: float) -> float:
        """Return the share of responses that take longer, never zero.

        Args:
            seconds: The time elapsed.
            unknown: The third quartile assumed while there are too few samples.
        """
        if len(self) < _FEWEST_SAMPLES:
            return float(0.25 ** (seconds / unknown))
        longer = len(self._sorted) - bisect.bisect_right(self._sorted, seconds)
        return (longer + 0.5) / (len(self._sorted) + 1)


@dataclass(slots=True, eq=False, repr=False)
class HedgeResult:
    """The outcome of a search by several providers."""

    winner: AttemptResult | None = None
    """The result with rows, if any."""
    results: list[AttemptResult] = field(default_factory=list)
    """Every result, in the order they ended; the winner is the last."""
    abandoned: list[Attempt] = field(default_factory=list)
    """Attempts that were still running."""


class HedgedRunner:
    """Runs calls, and remembers the providers' latencies.

    Args:
        policy: The hedging policy.
        health: Orders the providers.
        attempt_timeout: The timeout in seconds of an attempt of a usual search, while another provider could be called.
        timeout: The seconds of a usual search; one with more time gives each attempt more, in proportion.
        random_: Returns a factor from 0 to 1 for pauses.
    """

    def __init__(
        self,
        policy: HedgePolicy,
        health: Health,
        *,
        attempt_timeout: float = 6.0,
        timeout: float = 10.0,
        random_: Callable[[], float] = random.random,
    ) -> None:
        self._policy = policy
        self.attempt_timeout = attempt_timeout
        self._timeout = timeout
        self._random = random_
        self.health = health
        self.latencies: defaultdict[str, Latencies] = defaultdict(Latencies)
        """The latencies of each provider."""
        self.extra: ExtraBudget = ExtraBudget(policy.extra_paid, policy.extra_paid_burst)
        self._retries = ExtraBudget(policy.retries, policy.retries_burst)
        self.answers: int = 0  # searches that had rows
        self.next_turn: float = -math.inf  # when a search whose rounds are used up may try again
        self._drained: set[asyncio.Task[AttemptResult]] = set()

    async def run(
        self, call: SearchCall, providers: Sequence[SearchProvider], caller: ProviderCaller, *, hedged: bool
    ) -> HedgeResult:
        """Call providers until one has rows, or all have failed permanently.

        Args:
            call: The call.
            providers: The providers, in order.
            caller: Makes the attempts.
            hedged: Whether the next provider may start while one is running.
        """
        self.extra.earn()
        self._retries.earn()
        finish = await _HedgedRun(self, call, caller, hedged).run(providers)
        self.answers += finish.winner is not None
        return finish

    async def aclose(self) -> None:
        """Cancel the losing calls that are still running."""
        drained = list(self._drained)
        for task in drained:
            task.cancel()
        await asyncio.gather(*drained, return_exceptions=True)

    def loses(self, provider: str, seconds: float) -> bool:
        """Whether a provider is known to lose requests, and usually answers in so many seconds those that it gets."""
        latencies = self.latencies[provider]
        median = latencies.quantile(0.5, latencies.longest)
        return len(latencies) >= _FEWEST_ANSWERS and median < seconds and self.health.loses(provider)

    def drain(self, task: asyncio.Task[AttemptResult], state: AttemptState) -> None:
        """Let a losing call end by itself or by its timeout, unless too many do already."""
        if len(self._drained) >= self._policy.most_drained:
            task.cancel()
            return
        loop = asyncio.get_running_loop()
        loop.call_at(state.sent_at.result() + state.timeout, state.end)
        self._drained.add(task)
        task.add_done_callback(self._drained.discard)


class _HedgedRun:
    """One search."""

    def __init__(self, runner: HedgedRunner, call: SearchCall, caller: ProviderCaller, hedged: bool) -> None:
        self._runner = runner
        self._policy = runner._policy
        self._call = call
        self._caller, self._deadline = caller, call.deadline
        self._hedged = hedged
        self._attempt_timeout = runner.attempt_timeout * max(1.0, call.deadline.remaining() / runner._timeout)
        self._loop = asyncio.get_running_loop()
        self._running: dict[asyncio.Task[AttemptResult], AttemptState] = {}
        self._queue: list[SearchProvider] = []
        self._providers: Sequence[SearchProvider] = ()
        self._repeat: SearchProvider | None = None
        self._repeated: set[str] = set()
        self._probes: set[str] = set()
        self._started: list[float] = []
        self._round, self._patient_until = 1, 0.0
        self._finish = HedgeResult()

    async def run(self, providers: Sequence[SearchProvider]) -> HedgeResult:
        self._providers = providers
        order = self._runner.health.order(providers, price_of)
        self._queue, self._probes = list(order.queue), set(order.probes)
        self._finish.results += map(AttemptResult, order.skipped)
        try:
            while not self._is_over():
                if self._may_start():
                    if (pause := self._pause()) > 0:
                        await self._until_one_ends(min(pause, self._deadline.remaining()))
                    else:
                        self._start(self._take())
                elif self._running:
                    if not self._queue and self._is_lost():
                        self._ask_again(providers)
                    else:
                        self._end_late()
                        await self._wait()
                elif not await self._next_round(providers):
                    break
        finally:
            self._abandon_running()
        for provider in self._queue:
            if self._finish.winner is None and self._deadline.passed:
                self._finish.results.append(
                    AttemptResult(make_attempt(provider.name, "timeout", "not called: no time was left"))
                )
        return self._finish

    def _is_over(self) -> bool:
        if self._finish.winner is not None or self._deadline.passed:
            return True
        if not self._finish.results:
            return False
        empty = {item.attempt.provider for item in self._finish.results if item.empty == "answered"}
        return sum(map(self._runner.health.has_record, empty)) >= _SUFFICIENT_EMPTIES

    def _may_start(self) -> bool:
        if not self._running:
            return bool(self._queue)
        following = self._following()
        if not self._hedged or following is None:
            return False
        newest, now = self._newest(), self._loop.time()
        if now - newest.began < self._late_after(newest, following):
            return False
        reserve = _ANSWER_RESERVE if len(self._running) < _URGENT_LATE_CALLS else 0.0
        if not price_of(following) or self._runner.extra.allows(self._would_answer(newest), reserve=reserve):
            return True
        return self._repeat_free()

    def _following(self) -> SearchProvider | None:
        """Return the provider to call next beside a running one."""
        return self._repeat or (self._queue[0] if self._queue else None)

    def _take(self) -> SearchProvider:
        """Return the provider to call now; a free one is repeated only beside another call."""
        repeat, self._repeat = self._repeat, None
        return repeat if repeat is not None and self._running else self._queue.pop(0)

    def _start(self, provider: SearchProvider) -> None:
        state, charged = AttemptState(provider, self._policy.slot_wait if self._queue else math.inf), 0.0
        earlier = list(self._running)
        if (earlier or self._round > 1) and price_of(provider):
            charged = self._would_answer(self._newest()) if earlier else 1.0
        third_quartile = self._runner.latencies[provider.name].quantile(0.75, 0.0)
        state.timeout = max(_TIMEOUT_QUARTILES * third_quartile, self._attempt_timeout)
        task = self._loop.create_task(self._attempt(state))
        self._running[task] = state
        self._started.append(self._loop.time())
        if self._hedged and len(self._providers) > 1 and price_of(provider):
            self._repeat_free()
        if charged:
            self._runner.extra.spend(charged)
            _correct_later(self._runner.extra, charged, task, state, earlier if self._round == 1 else ())

    def _repeat_free(self) -> bool:
        """Choose a healthy free provider without a rate limit that is late or has failed, to call it once more."""
        failed = {
            item.attempt.provider
            for item in self._finish.results
            if item.attempt.outcome in _REPEATED and item.empty == "no"
        }
        candidates, limiter = self._worth_repeating(failed) - self._repeated, self._caller.limiter
        for provider in self._providers if candidates else ():
            if provider.name not in candidates or price_of(provider):
                continue
            healthy = self._runner.health.provider_health(provider.name).state == "healthy"
            if healthy and limiter.pace(provider, scope(provider)) is None:
                self._repeat = provider
                self._repeated.add(provider.name)
                return True
        return False

    def _worth_repeating(self, failed: Collection[str]) -> set[str]:
        """Return the providers to call again: those that failed, and of those that have not answered, the lossy ones.

        Their requests may be lost. Any other service is only slow, and a second request would slow it down further.
        """
        silent = {running.provider.name for running in self._running.values()}
        ended = [item.attempt for item in self._finish.results]
        silent |= {attempt.provider for attempt in ended if attempt.outcome == "timeout" and attempt.status is None}
        return {name for name in silent | set(failed) if name not in silent or self._loses(name)}

    def _loses(self, provider: str) -> bool:
        return self._runner.loses(provider, self._deadline.remaining())

    def _end_late(self) -> None:
        """End the attempts whose timeout is over, if that leaves time for something better."""
        for running in self._running.values():
            if self._may_end(running) and self._loop.time() - running.began >= running.timeout:
                running.end()

    def _may_end(self, running: AttemptState) -> bool:
        """Whether another provider could be called instead of a running one, or the same one once more."""
        may_end = running.sent and not running.ended
        return may_end and (bool(self._queue) or self._loses(running.provider.name))

    def _newest(self) -> AttemptState:
        return max(self._running.values(), key=lambda running: running.since)

    async def _attempt(self, state: AttemptState) -> AttemptResult:
        done = await self._caller.attempt(self._call, state)
        if state.sent and done.rows:
            self._runner.latencies[state.provider.name].add(self._loop.time() - state.sent_at.result())
        return done

    async def _wait(self) -> None:
        """Wait until a call ends, or until the next provider may have to start."""
        wake, newest, now = self._deadline.remaining(), self._newest(), self._loop.time()
        late = 0.0
        if self._hedged and (following := self._following()) is not None:
            late = self._late_after(newest, following) - (now - newest.began)  # rounded as where it is compared
            wake = min(wake, max(0.001, late) if late > 0 else _POLL)  # due, if the budget allows it
        elif self._may_retry():
            late = self._lost_for_good(newest.provider) - (now - newest.began)
            if late > 0:
                wake = min(wake, max(0.001, late))
        for running in self._running.values():
            if self._may_end(running):
                wake = min(wake, max(0.001, running.began + running.timeout - now))
        await self._until_one_ends(wake, until_sent=late <= 0)

    async def _until_one_ends(self, wake: float, *, until_sent: bool = True) -> None:
        """Wait until a call ends, or is sent if that matters, up to a limit in seconds, and take the results."""
        waiting: list[asyncio.Future[Any]] = [*self._running]
        if until_sent:  # a call that is sent in time only moves what is waited for away, and is looked at then
            waiting += [running.sent_at for running in self._running.values() if not running.sent]
        if waiting:
            await asyncio.wait(waiting, timeout=wake, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(wake)
        ended = [task for task in self._running if task.done()]
        for task in sorted(ended, key=lambda task: self._running[task].since):
            del self._running[task]
            done = task.result()
            if done.rows and self._finish.winner is None:
                self._finish.winner = done
            else:
                self._finish.results.append(done)
        if self._finish.winner is not None:
            self._finish.results.append(self._finish.winner)

    async def _next_round(self, providers: Sequence[SearchProvider]) -> bool:
        """Retry transient failures after a pause, if time and tokens are left."""
        policy = self._policy
        pause = policy.retry_pause * 2**self._round * (0.5 + self._runner._random() / 2)
        failed = self._failed_for_now()
        if not failed:
            return False
        has_retry_time = 0.0 not in failed.values()
        if self._round >= policy.rounds or not (has_retry_time or self._runner._retries.allows(1)):
            return await self._wait_out_outage(failed) and self._ask_again(providers, free=True)
        if has_retry_time:  # the providers stated the time, so a retry then takes no token
            pause += min(failed.values())
        if self._deadline.remaining() < policy.least_for_retry + pause:
            return False
        await asyncio.sleep(pause)
        return self._ask_again(providers, free=has_retry_time)

    def _failed_for_now(self) -> dict[str, float]:
        failed = _failed_for_now(self._finish.results, self._deadline.remaining())
        return {name: failed[name] for name in self._worth_repeating(failed) if name in failed}

    async def _wait_out_outage(self, failed: Collection[str]) -> bool:
        """Wait some seconds until another search has rows again, or for this one's turn to try: one search a second.

        Only for a short outage: of providers that had rows in the last minute.
        """
        runner, empty = self._runner, any(item.empty in {"answered", "filtered"} for item in self._finish.results)
        if empty or not any(runner.health.had_rows(name, _OUTAGE) for name in failed):
            return False
        policy, now = self._policy, self._loop.time()
        answers, self._patient_until = runner.answers, self._patient_until or now + policy.outage_wait
        until = min(self._patient_until, now + self._deadline.remaining() - policy.least_for_retry - _POLL)
        while self._loop.time() <= until:
            await asyncio.sleep(_POLL * (0.5 + runner._random()))
            if runner.answers > answers or self._loop.time() >= runner.next_turn:
                runner.next_turn = self._loop.time() + _TURN
                return True
        return False

    def _ask_again(self, providers: Sequence[SearchProvider], *, free: bool = False) -> bool:
        """Start another round with the transient failures and the calls presumed lost."""
        if not free:
            self._runner._retries.spend(1)
        self._round += 1
        names = self._worth_repeating(_failed_for_now(self._finish.results, self._deadline.remaining()))
        order = self._runner.health.order([provider for provider in providers if provider.name in names], price_of)
        affordable = self._runner.extra.allows(self._would_answer(self._newest()) if self._running else 1.0)
        self._queue = [provider for provider in order.queue if affordable or not price_of(provider)]
        for name in order.probes - {provider.name for provider in self._queue}:
            self._runner.health.give_up_probe(name)
        self._probes |= order.probes
        return bool(self._queue)

    def _may_retry(self) -> bool:
        """Whether another round may start beside calls presumed lost, which may have exhausted the tokens."""
        in_time = self._deadline.remaining() >= self._policy.least_for_retry
        return self._hedged and in_time and self._round <= self._policy.rounds and self._runner._retries.allows(1)

    def _is_lost(self) -> bool:
        """Whether the latest call is more likely lost than slow, and another round could call a provider."""
        newest = self._newest()
        if not newest.sent or not self._may_retry():
            return False
        if self._loop.time() - newest.began < self._lost_for_good(newest.provider):
            return False
        return bool(self._worth_repeating(_failed_for_now(self._finish.results, self._deadline.remaining())))

    def _late_after(self, newest: AttemptState, following: SearchProvider) -> float:
        """Return after how many seconds the next provider starts as a hedge, or replaces a lost call."""
        return min(self._delay(newest.provider, following), self._lost_after(newest.provider))

    def _would_answer(self, running: AttemptState) -> float:
        """Return the probability that a running call still responds: then a paid hedge was extra."""
        waited = self._loop.time() - running.began if running.sent else 0.0
        latencies, lost = self._runner.latencies[running.provider.name], self._runner.health.lost(running.provider.name)
        alive = (1 - lost) * latencies.later(waited, self._policy.unknown)
        return alive / (alive + lost)

    def _pause(self) -> float:
        """Return the seconds until another request is within the rate limit of a search."""
        most = self._policy.most_requests
        return self._started[-most] + 1.0 - self._loop.time() if len(self._started) >= most else 0.0

    def _lost_for_good(self, provider: SearchProvider) -> float:
        """Return after how many seconds a call without a response is followed by another round."""
        return max(self._lost_after(provider), self._policy.least_for_retry)

    def _abandon_running(self) -> None:
        for provider in self._queue:
            if provider.name in self._probes:
                self._runner.health.give_up_probe(provider.name)
        winner = self._finish.winner
        for task, running in self._running.items():
            if winner is not None and running.sent:
                self._runner.drain(task, running)
            else:
                task.cancel()  # an unsent one costs nothing that way
            if winner is not None:
                same = winner.attempt.provider == running.provider.name
                reason = _LOST_TO_REPEAT if same else _LOST_TO_PROVIDER
                self._finish.abandoned.append(running.unanswered(reason, abandoned=True))
                continue
            done = AttemptResult(running.unanswered(running.reason, abandoned=False))
            self._finish.results.append(done)
            if running.sent and self._deadline.passed:  # canceled by the deadline, not by the caller
                self._caller.report(done, running)

    def _delay(self, running: SearchProvider, following: SearchProvider) -> float:
        """Return after how many seconds the next provider starts as a hedge."""
        policy = self._policy
        share = policy.free_quantile if price_of(following) == 0 else policy.quantile
        latency = self._runner.latencies[running.name].quantile(share, policy.unknown)
        return min(max(latency, policy.shortest), policy.longest)

    def _lost_after(self, running: SearchProvider) -> float:
        """Return after how many seconds a call is as likely lost as slow."""
        lost = self._runner.health.lost(running.name)
        latencies = self._runner.latencies[running.name]
        # Both are equally likely when 1 - F(t) equals lost / (1 - lost).
        seconds = latencies.quantile(1 - lost / (1 - lost), max(2.5 * self._policy.unknown, latencies.longest))
        return min(max(seconds, self._policy.shortest), self._attempt_timeout)


def _failed_for_now(results: Sequence[AttemptResult], seconds: float) -> dict[str, float]:
    """Return the providers whose latest failure is transient, with their Retry-After in seconds, below a limit."""
    last = {item.attempt.provider: item for item in results}
    return {
        name: item.attempt.retry_after or 0.0
        for name, item in last.items()
        if item.attempt.outcome in _TRANSIENT and item.empty == "no" and (item.attempt.retry_after or 0.0) < seconds
    }


def _correct_later(
    budget: ExtraBudget,
    charged: float,
    paid: asyncio.Task[AttemptResult],
    state: AttemptState,
    earlier: Sequence[asyncio.Task[AttemptResult]],
) -> None:
    """Correct the charge of a paid call when it is known whether it was extra.

    Args:
        budget: The budget, already charged.
        charged: The amount.
        paid: The call.
        state: Its state.
        earlier: The calls that it hedges; none for a call of a further round, which always counts.
    """

    def settle(_: asyncio.Task[AttemptResult]) -> None:
        if not all(task.done() for task in (paid, *earlier)):
            return
        if not state.sent or (not paid.cancelled() and not paid.result().answered):
            extra = 0.0  # what was not sent, or not answered, is not paid
        elif not earlier or any(not task.cancelled() and task.result().rows for task in earlier):
            extra = 1.0
        else:
            extra = charged if any(task.cancelled() for task in earlier) else 0.0
        budget.spend(extra - charged)

    for task in (paid, *earlier):
        task.add_done_callback(settle)
