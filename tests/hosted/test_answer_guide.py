"""The guide: its code runs, and it names every API."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from groundwire.hosted.answers.types import Covers
from groundwire.hosted.api_capabilities import load_matrix

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "hosted-answers.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_its_python_runs(number: int) -> None:
    code = compile(BLOCKS[number], f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, {"__name__": "guide"})
    if inspect.isawaitable(result):
        await result


def test_it_names_every_api_and_every_kind_of_span() -> None:
    text = GUIDE.read_text()
    assert [name for name in (*load_matrix().apis, *get_args(Covers)) if f"`{name}`" not in text] == []
