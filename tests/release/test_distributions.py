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
from pathlib import Path
from typing import Any

import pytest
from readme_renderer import markdown
from trove_classifiers import classifiers

from components.distributions import Distributions, found
from groundwire import __version__
from make_dist import build
from release_notes import SERVER

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"groundwire": "", "groundwire_server": f"{SERVER.as_posix()}/"}


@pytest.fixture(params=FOLDERS)
def name(request: pytest.FixtureRequest) -> str:
    """The name of a distribution, as in the names of its files."""
    return str(request.param)


@pytest.fixture
def folder(name: str) -> str:
    """Its folder in the repository."""
    return FOLDERS[name]


@pytest.fixture
def one(name: str, built: Path) -> Distributions:
    return found(built, name)


@pytest.fixture
def project(folder: str) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    return table


def test_the_wheel_is_the_package_and_nothing_else(one: Distributions, tracked: frozenset[str], folder: str) -> None:
    inside, source = one.in_wheel(), f"{folder}src/"
    expected = {name.removeprefix(source): name for name in tracked if name.startswith(source)}
    expected[f"{one.stem}.dist-info/licenses/LICENSE"] = f"{folder}LICENSE"
    if not folder:
        expected[f"{one.stem}.data/data/share/man/man1/groundwire.1"] = "docs/groundwire.1"
    own = {f"{one.stem}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    assert set(inside) == set(expected) | own
    assert [name for name, source in expected.items() if inside[name] != (ROOT / source).read_bytes()] == []
    library = {"groundwire/py.typed", "groundwire/providers/prices.json", "groundwire/reading/data/blocks.json.gz"}
    server = {"groundwire_server/py.typed", "groundwire_server/ui/templates/base.html"}
    assert (server if folder else library) <= set(inside)


def test_both_have_the_same_license() -> None:
    assert (ROOT / SERVER / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_record_is_right(one: Distributions) -> None:
    inside = one.in_wheel()
    rows = [line.rsplit(",", 2) for line in inside[f"{one.stem}.dist-info/RECORD"].decode().splitlines()]
    assert sorted(name for name, _, _ in rows) == sorted(inside)
    for name, digest, size in rows:
        if digest:
            sha256 = urlsafe_b64encode(hashlib.sha256(inside[name]).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={sha256}", len(inside[name]))


def test_the_sdist_is_the_repository(distributions: Distributions, tracked: frozenset[str]) -> None:
    inside = distributions.in_sdist()
    assert set(inside) == tracked | {"PKG-INFO"}
    assert [name for name in tracked if inside[name] != (ROOT / name).read_bytes()] == []


def test_the_sdist_of_the_server_is_its_folder(server_distributions: Distributions, tracked: frozenset[str]) -> None:
    inside, folder = server_distributions.in_sdist(), FOLDERS["groundwire_server"]
    own = {name.removeprefix(folder): name for name in tracked if name.startswith(folder)}
    own[".gitignore"] = ".gitignore"  # that of the repository, by which the files were chosen
    assert set(inside) == own.keys() | {"PKG-INFO"}
    assert [name for name, source in own.items() if inside[name] != (ROOT / source).read_bytes()] == []


def test_another_build_gives_the_same_bytes(
    distributions: Distributions, server_distributions: Distributions, tracked: frozenset[str], tmp_path: Path
) -> None:
    """In another folder, at another time, with other rights, and the wheel without the detour over the sdist."""
    copy = tmp_path / "elsewhere"
    for name in sorted(tracked, reverse=True):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
        (copy / name).chmod(0o700 if os.access(ROOT / name, os.X_OK) else 0o600)
        os.utime(copy / name, (1_234_567_890, 1_234_567_890))
    build(copy, tmp_path / "dist", epoch=distributions.epoch, wheel_from_tree=True)
    for first in (distributions, server_distributions):
        again = found(tmp_path / "dist", first.stem.partition("-")[0])
        assert again.sdist.read_bytes() == first.sdist.read_bytes()
        assert again.wheel.read_bytes() == first.wheel.read_bytes()


def test_the_files_bear_the_moment_that_was_given(one: Distributions) -> None:
    with zipfile.ZipFile(one.wheel) as archive:
        moments = {datetime(*one.date_time, tzinfo=UTC).timestamp() for one in archive.infolist()}
    (moment,) = moments
    assert abs(moment - one.epoch) < 2  # ZIP counts in steps of two seconds


def test_what_an_index_checks(one: Distributions) -> None:
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict"]
    done = subprocess.run([*command, str(one.wheel), str(one.sdist)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_description_renders_and_leads_somewhere(one: Distributions, folder: str) -> None:
    text = one.metadata.get_payload()
    assert isinstance(text, str)
    html = markdown.render(text)
    assert html
    assert re.search(r"<h1[^>]*>Groundwire(?: server)?<", html)
    assert "<table>" in html
    links = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    ours = [link for link in links if "/blob/" in link]
    assert ours
    for link in ours:
        version, _, path = link.partition("/blob/")[2].partition("/")
        assert version == ("main" if folder else f"v{__version__}")
        assert (ROOT / path.partition("#")[0]).is_file()


def test_the_metadata(one: Distributions, name: str, project: dict[str, Any]) -> None:
    metadata = one.metadata
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (
        name.replace("_", "-"),
        __version__,
        "Apache-2.0",
    )
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert set(metadata.get_all("Classifier", [])) <= classifiers
    assert not {name for name in metadata.get_all("Classifier", []) if name.startswith("License ::")}  # PEP 639
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted(project.get("optional-dependencies", ()))
    assert [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line] != []
    assert metadata["Requires-Python"] == ">=3.11"
    supported = {name.rpartition(" ")[2] for name in metadata.get_all("Classifier", []) if ":: 3." in name}
    assert supported == {"3.11", "3.12", "3.13", "3.14"}
    labels = {line.partition(",")[0] for line in metadata.get_all("Project-URL", [])}
    assert {"Source", "Documentation", "Changelog", "Issues", "Security"} <= labels


def test_the_server_needs_this_version_of_the_library(server_distributions: Distributions) -> None:
    needs = server_distributions.metadata.get_all("Requires-Dist", [])
    assert f"groundwire[mcp]=={__version__}" in needs


def test_the_entry_points_are_those_of_the_project(one: Distributions, folder: str, project: dict[str, Any]) -> None:
    text = one.in_wheel()[f"{one.stem}.dist-info/entry_points.txt"].decode()
    assert ("[console_scripts]\ngroundwire = groundwire.cli:main\n" in text) is (not folder)
    for name, target in project["entry-points"]["groundwire.commands" if folder else "pytest11"].items():
        assert f"\n{name} = {target}\n" in text
