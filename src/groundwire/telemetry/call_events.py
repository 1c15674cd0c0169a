"""Call records and their listeners; the usual one writes a log record for each call.

A listener of one call receives its events; the listener of a `Web` receives those of all calls.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol

from groundwire.models import Attempt, Event, Observer

_logger = logging.getLogger(__name__)

CallOutcome = Literal["ok", "empty", "failed", "refused", "canceled"]
"""The outcome of a whole call; `refused` means that it was rejected before it started."""

_REFUSED = frozenset(
    {
        "BlockedAddress",
        "BlockedByPolicy",
        "BlockedDomain",
        "BudgetExceeded",
        "Closed",
        "ConfigurationError",
        "InvalidRequest",
        "PermissionDenied",
    }
)


@dataclass(slots=True, kw_only=True)  # not frozen, here and below: that would take four times as long to make
class _Done:
    """Common fields of a finished search and a finished page."""

    session: str
    """The session's ID."""
    attempts: tuple[Attempt, ...]
    """The attempts of this call, in order; none for a cached response."""
    seconds: float
    """The duration of the whole call."""
    cached: bool
    """Whether the response came from the cache."""
    stale: bool
    """Whether the response is stale."""
    error: str | None
    """The class name of the error, such as `AllProvidersFailed` or `PageNotFound`; None on success."""
    cost_usd: float
    """The cost of all attempts, in US dollars."""


@dataclass(slots=True, kw_only=True)
class SearchDone(_Done):
    """A finished search."""

    query_length: int
    """The length of the query."""
    provider: str | None
    """The provider of the results; None if all failed."""
    results: int
    """The number of results."""
    session_count: int | None
    """The searches of the session so far; None if they are not counted."""
    session_limit: int | None
    """Maximum searches of the session; None when there is no limit."""
    strategy: str
    """The strategy: `fallback`, `hedge`, `fuse`."""

    outcome: CallOutcome = field(init=False)
    """The outcome of the call."""
    fell_back: bool = field(init=False)
    """Whether the results come from another provider than the first."""
    forbidden_shown: bool = field(init=False)
    """Whether the caller received a failure after an HTTP 403 from a service."""

    def __post_init__(self) -> None:
        self.outcome = _outcome(self.error) or ("ok" if self.results else "empty")
        self.forbidden_shown = self.outcome == "failed" and any(attempt.status == 403 for attempt in self.attempts)
        routed = not self.error and not self.cached and self.strategy != "fuse" and bool(self.attempts)
        self.fell_back = routed and self.provider != self.attempts[0].provider


@dataclass(slots=True, kw_only=True)
class PageDone(_Done):
    """A finished page, opened or failed."""

    host: str
    """The page's host; empty if the URL was invalid."""
    reader: str | None
    """The provider that read it; None if all failed."""
    characters: int
    """The characters of Markdown that were returned."""

    outcome: CallOutcome = field(init=False)
    """The outcome of the call."""

    def __post_init__(self) -> None:
        self.outcome = _outcome(self.error) or "ok"


class CallListener(Protocol):
    """Called at the end of every call. It must return immediately; exceptions are ignored."""

    def search_done(self, done: SearchDone) -> None:
        """Handle the end of a search."""
        ...

    def page_done(self, done: PageDone) -> None:
        """Handle the end of a page."""
        ...


class CallListeners:
    """Forwards to several listeners; an exception in one is logged once and does not affect the others.

    Args:
        listeners: The listeners, called in this order.
    """

    def __init__(self, listeners: Iterable[CallListener] = ()) -> None:
        self._listeners = tuple(listeners)
        self._blamed: set[int] = set()

    def search_done(self, done: SearchDone) -> None:
        """Forward the end of a search."""
        self._tell(lambda listener: listener.search_done(done))

    def page_done(self, done: PageDone) -> None:
        """Forward the end of a page."""
        self._tell(lambda listener: listener.page_done(done))

    def _tell(self, say: Callable[[CallListener], None]) -> None:
        for number, listener in enumerate(self._listeners):
            try:
                say(listener)
            except Exception:  # a listener must not break a call
                if number not in self._blamed:
                    self._blamed.add(number)
                    name = type(listener).__qualname__
                    _logger.exception("The listener %s failed; its further errors are ignored", name)


def _outcome(error: str | None) -> CallOutcome | None:
    if error is None:
        return None
    if error == "CancelledError":
        return "canceled"
    return "refused" if error in _REFUSED else "failed"


_LISTENER: ContextVar[Callable[[Event], None] | None] = ContextVar("groundwire_listener", default=None)


@contextmanager
def listening(listener: Observer) -> Iterator[None]:
    """Call a function with the events of calls made within the block, and of no others."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def with_listener(observer: Observer | None) -> Observer:
    """Return an observer that forwards events to the listener of the call and to the observer of all calls."""

    def tell(event: Event) -> None:
        listener = _LISTENER.get()
        if listener is not None:
            listener(event)
        if observer is not None:
            observer(event)

    return tell


_calls = logging.getLogger("groundwire.calls")

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class CallLog:
    """Writes one record of level INFO for each call to the logger `groundwire.calls`.

    The facts are attributes of the record: `outcome`, `provider`, `attempts`, `latency_ms`, `cost_usd`, `session_id`,
    and for a search `query_length`, `session_count`, `session_limit`, never the words of the query. No record is made
    when logging is off.
    """

    def search_done(self, done: SearchDone) -> None:
        """Write the record of a search."""
        if not _calls.isEnabledFor(logging.INFO):
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
        _calls.info("Web search executed", extra=facts | _common(done))

    def page_done(self, done: PageDone) -> None:
        """Write the record of a page."""
        if not _calls.isEnabledFor(logging.INFO):
            return
        facts: dict[str, object] = {
            "session_id": done.session,
            "host": done.host,
            "reader": done.reader,
            "characters": done.characters,
        }
        _calls.info("Page opened", extra=facts | _common(done))


class JsonFormatter(logging.Formatter):
    """Writes a record and everything that was given as `extra` as one line of JSON in ASCII.

    `time` is ISO 8601 in UTC; `level`, `logger` and `message` follow, then the extra attributes, and `exception` when
    there was one. A value that JSON has no form for is written as its `repr`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
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
    """Return what was given to a log call as `extra`."""
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
    """Return an attempt without its reason, in which a service may repeat what it was asked."""
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
