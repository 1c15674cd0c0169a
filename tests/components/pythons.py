"""The Pythons of this machine, and environments of their own for what is built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["VERSIONS", "interpreter", "uv"]

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""Those that Groundwire runs on."""

_TIMEOUT = 120.0  # seconds; packages are fetched on the first use


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


def interpreter(version: str) -> Path | None:
    """Return a Python of this version: the running one, one that uv knows, or one of pyenv's (they are on no PATH)."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    command = [sys.executable, "-m", "uv", "--quiet", "python", "find", "--no-python-downloads", version]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if found:
        return Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return next((path for path in sorted(pyenv.glob(f"versions/{version}*/bin/python"), reverse=True)), None)
