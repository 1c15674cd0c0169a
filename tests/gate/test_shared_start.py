"""What the workers of a run share from its start: compiled modules, and a warm Python."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from components.shared_start import compile_modules

pytestmark = [pytest.mark.posix, pytest.mark.timeout(300)]

_CONFTEST = """
from components.shared_start import SharedStart

def pytest_configure(config):
    config.pluginmanager.register(SharedStart((), ("json",)))
"""
_MODULE = """
import os, subprocess
import pytest

@pytest.mark.parametrize("number", range(8))
def test_one(number, pytestconfig):
    command = [pytestconfig.workerinput["warm_python"], "-c", "import os; print(os.getppid())"]
    parent = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    open(f"worker-{os.getpid()}", "w").close()
    open(f"parent-{parent}", "w").close()
"""


def test_workers_fork_from_one_process_which_ends_with_the_run(
    tmp_path: Path, project: Callable[..., tuple[int, str]]
) -> None:
    code, said = project(tmp_path, _CONFTEST, _MODULE, "-n", "2")
    assert code == 0, said
    assert len([*tmp_path.glob("worker-*")]) == 2
    (parent,) = (int(path.name.partition("-")[2]) for path in tmp_path.glob("parent-*"))
    with pytest.raises(ProcessLookupError):
        os.kill(parent, 0)


def test_modules_are_compiled_as_pytest_and_python_would(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    source, test, helper = (tmp_path / name for name in ("src/one.py", "tests/test_one.py", "tests/helper.py"))
    for path in (source, test, helper):
        path.parent.mkdir(exist_ok=True)
        path.write_text("def check(given):\n    assert given\n")
    compile_modules(pytestconfig, [source.parent], [test.parent])
    for path in (source, helper):
        assert Path(importlib.util.cache_from_source(str(path))).exists()
    made = rewrite.get_cache_dir(test) / f"test_one{rewrite.PYC_TAIL}"
    code = rewrite._read_pyc(test, made)
    assert code
    assert "@pytest_ar" in code.co_names + code.co_varnames

    before = made.stat().st_mtime_ns
    compile_modules(pytestconfig, [source.parent], [test.parent])
    assert made.stat().st_mtime_ns == before
