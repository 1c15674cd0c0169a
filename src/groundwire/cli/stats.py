"""`groundwire stats` and `groundwire session`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from groundwire.cli.call_runner import run
from groundwire.cli.help_pages import Command
from groundwire.cli.options import with_json
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    log_notes,
    table,
    warn,
    write,
    write_json,
)
from groundwire.errors import InvalidRequest, counted
from groundwire.settings import load
from groundwire.storage import ResilientStore, Store, StoreError, open_store
from groundwire.telemetry.daily_counters import BOUNDS, KEPT_DAYS

if TYPE_CHECKING:
    from groundwire.telemetry.scorecard import CallScore, ProviderScore, ScoreCard, Target
    from groundwire.web import Web

_COLUMNS = ("provider", "role", "calls", "success", "mean", "p95", "empty", "cost")
_LONGEST = BOUNDS[-1] * 1_000  # ms; the value shown for longer ones


@click.command(cls=Command)
@click.option(
    "--days",
    type=click.IntRange(1, KEPT_DAYS),
    default=7,
    show_default=True,
    metavar="N",
    help="Days to show, including today.",
)
@click.option("--targets", is_flag=True, help="Also compare the searches with the targets of an operator.")
@with_json
def stats(days: int, targets: bool, as_json: bool) -> None:
    """Show the scorecard of recent days: searches, pages and every provider.

    It comes from the store and covers all processes that share it. Days begin at midnight UTC.
    """
    settings = load()
    if not as_json:
        warn(*settings.warnings)
    with log_notes():
        card = asyncio.run(card_of(open_store(settings.storage.url, timeout=settings.storage.timeout), days))
    sys.exit(show_card(card, as_json=as_json, targets=targets))


async def card_of(store: Store, days: int) -> ScoreCard:
    """Return the score card of a store, and close it.

    Raises:
        StoreError: the store cannot be read.
    """
    from groundwire.telemetry.scorecard import score_card

    try:
        card = await score_card(store, days)
        _check_store(store)
        return card
    finally:
        await store.aclose()


def _check_store(store: Store) -> None:
    """Raise StoreError if the store does not respond: the fallback store has no data."""
    if isinstance(store, ResilientStore) and store.degraded:
        raise StoreError("The store cannot be read; check the setting storage.url, and that its server is running.")


def show_card(card: ScoreCard, *, as_json: bool = False, targets: bool = False) -> ExitCode:
    """Print a score card and return the command's exit code.

    Args:
        card: The card.
        as_json: Whether to print JSON.
        targets: Whether to compare the searches with the targets of a team that serves others.
    """
    if as_json:
        write_json(_as_dict(card))
    elif card.is_empty:
        write(f"Nothing recorded in the last {_days(card.days)}: make a search first.")
    else:
        write(_summary(card), bold=True)
        if targets:
            write(table([("target", "value", "wanted", ""), *map(_target_row, card.searches.targets())]))
        if card.providers:
            write("\n" + table([_COLUMNS, *map(_provider_row, card.providers)]))
    return ExitCode.NOTHING if card.is_empty else ExitCode.OK


def _summary(card: ScoreCard) -> str:
    searches, pages = card.searches, card.pages
    text = f"Last {_days(card.days)}: {_counted(searches, 'search', 'searches')}, {_counted(pages, 'page')}"
    beside = [
        f"{number:,} {word}"
        for word, number in (
            ("from the cache", searches.cached + pages.cached),
            ("stale", searches.stale + pages.stale),
            ("found nothing", searches.empty),
            ("refused", searches.refused + pages.refused),
            ("canceled", searches.canceled + pages.canceled),
        )
        if number
    ]
    return text + (f" ({', '.join(beside)})" if beside else "")


def _counted(score: CallScore, noun: str, plural: str = "") -> str:
    return counted(score.calls, noun, plural) + (f", {score.failed:,} failed" if score.failed else "")


def _target_row(target: Target) -> tuple[str, str, str, str]:
    state = "not measured" if target.met is None else "met" if target.met else "missed"
    if target.value is None:
        value = "-"
    elif "%" in target.wanted:
        value = _percent(target.value)
    else:
        value = _duration(target.value) if target.wanted.endswith(" s") else f"{target.value:,.0f}"
    return target.name, value, target.wanted, state


def _provider_row(score: ProviderScore) -> tuple[str, ...]:
    return (
        clean(score.provider),
        score.role,
        f"{score.attempts:,}",
        _percent(score.success_rate, 0),
        _duration(score.mean_ms),
        "≥ 10 s" if score.p95_ms == _LONGEST else _duration(score.p95_ms),
        f"{score.empty:,}",
        f"${score.cost_usd:,.4f}" if score.cost_usd else "-",
    )


def _percent(share: float | None, digits: int = 1) -> str:
    return "-" if share is None else f"{100 * share:.{digits}f}%"


def _duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "-"
    return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.2f} s"


def _days(days: int) -> str:
    return "day" if days == 1 else f"{days} days"


def _as_dict(card: ScoreCard) -> dict[str, object]:
    return {
        "days": card.days,
        "targets": [asdict(target) for target in card.searches.targets()],
        "searches": _score(card.searches) | {"calls": card.searches.calls},
        "pages": _score(card.pages) | {"calls": card.pages.calls},
        "providers": list(map(_score, card.providers)),
    }


def _score(score: CallScore | ProviderScore) -> dict[str, object]:
    return asdict(score) | {"success_rate": score.success_rate, "fallback_share": score.fallback_share}


@click.command(cls=Command)
@click.argument("name")
@click.option("--reset", is_flag=True, help="Reset it: usage to zero, citation numbers to [1].")
@with_json
def session(name: str, reset: bool, as_json: bool) -> None:
    """Show what the session NAME has used of its limits, or reset it.

    NAME is the setting session.id of the processes that share it.
    """
    if not name.strip():
        raise InvalidRequest("NAME", "is empty", "Pass the name of a session.")

    async def call(web: Web) -> dict[str, float | None]:
        if reset:
            await web.reset_session()
        used = {**await web.usage(), "limit": web.settings.session.max_searches or None}
        _check_store(web.store)
        return used

    used = run("Reading the session", {"session.id": name}, call)
    if as_json:
        write_json({"session": name, **used})
    else:
        of = f" of {used['limit']}" if used["limit"] else ""
        cost = f"{used['cost_usd']:.4f} US dollars"
        write(clean(f"{name}: {used['searches']:g}{of} searches, {cost}, {used['tokens']:g} tokens of pages"))
    sys.exit(ExitCode.OK)
