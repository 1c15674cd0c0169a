"""Metrics in the text format that Prometheus scrapes, by Prometheus's own client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Literal

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError
from groundwire.models import Attempt
from groundwire.telemetry.call_events import PageDone, SearchDone
from groundwire.telemetry.daily_counters import BOUNDS, BoundedLabels

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of `Metrics.render` (https://prometheus.io/docs/instrumenting/exposition_formats)."""

_NOBODY = "none"


class _WithoutCreated:
    """A registry without the moment at which each series began, which is a series more for each."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family


class Metrics:
    """Counts calls and attempts for Prometheus. Thread-safe.

    One object may watch several `Web`s. The number of time series is bounded: outcomes are a fixed set, and of the
    providers' names the first 64 are kept apart.

    Raises:
        ConfigurationError: Prometheus's client, the extra `prometheus`, is not installed.
    """

    def __init__(self) -> None:
        try:
            import prometheus_client
        except ImportError as exc:
            raise ConfigurationError(f"Metrics need Prometheus's client: {install_extra('prometheus')}") from exc
        self._client = prometheus_client
        self.registry: CollectorRegistry = prometheus_client.CollectorRegistry()
        """Where further metrics may be registered; they are rendered, too."""
        self._lock = Lock()
        self._names = BoundedLabels()
        self._searches = self._counter("searches", "Searches, by outcome and provider.", "outcome", "provider")
        self._search_seconds = self._histogram("search_seconds", "Duration of a search, in seconds.")
        self._pages = self._counter("pages", "Opened pages, by outcome and reader.", "outcome", "reader")
        text = "Attempts, by provider, role (search or read) and outcome."
        self._attempts = self._counter("attempts", text, "provider", "role", "outcome")
        text = "Duration of an attempt, in seconds."
        self._attempt_seconds = self._histogram("attempt_seconds", text, "provider", "role")
        self._cost = self._counter("cost_usd", "US dollars spent, by provider.", "provider")
        self._fallbacks = self._counter("fallbacks", "Searches that a fallback provider answered.")
        self._empty = self._counter("empty", "Attempts that found no results.", "provider")
        self._forbidden = self._counter("forbidden", "Attempts that got HTTP status 403.", "provider")
        hits = self._counter("cache_hits", "Cache hits, by kind.", "kind")
        # A series that does not exist before its first event hides that event from rate() and increase().
        self._search_hits, self._page_hits = hits.labels("search"), hits.labels("page")

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return self._client.Counter(f"groundwire_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return self._client.Histogram(f"groundwire_{name}", text, labels, registry=self.registry, buckets=BOUNDS)

    def search_done(self, done: SearchDone) -> None:
        """Count a search."""
        self._searches.labels(done.outcome, self._label(done.provider)).inc()
        self._search_seconds.observe(done.seconds)
        self._fallbacks.inc(done.fell_back)
        self._search_hits.inc(done.cached)
        self._count(done.attempts, "search")

    def page_done(self, done: PageDone) -> None:
        """Count a page."""
        self._pages.labels(done.outcome, self._label(done.reader)).inc()
        self._page_hits.inc(done.cached)
        self._count(done.attempts, "read")

    def render(self) -> str:
        """Return all metrics in the text format of version 0.0.4; send it as `CONTENT_TYPE`."""
        return self._client.generate_latest(_WithoutCreated(self.registry)).decode()

    def _count(self, attempts: Iterable[Attempt], role: Literal["search", "read"]) -> None:
        for attempt in attempts:
            name = self._label(attempt.provider)
            self._attempts.labels(name, role, attempt.outcome).inc()
            self._attempt_seconds.labels(name, role).observe(attempt.latency_ms / 1_000)
            if attempt.cost_usd > 0:
                self._cost.labels(name).inc(attempt.cost_usd)
            if attempt.outcome == "empty":
                self._empty.labels(name).inc()
            if attempt.status == 403:
                self._forbidden.labels(name).inc()

    def _label(self, name: str | None) -> str:
        """Return the name to count under, which UTF-8 can encode: a lone surrogate would fail the whole scrape."""
        with self._lock:
            return self._names((name or _NOBODY).encode("utf-8", "replace").decode())
