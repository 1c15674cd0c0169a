"""Checks of providers by one call each, without fallbacks: the one list of what a call can show.

`groundwire doctor`, `groundwire setup`, the hosts of extensions and the prompts of MCP
share it: what a call can show has a stable name, and its remedy.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

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
    counted,
)
from groundwire.providers.base import ReadProvider, SearchProvider
from groundwire.settings import Settings
from groundwire.setup.apply import Offer, load_offers
from groundwire.setup.provider_status import opened
from groundwire.transport.clients import HttpClients
from groundwire.transport.errors import ExchangeFailed

CallFault = Literal[
    "key-wrong", "key-plan", "quota-used-up", "rate-limited", "provider-unreachable", "provider-blocked",
    "provider-not-set-up", "provider-failing", "searxng-json-off", "searxng-limiter",
]  # fmt: skip
"""What is wrong with a provider according to one call, as the report of `groundwire doctor` names it."""
Verdict = Literal[CallFault, "works"]
"""The result of one call."""

_CAUSES: Final[Mapping[Verdict, str]] = {
    "searxng-json-off": "By default SearXNG answers format=json with 403.",
    "searxng-limiter": "Its limiter, or a proxy in front of it, takes this machine for a bot.",
}
JSON_ON = (
    "In its settings.yml, under search, write formats: [html, json]; then restart it (docker restart searxng, or "
    "systemctl restart searxng)"
)
"""How to enable JSON in a SearXNG (https://docs.searxng.org/admin/settings/settings_search.html)."""
_LET_IN = (
    'In its limiter.toml, under [botdetection.ip_lists], write pass_ip = ["THE ADDRESS OF THIS MACHINE"], or set '
    "server.limiter: false in its settings.yml when no one else can reach it; then restart it"
)
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
    why: str = ""
    """The cause, as a sentence; empty if it is obvious."""
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


async def verify(
    name: str,
    settings: Settings,
    *,
    deadline: Deadline | None = None,
    transports: HttpClients | None = None,
) -> Verification:
    """Make one call of a provider, without caches, retries and fallbacks.

    Args:
        name: The provider's name.
        settings: Where its options and keys are.
        deadline: When the answer must be here; by default in 15 seconds.
        transports: Where it gets HTTP clients; by default clients of its own, closed again.
    """
    deadline = deadline or Deadline.after(_TIMEOUT)
    began = time.perf_counter()
    try:
        async with opened(name, settings, transports) as provider:
            with deadline.timeout():
                cost, what = await _call(provider, deadline)
    except (GroundwireError, TimeoutError) as error:
        failure = error if isinstance(error, GroundwireError) else ProviderTimeout(name, "no answer in time")
        return _failed_check(name, failure, 1_000 * (time.perf_counter() - began))
    elapsed = 1_000 * (time.perf_counter() - began)
    return Verification(provider=name, verdict="works", what=what, cost_usd=cost, latency_ms=elapsed)


async def _call(provider: SearchProvider | ReadProvider, deadline: Deadline) -> tuple[float, str]:
    if provider.capabilities.search:
        results = await cast("SearchProvider", provider).search(_QUERY, limit=1, deadline=deadline)
        cost = float(getattr(results, "cost_usd", 0.0) or 0.0)
        return cost, f"It answered a search with {counted(len(results), 'result')}."
    content = await cast("ReadProvider", provider).read_url(_PAGE, deadline=deadline)
    if not content.success:
        raise ProviderUnavailable(provider.name, f"could not read {_PAGE}: {content.error or 'no reason given'}")
    cost = float(getattr(content, "cost_usd", 0.0) or 0.0)
    return cost, f"It read a page of {len(content.content):,} characters."


def _failed_check(name: str, error: GroundwireError, elapsed: float) -> Verification:
    verdict, remedy = _verdict(name, error, load_offers().get(name.partition(":")[0]))
    if not verdict.startswith("searxng") and (own := _own_fix(error)) and own not in remedy:
        remedy = f"{own.rstrip('.')}. {remedy}"
    what = error.reason if isinstance(error, ProviderError) else str(error)
    return Verification(
        provider=name,
        verdict=verdict,
        what=(what if _HOST_FIRST.match(what) else what[:1].upper() + what[1:]).rstrip(".") + _status(error) + ".",
        fix=remedy,
        why=_CAUSES.get(verdict, ""),
        latency_ms=elapsed,
        error=error,
    )


def _own_fix(error: GroundwireError) -> str:
    """Return the fix that an error has itself; empty where the remedy says the same, and names the setting."""
    if isinstance(error.__cause__, ExchangeFailed) and error.__cause__.kind == "network":
        return ""
    return error.fix if isinstance(error, ProviderError) else ""


def _status(error: GroundwireError) -> str:
    status = getattr(error, "status", None)
    is_new = isinstance(error, ProviderError) and status and str(status) not in error.reason
    return f" (HTTP {status})" if is_new else ""


def _verdict(name: str, error: GroundwireError, offer: Offer | None) -> tuple[Verdict, str]:
    """Return what an error says about a provider, and the remedy."""
    page = offer.key_page if offer and offer.key_page else "the service's page"
    is_searxng = name.partition(":")[0] == "searxng"
    match error:
        case MissingKey() | NotConfigured():
            return "provider-not-set-up", "Run groundwire setup."
        case ConfigurationError():
            return "provider-not-set-up", "Change that setting."
        case ProviderUnsupported() if is_searxng:
            return "searxng-json-off", f"{JSON_ON}."
        case RateLimited() | ProviderBlocked() if is_searxng:
            return "searxng-limiter", f"{_LET_IN}."
        case AuthenticationFailed() | ProviderUnsupported() | RequestRefused() if _PLAN.search(error.reason):
            return "key-plan", f"Choose a plan that includes it on {page}, or omit this provider."
        case AuthenticationFailed():
            return "key-wrong", f"Copy the key again from {page}; a new key may take a minute to become active."
        case QuotaExceeded():
            until = f"Wait{_wait(error)} until the quota resets"
            return "quota-used-up", f"{until}, add credit on {page}, or use another provider until then."
        case RateLimited():
            return "rate-limited", f"Try again{_wait(error) or ' in a minute'}; the key is valid."
        case ProviderBlocked() | UnprovenEmpty():
            advice = "use a provider with a key: this one rejects requests from unknown machines."
            return "provider-blocked", f"Try again later, or {advice}"
        case ProviderUnreachable() | ProviderTimeout() | DeadlineExceeded() if offer and offer.address_needed:
            return "provider-unreachable", f"Check that {name} runs, and that providers.{name}.base_url is its address."
        case ProviderUnreachable() | ProviderTimeout() | DeadlineExceeded():
            return "provider-unreachable", "Try again later; if no service can be reached, fix the network first."
        case ProviderUnsupported():
            return "provider-failing", "Change that setting."
        case _:
            return "provider-failing", "Try again later."


def _wait(error: ProviderError) -> str:
    return f" {duration(error.retry_after)}" if error.retry_after else ""


def duration(seconds: float) -> str:
    """Return a time in the largest unit of which there are at least two."""
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {word}"
    return f"{seconds:.0f} seconds"
