"""Metrics, read by the parser of Prometheus's own client."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from groundwire.models import Attempt
from groundwire.telemetry import Metrics, PageDone, SearchDone
from groundwire.telemetry.daily_counters import BOUNDS

Make = Callable[..., Any]


def parsed(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return the value of every sample."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.render())
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return f"groundwire_{name}", frozenset(labels.items())


@pytest.mark.req("B18")
def test_calls_and_attempts_are_counted(searched: Make, opened: Make, attempt: Make) -> None:
    metrics = Metrics()
    tries = (
        attempt("duckduckgo", "blocked", status=403, latency_ms=40),
        attempt("brave", latency_ms=700, cost_usd=0.003),
    )
    metrics.search_done(searched(attempts=tries, seconds=0.74, cost_usd=0.003))
    metrics.search_done(searched(attempts=(attempt("brave", "empty", latency_ms=20_000),), results=0, seconds=20.0))
    metrics.search_done(searched(attempts=(), cached=True, seconds=0.0004))
    metrics.search_done(searched(attempts=(), results=0, provider=None, error="BudgetExceeded", seconds=0.0))
    metrics.page_done(opened())
    metrics.page_done(opened(attempts=(), cached=True))
    metrics.page_done(opened(reader=None, error="PageRefused", attempts=(attempt("local", "unavailable", status=403),)))
    found = parsed(metrics)
    assert found[key("searches_total", outcome="ok", provider="brave")] == 2
    assert found[key("searches_total", outcome="empty", provider="brave")] == 1
    assert found[key("searches_total", outcome="refused", provider="none")] == 1
    assert found[key("attempts_total", provider="duckduckgo", role="search", outcome="blocked")] == 1
    assert found[key("attempts_total", provider="local", role="read", outcome="ok")] == 1
    assert found[key("pages_total", outcome="ok", reader="local")] == 2
    assert found[key("pages_total", outcome="failed", reader="none")] == 1
    assert found[key("cost_usd_total", provider="brave")] == 0.003
    assert found[key("fallbacks_total")] == 1
    assert found[key("empty_total", provider="brave")] == 1
    assert found[key("forbidden_total", provider="duckduckgo")] == 1
    assert found[key("forbidden_total", provider="local")] == 1
    assert found[key("cache_hits_total", kind="search")] == 1
    assert found[key("cache_hits_total", kind="page")] == 1
    at = {"provider": "brave", "role": "search"}
    assert found[key("attempt_seconds_bucket", le="0.5", **at)] == 0
    assert found[key("attempt_seconds_bucket", le="0.75", **at)] == 1
    assert found[key("attempt_seconds_bucket", le="10.0", **at)] == 1
    assert found[key("attempt_seconds_bucket", le="+Inf", **at)] == 2
    assert found[key("attempt_seconds_count", **at)] == 2
    assert found[key("attempt_seconds_sum", **at)] == pytest.approx(20.7)
    assert found[key("search_seconds_count")] == 4


def test_every_metric_says_what_it_is_and_zeros_are_there_from_the_start() -> None:
    metrics = Metrics()
    families = {family.name: family for family in text_string_to_metric_families(metrics.render())}
    assert len(families) == 10
    assert all(family.documentation and family.type in {"counter", "histogram"} for family in families.values())
    found = parsed(metrics)
    assert set(found.values()) == {0}
    assert {key("fallbacks_total"), key("search_seconds_count")} <= found.keys()
    assert {key("cache_hits_total", kind="search"), key("cache_hits_total", kind="page")} <= found.keys()


@given(st.text(st.characters(), min_size=1), st.floats(0, 1e6))
def test_any_name_comes_through(name: str, seconds: float) -> None:
    metrics = Metrics()
    tries = (Attempt(provider=name, outcome="ok", latency_ms=round(seconds * 1_000)),)
    metrics.page_done(
        PageDone(
            session="s",
            host="h",
            reader=name,
            attempts=tries,
            characters=1,
            seconds=seconds,
            cached=False,
            stale=False,
            error=None,
            cost_usd=0.0,
        )
    )
    shown = name.encode("utf-8", "replace").decode()
    assert metrics.render().encode("utf-8")
    assert parsed(metrics)[key("pages_total", outcome="ok", reader=shown)] == 1


def test_buckets_only_grow(searched: Make) -> None:
    metrics = Metrics()
    for bound in BOUNDS:
        metrics.search_done(searched(seconds=bound))
    found = parsed(metrics)
    assert [found[key("search_seconds_bucket", le=str(bound))] for bound in BOUNDS] == list(range(1, len(BOUNDS) + 1))


def test_names_are_bounded(searched: Make, attempt: Make) -> None:
    metrics = Metrics()
    for number in range(200):
        metrics.search_done(searched(provider=f"p{number}", attempts=(attempt(f"p{number}"),)))
    found = parsed(metrics)
    assert sum(name == "groundwire_searches_total" for name, _ in found) == 65
    assert found[key("searches_total", outcome="ok", provider="other")] == 136


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can, so that what is not exact under them shows it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_threads_lose_nothing(searched: Make, attempt: Make) -> None:
    metrics = Metrics()
    names = [f"p{number}" for number in range(60)]  # the first call of each is where two threads may meet
    calls: list[SearchDone] = [searched(attempts=(attempt(name),)) for name in names]
    begin = threading.Barrier(4)

    def work() -> None:
        for call in calls:
            begin.wait()
            for _ in range(10):
                metrics.search_done(call)
            metrics.render()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = parsed(metrics)
    assert [found[key("attempt_seconds_count", provider=name, role="search")] for name in names] == [40] * 60
    assert found[key("searches_total", outcome="ok", provider="brave")] == 2_400
