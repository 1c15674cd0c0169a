"""A single attempt: one request to one provider within a call, and the evaluation of its response."""

from __future__ import annotations

import asyncio
import copy
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    Query,
    RateWindow,
    Results,
    SearchResult,
)
from groundwire.models.validators import unchecked
from groundwire.providers import SearchProvider
from groundwire.routing.calls import SearchCall
from groundwire.routing.health import Changes, Cooldown, Health
from groundwire.routing.keyless import KeylessNotice, take_of_day
from groundwire.routing.rate_limiter import LONGEST_WINDOW, RateLimiter, Slot
from groundwire.routing.result_merging import asked_of, filter_by_date, normalize, notes, receipts
from groundwire.routing.shared_health import ExtraBudget, SharedHealth
from groundwire.safety.urls import DomainPolicy
from groundwire.storage.base import Store

__all__ = [
    "NONE_LEFT",
    "AttemptResult",
    "AttemptState",
    "Emptiness",
    "ExtraCharge",
    "HedgeResult",
    "ProviderCaller",
    "failed_for_now",
    "make_attempt",
    "price_of",
    "skipped_cooldown",
]

_logger = logging.getLogger(__name__)

NONE_LEFT = "none of them on an allowed domain and within the dates"
"""The reason of an attempt whose results were all filtered out."""
_TRANSIENT: frozenset[Outcome] = frozenset(
    {"timeout", "network", "unavailable", "invalid_response", "rate_limited", "blocked"}
)
_NO_WORDS = "no results, which may also mean a refusal (unproven)"

Emptiness = Literal["no", "unproven", "answered", "filtered"]
"""Rows or a failure; an unproven empty result; an explicitly empty one; rows that were all filtered out."""


class AttemptState:
    """The state of an attempt, for the code that waits for it.

    Args:
        max_wait: Maximum seconds to wait for a rate-limit slot; beyond that, other providers are called first.
    """

    def __init__(self, max_wait: float = math.inf) -> None:
        self.max_wait = max_wait
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


@dataclass(slots=True)
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


@dataclass(slots=True)
class HedgeResult:
    """The outcome of a search by several providers."""

    winner: AttemptResult | None = None
    """The result with rows, if any."""
    results: list[AttemptResult] = field(default_factory=list)
    """Every result, in the order they ended; the winner is the last."""
    left: list[Attempt] = field(default_factory=list)
    """Attempts that were still running."""


class ProviderCaller:
    """Makes attempts within the deadline and the rate limit of each provider; every outcome is an `AttemptResult`.

    Args:
        health: Records outcomes.
        policy: The operator's domain lists.
        attempt_listener: Called when an attempt starts and ends.
        limiter: Enforces the providers' rate limits.
        store: Counts the searches of a day; None for no such limits.
        notice: Says who sees queries.
        shared: Shares what is learned with other processes.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        health: Health,
        *,
        policy: DomainPolicy | None = None,
        attempt_listener: Observer | None = None,
        limiter: RateLimiter,
        store: Store | None = None,
        notice: KeylessNotice | None = None,
        shared: SharedHealth | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.health = health
        self.policy: DomainPolicy = policy or DomainPolicy()
        self._attempt_listener = attempt_listener
        self.limiter = limiter
        self._store, self._notice = store, notice
        self._shared = shared
        self._clock = clock

    def with_policy(self, policy: DomainPolicy) -> ProviderCaller:
        """Return a copy of this caller with another policy."""
        other = copy.copy(self)
        other.policy = policy
        return other

    async def attempt(self, provider: SearchProvider, call: SearchCall, state: AttemptState) -> AttemptResult:
        """Make an attempt and record its outcome; raises only on cancellation.

        Args:
            provider: The provider to call.
            call: The call. Nothing is sent if its budget does not cover the provider's price.
            state: Records when the request is sent.
        """
        try:
            done = await self.probe(provider, call, state)
        except asyncio.CancelledError:
            self.health.give_up_probe(provider.name)
            raise
        if state.sent:
            self.report(provider, done, state)
        else:
            self.health.give_up_probe(provider.name)
        return done

    def report(self, provider: SearchProvider, done: AttemptResult, state: AttemptState) -> None:
        """Record the outcome of an attempt that was sent."""
        rows = bool(done.rows) or done.empty == "filtered"
        changes = self.health.report(done.attempt, answered=done.answered, rows=rows, sent_at=state.sent_at.result())
        self.publish(provider, changes)

    async def probe(
        self, provider: SearchProvider, call: SearchCall, state: AttemptState | None = None
    ) -> AttemptResult:
        """Make an attempt without recording its outcome; the arguments are those of `attempt`."""
        state = state or AttemptState()
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
                return AttemptResult(make_attempt(provider.name, "quota", refused))
            if self._notice is not None:
                await self._notice.before(provider)
            done = await self._send(provider, call, state)
        except BaseException:
            self.limiter.release(provider)
            raise
        if price or done.attempt.cost_usd:
            call.ledger.correct(price, done.attempt.cost_usd)
        await self._learn(provider, done.windows)
        self.publish(provider, self.limiter.report(slot, done.attempt))
        return done

    async def _send(self, provider: SearchProvider, call: SearchCall, state: AttemptState) -> AttemptResult:
        limit = state.send(call.deadline)
        self._tell(AttemptStarted(provider.name))
        started, results = self._clock(), None
        try:
            asked = provider.owned_by(call.owner) if hasattr(provider, "owned_by") else provider
            with limit:
                results = await _results(asked, asked_of(call.query, self.policy), call.deadline)
        except GroundwireError as error:
            empty: Emptiness = "unproven" if isinstance(error, UnprovenEmpty) else "no"
            done = AttemptResult(_failed(provider, error), empty=empty)
            done.windows = error.windows if isinstance(error, ProviderError) else ()
        except TimeoutError:
            done = AttemptResult(_failed(provider, ProviderTimeout(provider.name, state.reason)))
        except Exception as error:  # third-party code may raise anything: an outcome, not the caller's crash
            _logger.exception("The provider %s violated its contract", provider.name)
            reason = f"the provider itself failed ({type(error).__name__}); see the log"
            done = AttemptResult(make_attempt(provider.name, "invalid_response", reason))
        latency = round((self._clock() - started) * 1_000)
        if results is None:
            done.attempt = done.attempt.model_copy(update={"latency_ms": latency})
        else:
            done = self._judge(provider, results, call.query, latency)
            done.windows = results.windows
        self._tell(AttemptFinished(done.attempt))
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

    def _judge(self, provider: SearchProvider, results: Results, query: Query, latency: int) -> AttemptResult:
        name, asked = provider.name, asked_of(query, self.policy)
        wanted = DomainPolicy(query.allowed_domains, query.blocked_domains)
        dated = filter_by_date(normalize(results, (self.policy, wanted), name), query)
        rows = dated.rows[: query.limit]
        filters = receipts(asked, results, provider.capabilities, dated, rows)
        warnings = (*results.warnings, *notes(filters, name))
        attempt = make_attempt(name, "ok", "; ".join(results.warnings), results, latency)
        done = AttemptResult(attempt, rows, filters, warnings)
        if rows:
            if results.partial:
                done.attempt = done.attempt.model_copy(update={"outcome": "partial"})
            return done
        if len(results) and not normalize(results, (), name):
            reason = "answered with results without URLs"
            done.attempt = make_attempt(name, "invalid_response", reason, results, latency)
            return done
        if not len(results):
            done.attempt, done.empty = make_attempt(name, "unavailable", _NO_WORDS, results, latency), "answered"
            return done
        left_to_us = [receipt.filter for receipt in filters if receipt.applied == "post_filter"]
        reason = f"{len(results)} results, {NONE_LEFT}"
        if left_to_us:  # the filters were not sent, so an empty result proves nothing
            reason += f"; it does not know {' and '.join(left_to_us)} (unproven)"
        done.attempt = make_attempt(name, "unavailable", reason, results, latency)
        done.empty = "no" if left_to_us else "filtered"
        return done

    def _tell(self, event: AttemptStarted | AttemptFinished) -> None:
        if self._attempt_listener is not None:
            self._attempt_listener(event)


async def _results(provider: SearchProvider, query: Query, deadline: Deadline) -> Results:
    rows = await provider.search(query.text, limit=query.limit, filters=query, deadline=deadline)
    if isinstance(rows, Results):
        return rows
    return Results(tuple(rows), cost_usd=price_of(provider))  # a plain list does not state its cost


def make_attempt(
    provider: str, outcome: Outcome, reason: str = "", results: Results | None = None, latency_ms: int = 0
) -> Attempt:
    """Return an attempt, with the status and the cost of the response."""
    return unchecked(
        Attempt,
        provider=provider,
        outcome=outcome,
        reason=reason,
        status=None if results is None else results.status,
        latency_ms=latency_ms,
        cost_usd=0.0 if results is None else float(results.cost_usd),
    )


def _without_slot(provider: SearchProvider, slot: Slot, deadline: Deadline) -> AttemptResult:
    """Return the result of an attempt that was skipped, because its slot is too late."""
    if slot.resting:
        said = f"not called: in cooldown{slot.resting}"
        attempt = make_attempt(provider.name, "rate_limited", said)
        return AttemptResult(attempt.model_copy(update={"retry_after": round(slot.wait, 3)}))
    late = "after the deadline" if slot.wait >= deadline.remaining() else f"in {slot.wait:.1f} s only"
    every = f" (one request in {slot.interval:g} s)" if slot.interval else ""
    attempt = make_attempt(provider.name, "rate_limited", f"not called: its rate limit allows a request {late}{every}")
    return AttemptResult(attempt.model_copy(update={"retry_after": round(slot.wait, 3)}))


def skipped_cooldown(cooldown: Cooldown) -> Attempt:
    """Return the attempt that was skipped because the provider is in cooldown."""
    reason = f"not called: in cooldown{f' ({cooldown.reason})' if cooldown.reason else ''}"
    name, after = cooldown.provider.name, round(cooldown.seconds, 3)
    return Attempt(provider=name, outcome=cooldown.outcome, reason=reason, retry_after=after)


def price_of(provider: SearchProvider) -> float:
    """Return the usual price of one search, in US dollars; a provider without a price is free."""
    price = getattr(provider, "price_usd", 0.0)
    if type(price) is float:
        return price
    return float(price) if isinstance(price, (int, float)) else 0.0


def _failed(provider: SearchProvider, error: GroundwireError) -> Attempt:
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


def failed_for_now(results: Sequence[AttemptResult], seconds: float) -> dict[str, float]:
    """Return the providers whose latest failure is transient, with their Retry-After in seconds, below a limit."""
    last = {item.attempt.provider: item for item in results}
    return {
        name: item.attempt.retry_after or 0.0
        for name, item in last.items()
        if item.attempt.outcome in _TRANSIENT and item.empty == "no" and (item.attempt.retry_after or 0.0) < seconds
    }


@dataclass(frozen=True, slots=True, eq=False)
class ExtraCharge:
    """The charge of one paid call to the budget, corrected when it is known whether it was extra."""

    budget: ExtraBudget
    """The budget, already charged."""
    charged: float
    """The amount."""
    paid: asyncio.Task[AttemptResult]
    """The call."""
    state: AttemptState
    """Its state."""
    earlier: Sequence[asyncio.Task[AttemptResult]]
    """The calls that it hedges; none for a call of a further round, which always counts."""

    def __post_init__(self) -> None:
        for task in (self.paid, *self.earlier):
            task.add_done_callback(self._settle)

    def _settle(self, _: asyncio.Task[AttemptResult]) -> None:
        if not all(task.done() for task in (self.paid, *self.earlier)):
            return
        if not self.state.sent or (not self.paid.cancelled() and not self.paid.result().answered):
            extra = 0.0  # what was not sent, or not answered, is not paid
        elif not self.earlier or any(not task.cancelled() and task.result().rows for task in self.earlier):
            extra = 1.0
        else:
            extra = self.charged if any(task.cancelled() for task in self.earlier) else 0.0
        self.budget.spend(extra - self.charged)
