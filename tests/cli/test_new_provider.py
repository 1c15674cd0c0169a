"""`groundwire new-provider`: what it writes works at once, and its test sees what breaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BREAKS = {
    'title=item.get("name")': 'title=item.get("title")',
    'mapped.values["language"] = filters.language': "pass",
    "self.rows(reply, self.answer(reply)": "self.rows(reply, (reply.json() if reply.status < 500 else {})",
    "str(min(limit, 20))": '"0"',
}


def pytest_in(folder: Path, python: Path, *options: str) -> subprocess.CompletedProcess[str]:
    plugins = ["--disable-plugin-autoload", "-p", "groundwire.testing.plugin"]  # as with pytest and Groundwire alone
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.req("Y16")
def test_the_written_test_passes_at_once_and_fails_when_the_mapping_is_broken(
    terminal: Any, tmp_path: Path, warm_python: Path
) -> None:
    done = terminal.run("new-provider", "my_index")
    assert (done.returncode, done.stderr) == (0, "")
    folder = tmp_path / "groundwire-my-index"
    # A real start: in the warm Python, all that the written files import is there.
    assert (passed := pytest_in(folder, Path(sys.executable))).returncode == 0, passed.stdout
    assert "10 passed" in passed.stdout
    file = folder / "groundwire_my_index.py"
    right = file.read_text()
    for before, after in BREAKS.items():
        assert before in right
        file.write_text(right.replace(before, after))
        assert (broken := pytest_in(folder, warm_python, "-x")).returncode == 1, broken.stdout


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Upper", "is not a valid provider name"),
        ("../up", "is not a valid provider name"),
        ("two__scores", "is not a valid provider name"),
        ("class", "is not a valid provider name"),
        ("x" * 41, "is not a valid provider name"),
        ("brave", "is taken"),
        ("server", "is taken"),
    ],
)
def test_a_bad_or_taken_name_is_refused(terminal: Any, tmp_path: Path, name: str, why: str) -> None:
    done = terminal.here("new-provider", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr
    assert not list(tmp_path.glob("groundwire-*"))


def test_nothing_is_overwritten(terminal: Any, tmp_path: Path) -> None:
    (tmp_path / "groundwire-lookup").mkdir()
    (tmp_path / "groundwire-lookup" / "mine.txt").write_text("mine")
    done = terminal.here("new-provider", "lookup")
    assert (done.exit_code, [file.name for file in (tmp_path / "groundwire-lookup").iterdir()]) == (2, ["mine.txt"])
    assert "already exists" in done.stderr
