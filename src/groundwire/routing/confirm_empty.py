"""Whether "nothing found" is true: second opinions, or a control query that must have results.

An empty result is believed only when something shows that searching worked: rows that were there but did not pass the
filters that the provider was given; a second provider that found nothing either, where both had rows lately; or a
control query that the same provider answers now. And it must find nothing once more. Otherwise a provider that quietly
refuses, or that is always empty, would look like a web without an answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from groundwire.models import Attempt, Query
from groundwire.providers import SearchProvider
from groundwire.routing.calls import SearchCall
from groundwire.routing.health import Health
from groundwire.routing.hedging_policy import ExtraBudget
from groundwire.routing.provider_call import AttemptResult, ProviderCaller, price_of

__all__ = ["EmptyConfirmer", "second_opinion"]

_CONTROL_QUERY = Query(text="wikipedia", limit=1)  # every index of the web has pages on it
_REASON = "a control query, to see whether it finds anything at all"


def second_opinion(results: Sequence[AttemptResult], health: Health) -> AttemptResult | None:
    """Return the result whose emptiness the others prove: its rows were filtered out, or two providers found none.

    Args:
        results: What the providers answered.
        health: Knows which providers have returned rows lately; only their second opinion counts.
    """
    filtered = [item for item in results if item.empty == "filtered"]
    answered = {item.attempt.provider: item for item in results if item.empty == "answered"}
    trusted = [item for name, item in answered.items() if health.has_record(name)]
    if filtered:
        return filtered[0]
    return trusted[0] if len(trusted) > 1 else None


class EmptyConfirmer:
    """Sends control queries, and remembers when each provider last answered one.

    Args:
        extra: Pays for what paid providers are asked.
    """

    def __init__(self, extra: ExtraBudget) -> None:
        self._extra = extra
        self._answered_at: dict[str, float] = {}

    async def confirm(
        self,
        results: Sequence[AttemptResult],
        call: SearchCall,
        providers: Sequence[SearchProvider],
        caller: ProviderCaller,
        began: float,
    ) -> tuple[AttemptResult | None, list[Attempt]]:
        """Return the result whose emptiness is proven or one that has rows after all, and the attempts that it took.

        Args:
            results: What the providers answered: no rows.
            call: The call.
            providers: Those of the call.
            caller: Makes the attempts.
            began: When the call began, on the loop's clock. A control query from before proves nothing: the provider
                may have begun to refuse since.
        """
        attempts: list[Attempt] = []
        named = {provider.name: provider for provider in providers}
        proven = second_opinion(results, caller.health)
        if proven is not None and proven.empty == "filtered":
            return proven, attempts
        empty = [item for item in results if item.empty in {"answered", "unproven"}]
        empty.sort(key=lambda item: (item.empty == "unproven", price_of(named[item.attempt.provider]) > 0))
        if proven is not None:  # asked once more is one that costs nothing, if there is one
            empty = self._free(empty, named, caller.health)
        elif any(item.empty == "no" and item.attempt.provider in named for item in results):
            empty = [
                item for item in empty if item.empty == "answered"
            ]  # what is unproven is not held against failures
        for item in empty:
            provider = named[item.attempt.provider]
            if proven is None and not await self._control_query(provider, call, caller, began, attempts):
                continue
            again = await self._ask(provider, call, caller)  # it may have failed to find anything just once
            if again is None:
                continue
            is_empty = not again.rows and again.empty != "no"
            outcome = {"outcome": "empty", "reason": "found nothing again"} if is_empty else {}
            attempts.append(again.attempt.model_copy(update=outcome))
            if again.rows or is_empty:
                return again if again.rows else item, attempts
        return proven, attempts

    async def control(self, provider: SearchProvider, call: SearchCall, caller: ProviderCaller) -> None:
        """Ask the control query of a provider that was empty time after time; rows show that it is healthy.

        Args:
            provider: The provider.
            call: The call that pays.
            caller: Makes the attempt.
        """
        done = await self._ask(provider, replace(call, query=_CONTROL_QUERY), caller)
        if done is not None and done.rows:
            caller.publish(provider, caller.health.prove(provider.name))

    async def _control_query(
        self,
        provider: SearchProvider,
        call: SearchCall,
        caller: ProviderCaller,
        began: float,
        attempts: list[Attempt],
    ) -> bool:
        """Return whether the provider has found anything at all since the call began."""
        if self._answered_at.get(provider.name, -math.inf) > began:
            return True
        done = await self._ask(provider, replace(call, query=_CONTROL_QUERY), caller)
        if done is None:
            return False
        attempts.append(done.attempt.model_copy(update={"reason": done.attempt.reason or _REASON}))
        if done.rows:
            self._answered_at[provider.name] = asyncio.get_running_loop().time()
        return bool(done.rows)

    async def _ask(self, provider: SearchProvider, call: SearchCall, caller: ProviderCaller) -> AttemptResult | None:
        """Ask once; None if a paid provider would have to be asked and the budget does not allow it."""
        charged = 1.0 if price_of(provider) else 0.0
        if charged and not self._extra.allows(charged, reserve=0.5):
            return None
        self._extra.spend(charged)
        done = await caller.probe(provider, call)
        if not done.answered:
            self._extra.spend(-charged)
        return done

    @staticmethod
    def _free(
        results: Sequence[AttemptResult], named: dict[str, SearchProvider], health: Health
    ) -> list[AttemptResult]:
        """Return the first result of a free provider with a record."""
        return [
            item
            for item in results
            if item.empty == "answered"
            and health.has_record(item.attempt.provider)
            and not price_of(named[item.attempt.provider])
        ][:1]
