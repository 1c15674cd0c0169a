"""Gemini's generateContent through the proxy, with Google's own SDK: its search is carried out here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from components import heavy
from groundwire import Settings, Web
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn, script
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

SEARCH = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
QUESTION = "What is reciprocal rank fusion?"
ASKED: Any = {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]}
SEARCHING: Any = {"tools": [{"google_search": {}}]}
Serve = Callable[..., Any]
pytestmark = [
    pytest.mark.xdist_group(heavy.GROUP),
    pytest.mark.req("B27"),
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),  # the SDK's own
]


@pytest.fixture
async def serve(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Serve]:
    """Serve a proxy before a model server; give a client, the model server, and the proxy's address."""
    async with AsyncExitStack() as stack:

        async def make(decide: Callable[[ScriptedRequest], Turn], **options: Any) -> tuple[Any, ModelServer, str]:
            models = world.add(ModelServer(decide, name="model"))
            web = await stack.enter_async_context(Web(settings()))
            proxy = Proxy(web, f"{models.url}/v1beta/openai", **options)
            stack.push_async_callback(proxy.aclose)
            url = await stack.enter_async_context(serving(proxy.app))
            client = heavy.genai.Client(api_key="the-key", http_options={"base_url": url}).aio
            stack.push_async_callback(client.aclose)
            return client, models, url

        yield make


async def asked(client: Any, streamed: bool, contents: Any = QUESTION, **config: Any) -> tuple[str, Any, Any]:
    """Return the text, the last candidate, and the parts of all."""
    request = {"model": "gemini-3.8-flash", "contents": contents, "config": {**SEARCHING, **config}}
    if not streamed:
        answer = await client.models.generate_content(**request)
        return answer.text or "", answer.candidates[0], answer.candidates[0].content.parts
    text, last, parts = "", None, list[Any]()
    async for answer in await client.models.generate_content_stream(**request):
        last = answer.candidates[0]
        parts += (last.content and last.content.parts) or []
        text += answer.text or ""
    return text, last, parts


def supports(text: str, candidate: Any) -> list[tuple[str, list[str]]]:
    """Return the claims with the addresses that support them, read at their places."""
    about = candidate.grounding_metadata
    made = []
    for one in about.grounding_supports:
        segment = one.segment
        assert text.encode()[segment.start_index or 0 : segment.end_index].decode() == segment.text
        made.append((segment.text, [about.grounding_chunks[place].web.uri for place in one.grounding_chunk_indices]))
    return made


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_search_is_made_and_grounds_the_answer(world: World, serve: Serve, streamed: bool) -> None:
    said = "Früher nicht. It merges rankings [1], and more [2][3]. Not [9]. `x[1]`"
    client, models, _ = await serve(script(SEARCH, end=Say(said)))
    text, candidate, parts = await asked(client, streamed)
    assert text == said
    wiki = world.site("articles").url + "/wiki/"
    assert supports(text, candidate) == [
        ("It merges rankings", [wiki + "reciprocal-rank-fusion"]),
        ("and more", [wiki + "bm25", wiki + "search-engines"]),
    ]
    assert candidate.grounding_metadata.web_search_queries == ["reciprocal rank fusion"]
    assert candidate.grounding_metadata.grounding_chunks[0].web.title == "Reciprocal rank fusion"
    assert candidate.finish_reason == "STOP"
    assert not any(part.function_call for part in parts)
    first, second = (json.loads(one.body) for one in models.requests)
    assert [one["name"] for tool in first["tools"] for one in tool["functionDeclarations"]] == ["web_search"]
    assert "functionResponse" in second["contents"][-1]["parts"][0]
    assert models.requests[0].headers["x-goog-api-key"] == "the-key"


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_next_turn_cites_the_same_pages(serve: Serve, streamed: bool) -> None:
    client, models, _ = await serve(script(SEARCH, end=Say("It merges rankings [2].")))
    chat = client.chats.create(model="gemini-3.8-flash", config=SEARCHING)

    async def ask(text: str) -> Any:
        if not streamed:
            return (await chat.send_message(text)).candidates[0]
        return [answer.candidates[0] async for answer in await chat.send_message_stream(text)][-1]

    first = await ask(QUESTION)
    [[_, [page]]] = supports("It merges rankings [2].", first)
    models.decide = lambda _: Say("As I said [2].")
    assert supports("As I said [2].", await ask("Sure?")) == [("As I said", [page])]
    sent = json.loads(models.requests[-1].body)["contents"]
    assert "".join(part["text"] for one in sent[1:-1] for part in one["parts"]) == "It merges rankings [2]."


async def test_a_marker_that_a_client_divides_keeps_its_page(serve: Serve) -> None:
    client, models, _ = await serve(script(SEARCH, end=Say("It merges rankings [2].")))
    text, first, _ = await asked(client, False)
    models.decide = lambda _: Say("As I said [2].")
    pieces = [{"role": "model", "parts": [{"text": piece}]} for piece in ("It merges rankings [", "2].")]
    follow = [*ASKED["contents"], *pieces, {"role": "user", "parts": [{"text": "Sure?"}]}]
    again, second, _ = await asked(client, False, follow)
    assert [urls for _, urls in supports(again, second)] == [urls for _, urls in supports(text, first)]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_function_of_the_clients_own(serve: Serve, streamed: bool) -> None:
    client, models, _ = await serve(script((SEARCH, ScriptedCall("add", {"a": 1})), end=Say("Three [1].")))
    add = {"name": "add", "description": "Adds", "parameters_json_schema": {"type": "object"}}
    config = {
        "tools": [{"google_search": {}}, {"function_declarations": [add]}],
        "tool_config": {"include_server_side_tool_invocations": True},
    }
    _, candidate, parts = await asked(client, streamed, **config)
    [call] = [part.function_call for part in parts if part.function_call]
    assert (call.name, call.args) == ("add", {"a": 1})
    result = {"function_response": {"name": "add", "response": {"output": 3}}}
    follow = [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {"role": "model", "parts": [part.model_dump(exclude_none=True) for part in parts]},
        {"role": "user", "parts": [result]},
    ]
    text, candidate, _ = await asked(client, streamed, follow, **config)
    assert supports(text, candidate)[0][0] == "Three"
    sent = json.loads(models.requests[-1].body)["contents"]
    assert [one["role"] for one in sent] == ["user", "model", "user"]
    assert [part["functionResponse"]["name"] for part in sent[2]["parts"]] == ["web_search", "add"]
    assert len(sent[1]["parts"]) == 2


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_address_is_read(world: World, serve: Serve, streamed: bool) -> None:
    page = world.site("articles").url + "/wiki/bm25"
    client, models, _ = await serve(script(ScriptedCall("open_page", {"url": page}), end=Say("It ranks [1].")))
    text, candidate, _ = await asked(client, streamed, tools=[{"url_context": {}}])
    assert supports(text, candidate) == [("It ranks", [page])]
    [read] = candidate.url_context_metadata.url_metadata
    assert (read.retrieved_url, read.url_retrieval_status.value) == (page, "URL_RETRIEVAL_STATUS_SUCCESS")
    names = [
        one["name"] for tool in json.loads(models.requests[0].body)["tools"] for one in tool["functionDeclarations"]
    ]
    assert names == ["open_page"]


async def posted(url: str, path: str, body: Any) -> tuple[int, bytes]:
    async with aiohttp.ClientSession() as http, http.post(url + path, json=body) as reply:
        return reply.status, await reply.read()


@pytest.mark.parametrize("call", ["generateContent", "streamGenerateContent?alt=sse"])
@pytest.mark.parametrize("tools", [{}, SEARCHING])
@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_not_ours_passes_byte_for_byte(serve: Serve, call: str, tools: Any, fails: bool) -> None:
    _, models, url = await serve(lambda _: Say("Plain."))
    if fails:
        models.fail(InjectedFault.status(429, '{"error": {"code": 429,  "status": "RESOURCE_EXHAUSTED"}}'), times=None)
    path = f"/v1beta/models/gemini-3.8-flash:{call}"
    through = await posted(url, path, {**ASKED, **tools})
    assert through == await posted(models.url, path, json.loads(models.requests[0].body))


async def test_a_search_is_streamed_as_events_only(serve: Serve) -> None:
    _, models, url = await serve(lambda _: Say("Plain."))
    path = "/v1beta/models/gemini-3.8-flash:streamGenerateContent"
    status, body = await posted(url, path, {**ASKED, **SEARCHING})
    assert (status, "Add alt=sse" in json.loads(body)["error"]["message"], models.requests) == (400, True, [])
    assert (await posted(url, path, ASKED))[1] == (await posted(models.url, path, ASKED))[1]


async def test_failures_of_the_proxys_own_have_the_apis_form(serve: Serve) -> None:
    client, models, _ = await serve(script(SEARCH, end=Say("Done.")))
    models.fail(InjectedFault.close(), times=None)
    for streamed in (False, True):
        with pytest.raises(heavy.genai.errors.ServerError, match="ended its response early") as caught:
            await asked(client, streamed)
        assert (caught.value.code, caught.value.status) == (502, "UNAVAILABLE")
