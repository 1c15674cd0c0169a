"""The providers view: score cards, from the counters of the whole fleet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from groundwire.providers.base import Prices, load_prices
from groundwire.routing.health import ProviderHealth
from groundwire.telemetry import KEPT_DAYS
from groundwire.web import Web
from groundwire_server.ui.formatting import money
from groundwire_server.ui.query_params import parse_integer
from groundwire_server.ui.template_streaming import Html
from groundwire_server.ui.view import Visit

__all__ = ["providers"]

_PERIODS = (7, 14, KEPT_DAYS)
_DEFAULT_DAYS = 7


async def providers(visit: Visit) -> Html:
    """Return the providers: price and health, and for operators the results and costs of all users."""
    text = visit.query.get("days")
    days = parse_integer("days", text, 1, KEPT_DAYS) if text else _DEFAULT_DAYS
    web = visit.tenants_web
    prices = await asyncio.to_thread(load_prices)
    values: dict[str, object] = {"days": days, "periods": _PERIODS, "rows": [*_rows(web, prices)], "total": None}
    if visit.sees_all:
        values |= {"total": await web.score_card(days), "skipped": web.skipped}
    return Html(template="providers.html", values=values)


def _rows(web: Web, prices: Mapping[str, Prices]) -> Iterator[tuple[str, str, ProviderHealth | None, str]]:
    """Yield the name of each provider, what it is asked to do, its health if it searches, and its price."""
    roles: dict[str, list[str]] = {}
    for provider in web.search_providers:
        roles.setdefault(provider.name, []).append("search")
    for reader in web.read_providers:
        roles.setdefault(reader.name, []).append("reading")
    healths = {health.provider: health for health in web.provider_health()}
    for name, does in roles.items():
        yield name, ", ".join(does), healths.get(name), _price(prices.get(name.partition(":")[0]))


def _price(prices: Prices | None) -> str:
    if prices is None or not prices.units:
        return ""
    listed = ", ".join(f"{money(price)} a {unit}" for unit, price in prices.units.items())
    return f"{listed} ({prices.age_note(datetime.now(UTC).date()) or f'list of {prices.as_of}'})"
