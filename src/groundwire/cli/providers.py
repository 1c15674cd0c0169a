"""`groundwire providers`."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from groundwire.cli.call_runner import progress, without_waiting
from groundwire.cli.stats import card_of
from groundwire.cli.terminal_text import ExitCode, clean, escaped, warn
from groundwire.providers.base import Capabilities
from groundwire.settings import Settings, load
from groundwire.setup import ProviderStatus, Verification, provider_statuses, verify
from groundwire.storage import StoreError, open_store

if TYPE_CHECKING:
    from rich.text import Text

    from groundwire.telemetry import ProviderScore

__all__ = ["providers"]

_EXIT_CODES = """\b
Exit codes:
  0  the list is complete; with --check, all providers in use work
  2  usage error: an argument or a setting
  3  with --check: a provider in use does not work"""
_DAYS = 7
_WIDTH = 80
_FILTERS = ("time", "dates", "domains", "language", "region", "safe search", "pages")
_LETTERS = "tydlrsp"
_LEGEND = "can: t time range, y dates, d domains, l language, r region, s safe search, p further pages"


@click.command(short_help="List providers: ready or not, prices, health.", epilog=_EXIT_CODES)
@click.option("--check", is_flag=True, help="Test the providers in use with one call each; prints the cost first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def providers(check: bool, as_json: bool) -> None:
    """List the providers: whether they are in use and ready, their prices, and their recent health.

    Those in use come first, in order of use. Health covers the last 7 days, from the store.
    Keys are not shown, only where they come from.
    """
    settings = load()
    rows = asyncio.run(provider_statuses(settings))
    scores = asyncio.run(_scores(settings))
    tried = _check(settings, rows, quiet=as_json) if check else {}
    if as_json:
        click.echo(escaped(json.dumps([_as_dict(row, scores, tried.get(row.name)) for row in rows], indent=1)))
    else:
        _print(rows, scores, tried)
        warn(*settings.warnings)
    sys.exit(ExitCode.OK if all(result.works for result in tried.values()) else ExitCode.FAILED)


async def _scores(settings: Settings) -> Mapping[tuple[str, str], ProviderScore]:
    """Return the recent results of providers, by name and role; empty if the store cannot be read."""
    names = (*settings.search.providers, *settings.read.providers)
    try:
        card = await card_of(lambda: open_store(settings.storage.url, timeout=settings.storage.timeout), _DAYS, names)
    except StoreError as error:
        warn(f"Health is unknown: {error}")
        return {}
    return {(score.provider, score.role): score for score in card.providers}


def _check(settings: Settings, rows: Sequence[ProviderStatus], *, quiet: bool) -> Mapping[str, Verification]:
    """Call every service that is in use and ready."""
    asked = [row for row in rows if row.in_use and row.offer.is_service and row.state == "ready"]
    cost = sum(row.call_usd or row.offer.call_usd for row in asked if row.variable)
    if not quiet:
        click.echo(f"Calling each of {len(asked)} providers once; this costs about ${cost:.3f}.", err=True)

    async def all_of_them() -> list[Verification]:
        return await asyncio.gather(*(verify(row.name, settings) for row in asked))

    with progress("Asking " + ", ".join(row.name for row in asked)):
        return {result.provider: result for result in asyncio.run(without_waiting(all_of_them))}


def _print(
    rows: Sequence[ProviderStatus],
    scores: Mapping[tuple[str, str], ProviderScore],
    tried: Mapping[str, Verification],
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        width=max(_WIDTH, shutil.get_terminal_size().columns if sys.stdout.isatty() else 0), highlight=False
    )
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for column in ("provider", "use", "state"):
        table.add_column(column, overflow="fold")
    table.add_column("per 1,000", justify="right", no_wrap=True)
    table.add_column(f"{_DAYS} days", justify="right", no_wrap=True)
    table.add_column("can", no_wrap=True)
    for row in rows:
        name = Text(row.name, style="bold" if row.in_use else "")
        for variable in row.offer.variables[:1]:
            name.append(f"\n  {row.variable or variable}", style="dim")
        table.add_row(
            name,
            _use(row),
            _state(row, tried.get(row.name)),
            row.price,
            _health(row, scores),
            "".join(letter for letter, has in zip(_LETTERS, _filters(row.offer.capabilities), strict=True) if has),
        )
    console.print(table)
    console.print(Text(_LEGEND, style="dim"))
    for row in rows:
        if row.in_use and row.state != "ready":
            console.print(Text(clean(f"{row.name}: {row.reason.removeprefix(f'{row.name} ')}")))
    for row in rows:
        if row.in_use and row.price_note:
            console.print(Text(f"{row.name}: {row.price_note}"))
    for offer in (row.offer for row in rows if row.in_use and row.offer.open_host):
        allowed = offer.prices.free or "its limit is not published"
        console.print(Text(f"{offer.name}: {allowed}, no cost; {offer.open_host} sees queries; terms: {offer.terms}"))
    for result in tried.values():
        if not result.works:
            console.print(Text(f"{result.provider}: {clean(result.what)} {clean(result.fix)}"))
    console.print(Text("Set one up with groundwire setup; test those in use with --check.", style="dim"))


def _use(row: ProviderStatus) -> str:
    places = (("search", row.search_place), ("read", row.read_place))
    return "\n".join(f"{role} {place}" for role, place in places if place) or "-"


def _state(row: ProviderStatus, tried: Verification | None) -> Text:
    from rich.text import Text

    if tried is not None:
        return Text(
            "works" if tried.works else tried.verdict.replace("_", " "), style="green" if tried.works else "red"
        )
    words = {"ready": "ready", "needs_key": "needs a key", "not_set_up": "not set up", "wrong": "wrong setting"}
    styles = {"ready": "green", "wrong": "red"}
    place = f", {_short(row.key_from)}" if row.key_from and row.state == "ready" else ""
    return Text(words[row.state] + place, style=styles.get(row.state, "yellow" if row.in_use else "dim"))


def _short(place: str) -> str:
    """Return the origin of a key, with only the last part of a path."""
    return place.replace("\\", "/").rpartition("/")[2]


def _health(row: ProviderStatus, scores: Mapping[tuple[str, str], ProviderScore]) -> str:
    found = [score for role in ("search", "read") if (score := scores.get((row.name, role))) is not None]
    return "\n".join(
        f"{score.success_rate:.0%} of {score.attempts:,}" for score in found if score.success_rate is not None
    )


def _filters(able: Capabilities) -> tuple[bool, ...]:
    return (
        bool(able.time_ranges),
        able.dates,
        able.domains != "none",
        able.language,
        able.region,
        able.safesearch,
        able.pages,
    )


def _as_dict(
    row: ProviderStatus, scores: Mapping[tuple[str, str], ProviderScore], tried: Verification | None
) -> dict[str, object]:
    offer, able = row.offer, row.offer.capabilities
    health = {
        role: {"attempts": score.attempts, "success_rate": score.success_rate, "p95_ms": score.p95_ms}
        for role in ("search", "read")
        if (score := scores.get((row.name, role))) is not None
    }
    check = tried and {
        "verdict": tried.verdict,
        "what": tried.what,
        "fix": tried.fix,
        "cost_usd": tried.cost_usd,
        "latency_ms": round(tried.latency_ms, 1),
    }
    return {
        "name": row.name,
        "summary": offer.summary,
        "searches": able.search,
        "reads": able.read,
        "search_place": row.search_place,
        "read_place": row.read_place,
        "state": row.state,
        "reason": row.reason,
        "key_needed": offer.key_needed,
        "key_from": row.key_from,
        "variables": list(offer.variables),
        "key_page": offer.key_page,
        "usd_per_1000": round(1_000 * (row.call_usd or offer.call_usd), 4),
        "prices": dict(offer.prices.units),
        "prices_as_of": offer.prices.as_of,
        "prices_note": row.price_note,
        "free": offer.prices.free,
        "open_host": offer.open_host,
        "terms": offer.terms,
        "filters": [name for name, has in zip(_FILTERS, _filters(able), strict=True) if has],
        "max_results": able.max_results if able.search else None,
        "health": health,
        "check": check,
    }
