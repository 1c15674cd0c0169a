"""Search with several providers: order, strategy, and assembly of the response."""

from __future__ import annotations

import asyncio
import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from groundwire.deadline import Deadline
from groundwire.errors import AllProvidersFailed
from groundwire.models import Attempt, FilterReceipt, Observer, SearchResponse, SearchResult
from groundwire.providers.base import SearchProvider, price_of
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.calls import SearchCall
from groundwire.routing.confirm_empty import EmptyConfirmer
from groundwire.routing.health import Health, ProviderHealth
from groundwire.routing.hedging import HedgedRunner, HedgePolicy, HedgeResult
from groundwire.routing.keyless import KeylessNotice
from groundwire.routing.provider_call import AttemptResult, AttemptState, ProviderCaller
from groundwire.routing.rate_limiter import RateLimiter
from groundwire.routing.result_merging import fuse, replaced
from groundwire.routing.shared_health import SharedHealth
from groundwire.storage.archive.records import ARCHIVE
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import Store
from groundwire.storage.memory import MemoryStore

_GRACE = 1.0  # seconds for the last resort even after the deadline; it is local, and quick unless the machine is busy


class Router:
    """Calls providers by a strategy.

    Args:
        providers: The providers, in order.
        attempt_timeout: The timeout in seconds of an attempt in a usual search, while another provider could be called.
        timeout: The seconds of a usual search; one with more time gives each attempt more, in proportion.
        attempt_listener: Called when an attempt starts and ends.
        hedging: The hedging policy.
        store: The store of rate limits and shared health.
        last: Called when all others have failed; its rows are stale.
        archive: Stores the responses.
        clock: The time in seconds since the epoch, for shared health.
    """

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        *,
        attempt_timeout: float = 6.0,
        timeout: float = 10.0,
        attempt_listener: Observer | None = None,
        hedging: HedgePolicy | None = None,
        store: Store | None = None,
        last: SearchProvider | None = None,
        archive: Archive | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.providers: tuple[SearchProvider, ...] = tuple(providers)
        self._hedging = hedging or HedgePolicy()
        health = Health()
        counts = store or MemoryStore(clock=lambda: asyncio.get_running_loop().time())
        limiter = RateLimiter(counts)
        self._runner = HedgedRunner(self._hedging, health, attempt_timeout=attempt_timeout, timeout=timeout)
        self._shared = SharedHealth(store, health, limiter, self._runner.extra, clock) if store is not None else None
        self._caller = ProviderCaller(
            health,
            attempt_listener=attempt_listener,
            limiter=limiter,
            store=counts,
            notice=KeylessNotice(counts, self.providers),
            shared=self._shared,
        )
        self._confirmer = EmptyConfirmer(self._runner.extra, self._caller)
        self._tasks = BackgroundTasks()
        self._last = last
        self._archive = archive

    async def search(self, call: SearchCall) -> SearchResponse:
        """Return a response with results, or a confirmed empty one; its attempts are those of `call`.

        Raises:
            AllProvidersFailed: no provider could search, or an empty result could not be confirmed.
        """
        response = await self._route(call)
        if self._archive is not None and call.cache_mode != "bypass":
            self._archive.remember(response, owner=call.owner)
        return response

    def provider_health(self) -> tuple[ProviderHealth, ...]:
        """Return the health of each provider as known to this process; call it in the event loop."""
        healths = []
        for provider in self.providers:
            health, pause = self._caller.health.provider_health(provider.name), self._caller.limiter.pause_of(provider)
            if pause is not None and health.state != "cooldown":
                seconds, reason = pause
                state: Literal["cooldown", "degraded"] = "cooldown" if seconds else "degraded"
                health = ProviderHealth(provider.name, state, max(seconds, health.seconds), reason)
            healths.append(health)
        return tuple(healths)

    def restricted(self, providers: Sequence[SearchProvider]) -> Router:
        """Return a view with only some of the providers, in order; health is shared."""
        view = copy.copy(self)
        view.providers = tuple(providers)
        return view

    @property
    def price_usd(self) -> float:
        """The price of a search if every provider is called once, in US dollars; more is reserved per attempt."""
        return sum(map(price_of, self.providers))

    async def aclose(self) -> None:
        """Cancel losing attempts and control queries, and wait for pending writes of shared health."""
        await self._runner.aclose()
        await self._tasks.aclose(cancel=True)
        if self._shared is not None:
            await self._shared.aclose()

    async def _route(self, call: SearchCall) -> SearchResponse:
        began = asyncio.get_running_loop().time()
        if self._shared is not None:
            await self._shared.refresh(self.providers)
        if call.strategy == "fuse":
            finish = await self._fuse(call)
        else:
            finish = await self._runner.run(call, self.providers, self._caller, hedged=call.strategy == "hedge")
        self._ask_controls(call, self._hedging.most_requests - len(finish.results) - len(finish.abandoned))
        attempts = [item.attempt for item in finish.results] + finish.abandoned
        result, controls = finish.winner, list[Attempt]()
        if result is None:
            result, controls = await self._confirmer.confirm(finish.results, call, self.providers, began)
        if result is None:
            return await self._last_resort(call, [*attempts, *controls])
        health, rows = self._caller.health, bool(result.rows)
        for item in finish.results:
            if item.empty in {"answered", "unproven"}:
                health.weigh(item.attempt.provider, contradicted=rows)
        if result.rows:
            name, warnings = result.attempt.provider, result.warnings
            old = all(row.source == ARCHIVE for row in result.rows)  # the archive may be one of the providers, too
            return _response(call, name, (*attempts, *controls), result.rows, result.filters, warnings, stale=old)
        proven, warnings = _proven_empty(finish.results, result)
        return _response(call, result.attempt.provider, (*proven, *controls), (), result.filters, warnings)

    def _ask_controls(self, call: SearchCall, most: int) -> None:
        """Send up to so many control queries, in the background, to providers with repeated empty results."""
        suspects = self._caller.health.suspects
        for provider in self.providers if suspects and most > 0 else ():
            if provider.name in suspects and (most := most - 1) >= 0:
                suspects.remove(provider.name)
                later = Deadline.after(self._runner.attempt_timeout, call.deadline.clock)
                self._tasks.start(self._confirmer.control(provider, replace(call, deadline=later)))

    async def _last_resort(self, call: SearchCall, attempts: list[Attempt]) -> SearchResponse:
        """Return the last provider's results when all others have failed."""
        error = AllProvidersFailed(attempts)
        if self._last is not None:
            deadline = call.deadline
            grace = Deadline(max(deadline.at, deadline.clock() + _GRACE), deadline.clock)
            old = await self._caller.probe(self._last, replace(call, deadline=grace))
            if old.rows:
                warnings = (*old.warnings, error.summary)
                all_attempts = (*attempts, old.attempt)
                return _response(call, self._last.name, all_attempts, old.rows, old.filters, warnings, stale=True)
        call.attempts.extend(attempts)
        raise error

    async def _fuse(self, call: SearchCall) -> HedgeResult:
        """Call the first few available providers at once, and merge their results."""
        health = self._caller.health
        order = health.order(self.providers)
        providers = order.queue[: self._hedging.fused]
        for provider in order.queue[self._hedging.fused :]:
            health.give_up_probe(provider.name)
        slot_wait = self._hedging.slot_wait if len(providers) > 1 else math.inf
        states = [AttemptState(provider, slot_wait) for provider in providers]
        tasks = [asyncio.create_task(self._caller.attempt(call, state)) for state in states]
        await self._wait_all(tasks)
        lost = "abandoned: others had answered"
        results = [
            AttemptResult(state.unanswered(lost, abandoned=True)) if task.cancelled() else task.result()
            for state, task in zip(states, tasks, strict=True)
        ]
        answers = [item for item in results if item.rows]
        results += map(AttemptResult, order.skipped)
        if not answers:
            return HedgeResult(results=results)
        merged = AttemptResult(
            answers[0].attempt.model_copy(update={"provider": "+".join(item.attempt.provider for item in answers)}),
            tuple(fuse([item.rows for item in answers])[: call.query.limit]),
            answers[0].filters,
            tuple(dict.fromkeys(warning for item in answers for warning in item.warnings)),
        )
        return HedgeResult(merged, results)

    async def _wait_all(self, tasks: Sequence[asyncio.Task[AttemptResult]]) -> None:
        """Wait for all; once one has rows, the others have limited time and are then canceled."""
        ended, waiting = set[asyncio.Task[AttemptResult]](), set(tasks)
        try:
            while waiting and not any(task.result().rows for task in ended):
                ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if waiting:
                await asyncio.wait(waiting, timeout=self._hedging.fuse_max_wait)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _response(
    call: SearchCall,
    provider: str,
    attempts: Sequence[Attempt],
    rows: Sequence[SearchResult],
    filters: tuple[FilterReceipt, ...],
    warnings: tuple[str, ...],
    *,
    stale: bool = False,
) -> SearchResponse:
    """Record the attempts and return the response, its results numbered from 1."""
    call.attempts.extend(attempts)
    places = range(1, len(rows) + 1)
    if [row.citation_id for row in rows] != [*places]:
        rows = [replaced(row, citation_id=place) for row, place in zip(rows, places, strict=True)]
    return SearchResponse.model_construct(
        query=call.query.text,
        results=tuple(rows),
        provider=provider,
        attempts=tuple(attempts),
        filters=filters,
        warnings=warnings,
        stale=stale,
    )


def _proven_empty(results: Sequence[AttemptResult], proven: AttemptResult) -> tuple[list[Attempt], tuple[str, ...]]:
    """Return the attempts of a search without results, and its warnings."""
    attempts = []
    for item in results:
        if item is proven or item.empty in {"answered", "filtered"}:
            reason = item.attempt.reason if item.empty == "filtered" else "searched and found nothing"
            attempts.append(item.attempt.model_copy(update={"outcome": "empty", "reason": reason}))
        else:
            attempts.append(item.attempt)
    warnings = [
        f"{item.attempt.provider} found {item.attempt.reason}; "
        f"search again without {' and '.join(receipt.filter for receipt in item.filters)}"
        for item in results
        if item.empty == "filtered" and item.filters
    ]
    failed = [attempt.describe() for attempt in attempts if attempt.outcome != "empty"]
    if failed:
        warnings.append(f"Other providers could not be called: {'; '.join(failed)}")
    return attempts, tuple(warnings)
