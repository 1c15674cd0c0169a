"""Ollama's own API through the proxy, with Ollama's own SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from components import heavy
from components.model_bodies import ADD
from components.model_bodies import chat as tool_of
from groundwire import Settings, Web
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import Recorded
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn, script
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

SEARCH = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
ADDING = ScriptedCall("add", {"a": 1})
QUESTION: Any = [{"role": "user", "content": "What is reciprocal rank fusion?"}]
NO_TOOLS = b'{"error":"registry.ollama.ai/library/small:latest does not support tools"}'
Serve = Callable[..., Any]
pytestmark = [pytest.mark.xdist_group(heavy.GROUP), pytest.mark.req("B27")]


@pytest.fixture
async def serve(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Serve]:
    """Serve a proxy before a model server; give a client, the model server, and the proxy's address."""
    async with AsyncExitStack() as stack:

        async def make(decide: Callable[[ScriptedRequest], Turn], **server: Any) -> tuple[Any, ModelServer, str]:
            models = world.add(ModelServer(decide, name="model"))
            web = await stack.enter_async_context(Web(settings(server=server)))
            proxy = Proxy(web, f"{models.url}/v1")
            stack.push_async_callback(proxy.aclose)
            url = await stack.enter_async_context(serving(proxy.app))
            client = heavy.ollama.AsyncClient(host=url)
            stack.push_async_callback(client._client.aclose)
            return client, models, url

        yield make


async def chatted(client: Any, streamed: bool, messages: Any = QUESTION, **more: Any) -> dict[str, Any]:
    """Return the end of an answer, with the whole message."""
    if not streamed:
        return dict((await client.chat(model="small", messages=messages, **more)).model_dump(exclude_none=True))
    message: dict[str, Any] = {"content": "", "thinking": "", "tool_calls": []}
    async for part in await client.chat(model="small", messages=messages, stream=True, **more):
        made = part.model_dump(exclude_none=True)
        for name in message:
            message[name] += made["message"].get(name) or type(message[name])()
    assert made["done"]
    return {**made, "message": {"role": "assistant", **{name: value for name, value in message.items() if value}}}


async def posted(url: str, path: str, body: Any) -> tuple[int, Any, bytes]:
    async with aiohttp.ClientSession() as http, http.post(url + path, json=body) as reply:
        return reply.status, reply.headers, await reply.read()


def bodies(models: ModelServer) -> list[Any]:
    return [json.loads(one.body) for one in models.requests if one.body]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_search_is_made_and_cited(world: World, serve: Serve, streamed: bool) -> None:
    client, models, url = await serve(script(SEARCH, end=Say("It merges rankings [1], and more [2]. Not [9].")))
    options = {"num_ctx": 8192, "temperature": 0}
    answer = await chatted(client, streamed, think=True, options=options, keep_alive="5m")
    thought = "I think about it."
    assert answer["message"]["content"] == "It merges rankings [1], and more [2]. Not [9]."
    assert answer["message"]["thinking"] == f"{thought}\n\n{thought}"
    assert "tool_calls" not in answer["message"]
    assert (answer["done_reason"], answer["eval_count"], answer["total_duration"]) == ("stop", 2, 10_000_000)
    first, second = bodies(models)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["web_search", "open_page"]
    assert "Today is 20" in first["tools"][0]["function"]["description"]
    for sent in (first, second):
        assert (sent["options"], sent["think"], sent["keep_alive"]) == (options, True, "5m")
    assert second["messages"][-1]["tool_name"] == "web_search"
    _, _, data = await posted(url, "/api/chat", {"model": "small", "messages": QUESTION, "stream": streamed})
    notes = [one["url_citation"] for one in json.loads(data.splitlines()[-1])["message"]["annotations"]]
    wiki = world.site("articles").url + "/wiki/"
    assert [one["url"] for one in notes] == [wiki + "reciprocal-rank-fusion", wiki + "bm25"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_function_of_the_clients_own(serve: Serve, streamed: bool) -> None:
    client, models, _ = await serve(script(SEARCH, (SEARCH, ADDING), end=Say("Three [1].")))
    tools = [tool_of("add", ADD)]
    first = await chatted(client, streamed, tools=tools)
    [call] = first["message"]["tool_calls"]
    assert call["function"] == {"name": "add", "arguments": {"a": 1}}
    result = {"role": "tool", "tool_name": "add", "content": "3"}
    second = await chatted(client, streamed, [*QUESTION, first["message"], result], tools=tools)
    assert second["message"]["content"] == "Three [1]."
    sent = bodies(models)[-1]["messages"]
    assert [one.get("tool_name", one["role"]) for one in sent] == [
        *("user", "assistant", "web_search", "assistant", "web_search", "add")
    ]


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
@pytest.mark.parametrize("streamed", [False, True, None])
@pytest.mark.parametrize("said", ["text", "call", "failure"])
async def test_what_is_not_ours_passes_byte_for_byte(serve: Serve, path: str, streamed: bool | None, said: str) -> None:
    _, models, url = await serve(lambda _: ADDING if said == "call" and path == "/api/chat" else Say("Plain."))
    body: dict[str, Any] = {"model": "small", "messages": QUESTION, "prompt": "Hi", "tools": [tool_of("add", ADD)]}
    body |= {"think": "high"} if streamed is None else {"stream": streamed}
    if said == "failure":
        models.fail(InjectedFault.status(404, '{"error":"no such model"}'), times=None)
    through = await posted(url, path, body)
    direct = await posted(models.url, path, json.loads(models.requests[0].body))
    assert (through[0], through[2]) == (direct[0], direct[2])
    assert through[1]["Content-Type"] == direct[1]["Content-Type"]


async def test_its_other_endpoints_are_the_model_servers(serve: Serve) -> None:
    client, models, url = await serve(script(end=Say("It is.")))
    assert [one.model for one in (await client.list()).models] == ["small:latest"]
    assert (await client.show("small")).capabilities == ["completion", "tools"]
    assert (await client.ps()).models == []
    answer = await client.generate(model="small", prompt="What?", system="Be brief.", options={"seed": 1})
    assert (answer.response, answer.context) == ("It is.", [1, 2, 3])
    assert bodies(models)[-1] == {
        "model": "small",
        "prompt": "What?",
        "system": "Be brief.",
        "stream": False,
        "options": {"seed": 1},
    }
    assert (await posted(url, "/api/chat", {"model": "small"}))[0] == 400  # loads a model; the emulator has none
    assert json.loads(models.requests[-1].body) == {"model": "small"}


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_failure_in_mid_stream_and_failures_of_the_proxys_own(
    world: World, serve: Serve, streamed: bool
) -> None:
    client, models, url = await serve(script(SEARCH, end=Say("Done.")))
    models.fail(InjectedFault.status(200, '{"error":"out of memory"}\n', "application/x-ndjson"))
    with pytest.raises(heavy.ollama.ResponseError, match="out of memory"):
        await chatted(client, streamed)
    models.fail(InjectedFault.close())
    status, _, data = await posted(url, "/api/chat", {"model": "small", "messages": QUESTION, "stream": streamed})
    assert (status, list(json.loads(data))) == (502, ["error"])
    assert "ended its response early" in json.loads(data)["error"]
    status, _, data = await posted(url, "/api/chat", {"model": "small", "messages": {"role": "user"}})
    assert (status, list(json.loads(data))) == (400, ["error"])


def refusing(asked: Recorded) -> bool:
    return bool(json.loads(asked.body or b"{}").get("tools"))


async def test_a_model_without_tools_is_asked_plainly(serve: Serve) -> None:
    client, models, url = await serve(lambda _: Say("Plain."))
    models.fail(InjectedFault.status(400, NO_TOOLS.decode()), times=None, when=refusing)
    body = {"model": "small", "messages": QUESTION, "stream": False}
    status, headers, _ = await posted(url, "/api/chat", body)
    assert (status, headers["x-groundwire-search"]) == (200, "unsupported")
    assert bodies(models)[-1] == body
    assert (await chatted(client, True))["message"]["content"] == "Plain."


async def test_the_health_is_that_of_the_model_server(world: World, serve: Serve) -> None:
    _, models, url = await serve(lambda _: Say("Plain."))
    models.fail(InjectedFault.status(503, '{"error":  {"message": "Loading model"}}'))
    async with aiohttp.ClientSession() as http:
        async with http.get(f"{url}/health") as reply:
            assert (reply.status, await reply.read()) == (503, b'{"error":  {"message": "Loading model"}}')
        assert models.requests[-1].path == "/health"
        models.fail(InjectedFault.close(), times=None)
        async with http.get(f"{url}/health") as reply:
            assert (reply.status, (await reply.json())["error"]["code"]) == (502, "upstream_broken")
