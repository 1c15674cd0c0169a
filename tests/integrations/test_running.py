"""What all frameworks share: where a tool runs, and what is said when a framework is missing or too old."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frameworks.frameworks import MODULES
from groundwire import Settings, SyncWeb, Web
from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import framework_of, need
from groundwire.settings import PermissionSettings
from groundwire.testing import InjectedFault
from groundwire.tools import Tool, ToolResult
from groundwire.tools.permissions import Permission
from world import World, wait_until_idle

ROOT = Path(__file__).resolve().parents[2]
QUERY: dict[str, Any] = {"query": "reciprocal rank fusion", "limit": None}
Make = Callable[..., Settings]


async def _called(tool: Tool) -> ToolResult:
    return await tool.call(**QUERY)


def test_the_extras_are_the_versions_that_work() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name in MODULES:
        assert extras[name] == [framework_of(name).requirement]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Put a distribution there as pip would, with a module that is empty."""
    (folder / "strands.py").write_text("")
    information = folder / f"strands_agents-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: strands-agents\nVersion: {version}\n")
    monkeypatch.syspath_prepend(folder)


def test_a_missing_framework_is_named_with_its_extra() -> None:
    with pytest.raises(ImportError, match=r'strands-agents is not installed: .*\binstall .*"strands-agents>='):
        need("strands", "strands")


@pytest.mark.parametrize("version", ["0.9", "1.19.9", "2.0", "3.0.0rc1"])
def test_a_version_that_does_not_work_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    install(tmp_path, monkeypatch, version)
    with pytest.raises(ImportError, match=rf"{version} is not supported; versions from 1.20 to below 2 work"):
        need("strands", "strands")


@pytest.mark.parametrize("version", ["1.20", "1.62.0", "1.99.dev1"])
def test_a_version_that_works_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    install(tmp_path, monkeypatch, version)
    assert need("strands", "strands").__name__ == "strands"


def test_a_sync_web_serves_threads_and_one_loop_after_the_other(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        search, _ = tools_for(web)
        assert call_blocking(search, QUERY).status == "success"
        for _ in range(2):
            assert asyncio.run(_called(search)).status == "success"


async def test_a_web_serves_its_own_loop_and_says_so_elsewhere(settings: Make, world: World) -> None:
    async with Web(settings()) as web:
        search, read = tools_for(web)
        result = await search.call(**QUERY)
        assert "Search results for: reciprocal rank fusion" in str(result)
        assert "Pass a SyncWeb" in str(call_blocking(search, QUERY))
        page = await read.call(url=world.library.search("rank fusion")[0].url)
        assert "Length: " in str(page)
        world.searxng.fail(InjectedFault.status(500), times=None)
        assert (await search.call(query="another")).status == "error"


def test_what_is_no_web_is_refused() -> None:
    wrong: Any = "searxng"
    with pytest.raises(TypeError, match="takes a Web or a SyncWeb"):
        tools_for(wrong)


def test_rules_are_kept(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        search, read = tools_for(web, Permission(PermissionSettings(allow=("web_search",), deny=("open_page",))))
        assert call_blocking(search, QUERY).status == "success"
        assert call_blocking(read, {"url": "https://example.org/"}).status == "error"
        page: Any = read  # that of a SyncWeb blocks, and takes what every tool takes
        assert "Permission denied: open_page" in str(page("https://example.org/"))
        assert "Permission denied: open_page" in str(page('{"url": "https://example.org/"}'))


@pytest.mark.usefixtures("surroundings")
def test_a_web_of_its_own_is_closed_with_its_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    before = set(threading.enumerate())
    search, read = tools_for()
    assert call_blocking(search, QUERY).status == "success"
    (home,) = [one for one in threading.enumerate() if one not in before and one.name == "groundwire-sync"]
    del read
    gc.collect()
    assert home.is_alive()
    del search
    gc.collect()
    home.join(100)
    assert not home.is_alive()


@pytest.mark.usefixtures("surroundings")
def test_a_program_that_ends_has_stored_what_its_tools_did(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", f"sqlite:///{tmp_path / 'store.db'}")
    program = (
        "from groundwire.integrations.framework_tools import call_blocking, tools_for\n"
        "search, _ = tools_for()\n"
        "print(call_blocking(search, {'query': 'reciprocal rank fusion'}).status)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("success\n", "")
    stats = subprocess.run([sys.executable, "-m", "groundwire", "stats", "--json"], capture_output=True, check=False)
    assert json.loads(stats.stdout)["searches"]["calls"] == 1


def test_a_call_of_a_closed_web_is_a_result(settings: Make) -> None:
    web = SyncWeb(settings())
    search, read = tools_for(web)
    blocking: Any = read
    web.close()
    assert "is closed" in call_blocking(search, QUERY).error
    assert "is closed" in asyncio.run(_called(search)).error
    assert "is closed" in blocking(url="https://example.org/").error


async def test_a_cancelled_call_is_cancelled_in_its_thread(settings: Make, world: World) -> None:
    world.searxng.fail(InjectedFault.hang(), times=None)
    with SyncWeb(settings()) as web:
        search, _ = tools_for(web)
        asked = asyncio.create_task(_called(search))
        await asyncio.to_thread(world.searxng.wait_for_requests, 1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asyncio.to_thread(wait_until_idle, world.searxng)
