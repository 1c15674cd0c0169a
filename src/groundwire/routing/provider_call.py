"""A single attempt: one request to one provider within a call, and the evaluation of its response."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from groundwire.deadline import Deadline, Timeout
from groundwire.errors import BlockedByPolicy, GroundwireError, ProviderError, ProviderTimeout, UnprovenEmpty
from groundwire.models import (
    Attempt,
    AttemptFinished,
    AttemptStarted,
    FilterReceipt,
    Observer,
    Outcome,
    RateWindow,
    Results,
    SearchResult,
)
from groundwire.providers.base import SearchProvider, price_of
from groundwire.routing.calls import SearchCall
from groundwire.routing.health import Changes, Health
from groundwire.routing.keyless import KeylessNotice, take_of_day
from groundwire.routing.rate_limiter import LONGEST_WINDOW, RateLimiter, Slot
from groundwire.routing.result_merging import finish
from groundwire.routing.shared_health import SharedHealth
from groundwire.storage.base import Store

_logger = logging.getLogger(__name__)

NONE_LEFT = "none of them on an allowed domain and within the dates"
"""The reason of an attempt whose results were all filtered out."""
_NO_WORDS = "no results, which may also mean a refusal (unproven)"


Emptiness = Literal["no", "unproven", "answered", "filtered"]
"""Rows or a failure; an unproven empty result; an explicitly empty one; rows that were all filtered out."""


class AttemptState:
    """The state of an attempt, for the code that waits for it.

    Args:
        provider: The provider to call.
        max_wait: Maximum seconds to wait for a rate-limit slot; beyond that, other providers are called first.
    """

    def __init__(self, provider: SearchProvider, max_wait: float = math.inf) -> None:
        self.provider = provider
        self.max_wait = max_wait
        self.since: float = asyncio.get_running_loop().time()
        """When it started to wait for a slot, on the loop's clock."""
        self.timeout: float = math.inf
        """The seconds after which it is ended if another provider could be called instead."""
        self.sent_at: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        """Completed with the time on the loop's clock once the request has been sent."""
        self.reason: str = "no answer in time"
        """What is said of it if it ends without a response."""
        self._limit: Timeout | None = None

    @property
    def sent(self) -> bool:
        """Whether it has been sent: before that, it costs nothing and is no evidence about the provider."""
        return self.sent_at.done()

    @property
    def began(self) -> float:
        """When it was sent, on the loop's clock; before that, when it started to wait for a slot."""
        return self.sent_at.result() if self.sent else self.since

    def send(self, deadline: Deadline) -> Timeout:
        """Record that the request is being sent, and return what ends it at its deadline, or before by `end`."""
        self.sent_at.set_result(asyncio.get_running_loop().time())
        self._limit = deadline.timeout()
        return self._limit

    @property
    def ended(self) -> bool:
        """Whether its deadline or its timeout is over."""
        return self._limit is not None and self._limit.expired

    def end(self) -> None:
        """End it without a response, because its timeout is over."""
        if self._limit is not None and not self._limit.expired:
            self.reason = f"no answer in {self.timeout:.3g} s, the limit of one attempt (search.attempt_timeout)"
            self._limit.expire()

    def unanswered(self, reason: str, *, abandoned: bool) -> Attempt:
        """Return the attempt without a response. What was sent is taken for paid until more is known.

        Args:
            reason: Why there is none, if it was sent.
            abandoned: Whether it ended because others had answered.
        """
        return Attempt(
            provider=self.provider.name,
            outcome="timeout" if self.sent else "rate_limited",
            reason=reason if self.sent else "not called: still waiting for its rate limit",
            latency_ms=round((asyncio.get_running_loop().time() - self.since) * 1_000),
            cost_usd=price_of(self.provider) if self.sent else 0.0,
            abandoned=abandoned,
        )


@dataclass(slots=True, eq=False, repr=False)
class AttemptResult:
    """An attempt and its results."""

    attempt: Attempt
    """The attempt."""
    rows: tuple[SearchResult, ...] = ()
    """The rows after filtering, up to the limit."""
    filters: tuple[FilterReceipt, ...] = ()
    """How each requested filter was applied."""
    warnings: tuple[str, ...] = ()
    """Warnings."""
    empty: Emptiness = "no"
    """The meaning of an empty result."""
    windows: tuple[RateWindow, ...] = ()
    """The rate limits stated by the service."""

    @property
    def answered(self) -> bool:
        """Whether the provider responded, with rows or without."""
        return bool(self.rows) or self.empty in {"answered", "filtered"}


def make_attempt(
    provider: str, outcome: Outcome, reason: str = "", results: Results | None = None, latency_ms: int = 0
) -> Attempt:
    """Return an attempt, with the status and the cost of the response."""
    return Attempt.model_construct(
        provider=provider,
        outcome=outcome,
        reason=reason,
        status=None if results is None else results.status,
        latency_ms=latency_ms,
        cost_usd=0.0 if results is None else float(results.cost_usd),
    )


class ProviderCaller:
    """Makes attempts within the deadline and the rate limit of each provider; every outcome is an `AttemptResult`.

    Args:
        health: Records outcomes.
        attempt_listener: Called when an attempt starts and ends.
        limiter: Enforces the providers' rate limits.
        store: Counts the searches of a day; None for no such limits.
        notice: Says who sees queries.
        shared: Shares what is learned with other processes.
    """

    def __init__(
        self,
        health: Health,
        *,
        attempt_listener: Observer | None = None,
        limiter: RateLimiter,
        store: Store | None = None,
        notice: KeylessNotice | None = None,
        shared: SharedHealth | None = None,
    ) -> None:
        self.health = health
        self._attempt_listener = attempt_listener
        self.limiter = limiter
        self._store, self._notice = store, notice
        self._shared = shared

    async def attempt(self, call: SearchCall, state: AttemptState) -> AttemptResult:
        """Make an attempt and record its outcome; raises only on cancellation.

        Args:
            call: The call. Nothing is sent if its budget does not cover the provider's price.
            state: Names the provider, and records when the request is sent.
        """
        try:
            done = await self.probe(state.provider, call, state)
        except asyncio.CancelledError:
            self.health.give_up_probe(state.provider.name)
            raise
        if state.sent:
            self.report(done, state)
        else:
            self.health.give_up_probe(state.provider.name)
        return done

    def report(self, done: AttemptResult, state: AttemptState) -> None:
        """Record the outcome of an attempt that was sent."""
        rows = bool(done.rows) or done.empty == "filtered"
        changes = self.health.report(done.attempt, answered=done.answered, rows=rows, sent_at=state.sent_at.result())
        self.publish(state.provider, changes)

    async def probe(
        self, provider: SearchProvider, call: SearchCall, state: AttemptState | None = None
    ) -> AttemptResult:
        """Make an attempt without recording its outcome; the arguments are those of `attempt`."""
        state = state or AttemptState(provider)
        slot = await self.limiter.acquire(provider, call.deadline, state.max_wait)
        if not slot.granted:
            return _without_slot(provider, slot, call.deadline)
        price = price_of(provider)
        if price and not await call.ledger.charge(price):
            self.limiter.release(provider)
            reason = "not called: it costs more than the session's remaining budget"
            return AttemptResult(make_attempt(provider.name, "quota", reason))
        try:
            if self._store is not None and (refused := await take_of_day(self._store, provider)):
                self.limiter.release(provider)
                call.ledger.correct(price, 0.0)
                return AttemptResult(make_attempt(provider.name, "quota", refused))
            if self._notice is not None:
                await self._notice.before(provider)
            done = await self._send(provider, call, state)
        except BaseException:
            self.limiter.release(provider)
            raise
        call.ledger.correct(price, done.attempt.cost_usd)
        await self._learn(provider, done.windows)
        self.publish(provider, self.limiter.report(slot, done.attempt))
        return done

    async def _send(self, provider: SearchProvider, call: SearchCall, state: AttemptState) -> AttemptResult:
        limit = state.send(call.deadline)
        self._notify(AttemptStarted(provider.name))
        started, results = time.perf_counter(), None
        try:
            with limit:
                results = await _results(provider, call)
        except GroundwireError as error:
            empty: Emptiness = "unproven" if isinstance(error, UnprovenEmpty) else "no"
            done = AttemptResult(_failed_attempt(provider, error), empty=empty)
            done.windows = error.windows if isinstance(error, ProviderError) else ()
        except TimeoutError:
            done = AttemptResult(_failed_attempt(provider, ProviderTimeout(provider.name, state.reason)))
        except Exception as error:  # third-party code may raise anything: an outcome, not the caller's crash
            _logger.exception("The provider %s violated its contract", provider.name)
            reason = f"the provider itself failed ({type(error).__name__}); see the log"
            done = AttemptResult(make_attempt(provider.name, "invalid_response", reason))
        latency = round((time.perf_counter() - started) * 1_000)
        if results is None:
            done.attempt = done.attempt.model_copy(update={"latency_ms": latency})
        else:
            done = _attempt_result(provider, results, call, latency)
        self._notify(AttemptFinished(done.attempt))
        return done

    async def _learn(self, provider: SearchProvider, windows: Sequence[RateWindow]) -> None:
        """Apply the limits stated by a provider: share its rate, and skip it when a quota is used up."""
        rate = await self.limiter.update_limits(provider, windows)
        if rate is not None:
            self.publish(provider, {"interval": rate.interval, "burst": rate.burst})
        for window in windows:
            if window.remaining == 0 and window.limit != 0 and (window.reset or 0.0) > LONGEST_WINDOW:
                reason = f"its limit of {window.limit} requests is used up" if window.limit else "its limit is used up"
                self.publish(provider, self.health.cool_down(provider.name, window.reset or 0.0, "quota", reason))

    def publish(self, provider: SearchProvider, changes: Changes) -> None:
        """Share changes of a provider's health with other processes."""
        if changes and self._shared is not None:
            self._shared.publish(provider, changes)

    def _notify(self, event: AttemptStarted | AttemptFinished) -> None:
        if self._attempt_listener is not None:
            self._attempt_listener(event)


async def _results(provider: SearchProvider, call: SearchCall) -> Results:
    """Return what a provider answers, as it is."""
    query = call.provider_query
    own = provider.owned_by(call.owner) if hasattr(provider, "owned_by") else provider
    rows = await own.search(query.text, limit=query.limit, filters=query, deadline=call.deadline)
    if isinstance(rows, Results):
        return rows
    return Results(tuple(rows), cost_usd=price_of(provider))  # a plain list does not state its cost


def _attempt_result(provider: SearchProvider, results: Results, call: SearchCall, latency_ms: int) -> AttemptResult:
    """Return the result of an attempt that was answered, and what it means if no row is left."""
    name, finished = provider.name, finish(results, provider, call)
    attempt = make_attempt(name, "ok", "; ".join(results.warnings), results, latency_ms)
    done = AttemptResult(attempt, finished.rows, finished.filters, finished.warnings, windows=results.windows)
    if finished.rows:
        if results.partial:
            done.attempt = attempt.model_copy(update={"outcome": "partial"})
        return done
    if not len(results):
        done.attempt, done.empty = make_attempt(name, "unavailable", _NO_WORDS, results, latency_ms), "answered"
        return done
    if not finished.valid:
        reason = "answered with results without URLs"
        done.attempt = make_attempt(name, "invalid_response", reason, results, latency_ms)
        return done
    left_to_us = [receipt.filter for receipt in finished.filters if receipt.applied == "post_filter"]
    reason = f"{len(results)} results, {NONE_LEFT}"
    if left_to_us:  # the filters were not sent, so an empty result proves nothing
        reason += f"; it does not support {' and '.join(left_to_us)} (unproven)"
    done.attempt = make_attempt(name, "unavailable", reason, results, latency_ms)
    done.empty = "no" if left_to_us else "filtered"
    return done


def _without_slot(provider: SearchProvider, slot: Slot, deadline: Deadline) -> AttemptResult:
    """Return the result of an attempt that was skipped, because its slot is too late."""
    late = "after the deadline" if slot.wait >= deadline.remaining() else f"in {slot.wait:.1f} s only"
    every = f" (one request in {slot.interval:g} s)" if slot.interval else ""
    why = f"in cooldown{slot.pause_reason}" if slot.pause_reason else f"its rate limit allows a request {late}{every}"
    attempt = make_attempt(provider.name, "rate_limited", f"not called: {why}")
    return AttemptResult(attempt.model_copy(update={"retry_after": round(slot.wait, 3)}))


def _failed_attempt(provider: SearchProvider, error: GroundwireError) -> Attempt:
    """Return a failed attempt. A service charges for successful responses, usable or not.

    It may also charge for one that timed out; a rejected or failed request costs nothing.
    """
    name = provider.name
    if isinstance(error, ProviderError):
        timed_out = isinstance(error, ProviderTimeout) and error.status is None
        charged = timed_out or (error.status is not None and 200 <= error.status < 300)
        reason = error.reason + (f". {error.fix}" if error.fix else "")
        return Attempt(
            provider=name,
            outcome=error.outcome,
            reason=reason,
            status=error.status,
            retry_after=error.retry_after,
            cost_usd=price_of(provider) if charged else 0.0,
        )
    return make_attempt(name, "blocked" if isinstance(error, BlockedByPolicy) else "unavailable", str(error))
