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

from groundwire.observing import Metrics
from groundwire.testing import World

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "observability.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _the_log_as_it_was() -> Iterator[None]:
    logger = logging.getLogger("groundwire.calls")
    level, handlers = logger.level, logger.handlers[:]
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.mark.timeout(30)
@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_its_python_runs(number: int, world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOW_ORIGINS", ",".join(world.origins))
    code = compile(BLOCKS[number], f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "guide"}
    result = eval(code, names)
    if inspect.isawaitable(result):
        await result
    if "body" in names:
        assert b'groundwire_searches_total{outcome="ok",provider="searxng"} 1\n' in names["body"]


def test_it_names_every_metric_and_no_other() -> None:
    there = set(re.findall(r"^# TYPE (\S+)", Metrics().render(), re.MULTILINE))
    assert set(re.findall(r"^\| `(groundwire_\w+)`", GUIDE.read_text(), re.MULTILINE)) == there
