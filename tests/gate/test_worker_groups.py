"""Tests of one worker group run in one worker; those that take long come first."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_TESTS = """
import os, pytest
from pathlib import Path

@pytest.mark.parametrize("group", [pytest.param(n, marks=pytest.mark.xdist_group(f"g{n % 3}")) for n in range(24)])
def test_one(group):
    folder = Path(__file__).parent / f"seen{group % 3}"
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
"""


def test_a_group_stays_in_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from worker_groups import pytest_collection_modifyitems\n")
    (tmp_path / "test_groups.py").write_text(_TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist.plugin",
        "-n",
        "2",
        "--dist=loadgroup",
    ]
    folder = str(Path(__file__).parents[1] / "components")
    variables = {"PYTHONPATH": folder, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [len(list((tmp_path / f"seen{n}").iterdir())) for n in range(3)] == [1, 1, 1]


_ORDER = """
import pytest

def test_last():
    pass

@pytest.mark.timeout(600)
def test_second():
    pass

@pytest.mark.real
def test_first():
    pass
"""


def test_what_takes_long_comes_first(tmp_path: Path, project: Callable[..., tuple[int, str]]) -> None:
    conftest = "from components.worker_groups import pytest_collection_modifyitems\n"
    code, said = project(tmp_path, conftest, _ORDER, "-v", "-W", "ignore::pytest.PytestUnknownMarkWarning")
    assert code == 0, said
    assert re.findall(r"::test_(\w+) PASSED", said) == ["first", "second", "last"]
