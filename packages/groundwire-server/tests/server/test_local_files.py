"""Local files of the server over every face: none, but below the folders of a key's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from components import heavy
from groundwire import Settings, Web
from groundwire.testing.model_apis import Say, ScriptedCall, script
from groundwire_server.api import build_gateway, build_mcp
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from server.api.conftest import gateway as gateway
from world import World
from world.model_apis import ModelServer

pytestmark = [pytest.mark.req("B39", "B15"), pytest.mark.xdist_group(heavy.GROUP)]
MCP = {"Accept": "application/json, text/event-stream"}
SECRET = "The ferry leaves at 7:40"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that the operator's own models may read: `policy.files` names it."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "ferry.md").write_text(f"# Ferry\n\n{SECRET} in winter.", encoding="utf-8")
    return folder


async def mcp(client: aiohttp.ClientSession, tool: str, **arguments: Any) -> str:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message: Any = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    async with client.post("/mcp", json=message, headers=MCP) as reply:
        session = MCP | {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with client.post("/mcp", json=begun, headers=session) as reply:
        await reply.read()
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    async with client.post("/mcp", json=message, headers=session) as reply:
        return await reply.text()


async def everything(client: aiohttp.ClientSession, url: str) -> dict[str, str]:
    """Ask for a file in every way; return what was answered to each."""
    search: Any = {"query": "ferry in winter", "sources": ["files"]}
    answers = {
        "mcp open": await mcp(client, "open_page", url=url),
        "mcp search": await mcp(client, "web_search", **search),
    }
    for name, path, body in (
        ("rest open", "/v1/pages", {"url": url}),
        ("rest open all", "/v1/pages", {"urls": [url]}),
        ("rest search", "/v1/search", search),
        ("tool open", "/v1/tools/open_page", {"url": url}),
        ("tool search", "/v1/tools/web_search", search),
    ):
        async with client.post(path, json=body) as reply:
            answers[name] = await reply.text()
    async with client.get("/", params={"open": url}) as reply:
        answers["page"] = await reply.text()
    return answers


def refused(answers: dict[str, str]) -> None:
    for name, answer in answers.items():
        assert SECRET not in answer, name
        assert "no folder is allowed" in answer, (name, answer)


async def test_a_request_without_a_key_reads_no_file(gateway: Callable[..., Any], folder: Path) -> None:
    served = await gateway(policy={"files": (str(folder),)}, archive={"enabled": True})
    refused(await everything(await served.client(), (folder / "ferry.md").as_uri()))


async def test_a_key_reads_the_folders_of_its_own_and_no_others(
    gateway: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "memo.md").write_text("# Memo\n\nThe ferry is full in winter.", encoding="utf-8")
    served = await gateway(
        policy={"files": (str(folder),)},
        archive={"enabled": True, "path": str(tmp_path / "archive.db")},
        holders={"operator": {}, "alice": {"files": [str(own)]}, "bob": {}},
    )
    for name in ("bob", "operator"):
        refused(await everything(await served.holder(name), (folder / "ferry.md").as_uri()))
    alice = await served.holder("alice")
    for name, answer in (await everything(alice, (own / "memo.md").as_uri())).items():
        assert "ferry is full" in answer or name == "page", (name, answer)
    for name, answer in (await everything(alice, (folder / "ferry.md").as_uri())).items():
        assert SECRET not in answer, name
        assert "search" in name or name == "page" or "in none of the folders that are allowed" in answer, (name, answer)
    async with alice.get("/v1/tools") as reply:
        assert '"files"' in await reply.text()
    async with (await served.holder("bob")).get("/v1/tools") as reply:
        assert '"files"' not in await reply.text()


async def test_mcp_over_http_alone_reads_no_file(settings: Callable[..., Settings], folder: Path) -> None:
    made = settings(policy={"files": (str(folder),)}, archive={"enabled": True})
    async with build_mcp(made) as server, serving(server) as url, aiohttp.ClientSession(url) as client:
        found = {
            "open": await mcp(client, "open_page", url=(folder / "ferry.md").as_uri()),
            "search": await mcp(client, "web_search", query="ferry in winter", sources=["files"]),
        }
    refused(found)


@pytest.mark.parametrize("alone", [True, False], ids=["proxy", "gateway"])
async def test_the_proxy_reads_no_file(
    settings: Callable[..., Settings], folder: Path, world: World, alone: bool
) -> None:
    url = (folder / "ferry.md").as_uri()
    calls = script(
        ScriptedCall("open_page", {"url": url}),
        ScriptedCall("web_search", {"query": "ferry in winter", "sources": ["files"]}),
        Say("Done."),
    )
    models = world.add(ModelServer(calls, name="model"))
    made = settings(policy={"files": (str(folder),)}, archive={"enabled": True})
    body = {"model": "m", "messages": [{"role": "user", "content": "When does the ferry leave?"}]}
    async with Web(made) as web:
        proxy = Proxy(web, f"{models.url}/v1")
        path = f"{'' if alone else '/openai'}/v1/chat/completions"
        async with (
            build_gateway(made, upstream=f"{models.url}/v1") as server,
            serving(proxy.app if alone else server) as base,
            aiohttp.ClientSession(base) as client,
            client.post(path, json=body) as reply,
        ):
            assert "Done." in await reply.text()
        await proxy.aclose()
    said = json.dumps([request.json() for request in models.requests if request.method == "POST"])
    assert said.count("no folder is allowed") >= 2
    assert SECRET not in said
