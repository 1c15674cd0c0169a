"""The MCP server under other clients: the SDK's first major version, the official inspector and conformance suite."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.authorization_server import AuthorizationServer
from components.environment import mcp1_python, npm_packages
from components.needs import needed
from components.processes import ReservedPort, Unavailable
from groundwire import Settings
from groundwire_server.api import build_mcp
from groundwire_server.uvicorn_runner import serving
from world import World

_ROOT = Path(__file__).resolve().parents[2]
_CLIENT = _ROOT / "tests" / "components" / "mcp_client.py"
_INSPECTOR = ("@modelcontextprotocol/inspector@2.12.0", "node@22.23.3")  # it needs Node.js 22
_TYPESCRIPT = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/client")  # the major versions 1 and 2

_FIXTURES = """
tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource tools-call-mixed-content
tools-call-with-logging tools-call-error tools-call-with-progress tools-call-sampling tools-call-elicitation
json-schema-2020-12 server-sse-polling elicitation-sep1034-defaults elicitation-sep1330-enums resources-read-text
resources-read-binary
resources-templates-read resources-subscribe resources-unsubscribe prompts-get-simple prompts-get-with-args
prompts-get-embedded-resource prompts-get-with-image http-custom-header-server-validation
input-required-result-basic-elicitation input-required-result-basic-sampling input-required-result-basic-list-roots
input-required-result-request-state input-required-result-multiple-input-requests input-required-result-multi-round
input-required-result-non-tool-request input-required-result-result-type input-required-result-tampered-state
input-required-result-capability-check input-required-result-missing-input-response
input-required-result-ignore-extra-params server-stateless:sep-2575-server-rejects-undeclared-capability
server-stateless:sep-2575-missing-capability-http-400 server-stateless:sep-2575-server-no-log-without-loglevel
server-stateless:sep-2575-http-server-no-independent-requests-on-stream
"""
"""The scenarios that do not apply: they use tools, resources and prompts that only a server made for the suite has.

`server-sse-polling` recommends what lets a broken stream be taken up again, which is optional and not offered.
"""


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
    """The folder with the inspector's command line; it may be missing: nothing but npm packages needs Node.js."""
    try:
        return npm_packages(_ROOT / ".venv-inspector", _INSPECTOR, "about 30 s", say) / ".bin"
    except Unavailable as exc:
        pytest.skip(f"the inspector cannot be had here: {exc}")


@pytest.fixture
def command(warm_python: Path) -> tuple[str, ...]:
    """What starts the server."""
    return (str(warm_python), "-m", "groundwire", "mcp")


def start_http(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[subprocess.Popen[str], str]:
    command = (*command, "--http", "--port", "0")
    server = subprocess.Popen(command, env=dict(environment), stderr=subprocess.PIPE, text=True)
    assert server.stderr
    address = re.search(r"MCP at (http://\S+)/mcp", server.stderr.readline())
    assert address
    return server, address[1]


def test_a_client_of_the_first_major_version(
    python: Path, world: World, command: tuple[str, ...], environment: Mapping[str, str]
) -> None:
    url = world.site("articles").page("reciprocal-rank-fusion")
    calls = [
        ["list_tools", {}],
        ["call_tool", {"name": "web_search", "arguments": {"query": "reciprocal rank fusion", "limit": "2"}}],
        ["call_tool", {"name": "open_page", "arguments": {"url": url}}],  # it checks both against the output schema
        ["call_tool", {"name": "open_page", "arguments": {"url": "file:///etc/passwd"}}],
        ["read_resource", {"uri": "groundwire://session"}],
        ["get_prompt", {"name": "web_research"}],
    ]
    server, base = start_http(command, environment)
    try:
        for target in (command, f"{base}/mcp"):
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
            assert "## Opening pages" in answers[6]["messages"][0]["content"]["text"]
    finally:
        server.terminate()
        server.communicate()


@pytest.mark.parametrize("package", _TYPESCRIPT)
async def test_the_typescript_client_signs_in(
    package: str, modules: Path, settings: Callable[..., Settings], world: World, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(modules)
    shutil.copy(_CLIENT.with_suffix(".mjs"), tmp_path)
    url = world.site("articles").page("reciprocal-rank-fusion")
    calls = [
        ["listTools", {}],
        ["callTool", {"name": "web_search", "arguments": {"query": "reciprocal rank fusion", "limit": 2}}],
        ["callTool", {"name": "open_page", "arguments": {"url": url}}],  # it checks both against the output schema
        ["readResource", {"uri": "groundwire://session"}],
    ]
    issuer, port = AuthorizationServer(), ReservedPort()
    resource = f"http://127.0.0.1:{port.number}/mcp"
    async with serving(issuer.app) as issuer.url:
        made = settings(server={"oauth": {"issuers": [issuer.url], "resource": resource, "scopes": ["web"]}})
        async with build_mcp(made) as gateway, serving(gateway, port=port.number):
            process = await asyncio.create_subprocess_exec(
                *("node", "mcp_client.mjs", package, resource, json.dumps(calls)),
                cwd=tmp_path,
                stdout=asyncio.subprocess.PIPE,
            )
            said, _ = await process.communicate()
    assert process.returncode == 0
    tools, found, page, session = json.loads(said)
    assert [tool["name"] for tool in tools["tools"]] == ["web_search", "open_page"]
    assert len(found["structuredContent"]["results"]) == 2
    assert "Reciprocal rank fusion" in page["content"][0]["text"]
    assert json.loads(session["contents"][0]["text"])["searches"]["made"] == 1
    assert [granted["resource"] for granted in issuer.granted] == [resource]


@pytest.mark.slow  # its SDK signs in above, and a client of Python asks for the same over both ways
def test_the_inspector(inspector: Path, command: tuple[str, ...], environment: Mapping[str, str]) -> None:
    server, base = start_http(command, environment)
    variables = {**environment, "PATH": f"{inspector}{os.pathsep}{environment['PATH']}"}

    def inspect(*arguments: str, target: tuple[str, ...]) -> Any:
        called = [str(inspector / "mcp-inspector"), "--cli", *target, "--connect-timeout", "0", *arguments]
        done = subprocess.run(called, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    try:
        call = ("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=bm25")
        http = (f"{base}/mcp", "--transport", "http")
        given = (part for name, value in environment.items() if value for part in ("-e", f"{name}={value}"))
        for target in ((*command, *given), http, (*http, "--protocol-era", "modern")):
            found = inspect(*call, target=target)
            assert not found.get("isError")
            assert found["structuredContent"]["results"]
        tools = inspect("--method", "tools/list", "--strict", target=http)["tools"]  # with schemas for every model
        assert [tool["name"] for tool in tools] == ["web_search", "open_page"]
        assert inspect("--method", "resources/list", target=http)["resources"][0]["uri"] == "groundwire://session"
        assert inspect("--method", "prompts/list", target=http)["prompts"][0]["name"] == "web_research"
    finally:
        server.terminate()
        server.communicate()


@pytest.mark.parametrize(("protocol", "scenarios"), [("2025-06-18", 8), ("2025-11-25", 10), ("2026-07-28", 11)])
def test_the_conformance_suite(
    protocol: str,
    scenarios: int,
    modules: Path,
    command: tuple[str, ...],
    environment: Mapping[str, str],
    tmp_path: Path,
) -> None:
    """A scenario that fails and is not listed fails the run of the suite; so does a listed one that passes."""
    known = "".join(f"  - {name}\n" for name in _FIXTURES.split())
    (tmp_path / "known.yaml").write_text(f"server:\n{known}", "utf-8")
    programs = modules / ".bin"
    server, base = start_http(command, environment)
    asked = ("server", "--url", f"{base}/mcp", "--suite", "all", "--spec-version", protocol)
    try:
        done = subprocess.run(
            [str(programs / "conformance"), *asked, "--expected-failures", str(tmp_path / "known.yaml")],
            env={**environment, "PATH": f"{programs}{os.pathsep}{environment['PATH']}"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        server.terminate()
        server.communicate()
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    assert done.returncode == 0, summary + done.stderr
    assert summary.count("\u2713 ") >= scenarios, summary
