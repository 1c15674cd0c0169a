"""Providers in their order: the next one on every failure, and every attempt on record.

An empty answer is believed only when something shows that searching worked: a second provider that also found
nothing, rows that were there but did not pass the filters that the provider was given, or a canary (a query that
always has results) that the same provider answers. Otherwise a provider that quietly refuses would look like a web
without an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from groundwire.deadline import Deadline
from groundwire.errors import (
    AllProvidersFailed,
    BlockedByPolicy,
    GroundwireError,
    ProviderError,
    ProviderTimeout,
    UnprovenEmpty,
)
from groundwire.models import (
    Attempt,
    AttemptFinished,
    AttemptStarted,
    FilterReceipt,
    Observer,
    Outcome,
    Query,
    Results,
    SearchResult,
)
from groundwire.providers import SearchProvider
from groundwire.routing.filters import asked_of, notes, receipts, sift
from groundwire.routing.normalise import normalise
from groundwire.safety.domains import DomainPolicy

__all__ = ["Chain", "ChainAnswer"]

_logger = logging.getLogger(__name__)

_CANARY = "wikipedia"  # a word of which every index of the web has pages
_CANARY_LIFE = 300.0  # seconds for which a canary's answer stands
_NO_WORDS = "no results, which it also answers when it refuses (unproven)"

Emptiness = Literal["no", "unproven", "answered", "filtered"]


@dataclass(frozen=True, slots=True)
class ChainAnswer:
    """What came of a search."""

    provider: str
    """The provider that answered."""
    results: tuple[SearchResult, ...]
    """Its rows; none means that it is certain that nothing was found."""
    attempts: tuple[Attempt, ...]
    """Every try, in order."""
    filters: tuple[FilterReceipt, ...] = ()
    """What became of each filter that was asked for."""
    warnings: tuple[str, ...] = ()
    """What the reader should know."""


@dataclass(slots=True)
class _Try:
    """One attempt and what it found."""

    attempt: Attempt
    rows: tuple[SearchResult, ...] = ()
    filters: tuple[FilterReceipt, ...] = ()
    warnings: tuple[str, ...] = ()
    empty: Emptiness = "no"


class Chain:
    """Asks providers one after the other.

    Args:
        providers: In the order in which they are asked.
        attempt_timeout: Seconds for one attempt, at most.
        policy: The operator's domain lists.
        observer: Is told when an attempt starts and ends.
    """

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        *,
        attempt_timeout: float = 6.0,
        policy: DomainPolicy | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.providers = tuple(providers)
        self._attempt_timeout = attempt_timeout
        self._policy = policy or DomainPolicy()
        self._observer = observer
        self._canaries: dict[str, float] = {}

    async def search(self, query: Query, deadline: Deadline) -> ChainAnswer:
        """Return the first provider's answer that has results, or a proven empty one.

        Args:
            query: What is asked.
            deadline: When the answer must be here.

        Raises:
            AllProvidersFailed: nobody could search, or nobody could prove that there is nothing.
        """
        tries: list[_Try] = []
        for provider in self.providers:
            if deadline.passed:
                tries.append(_Try(_attempt(provider.name, "timeout", "not asked: no time was left")))
                continue
            done = await self._try(provider, query, deadline)
            tries.append(done)
            if done.rows:
                attempts = tuple(item.attempt for item in tries)
                return ChainAnswer(provider.name, done.rows, attempts, done.filters, done.warnings)
        canaries: list[Attempt] = []
        witness = await self._witness(tries, deadline, canaries)
        if witness is None:
            raise AllProvidersFailed([*(item.attempt for item in tries), *canaries])
        return _proven_empty(tries, witness, canaries)

    async def _try(self, provider: SearchProvider, query: Query, deadline: Deadline) -> _Try:
        self._tell(AttemptStarted(provider.name))
        started = time.perf_counter()
        try:
            results = await self._ask(provider, asked_of(query, self._policy), deadline)
        except GroundwireError as error:
            done = _Try(_failed(provider.name, error), empty="unproven" if isinstance(error, UnprovenEmpty) else "no")
        except Exception as error:  # anybody can write a provider: its fault is its outcome, not the caller's crash
            _logger.exception("The provider %s broke its contract", provider.name)
            reason = f"the provider itself failed ({type(error).__name__}); see the log"
            done = _Try(_attempt(provider.name, "invalid_response", reason))
        else:
            done = self._judge(provider, results, query)
        latency = round((time.perf_counter() - started) * 1_000)
        done.attempt = done.attempt.model_copy(update={"latency_ms": latency})
        self._tell(AttemptFinished(done.attempt))
        return done

    async def _ask(self, provider: SearchProvider, query: Query, deadline: Deadline) -> Results:
        """Ask one provider, and hold it to the time even if it does not look at its deadline."""
        limited = deadline.capped(self._attempt_timeout)
        try:
            async with limited.timeout():
                rows = await provider.search(query.text, limit=query.limit, filters=query, deadline=limited)
        except TimeoutError as error:
            if isinstance(error, GroundwireError):
                raise
            raise ProviderTimeout(provider.name, "no answer in time") from error
        return Results.of(rows)

    def _judge(self, provider: SearchProvider, results: Results, query: Query) -> _Try:
        name, asked = provider.name, asked_of(query, self._policy)
        wanted = DomainPolicy(query.allowed_domains, query.blocked_domains)
        sifted = sift(normalise(results, (self._policy, wanted), name), query)
        rows = sifted.rows[: query.limit]
        filters = receipts(asked, results, provider.capabilities, sifted, rows)
        warnings = (*results.warnings, *notes(filters, name))
        done = _Try(_attempt(name, "ok", "; ".join(results.warnings), results), rows, filters, warnings)
        if rows:
            if results.partial:
                done.attempt = done.attempt.model_copy(update={"outcome": "partial"})
            return done
        if not len(results):
            done.attempt, done.empty = _attempt(name, "unavailable", _NO_WORDS, results), "answered"
            return done
        left_to_us = [receipt.filter for receipt in filters if receipt.applied == "post_filter"]
        reason = f"{len(results)} results, none of them on an allowed domain and within the dates"
        if left_to_us:  # it was not told what we want, so what it found proves nothing
            reason += f"; it does not know {' and '.join(left_to_us)} (unproven)"
        done.attempt = _attempt(name, "unavailable", reason, results)
        done.empty = "no" if left_to_us else "filtered"
        return done

    async def _witness(self, tries: Sequence[_Try], deadline: Deadline, canaries: list[Attempt]) -> _Try | None:
        """Return the try whose emptiness is proven, or None; what a canary cost is put down."""
        filtered = [item for item in tries if item.empty == "filtered"]
        answered = [item for item in tries if item.empty == "answered"]
        if filtered:
            return filtered[0]
        if len(answered) > 1:
            return answered[0]
        for item in (*answered, *(item for item in tries if item.empty == "unproven")):
            if await self._canary(item.attempt.provider, deadline, canaries):
                return item
        return None

    async def _canary(self, name: str, deadline: Deadline, canaries: list[Attempt]) -> bool:
        """Whether the provider can find anything at all now."""
        if time.monotonic() - self._canaries.get(name, float("-inf")) < _CANARY_LIFE:
            return True
        provider = next(provider for provider in self.providers if provider.name == name)
        done = await self._try(provider, Query(text=_CANARY, limit=1), deadline)
        reason = "a canary, to see whether it finds anything at all"
        canaries.append(done.attempt.model_copy(update={"reason": done.attempt.reason or reason}))
        if done.rows:
            self._canaries[name] = time.monotonic()
        return bool(done.rows)

    def _tell(self, event: AttemptStarted | AttemptFinished) -> None:
        if self._observer is not None:
            self._observer(event)


def _attempt(provider: str, outcome: Outcome, reason: str = "", results: Results | None = None) -> Attempt:
    status, cost = (None, 0.0) if results is None else (results.status, results.cost_usd)
    return Attempt(provider=provider, outcome=outcome, reason=reason, status=status, cost_usd=cost)


def _failed(name: str, error: GroundwireError) -> Attempt:
    if isinstance(error, ProviderError):
        reason = error.reason + (f". {error.fix}" if error.fix else "")
        return Attempt(
            provider=name, outcome=error.outcome, reason=reason, status=error.status, retry_after=error.retry_after
        )
    return _attempt(name, "blocked" if isinstance(error, BlockedByPolicy) else "unavailable", str(error))


def _proven_empty(tries: Sequence[_Try], witness: _Try, canaries: Sequence[Attempt]) -> ChainAnswer:
    attempts = []
    for item in tries:
        if item is witness or item.empty in {"answered", "filtered"}:
            reason = item.attempt.reason if item.empty == "filtered" else "searched and found nothing"
            attempts.append(item.attempt.model_copy(update={"outcome": "empty", "reason": reason}))
        else:
            attempts.append(item.attempt)
    failed = [attempt.describe() for attempt in attempts if attempt.outcome != "empty"]
    warnings = (f"Other providers could not be asked: {'; '.join(failed)}",) if failed else ()
    return ChainAnswer(witness.attempt.provider, (), (*attempts, *canaries), witness.filters, warnings)
