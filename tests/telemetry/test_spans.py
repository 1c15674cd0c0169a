"""Spans, as the OpenTelemetry SDK exports them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from groundwire._version import install_extra
from groundwire.telemetry import Spans

Make = Callable[..., Any]
NOW = 1_900_000_000_000_000_000


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


@pytest.fixture
def spans(provider: TracerProvider) -> Spans:
    return Spans(provider, clock=lambda: NOW)


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def times(span: ReadableSpan) -> tuple[int, int]:
    """Return start and end in milliseconds before now."""
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.start_time - NOW) // 1_000_000, (span.end_time - NOW) // 1_000_000


def parent(span: ReadableSpan) -> int:
    assert span.parent is not None
    return span.parent.span_id


def own(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


@pytest.mark.req("B18")
def test_a_search_and_its_attempts(spans: Spans, exporter: InMemorySpanExporter, searched: Make, attempt: Make) -> None:
    tries = (attempt("duckduckgo", "rate_limited", status=429, latency_ms=50, reason="secret words"), attempt("brave"))
    spans.search_done(searched(attempts=tries, seconds=0.3))
    first, second, whole = exporter.get_finished_spans()
    assert (whole.name, whole.kind, whole.status.status_code) == (
        "execute_tool web_search",
        SpanKind.INTERNAL,
        StatusCode.UNSET,
    )
    assert facts(whole) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.type": "function",
        "session.id": "s-1",
        "groundwire.outcome": "ok",
        "groundwire.cached": False,
        "groundwire.stale": False,
        "groundwire.cost_usd": 0.0,
        "groundwire.query.length": 22,
        "groundwire.results": 5,
        "groundwire.strategy": "fallback",
        "groundwire.provider": "brave",
        "groundwire.session.count": 3,
        "groundwire.session.limit": 20,
    }
    assert (first.name, first.kind, first.status.status_code) == (
        "search duckduckgo",
        SpanKind.CLIENT,
        StatusCode.ERROR,
    )
    assert facts(first) == {
        "groundwire.provider": "duckduckgo",
        "groundwire.outcome": "rate_limited",
        "groundwire.cost_usd": 0.0,
        "groundwire.start_estimated": True,
        "http.response.status_code": 429,
        "error.type": "rate_limited",
    }
    assert second.status.status_code is StatusCode.UNSET
    assert parent(first) == parent(second) == own(whole)
    assert (times(whole), times(first), times(second)) == ((-300, 0), (-300, -250), (-250, -50))
    assert "secret words" not in "".join(span.to_json() for span in (first, second, whole))
    scope = whole.instrumentation_scope
    assert scope is not None
    assert (scope.name, scope.schema_url) == ("groundwire", "https://opentelemetry.io/schemas/1.44.0")


def test_attempts_stand_where_they_began(
    spans: Spans, exporter: InMemorySpanExporter, searched: Make, attempt: Make
) -> None:
    tries = (attempt("duckduckgo", latency_ms=900), attempt("brave", latency_ms=200))
    spans.search_done(searched(attempts=tries, seconds=1.0))
    first, late, _ = exporter.get_finished_spans()
    assert (times(first), times(late)) == ((-1000, -100), (-200, 0))
    assert facts(first)["groundwire.start_estimated"] is True


def test_failures_say_their_kind(spans: Spans, exporter: InMemorySpanExporter, searched: Make, opened: Make) -> None:
    spans.search_done(searched(attempts=(), results=0, provider=None, error="BudgetExceeded", session_limit=None))
    spans.page_done(opened(attempts=(), reader=None, error="BlockedAddress"))
    search, page = exporter.get_finished_spans()
    assert facts(search)["error.type"] == "BudgetExceeded"
    assert search.status.status_code is StatusCode.ERROR
    assert "groundwire.session.limit" not in facts(search)
    assert page.name == "execute_tool open_page"
    assert facts(page)["gen_ai.tool.name"] == "open_page"
    assert facts(page)["error.type"] == "BlockedAddress"


def test_a_page(spans: Spans, exporter: InMemorySpanExporter, opened: Make) -> None:
    spans.page_done(opened())
    reader, page = exporter.get_finished_spans()
    assert reader.name == "read local"
    assert facts(page)["server.address"] == "docs.example"
    assert facts(page)["groundwire.page.characters"] == 1_200
    assert times(page) == (-400, 0)


def test_they_stand_under_the_span_of_the_caller(
    spans: Spans, provider: TracerProvider, exporter: InMemorySpanExporter, searched: Make
) -> None:
    with provider.get_tracer("agent").start_as_current_span("invoke_agent") as agent:
        spans.search_done(searched())
    _, search, _ = exporter.get_finished_spans()
    assert parent(search) == agent.get_span_context().span_id


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("opentelemetry", "Spans", f"Spans need OpenTelemetry: {install_extra('otel')}"),
        ("prometheus_client", "Metrics", f"Metrics need Prometheus's client: {install_extra('prometheus')}"),
    ],
)
def test_without_its_package_it_is_said_what_to_install(module: str, name: str, said: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"  # what Python itself takes for a module that is not there
        "import groundwire.telemetry\n"
        "from groundwire.telemetry import *\n"  # whoever only looks at the names needs no package
        "from groundwire.errors import ConfigurationError\n"
        f"try: groundwire.telemetry.{name}()\n"
        "except ConfigurationError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout == f"{said}\n"


def test_opentelemetry_is_not_loaded_before_it_is_used() -> None:
    code = "import sys, groundwire.telemetry; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout == "[]\n"
