"""Calls as a `Web` creates them, for component tests."""

from __future__ import annotations

from typing import Any

from groundwire.deadline import Deadline
from groundwire.models import Query, SearchResponse, Strategy
from groundwire.providers import SearchProvider
from groundwire.routing import Router, SearchCall
from groundwire.routing.budget import Limits, Reservation, SessionBudget
from groundwire.routing.cost_ledger import CostLedger
from groundwire.safety.urls import DomainPolicy
from groundwire.storage.memory import MemoryStore


def search_call(
    query: Query,
    deadline: Deadline,
    strategy: Strategy = "hedge",
    ledger: CostLedger | None = None,
    policy: DomainPolicy | None = None,
) -> SearchCall:
    """A call of a session without limits."""
    return SearchCall(
        query=query,
        deadline=deadline,
        strategy=strategy,
        policy=policy or DomainPolicy(),
        budget=SessionBudget(MemoryStore(), "s", Limits()),
        reservation=Reservation(1),
        ledger=ledger or CostLedger(_granted, lambda amount: None),
    )


async def _granted(amount: int) -> bool:
    return True


class CallingRouter(Router):
    """A router that creates the calls itself, all with one strategy."""

    def __init__(
        self, providers: Any, *, strategy: Strategy = "hedge", policy: DomainPolicy | None = None, **options: Any
    ) -> None:
        super().__init__(providers, **options)
        self.policy = policy
        self.providers: tuple[SearchProvider, ...]
        self._strategy = strategy

    async def ask(self, query: Query, deadline: Deadline, ledger: CostLedger | None = None) -> SearchResponse:
        """Search with a call of its own."""
        return await self.search(search_call(query, deadline, self._strategy, ledger, self.policy))
