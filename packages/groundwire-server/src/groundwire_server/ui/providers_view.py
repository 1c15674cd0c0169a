"""The providers view: score cards with SVG charts, from the counters of the whole fleet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby

from markupsafe import Markup, escape

from groundwire.providers.base import Prices, load_prices
from groundwire.routing.health import ProviderHealth
from groundwire.telemetry import KEPT_DAYS, CallScore, ProviderScore, ScoreCard, ScoreHistory
from groundwire.web import Web
from groundwire_server.ui.formatting import duration, money, percent
from groundwire_server.ui.query_params import whole
from groundwire_server.ui.template_streaming import Html
from groundwire_server.ui.view import Visit

__all__ = ["Panel", "ProviderRow", "Series", "bar_chart", "line_chart", "providers"]

_WIDTH, _HEIGHT = 320, 132
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 22
_LEAST = 1e-9  # smaller values are drawn as zero
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A value for each day."""

    name: str
    """What is measured: `mean`."""
    values: Sequence[float | None]
    """One for each day; None where nothing was measured."""


def line_chart(
    title: str,
    days: Sequence[date],
    series: Sequence[Series],
    *,
    show: Callable[[float], str],
    top: float | None = None,
) -> Markup:
    """Return lines over days; missing values interrupt a line.

    Args:
        title: What the chart is of.
        days: The days, the oldest first.
        series: What is drawn, two at most.
        show: Makes a value readable.
        top: Where the scale ends; by default above the highest value.
    """
    frame = _Frame(days, series, show, top)
    drawn = []
    for number, one in enumerate(series, start=1):
        points = [(frame.x(place), frame.y(value)) for place, value in _known(one.values)]
        numbered = enumerate(place for place, _ in _known(one.values))
        for _, run in groupby(numbered, key=lambda pair: pair[1] - pair[0]):  # consecutive days
            way = " ".join(f"{points[index][0]:.1f},{points[index][1]:.1f}" for index, _ in run)
            if " " in way:
                drawn.append(f'<polyline class="line s{number}" points="{way}"/>')
        for (x, y), (place, value) in zip(points, _known(one.values), strict=True):
            said = escape(f"{days[place]}, {one.name}: {show(value)}")
            drawn.append(
                f'<circle class="dot s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{said}</title></circle>'
            )
    return frame.finish(title, drawn)


def bar_chart(title: str, days: Sequence[date], series: Series, *, show: Callable[[float], str]) -> Markup:
    """Return a bar for each day; the arguments are those of `line_chart`."""
    frame = _Frame(days, [series], show, None)
    width = max(2.0, min(22.0, 0.7 * (_WIDTH - _LEFT - _RIGHT) / len(days)))
    drawn = []
    for place, value in _known(series.values):
        y = frame.y(value)
        height = max(1.0 if value else 0.0, frame.floor - y)
        said = escape(f"{days[place]}: {show(value)}")
        drawn.append(
            f'<rect class="bar" x="{frame.x(place) - width / 2:.1f}" y="{frame.floor - height:.1f}"'
            f' width="{width:.1f}" height="{height:.1f}" rx="1.5"><title>{said}</title></rect>'
        )
    return frame.finish(title, drawn)


class _Frame:
    """The scale, the grid lines, and the labels of a chart."""

    def __init__(
        self, days: Sequence[date], series: Sequence[Series], show: Callable[[float], str], top: float | None
    ) -> None:
        self._days = days
        self._series = series
        self._show = show
        highest = max((value for one in series for _, value in _known(one.values)), default=0.0)
        self.top = top or _round_up(1.04 * highest)  # room for the dot of the highest
        self.floor = float(_HEIGHT - _BOTTOM)

    def x(self, place: int) -> float:
        """Return the x coordinate of a day."""
        room = _WIDTH - _LEFT - _RIGHT
        return _LEFT + room * (place + 0.5) / len(self._days)

    def y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return self.floor - (self.floor - _TOP) * min(1.0, value / self.top)

    def finish(self, title: str, drawn: Sequence[str]) -> Markup:
        """Return the complete chart."""
        lines = []
        for share in (0.0, 0.5, 1.0):
            y = self.y(self.top * share)
            lines.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            said = escape(self._show(self.top * share))
            lines.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{said}</text>')
        ends = {0, len(self._days) - 1}
        for place in sorted(ends):
            anchor = "middle" if len(ends) == 1 else "start" if place == 0 else "end"
            x = self.x(place) if len(ends) == 1 else _LEFT if place == 0 else _WIDTH - _RIGHT
            text = f"{self._days[place]:%-d %b}"
            lines.append(f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{text}</text>')
        said = escape(f"{title}. {self._said()}")
        return Markup(  # noqa: S704  # numbers, and texts that were escaped
            f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}">'
            f"{''.join(lines)}{''.join(drawn)}</svg>"
        )

    def _said(self) -> str:
        sentences = []
        for one in self._series:
            known = list(_known(one.values))
            if not known:
                continue
            low, high = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])
            last = known[-1]
            name = one.name.capitalize()
            sentences.append(
                f"{name}: {self._show(last[1])} on {self._days[last[0]]}, "
                f"lowest {self._show(low[1])} on {self._days[low[0]]}, "
                f"highest {self._show(high[1])} on {self._days[high[0]]}."
            )
        return " ".join(sentences) or "No data."


def _known(values: Sequence[float | None]) -> list[tuple[int, float]]:
    return [(place, value) for place, value in enumerate(values) if value is not None]


def _round_up(value: float) -> float:
    """Round up to a number that is easy to read."""
    if value < _LEAST:
        return 1.0
    magnitude = 10.0
    while magnitude > value:
        magnitude /= 10
    while magnitude * 10 <= value:
        magnitude *= 10
    return next(step * magnitude for step in _STEPS if step * magnitude >= value * (1 - 1e-9))


_PERIODS = (7, 14, KEPT_DAYS)
_USUAL = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A provider in one role, or all calls of one kind."""

    name: str
    """Its name."""
    role: str
    """What it does: `search`, `read`, or `all` for all calls."""
    score: ProviderScore | CallScore
    """The totals over all days."""
    charts: tuple[tuple[str, Markup], ...]
    """The charts, each with its heading."""
    rows: tuple[tuple[date, tuple[str, ...]], ...]
    """The same figures as text, a row for each day with calls."""
    price: str = ""
    """What a call costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """The current state of a provider."""

    name: str
    """Its name."""
    roles: str
    """What it is asked to do."""
    state: str
    """Its health in this process: `well`, `suspect`, `closed`, or `unknown` for one that only reads."""
    seconds: float
    """Seconds of its cooldown, or until the next probe."""
    reason: str
    """The reason, if it is not healthy."""
    price: str
    """What a call costs."""


async def providers(visit: Visit) -> Html:
    """Show the providers in order, their health, and their recent results."""
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


def _rows(web: Web, prices: Mapping[str, Prices]) -> list[ProviderRow]:
    roles: dict[str, list[str]] = {}
    for provider in web.search_providers:
        roles.setdefault(provider.name, []).append("search")
    for reader in web.read_providers:
        roles.setdefault(reader.name, []).append("reading")
    healths = {health.provider: health for health in web.provider_health()}
    return [_row(name, ", ".join(does), healths.get(name), prices) for name, does in roles.items()]


def _row(name: str, roles: str, health: ProviderHealth | None, prices: Mapping[str, Prices]) -> ProviderRow:
    return ProviderRow(
        name=name,
        roles=roles,
        state=health.state if health else "unknown",
        seconds=health.seconds if health else 0.0,
        reason=health.reason if health else "",
        price=_price(prices.get(name.partition(":")[0])),
    )


def _whole(history: ScoreHistory) -> Panel:
    """Return the panel of all searches."""
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
    slowest = series("p95", lambda one: one.p95_ms)
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
    return f"{listed} ({prices.age_note(datetime.now(UTC).date()) or f'list of {prices.as_of}'})"
