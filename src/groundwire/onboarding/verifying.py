"""Trying a provider with one call on its own path, and saying what became of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Literal, cast

from groundwire.clients import Clients
from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    MissingKey,
    NotConfigured,
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    ProviderUnsupported,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnprovenEmpty,
)
from groundwire.providers.base import ReadProvider, SearchProvider, Transports
from groundwire.providers.registry import create
from groundwire.settings import Settings

__all__ = ["Verdict", "Verification", "verify"]

Verdict = Literal[
    "works", "wrong_key", "wrong_plan", "no_quota", "too_fast", "unreachable", "blocked", "not_set_up", "failed"
]
"""What one call showed."""

_QUERY = "wikipedia"  # everybody has something on it
_PAGE = "https://example.com/"
_TIMEOUT = 15.0  # seconds
_PLAN = re.compile(
    r"\bplans?\b|\bupgrad|\btier\b|\bentitled\b|NOT_IN_PLAN|\bsubscription (?:does|is|level)|\bnot enabled for",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What one call of a provider showed."""

    provider: str
    """Its name."""
    verdict: Verdict
    """How it ended."""
    what: str
    """What happened, as a sentence."""
    fix: str = ""
    """What to do, as a sentence; empty when it works."""
    cost_usd: float = 0.0
    """What the call cost, in US dollars."""
    latency_ms: float = 0.0
    """How long it took, in milliseconds."""
    error: GroundwireError | None = None
    """What the provider raised."""

    @property
    def works(self) -> bool:
        """Whether it did what it was asked."""
        return self.verdict == "works"

    @property
    def key_is_good(self) -> bool:
        """Whether the key was accepted, as far as the call shows; a used-up quota is no fault of the key's."""
        return self.verdict in {"works", "no_quota", "too_fast"}


async def verify(
    name: str,
    settings: Settings,
    *,
    deadline: Deadline | None = None,
    transports: Transports | None = None,
    page: str = _PAGE,
) -> Verification:
    """Make one call of a provider, past all caches, retries and fallbacks.

    Args:
        name: The provider's name.
        settings: Where its options and keys are.
        deadline: When the answer must be here; by default in 15 seconds.
        transports: Where it gets HTTP clients; by default clients of its own, closed again.
        page: The address that a provider which only reads is asked for.
    """
    deadline = deadline or Deadline.after(_TIMEOUT)
    own = Clients(settings, None, None) if transports is None else None
    began = time.perf_counter()
    provider: SearchProvider | ReadProvider | None = None
    try:
        provider = create(name, settings, own or cast("Transports", transports))
        async with deadline.timeout():
            cost, what = await _call(provider, deadline, page)
    except (GroundwireError, TimeoutError) as error:
        known = error if isinstance(error, GroundwireError) else ProviderTimeout(name, "no answer in time")
        return _judged(name, known, 1_000 * (time.perf_counter() - began))
    finally:
        close = getattr(provider, "aclose", None)
        if close is not None:
            await close()
        if own is not None:
            await own.aclose()
    elapsed = 1_000 * (time.perf_counter() - began)
    return Verification(provider=name, verdict="works", what=what, cost_usd=cost, latency_ms=elapsed)


async def _call(provider: SearchProvider | ReadProvider, deadline: Deadline, page: str) -> tuple[float, str]:
    if provider.capabilities.search:
        found = await cast("SearchProvider", provider).search(_QUERY, limit=1, deadline=deadline)
        cost = float(getattr(found, "cost_usd", 0.0) or 0.0)
        return cost, f"It answered a search with {len(found)} result{'' if len(found) == 1 else 's'}."
    read = await cast("ReadProvider", provider).read_url(page, deadline=deadline)
    if not read.success:
        raise ProviderUnavailable(provider.name, f"could not read {page}: {read.error or 'no reason given'}")
    return float(getattr(read, "cost_usd", 0.0) or 0.0), f"It read a page of {len(read.content):,} characters."


def _judged(name: str, error: GroundwireError, elapsed: float) -> Verification:
    verdict, fix = _verdict(error)
    what = error.reason if isinstance(error, ProviderError) else str(error)
    own = error.fix if isinstance(error, ProviderError) else ""
    return Verification(
        provider=name,
        verdict=verdict,
        what=f"{what[:1].upper()}{what[1:].rstrip('.')}" + (_status(error)) + ".",
        fix=f"{own.rstrip('.')}. {fix}".strip(". ") + "." if own and own not in fix else fix,
        latency_ms=elapsed,
        error=error,
    )


def _status(error: GroundwireError) -> str:
    status = getattr(error, "status", None)
    return (
        f" (HTTP {status})" if isinstance(error, ProviderError) and status and str(status) not in error.reason else ""
    )


def _verdict(error: GroundwireError) -> tuple[Verdict, str]:
    match error:
        case MissingKey() | NotConfigured():
            return "not_set_up", "Run groundwire setup."
        case ConfigurationError():
            return "not_set_up", "Change the setting that is named."
        case AuthenticationFailed() | ProviderUnsupported() | RequestRefused() if _PLAN.search(error.reason):
            return "wrong_plan", "Book a plan that has it on the service's page, or leave this provider out."
        case AuthenticationFailed():
            return "wrong_key", "Copy the key again from the service's page; a new one may take a minute to be known."
        case QuotaExceeded():
            again = _wait(error)
            return (
                "no_quota",
                f"Wait{again} until the quota begins anew, add credit, or use another provider meanwhile.",
            )
        case RateLimited():
            return "too_fast", f"Try again{_wait(error) or ' in a minute'}; nothing is wrong with the key."
        case ProviderBlocked() | UnprovenEmpty():
            return (
                "blocked",
                "Try again later, or use a provider with a key: this one refuses machines it does not know.",
            )
        case ProviderUnreachable() | ProviderTimeout() | DeadlineExceeded():
            return "unreachable", "Check the network; groundwire doctor says more."
        case ProviderUnsupported():
            return "failed", "Change what is named."
        case _:
            return "failed", "Try again later; groundwire doctor says more."


def _wait(error: ProviderError) -> str:
    seconds = error.retry_after
    if not seconds:
        return ""
    if seconds < 120:
        return f" {seconds:.0f} seconds"
    return f" {seconds / 3_600:.1f} hours" if seconds < 172_800 else f" {seconds / 86_400:.0f} days"
