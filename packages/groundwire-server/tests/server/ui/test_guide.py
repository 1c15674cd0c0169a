"""The guide: its code runs, and it says what the page does."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.ui.template_streaming import POLICY
from world import World

GUIDE = Path(__file__).resolve().parents[5] / "docs" / "guides" / "web-page.md"
TEXT = GUIDE.read_text(encoding="utf-8")
_LARGEST = 200_000  # bytes of a picture


async def test_its_python_runs(world: World, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "memory://")
    monkeypatch.setenv("GROUNDWIRE_ARCHIVE_ENABLED", "false")
    ((block, printed),) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    await asyncio.to_thread(exec, compile(block, "web-page.md", "exec"), {"__name__": "guide"})
    assert capsys.readouterr().out == printed


def test_it_has_the_policy_and_the_pictures() -> None:
    assert POLICY in TEXT
    pictures = re.findall(r"!\[.+\]\((\S+\.png)\)", TEXT)
    assert len(pictures) == 1
    for picture in pictures:
        data = (GUIDE.parent / picture).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) < _LARGEST
