"""The guide of documents: its code runs, and it names every kind."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from world import World

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "documents.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


async def test_its_python_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "memory://")
    monkeypatch.setenv("GROUNDWIRE_ARCHIVE_ENABLED", "false")
    [block] = BLOCKS
    code = compile(block, GUIDE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "guide", "url": world.site("papers").page("survey")}
    await eval(code, names)
    assert "Survey of the Night\n[page 1]" in capsys.readouterr().out
