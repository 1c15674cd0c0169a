"""Metrics in the text format that Prometheus scrapes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal

from groundwire.models import Attempt
from groundwire.telemetry.call_events import PageDone, SearchDone
from groundwire.telemetry.daily_counters import BOUNDS, BoundedLabels, bucket_of

__all__ = ["CONTENT_TYPE", "CounterFamily", "HistogramFamily", "Metrics", "sample"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of `Metrics.render` (https://prometheus.io/docs/instrumenting/exposition_formats)."""

_NOBODY = "none"
_LABEL_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


class Metrics:
    """Counts calls and attempts for Prometheus. Thread-safe.

    One object may watch several `Web`s. The number of time series is bounded: outcomes are a fixed set, and of the
    providers' names the first 64 are kept apart.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = BoundedLabels()
        self._searches = CounterFamily(
            "groundwire_searches_total", "Searches, by outcome and provider.", ("outcome", "provider")
        )
        self._search_seconds = HistogramFamily("groundwire_search_seconds", "Duration of a search, in seconds.", ())
        self._pages = CounterFamily(
            "groundwire_pages_total", "Opened pages, by outcome and reader.", ("outcome", "reader")
        )
        self._attempts = CounterFamily(
            "groundwire_attempts_total",
            "Attempts, by provider, role (search or read) and outcome.",
            ("provider", "role", "outcome"),
        )
        self._attempt_seconds = HistogramFamily(
            "groundwire_attempt_seconds", "Duration of an attempt, in seconds.", ("provider", "role")
        )
        self._cost = CounterFamily("groundwire_cost_usd_total", "US dollars spent, by provider.", ("provider",))
        self._fallbacks = CounterFamily("groundwire_fallbacks_total", "Searches that a fallback provider answered.", ())
        self._empty = CounterFamily("groundwire_empty_total", "Attempts that found no results.", ("provider",))
        self._forbidden = CounterFamily(
            "groundwire_forbidden_total", "Attempts that got HTTP status 403.", ("provider",)
        )
        self._hits = CounterFamily("groundwire_cache_hits_total", "Cache hits, by kind.", ("kind",))
        # A series that does not exist before its first event hides that event from rate() and increase().
        self._fallbacks.add((), 0)
        self._hits.add(("search",), 0)
        self._hits.add(("page",), 0)

    def search_done(self, done: SearchDone) -> None:
        """Count a search."""
        with self._lock:
            self._searches.add((done.outcome, self._names(done.provider or _NOBODY)))
            self._search_seconds.observe((), done.seconds)
            self._fallbacks.add((), done.fell_back)
            self._hits.add(("search",), done.cached)
            self._count(done.attempts, "search")

    def page_done(self, done: PageDone) -> None:
        """Count a page."""
        with self._lock:
            self._pages.add((done.outcome, self._names(done.reader or _NOBODY)))
            self._hits.add(("page",), done.cached)
            self._count(done.attempts, "read")

    def render(self) -> str:
        """Return all metrics in the text format of version 0.0.4; send it as `CONTENT_TYPE`."""
        families = (
            *(self._searches, self._search_seconds, self._pages, self._attempts, self._attempt_seconds, self._cost),
            *(self._fallbacks, self._empty, self._forbidden, self._hits),
        )
        with self._lock:
            lines = [line for family in families for line in family.lines()]
        return "\n".join(lines) + "\n"

    def _count(self, attempts: Iterable[Attempt], role: Literal["search", "read"]) -> None:
        for attempt in attempts:
            name = self._names(attempt.provider)
            self._attempts.add((name, role, attempt.outcome))
            self._attempt_seconds.observe((name, role), attempt.latency_ms / 1_000)
            if attempt.cost_usd > 0:
                self._cost.add((name,), attempt.cost_usd)
            if attempt.outcome == "empty":
                self._empty.add((name,))
            if attempt.status == 403:
                self._forbidden.add((name,))


class CounterFamily:
    """A monotonic counter for each set of label values."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._head = _head(name, text, "counter")
        self._name = name
        self._labels = labels
        self._values: defaultdict[tuple[str, ...], float] = defaultdict(int)

    def add(self, values: tuple[str, ...], amount: float = 1) -> None:
        """Count."""
        self._values[values] += amount

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text format."""
        yield from self._head
        for values, number in sorted(self._values.items()):
            yield f"{self._name}{_labels(zip(self._labels, values, strict=True))} {number}"


class HistogramFamily:
    """Bucket counts and sums of durations for each set of label values."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        self._head = _head(name, text, "histogram")
        self._name = name
        self._labels = labels
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: defaultdict[tuple[str, ...], float] = defaultdict(float)

    def observe(self, values: tuple[str, ...], seconds: float) -> None:
        """Count a duration."""
        counts = self._counts.get(values)
        if counts is None:
            counts = self._counts[values] = [0] * (len(BOUNDS) + 1)
        counts[bucket_of(seconds)] += 1
        self._sums[values] += seconds

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text format."""
        yield from self._head
        for values, counts in sorted(self._counts.items()):
            labels = tuple(zip(self._labels, values, strict=True))
            so_far = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                so_far += count
                yield f"{self._name}_bucket{_labels((*labels, ('le', bound)))} {so_far}"
            yield f"{self._name}_sum{_labels(labels)} {self._sums[values]}"
            yield f"{self._name}_count{_labels(labels)} {so_far}"


def sample(
    name: str, text: str, value: float, *, kind: str = "gauge", labels: Iterable[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the lines of a family with one value.

    Args:
        name: Its name.
        text: What it is.
        value: The value.
        kind: `gauge` or `counter`.
        labels: Labels with their values.
    """
    yield from _head(name, text, kind)
    yield f"{name}{_labels(labels)} {value}"


def _head(name: str, text: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {text.translate(_HELP_ESCAPES)}", f"# TYPE {name} {kind}"


def _labels(pairs: Iterable[tuple[str, str]]) -> str:
    inside = ",".join(f'{name}="{_utf8(value).translate(_LABEL_ESCAPES)}"' for name, value in pairs)
    return f"{{{inside}}}" if inside else ""


def _utf8(text: str) -> str:
    """Return text that can be encoded in UTF-8: a lone surrogate would fail the whole scrape."""
    return text.encode("utf-8", "replace").decode("utf-8")
