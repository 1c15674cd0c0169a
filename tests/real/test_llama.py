"""The proxy in front of llama.cpp's own server, with a model of 1 MB that is made here."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from components.environment import environment_with
from components.needs import needed
from components.processes import Program
from components.tiny_model import ANSWER, QUERY, write_model
from groundwire import Settings, Web
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World

pytestmark = pytest.mark.xdist_group("llama")

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("xllamacpp==2026.10.11549",)
_START = 100.0  # seconds
_SERVE = """
import signal, sys, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port, given.n_ctx = sys.argv[1], 0, 16_384
given.use_jinja, given.warmup, given.n_parallel, given.n_gpu_layers, given.cpuparams.n_threads = True, False, 1, 0, 1
server = xllamacpp.Server(given)
print("listening:", server.listening_address, flush=True)
signal.pause()
"""
_USER = [{"role": "user", "content": "What is rank fusion?"}]


@pytest.fixture(scope="module")
def llama(say: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    python = needed(lambda: environment_with(_ROOT / ".venv-llama", _PACKAGES, "about 20 s", say)) / "bin" / "python"
    folder = tmp_path_factory.mktemp("llama")
    write_model(folder / "tiny.gguf")
    log = folder / "log"
    program = Program("llama.cpp", [str(python), "-c", _SERVE, str(folder / "tiny.gguf")], env={}, log=log)
    try:
        needed(lambda: program.wait_until(lambda: "listening:" in log.read_text("utf-8", "replace"), _START))
        found = re.search(r"^listening: (\S+)$", log.read_text("utf-8", "replace"), re.MULTILINE)
        assert found
        yield found[1]
    finally:
        program.stop()


Post = Callable[..., Any]


@pytest.fixture
async def post(world: World, settings: Callable[..., Settings], llama: str) -> AsyncIterator[Post]:
    """Send a request through a proxy, or past it, and return the answer's bytes."""
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(Web(settings()))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        proxy = Proxy(web, f"{llama}/v1")
        stack.push_async_callback(proxy.aclose)
        url = await stack.enter_async_context(serving(proxy.app))

        async def send(path: str, body: dict[str, Any], *, direct: bool = False) -> bytes:
            async with http.post((llama if direct else url) + path, json={"model": "m", **body}) as reply:
                data = await reply.read()
                assert reply.status == 200, data
                return data

        yield send


class LlamaApi(NamedTuple):
    """One API of the server: its path, a request with web search, and one that needs none."""

    path: str
    searching: dict[str, Any]
    plain: dict[str, Any]


_TOOL = {"type": "web_search_20250305", "name": "web_search"}
APIS = {
    "chat": LlamaApi(
        "/v1/chat/completions",
        {"messages": _USER},
        {"messages": _USER, "tool_choice": "none", "logprobs": True},
    ),
    "responses": LlamaApi("/v1/responses", {"input": "What is rank fusion?"}, {}),
    "messages": LlamaApi(
        "/v1/messages", {"max_tokens": 99, "messages": _USER, "tools": [_TOOL]}, {"max_tokens": 99, "messages": _USER}
    ),
}


def spoken(data: bytes) -> str:
    """Return the text of an answer in any API, whole or streamed."""
    if data.startswith(b"{"):
        return "".join(re.findall(r'"(?:content|text)": ?"((?:[^"\\]|\\.)*)"', data.decode()))
    events = [json.loads(line[5:]) for line in data.split(b"\n") if line.startswith(b"data:") and b"[DONE]" not in line]
    deltas = [choice["delta"] for one in events for choice in one.get("choices", ())]
    deltas += [one["delta"] for one in events if isinstance(one.get("delta"), dict)]
    texts = [one.get("content") or one.get("text") or "" for one in deltas]
    return "".join([*texts, *(one["delta"] for one in events if isinstance(one.get("delta"), str))])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_it_searches_and_cites(world: World, post: Post, api: str, streamed: bool) -> None:
    data = await post(APIS[api].path, {**APIS[api].searching, "stream": streamed, "temperature": 0})
    page = world.site("articles").page("reciprocal-rank-fusion")
    assert page in data.decode(), data
    assert "Rank fusion merges lists" in spoken(data)
    assert ("tool_calls" in data.decode()) is False
    if api != "chat":
        assert QUERY in data.decode(), "the search is shown"
    else:
        assert spoken(data).strip() == ANSWER.strip()
        assert b'"timings"' in data


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ["chat", "messages"])
async def test_what_needs_no_search_is_as_the_server_said_it(post: Post, api: str, streamed: bool) -> None:
    """All but the random names, the clock, the measured times, and what of the prompt was still known."""
    body = {**APIS[api].plain, "stream": streamed, "temperature": 0, "cache_prompt": False}
    through, direct = [await post(APIS[api].path, body, direct=way) for way in (False, True)]
    varying = rb'"(id|created|\w+_ms|\w+_per_second|\w*cache\w*|input_tokens)":("[^"]*"|[\d.e+-]+)'
    assert re.sub(varying, b"", through) == re.sub(varying, b"", direct)
    # the server tells apart which tokens of the prompt it still knew; together they are the prompt
    counts = [re.findall(rb'"(?:cache_read_)?input_tokens":(\d+)', data) for data in (through, direct)]
    assert sum(map(int, counts[0])) == sum(map(int, counts[1]))
    assert spoken(through) == ANSWER
