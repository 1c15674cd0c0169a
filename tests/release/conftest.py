"""What is released, built once: or that of the folder which the variable DIST names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from components.distributions import Distributions, found
from components.environment import locked
from make_dist import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what is released."""
    if given := os.environ.get("DIST"):
        return ROOT / given
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, marker = shared / "dist", shared / "dist.complete"
    with locked(shared / "dist.lock"):  # the workers of a run share what one of them builds
        if not marker.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(ROOT, folder, epoch=1_700_000_000)
            marker.touch()
    return folder


@pytest.fixture(scope="session")
def distributions(built: Path) -> Distributions:
    """The library."""
    return found(built)


@pytest.fixture(scope="session")
def server_distributions(built: Path) -> Distributions:
    """The server."""
    return found(built, "groundwire_server")


@pytest.fixture(scope="session")
def tracked() -> frozenset[str]:
    """The files of the repository; while it is worked on, those that are new count, too."""
    new = () if os.environ.get("DIST") else ("--others", "--exclude-standard")
    command = ["git", "ls-files", "-z", "--cached", *new]
    try:
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (subprocess.CalledProcessError, OSError):
        pytest.skip("this is no checkout")
    return frozenset(name for name in names.split("\0") if name and (ROOT / name).is_file())
