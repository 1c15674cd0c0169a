"""Asking one provider once, and judging what it says."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, GroundwireError, ProviderError, ProviderTimeout, UnprovenEmpty
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
from groundwire.storage.base import Store

__all__ = ["Asker", "Emptiness", "Try", "made"]

_logger = logging.getLogger(__name__)

_NO_WORDS = "no results, which it also answers when it refuses (unproven)"

Emptiness = Literal["no", "unproven", "answered", "filtered"]
"""Rows or a failure; nothing, which proves nothing; nothing, said cleanly; rows that were all sifted out."""


@dataclass(slots=True)
class Try:
    """One attempt and what it found."""

    attempt: Attempt
    """What became of it."""
    rows: tuple[SearchResult, ...] = ()
    """The rows that may be shown, no more than were asked for."""
    filters: tuple[FilterReceipt, ...] = ()
    """What became of each filter that was asked for."""
    warnings: tuple[str, ...] = ()
    """What the reader should know."""
    empty: Emptiness = "no"
    """What it means that there are no rows."""

    @property
    def answered(self) -> bool:
        """Whether the provider did its work, with rows or without."""
        return bool(self.rows) or self.empty in {"answered", "filtered"}


class Asker:
    """Asks providers, each attempt within its time, and turns whatever happens into a `Try`.

    Args:
        attempt_timeout: Seconds for one attempt, at most.
        policy: The operator's domain lists.
        observer: Is told when an attempt starts and ends.
        store: Where paces are kept, for providers that are to be asked slowly.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        *,
        attempt_timeout: float = 6.0,
        policy: DomainPolicy | None = None,
        observer: Observer | None = None,
        store: Store | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.attempt_timeout = attempt_timeout
        self.policy = policy or DomainPolicy()
        self._observer = observer
        self._store = store
        self._clock = clock

    async def ask(self, provider: SearchProvider, query: Query, deadline: Deadline) -> Try:
        """Ask one provider; never raises but on cancellation."""
        if (early := await self._pace(provider, deadline)) is not None:
            return early
        self._tell(AttemptStarted(provider.name))
        started = self._clock()
        try:
            results = await self._results(provider, asked_of(query, self.policy), deadline)
        except GroundwireError as error:
            done = Try(_failed(provider.name, error), empty="unproven" if isinstance(error, UnprovenEmpty) else "no")
        except Exception as error:  # anybody can write a provider: its fault is its outcome, not the caller's crash
            _logger.exception("The provider %s broke its contract", provider.name)
            reason = f"the provider itself failed ({type(error).__name__}); see the log"
            done = Try(made(provider.name, "invalid_response", reason))
        else:
            done = self._judge(provider, results, query)
        latency = round((self._clock() - started) * 1_000)
        done.attempt = done.attempt.model_copy(update={"latency_ms": latency})
        self._tell(AttemptFinished(done.attempt))
        return done

    async def _pace(self, provider: SearchProvider, deadline: Deadline) -> Try | None:
        """Wait for the provider's turn; return a try at once if that would come after the deadline."""
        delay = getattr(provider, "delay", 0.0)
        if not delay or self._store is None:
            return None
        turn = await self._store.pace(f"pace:{provider.name}", interval=delay, max_wait=deadline.remaining())
        if turn.granted:
            await asyncio.sleep(turn.wait)
            return None
        reason = f"not asked: its turn comes after the deadline (one request in {delay:g} s)"
        attempt = made(provider.name, "rate_limited", reason).model_copy(update={"retry_after": round(turn.wait, 3)})
        return Try(attempt)

    async def _results(self, provider: SearchProvider, query: Query, deadline: Deadline) -> Results:
        """Ask one provider, and hold it to the time even if it does not look at its deadline."""
        limited = deadline.capped(self.attempt_timeout)
        try:
            async with limited.timeout():
                rows = await provider.search(query.text, limit=query.limit, filters=query, deadline=limited)
        except TimeoutError as error:
            if isinstance(error, GroundwireError):
                raise
            raise ProviderTimeout(provider.name, "no answer in time") from error
        return Results.of(rows)

    def _judge(self, provider: SearchProvider, results: Results, query: Query) -> Try:
        name, asked = provider.name, asked_of(query, self.policy)
        wanted = DomainPolicy(query.allowed_domains, query.blocked_domains)
        sifted = sift(normalise(results, (self.policy, wanted), name), query)
        rows = sifted.rows[: query.limit]
        filters = receipts(asked, results, provider.capabilities, sifted, rows)
        warnings = (*results.warnings, *notes(filters, name))
        done = Try(made(name, "ok", "; ".join(results.warnings), results), rows, filters, warnings)
        if rows:
            if results.partial:
                done.attempt = done.attempt.model_copy(update={"outcome": "partial"})
            return done
        if not len(results):
            done.attempt, done.empty = made(name, "unavailable", _NO_WORDS, results), "answered"
            return done
        left_to_us = [receipt.filter for receipt in filters if receipt.applied == "post_filter"]
        reason = f"{len(results)} results, none of them on an allowed domain and within the dates"
        if left_to_us:  # it was not told what we want, so what it found proves nothing
            reason += f"; it does not know {' and '.join(left_to_us)} (unproven)"
        done.attempt = made(name, "unavailable", reason, results)
        done.empty = "no" if left_to_us else "filtered"
        return done

    def _tell(self, event: AttemptStarted | AttemptFinished) -> None:
        if self._observer is not None:
            self._observer(event)


def made(provider: str, outcome: Outcome, reason: str = "", results: Results | None = None) -> Attempt:
    """Return an attempt, with the status and the cost of what was answered."""
    status, cost = (None, 0.0) if results is None else (results.status, results.cost_usd)
    return Attempt(provider=provider, outcome=outcome, reason=reason, status=status, cost_usd=cost)


def _failed(name: str, error: GroundwireError) -> Attempt:
    if isinstance(error, ProviderError):
        reason = error.reason + (f". {error.fix}" if error.fix else "")
        return Attempt(
            provider=name, outcome=error.outcome, reason=reason, status=error.status, retry_after=error.retry_after
        )
    return made(name, "blocked" if isinstance(error, BlockedByPolicy) else "unavailable", str(error))
