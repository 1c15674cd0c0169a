"""The guide of documents: its code runs, and it names every kind."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "documents.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_its_python_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(BLOCKS[number], f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "guide"}
    await eval(code, names)
    assert "Survey of the Night\n[page 1]" in capsys.readouterr().out
