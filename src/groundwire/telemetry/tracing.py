"""OpenTelemetry spans of calls and of their attempts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from groundwire._version import __version__, install_extra
from groundwire.errors import ConfigurationError
from groundwire.models import Attempt
from groundwire.telemetry.call_events import PageDone, SearchDone
from groundwire.telemetry.daily_counters import GOOD

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider
    from opentelemetry.util.types import AttributeValue

_SCHEMA = "https://opentelemetry.io/schemas/1.44.0"


class Spans:
    """Creates a span for each call, below the current span, with a child span for each attempt.

    The names are those of the conventions for tool execution (`execute_tool web_search`, `gen_ai.tool.name`; the
    OpenTelemetry semantic conventions for generative AI, in development) and for HTTP clients (`server.address`,
    `http.response.status_code`, `error.type`; stable). What they have no name for begins with `groundwire.`. No span
    holds a query, an address of a page, or anything of its content.

    Args:
        tracer_provider: Where the spans go; by default the process's own provider.
        clock: The time in nanoseconds since the epoch.

    Raises:
        ConfigurationError: OpenTelemetry is not installed.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError as exc:
            raise ConfigurationError(f"Spans need OpenTelemetry: {install_extra('otel')}") from exc
        self._trace = trace
        self._tracer = trace.get_tracer("groundwire", __version__, tracer_provider, _SCHEMA)
        self._clock = clock

    def search_done(self, done: SearchDone) -> None:
        """Create the spans of a search."""
        facts: dict[str, AttributeValue] = {
            "groundwire.query.length": done.query_length,
            "groundwire.results": done.results,
            "groundwire.strategy": done.strategy,
        }
        if done.provider is not None:
            facts["groundwire.provider"] = done.provider
        if done.session_count is not None:
            facts["groundwire.session.count"] = done.session_count
        if done.session_limit is not None:
            facts["groundwire.session.limit"] = done.session_limit
        self._make("web_search", "search", done, facts)

    def page_done(self, done: PageDone) -> None:
        """Create the spans of a page."""
        facts: dict[str, AttributeValue] = {"groundwire.page.characters": done.characters}
        if done.host:
            facts["server.address"] = done.host
        if done.reader is not None:
            facts["groundwire.provider"] = done.reader
        self._make("open_page", "read", done, facts)

    def _make(self, tool: str, role: str, done: SearchDone | PageDone, facts: Mapping[str, AttributeValue]) -> None:
        end = self._clock()
        start = end - max(0, round(done.seconds * 1_000_000_000))
        span = self._tracer.start_span(
            f"execute_tool {tool}",
            kind=self._trace.SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.type": "function",
                "session.id": done.session,
                "groundwire.outcome": done.outcome,
                "groundwire.cached": done.cached,
                "groundwire.stale": done.stale,
                "groundwire.cost_usd": done.cost_usd,
                **facts,
            },
            start_time=start,
        )
        if span.is_recording():
            if done.error is not None:
                self._fail(span, done.error)
            inside = self._trace.set_span_in_context(span)
            for attempt, begun in zip(done.attempts, _starts(done.attempts, start, end), strict=True):
                child = self._tracer.start_span(
                    f"{role} {attempt.provider}",
                    context=inside,
                    kind=self._trace.SpanKind.CLIENT,
                    attributes=self._facts(attempt),
                    start_time=begun,
                )
                if attempt.outcome not in GOOD:
                    self._fail(child, attempt.outcome)
                child.end(begun + attempt.latency_ms * 1_000_000)
        span.end(end)

    def _facts(self, attempt: Attempt) -> dict[str, AttributeValue]:
        facts: dict[str, AttributeValue] = {
            "groundwire.provider": attempt.provider,
            "groundwire.outcome": attempt.outcome,
            "groundwire.cost_usd": attempt.cost_usd,
            "groundwire.start_estimated": True,
        }
        if attempt.status is not None:
            facts["http.response.status_code"] = attempt.status
        return facts

    def _fail(self, span: Span, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.StatusCode.ERROR)


def _starts(attempts: Sequence[Attempt], start: int, end: int) -> list[int]:
    """Return the estimated start times of attempts in nanoseconds: one after the other, within the call."""
    begun: list[int] = []
    free = start
    for attempt in attempts:
        length = attempt.latency_ms * 1_000_000
        begun.append(max(start, min(free, end - length)))
        free = begun[-1] + length
    return begun
