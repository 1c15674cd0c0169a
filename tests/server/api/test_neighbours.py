"""MCP beside the gateway: an unmodified client of the SDK, one `Web`, and sessions that are each its owner's."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

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
async def test_mcp(gateway: Any) -> None:
    served = await gateway(holders={"alice": {"calls_per_day": 1}})
    key = served.keys["alice"]
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
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


async def test_an_mcp_session_is_its_owners(gateway: Any) -> None:
    served = await gateway(holders={"alice": {}, "bob": {}})
    alice, bob = await served.holder("alice"), await served.holder("bob")
    async with alice.post("/mcp", json=INITIALIZE, headers=BOTH) as response:
        assert response.status == 200
        id_ = response.headers["Mcp-Session-Id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with bob.post("/mcp", json=listing, headers=BOTH | {"Mcp-Session-Id": id_}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (404, "no_such_session")
    async with alice.post("/mcp", json=listing, headers=BOTH | {"Mcp-Session-Id": id_}) as response:
        assert response.status == 200
    served.gateway.drain()
    async with alice.post("/mcp", json=listing, headers=BOTH | {"Mcp-Session-Id": id_}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (503, "draining")
