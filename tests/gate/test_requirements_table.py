"""The table of requirements in runs of their own, by one process and by two workers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Project = Callable[..., tuple[int, str]]  # see conftest.py
_CONFTEST = """
from components.requirements_table import RequirementsTable

def pytest_configure(config):
    config.pluginmanager.register(RequirementsTable(("Y1", "Y2", "Y3"), {"Y3"}))
"""
_PROVES = """
import pytest

@pytest.mark.req("Y1")
def test_first():
    pass

@pytest.mark.req("Y2")
def test_second():
    pass
"""
_SKIPS = _PROVES.replace("    pass\n", "    pytest.skip('missing')\n").replace("pytest.skip('missing')", "pass", 1)
_FAILS = f"{_PROVES}    raise ValueError\n"
_MORE = '\n@pytest.mark.req("Y3")\ndef test_third():\n    '
_TEARDOWN_FAILS = f"""{_PROVES}
@pytest.fixture
def broken():
    yield
    raise ValueError

@pytest.mark.req("Y2")
def test_with_it(broken):
    pass
"""

_TWO = ("-n", "2")
both = pytest.mark.parametrize("workers", [(), _TWO], ids=["one process", "two workers"])


@both
def test_rows_that_are_proven(tmp_path: Path, workers: tuple[str, ...], project: Project) -> None:
    code, said = project(tmp_path, _CONFTEST, _PROVES, *workers)
    assert code == 0, said
    assert "touched by passing tests: Y1 Y2\nproven by no passing test: Y3\n" in said


@pytest.mark.parametrize(
    ("module", "problem", "workers"),
    [
        (_SKIPS, "No passing test proves Y2: ", ()),
        (_SKIPS, "No passing test proves Y2: ", _TWO),
        (_PROVES.partition('@pytest.mark.req("Y2")')[0], "No passing test proves Y2: ", ()),
        (f"{_PROVES}{_MORE}pytest.skip('missing')\n", "No passing test proves Y3: ", ()),
        (f"{_PROVES}{_MORE}pass\n", "Y3 is proven now: ", ()),
        (_FAILS, "No passing test proves Y2: ", ()),
        (_TEARDOWN_FAILS, "No passing test proves Y2: ", ()),
    ],
)
def test_a_whole_run_fails(
    module: str, problem: str, tmp_path: Path, workers: tuple[str, ...], project: Project
) -> None:
    code, said = project(tmp_path, _CONFTEST, module, *workers)
    assert code == 1, said
    assert f"ERROR: {problem}" in said


@pytest.mark.parametrize("selection", [("-k", "second"), ("-m", "req"), ("tests/test_module.py",), ("--ignore=x",)])
def test_a_part_of_the_suite_need_not_prove_all(selection: tuple[str, ...], tmp_path: Path, project: Project) -> None:
    code, said = project(tmp_path, _CONFTEST, _PROVES.replace('req("Y1")', 'req("Y2")'), *selection)
    assert code == 0, said
    assert "touched by passing tests: Y2\n" in said


def test_the_folder_of_the_tests_is_the_whole_suite(tmp_path: Path, project: Project) -> None:
    code, said = project(tmp_path, _CONFTEST, _SKIPS, "tests/")
    assert code == 1, said


@both
def test_a_mark_that_names_no_row(tmp_path: Path, workers: tuple[str, ...], project: Project) -> None:
    code, said = project(tmp_path, _CONFTEST, _PROVES.replace("Y2", "Y4"), *workers)
    assert code != 0, said
    assert "req('Y4') names no known row" in said
