"""The status of each provider: in use or not, ready or what it lacks, and the origin of its key.

A provider is tested with one call, without fallbacks.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, cast

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
from groundwire.providers.base import ReadProvider, SearchProvider, Transports, price_of
from groundwire.providers.registry import create
from groundwire.settings import Settings
from groundwire.settings.schema import key_from_keyring
from groundwire.setup.apply import Offer, load_offers
from groundwire.transport.clients import HttpClients

__all__ = ["ProviderStatus", "Verdict", "Verification", "key_source", "provider_statuses", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """The status of a provider."""

    name: str
    """Its name in the settings: that in the catalog, or `NAME:LABEL`."""
    offer: Offer
    """Its catalog entry."""
    search_place: int | None
    """Its position among the search providers in use, from 1, or None."""
    read_place: int | None
    """Its position among the read providers in use."""
    state: Literal["ready", "needs_key", "not_set_up", "wrong"]
    """Whether it can be used now."""
    reason: str = ""
    """The reason, if not."""
    key_from: str = ""
    """The origin of its key: `keyring`, `environment`, `.env`, a file's path; empty without one."""
    variable: str = ""
    """The variable of its key; empty if it takes none."""
    call_usd: float = 0.0
    """The price of a search as it is configured, in US dollars; 0 if unknown."""
    price_note: str = ""
    """That its price list is old, if it is."""

    @property
    def price(self) -> str:
        """The price of 1,000 calls, as text for a table."""
        return f"${1_000 * self.call_usd:.2f}" if self.call_usd else self.offer.price

    @property
    def in_use(self) -> bool:
        """Whether it is named in the settings."""
        return self.search_place is not None or self.read_place is not None


def key_source(settings: Settings, variables: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first of some variables with a stored key, and its origin; None if there is none.

    Args:
        settings: The settings.
        variables: The names, the usual one first.
    """
    for variable in variables:
        origin = settings.origin(f"keys.{variable}")
        if settings.secret(variable) is None:
            continue
        if origin == "argument" or not settings.loaded:
            return variable, "argument"
        if settings.asks_keyring and key_from_keyring(variable) is not None:
            return variable, "keyring"
        return variable, "environment" if origin == "default" else origin.removesuffix(f" {variable}")
    return None


async def provider_statuses(
    settings: Settings, *, only_used: bool = False, today: date | None = None
) -> list[ProviderStatus]:
    """Return the status of all providers: those in use in their order, then ready ones, then unconfigured ones.

    Args:
        settings: The settings.
        only_used: Whether those that the settings do not name are left out.
        today: The present day, for the age of price lists; by default in UTC.
    """
    offers = load_offers()
    used = (*settings.search.providers, *settings.read.providers)
    names = dict.fromkeys(used if only_used else (*used, *settings.providers, *offers))
    clients = HttpClients(settings, None, None)
    try:
        rows = [
            await _standing(name, offers[name.partition(":")[0]], settings, clients, today or datetime.now(UTC).date())
            for name in names
            if name.partition(":")[0] in offers
        ]
    finally:
        await clients.aclose()
    order = {"ready": 0, "wrong": 1, "needs_key": 2, "not_set_up": 3}
    place = {name: number for number, name in enumerate(dict.fromkeys(used))}
    return sorted(rows, key=lambda row: (place.get(row.name, len(place)), order[row.state], row.name))


async def _standing(name: str, offer: Offer, settings: Settings, clients: HttpClients, today: date) -> ProviderStatus:
    state: Literal["ready", "needs_key", "not_set_up", "wrong"] = "ready"
    reason, usd = "", 0.0
    try:
        provider = None if offer.name == "archive" else create(name, settings, clients, cls=offer.provider)
    except MissingKey as error:
        state, reason = "needs_key", str(error)
    except NotConfigured as error:
        state, reason = ("needs_key" if offer.key_needed else "not_set_up"), error.needs
    except (ConfigurationError, GroundwireError) as error:
        state, reason = "wrong", str(error)
    else:
        usd = price_of(cast("SearchProvider", provider))
        close = getattr(provider, "aclose", None)
        if close is not None:
            await close()
    if offer.name == "archive" and not settings.archive.enabled:
        state, reason = "not_set_up", "archive.enabled is false"
    found = key_source(settings, offer.variables)
    return ProviderStatus(
        name=name,
        offer=offer,
        search_place=_place(name, settings.search.providers),
        read_place=_place(name, settings.read.providers),
        state=state,
        reason=reason,
        key_from=found[1] if found else "",
        variable=found[0] if found else next(iter(offer.variables), ""),
        call_usd=usd,
        price_note=offer.prices.age_note(today),
    )


def _place(name: str, names: tuple[str, ...]) -> int | None:
    return names.index(name) + 1 if name in names else None


Verdict = Literal[
    "works", "wrong_key", "wrong_plan", "no_quota", "too_fast", "unreachable", "blocked", "not_set_up", "failed"
]
"""The result of one call."""

_QUERY = "wikipedia"  # every provider finds something for it
_PAGE = "https://example.com/"
_TIMEOUT = 15.0  # seconds
_HOST_FIRST = re.compile(r"\S+\.\S")
_PLAN = re.compile(
    r"\bplans?\b|\bupgrad|\btier\b|\bentitled\b|NOT_IN_PLAN|\bsubscription (?:does|is|level)|\bnot enabled for",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of one call of a provider."""

    provider: str
    """Its name."""
    verdict: Verdict
    """Its outcome."""
    what: str
    """The problem, as a sentence."""
    fix: str = ""
    """The fix, as a sentence; empty if it works."""
    cost_usd: float = 0.0
    """The cost of the call, in US dollars."""
    latency_ms: float = 0.0
    """How long it took, in milliseconds."""
    error: GroundwireError | None = None
    """The exception of the provider."""

    @property
    def works(self) -> bool:
        """Whether the call succeeded."""
        return self.verdict == "works"

    @property
    def key_is_good(self) -> bool:
        """Whether the key was accepted, as far as known; a used-up quota does not invalidate it."""
        return self.verdict in {"works", "no_quota", "too_fast"}


async def verify(
    name: str,
    settings: Settings,
    *,
    deadline: Deadline | None = None,
    transports: Transports | None = None,
    page: str = _PAGE,
) -> Verification:
    """Make one call of a provider, without caches, retries and fallbacks.

    Args:
        name: The provider's name.
        settings: Where its options and keys are.
        deadline: When the answer must be here; by default in 15 seconds.
        transports: Where it gets HTTP clients; by default clients of its own, closed again.
        page: The address that a provider which only reads is asked for.
    """
    deadline = deadline or Deadline.after(_TIMEOUT)
    own = HttpClients(settings, None, None) if transports is None else None
    began = time.perf_counter()
    provider: SearchProvider | ReadProvider | None = None
    try:
        provider = create(name, settings, own or cast("Transports", transports))
        with deadline.timeout():
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
        what=(what if _HOST_FIRST.match(what) else what[:1].upper() + what[1:]).rstrip(".") + _status(error) + ".",
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
            return "not_set_up", "Change that setting."
        case AuthenticationFailed() | ProviderUnsupported() | RequestRefused() if _PLAN.search(error.reason):
            return "wrong_plan", "Choose a plan that includes it on the service's page, or omit this provider."
        case AuthenticationFailed():
            return (
                "wrong_key",
                "Copy the key again from the service's page; a new key may take a minute to become active.",
            )
        case QuotaExceeded():
            again = _wait(error)
            return (
                "no_quota",
                f"Wait{again} until the quota resets, add credit, or use another provider until then.",
            )
        case RateLimited():
            return "too_fast", f"Try again{_wait(error) or ' in a minute'}; the key is valid."
        case ProviderBlocked() | UnprovenEmpty():
            return (
                "blocked",
                "Try again later, or use a provider with a key: this one rejects requests from unknown machines.",
            )
        case ProviderUnreachable() | ProviderTimeout() | DeadlineExceeded():
            return "unreachable", "Check the network; groundwire doctor shows details."
        case ProviderUnsupported():
            return "failed", "Change that setting."
        case _:
            return "failed", "Try again later."


def _wait(error: ProviderError) -> str:
    seconds = error.retry_after
    if not seconds:
        return ""
    if seconds < 120:
        return f" {seconds:.0f} seconds"
    return f" {seconds / 3_600:.1f} hours" if seconds < 172_800 else f" {seconds / 86_400:.0f} days"
