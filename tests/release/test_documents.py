"""What goes with a release: where to report, which versions are cared for, and links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from groundwire import __version__
from groundwire._version import PROJECT_URL

ROOT = Path(__file__).resolve().parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text()


def anchors(path: Path) -> set[str]:
    """Return the fragments of a document's headings, as the project's host makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ["SECURITY.md", "CONTRIBUTING.md", "README.md", "docs/guides/installing.md"])
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", document.read_text()):
        path, _, fragment = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not fragment or fragment in anchors(target), link


def test_this_version_is_cared_for_and_holes_can_be_reported() -> None:
    series = ".".join(__version__.split(".")[:2]) + ".x"
    assert re.search(rf"(?m)^\| {re.escape(series)} \| yes \|$", SECURITY)
    assert f"{PROJECT_URL}/security/advisories/new" in SECURITY


def test_the_steps_of_a_release_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for target in re.findall(r"`make ([a-z-]+)`", text):
        done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for script in re.findall(r"`python (scripts/\w+\.py)", text):
        assert (ROOT / script).is_file()
