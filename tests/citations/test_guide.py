"""The guide on citations: its code runs, and it names what there is."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from groundwire.citations import CHANNELS
from groundwire.citations.verify.report import Verdict
from groundwire.testing import World

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "citations.md").read_text()
BLOCK, ASKING, STREAMING = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.req("B9", "Y12")
async def test_its_python_runs(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    names: dict[str, Any] = {}
    await eval(compile(BLOCK, "citations.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert [finding.verdict for finding in names["report"].findings] == ["supported", "not_found"]
    assert "#:~:text=" in names["shown"]
    assert "not found" in names["html"]
    await asyncio.to_thread(exec, compile(ASKING, "citations.md", "exec"), names)
    assert names["answer"].report.supported
    await asyncio.to_thread(exec, compile(STREAMING, "citations.md", "exec"), names)
    assert names["event"].answer.report.supported


def test_it_names_all_channels_and_verdicts() -> None:
    for name in (*CHANNELS, *get_args(Verdict)):
        assert f"`{name}`" in TEXT
