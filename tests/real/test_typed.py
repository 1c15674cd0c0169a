"""How much of the public API has a known type, as pyright counts it for a package with `py.typed`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from components.pythons import uv

ROOT = Path(__file__).resolve().parents[2]
_LEAST = 0.99  # share of the public symbols whose type is known


@pytest.mark.real
@pytest.mark.req("B32")
@pytest.mark.timeout(600)
def test_public_types_are_known(modules: Path, tmp_path: Path) -> None:
    programs = modules / ".bin"
    # Pyright counts an installed package, and not one that is linked into an environment.
    uv("venv", "--python", sys.executable, tmp_path / "venv")
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    shutil.copytree(ROOT / "src" / "groundwire", packages / "groundwire")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    path = os.pathsep.join([str(tmp_path / "venv" / "bin"), str(programs), os.environ["PATH"]])
    done = subprocess.run(
        [str(programs / "pyright"), "--verifytypes", "groundwire", "--ignoreexternal", "--outputjson"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "VIRTUAL_ENV": str(tmp_path / "venv")},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    found = json.loads(done.stdout)["typeCompleteness"]
    unknown = [one["name"] for one in found["symbols"] if one["isExported"] and not one["isTypeKnown"]]
    assert found["completenessScore"] >= _LEAST, unknown
