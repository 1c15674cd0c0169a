"""One search or page call, with everything that the steps of its flow need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from groundwire.deadline import Deadline
from groundwire.models import Attempt, Query, Strategy
from groundwire.routing.budget import Reservation, SessionBudget
from groundwire.routing.cost_ledger import CostLedger
from groundwire.safety.tenancy import Owner
from groundwire.safety.urls import DomainPolicy, WebUrl

if TYPE_CHECKING:  # needed for pages only, and slow to load
    from groundwire.reading.passages.view import Ask

CacheMode = Literal["use", "refresh", "bypass"]
"""`use`: a cached value may be used. `refresh`: skip the lookup and store the new result. `bypass`: store nothing."""

_NOTHING_RESERVED = Reservation()
_ANY_DOMAIN = DomainPolicy()


@dataclass(kw_only=True, slots=True, eq=False, repr=False)  # not frozen: that would take three times as long to make
class _Call:
    """Common state of a search and a page. What the caller asked for never changes."""

    deadline: Deadline
    """The deadline of the whole call."""
    cache_mode: CacheMode = "use"
    """The cache mode."""
    budget: SessionBudget
    """The budget of the session that pays."""
    reservation: Reservation = _NOTHING_RESERVED
    """What was reserved of the budget before the first request."""
    ledger: CostLedger = field(default_factory=CostLedger)
    """The charges so far; settled once at the end. It is the budget's once something is reserved."""
    attempts: list[Attempt] = field(default_factory=list)
    """The attempts and their outcomes, in the order in which they ended."""

    @property
    def owner(self) -> Owner:
        """The owner of everything stored for this call, which also determines what it may see."""
        return self.budget.owner

    def pay_from(self, reservation: Reservation) -> None:
        """Charge everything from now on to a reservation of the budget."""
        self.reservation = reservation
        self.ledger = self.budget.ledger(reservation)

    @asynccontextmanager
    async def paid_from(self, reservation: Reservation) -> AsyncIterator[None]:
        """Charge the block to a reservation of the budget, and settle it at its end, even if the call is canceled."""
        self.pay_from(reservation)
        try:
            yield
        finally:
            await asyncio.shield(self.budget.settle(reservation, self.ledger.close()))


@dataclass(kw_only=True, slots=True, eq=False, repr=False)
class SearchCall(_Call):
    """One search."""

    query: Query
    """Text, limit and filters, as the caller asked for them."""
    strategy: Strategy
    """The strategy for calling providers."""
    policy: DomainPolicy = _ANY_DOMAIN
    """The operator's domain lists."""
    opener: object = None
    """Its `open_page` opens the results; see `SearchResult.open`."""
    provider_query: Query = field(init=False)
    """The query as a provider gets it: with the operator's domain lists joined to the caller's."""

    def __post_init__(self) -> None:
        query, policy = self.query, self.policy
        if policy.allowed or policy.blocked:
            query = replace(
                query,
                allowed_domains=query.allowed_domains or policy.allowed,
                blocked_domains=tuple(dict.fromkeys((*query.blocked_domains, *policy.blocked))),
            )
        self.provider_query = query


@dataclass(kw_only=True, slots=True, eq=False, repr=False)
class PageCall(_Call):
    """One page to open."""

    address: str
    """The URL as the caller gave it."""
    selection: Ask
    """The requested part of the page."""
    path: Path | None = None
    """The local file that a person or a program named; None for an address."""
    folders: tuple[str, ...] = ()
    """The folders below which the address may be that of a local file."""
    url: WebUrl = field(init=False)
    """The URL, once the guard has allowed it."""
    from_text: bool = False
    """Whether the session knows the address only from the text of a page."""
