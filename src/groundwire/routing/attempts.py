"""One attempt: the state of a request to a provider while it runs, and its result."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Literal

from groundwire.deadline import Deadline, Timeout
from groundwire.models import Attempt, FilterReceipt, Outcome, RateWindow, Results, SearchResult

__all__ = ["AttemptResult", "AttemptState", "Emptiness", "make_attempt"]

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
