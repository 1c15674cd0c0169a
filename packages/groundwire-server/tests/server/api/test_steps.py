"""No request keeps the event loop busy: the lines between two of its turns are counted while the worst is answered."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from components.work import longest_step
from world import World
from world.model_apis import ModelServer

pytestmark = pytest.mark.req("B23")

SIZE = 200_000  # characters or so of each body
MOST = 300_000
"""Lines, some 30 ms; an ordinary search takes a few thousand."""
MCP = {"Accept": "application/json, text/event-stream"}


def turns(role: str, text: str, count: int) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for _ in range(count)]


def chat(messages: list[Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": messages, **more}


FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
TOLD = {
    "role": "assistant",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "a"}


def nested(depth: int) -> Any:
    made: Any = []
    for _ in range(depth):
        made = [{"content": made}]
    return made


REQUESTS: dict[str, tuple[str, Any]] = {
    "verify: markers of a session": ("/v1/verify", {"answer": "[1]" * (SIZE // 3), "session": "work"}),
    "verify: wrong sources": ("/v1/verify", {"answer": "a", "sources": [1] * SIZE}),
    "verify: sources without members": ("/v1/verify", {"answer": "a", "sources": [{}] * (SIZE // 2)}),
    "verify: unknown members": ("/v1/verify", {"answer": "a"} | {f"k{n}": 1 for n in range(SIZE // 6)}),
    "pages: wrong addresses": ("/v1/pages", {"urls": [""] * SIZE}),
    "pages: a long address": ("/v1/pages", {"url": "https://a.example/" + "a" * SIZE}),
    "search: wrong domains": ("/v1/search", {"query": "a", "allowed_domains": [1] * SIZE}),
    "ask: a long question": ("/v1/ask", {"question": "a " * SIZE, "quote": True}),
    "ask: unknown members": ("/v1/ask", {"question": "a"} | {f"k{n}": 1 for n in range(SIZE // 6)}),
    "a tool: domains as text": ("/v1/tools/web_search", {"query": "a", "allowed_domains": "a.b," * (SIZE // 4)}),
    "a tool: domains as a list": ("/v1/tools/web_search", {"query": "a", "allowed_domains": [1] * 9_000}),
    "a tool: a page in pieces": ("/v1/tools/open_page", {"url": "https://a.example/", "cursor": "A" * SIZE}),
    "prepare: tools": (
        "/v1/prepare?provider=openai&model=gpt-6-luna",
        {"input": "a", "tools": [{"type": "function"}] * SIZE},
    ),
    "resolve: values": ("/v1/resolve", {"provider": "openai", "model": [1] * SIZE}),
    "perplexity: queries": ("/search", {"query": [1] * SIZE}),
    "chat: marks": (
        "/openai/v1/chat/completions",
        chat(turns("assistant", "a [1] " * (SIZE // 6), 1) + turns("user", "a", 1)),
    ),
    "chat: calls": ("/openai/v1/chat/completions", chat([TOLD, RESULT] * 600 + turns("user", "a", 1))),
    "chat: messages": ("/openai/v1/chat/completions", chat(turns("user", "a", 40_000))),
    "chat: tools": (
        "/openai/v1/chat/completions",
        chat(turns("user", "a", 1), tools=[{"type": "web_search"}] * 30_000),
    ),
    "chat: values": ("/openai/v1/chat/completions", chat(turns("user", "a", 1), x=[[0] * 1_000] * 300)),
    "chat: deep": ("/openai/v1/chat/completions", chat([{"role": "user", "content": nested(120)}])),
    "responses: calls": ("/openai/v1/responses", {"model": "m", "input": [CALL] * 600 + turns("user", "a", 1)}),
    "responses: marks": (
        "/openai/v1/responses",
        {"model": "m", "input": turns("assistant", "[1]" * (SIZE // 3), 1) + turns("user", "a", 1)},
    ),
    "messages: marks": (
        "/openai/v1/messages",
        chat(
            turns("user", "a", 1) + turns("assistant", "[1]" * (SIZE // 3), 1) + turns("user", "a", 1),
            tools=[FETCH],
            max_tokens=9,
        ),
    ),
    "messages: deep": (
        "/openai/v1/messages",
        chat([{"role": "user", "content": nested(90)}], tools=[FETCH], max_tokens=9),
    ),
    "mcp: values": (
        "/mcp",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "web_search", "arguments": {"query": [1] * SIZE}},
        },
    ),
    "mcp: messages": ("/mcp", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * (SIZE // 6)),
}


@pytest.fixture
async def client(gateway: Callable[..., Any], world: World) -> aiohttp.ClientSession:
    model = world.add(ModelServer(name="model"))
    made: aiohttp.ClientSession = await (await gateway(upstream=f"{model.url}/v1")).client()
    async with made.post("/v1/search", json={"query": "bm25", "session": "work"}) as reply:  # what is loaded once
        assert reply.status == 200
    async with made.post("/openai/v1/chat/completions", json=chat(turns("user", "a", 1))) as reply:
        await reply.read()
    async with made.post("/v1/tools/open_page", json={"url": "https://a.example/"}) as reply:
        assert reply.status == 200
    return made


async def test_no_request_keeps_others_waiting(client: aiohttp.ClientSession) -> None:
    headers = {"Content-Type": "application/json", **MCP}
    steps = {}

    async def ask(path: str, data: bytes) -> None:
        async with client.post(path, data=io.BytesIO(data), headers=headers) as reply:
            said = await reply.read()
            assert reply.status < 500, said

    for name, (path, body) in REQUESTS.items():
        steps[name] = await longest_step(ask(path, json.dumps(body).encode()))
    assert {name: step for name, step in steps.items() if step >= MOST} == {}


async def test_a_form_of_many_fields_is_refused(client: aiohttp.ClientSession) -> None:
    data = "&".join(f"k{number}=a" for number in range(SIZE // 8))
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    async def ask() -> None:
        async with client.post("/search", data=data, headers=headers) as reply:
            assert reply.status == 400

    assert await longest_step(ask()) < MOST
