"""Whether "nothing found" is true: a second opinion, or a control query that must have results.

An empty result is believed only when something shows that searching worked: a second provider that found nothing
either, rows that were there but did not pass the filters that the provider was given, or a control query that the same
provider answers, before it finds nothing once more. Otherwise a provider that quietly refuses would look like a web
without an answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from groundwire.models import Attempt, Query
from groundwire.providers import SearchProvider
from groundwire.routing.calls import SearchCall
from groundwire.routing.provider_call import AttemptResult, ProviderCaller

__all__ = ["EmptyConfirmer", "second_opinion"]

_CONTROL_QUERY = Query(text="wikipedia", limit=1)  # every index of the web has pages on it
_REASON = "a control query, to see whether it finds anything at all"


def second_opinion(results: Sequence[AttemptResult]) -> AttemptResult | None:
    """Return the result whose emptiness the others prove: its rows were filtered out, or two providers found none."""
    filtered = [item for item in results if item.empty == "filtered"]
    answered = [item for item in results if item.empty == "answered"]
    if filtered:
        return filtered[0]
    return answered[0] if len({item.attempt.provider for item in answered}) > 1 else None


class EmptyConfirmer:
    """Sends control queries, and remembers when each provider last answered one."""

    def __init__(self) -> None:
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
        if (proven := second_opinion(results)) is not None:
            return proven, attempts
        named = {provider.name: provider for provider in providers}
        answered = [item for item in results if item.empty == "answered"]
        for item in (*answered, *(item for item in results if item.empty == "unproven")):
            provider = named[item.attempt.provider]
            if not await self._control_query(provider, call, caller, began, attempts):
                continue
            again = await caller.probe(provider, call)  # it may have failed to find anything just once
            is_empty = not again.rows and again.empty != "no"
            outcome = {"outcome": "empty", "reason": "found nothing again"} if is_empty else {}
            attempts.append(again.attempt.model_copy(update=outcome))
            if again.rows or is_empty:
                return again if again.rows else item, attempts
        return None, attempts

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
        done = await caller.probe(provider, replace(call, query=_CONTROL_QUERY))
        attempts.append(done.attempt.model_copy(update={"reason": done.attempt.reason or _REASON}))
        if done.rows:
            self._answered_at[provider.name] = asyncio.get_running_loop().time()
        return bool(done.rows)
