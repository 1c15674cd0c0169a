"""A log record per call, and a JSON formatter for log records."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from groundwire.models import Attempt
from groundwire.telemetry.call_events import PageDone, SearchDone

__all__ = ["CALL_LOGGER", "CallLog", "JsonFormatter", "extra_of"]

CALL_LOGGER = "groundwire.calls"
"""The name of the logger."""

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class CallLog:
    """Writes a log record of level INFO for each call to the logger `groundwire.calls`.

    The facts are attributes of the record: `outcome`, `provider`, `attempts`, `latency_ms`, `cost_usd`, `session_id`,
    and for a search `query_length`, `session_count`, `session_limit`. The words of a query are among them only when
    the record of the call holds them. No record is made when logging is off.

    Args:
        logger: Another logger.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logging.getLogger(CALL_LOGGER) if logger is None else logger

    def search_done(self, done: SearchDone) -> None:
        """Write the record of a search."""
        if not self._logger.isEnabledFor(logging.INFO):
            return
        facts: dict[str, object] = {
            "session_id": done.session,
            "session_count": done.session_count,
            "session_limit": done.session_limit,
            "query_length": done.query_length,
            "results": done.results,
            "strategy": done.strategy,
            "provider": done.provider,
        }
        if done.query is not None:
            facts["query"] = done.query
        self._logger.info("Web search executed", extra=facts | _common(done))

    def page_done(self, done: PageDone) -> None:
        """Write the record of a page."""
        if not self._logger.isEnabledFor(logging.INFO):
            return
        facts: dict[str, object] = {
            "session_id": done.session,
            "host": done.host,
            "reader": done.reader,
            "characters": done.characters,
        }
        self._logger.info("Page opened", extra=facts | _common(done))


class JsonFormatter(logging.Formatter):
    """Formats a record with its `extra` fields as one line of JSON in ASCII.

    `time` is ISO 8601 in UTC; `level`, `logger` and `message` follow, then the extra attributes, and `exception` when
    there was one. A value that JSON has no form for is written as its `repr`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a newline."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name, value in extra_of(record).items():
            line.setdefault(name, _storable(value))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        return json.dumps(line)


def extra_of(record: logging.LogRecord) -> dict[str, object]:
    """Return the `extra` fields of a log record."""
    return {name: value for name, value in record.__dict__.items() if name not in _OWN}


def _storable(value: object) -> object:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
    return value


def _common(done: SearchDone | PageDone) -> dict[str, object]:
    return {
        "outcome": done.outcome,
        "error": done.error,
        "attempts": [_compact(attempt) for attempt in done.attempts],
        "latency_ms": round(done.seconds * 1_000),
        "cost_usd": done.cost_usd,
        "cached": done.cached,
        "stale": done.stale,
    }


def _compact(attempt: Attempt) -> dict[str, object]:
    """Return an attempt without its reason, in which a service may repeat the query."""
    facts: dict[str, object] = {
        "provider": attempt.provider,
        "outcome": attempt.outcome,
        "latency_ms": attempt.latency_ms,
    }
    if attempt.status is not None:
        facts["status"] = attempt.status
    if attempt.cost_usd:
        facts["cost_usd"] = attempt.cost_usd
    return facts
