"""A real Prometheus scrapes what `Metrics` shows, and the guide's questions have answers."""

from __future__ import annotations

import asyncio
import math
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.needs import needed, require
from components.prometheus import Prometheus
from groundwire import AllProvidersFailed, Settings, Web
from groundwire.telemetry import CONTENT_TYPE, Metrics
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from world import World

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "observability.md"


class Scraped(EmulatedServer):
    """Shows metrics, as the guide says."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__("scraped")
        self._metrics = metrics

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse(body=self._metrics.render().encode(), content_type=CONTENT_TYPE)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def start(world: World, metrics: Metrics, tmp_path: Path) -> Iterator[Callable[[], Prometheus]]:
    """A function that starts a Prometheus which scrapes `metrics`."""
    running: list[Prometheus] = []

    def prometheus() -> Prometheus:
        url = f"{world.add(Scraped(metrics)).url}/metrics"
        running.append(needed(lambda: Prometheus(url, tmp_path)))
        return running[0]

    yield prometheus
    for one in running:
        one.stop()


@pytest.mark.req("B18")
async def test_it_is_scraped_and_the_guides_questions_have_answers(
    world: World, settings: Callable[..., Settings], metrics: Metrics, start: Callable[[], Prometheus]
) -> None:
    async def four_searches(web: Web) -> None:
        for _ in range(3):
            await web.search("bm25")
        world.searxng.fail(InjectedFault.status(403))
        with pytest.raises(AllProvidersFailed):
            await web.search("bm25")

    async with Web(settings(), call_listeners=[metrics]) as web:
        await four_searches(web)
        prometheus = await asyncio.to_thread(start)
        failed = 'sum(groundwire_searches_total{outcome="failed"})'
        await asyncio.to_thread(prometheus.wait_for, failed, 1)  # an increase is told from two scrapes
        await four_searches(web)
        await asyncio.to_thread(prometheus.wait_for, failed, 2)
    assert list(prometheus.query("up").values()) == [1]
    assert prometheus.query('groundwire_forbidden_total{provider="searxng"}').popitem()[1] == 2
    (block,) = re.findall(r"(?s)^```promql\n(.*?)^```", GUIDE.read_text(), re.MULTILINE)
    share, slowest = block.strip().split("\n\n")
    assert prometheus.query(share) == {"{}": pytest.approx(0.25)}
    ((labels, seconds),) = prometheus.query(slowest).items()
    assert labels == '{"provider": "searxng"}'
    assert math.isfinite(seconds)  # and not NaN, as without observations; how long a search took is the machine's
    assert seconds > 0


def test_its_own_tool_finds_nothing_to_mend(metrics: Metrics) -> None:
    require("prometheus")  # promtool comes with it
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics.render().encode(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
