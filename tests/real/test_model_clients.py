"""Real clients of the proxy in front of the miniature model: the command lines of Claude Code and Codex, and litellm.

They are as they come from npm and PyPI, with no account, and know nothing but the proxy's address.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from components.environment import environment_with, npm_packages
from components.needs import needed
from groundwire import Settings, Web
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_ROOT = Path(__file__).resolve().parents[2]
_CLIENTS = ("@anthropic-ai/claude-code@2.1.332", "@openai/codex@0.171.0")
_LITELLM = ("litellm==1.110.2",)  # 1.82.7, 1.82.8 and 1.107.0 were compromised: never those
_QUESTION = "What is reciprocal rank fusion? Search the web."
_ANSWER = "It merges rankings [1]."
_GUIDE = (_ROOT / "docs/guides/proxy.md").read_text("utf-8")


def searching(asked: ScriptedRequest) -> Turn:
    """Do as a model that searches once, with the tool of its client if that has one, and then cites.

    Claude Code holds most of its tools back until the model asks for them.
    """
    if any("reciprocal-rank-fusion" in result for result in asked.results):
        return Say(_ANSWER)
    if name := next((name for name in ("WebSearch", "web_search") if name in asked.functions), ""):
        return ScriptedCall(name, _QUERY)
    return Say("There is no search.") if asked.results else ScriptedCall("ToolSearch", {"query": "select:WebSearch"})


_QUERY = {"query": "reciprocal rank fusion"}


def shown(program: str, url: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables and the options that the guide starts a client with."""
    found = re.search(rf"^\$ ((?:\w+=\S+ )*){program} (.*?)\n```", _GUIDE, re.MULTILINE | re.DOTALL)
    assert found
    before, after = (shlex.split(part.replace("\\\n", " ")) for part in found.groups())
    options = [word.replace("http://127.0.0.1:8790", url) for word in after]
    pairs = (word.replace("http://127.0.0.1:8790", url).partition("=") for word in before)
    return {name: value for name, _, value in pairs}, options


class Proxied:
    """A proxy in front of the miniature model."""

    def __init__(self, url: str, models: ModelServer, home: Path) -> None:
        self.url, self.models, self.home = url, models, home

    async def run(self, *command: str | Path, **environment: str) -> str:
        """Run a client in an empty home, and return what it printed."""
        work = self.home / "work"
        work.mkdir()
        process = await asyncio.create_subprocess_exec(
            *command,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **environment},
            cwd=work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(800):
            out, err = await process.communicate()
        assert process.returncode == 0, (out[-2_000:], err[-2_000:])
        return out.decode()

    def sent(self, path: str) -> list[Mapping[str, Any]]:
        """Return the requests to the model at a path."""
        return [json.loads(one.body) for one in self.models.requests if one.path.partition("?")[0] == path]


@pytest.fixture
async def proxied(world: World, settings: Callable[..., Settings], tmp_path: Path) -> AsyncIterator[Proxied]:
    async with AsyncExitStack() as stack:
        models = world.add(ModelServer(searching, name="model"))
        web = await stack.enter_async_context(Web(settings()))
        proxy = Proxy(web, f"{models.url}/v1")
        stack.push_async_callback(proxy.aclose)
        yield Proxied(await stack.enter_async_context(serving(proxy.app)), models, tmp_path)


@pytest.fixture(scope="module")
def claude(programs: Path) -> Path:
    """The command line of Claude Code, in the package for this platform."""
    (program,) = programs.glob("@anthropic-ai/claude-code-*/claude")
    return program


@pytest.fixture(scope="module")
def programs(say: Callable[[str], None]) -> Path:
    """The folder with the npm packages of both command lines, some 500 MB."""
    return needed(lambda: npm_packages(_ROOT / ".venv-model-clients", _CLIENTS, "about a minute", say))


async def test_claude_code_searches_through_the_proxy(proxied: Proxied, claude: Path) -> None:
    """Its tool WebSearch is a request of its own, with Anthropic's server tool, which the proxy carries out."""
    environment, given = shown("claude", proxied.url)
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    said = await proxied.run(
        *[str(claude), "-p", _QUESTION, "--allowedTools", "WebSearch", "--output-format", "json", *given],
        **quiet,
        **environment,
    )
    answer = json.loads(said)
    assert (answer["is_error"], answer["result"]) == (False, _ANSWER)
    assert [one["webSearchRequests"] for one in answer["modelUsage"].values()] == [1]
    first, chosen, inner, found, last = proxied.sent("/v1/messages")
    assert "WebSearch" not in {tool["name"] for tool in first["tools"]}
    assert {"type": "tool_reference", "tool_name": "WebSearch"} in chosen["messages"][-1]["content"][0]["content"]
    assert not any(str(tool.get("type", "")).startswith("web_search") for tool in inner["tools"]), "a local tool"
    assert "reciprocal-rank-fusion" in json.dumps(found["messages"][-1])
    result = json.dumps(last["messages"][-1])
    assert "Links: " in result, "what Claude Code makes of the blocks of a search"
    assert "/wiki/reciprocal-rank-fusion" in result
    assert len(chosen["tools"]) == len(last["tools"]) > 10


async def test_codex_searches_through_the_proxy(proxied: Proxied, programs: Path) -> None:
    _, given = shown("codex", proxied.url)
    said = await proxied.run(
        *[str(programs / ".bin" / "codex"), *given, "exec", "--skip-git-repo-check", "--json", _QUESTION],
        CODEX_HOME=str(proxied.home),
    )
    items = [row["item"] for row in map(json.loads, said.splitlines()) if row["type"] == "item.completed"]
    (search,) = [one for one in items if one["type"] == "web_search"]
    assert search["query"] == "reciprocal rank fusion"
    assert [one["text"] for one in items if one["type"] == "agent_message"] == [_ANSWER]
    first, second = proxied.sent("/v1/responses")
    assert [tool["type"] for tool in first["tools"] if tool.get("name") == "web_search"] == ["function"]
    assert "reciprocal-rank-fusion" in json.dumps(second["input"][-1])


_ASK = """
import asyncio, json, sys
import litellm
url, model, streamed = sys.argv[1], sys.argv[2], sys.argv[3] == "streamed"
async def main():
    asked = {"messages": [{"role": "user", "content": sys.argv[4]}], "api_base": url, "api_key": "the-key"}
    if model.startswith("anthropic/"):
        asked |= {"web_search_options": {}, "max_tokens": 99}
    made = await litellm.acompletion(model=model, stream=streamed, **asked)
    if streamed:
        made = litellm.stream_chunk_builder([chunk async for chunk in made])
    message = made.choices[0].message
    notes = [one["url_citation"]["url"] for one in getattr(message, "annotations", None) or ()]
    print(json.dumps({"text": message.content, "pages": notes}))
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def litellm(say: Callable[[str], None]) -> Path:
    """The interpreter of an environment with litellm."""
    return needed(lambda: environment_with(_ROOT / ".venv-litellm", _LITELLM, "about 20 s", say)) / "bin/python"


@pytest.mark.parametrize("streamed", ["whole", "streamed"])
@pytest.mark.parametrize(("model", "path"), [("openai/m", "/v1"), ("anthropic/m", ""), ("ollama_chat/m", "")])
async def test_litellm_searches_through_the_proxy(
    proxied: Proxied, litellm: Path, model: str, path: str, streamed: str
) -> None:
    said = await proxied.run(
        *(litellm, "-c", _ASK, proxied.url + path, model, streamed, _QUESTION), LITELLM_LOCAL_MODEL_COST_MAP="True"
    )
    answer = json.loads(said.splitlines()[-1])
    assert answer["text"].startswith("It merges rankings")
    if model == "openai/m":
        assert [url.rpartition("/")[2] for url in answer["pages"]] == ["reciprocal-rank-fusion"]
    assert any(b"/wiki/reciprocal-rank-fusion" in one.body for one in proxied.models.requests)
