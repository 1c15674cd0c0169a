"""Small projects with tests of their own, which pytest runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
_SETTINGS = f"""[pytest]
testpaths = tests
pythonpath = {_TESTS}
markers =
    req(*ids): rows
    slow: takes long
"""

_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # a warm Python has imported the plugin before


def run_project(python: Path, folder: Path, conftest: str, module: str, *arguments: str) -> tuple[int, str]:
    """Run the tests of a module; return the exit code and what was printed.

    Args:
        python: What runs pytest.
        folder: An empty folder.
        conftest: The source of the project's `conftest.py`.
        module: The source of its only module, `tests/test_module.py`.
        arguments: The arguments of pytest.
    """
    (folder / "tests").mkdir()
    (folder / "tests" / "conftest.py").write_text(conftest)
    (folder / "tests" / "test_module.py").write_text(module)
    (folder / "pytest.ini").write_text(_SETTINGS)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist.plugin", *_QUIET, *arguments]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=250, check=False)
    return done.returncode, done.stdout + done.stderr
