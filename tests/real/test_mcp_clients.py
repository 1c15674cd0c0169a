"""The MCP server under other clients: the SDK's first major version, and the official inspector."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.environment import locked, mcp1_python
from components.needs import needed
from groundwire.testing import World

_ROOT = Path(__file__).resolve().parents[2]
_CLIENT = _ROOT / "tests" / "components" / "mcp_client.py"
_SERVER = (sys.executable, "-m", "groundwire", "mcp")
_INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"


@pytest.fixture
def environment(world: World, tmp_path: Path) -> Mapping[str, str]:
    """What the server finds: the miniature web."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "GROUNDWIRE_ARCHIVE_ENABLED": "false",
    }


@pytest.fixture(scope="module")
def python(say: Callable[[str], None]) -> Path:
    """The interpreter of an environment that has mcp 1.x."""
    return needed(lambda: mcp1_python(_ROOT / ".venv-mcp1", say))


@pytest.fixture(scope="module")
def inspector(say: Callable[[str], None]) -> Path:
    """The inspector's command line; it may be missing: nothing else here needs Node.js."""
    if not (npm := shutil.which("npm")):
        pytest.skip("the inspector needs npm, and there is none on this machine")
    folder = _ROOT / ".venv-inspector"
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    folder.mkdir(exist_ok=True)
    with locked(folder / "lock"):
        if not program.exists():
            say("installing the MCP inspector (once, about 20 s)")
            command = [
                npm,
                "install",
                "--no-audit",
                "--no-fund",
                "--fetch-retries=1",
                "--fetch-retry-mintimeout=1000",
                "--ignore-scripts",
                "--prefix",
                str(folder),
                _INSPECTOR,
            ]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=90)
            except (subprocess.SubprocessError, OSError) as exc:
                pytest.skip(f"the inspector cannot be installed here: {exc}")
    return program


def start_http(environment: Mapping[str, str]) -> tuple[subprocess.Popen[str], str]:
    command = [*_SERVER, "--http", "--sse", "--port", "0"]
    server = subprocess.Popen(command, env=dict(environment), stderr=subprocess.PIPE, text=True)
    assert server.stderr
    return server, server.stderr.readline().split()[3].removesuffix("/mcp")


def test_a_client_of_the_first_major_version(python: Path, world: World, environment: Mapping[str, str]) -> None:
    url = world.site("articles").page("reciprocal-rank-fusion")
    calls = [
        ["list_tools", {}],
        ["call_tool", {"name": "web_search", "arguments": {"query": "reciprocal rank fusion", "limit": "2"}}],
        ["call_tool", {"name": "open_page", "arguments": {"url": url}}],  # it checks both against the output schema
        ["call_tool", {"name": "open_page", "arguments": {"url": "file:///etc/passwd"}}],
        ["read_resource", {"uri": "groundwire://session"}],
        ["get_prompt", {"name": "web_research"}],
    ]
    server, base = start_http(environment)
    try:
        for target in (_SERVER, f"{base}/mcp", f"{base}/sse"):
            done = subprocess.run(
                [str(python), str(_CLIENT), json.dumps(target), json.dumps(calls)],
                env=dict(environment),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            answers: list[dict[str, Any]] = json.loads(done.stdout)["answers"]
            assert [tool["name"] for tool in answers[1]["tools"]] == ["web_search", "open_page"]
            assert [answer["isError"] for answer in answers[2:5]] == [False, False, True]
            assert len(answers[2]["structuredContent"]["results"]) == 2
            assert json.loads(answers[5]["contents"][0]["text"])["searches"]["made"] == 1
            assert "LIMITED" in answers[6]["messages"][0]["content"]["text"]
    finally:
        server.terminate()
        server.communicate()


def test_the_inspector(inspector: Path, world: World, environment: Mapping[str, str]) -> None:
    server, base = start_http(environment)

    def inspect(*arguments: str, target: tuple[str, ...]) -> Any:
        command = [str(inspector), "--cli", *target, *arguments]
        done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    try:
        for target in (_SERVER, (f"{base}/mcp", "--transport", "http")):
            tools = inspect("--method", "tools/list", target=target)["tools"]
            assert [tool["name"] for tool in tools] == ["web_search", "open_page"]
            call = ("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=bm25")
            found = inspect(*call, target=target)
            assert not found.get("isError")
            assert found["structuredContent"]["results"]
            assert inspect("--method", "resources/list", target=target)["resources"][0]["uri"] == "groundwire://session"
            assert inspect("--method", "prompts/list", target=target)["prompts"][0]["name"] == "web_research"
    finally:
        server.terminate()
        server.communicate()
