"""How each provider stands in this installation: in use or not, ready or what it lacks, and where its key is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundwire.clients import Clients
from groundwire.errors import ConfigurationError, GroundwireError, MissingKey, NotConfigured
from groundwire.onboarding.offers import Offer, load_offers
from groundwire.providers.registry import create
from groundwire.settings import Settings
from groundwire.settings.keyring import key_from_keyring

__all__ = ["Standing", "key_source", "standings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One provider in one installation."""

    name: str
    """Its name in the settings: that of the offer, or `NAME:LABEL`."""
    offer: Offer
    """What it offers."""
    search_place: int | None
    """Its place among the search providers in use, from 1; None when it is not one of them."""
    read_place: int | None
    """Its place among the read providers in use."""
    state: Literal["ready", "needs_key", "not_set_up", "wrong"]
    """Whether it can be used now."""
    reason: str = ""
    """Why not."""
    key_from: str = ""
    """Where its key is from: `keyring`, `environment`, `.env`, a file's path; empty without one."""
    variable: str = ""
    """The variable under which the key was found, or would be kept; empty when it takes none."""

    @property
    def in_use(self) -> bool:
        """Whether the settings name it."""
        return self.search_place is not None or self.read_place is not None


def key_source(settings: Settings, variables: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first of some variables under which a key is kept, and where; None when there is none.

    Args:
        settings: What is in force.
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


async def standings(settings: Settings, *, only_used: bool = False) -> list[Standing]:
    """Return how all providers stand: those in use in their order, then what is ready, then what lacks something.

    Args:
        settings: What is in force.
        only_used: Whether those that the settings do not name are left out.
    """
    offers = load_offers()
    used = (*settings.search.providers, *settings.read.providers)
    names = dict.fromkeys(used if only_used else (*used, *settings.providers, *offers))
    clients = Clients(settings, None, None)
    try:
        rows = [
            await _standing(name, offers[name.partition(":")[0]], settings, clients)
            for name in names
            if name.partition(":")[0] in offers
        ]
    finally:
        await clients.aclose()
    order = {"ready": 0, "wrong": 1, "needs_key": 2, "not_set_up": 3}
    place = {name: number for number, name in enumerate(dict.fromkeys(used))}
    return sorted(rows, key=lambda row: (place.get(row.name, len(place)), order[row.state], row.name))


async def _standing(name: str, offer: Offer, settings: Settings, clients: Clients) -> Standing:
    state: Literal["ready", "needs_key", "not_set_up", "wrong"] = "ready"
    reason = ""
    try:
        provider = None if offer.name == "archive" else create(name, settings, clients, cls=offer.provider)
    except MissingKey as error:
        state, reason = "needs_key", str(error)
    except NotConfigured as error:
        state, reason = ("needs_key" if offer.key_needed else "not_set_up"), error.needs
    except (ConfigurationError, GroundwireError) as error:
        state, reason = "wrong", str(error)
    else:
        close = getattr(provider, "aclose", None)
        if close is not None:
            await close()
    if offer.name == "archive" and not settings.archive.enabled:
        state, reason = "not_set_up", "archive.enabled is false"
    found = key_source(settings, offer.variables)
    return Standing(
        name=name,
        offer=offer,
        search_place=_place(name, settings.search.providers),
        read_place=_place(name, settings.read.providers),
        state=state,
        reason=reason,
        key_from=found[1] if found else "",
        variable=found[0] if found else next(iter(offer.variables), ""),
    )


def _place(name: str, names: tuple[str, ...]) -> int | None:
    return names.index(name) + 1 if name in names else None
