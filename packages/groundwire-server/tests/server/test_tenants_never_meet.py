"""Two tenants over every face of one gateway, in random order, with providers up and down: they never meet."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from groundwire.testing import InjectedFault
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import KeyLimits, make_key
from groundwire_server.uvicorn_runner import serving
from test_tenants import WORDS, Make, kept
from test_tenants import rrf as rrf
from world import World
from world.model_apis import ModelServer

MARKS = {"alice": "quokka", "bob": "narwhal"}
"""A word that stands in everything private of a tenant, and nowhere else."""
MCP = {"Accept": "application/json, text/event-stream"}


class House:
    """One gateway with everything on, and its two tenants."""

    def __init__(self, world: World, clients: dict[str, aiohttp.ClientSession], page: str) -> None:
        self.world = world
        self.clients = clients
        self.page = page
        self.numbers = itertools.count()
        self._mcp: dict[str, dict[str, str]] = {}

    async def ask(self, name: str, method: str, path: str, **options: Any) -> str:
        """Return everything that a tenant is answered."""
        async with self.clients[name].request(method, path, **options) as reply:
            return f"{reply.status} {dict(reply.headers)} {await reply.text()}"

    async def mcp(self, name: str, method: str, /, **params: Any) -> str:
        if name not in self._mcp:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            async with self.clients[name].post("/mcp", json=message, headers=MCP) as reply:
                self._mcp[name] = {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
            await self.ask(
                name,
                "POST",
                "/mcp",
                json={"jsonrpc": "2.0", "method": "notifications/initialized"},
                headers=MCP | self._mcp[name],
            )
        message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
        return await self.ask(name, "POST", "/mcp", json=message, headers=MCP | self._mcp[name])

    async def step(self, name: str, action: str, number: int) -> str:
        """Do one thing as a tenant, with its mark in all that is its own; return what it is answered."""
        mark = f"{MARKS[name]}{number}"
        words, private = f"{WORDS} {mark}", f"{self.page}?draft={mark}"
        events = {"Accept": "text/event-stream"}
        match action:
            case "search":
                return await self.ask(name, "POST", "/v1/search", json={"query": words, "session": "work"})
            case "search events":
                return await self.ask(name, "POST", "/v1/search", json={"query": words}, headers=events)
            case "search the same":
                return await self.ask(name, "POST", "/v1/search", json={"query": WORDS, "session": "work"})
            case "open":
                return await self.ask(name, "POST", "/v1/pages", json={"url": private, "session": "work"})
            case "open a part":
                return await self.ask(name, "POST", "/v1/pages", json={"url": f"{self.page}#{mark}"}, headers=events)
            case "open the same":
                return await self.ask(name, "POST", "/v1/pages", json={"urls": [self.page]})
            case "searxng":
                return await self.ask(name, "GET", "/search", params={"q": words, "format": "json"})
            case "perplexity":
                return await self.ask(name, "POST", "/search", json={"query": words})
            case "proxy":
                body = {"model": "m", "messages": [{"role": "user", "content": words}]}
                return await self.ask(name, "POST", "/openai/v1/chat/completions", json=body)
            case "mcp search":
                return await self.mcp(name, "tools/call", name="web_search", arguments={"query": words})
            case "mcp open":
                return await self.mcp(name, "tools/call", name="open_page", arguments={"url": private})
            case "mcp resources":
                listed = await self.mcp(name, "resources/list")
                return listed + await self.mcp(name, "resources/read", uri="groundwire://session")
            case "mcp completion":
                ref = {"type": "ref/resource", "uri": "groundwire://page/{url}{?cursor}"}
                return await self.mcp(name, "completion/complete", ref=ref, argument={"name": "url", "value": "h"})
            case "mcp question":
                ref = {"type": "ref/prompt", "name": "web_research"}
                return await self.mcp(name, "completion/complete", ref=ref, argument={"name": "question", "value": "r"})
            case "ask":
                asked: dict[str, Any] = {"question": words, "quote": True, "session": "work"}
                return await self.ask(name, "POST", "/v1/ask", json=asked)
            case "ask events":
                return await self.ask(name, "POST", "/v1/ask", json={"question": WORDS, "quote": True}, headers=events)
            case "tool search":
                return await self.ask(name, "POST", "/v1/tools/web_search?session=work", json={"query": words})
            case "tool open":
                return await self.ask(name, "POST", "/v1/tools/open_page?session=work", json={"url": private})
            case "responses":
                return await self.ask(name, "POST", "/openai/v1/responses", json={"model": "m", "input": words})
            case "messages":
                message: dict[str, Any] = {"model": "m", "max_tokens": 99}
                message["messages"] = [{"role": "user", "content": words}]
                message["tools"] = [{"type": "web_search_20250305", "name": "web_search"}]
                return await self.ask(name, "POST", "/openai/v1/messages", json=message)
            case "forget":
                return await self.ask(name, "DELETE", "/v1/sessions/work")
            case "page":
                return await self.ask(name, "GET", "/", params={"q": words})
            case "page open":
                return await self.ask(name, "GET", "/", params={"open": private})
            case "verify":
                body = {"answer": "It merges rankings [1].", "session": "work"}
                return await self.ask(name, "POST", "/v1/verify", json=body)
            case _:
                return await self.ask(name, "GET", action)

    def weather(self, change: str, mark: str) -> None:
        """Let providers and sites fail, or be well again; one fault quotes a tenant to its next search."""
        site = self.world.site("articles")
        match change:
            case "search down":
                self.world.searxng.fail(InjectedFault.status(500), times=None)
            case "search up":
                self.world.searxng.heal()
            case "site down":
                site.fail(InjectedFault.status(500), times=None)
            case "site up":
                site.heal()
            case "quoting":
                said = f'{{"error": "too many queries like {mark}"}}'
                self.world.searxng.heal()
                self.world.searxng.fail(InjectedFault.status(429, said, headers={"Retry-After": "1"}))


ACTIONS = (
    "search",
    "search events",
    "search the same",
    "open",
    "open a part",
    "open the same",
    "searxng",
    "perplexity",
    "proxy",
    "mcp search",
    "mcp open",
    "mcp resources",
    "page",
    "page open",
    "verify",
    "mcp completion",
    "mcp question",
    "ask",
    "ask events",
    "tool search",
    "tool open",
    "responses",
    "messages",
    "forget",
    "/v1/sessions/work",
    "/metrics",
    "/openapi.json",
    "/readyz",
)


@pytest.fixture
async def house(settings: Make, world: World, tmp_path: Path, rrf: str) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        file = tmp_path / "keys.json"
        model = world.add(ModelServer(name="model"))
        sections = kept(settings, tmp_path, server={"key_file": str(file)})
        headers = {}
        for name in MARKS:
            key, record = make_key(name, datetime.now(UTC), limits=KeyLimits())
            KeyFile(file).add(record)
            headers[name] = {"Authorization": f"Bearer {key}"}
        gateway = await stack.enter_async_context(build_gateway(sections, upstream=f"{model.url}/v1"))
        url = await stack.enter_async_context(serving(gateway))
        clients = {
            name: await stack.enter_async_context(aiohttp.ClientSession(url, headers=headers[name])) for name in MARKS
        }
        yield House(world, clients, rrf)


STEPS = [(name, action) for action in ACTIONS for name in MARKS]
WEATHER = ("", "", "", "search down", "search up", "site down", "site up", "quoting")


@pytest.mark.req("B22")
@pytest.mark.timeout(600)
@given(st.randoms(use_true_random=True))
@hypothesis_settings(max_examples=20 if os.environ.get("SLOW") else 1, suppress_health_check=list(HealthCheck))
async def test_two_tenants_never_meet(house: House, chance: random.Random) -> None:
    """Every face in any order, with providers up and down; what earlier examples did stays in the store."""
    for name, action in chance.sample(STEPS, len(STEPS)):
        change = chance.choice(WEATHER)
        number = next(house.numbers)
        house.weather(change, f"{MARKS[name]}{number}")
        answer = await house.step(name, action, number)
        if change == "quoting":  # what quotes one is not for the other
            house.world.searxng.heal()
        for other, mark in MARKS.items():
            assert other == name or mark not in answer.lower(), (
                f"step {number}: {name} did {action!r}: {answer[:2_000]}"
            )


@pytest.mark.req("B22")
async def test_the_marks_are_seen_by_their_own_tenant(house: House, world: World) -> None:
    assert "quokka1" in await house.step("alice", "open", 1)
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert "quokka1" in await house.step("alice", "search the same", 2)
