"""What is to be asked when providers are set up, for a command line as for the host of an extension."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from groundwire.onboarding.offers import Offer

__all__ = ["SetupField", "setup_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupField:
    """One thing to ask for."""

    name: str
    """Its name: that of the variable, in small letters."""
    variable: str
    """The environment variable that would hold it."""
    provider: str
    """Whose it is."""
    description: str
    """What it is, for people."""
    required: bool
    """Whether its provider was chosen and does nothing without it."""
    secret: bool = True
    """Whether it must be shown to nobody."""


def setup_schema(offers: Iterable[Offer], chosen: Container[str] = ()) -> tuple[SetupField, ...]:
    """Return a field for the key of every provider that takes one.

    Args:
        offers: The providers.
        chosen: The names of those that are to be used.
    """
    return tuple(
        SetupField(
            name=offer.variables[0].lower(),
            variable=offer.variables[0],
            provider=offer.name,
            description=f"{offer.name.capitalize()} API key" + (f", from {offer.key_page}" if offer.key_page else ""),
            required=offer.name in chosen and offer.key_needed,
        )
        for offer in offers
        if offer.variables
    )
