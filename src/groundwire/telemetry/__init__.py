"""Observability: log records, metrics, spans, and a score card of every provider.

The parts are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.telemetry.call_events import (
        CALL_LOGGER,
        CallListener,
        CallListeners,
        CallLog,
        CallOutcome,
        JsonFormatter,
        PageDone,
        SearchDone,
    )
    from groundwire.telemetry.daily_counters import KEPT_DAYS, Scores
    from groundwire.telemetry.metrics import CONTENT_TYPE, Metrics
    from groundwire.telemetry.scorecard import (
        CallScore,
        ProviderScore,
        ScoreCard,
        Target,
        score_card,
    )
    from groundwire.telemetry.tracing import Spans

__all__ = [
    "CALL_LOGGER",
    "CONTENT_TYPE",
    "KEPT_DAYS",
    "CallListener",
    "CallListeners",
    "CallLog",
    "CallOutcome",
    "CallScore",
    "JsonFormatter",
    "Metrics",
    "PageDone",
    "ProviderScore",
    "ScoreCard",
    "Scores",
    "SearchDone",
    "Spans",
    "Target",
    "score_card",
]

_PARTS = ("call_events", "daily_counters", "scorecard", "tracing", "metrics")  # the last needs an extra


def __getattr__(name: str) -> object:
    """Load a public name on its first use (PEP 562)."""
    if name in __all__:
        for part in _PARTS:
            module = import_module(f"groundwire.telemetry.{part}")
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'groundwire.telemetry' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
