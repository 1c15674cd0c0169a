"""List what this machine lacks for the tests; needs only the standard library.

Without options it prints the missing Debian packages with the line that installs them, and the Python interpreters.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that Groundwire runs on."""

_LIST = Path(__file__).resolve().parents[1] / "requirements" / "debian.txt"
_SYSTEM = ("/usr/sbin", "/usr/local/sbin")  # on no user's PATH; daemons are there


def packages() -> dict[str, str]:
    """Return the Debian packages that tests need, each with a program or a file of it."""
    lines = (line.split() for line in _LIST.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return {line[0]: line[1] for line in lines}


def find(program: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the path of a program on PATH or among the system's daemons, or of a file that is there."""
    path = os.pathsep.join((environment.get("PATH", os.defpath), *_SYSTEM))
    if Path(program).is_absolute():
        return Path(program) if Path(program).exists() else None
    found = shutil.which(program, path=path)
    return Path(found) if found else None


def missing_packages(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the packages that are not installed."""
    return [package for package, brings in packages().items() if find(brings, environment) is None]


def install_line(names: Iterable[str]) -> str:
    """Return the command that installs packages."""
    return f"apt-get install -y --no-install-recommends {' '.join(names)}"


def interpreter(version: str) -> Path | None:
    """Return a Python of this version: the running one, one that uv knows, or one of pyenv's (they are on no PATH)."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    # without --quiet, which newer versions of uv take as leave to print nothing at all
    command = [sys.executable, "-m", "uv", "python", "find", "--no-python-downloads", version]
    known = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if known:
        return Path(known)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return next((path for path in sorted(pyenv.glob(f"versions/{version}*/bin/python"), reverse=True)), None)


def _report() -> int:
    if missing := missing_packages():
        print(f"Missing Debian packages: {', '.join(missing)}. Install them with:\n  {install_line(missing)}")
    else:
        print("Debian packages: all there.")
    versions = {version: interpreter(version) for version in VERSIONS}
    for version, path in versions.items():
        print(f"Python {version}: {path or 'missing; `make pythons` goes without it (uv python install or pyenv)'}")
    return 1 if missing else 0


def main() -> int:
    """Print what is missing; return the exit code."""
    parser = argparse.ArgumentParser(description="Say what this machine lacks for the tests.")
    parser.add_argument("--packages", action="store_true", help="only the missing packages, one a line")
    parser.add_argument("--interpreter", metavar="VERSION", help="only the path of an interpreter")
    asked = parser.parse_args()
    if asked.packages:
        print(*missing_packages(), sep="\n", end="")
        return 0
    if asked.interpreter:
        found = interpreter(asked.interpreter)
        print(found or "", end="")
        return 0 if found else 1
    return _report()


if __name__ == "__main__":
    sys.exit(main())
