"""The first hour: the tutorial's commands in their order, on a machine that has nothing of ours.

The environment is installed by the tutorial's own command, the home folder is empty, and no variable but those without
which no shell works is there (`env -i`). What the package index asks for (a certificate, its address) stays.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.markdown_blocks import ROOT, blocks_of
from documentation.preparations import PREPARATIONS
from documentation.shell import Shell
from documentation.stage import Stage, environment, reserved_ports
from world import World

TUTORIAL = "docs/tutorial.md"


def checkout(folder: Path) -> None:
    """Copy what somebody gets who clones the project: the files that git knows, and new ones."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, done.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def python_with_pip() -> Path:
    """Return the folder of the Python that this environment was made with, or skip where it has no pip."""
    folder = Path(sys.base_prefix) / "bin"
    python = shutil.which("python3", path=folder)
    if not python or subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("The Python below this environment is not called python3, or has no pip.")
    return folder


@pytest.mark.real
@pytest.mark.slow  # the same blocks run in every run, with what is installed already: test_blocks.py
@pytest.mark.timeout(900)
async def test_the_tutorial_from_nothing(tmp_path: Path, world: World) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    checkout(work)
    variables = environment(home, python_with_pip())
    variables |= {name: value for name, value in os.environ.items() if re.match(r"PIP_|SSL_CERT_|UV_", name)}
    preparation = PREPARATIONS[TUTORIAL]
    async with Shell(work, variables) as shell:
        stage = Stage(work, world, shell, preparation, reserved_ports(preparation.ports))
        for block in blocks_of(TUTORIAL):
            await stage.run(block)
