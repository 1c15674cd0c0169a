"""What is released, built once: or that of the folder which the variable DIST names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from components.distributions import Distributions, found
from make_dist import build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what is released."""
    if given := os.environ.get("DIST"):
        return ROOT / given
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, epoch=1_700_000_000)
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
