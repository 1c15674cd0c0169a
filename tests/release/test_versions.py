"""The version stands in one place, and everything else tells the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import aiohttp

import groundwire
from groundwire import Settings, Web
from groundwire._version import USER_AGENT, __version__
from groundwire.integrations.hosts.extension import export_extension
from groundwire_server.api import build_gateway
from groundwire_server.uvicorn_runner import serving
from release_notes import SERVER, current_version
from world import World

ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(r"\bgroundwire(?:\[[\w,]+\])?(?:==|/| |, version |@|-)v?(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)\b")


def test_it_is_a_version_and_the_installed_one() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", __version__)
    assert groundwire.__version__ == __version__ == current_version() == version("groundwire")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/groundwire/_version.py"
    assert version("groundwire-server") == __version__
    server = tomllib.loads((ROOT / SERVER / "pyproject.toml").read_text())["project"]
    assert (server["version"], server["dependencies"][0]) == (__version__, f"groundwire[mcp]=={__version__}")


def test_the_command_says_it() -> None:
    done = subprocess.run([sys.executable, "-m", "groundwire", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"groundwire, version {__version__}\n"


async def test_servers_are_told_it(world: World) -> None:
    settings = Settings.model_validate(
        {
            "policy": {"allowed_origins": world.origins},
            "read": {"providers": ("local",)},
            "storage": {"url": "memory://"},
        }
    )
    site = world.site("articles")
    async with Web(settings) as web:
        await web.open_page(site.page("bm25"))
    assert USER_AGENT.startswith(f"groundwire/{__version__} (+https://")
    assert {request.headers["user-agent"] for request in site.requests} == {USER_AGENT}


async def test_clients_of_the_gateway_are_told_it(settings: Callable[..., Settings]) -> None:
    async with (
        build_gateway(settings()) as gateway,
        serving(gateway) as address,
        aiohttp.ClientSession(address) as client,
    ):
        document = await (await client.get("/openapi.json")).json()
    assert document["info"]["version"] == __version__


def test_files_that_cannot_ask_for_it_tell_the_same(tmp_path: Path) -> None:
    manifest = json.loads((ROOT / "server.json").read_text())
    assert {manifest["version"], *(package["version"] for package in manifest["packages"])} == {__version__}
    export_extension(tmp_path)
    assert f'version: "{__version__}"' in (tmp_path / "manifest.yaml").read_text()
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/*.1"), ROOT / "server.json"]
    told = {path: _NAMED.findall(path.read_text()) for path in documents if path.name != "CHANGELOG.md"}
    assert told[ROOT / "docs" / "groundwire.1"]
    assert {path: versions for path, versions in told.items() if {*versions} - {__version__}} == {}


def test_no_other_file_of_the_package_says_a_version_of_ours() -> None:
    """A number that equals the version elsewhere would be one that a release forgets."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / SERVER / "src").rglob("*.py")]
    sources = [path for path in sources if path.name != "_version.py"]
    assert [path for path in sources if f'"{__version__}"' in path.read_text()] == []
