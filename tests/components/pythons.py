"""The Pythons of this machine, and separate environments for built packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from doctor_dev import VERSIONS, interpreter

__all__ = ["VERSIONS", "interpreter", "uv"]

_TIMEOUT = 500.0  # seconds; packages are fetched on the first use


def uv(*arguments: str | Path, **variables: str) -> str:
    """Run uv, and return what it says.

    Raises:
        AssertionError: It failed.
    """
    command = [sys.executable, "-m", "uv", "--quiet", "--system-certs", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, f"uv {' '.join(map(str, arguments))}\n{done.stderr}"
    return done.stdout
