"""MCP: what the user is asked through the client. A key goes past it, by a page of this machine."""

from __future__ import annotations

import json
import stat
import warnings
from collections.abc import Mapping
from typing import Any

import aiohttp
import mcp
import mcp_types
import pytest
from mcp.shared.exceptions import MCPDeprecationWarning

from world import World

Place = Any  # see conftest.py
KEY = "test-key"


@pytest.fixture
def keyless(place: Place, world: World) -> Place:
    """A server whose only search provider has no key."""
    place.variables |= {
        "GROUNDWIRE_SEARCH_PROVIDERS": "brave",
        "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": world.service("brave").url,
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    return place


def client_of(place: Place, elicit: Any, mode: Any) -> mcp.Client:
    command, *arguments = place.server
    server = mcp.StdioServerParameters(command=command, args=arguments, env=place.environment)
    return mcp.Client(server, elicitation_callback=elicit, mode=mode)


async def sent(url: str, key: str, **headers: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as browser, browser.post(url, data={"key": key}, headers=headers) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["2026-07-28", "2025-11-25"])
async def test_a_missing_key_is_asked_for_on_a_page_of_this_machine(keyless: Place, world: World, mode: Any) -> None:
    asked: list[Any] = []
    pages: list[tuple[int, str]] = []
    heads: list[Mapping[str, str]] = []

    async def elicit(context: Any, params: Any) -> Any:
        asked.append(params)
        async with aiohttp.ClientSession() as browser, browser.get(params.url) as page:
            heads.append(page.headers)
            pages.append((page.status, await page.text()))
        other = params.url.rpartition("/")[0] + "/x"
        pages.append(await sent(other, KEY))
        pages.append(await sent(params.url, KEY, Host="attacker.example"))
        pages.append(await sent(params.url, KEY, **{"Sec-Fetch-Site": "cross-site"}))
        pages.append(await sent(params.url, "wrong-key"))
        pages.append(await sent(params.url, KEY))
        return mcp_types.ElicitResult(action="accept")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        async with client_of(keyless, elicit, mode) as client:
            said = [await client.call_tool("web_search", {"query": "rank fusion"}) for _ in range(2)]
        async with client_of(keyless, elicit, mode) as client:
            said.append(await client.call_tool("web_search", {"query": "rank fusion"}))
    assert [one.is_error for one in said] == [False, False, False]
    (question,) = asked
    assert (question.mode, "brave needs an API key" in question.message) == ("url", True)
    assert question.url.startswith("http://127.0.0.1:")
    assert [status for status, _ in pages] == [200, 404, 421, 403, 400, 200]
    assert 'name="key"' in pages[0][1]
    assert "Copy the key again" in pages[4][1] or "not valid" in pages[4][1]
    assert heads[0]["Cache-Control"] == "no-store"
    assert "default-src 'none'" in heads[0]["Content-Security-Policy"]
    (kept,) = (keyless.home / ".config").rglob("keys.env")
    assert f"BRAVE_API_KEY={KEY}\n" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert str(kept) in pages[5][1]
    assert {request.headers["x-subscription-token"] for request in world.service("brave").requests} == {
        KEY,
        "wrong-key",
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["2026-07-28", "2025-11-25"])
async def test_a_user_who_gives_no_key_is_told_how_to_set_it(keyless: Place, mode: Any) -> None:
    urls: list[str] = []

    async def elicit(context: Any, params: Any) -> Any:
        urls.append(params.url)
        return mcp_types.ElicitResult(action="decline")

    async with client_of(keyless, elicit, mode) as client:
        said = await client.call_tool("web_search", {"query": "rank fusion"})
        assert said.is_error
        assert "brave needs a key: set BRAVE_API_KEY" in str(said.content)
        with pytest.raises(aiohttp.ClientConnectionError):
            await sent(urls[0], KEY)


@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_the_key_of_a_chosen_provider_is_asked_for_once_beside_others(
    keyless: Place, world: World, action: Any
) -> None:
    keyless.variables |= {
        "GROUNDWIRE_SEARCH_PROVIDERS": "brave,searxng",
        "GROUNDWIRE_SEARCH_STRATEGY": "fallback",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
    }
    asked: list[Any] = []

    async def elicit(context: Any, params: Any) -> Any:
        asked.append(params)
        if action == "accept":
            await sent(params.url, KEY)
        return mcp_types.ElicitResult(action=action)

    async with client_of(keyless, elicit, "auto") as client:
        said = [await client.call_tool("web_search", {"query": f"rank fusion {number}"}) for number in range(2)]
    assert [one.is_error for one in said] == [False, False]
    assert len(asked) == 1
    expected = "brave" if action == "accept" else "searxng"
    assert [one.structured_content["provider"] for one in said] == [expected, expected]


async def test_the_key_of_a_backend_that_a_call_names_is_asked_for(keyless: Place, world: World) -> None:
    keyless.variables |= {
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_SEARCH_LOCAL_TOOL": "search",
    }
    asked: list[Any] = []

    async def elicit(context: Any, params: Any) -> Any:
        asked.append(params)
        await sent(params.url, KEY)
        return mcp_types.ElicitResult(action="accept")

    async with client_of(keyless, elicit, "auto") as client:
        said = await client.call_tool("search", {"query": "rank fusion", "backend": "brave"})
    assert (said.is_error, len(asked)) == (False, 1), said.content
    assert said.structured_content["backend"] == "brave"


def raw_call(place: Place, able: dict[str, Any]) -> dict[str, Any]:
    """Return what a search answers to a client with these capabilities, which is asked for nothing before."""
    process = place.start()
    hello = {"protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "web_search", "arguments": {"query": "rank fusion"}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
    ]
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert [answer["id"] for answer in answers] == [0, 1]
    result: dict[str, Any] = answers[1]["result"]
    return result


@pytest.mark.parametrize("able", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}], ids=str)
def test_a_client_that_opens_no_page_is_not_asked_for_a_key(keyless: Place, able: dict[str, Any]) -> None:
    assert "set BRAVE_API_KEY" in raw_call(keyless, able)["content"][0]["text"]


@pytest.mark.parametrize("able", [{}, {"elicitation": {"url": {}}}], ids=str)
def test_a_client_that_shows_no_form_is_not_asked_for_leave(place: Place, able: dict[str, Any]) -> None:
    place.variables["GROUNDWIRE_PERMISSION_CONFIRM"] = "web_search"
    assert not raw_call(place, able)["isError"]
