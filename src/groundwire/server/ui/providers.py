"""How the providers did: score cards with charts, from what every gateway of the fleet counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from groundwire.observing import KEPT_DAYS, CallScore, ProviderScore, ScoreCard, ScoreHistory
from groundwire.providers.prices import Prices, load_prices
from groundwire.routing.health import ProviderHealth
from groundwire.server.ui.asking import whole
from groundwire.server.ui.charts import Series, bar_chart, line_chart
from groundwire.server.ui.html import Html
from groundwire.server.ui.room import Visit
from groundwire.server.ui.words import duration, money, percent
from groundwire.web import Web

__all__ = ["Panel", "Row", "providers"]

_PERIODS = (7, 14, KEPT_DAYS)
_USUAL = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One provider in one role, or all calls of one kind."""

    name: str
    """Its name."""
    role: str
    """What it does: `search`, `read`, or `all` for all calls."""
    score: ProviderScore | CallScore
    """All days together."""
    charts: tuple[tuple[str, Markup], ...]
    """The charts, each with its heading."""
    rows: tuple[tuple[date, tuple[str, ...]], ...]
    """The same figures as text, a row for each day with calls."""
    price: str = ""
    """What a call costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One provider as it stands now."""

    name: str
    """Its name."""
    roles: str
    """What it is asked to do."""
    state: str
    """How it does in this process: `well`, `suspect`, `closed`, or `unknown` of one that only reads."""
    seconds: float
    """For how long it is left alone, or until it is given another try."""
    reason: str
    """Why it is not well."""
    price: str
    """What a call costs."""


async def providers(visit: Visit) -> Html:
    """Show who is asked, how they stand, and what the last days were like."""
    given = visit.asked.get("days")
    days = whole("days", given, 1, KEPT_DAYS) if given else _USUAL
    web = visit.visitor.web
    prices = await asyncio.to_thread(load_prices)
    values: dict[str, object] = {"days": days, "periods": _PERIODS, "rows": _rows(web, prices), "history": None}
    if visit.visitor.sees_all:
        history = await web.score_history(days)
        values |= {
            "history": history,
            "whole": _whole(history),
            "panels": [_panel(history, score, prices) for score in history.total.providers],
            "cost": sum(score.cost_usd for score in history.total.providers),
            "skipped": web.skipped,
        }
    return Html(template="providers.html", values=values)


def _rows(web: Web, prices: Mapping[str, Prices]) -> list[Row]:
    roles: dict[str, list[str]] = {}
    for provider in web.search_providers:
        roles.setdefault(provider.name, []).append("search")
    for reader in web.read_providers:
        roles.setdefault(reader.name, []).append("reading")
    standings = {standing.provider: standing for standing in web.provider_health()}
    return [_row(name, ", ".join(does), standings.get(name), prices) for name, does in roles.items()]


def _row(name: str, roles: str, standing: ProviderHealth | None, prices: Mapping[str, Prices]) -> Row:
    return Row(
        name=name,
        roles=roles,
        state=standing.state if standing else "unknown",
        seconds=standing.seconds if standing else 0.0,
        reason=standing.reason if standing else "",
        price=_price(prices.get(name.partition(":")[0])),
    )


def _whole(history: ScoreHistory) -> Panel:
    """Return all searches as a panel."""
    days = [day for day, _ in history.days]
    scores = [card.searches if card.searches.calls else None for _, card in history.days]
    costs = [_cost(card) for _, card in history.days]
    return _made("All searches", "all", history.total.searches, days, scores, costs, "")


def _panel(history: ScoreHistory, score: ProviderScore, prices: Mapping[str, Prices]) -> Panel:
    days = [day for day, _ in history.days]
    scores = [
        next((one for one in card.providers if (one.provider, one.role) == (score.provider, score.role)), None)
        for _, card in history.days
    ]
    costs = [one.cost_usd if one else None for one in scores]
    price = _price(prices.get(score.provider.partition(":")[0]))
    return _made(score.provider, score.role, score, days, scores, costs, price)


def _made(
    name: str,
    role: str,
    score: ProviderScore | CallScore,
    days: Sequence[date],
    scores: Sequence[ProviderScore | CallScore | None],
    costs: Sequence[float | None],
    price: str,
) -> Panel:
    def series(what: str, take: Callable[[ProviderScore | CallScore], float | None]) -> Series:
        return Series(name=what, values=[None if one is None else take(one) for one in scores])

    mean = series("mean", lambda one: one.mean_ms)
    slowest = series("95 of 100 within", lambda one: one.p95_ms)
    success = series("success", lambda one: one.success_rate)
    charts = (
        ("Latency", line_chart(f"Latency of {name}", days, [mean, slowest], show=duration)),
        ("Success", line_chart(f"Success of {name}", days, [success], show=percent, top=1.0)),
        (
            "Cost",
            bar_chart(f"Cost of {name}", days, Series(name="cost", values=costs), show=money)
            if any(costs)
            else Markup(),
        ),
    )
    rows = []
    for place, (day, one) in enumerate(zip(days, scores, strict=True)):
        if one is not None:
            calls = one.attempts if isinstance(one, ProviderScore) else one.calls
            figures = (
                f"{calls:,}",
                percent(one.success_rate),
                duration(one.mean_ms),
                duration(one.p95_ms),
                money(costs[place]),
            )
            rows.append((day, figures))
    return Panel(name=name, role=role, score=score, charts=charts, rows=tuple(rows), price=price)


def _cost(card: ScoreCard) -> float | None:
    return sum(score.cost_usd for score in card.providers) if card.providers else None


def _price(prices: Prices | None) -> str:
    if prices is None or not prices.units:
        return ""
    listed = ", ".join(f"{money(price)} a {unit}" for unit, price in prices.units.items())
    return f"{listed} (list of {prices.as_of})"
