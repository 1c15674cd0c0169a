"""The status of each provider: in use or not, ready or what it lacks, and the origin of its key."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, cast

from groundwire.errors import GroundwireError, MissingKey, NotConfigured
from groundwire.providers.base import ProviderClass, ReadProvider, SearchProvider, price_of
from groundwire.providers.registry import create
from groundwire.settings import Settings
from groundwire.settings.schema import key_from_keyring
from groundwire.setup.apply import Offer, load_offers
from groundwire.transport.clients import HttpClients


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """The status of a provider."""

    name: str
    """Its name in the settings: that in the catalog, or `NAME:LABEL`."""
    offer: Offer
    """Its catalog entry."""
    search_place: int | None
    """Its position among the search providers in use, from 1, or None."""
    read_place: int | None
    """Its position among the read providers in use."""
    state: Literal["ready", "needs_key", "not_set_up", "wrong"]
    """Whether it can be used now."""
    reason: str = ""
    """The reason, if not."""
    key_from: str = ""
    """The origin of its key: `keyring`, `environment`, `.env`, a file's path; empty without one."""
    variable: str = ""
    """The variable of its key; empty if it takes none."""
    call_usd: float = 0.0
    """The price of a search as it is configured, in US dollars; 0 if unknown."""
    price_note: str = ""
    """That its price list is old, if it is."""

    @property
    def price(self) -> str:
        """The price of 1,000 calls, as text for a table."""
        return f"${1_000 * self.call_usd:.2f}" if self.call_usd else self.offer.price

    @property
    def in_use(self) -> bool:
        """Whether it is named in the settings."""
        return self.search_place is not None or self.read_place is not None

    @property
    def can_be_called(self) -> bool:
        """Whether a call shows if it works: it is an outside service, in use, and ready."""
        return self.in_use and self.offer.is_service and self.state == "ready"


def key_source(settings: Settings, variables: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first of some variables with a stored key, and its origin; None if there is none.

    Args:
        settings: The settings.
        variables: The names, the usual one first.
    """
    for variable in variables:
        origin = settings.origin(f"keys.{variable}")
        if settings.secret(variable) is None:
            continue
        if origin == "argument" or not settings.loaded:
            return variable, "argument"
        if settings.asks_keyring and key_from_keyring(variable) is not None:
            return variable, "keyring"
        return variable, "environment" if origin == "default" else origin.removesuffix(f" {variable}")
    return None


async def provider_statuses(
    settings: Settings, *, only_used: bool = False, today: date | None = None
) -> list[ProviderStatus]:
    """Return the status of all providers: those in use in their order, then ready ones, then unconfigured ones.

    Args:
        settings: The settings.
        only_used: Whether those that the settings do not name are left out.
        today: The present day, for the age of price lists; by default in UTC.
    """
    offers = load_offers()
    used = (*settings.search.providers, *settings.read.providers)
    names = dict.fromkeys(used if only_used else (*used, *settings.providers, *offers))
    rows = [
        await _status(name, offers[name.partition(":")[0]], settings, today or datetime.now(UTC).date())
        for name in names
        if name.partition(":")[0] in offers
    ]
    order = {"ready": 0, "wrong": 1, "needs_key": 2, "not_set_up": 3}
    place = {name: number for number, name in enumerate(dict.fromkeys(used))}
    return sorted(rows, key=lambda row: (place.get(row.name, len(place)), order[row.state], row.name))


@asynccontextmanager
async def opened(
    name: str,
    settings: Settings,
    transports: HttpClients | None = None,
    *,
    cls: ProviderClass | None = None,
) -> AsyncGenerator[SearchProvider | ReadProvider]:
    """Create a provider for the block, and close it.

    Args:
        name: Its name.
        settings: Where its options and keys are.
        transports: Its HTTP clients; by default clients of its own, which connect only when they are used.
        cls: Its class, if it is already known.

    Raises:
        ConfigurationError: as `groundwire.providers.registry.create`.
    """
    own = HttpClients(settings, None, None)
    try:
        provider = create(name, settings, transports or own, cls=cls)
        try:
            yield provider
        finally:
            if (close := getattr(provider, "aclose", None)) is not None:
                await close()
    finally:
        await own.aclose()


async def _status(name: str, offer: Offer, settings: Settings, today: date) -> ProviderStatus:
    state: Literal["ready", "needs_key", "not_set_up", "wrong"] = "ready"
    reason, usd = "", 0.0
    if offer.name == "archive":
        state, reason = ("ready", "") if settings.archive.enabled else ("not_set_up", "archive.enabled is false")
    else:
        try:
            async with opened(name, settings, cls=offer.provider) as provider:
                usd = price_of(cast("SearchProvider", provider))
        except MissingKey as error:
            state, reason = "needs_key", str(error)
        except NotConfigured as error:
            state, reason = ("needs_key" if offer.key_needed else "not_set_up"), error.needs
        except GroundwireError as error:
            state, reason = "wrong", str(error)
    source = key_source(settings, offer.variables)
    return ProviderStatus(
        name=name,
        offer=offer,
        search_place=_place(name, settings.search.providers),
        read_place=_place(name, settings.read.providers),
        state=state,
        reason=reason,
        key_from=source[1] if source else "",
        variable=source[0] if source else next(iter(offer.variables), ""),
        call_usd=usd,
        price_note=offer.prices.age_note(today),
    )


def _place(name: str, names: tuple[str, ...]) -> int | None:
    return names.index(name) + 1 if name in names else None
