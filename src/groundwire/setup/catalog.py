"""The catalog of installed providers: features, prices and requirements.

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
    """A provider in the catalog."""

    name: str
    """Its name."""
    provider: ProviderClass = field(repr=False, compare=False)
    """Its class."""
    summary: str
    """Its description, as a sentence."""
    capabilities: Capabilities
    """Its features."""
    variables: tuple[str, ...] = ()
    """The environment variables of its key, the usual one first."""
    key_needed: bool = False
    """Whether it requires a key, unless `keyless` is set."""
    keyless: bool = False
    """Whether its option `keyless` makes the key optional."""
    key_page: str = ""
    """The page where keys are created."""
    address_needed: bool = False
    """Whether its option `base_url` is required."""
    search_credits: int = 1
    """The credits of a typical search."""
    prices: Prices = field(default_factory=Prices)
    """Its price list."""

    @property
    def is_service(self) -> bool:
        """Whether it is an outside service, so that one call shows whether it works."""
        return (self.capabilities.search and self.name != "archive") or bool(self.variables)

    @property
    def call_usd(self) -> float:
        """The price of a call with a key, in US dollars; 0 if calls are not billed."""
        return self.prices.cost("request") or self.prices.cost("credit", self.search_credits)

    @property
    def price(self) -> str:
        """The price of 1,000 calls, as text for a table."""
        if self.call_usd:
            return f"${1_000 * self.call_usd:.2f}"
        if token := self.prices.cost("token"):
            return f"${1_000_000 * token:.2f}/Mtok"
        return "free"


def load_offers() -> Mapping[str, Offer]:
    """Return the catalog of all installed providers by name, without those that fail to import."""
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
    """A value to enter."""

    name: str
    """Its name: that of the variable, in lower case."""
    variable: str
    """The environment variable for it."""
    provider: str
    """Its provider."""
    description: str
    """Its description, for people."""
    required: bool
    """Whether its provider was chosen and requires it."""
    secret: bool = True
    """Whether it is a secret."""


def setup_schema(offers: Iterable[Offer], chosen: Container[str] = ()) -> tuple[SetupField, ...]:
    """Return a field for the key of every provider that accepts one.

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
