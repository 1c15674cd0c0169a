"""What each installed provider offers: what it does, what it costs, and what it wants before it can be used.

What is to be asked when providers are set up, for a command line as for the host of an extension.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from groundwire.providers.base import Capabilities, Prices, ProviderClass, load_prices
from groundwire.providers.registry import provider_classes

__all__ = ["Offer", "SetupField", "load_offers", "setup_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One provider, as somebody sees it who has not chosen yet."""

    name: str
    """Its name."""
    provider: ProviderClass = field(repr=False, compare=False)
    """Its class."""
    summary: str
    """What it is, as a sentence."""
    capabilities: Capabilities
    """What it can do."""
    variables: tuple[str, ...] = ()
    """The environment variables that may hold its key, the usual one first."""
    key_needed: bool = False
    """Whether it does nothing without a key, unless `keyless` is set."""
    keyless: bool = False
    """Whether its option `keyless` lets it work without a key."""
    key_page: str = ""
    """The page that issues keys."""
    address_needed: bool = False
    """Whether its option `base_url` must say where it is."""
    search_credits: int = 1
    """The credits that one search usually costs."""
    prices: Prices = field(default_factory=Prices)
    """Its price list."""

    @property
    def is_service(self) -> bool:
        """Whether somebody outside is asked, so that one call shows whether it works."""
        return (self.capabilities.search and self.name != "archive") or bool(self.variables)

    @property
    def call_usd(self) -> float:
        """What one call costs with a key, in US dollars; 0 where calls are not what is paid for."""
        return self.prices.cost("request") or self.prices.cost("credit", self.search_credits)

    @property
    def price(self) -> str:
        """What 1,000 calls cost, in words for a table."""
        if self.call_usd:
            return f"${1_000 * self.call_usd:.2f}"
        if token := self.prices.cost("token"):
            return f"${1_000_000 * token:.2f}/Mtok"
        return "free"


def load_offers() -> Mapping[str, Offer]:
    """Return the offers of all installed providers by name; one that cannot be imported is left out."""
    prices = load_prices()
    offers = {}
    for name, cls in provider_classes().items():
        options = getattr(cls, "Options", None)
        fields = options.model_fields if options is not None else {}
        variables = tuple(getattr(cls, "key_variables", ()))
        offers[name] = Offer(
            name=name,
            provider=cls,
            summary=(inspect.getdoc(cls) or "").partition("\n")[0].rstrip("."),
            capabilities=cls.capabilities,
            variables=variables,
            key_needed=bool(variables) and (getattr(cls, "key_needed", True) or "keyless" in fields),
            keyless="keyless" in fields,
            key_page=getattr(cls, "key_page", ""),
            address_needed="base_url" in fields and not hasattr(cls, "service"),
            search_credits=getattr(cls, "search_credits", 1),
            prices=prices.get(name, Prices()),
        )
    return offers


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
    """Whether it must never be shown."""


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
