"""A search by several providers: who is asked, in which strategy, and what is believed of what they say.

An empty answer is believed only when something shows that searching worked: a second provider that also found
nothing, rows that were there but did not pass the filters that the provider was given, or a canary (a query that
always has results) that the same provider answers, before it finds nothing once more. Otherwise a provider that quietly
refuses would look like a web without an answer.
"""

from __future__ import annotations

import asyncio
import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from groundwire.deadline import Deadline
from groundwire.errors import AllProvidersFailed
from groundwire.models import Attempt, FilterReceipt, Observer, Outcome, Query, RateWindow, SearchResult
from groundwire.providers import SearchProvider
from groundwire.routing.cost_ledger import CostLedger
from groundwire.routing.health import ProviderHealth
from groundwire.routing.hedging import HedgedRunner, HedgeResult, skipped_cooldown
from groundwire.routing.hedging_policy import HedgePolicy, Strategy
from groundwire.routing.provider_call import AttemptResult, AttemptState, ProviderCaller, make_attempt, price_of
from groundwire.routing.rate_limiter import Rate, RateLimiter, scope
from groundwire.routing.result_merging import fuse
from groundwire.routing.shared_health import HealthRecord, SharedHealth
from groundwire.safety.domains import DomainPolicy
from groundwire.storage.base import Store

__all__ = ["Router", "RouterResult"]

_CANARY = "wikipedia"  # a word of which every index of the web has pages
_GRACE = 0.2  # seconds that the last one has even when the time is up; it is on this machine
_SLOWEST = 60.0  # seconds between two requests; a limit over a longer time is a quota
_MOMENTS = ("closed", "suspect")


@dataclass(frozen=True, slots=True)
class RouterResult:
    """What came of a search."""

    provider: str
    """The provider that answered; several, joined by `+`, for a fused answer."""
    results: tuple[SearchResult, ...]
    """The rows; none means that it is certain that nothing was found."""
    attempts: tuple[Attempt, ...]
    """Every try, in the order in which they ended."""
    filters: tuple[FilterReceipt, ...] = ()
    """What became of each filter that was asked for."""
    warnings: tuple[str, ...] = ()
    """What the reader should know."""
    stale: bool = False
    """Whether it is older than it should be."""


class Router:
    """Asks providers by a strategy.

    Args:
        providers: In the order in which they are asked.
        attempt_timeout: Seconds for one attempt, at most.
        policy: The operator's domain lists.
        attempt_listener: Is told when an attempt starts and ends.
        strategy: The strategy of a search that does not name one.
        hedging: The numbers of the hedging policy.
        store: Where paces are kept, and what processes tell one another about providers.
        last: Is asked when everybody else has failed; its rows are older than they should be.
        clock: The time in seconds since the epoch, for what other processes hear.
    """

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        *,
        attempt_timeout: float = 6.0,
        policy: DomainPolicy | None = None,
        attempt_listener: Observer | None = None,
        strategy: Strategy = "hedge",
        hedging: HedgePolicy | None = None,
        store: Store | None = None,
        last: SearchProvider | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.providers = tuple(providers)
        self._hedging = hedging or HedgePolicy()
        self._racer = HedgedRunner(self._hedging, attempt_timeout=attempt_timeout, tell=self._tell)
        self._notices = SharedHealth(store, self._hear, clock) if store is not None else None
        self._clock = clock
        self._pacer = RateLimiter(store, self._news) if store is not None else None
        self._asker = ProviderCaller(
            attempt_timeout=attempt_timeout,
            policy=policy,
            attempt_listener=attempt_listener,
            pacer=self._pacer,
            learned=self._learned,
        )
        self._strategy = strategy
        self._last = last
        self._canaries: dict[str, float] = {}

    async def search(
        self, query: Query, deadline: Deadline, strategy: Strategy | None = None, bill: CostLedger | None = None
    ) -> RouterResult:
        """Return an answer that has results, or a proven empty one.

        Args:
            query: What is asked.
            deadline: When the answer must be here.
            strategy: How to ask; by default as the chain was made.
            bill: What the calls cost is put down there, also of those that end after the answer.

        Raises:
            AllProvidersFailed: nobody could search, or nobody could prove that there is nothing.
        """
        chosen = strategy or self._strategy
        began = asyncio.get_running_loop().time()
        if self._notices is not None:
            await self._notices.refresh([scope(provider) for provider in self.providers])
        if chosen == "fuse":
            finish = await self._all_at_once(query, deadline, bill)
        else:

            async def ask(provider: SearchProvider, until: Deadline, call: AttemptState) -> AttemptResult:
                return await self._asker.ask(provider, query, until, call=call, bill=bill)

            finish = await self._racer.run(self.providers, ask, deadline, hedged=chosen == "hedge")
        attempts = [item.attempt for item in finish.tries] + finish.left
        canaries: list[Attempt] = []
        witness = finish.winner or await self._witness(finish.tries, query, deadline, canaries, bill, began)
        if witness is not None and witness.rows:
            return RouterResult(
                witness.attempt.provider, witness.rows, (*attempts, *canaries), witness.filters, tuple(witness.warnings)
            )
        if witness is None:
            attempts += canaries
            if self._last is None:
                raise AllProvidersFailed(attempts)
            grace = Deadline(max(deadline.at, deadline.clock() + _GRACE), deadline.clock)
            old = await self._asker.ask(self._last, query, grace)
            if not old.rows:
                raise AllProvidersFailed(attempts)
            warnings = (*old.warnings, str(AllProvidersFailed(attempts)))
            return RouterResult(self._last.name, old.rows, (*attempts, old.attempt), old.filters, warnings, stale=True)
        return _proven_empty(finish.tries, witness, canaries)

    def provider_health(self) -> tuple[ProviderHealth, ...]:
        """Return how each provider stands, as far as this process knows; call it in the event loop."""
        return tuple(self._racer.health.provider_health(provider.name) for provider in self.providers)

    def restricted(self, providers: Sequence[SearchProvider], policy: DomainPolicy) -> Router:
        """Return a view that asks only some of the providers, under another policy; what is learned is shared.

        Args:
            providers: Those of this chain that may be asked, in their order.
            policy: The domain lists.
        """
        view = copy.copy(self)
        view.providers = tuple(providers)
        view._asker = self._asker.with_policy(policy)
        return view

    @property
    def price_usd(self) -> float:
        """What one search costs if every provider answers once, in US dollars; more is reserved call by call."""
        return sum(map(price_of, self.providers))

    async def aclose(self) -> None:
        """Stop listening to calls that lost, and let the others know what is to be told."""
        await self._racer.aclose()
        if self._notices is not None:
            await self._notices.aclose()

    def _tell(self, name: str, changes: Mapping[str, float | int | str]) -> None:
        """Tell other processes what has changed about a provider."""
        provider = next((one for one in self.providers if one.name == name), None)
        if self._notices is None or provider is None:
            return
        if changes.get("outcome") in {"auth", "quota"} and not getattr(provider, "account", ""):
            return  # it may be another account that the others have
        moments = {key: self._clock() + value for key, value in changes.items() if key in _MOMENTS and value}  # type: ignore[operator]
        self._notices.publish(scope(provider), {**changes, **moments})

    def _hear(self, where: str, notice: HealthRecord) -> None:
        """Take note of what other processes know about a provider."""
        now = self._clock()
        for provider in self.providers:
            if scope(provider) == where:
                self._racer.health.merge(
                    provider.name,
                    closed=notice.closed - now if notice.closed else -1.0,
                    outcome=cast("Outcome", notice.outcome) if notice.outcome in get_args(Outcome) else "rate_limited",
                    reason=notice.reason,
                    suspect=max(0.0, notice.suspect - now),
                    times=int(notice.times),
                )
        if self._pacer is not None and notice.interval > 0 and notice.burst >= 1:
            self._pacer.merge(where, Rate(min(notice.interval, _SLOWEST), int(notice.burst)))

    async def _news(self, providers: Sequence[SearchProvider]) -> None:
        if self._notices is not None:
            await self._notices.read([scope(provider) for provider in providers])

    def _learned(self, provider: SearchProvider, rate: Rate | None, windows: Sequence[RateWindow]) -> None:
        """Act on what a provider said about its limits: tell its rate, and leave it alone when a quota is used up."""
        if rate is not None and self._notices is not None:
            self._notices.publish(scope(provider), {"interval": rate.interval, "burst": rate.burst})
        for window in windows:
            if window.remaining == 0 and window.limit != 0 and (window.reset or 0.0) > _SLOWEST:
                said = f"its limit of {window.limit} requests is used up" if window.limit else "its limit is used up"
                self._racer.health.close(provider.name, window.reset or 0.0, "quota", said)

    async def _all_at_once(self, query: Query, deadline: Deadline, bill: CostLedger | None) -> HedgeResult:
        """Ask the first few that may be asked, all at once, and merge what they found."""
        health = self._racer.health
        order = health.order(self.providers)
        asked = order.queue[: self._hedging.fused]
        for provider in order.queue[self._hedging.fused :]:
            health.give_up_probe(provider.name)
        calls = [AttemptState(self._hedging.longest if len(asked) > 1 else math.inf) for _ in asked]
        loop = asyncio.get_running_loop()
        began = loop.time()
        tasks = [
            loop.create_task(self._asker.ask(provider, query, deadline, call=call, bill=bill))
            for provider, call in zip(asked, calls, strict=True)
        ]
        await self._gathered(tasks)
        tries = []
        for provider, call, task in zip(asked, calls, tasks, strict=True):
            if call.sent and not task.cancelled():
                item = task.result()
                health.report(item.attempt, answered=item.answered)
            else:
                health.give_up_probe(provider.name)
                item = AttemptResult(
                    make_attempt(provider.name, "timeout", "not waited for any longer: others had answered")
                )
                item.attempt = item.attempt.model_copy(
                    update={
                        "latency_ms": round((loop.time() - began) * 1_000),
                        "cost_usd": price_of(provider) if call.sent else 0.0,
                        "abandoned": True,
                    }
                )
            tries.append(item)
        found = [item for item in tries if item.rows]
        tries += [AttemptResult(skipped_cooldown(one)) for one in order.closed]
        if not found:
            return HedgeResult(tries=tries)
        merged = AttemptResult(
            found[0].attempt.model_copy(update={"provider": "+".join(item.attempt.provider for item in found)}),
            tuple(fuse([item.rows for item in found])[: query.limit]),
            found[0].filters,
            tuple(dict.fromkeys(warning for item in found for warning in item.warnings)),
        )
        return HedgeResult(merged, tries)

    async def _gathered(self, tasks: Sequence[asyncio.Task[AttemptResult]]) -> None:
        """Wait for all; once one has rows the others have only so long, and are cancelled then."""
        waiting, answered = set(tasks), False
        try:
            while waiting:
                ended, waiting = await asyncio.wait(
                    waiting,
                    timeout=self._hedging.fuse_max_wait if answered else None,
                    return_when=asyncio.ALL_COMPLETED if answered else asyncio.FIRST_COMPLETED,
                )
                if answered:
                    return
                answered = any(task.result().rows for task in ended)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _witness(
        self,
        tries: Sequence[AttemptResult],
        query: Query,
        deadline: Deadline,
        canaries: list[Attempt],
        bill: CostLedger | None,
        began: float,
    ) -> AttemptResult | None:
        """Return the try whose emptiness is proven, one that found something after all, or None.

        A canary of before the search began proves nothing: the provider may have begun to refuse since.
        """
        filtered = [item for item in tries if item.empty == "filtered"]
        answered = [item for item in tries if item.empty == "answered"]
        if filtered:
            return filtered[0]
        if len({item.attempt.provider for item in answered}) > 1:
            return answered[0]
        for item in (*answered, *(item for item in tries if item.empty == "unproven")):
            name = item.attempt.provider
            if not await self._canary(name, deadline, canaries, bill, began):
                continue
            again = await self._asker.ask(self._named(name), query, deadline, bill=bill)  # it may have lied just once
            proven = not again.rows and again.empty != "no"
            said = {"outcome": "empty", "reason": "found nothing again"} if proven else {}
            canaries.append(again.attempt.model_copy(update=said))
            if again.rows or proven:
                return again if again.rows else item
        return None

    async def _canary(
        self, name: str, deadline: Deadline, canaries: list[Attempt], bill: CostLedger | None, began: float
    ) -> bool:
        """Whether the provider has found anything at all since then."""
        if self._canaries.get(name, -math.inf) > began:
            return True
        done = await self._asker.ask(self._named(name), Query(text=_CANARY, limit=1), deadline, bill=bill)
        reason = "a canary, to see whether it finds anything at all"
        canaries.append(done.attempt.model_copy(update={"reason": done.attempt.reason or reason}))
        if done.rows:
            self._canaries[name] = asyncio.get_running_loop().time()
        return bool(done.rows)

    def _named(self, name: str) -> SearchProvider:
        return next(provider for provider in self.providers if provider.name == name)


def _proven_empty(tries: Sequence[AttemptResult], witness: AttemptResult, canaries: Sequence[Attempt]) -> RouterResult:
    attempts = []
    for item in tries:
        if item is witness or item.empty in {"answered", "filtered"}:
            reason = item.attempt.reason if item.empty == "filtered" else "searched and found nothing"
            attempts.append(item.attempt.model_copy(update={"outcome": "empty", "reason": reason}))
        else:
            attempts.append(item.attempt)
    failed = [attempt.describe() for attempt in attempts if attempt.outcome != "empty"]
    warnings = (f"Other providers could not be asked: {'; '.join(failed)}",) if failed else ()
    return RouterResult(witness.attempt.provider, (), (*attempts, *canaries), witness.filters, warnings)
