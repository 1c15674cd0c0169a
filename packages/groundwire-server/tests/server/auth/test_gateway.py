"""The gate in front of the real gateway: who gets at what, and when no more."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import KeyLimits, make_key
from groundwire_server.uvicorn_runner import serving
from world import World

QUERY = {"query": "reciprocal rank fusion"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
MCP = {"Accept": "application/json, text/event-stream"}


class House:
    """Gateways over one key file and one store."""

    def __init__(self, path: Path, make: Callable[[], Any]) -> None:
        self.path = path
        self.make = make

    def key(self, name: str, *, operator: bool = False, **limits: Any) -> dict[str, str]:
        """Make a key; return the header to send."""
        key, record = make_key(name, datetime.now(UTC), operator=operator, limits=KeyLimits.model_validate(limits))
        KeyFile(self.path).add(record)
        return {"Authorization": f"Bearer {key}"}


@pytest.fixture
async def house(settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        path = tmp_path / "keys.json"
        store = f"sqlite:///{tmp_path / 'store.sqlite3'}"

        async def make() -> aiohttp.ClientSession:
            made = settings(
                server={"key_file": str(path), "require_key": True}, storage={"url": store}, session={"max_searches": 0}
            )
            gateway = await stack.enter_async_context(build_gateway(made, upstream="http://127.0.0.1:9/v1"))
            url = await stack.enter_async_context(serving(gateway))
            return await stack.enter_async_context(aiohttp.ClientSession(url))

        there = House(path, make)
        there.key("first")
        yield there


async def test_nothing_answers_without_a_key_but_the_probes(house: House) -> None:
    client = await house.make()
    headers = house.key("ci")
    async with client.get("/openapi.json", headers=headers) as reply:
        described = await reply.json()
    asked = {(method.upper(), path.replace("{id}", "x")) for path, one in described["paths"].items() for method in one}
    asked |= {("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/metrics"), ("GET", "/openapi.json")}
    asked |= {("POST", "/openai/v1/chat/completions"), ("POST", "/openai/v1/responses"), ("GET", "/openai/v1/models")}
    answered = {}
    for method, path in asked:
        async with client.request(method, path, json=QUERY, allow_redirects=False) as reply:
            answered[method, path] = reply.status
    assert {path for (_, path), status in answered.items() if status != 401} == {"/healthz", "/readyz"}
    # The web page shows a person where to sign in, and nothing else.
    for path in ("/", "/nowhere"):
        async with client.get(path, allow_redirects=False) as reply:
            assert reply.status in {303, 401, 404}, path
        async with client.post(path, json=QUERY, allow_redirects=False) as reply:
            assert reply.status >= 300, path


async def test_a_revoked_key_is_dead_in_every_gateway(house: House) -> None:
    one, other = await house.make(), await house.make()
    headers = house.key("ci")

    async def status(client: aiohttp.ClientSession) -> int:
        async with client.get("/v1/tools", headers=headers) as reply:
            return reply.status

    assert [await status(client) for client in (one, other)] == [200, 200]
    KeyFile(house.path).revoke("ci", datetime.now(UTC))
    while 200 in {await status(client) for client in (one, other)}:
        pass
    assert {await status(client) for client in (one, other)} <= {401, 429}  # 429 after many requests with a wrong key


async def test_another_tenants_session_is_not_there(house: House) -> None:
    mine, theirs = house.key("a"), house.key("b")
    client = await house.make()
    async with client.post("/v1/search", json={**QUERY, "session": "work"}, headers=mine) as reply:
        assert reply.status == 200
        (source, *_) = (await reply.json())["results"]
    verify = {"answer": f"It merges rankings [{source['citation_id']}].", "session": "work"}
    said = []
    for headers in (mine, theirs):
        async with client.get("/v1/sessions/work", headers=headers) as reply:
            session = await reply.json()
        async with client.post("/v1/verify", json=verify, headers=headers) as reply:
            said.append((session, await reply.json()))
    assert source["url"] in str(said[0])
    assert source["url"] not in str(said[1])
    async with client.post("/mcp", json=HELLO, headers=mine | MCP) as reply:
        assert reply.status == 200
        named = {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    for headers, status in ((theirs, 404), (mine, 200)):
        async with client.post("/mcp", json=ping, headers=headers | MCP | named) as reply:
            assert reply.status == status
    async with client.delete("/mcp", headers=theirs | MCP | named) as reply:
        assert reply.status == 404


async def test_limits_of_a_key_hold_over_two_gateways(house: House, world: World) -> None:
    clients = [await house.make(), await house.make()]
    host = world.origins[0].split("/")[2].partition(":")[0]
    few, slow = house.key("few", calls_per_day=3), house.key("slow", rate=1, burst=2)
    narrow = house.key("narrow", blocked_domains=[host])
    one_provider = house.key("one", providers=["local"])

    async def search(number: int, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
        async with clients[number % 2].post("/v1/search", json=QUERY, headers=headers) as reply:
            return reply.status, dict(reply.headers)

    answers = [await search(number, few) for number in range(5)]
    assert [status for status, _ in answers] == [200, 200, 200, 402, 402]
    assert 0 < int(answers[-1][1]["Retry-After"]) <= 86_400
    rates = [await search(number, slow) for number in range(3)]
    assert [status for status, _ in rates] == [200, 200, 429]
    assert 0 < int(rates[-1][1]["Retry-After"]) <= 60
    async with clients[0].post("/v1/pages", json={"url": world.origins[0] + "/"}, headers=narrow) as reply:
        assert (reply.status, (await reply.json())["error"]["code"]) == (403, "blocked_domain")
    assert (await search(0, one_provider))[0] == 403


async def test_what_is_said_of_everybody_is_for_operators(house: House) -> None:
    client = await house.make()
    for headers, status in ((house.key("ci"), 403), (house.key("ops", operator=True), 200)):
        async with client.get("/metrics", headers=headers) as reply:
            assert reply.status == status


async def _start(python: Path, tmp_path: Path, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        python,
        "-m",
        "groundwire",
        "serve",
        *arguments,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "GROUNDWIRE_STORAGE_URL": "memory://",
            "GROUNDWIRE_ARCHIVE_ENABLED": "false",
            **variables,
        },
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_the_command_does_not_listen_beyond_loopback_without_keys(tmp_path: Path, warm_python: Path) -> None:
    process = await _start(warm_python, tmp_path, "--host", "0.0.0.0", "--port", "0")
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"groundwire keys create" in said


async def test_the_command_does_not_wait_for_a_head_that_drips(tmp_path: Path, warm_python: Path) -> None:
    process = await _start(warm_python, tmp_path, "--port", "0", GROUNDWIRE_SERVER_HEADER_TIMEOUT="3")
    try:
        assert process.stderr is not None
        while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)", await process.stderr.readline())):
            assert process.returncode is None
        reader, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
        answered = asyncio.create_task(reader.read())
        for byte in b"GET /healthz HTTP/1.1\r\n" + b"X-A: b\r\n" * 50:
            writer.write(bytes([byte]))
            await asyncio.wait({answered}, timeout=0.03)
            if answered.done():
                break
        assert b" 408 " in await answered
        writer.close()
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.communicate()
