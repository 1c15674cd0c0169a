"""The guide to browsers: its code and its settings work."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from components.application import Application
from components.chromium import executable_or_skip
from groundwire.settings import load
from world import World

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "browsers.md"
TEXT = GUIDE.read_text()


async def test_its_python_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    executable_or_skip()
    site = world.add(Application())
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "duckduckgo")
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", site.url)
    (block,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    code = compile(block, GUIDE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"address": site.url + "/late"}
    result = eval(code, names)
    if inspect.isawaitable(result):
        await result
    assert capsys.readouterr().out == "browser The orchard ()\n"


def test_its_settings_are_settings(tmp_path: Path) -> None:
    found = []
    for block in re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL):
        (tmp_path / "groundwire.toml").write_text(block)
        found.append(load(environment={}, folder=tmp_path, user_folder=tmp_path / "none"))
    assert found[0].read.render_domains == ("app.example",)
    assert found[1].providers["crawl4ai"]["python"] == "~/crawl4ai/bin/python"
