"""The guide: its code runs, and it names what there is."""

from __future__ import annotations

import ast
import inspect
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.cli.stats import show_card
from groundwire.telemetry import Metrics
from groundwire.telemetry.scorecard import CallScore, ProviderScore, ScoreCard
from world import World

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "observability.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _the_log_as_it_was() -> Iterator[None]:
    logger = logging.getLogger("groundwire.calls")
    level, handlers = logger.level, logger.handlers[:]
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_its_python_runs(number: int, world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    code = compile(BLOCKS[number], f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "guide"}
    result = eval(code, names)
    if inspect.isawaitable(result):
        await result
    if "body" in names:
        assert b'groundwire_searches_total{outcome="ok",provider="searxng"} 1.0\n' in names["body"]


def test_it_names_every_metric_and_no_other() -> None:
    there = set(re.findall(r"^# TYPE (\S+)", Metrics().render(), re.MULTILINE))
    assert set(re.findall(r"^\| `(groundwire_\w+)`", GUIDE.read_text(), re.MULTILINE)) == there


def test_its_score_card_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    none: dict[str, Any] = {"empty": 0, "refused": 0, "canceled": 0, "stale": 0, "forbidden_shown": 0, "p95_ms": None}
    searches = CallScore(answered=1201, failed=3, cached=206, fallbacks=98, mean_ms=640.0, **none)
    pages = CallScore(answered=377, failed=0, cached=0, fallbacks=0, mean_ms=380.0, **none)
    columns = ("provider", "role", "attempts", "good", "mean_ms", "p95_ms", "answers", "fallback_answers")
    rows: tuple[tuple[Any, ...], ...] = (
        ("duckduckgo", "search", 1001, 901, 510.0, 1380.0, 903, 0, 4, 21, 0.0),
        ("brave", "search", 98, 97, 430.0, 920.0, 95, 95, 1, 0, 0.49),
        ("local", "read", 377, 366, 380.0, 1100.0, 0, 0, 0, 9, 0.0),
    )
    names = (*columns, "empty", "forbidden", "cost_usd")
    scores = tuple(ProviderScore(abandoned=0, **dict(zip(names, row, strict=True))) for row in rows)
    show_card(ScoreCard(days=7, searches=searches, pages=pages, providers=scores))
    (shown,) = re.findall(r"^```console\n\$ groundwire stats\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == [line.rstrip() for line in shown.splitlines()]
