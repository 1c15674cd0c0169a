"""The object that carries a call: made once for `Web.search` or `Web.open_page`, and passed unchanged to every step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from groundwire.deadline import Deadline
    from groundwire.models import Attempt, Query
    from groundwire.reading.passages.view import Ask
    from groundwire.routing.budget import Reservation
    from groundwire.routing.cost_ledger import CostLedger
    from groundwire.routing.hedging_policy import Strategy
    from groundwire.safety.tenancy import Owner
    from groundwire.safety.urls import WebUrl

__all__ = ["AttemptLog", "CacheMode", "PageCall", "SearchCall"]

CacheMode = Literal["use", "refresh", "bypass"]
"""`use`: a cached value will do. `refresh`: skip the lookup and store the new result. `bypass`: keep nothing at all."""


class AttemptLog:
    """The attempts of one call, in the order in which they ended; it only grows."""

    def __init__(self) -> None:
        self._attempts: list[Attempt] = []

    def add(self, *attempts: Attempt) -> None:
        """Append attempts."""
        self._attempts.extend(attempts)

    @property
    def entries(self) -> tuple[Attempt, ...]:
        """The attempts so far."""
        return tuple(self._attempts)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """What a search and a page have in common."""

    deadline: Deadline
    """The moment by which the whole call must end."""
    cache_mode: CacheMode = "use"
    """What the call wants of the cache."""
    owner: Owner
    """Whose everything is that is kept of this call, and what kept things it may see."""
    session: str
    """The session's name."""
    reservation: Reservation
    """What the budget set aside before the first request."""
    ledger: CostLedger
    """Charges as they are made; settled once at the end."""
    attempts: AttemptLog = field(default_factory=AttemptLog)
    """Who was asked, and how it ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCall(_Call):
    """One search."""

    query: Query
    """Text, limit and filters."""
    strategy: Strategy
    """How the providers are asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCall(_Call):
    """One page to open."""

    url: WebUrl
    """The address, admitted by the guard."""
    selection: Ask
    """The part of the page that is wanted."""
