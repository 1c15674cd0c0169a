from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from components.warm_python import warm_python
from gate.projects import run_project

_MODULES = ("pytest", "xdist.plugin", "xdist.dsession", "xdist.workermanage")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., tuple[int, str]]]:
    """Run the tests of a small project, by a Python that has imported pytest already; see `run_project`."""
    with warm_python(tmp_path_factory.mktemp("pytest"), sys.executable, _MODULES) as python:
        yield lambda *arguments: run_project(python, *arguments)
