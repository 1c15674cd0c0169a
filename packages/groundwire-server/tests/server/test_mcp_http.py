"""MCP over HTTP as clients meet it: real processes, the official SDK, the miniature web."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from components import heavy
from components.mcp_processes import HELLO, READY, Place, search
from groundwire.testing import InjectedFault
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import make_key
from mcp_server.test_mcp import check_everything, check_new_session
from world import World, wait_until_idle


@pytest.mark.req("B15")
@pytest.mark.xdist_group(heavy.GROUP)
def test_everything_it_has(place: Place, world: World) -> None:
    check_everything(place, world, http=True)


@pytest.mark.req("H5")
def test_the_user_begins_a_new_session(place: Place) -> None:
    check_new_session(place, http=True)


def made_key(place: Place) -> str:
    """Create an API key for the servers of a place."""
    key, record = make_key("ci", datetime.now(UTC))
    KeyFile(place.home / ".config/groundwire/keys.json").add(record)
    return key


async def test_who_may_not_come_in(place: Place) -> None:
    key = made_key(place)
    base = await asyncio.to_thread(place.serve)
    right = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    async with aiohttp.ClientSession() as client:
        for change, status in (
            ({"Authorization": ""}, 401),
            ({"Authorization": f"Bearer {key}x"}, 401),
            ({"Authorization": f"Basic {key}"}, 401),
            ({"Host": "evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({}, 200),
            ({"Origin": "http://localhost:3000"}, 403),
        ):
            async with client.post(base + "/mcp", json=HELLO, headers=right | change) as reply:
                assert reply.status == status, change
        async with client.get(base + "/elsewhere", headers=right) as reply:
            assert reply.status == 404


def test_where_it_does_not_listen(place: Place) -> None:
    for host, says in (("0.0.0.0", "groundwire keys create NAME"), ("192.0.2.1", "Cannot listen on 192.0.2.1")):
        if host == "192.0.2.1":
            made_key(place)
        process = place.start("--http", "--host", host, stdin=subprocess.DEVNULL)
        said, complaint = process.communicate(timeout=100)
        assert (process.returncode, said) == (2, "")
        assert says in complaint
        assert "Traceback" not in complaint


def test_it_ends_when_it_is_asked_to(place: Place, world: World) -> None:
    base = place.serve()
    (server,) = place.started
    world.searxng.fail(InjectedFault.hang(), times=None)
    client = place.start_client([search(query="x")], target=base + "/mcp")
    world.searxng.wait_for_requests(1)
    server.send_signal(signal.SIGTERM)
    assert server.wait(100) == 0
    wait_until_idle(world.searxng)
    client.kill()
    said, complaint = server.communicate()
    assert (said, complaint.startswith("Stopping; 1 running calls have 2 seconds"), complaint.count("\n")) == (
        "",
        True,
        1,
    )


@pytest.mark.req("H3")
@pytest.mark.xdist_group(heavy.GROUP)  # to call a tool, the client imports jsonschema
@pytest.mark.parametrize("sessions", [10, pytest.param(50, marks=pytest.mark.slow)])
async def test_many_sessions_at_once_have_budgets_of_their_own(place: Place, sessions: int) -> None:
    import httpx2
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    place.variables["GROUNDWIRE_SESSION_MAX_SEARCHES"] = "1"
    place.variables["GROUNDWIRE_SERVER_HEADER_TIMEOUT"] = "600"  # one process is all the clients, each slow in turn
    url = await asyncio.to_thread(place.serve) + "/mcp"
    ready = asyncio.Barrier(sessions)

    async def one(number: int) -> list[bool]:
        async with (
            httpx2.AsyncClient(timeout=None) as client,
            streamable_http_client(url, http_client=client) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            await session.initialize()
            await ready.wait()
            answers = [await session.call_tool("web_search", {"query": f"bm25 {number}"}) for _ in range(2)]
            return [answer.is_error for answer in answers]

    assert await asyncio.gather(*map(one, range(sessions))) == [[False, True]] * sessions


@pytest.mark.xdist_group(heavy.GROUP)
async def test_a_client_of_a_protocol_without_sessions_has_one_budget(place: Place) -> None:
    from mcp import Client

    place.variables["GROUNDWIRE_SESSION_MAX_SEARCHES"] = "1"
    url = await asyncio.to_thread(place.serve) + "/mcp"
    async with Client(url) as client:
        assert client.protocol_version >= "2026"
        answers = [await client.call_tool("web_search", {"query": "bm25"}) for _ in range(2)]
    assert [answer.is_error for answer in answers] == [False, True]


async def test_a_client_shows_an_icon_and_may_keep_the_lists_that_never_change(place: Place) -> None:
    from mcp import Client

    url = await asyncio.to_thread(place.serve) + "/mcp"
    async with Client(url) as client:
        server = client.server_info
        tools, prompts = await client.list_tools(), await client.list_prompts()
        templates = await client.list_resource_templates()
        pages = await client.list_resources()
    assert server is not None
    assert [icon.mime_type for icon in server.icons or ()] == ["image/svg+xml"]
    for hint in (
        (tools.ttl_ms, tools.cache_scope),
        (prompts.ttl_ms, prompts.cache_scope),
        (templates.ttl_ms, templates.cache_scope),
    ):
        assert hint == (300_000, "public")
    assert (pages.ttl_ms, pages.cache_scope) == (0, "private")


@pytest.mark.parametrize("modern", [False, True], ids=["2025", "2026"])
async def test_a_call_that_is_given_up_leaves_nothing(place: Place, world: World, modern: bool) -> None:
    """A client says so, as the protocol had it until 2026-07-28; since then it goes."""
    base = await asyncio.to_thread(place.serve)
    world.searxng.fail(InjectedFault.hang(), times=None)
    headers = {"Accept": "application/json, text/event-stream"}
    params: dict[str, Any] = {"name": "web_search", "arguments": {"query": "x"}}
    async with aiohttp.ClientSession(headers=headers) as client:
        more: dict[str, str] = {}
        if modern:
            more = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "web_search"}
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        else:
            async with client.post(base + "/mcp", json=HELLO) as reply:
                more = {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
                await reply.read()
            async with client.post(base + "/mcp", json=READY, headers=more) as reply:
                assert reply.status == 202
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

        async def ask() -> None:
            async with client.post(base + "/mcp", json=body, headers=more) as reply:
                await reply.read()

        call = asyncio.create_task(ask())
        await asyncio.to_thread(world.searxng.wait_for_requests, 1)
        if not modern:
            given_up = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            async with client.post(base + "/mcp", json=given_up, headers=more) as reply:
                assert reply.status == 202
            await asyncio.to_thread(wait_until_idle, world.searxng)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    await asyncio.to_thread(wait_until_idle, world.searxng)
