"""Confirmation of empty results by a second opinion or by a control query.

An empty result is trusted only with evidence that searching worked: rows that were removed by the provider's own
filters; a second provider that also found nothing, if both have had rows recently; or a control query that the same
provider answers now, and then nothing for the search once more. A provider that others contradicted the last time is
believed only with another one. If the budget does not allow that for a paid provider, its record decides: recent rows,
and few empty results since. Otherwise a provider that silently blocks requests would look like a web without results.
Failures of other providers are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from groundwire.models import Attempt, Query
from groundwire.providers.base import SearchProvider, price_of
from groundwire.routing.calls import SearchCall
from groundwire.routing.extra_budget import ExtraBudget
from groundwire.routing.health import Health
from groundwire.routing.provider_call import AttemptResult, ProviderCaller
from groundwire.safety.urls import DomainPolicy

_CONTROL_QUERY = Query(text="wikipedia", limit=1)  # every web index has pages for it
_JUST_NOW = 10.0  # seconds since rows that count as much as a control query, if none can be paid
_MOST_REQUESTS = 3  # of one search per second
CONTROL_REASON = "a control query, to see whether it finds anything at all"
"""The reason of the attempt that was a control query: it is no result of the search, so people do not see it."""


def second_opinion(results: Sequence[AttemptResult], health: Health) -> AttemptResult | None:
    """Return the result whose emptiness the others confirm: its rows were filtered out, or two providers found none.

    Args:
        results: The providers' results.
        health: Records which providers have returned rows recently; only their second opinion counts.
    """
    filtered = [item for item in results if item.empty == "filtered"]
    answered = {item.attempt.provider: item for item in results if item.empty == "answered"}
    trusted = [item for name, item in answered.items() if health.has_record(name)]
    if filtered:
        return filtered[0]
    return trusted[0] if len(trusted) > 1 else None


class EmptyConfirmer:
    """Sends control queries.

    Args:
        extra: The budget for requests to paid providers.
        caller: Makes the attempts.
    """

    def __init__(self, extra: ExtraBudget, caller: ProviderCaller) -> None:
        self._extra = extra
        self._caller = caller

    async def confirm(
        self,
        results: Sequence[AttemptResult],
        call: SearchCall,
        providers: Sequence[SearchProvider],
        began: float,
    ) -> tuple[AttemptResult | None, list[Attempt]]:
        """Return a confirmed empty result or one with rows after all, and the attempts made.

        Args:
            results: The providers' results, without rows.
            call: The call.
            providers: The providers of the call.
            began: When the call started, on the loop's clock.
        """
        attempts, health = list[Attempt](), self._caller.health
        named = {provider.name: provider for provider in providers}
        proven = second_opinion(results, health)
        if proven is not None:
            return proven, attempts
        empty = self._candidates(results, named)
        # Without doubts: 6 of 3,000 searches end in a wrong "nothing found".
        doubtful = {name for item in empty if health.is_doubtful(name := item.attempt.provider)}
        missing = 1 + bool(doubtful)
        for item in empty:
            provider = named[item.attempt.provider]
            witness = item.empty == "answered" and health.has_record(provider.name, just_now=_JUST_NOW)
            await self._pause(len(results) + len(attempts), call, began)
            has_rows = await self._control_query(provider, call, attempts)
            if not (witness if has_rows is None else has_rows):
                continue
            for _ in range(1 if provider.name in doubtful else missing):
                await self._pause(len(results) + len(attempts), call, began)
                again = await self._ask(provider, call)  # it may have failed to find anything only once
                if again is None:
                    if witness:
                        return item, attempts
                    break
                is_empty = not again.rows and again.empty != "no"
                outcome = {"outcome": "empty", "reason": "found nothing again"} if is_empty else {}
                attempts.append(again.attempt.model_copy(update=outcome))
                missing -= is_empty
                if again.rows or not missing:
                    return again if again.rows else item, attempts
        return None, attempts

    @staticmethod
    def _candidates(results: Sequence[AttemptResult], named: dict[str, SearchProvider]) -> list[AttemptResult]:
        """Return the empty results whose providers may be asked again, the best first."""
        empty = [item for item in results if item.empty in {"answered", "unproven"}]
        empty.sort(key=lambda item: (item.empty == "unproven", price_of(named[item.attempt.provider]) > 0))
        if any(item.empty == "no" and item.attempt.provider in named for item in results):
            return [item for item in empty if item.empty == "answered"]  # after failures, only these count
        return empty

    async def control(self, provider: SearchProvider, call: SearchCall) -> None:
        """Send a control query to a provider with repeated empty results; rows show that it is healthy."""
        await self._control_query(provider, call, [])

    async def _control_query(self, provider: SearchProvider, call: SearchCall, attempts: list[Attempt]) -> bool | None:
        """Return whether the provider finds anything; None if the budget forbids a query."""
        done = await self._ask(provider, replace(call, query=_CONTROL_QUERY, policy=DomainPolicy()))
        if done is None:
            return None
        attempts.append(done.attempt.model_copy(update={"reason": done.attempt.reason or CONTROL_REASON}))
        if done.rows:
            self._caller.health.prove(provider.name)
        return bool(done.rows)

    @staticmethod
    async def _pause(requests: int, call: SearchCall, began: float) -> None:
        """Wait, if there is time, to stay within the allowed number of requests since the call started."""
        pause = began + requests // _MOST_REQUESTS - asyncio.get_running_loop().time()
        if 0 < pause < call.deadline.remaining() - _MOST_REQUESTS:
            await asyncio.sleep(pause)

    async def _ask(self, provider: SearchProvider, call: SearchCall) -> AttemptResult | None:
        """Make one attempt; None if that needs a paid provider and the budget does not allow it."""
        charged = 1.0 if price_of(provider) else 0.0
        if charged and not self._extra.allows(charged, reserve=1 / 8):
            return None
        self._extra.spend(charged)
        done = await self._caller.probe(provider, call)
        if not done.answered:
            self._extra.spend(-charged)
        return done
