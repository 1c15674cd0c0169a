"""An environment for each framework: they exclude one another, so none is in the environment of the tests."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from components.environment import locked
from components.warm_python import warm_python
from frameworks.frameworks import ALSO, AT_HOME, MODULES, Framework
from groundwire.integrations.framework_versions import framework_of

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "pyproject.toml"
ENVIRONMENTS = ROOT / ".venvs"


@pytest.fixture(scope="session")
def python_with() -> Callable[..., Path]:
    """Return the Python of an environment with an extra of Groundwire, made by uv on its first use and kept.

    With `oldest=True` the framework is there in the oldest version that the extra allows; `name` is the environment's,
    by default the extra.
    """

    def make(extra: str, also: tuple[str, ...], *, oldest: bool = False, name: str = "") -> Path:
        if oldest:
            also = (*also, f"{framework_of(extra).distribution}=={framework_of(extra).lowest}")
        text = "\n".join([sys.version, str(ROOT), PROJECT.read_text(), extra, *also])
        stamp = hashlib.sha256(text.encode()).hexdigest()
        folder = ENVIRONMENTS / (name or (f"{extra}-oldest" if oldest else extra))
        python, made = folder / "bin" / "python", folder / "made-from"
        ENVIRONMENTS.mkdir(exist_ok=True)
        with locked(ENVIRONMENTS / f"{folder.name}.lock"):
            if not (made.is_file() and made.read_text() == stamp):
                shutil.rmtree(folder, ignore_errors=True)
                uv = [sys.executable, "-m", "uv", "--system-certs", "-q"]
                subprocess.run([*uv, "venv", "-p", sys.executable, str(folder)], check=True)
                install = [*uv, "pip", "install", "-p", str(python), "-r", str(PROJECT), "--extra", extra, *also]
                # Asking the index takes longer than the rest. Without it, the newest version is the newest that was
                # fetched before, which may be the oldest that is allowed.
                offline = [*install, "--offline"]
                if not oldest or subprocess.run(offline, capture_output=True, check=False).returncode:
                    subprocess.run(install, check=True)
                _add_groundwire(next(folder.glob("lib/python*/site-packages")))
                made.write_text(stamp)
        return python

    return make


@pytest.fixture(scope="session")
def framework(
    request: pytest.FixtureRequest,
    python_with: Callable[[str, tuple[str, ...]], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Framework]:
    extra: str = request.param
    folder = tmp_path_factory.mktemp("framework")
    python = python_with(extra, ALSO.get(extra, ()))
    ours = "groundwire.reading.local", "groundwire.providers.searxng", "groundwire.storage.memory", "platformdirs"
    integration = f"groundwire.integrations.{extra.replace('-', '_')}"
    with warm_python(
        folder, str(python), (*ours, integration, *MODULES[extra]), HOME=str(folder), **AT_HOME
    ) as program:
        yield Framework(extra, program)


def _add_groundwire(packages: Path) -> None:
    """Add the checkout as it is installed here, without building it anew for each framework."""
    ours = distribution("groundwire")
    info = f"groundwire-{ours.version}.dist-info"
    shutil.copytree(str(ours.locate_file(info)), packages / info)
    (packages / "groundwire.pth").write_text(str(ROOT / "src"))
