"""Who looks at the page, and how they are let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from groundwire.web import Web

__all__ = ["Doors", "Visitor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who looks at the page, and what they may use and see."""

    id: str = ""
    """By which a visitor who has signed in is found again; never the key itself."""
    name: str = ""
    """What the page calls the visitor; empty where nobody signs in."""
    web: Web
    """What searches and reads for the visitor, under the visitor's own rules."""
    prefix: str = ""
    """With which the names of the visitor's sessions begin in the store; others' sessions are not shown."""
    sees_all: bool = True
    """Whether the visitor may see what everybody's calls have left: the archive, and the figures of all providers."""
    calls_per_day: int = 0
    """The most searches and pages of a day; 0 is no limit."""
    usd_per_day: float = 0.0
    """The most US dollars of a day; 0 is no limit."""


class Doors(Protocol):
    """Says who may come in. With it, the page shows nothing to whom it does not know."""

    def known(self, scope: Mapping[str, Any]) -> Visitor | None:
        """Return who sent a request, as far as whatever stands before the page knows."""
        ...

    async def admit(self, key: str) -> Visitor | None:
        """Return whose API key this is; None when it is nobody's, or not any more."""
        ...

    async def recall(self, visitor: str) -> Visitor | None:
        """Return the visitor of an id, so that a key that was revoked ends what was begun with it; None if so."""
        ...

    def address(self, scope: Mapping[str, Any]) -> str:
        """Return the address of who sent a request, by which tries are counted."""
        ...
