"""An environment for each framework: they exclude one another, so none is in the environment of the tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from components.environment import locked

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / ".venvs"


@pytest.fixture(scope="session")
def python_with() -> Callable[[str, tuple[str, ...]], Path]:
    """Return the Python of an environment with an extra of Groundwire, made by uv on its first use and kept."""

    def make(extra: str, also: tuple[str, ...]) -> Path:
        wanted = [f"{ROOT}[{extra}]", *also]
        text = "\n".join([sys.version, (ROOT / "pyproject.toml").read_text(), *wanted])
        stamp = hashlib.sha256(text.encode()).hexdigest()
        folder = ENVIRONMENTS / extra
        python, made = folder / "bin" / "python", folder / "made-from"
        ENVIRONMENTS.mkdir(exist_ok=True)
        with locked(ENVIRONMENTS / f"{extra}.lock"):
            if not (made.is_file() and made.read_text() == stamp):
                shutil.rmtree(folder, ignore_errors=True)
                uv = [sys.executable, "-m", "uv", "--system-certs", "-q"]
                subprocess.run([*uv, "venv", "-p", sys.executable, str(folder)], check=True)
                editable = ["-e", wanted[0], *wanted[1:]]
                subprocess.run([*uv, "pip", "install", "-p", str(python), *editable], check=True, env=dict(os.environ))
                made.write_text(stamp)
        return python

    return make
