"""Wheel and sdist: what is in them, what they say of themselves, and that anybody can build the same."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

import pytest
from readme_renderer import markdown
from trove_classifiers import classifiers

from components.distributions import Distributions, found
from groundwire import __version__
from make_dist import build

ROOT = Path(__file__).resolve().parents[2]
NAME = f"groundwire-{__version__}"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def metadata(distributions: Distributions) -> Message:
    return distributions.metadata


def test_the_wheel_is_the_package_and_nothing_else(distributions: Distributions, tracked: frozenset[str]) -> None:
    inside = distributions.in_wheel()
    expected = {name.removeprefix("src/"): name for name in tracked if name.startswith("src/")}
    expected[f"{NAME}.data/data/share/man/man1/groundwire.1"] = "docs/groundwire.1"
    expected[f"{NAME}.dist-info/licenses/LICENSE"] = "LICENSE"
    own = {f"{NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    assert set(inside) == set(expected) | own
    assert [name for name, source in expected.items() if inside[name] != (ROOT / source).read_bytes()] == []
    assert {"groundwire/py.typed", "groundwire/providers/prices.toml", "groundwire/reading/data/blocks.json.gz"} <= set(
        inside
    )


def test_the_record_is_right(distributions: Distributions) -> None:
    inside = distributions.in_wheel()
    rows = [line.rsplit(",", 2) for line in inside[f"{NAME}.dist-info/RECORD"].decode().splitlines()]
    assert sorted(name for name, _, _ in rows) == sorted(inside)
    for name, digest, size in rows:
        if digest:
            sha256 = urlsafe_b64encode(hashlib.sha256(inside[name]).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={sha256}", len(inside[name]))


def test_the_sdist_is_the_repository(distributions: Distributions, tracked: frozenset[str]) -> None:
    inside = distributions.in_sdist()
    assert set(inside) == tracked | {"PKG-INFO"}
    assert [name for name in tracked if inside[name] != (ROOT / name).read_bytes()] == []


def test_another_build_gives_the_same_bytes(
    distributions: Distributions, tracked: frozenset[str], tmp_path: Path
) -> None:
    """In another folder, at another time, with other rights, and the wheel without the detour over the sdist."""
    copy = tmp_path / "elsewhere"
    for name in sorted(tracked, reverse=True):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
        (copy / name).chmod(0o700 if os.access(ROOT / name, os.X_OK) else 0o600)
        os.utime(copy / name, (1_234_567_890, 1_234_567_890))
    build(copy, tmp_path / "dist", epoch=distributions.epoch, wheel_from_tree=True)
    again = found(tmp_path / "dist")
    assert again.sdist.read_bytes() == distributions.sdist.read_bytes()
    assert again.wheel.read_bytes() == distributions.wheel.read_bytes()


def test_the_files_bear_the_moment_that_was_given(distributions: Distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as archive:
        moments = {datetime(*one.date_time, tzinfo=UTC).timestamp() for one in archive.infolist()}
    (moment,) = moments
    assert abs(moment - distributions.epoch) < 2  # ZIP counts in steps of two seconds


def test_what_an_index_checks(distributions: Distributions) -> None:
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict"]
    done = subprocess.run(
        [*command, str(distributions.wheel), str(distributions.sdist)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_description_renders_and_leads_somewhere(metadata: Message) -> None:
    text = metadata.get_payload()
    assert isinstance(text, str)
    html = markdown.render(text)
    assert html
    assert re.search(r"<h1[^>]*>Groundwire<", html)
    assert "<table>" in html
    links = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    ours = [link for link in links if "/blob/" in link]
    assert ours
    for link in ours:
        version, _, path = link.partition("/blob/")[2].partition("/")
        assert version == f"v{__version__}"
        assert (ROOT / path.partition("#")[0]).is_file()


def test_the_metadata(metadata: Message) -> None:
    project = PYPROJECT["project"]
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (
        "groundwire",
        __version__,
        "Apache-2.0",
    )
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert set(metadata.get_all("Classifier", [])) <= classifiers
    assert not {name for name in metadata.get_all("Classifier", []) if name.startswith("License ::")}  # PEP 639
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted(project["optional-dependencies"])
    assert [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line] != []
    assert metadata["Requires-Python"] == ">=3.11"
    supported = {name.rpartition(" ")[2] for name in metadata.get_all("Classifier", []) if ":: 3." in name}
    assert supported == {"3.11", "3.12", "3.13", "3.14"}
    labels = {line.partition(",")[0] for line in metadata.get_all("Project-URL", [])}
    assert {"Source", "Documentation", "Changelog", "Issues", "Security"} <= labels


def test_the_entry_points_are_those_of_the_project(distributions: Distributions) -> None:
    text = distributions.in_wheel()[f"{NAME}.dist-info/entry_points.txt"].decode()
    assert "[console_scripts]\ngroundwire = groundwire.cli:main\n" in text
    for name, target in PYPROJECT["project"]["entry-points"]["groundwire.providers"].items():
        assert f"\n{name} = {target}\n" in text
