"""The library, the command line and MCP over stdio on Windows, or on another system with what Windows lacks hidden.

There, the processes run with `components/without_posix` on their path. What only a real Windows shows stays unseen:
files that cannot be renamed while they are open, its signals, its consoles.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from groundwire.cassette.format import load
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from world import World

SHIM = Path(__file__).parent / "components" / "without_posix"
QUERY = "reciprocal rank fusion"
SIGNS = "Zürich → 東京 ☃"

LIBRARY = f"""
import asyncio, json, sys
import groundwire, groundwire.reading.workers as workers

async def main():
    async with groundwire.Web() as web:
        found = await web.search({QUERY!r})
        page = await web.open_page(found[0].url)
        large = await web.open_page(sys.argv[1])  # in a worker process
    return found[0].title, page.content[:24], large.content[:12]

print(workers.sys.platform, hasattr(workers.os, "getuid"), hasattr(workers.signal, "SIGKILL"), file=sys.stderr)
with groundwire.SyncWeb() as web:
    print(json.dumps([*asyncio.run(main()), web.search({QUERY!r}).results[0].title]))
"""


class Signs(EmulatedServer):
    """A page with signs that cp1252 does not have, and a large one."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        rows = "".join(f"<p>{SIGNS} {number}</p>" for number in range(9_000 if request.path == "/large" else 1))
        return EmulatedResponse.html(f"<!doctype html><title>{SIGNS}</title><article>{rows}</article>")


@dataclass(frozen=True)
class Windows:
    """Where Groundwire's processes run."""

    environment: Mapping[str, str]
    folder: Path
    page: str
    """The address of a page with signs of many scripts."""

    def python(self, *arguments: str, typed: str = "") -> tuple[int, str, str]:
        """Run Python, and return its exit code and what it wrote."""
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def groundwire(self, *arguments: str, typed: str = "") -> tuple[int, str, str]:
        """Run the command line."""
        return self.python("-m", "groundwire", *arguments, typed=typed)


@pytest.fixture
def windows(world: World, tmp_path: Path) -> Windows:
    signs = world.add(Signs("signs", "signs.test"))
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("PYTHONUTF8", "PYTHONIOENCODING")},
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join((*world.origins, signs.url)),
        "GROUNDWIRE_STORAGE_URL": f"sqlite:///{tmp_path.as_posix()}/store.sqlite3",
        "GROUNDWIRE_ARCHIVE_PATH": str(tmp_path / "archive.db"),
        "PYTHONWARNDEFAULTENCODING": "1",
    }
    if sys.platform != "win32":
        environment["PYTHONPATH"] = str(SHIM)
    return Windows(environment, tmp_path, f"{signs.url}/page")


@pytest.mark.req("B47")
def test_the_library(windows: Windows) -> None:
    code, out, errors = windows.python("-c", LIBRARY, windows.page.replace("/page", "/large"))
    assert (code, errors) == (0, "win32 False False\n")
    assert json.loads(out) == [
        "Reciprocal rank fusion",
        "# Reciprocal rank fusion",
        SIGNS[:12],
        "Reciprocal rank fusion",
    ]


@pytest.mark.req("B47")
def test_the_command_line_in_a_pipe_of_another_encoding(windows: Windows) -> None:
    code, out, errors = windows.groundwire("search", QUERY, "--limit", "1")
    assert (code, out.splitlines()[0]) == (0, " 1. Reciprocal rank fusion"), errors
    code, out, errors = windows.groundwire("search", typed=SIGNS)
    assert (code, SIGNS in errors) == (1, True)
    code, out, errors = windows.groundwire("demo")
    assert (code, errors, "end to end on a miniature web" in out) == (0, "", True)


@pytest.mark.req("B47")
def test_files_are_locked_and_replaced(windows: Windows) -> None:
    windows = replace(windows, environment={**windows.environment, "GROUNDWIRE_RECORD": "some.jsonl"})
    code, out, errors = windows.groundwire("read", windows.page, "--output", "pages")
    assert (code, out) == (0, ""), errors
    assert len(load(windows.folder / "some.jsonl")) == 2
    assert SIGNS in next((windows.folder / "pages").rglob("*.md")).read_text("utf-8")


@pytest.mark.req("B47")
def test_mcp_over_stdio(windows: Windows) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "groundwire", "mcp"], env=dict(windows.environment), cwd=windows.folder
    )

    async def ask() -> list[Any]:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            found = await session.call_tool("web_search", {"query": QUERY})
            page = await session.call_tool("open_page", {"url": windows.page})
            return [found.content[0], page.content[0]]

    found, page = asyncio.run(ask())
    assert "Reciprocal rank fusion" in found.text
    assert SIGNS in page.text


@pytest.mark.req("B47")
def test_what_is_missing_is_said(windows: Windows) -> None:
    code, _, errors = windows.groundwire("keys", "list")
    assert (code, errors) == (
        2,
        "Error: groundwire keys does not run on Windows: run it in WSL 2 or in a container.\n",
    )
    assert "on Windows, worker processes have no sandbox and no limits" in windows.groundwire("doctor", "--offline")[1]
