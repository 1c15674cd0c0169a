"""The guide: its code runs one block after the other, and prints what it says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from groundwire.hosted import load_matrix
from groundwire.settings import load
from world import World

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "native.md"
TEXT = GUIDE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", TEXT, re.MULTILINE | re.DOTALL)


async def test_its_python_runs(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "memory://")
    names: dict[str, Any] = {"__name__": "guide"}
    assert len(BLOCKS) == 6
    for number, (block, printed) in enumerate(BLOCKS):
        code = compile(block, f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, names)
        if inspect.isawaitable(result):
            await result
        assert capsys.readouterr().out == printed
    assert names["result"].results


def test_its_settings_are_settings(tmp_path: Path) -> None:
    (tmp_path / "groundwire.toml").write_text(
        "\n".join(re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
    )
    settings = load(environment={}, folder=tmp_path, user_folder=tmp_path / "none")
    assert settings.permission.deny == ("*(example.com)",)
    assert settings.search.native.providers == ("openai", "anthropic")


def test_it_names_every_api() -> None:
    assert [name for name in load_matrix().apis if f"`{name}`" not in TEXT] == []
