"""Observability: log records, metrics, spans, and a score card of every provider.

The parts are loaded when they are first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from groundwire.telemetry.call_events import CallListener, CallLog, JsonFormatter, PageDone, SearchDone
    from groundwire.telemetry.metrics import CONTENT_TYPE, Metrics
    from groundwire.telemetry.tracing import Spans

__all__ = [
    "CONTENT_TYPE",
    "CallListener",
    "CallLog",
    "JsonFormatter",
    "Metrics",
    "PageDone",
    "SearchDone",
    "Spans",
]

_HOMES: Final[Mapping[str, str]] = {"CONTENT_TYPE": "metrics", "Metrics": "metrics", "Spans": "tracing"}
"""Where a name is if not in `call_events`: these parts need extras."""


def __getattr__(name: str) -> object:
    """Load a public name on its first use (PEP 562)."""
    if name in __all__:
        home = import_module(f"groundwire.telemetry.{_HOMES.get(name, 'call_events')}")
        value = globals()[name] = getattr(home, name)
        return value
    raise AttributeError(f"module 'groundwire.telemetry' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
