"""Which runs take the tests marked slow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Project = Callable[..., tuple[int, str]]  # see conftest.py
_CONFTEST = """
from components.slow_tests import SlowTests

def pytest_configure(config):
    config.pluginmanager.register(SlowTests())
"""
_MODULE = """
import pytest

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.req("Y1")
def test_quick():
    pass

def test_plain():
    pass
"""


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        ((), "2 passed, 1 deselected"),
        (("-n", "2"), "2 passed"),
        (("-m", "not req"), "1 passed, 2 deselected"),
        (("-m", "slow"), "1 passed, 2 deselected"),
        (("-m", "slow or not slow"), "3 passed"),
        (("tests/test_module.py",), "2 passed, 1 deselected"),
        (("tests/test_module.py::test_slow",), "1 passed"),
    ],
)
def test_what_runs(arguments: tuple[str, ...], counted: str, tmp_path: Path, project: Project) -> None:
    code, said = project(tmp_path, _CONFTEST, _MODULE, *arguments)
    assert code == 0, said
    assert f"{counted} in " in said.replace("=", "")
