"""Everything that watches, at once, over real connections: it tells one story, and the targets are met."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from groundwire import Settings, Web
from groundwire.telemetry import Metrics, Spans
from groundwire.testing import InjectedFault
from world import World

_SEARCHES = 40
_FAULTS = {  # of the first provider, by the number of the search
    5: InjectedFault.status(403, "<title>Access denied</title>", "text/html"),
    14: InjectedFault.status(500),
    23: InjectedFault.reset(),
    32: InjectedFault.status(200, "{", "application/json"),
}


def total(samples: Mapping[tuple[str, ...], float], *, name: str, **labels: str) -> float:
    """Add up the samples of a metric that bear these labels."""
    wanted = {f"{key}={value}" for key, value in labels.items()}
    return sum(value for (metric, *found), value in samples.items() if metric == name and wanted <= set(found))


@pytest.mark.req("H9", "B18")
async def test_all_watchers_tell_one_story_and_the_targets_are_met(
    world: World,
    settings: Callable[..., Settings],
    tmp_path: Path,
    warm_python: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    made = settings(
        search={"providers": ("searxng", "brave"), "timeout": 600},  # a busy machine refuses no call with so much time
        providers={
            "searxng": {"base_url": world.searxng.url},
            "brave": {"base_url": world.service("brave").url},
        },
        keys={"BRAVE_API_KEY": "test-key"},
        storage={"url": store},
        session={"id": "ledger", "max_searches": 0},
    )
    exporter, metrics = InMemorySpanExporter(), Metrics()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    with caplog.at_level("INFO", "groundwire.calls"):
        async with Web(made, call_listeners=[metrics, Spans(tracers)]) as web:
            for number in range(_SEARCHES):
                if fault := _FAULTS.get(number):
                    world.searxng.fail(fault)
                found = await web.search(f"rank fusion {number}")
                assert found.results
            ledger = await web.usage()

    samples: dict[tuple[str, ...], float] = {}
    for family in text_string_to_metric_families(metrics.render()):
        for sample in family.samples:
            samples[(sample.name, *(f"{key}={value}" for key, value in sample.labels.items()))] = sample.value
    attempts = total(samples, name="groundwire_attempts_total")
    cost = total(samples, name="groundwire_cost_usd_total")
    fallbacks = total(samples, name="groundwire_fallbacks_total")
    assert total(samples, name="groundwire_searches_total", outcome="ok") == _SEARCHES
    assert total(samples, name="groundwire_forbidden_total", provider="searxng") == 1
    assert attempts > _SEARCHES
    assert cost > 0

    spans = [span for span in exporter.get_finished_spans() if span.attributes]
    calls = [span for span in spans if span.name == "execute_tool web_search"]
    tries = [span for span in spans if span.name.startswith("search ")]
    assert (len(calls), len(tries)) == (_SEARCHES, attempts)
    assert sum(float(str(dict(span.attributes or {})["groundwire.cost_usd"])) for span in calls) == pytest.approx(cost)

    lines = [record for record in caplog.records if record.getMessage() == "Web search executed"]
    assert len(lines) == _SEARCHES
    assert sum(record.__dict__["cost_usd"] for record in lines) == pytest.approx(cost)
    assert ledger["searches"] == _SEARCHES
    assert ledger["cost_usd"] == pytest.approx(cost)

    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", store)
    command = [
        str(warm_python),
        "-m",
        "groundwire",
        "stats",
        "--json",
    ]  # another process, which has nothing but the store
    done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, check=True)
    card = json.loads(done.stdout)
    assert sum(row["attempts"] for row in card["providers"]) == attempts
    assert sum(row["cost_usd"] for row in card["providers"]) == pytest.approx(cost)
    assert card["searches"]["fallbacks"] == fallbacks
    assert fallbacks > 0
    assert [target["met"] for target in card["targets"]] == [True] * 4
