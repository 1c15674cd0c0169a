"""What budgets speak of: the limits of a session, and what is counted before it is used."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Hold", "Limits", "Reservation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a session may use; 0 means no limit."""

    searches: int = 20
    """The most searches."""
    warning_threshold: int = 15
    """From how many searches on there is a warning."""
    cost_usd: float = 0.0
    """The most US dollars."""
    tokens: int = 0
    """The most tokens of page text, estimated at four characters each."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """One search that was counted before it is made."""

    spent: int
    """The searches of the session, this one included."""
    micro_usd: int = 0
    """Millionths of a dollar that were set aside for it."""
    day: int = 0
    """The day of the allowance on which it was counted."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Searches that somebody else may make for the session, counted before they are made."""

    searches: int
    """How many; 0 when none is left."""
    micro_usd: int = 0
    """Millionths of a dollar that were set aside for all of them."""
    day: int = 0
    """The day of the allowance on which they were counted."""
