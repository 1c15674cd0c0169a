"""What the workers of a run share from its start."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.posix

_CONFTEST = """
from components.shared_start import SharedStart

def pytest_configure(config):
    config.pluginmanager.register(SharedStart(("json",)))
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
