"""Observability: log records, metrics, spans, and a score card of every provider.

What metrics and spans need is an extra, and loaded when one is made.
"""

from __future__ import annotations

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
