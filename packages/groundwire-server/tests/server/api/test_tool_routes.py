"""Tools and hosted search for hosts that are not Python, over HTTP: documents 002 and 004."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.model_bodies import ENDED
from components.needs import needed, require, system_program
from groundwire.integrations.hosts.three_tiers import WEB_SEARCH_TOOL
from world import World

ROOT = Path(__file__).resolve().parents[5]
ASK = {"messages": [{"role": "user", "content": "Who merged the ranks?"}]}
HOSTED = {"type": "web_search_20250305", "name": "web_search"}


def lite(world: World) -> dict[str, Any]:
    """Settings by which DuckDuckGo's page for simple browsers is asked."""
    known = {"duckduckgo_lite": {"base_url": world.service("duckduckgo_lite").url}}
    return {"search": {"providers": tuple(known)}, "providers": known}


async def post(client: Any, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    async with client.post(path, json=body, headers=headers) as response:
        text = await response.text()
        return response.status, json.loads(text) if response.content_type == "application/json" else text


@pytest.mark.req("K6")
async def test_the_tool_search_has_its_stable_fields_over_http(gateway: Any, world: World) -> None:
    client = await (await gateway(**lite(world))).client()
    asked = {"query": "reciprocal rank fusion", "max_results": 2, "allowed_domains": ["127.0.0.1"]}
    status, body = await post(client, "/v1/tools/search", asked)
    assert (status, set(body), body["backend"]) == (200, {"query", "backend", "results"}, "ddg")
    assert [set(row) for row in body["results"]] == [{"title", "url", "snippet", "source"}] * 2
    status, body = await post(client, "/v1/tools/search", asked | {"backend": "brave"})
    assert (status, body["backend"], body["results"]) == (200, "brave", [])
    assert "BRAVE_SEARCH_API_KEY" in body["error"]


async def test_the_text_for_a_model_and_a_named_session(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    asked = {"query": "reciprocal rank fusion", "limit": 1}
    _, text = await post(client, "/v1/tools/web_search?session=run-1", asked, Accept="text/plain")
    assert text.startswith("Search results for: reciprocal rank fusion\n(Source: searxng)")
    assert "</web_content_" in text
    url = world.site("articles").page("reciprocal-rank-fusion")
    _, page = await post(client, "/v1/tools/open_page?session=run-1", {"url": url})
    assert (page["status"], page["citation_id"], page["title"]) == ("success", 1, "Reciprocal rank fusion")
    _, wrong = await post(client, "/v1/tools/open_page", {"url": "file:///etc/passwd"}, Accept="text/plain")
    assert wrong.startswith("The page could not be opened: ")


async def test_what_the_settings_deny_is_denied(gateway: Any) -> None:
    client = await (await gateway(permission={"deny": ("search",)})).client()
    _, body = await post(client, "/v1/tools/search", {"query": "rank fusion"})
    assert body["error"].startswith("Permission denied")


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/v1/tools/browse", {}, 404, "web_search, open_page, search"),
        ("/v1/tools/search", [], 400, "should be an object"),
        ("/v1/tools/search?session=a%20b", {}, 400, "session"),
        ("/v1/prepare", ASK, 400, "provider: is required"),
        ("/v1/prepare?provider=openai_chat&model=m", ASK | {"tools": 5}, 400, "tools must be a list"),
        ("/v1/prepare?provider=ollama&model=m&mode=native&tool=search", ASK, 422, "no hosted search"),
        ("/v1/resolve", {"provider": "openrouter", "model": "m", "mode": "native"}, 422, "openrouter cannot be used"),
    ],
)
async def test_bad_requests_are_told_what_to_do(gateway: Any, path: str, body: Any, status: int, said: str) -> None:
    client = await (await gateway()).client()
    got, answer = await post(client, path, body)
    assert got == status
    assert said in answer["error"]["message"]


@pytest.mark.req("K3")
async def test_who_searches_for_a_model(gateway: Any) -> None:
    client = await (await gateway(search={"native": {"providers": ("openai", "anthropic")}})).client()
    tools = {"openai": "web_search", "anthropic": "web_search_20250305", "openrouter": "", "moonshot": ""}
    for provider, tool in tools.items():
        _, made = await post(client, "/v1/resolve", {"provider": provider, "model": "claude-sonnet-5"})
        assert (made["provider"], made["path"], made["tool"]) == (provider, "native" if tool else "local", tool)
    _, made = await post(client, "/v1/resolve", {"provider": "openai", "model": "gpt-6.1-sol", "mode": "local"})
    assert (made["path"], made["reason"]) == ("local", "Groundwire searches: the search mode is local.")


async def test_one_way_to_search_is_put_into_a_request(gateway: Any) -> None:
    client = await (await gateway()).client()
    _, body = await post(client, "/v1/prepare?provider=openrouter&tool=search", ASK | {"model": "some/model"})
    assert [tool["function"]["name"] for tool in body.pop("tools")] == ["search"]
    assert body == ASK | {"model": "some/model"}
    large = ASK | {"model": "claude-sonnet-5", "max_tokens": 9, "metadata": {"note": "x" * 2_100_000}}
    target = "/v1/prepare?provider=anthropic&tool=search"
    data = io.BytesIO(json.dumps(large).encode())
    async with client.post(target, data=data, headers={"Content-Type": "application/json"}) as response:
        assert (response.status, await response.json()) == (
            200,
            large | {"tools": [HOSTED]},
        )


@pytest.mark.req("C2", "B28")
async def test_a_changed_model_is_told_in_a_header(gateway: Any) -> None:
    client = await (await gateway()).client()
    search = {"type": "function", "function": {"name": "web_search", "parameters": WEB_SEARCH_TOOL["input_schema"]}}
    asked = ASK | {"model": "gpt-6.2-sol", "tools": [search]}
    async with client.post("/v1/prepare?provider=openai", json=asked) as response:
        made = await response.json()
        assert (made["model"], "tools" in made) == ("gpt-5-search-api", False)
        assert "gpt-5-search-api only, which answers instead of gpt-6.2-sol" in response.headers["X-Groundwire-Warning"]
    async with client.post("/v1/prepare?provider=openai&tool=search", json=ASK | {"model": "gpt-6.2-sol"}) as response:
        made = await response.json()
        assert (made["model"], [tool["function"]["name"] for tool in made["tools"]]) == ("gpt-6.2-sol", ["search"])
        assert "X-Groundwire-Warning" not in response.headers
    odd = ASK | {"model": "größe\r\nX-Evil: 1", "tools": [search]}
    async with client.post("/v1/prepare?provider=openai", json=odd) as response:
        assert "instead of gr?e?X-Evil: 1" in response.headers["X-Groundwire-Warning"]
        assert "X-Evil" not in response.headers
    _, made = await post(client, "/v1/resolve", {"provider": "openai_chat", "model": "gpt-6.2-sol"})
    assert (made["path"], made["model"]) == ("local", "gpt-6.2-sol")
    assert "OpenAI Responses searches with gpt-6.2-sol itself" in made["reason"]
    _, made = await post(client, "/v1/resolve", {"provider": "openai_chat", "model": "gpt-6.2-sol", "mode": "native"})
    assert "answers instead of gpt-6.2-sol" in made["warnings"][0]
    _, made = await post(client, "/v1/resolve", {"provider": "openai", "model": ENDED})
    assert f"The maker of {ENDED} ended it on" in made["warnings"][0]


async def test_a_key_that_may_see_few_domains_takes_them_into_hosted_search(gateway: Any) -> None:
    served = await gateway(holders={"few": {"allowed_domains": ("example.com",)}})
    client = await served.holder("few")
    _, body = await post(client, "/v1/prepare?provider=anthropic&tool=search", ASK | {"model": "claude-sonnet-5"})
    assert body["tools"][0]["allowed_domains"] == ["example.com"]


async def test_the_guides_commands_work(gateway: Any) -> None:
    require("curl")
    served = await gateway()
    guide = (ROOT / "docs" / "guides" / "hosts.md").read_text("utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    commands = block.replace("http://127.0.0.1:8780", served.url).replace("\ncurl", "; echo; curl")
    shell = await asyncio.create_subprocess_shell(commands, stdout=asyncio.subprocess.PIPE)
    resolved, prepared, text = (await shell.communicate())[0].decode().split("\n", 2)
    assert json.loads(resolved)["path"] == "local"
    assert [tool["function"]["name"] for tool in json.loads(prepared)["tools"]] == ["search"]
    assert text.startswith("Search results for: reciprocal rank fusion")


@pytest.mark.req("B30")
async def test_a_host_in_c_calls_them(gateway: Any, world: World, tmp_path: Path) -> None:
    require("cc", "curl-config", "/usr/include/stdio.h")
    compiler, program = needed(lambda: system_program("cc")), tmp_path / "host"
    flags = ["-Wall", "-Wextra", "-Werror", "-o", str(program), str(ROOT / "examples" / "host.c"), "-lcurl"]
    await asyncio.to_thread(subprocess.run, [str(compiler), *flags], check=True)
    served = await gateway(holders={"host": {}}, **lite(world))

    async def run(*arguments: str, stdin: str = "", key: str = served.keys["host"]) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            program,
            served.url,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "GROUNDWIRE_KEY": key},
        )
        out, _ = await process.communicate(stdin.encode())
        return process.returncode, out.decode()

    asked = {"model": "claude-sonnet-5", "max_tokens": 9, **ASK, "tools": [dict(WEB_SEARCH_TOOL)]}
    code, out = await run("prepare", "anthropic", stdin=json.dumps(asked))
    assert (code, json.loads(out)["tools"]) == (0, [HOSTED])
    code, out = await run("prepare", "mlx", stdin=json.dumps(asked))
    assert [tool["function"]["name"] for tool in json.loads(out)["tools"]] == ["web_search"]
    code, out = await run("web_search", '{"query": "reciprocal rank fusion"}')
    assert code == 0
    assert out.startswith("Search results for: reciprocal rank fusion\n(Source: duckduckgo_lite)")
    code, out = await run("web_search", '{"query": "reciprocal rank fusion"}', key="gw_wrong")
    assert (code, json.loads(out)["error"]["code"]) == (1, "wrong_key")
