"""Prices of calls: the dated price lists in `prices.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

__all__ = ["Prices", "load_prices"]


@dataclass(frozen=True, slots=True)
class Prices:
    """The price list of one service, in US dollars by unit."""

    units: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Prices by unit: `request`, `credit`, `page`, `result`, `token`, or a mode with a price of its own."""
    as_of: str = ""
    """The date of the list, ISO 8601."""
    source: str = ""
    """The source of the list."""
    free: str = ""
    """What is free, as text."""

    def cost(self, unit: str = "request", count: float = 1) -> float:
        """Return the price of `count` units, in US dollars; 0 for a unit that is not listed."""
        return self.units.get(unit, 0.0) * count


@cache
def load_prices() -> Mapping[str, Prices]:
    """Load the price lists by provider."""
    text = files("groundwire.providers").joinpath("prices.toml").read_text(encoding="utf-8")
    return MappingProxyType({name: _prices(entry) for name, entry in tomllib.loads(text).items()})


def _prices(entry: dict[str, Any]) -> Prices:
    units = {unit: float(price) for unit, price in entry.items() if isinstance(price, (int, float))}
    as_of, source, free = (str(entry.get(name, "")) for name in ("as_of", "source", "free"))
    return Prices(MappingProxyType(units), as_of, source, free)
