"""Attempts: which provider was asked, how it ended, and the listeners of attempts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from groundwire.models.validators import FrozenModel

__all__ = ["Attempt", "AttemptFinished", "AttemptStarted", "Event", "Observer", "Outcome"]

Outcome = Literal[
    "ok",
    "empty",
    "partial",
    "rate_limited",
    "quota",
    "auth",
    "bad_request",
    "blocked",
    "unsupported",
    "timeout",
    "network",
    "invalid_response",
    "unavailable",
]
"""How one attempt ended."""


class Attempt(FrozenModel):
    """One request to one provider within a call, with its outcome."""

    provider: str
    """The provider's name."""
    outcome: Outcome
    """How it ended."""
    reason: str = ""
    """Why, in a few words, unless it went well."""
    status: int | None = None
    """The HTTP status, when there was one."""
    latency_ms: int = 0
    """How long it took, in milliseconds."""
    cost_usd: float = 0.0
    """What it cost, in US dollars."""
    retry_after: float | None = None
    """Seconds after which the service itself says it may be asked again."""
    abandoned: bool = False
    """Whether it was still running when another provider answered: it says nothing about this one."""

    def describe(self) -> str:
        """Return the attempt as one line for a person."""
        status = f", HTTP {self.status}" if self.status else ""
        reason = f": {self.reason}" if self.reason else ""
        again = f" (may be asked again in {self.retry_after:g} s)" if self.retry_after else ""
        return f"{self.provider} {self.outcome}{status} after {self.latency_ms} ms{reason}{again}"


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """A provider is being asked now."""

    provider: str
    """The provider's name."""


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """A provider has answered, or failed."""

    attempt: Attempt
    """What became of it."""


Event = AttemptStarted | AttemptFinished
"""What an attempt listener receives while a call runs."""

Observer = Callable[[Event], None]
"""A function that receives the events of attempts; it must return at once and must not raise."""
