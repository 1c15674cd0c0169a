"""`groundwire providers`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from groundwire.cli.help_pages import Command
from groundwire.cli.stats import card_of
from groundwire.cli.terminal_text import (
    clean,
    table,
    warn,
    write,
)
from groundwire.settings import Settings, load
from groundwire.setup import ProviderStatus, provider_statuses
from groundwire.storage import StoreError, open_store

if TYPE_CHECKING:
    from groundwire.telemetry.scorecard import ProviderScore

_DAYS = 7


@click.command(cls=Command)
def providers() -> None:
    """List the providers: whether they are in use and ready, their prices, and their recent health.

    Those in use come first, in order of use. Health covers the last 7 days, from the store.
    Keys are not shown, only where they come from.
    """
    settings = load()
    rows = asyncio.run(provider_statuses(settings))
    scores = asyncio.run(_scores(settings))
    _print(rows, scores)
    warn(*settings.warnings)


async def _scores(settings: Settings) -> Mapping[tuple[str, str], ProviderScore]:
    """Return the recent results of providers, by name and role; empty if the store cannot be read."""
    try:
        card = await card_of(open_store(settings.storage.url, timeout=settings.storage.timeout), _DAYS)
    except StoreError as error:
        warn(f"Health is unknown: {error}")
        return {}
    return {(score.provider, score.role): score for score in card.providers}


def _print(rows: Sequence[ProviderStatus], scores: Mapping[tuple[str, str], ProviderScore]) -> None:
    cells = ((row.name, _use(row), _state(row), row.price, _health(row, scores)) for row in rows)
    write(table([("provider", "use", "state", "per 1,000", f"{_DAYS} days"), *cells]), hang=2)
    for row in rows:
        if row.in_use and row.state not in ("ready", "needs_key"):
            write(clean(f"{row.name}: {row.reason.removeprefix(f'{row.name} ')}"))
        elif row.in_use and row.offer.open_host:
            allowed = row.offer.prices.free or "its limit is not published"
            write(f"{row.name}: {allowed}, no cost; {row.offer.open_host} sees queries; terms: {row.offer.terms}")
        if row.in_use and row.price_note:
            write(f"{row.name}: {row.price_note}")
    write("Set one up with groundwire setup; groundwire doctor tests those in use.")


def _use(row: ProviderStatus) -> str:
    places = (("search", row.search_place), ("read", row.read_place))
    return ", ".join(f"{role} {place}" for role, place in places if place)


def _state(row: ProviderStatus) -> str:
    place = f" ({_short(row.key_from)})" if row.key_from and row.state == "ready" else ""
    words = {"ready": f"ready{place}", "needs_key": f"needs {row.variable}", "not_set_up": "not set up"}
    colors = {"ready": "green", "wrong": "red"}
    return click.style(words.get(row.state, "wrong setting"), fg=colors.get(row.state))


def _short(place: str) -> str:
    """Return the origin of a key, with only the last part of a path."""
    return place.replace("\\", "/").rpartition("/")[2]


def _health(row: ProviderStatus, scores: Mapping[tuple[str, str], ProviderScore]) -> str:
    role_scores = [score for role in ("search", "read") if (score := scores.get((row.name, role))) is not None]
    return ", ".join(
        f"{score.success_rate:.0%} of {score.attempts:,}" for score in role_scores if score.success_rate is not None
    )
