"""Release notes are cut out of the changelog, and a new version is written everywhere it stands."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from groundwire import __version__
from release_notes import CHANGELOG, SERVER, current_version, sections
from set_version import set_version

ROOT = Path(__file__).resolve().parents[2]

_TEXT = """# Changelog

Words before.

## Unreleased

- New.

## 1.1.0rc1 - 2026-02-01

## 1.0.0 - 2026-01-31

- First, in
  two lines.

### Notes

- Second.
"""


def test_a_changelog_is_read() -> None:
    assert sections(_TEXT) == {
        "Unreleased": "- New.",
        "1.1.0rc1": "",
        "1.0.0": "- First, in\n  two lines.\n\n### Notes\n\n- Second.",
    }


@pytest.mark.parametrize(
    "heading",
    ["## 1.0.0", "## v1.0.0 - 2026-01-31", "## Unreleased - 2026-01-31", "## 1.0 - 2026-01-31", "## Unreleased"],
)
def test_a_heading_that_a_tool_cannot_read_is_named(heading: str) -> None:
    with pytest.raises(ValueError, match=r"^line 4: '## "):
        sections(f"# Changelog\n\n## Unreleased\n{heading}\n")


@pytest.mark.parametrize("changelog", [CHANGELOG, ROOT / SERVER / "CHANGELOG.md"], ids=["library", "server"])
def test_ours_can_be_read_and_knows_this_version(changelog: Path) -> None:
    known = sections(changelog.read_text())
    assert next(iter(known)) in {"Unreleased", __version__}
    for text in known.values():
        assert all(line.startswith(("- ", "  ", "### ")) or not line for line in text.splitlines())


def _notes(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "release_notes.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_prints_a_section() -> None:
    name, text = next((name, text) for name, text in sections(CHANGELOG.read_text()).items() if text)
    done = _notes(name)
    assert (done.returncode, done.stdout, done.stderr) == (0, text + "\n", "")
    missing = _notes("99.0.0")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("CHANGELOG.md says nothing of 99.0.0; there are: ")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src" / "groundwire").mkdir(parents=True)
    (tmp_path / SERVER).mkdir(parents=True)
    for name in ("src/groundwire/_version.py", "server.json", SERVER / "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in (tmp_path, tmp_path / SERVER):
        (folder / "CHANGELOG.md").write_text(_TEXT)
    return tmp_path


def test_a_new_version_is_written_everywhere(checkout: Path) -> None:
    before = json.loads((checkout / "server.json").read_text())
    set_version(checkout, "98.7.6", "2027-03-04")
    assert current_version(checkout) == "98.7.6"
    names: dict[str, str] = {}
    exec((checkout / "src" / "groundwire" / "_version.py").read_text(), names)
    assert names["USER_AGENT"].startswith("groundwire/98.7.6 ")
    manifest = (checkout / "server.json").read_text()
    assert manifest == (ROOT / "server.json").read_text().replace(__version__, "98.7.6")
    assert json.loads(manifest) != before
    project = (checkout / SERVER / "pyproject.toml").read_text()
    assert project == (ROOT / SERVER / "pyproject.toml").read_text().replace(__version__, "98.7.6")
    assert tomllib.loads(project)["project"]["dependencies"][0] == "groundwire[mcp]==98.7.6"
    for folder in (checkout, checkout / SERVER):
        known = sections((folder / "CHANGELOG.md").read_text())
        assert list(known) == ["Unreleased", "98.7.6", "1.1.0rc1", "1.0.0"]
        assert (known["Unreleased"], known["98.7.6"]) == ("", "- New.")


@pytest.mark.parametrize(("version", "said"), [("1.0", "no version"), ("1.0.0", "already"), ("v2.0.0", "no version")])
def test_a_wrong_version_changes_nothing(version: str, said: str, checkout: Path) -> None:
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=said):
        set_version(checkout, version, "2027-03-04")
    assert {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()} == before


def test_nothing_new_is_no_release(checkout: Path) -> None:
    set_version(checkout, "98.7.6", "2027-03-04")
    with pytest.raises(ValueError, match="nothing under Unreleased"):
        set_version(checkout, "98.7.7", "2027-03-05")
