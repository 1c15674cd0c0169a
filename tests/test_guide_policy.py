"""The guide on politeness and policy: its code runs, and it names what there is."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from groundwire import errors
from groundwire.settings import Settings
from world import World

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "politeness-and-policy.md"
TEXT = GUIDE.read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.req("B10")
async def test_its_python_runs(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    block, _ = BLOCKS  # the other is a piece of a reader
    names: dict[str, Any] = {}
    await eval(compile(block, GUIDE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert names["page"].content
    assert "may be opened" in names["refused"]


def test_it_names_settings_and_errors_that_there_are() -> None:
    for section, key in re.findall(r"`(read|cache|policy|network|storage)\.(\w+)", TEXT):
        assert key in type(getattr(Settings(), section)).model_fields
    assert set(re.findall(r"`((?:Blocked|Page)\w+)`", TEXT)) <= set(errors.__all__)
