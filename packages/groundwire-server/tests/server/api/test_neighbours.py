"""MCP beside the gateway: an unmodified client of the SDK, one `Web`, and sessions that are each its owner's."""

from __future__ import annotations

from typing import Any

import aiohttp
import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from components import heavy
from groundwire_server.api.mcp_http import SessionOwners

WORDS = "reciprocal rank fusion"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
BOTH = {"Accept": "application/json, text/event-stream"}


@pytest.mark.req("B18", "H3")
@pytest.mark.xdist_group(heavy.GROUP)  # to call a tool, the client imports jsonschema
async def test_mcp(gateway: Any) -> None:
    served = await gateway(holders={"alice": {"calls_per_day": 1}})
    key = served.keys["alice"]
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=100) as http,
        streamable_http_client(f"{served.url}/mcp", http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
        assert [tool.name for tool in tools.tools] == ["web_search", "open_page"]
        found = await session.call_tool("web_search", {"query": WORDS})
        assert not found.is_error
        assert found.structured_content["provider"] == "searxng"
        refused = await session.call_tool("web_search", {"query": "more"})
        assert refused.is_error
        assert "daily budget" in str(refused.content)


LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


async def opened(client: aiohttp.ClientSession) -> str:
    """Return the id of a new session of streamable HTTP."""
    async with client.post("/mcp", json=INITIALIZE, headers=BOTH) as response:
        assert response.status == 200
        return response.headers["Mcp-Session-Id"]


async def status(client: aiohttp.ClientSession, session: str, method: str = "POST") -> int:
    """Return the status of a request in a session."""
    body = LISTING if method == "POST" else None
    async with client.request(method, "/mcp", json=body, headers=BOTH | {"Mcp-Session-Id": session}) as response:
        if response.status == 404:
            assert (await response.json())["error"]["code"] == "no_such_session"
        return response.status


async def test_an_mcp_session_is_its_owners(gateway: Any) -> None:
    served = await gateway(holders={"alice": {}, "bob": {}})
    alice, bob = await served.holder("alice"), await served.holder("bob")
    session = await opened(alice)
    for method in ("POST", "DELETE"):
        assert await status(bob, session, method) == 404
    for client in (alice, bob):
        assert await status(client, "0" * 32) == 404, "what is not open is nobody's"
    async with alice.post("/mcp/anything", json=LISTING, headers=BOTH | {"Mcp-Session-Id": session}) as response:
        assert response.status == 404
    assert await status(alice, session) == 200, "a path that does not exist ends no session"
    assert await status(alice, session, "DELETE") == 200
    assert await status(alice, session) == 404
    session = await opened(alice)
    served.gateway.traffic.drain()
    assert await status(alice, session) == 503


@pytest.mark.req("B22", "B43")
async def test_who_opens_many_mcp_sessions_ends_their_own(gateway: Any) -> None:
    served = await gateway(holders={"alice": {}, "bob": {}}, server={"max_mcp_sessions": 3})
    alice, bob = await served.holder("alice"), await served.holder("bob")
    kept, *own = [await opened(client) for client in (bob, alice, alice, alice)]
    async with alice.get("/mcp", headers=BOTH | {"Mcp-Session-Id": own[1]}) as stream:
        for session in (own[0], own[2]):  # so that the second is the one that was unused for the longest
            assert await status(alice, session) == 200
        own.append(await opened(alice))
        await stream.content.read()  # to its end
    assert [await status(alice, session) for session in own] == [200, 404, 200, 200]
    own += [await opened(alice) for _ in range(9)]
    assert [await status(alice, session) for session in own] == [404] * 10 + [200] * 3
    assert await status(bob, own[1]) == 404, "nor does it become another's"
    assert await status(bob, kept) == 200


@pytest.mark.req("B22", "B43")
def test_where_all_are_full_the_tenant_with_the_most_makes_room() -> None:
    owners = SessionOwners(limit=3, most=5)
    assert [owners.add(*one) for one in (("b1", "b"), ("a1", "a"), ("a2", "a"), ("a3", "a"), ("a4", "a"))] == [
        *[None] * 4,
        "a1",
    ]
    assert [owners.add("b2", "b"), owners.add("c1", "c"), owners.add("c2", "c")] == [None, "a2", "b1"]
    assert [owners.use("a2", name) for name in "abc"] == [False] * 3
    assert [name for name in "abc" if owners.use("a3", name)] == ["a"]
