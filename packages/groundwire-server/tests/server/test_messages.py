"""Anthropic Messages through the proxy, with Anthropic's own SDK: its server tools are carried out here."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from components import heavy
from components.model_bodies import ADD
from components.model_bodies import anthropic as tool_of
from groundwire import Settings, Web
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn, script
from groundwire_server.openai.app import Proxy
from groundwire_server.openai.messages import sealed_pages
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

SEARCH = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
SEARCHING: Any = {"type": "web_search_20250305", "name": "web_search"}
FETCHING: Any = {"type": "web_fetch_20250910", "name": "web_fetch"}
QUESTION: Any = [{"role": "user", "content": "What is reciprocal rank fusion?"}]
Serve = Callable[..., Any]
pytestmark = pytest.mark.xdist_group(heavy.GROUP)


@pytest.fixture
async def serve(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def make(decide: Callable[[ScriptedRequest], Turn], **options: Any) -> tuple[Any, ModelServer]:
            models = world.add(ModelServer(decide, name="model"))
            web = await stack.enter_async_context(Web(settings()))
            proxy = Proxy(web, f"{models.url}/v1", **options)
            stack.push_async_callback(proxy.aclose)
            url = await stack.enter_async_context(serving(proxy.app))
            client = heavy.anthropic.AsyncAnthropic(base_url=url, api_key="the-key", max_retries=0, timeout=100)
            stack.push_async_callback(client.close)
            return client, models

        yield make


async def asked(client: Any, streamed: bool, messages: Any = QUESTION, **more: Any) -> Any:
    body = {"model": "m", "max_tokens": 99, "messages": messages, "tools": [SEARCHING], **more}
    if not streamed:
        return await client.messages.create(**body)
    async with client.messages.stream(**body) as stream:
        return await stream.get_final_message()


def citations(message: Any) -> list[tuple[str, list[str]]]:
    return [(one.text, [cite.url for cite in one.citations or ()]) for one in message.content if one.type == "text"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_search_is_made_and_cited_as_the_api_does(world: World, serve: Serve, streamed: bool) -> None:
    client, models = await serve(script(SEARCH, end=Say("It merges rankings [1], and more [2][3]. Not [9].")))
    message = await asked(client, streamed)
    use, result = message.content[:2]
    assert (use.type, use.name, use.input) == ("server_tool_use", "web_search", {"query": "reciprocal rank fusion"})
    assert (result.type, result.tool_use_id) == ("web_search_tool_result", use.id)
    wiki = world.site("articles").url + "/wiki/"
    found = [row.url for row in result.content]
    assert found[0] == wiki + "reciprocal-rank-fusion"
    assert citations(message) == [
        ("It merges rankings", [found[0]]),
        (", and more", found[1:3]),
        (". Not [9].", []),
    ]
    cited = message.content[2].citations[0]
    assert cited.type == "web_search_result_location"
    assert cited.cited_text
    assert cited.encrypted_index
    assert message.stop_reason == "end_turn"
    assert message.usage.server_tool_use.web_search_requests == 1
    assert message.usage.input_tokens == 2
    [first, second] = [json.loads(one.body) for one in models.requests]
    assert [tool["name"] for tool in first["tools"]] == ["web_search"]
    assert second["messages"][-1]["content"][0]["type"] == "tool_result"
    assert models.requests[0].headers["Authorization"] == "Bearer the-key"


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_next_turn_keeps_the_numbers(serve: Serve, streamed: bool) -> None:
    client, models = await serve(script(SEARCH, end=Say("It merges rankings [2].")))
    first = await asked(client, streamed)
    models.decide = lambda _: Say("As I said [2], and [1].")
    content = [block.to_dict() for block in first.content]
    follow = [*QUESTION, {"role": "assistant", "content": content}, {"role": "user", "content": "Sure?"}]
    second = await asked(client, streamed, follow)
    rows = [row.url for row in first.content[1].content]
    assert citations(second) == [("As I said", [rows[1]]), (", and", [rows[0]]), (".", [])]
    sent = json.loads(models.requests[-1].body)["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert sent[3]["content"][0] == {"type": "text", "text": "It merges rankings [2]"}
    assert rows[0] in sent[2]["content"][0]["content"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_tool_of_the_clients_own_and_a_pause(serve: Serve, streamed: bool) -> None:
    client, models = await serve(script((SEARCH, ScriptedCall("add", {"a": 1})), end=Say("Three [1].")))
    tools = [SEARCHING, tool_of("add", ADD)]
    first = await asked(client, streamed, tools=tools)
    assert [one.type for one in first.content] == ["tool_use", "server_tool_use", "web_search_tool_result"]
    assert first.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "3"}
    content = [block.to_dict() for block in first.content]
    follow = [*QUESTION, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
    second = await asked(client, streamed, follow, tools=tools)
    assert citations(second)[0][0] == "Three"
    sent = json.loads(models.requests[-1].body)["messages"]
    assert [one["type"] for one in sent[2]["content"]] == ["tool_result", "tool_result"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_its_limits_and_domains_hold(world: World, serve: Serve, streamed: bool) -> None:
    client, _ = await serve(script(SEARCH, SEARCH, end=Say("Enough.")), max_rounds=9)
    place = {"type": "approximate", "country": "DE"}
    limited = {**SEARCHING, "max_uses": 1, "user_location": place}
    message = await asked(client, streamed, tools=[limited])
    results = [one.content for one in message.content if one.type == "web_search_tool_result"]
    assert results[1].error_code == "max_uses_exceeded"
    assert message.usage.server_tool_use.web_search_requests == 1
    message = await asked(client, streamed, tools=[{**SEARCHING, "allowed_domains": ["nowhere.example"]}])
    assert message.content[1].content == []


async def test_a_pause_goes_on(serve: Serve) -> None:
    client, models = await serve(lambda _: SEARCH, max_rounds=2)
    first = await asked(client, streamed=False)
    assert first.stop_reason == "pause_turn"
    models.decide = lambda _: Say("Found [1].")
    content = [block.to_dict() for block in first.content]
    second = await asked(client, False, [*QUESTION, {"role": "assistant", "content": content}])
    assert citations(second)[0] == ("Found", [first.content[1].content[0].url])


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_page_is_fetched(world: World, serve: Serve, streamed: bool) -> None:
    page = world.site("articles").url + "/wiki/bm25"
    client, models = await serve(script(ScriptedCall("open_page", {"url": page}), end=Say("It ranks [1].")))
    message = await asked(client, streamed, tools=[FETCHING])
    use, result = message.content[:2]
    assert (use.name, use.input) == ("web_fetch", {"url": page})
    assert result.content.url == page
    assert "BM25" in result.content.content.source.data
    assert citations(message)[0] == ("It ranks", [page])
    assert message.usage.server_tool_use.web_fetch_requests == 1
    assert [tool["name"] for tool in json.loads(models.requests[0].body)["tools"]] == ["open_page"]


async def test_what_asks_for_no_server_tool_goes_on_as_it_is(serve: Serve) -> None:
    client, models = await serve(script(end=Say("Plain.")))
    message = await asked(client, False, tools=[tool_of("add", ADD)], metadata={"user_id": "u"})
    assert message.content[0].text == "Plain."
    sent = json.loads(models.requests[0].body)
    assert (sent["tools"], sent["metadata"]) == ([tool_of("add", ADD)], {"user_id": "u"})
    with pytest.raises(heavy.anthropic.APIStatusError):
        await client.messages.count_tokens(model="m", messages=QUESTION, tools=[SEARCHING])
    assert [tool["name"] for tool in json.loads(models.requests[-1].body)["tools"]] == ["web_search"]
    assert models.requests[-1].path == "/v1/messages/count_tokens"


@pytest.mark.req("B27")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("tools", [[], [SEARCHING], [SEARCHING, tool_of("add", ADD)]])
async def test_what_is_not_ours_passes_byte_for_byte(serve: Serve, streamed: bool, tools: list[Any]) -> None:
    """With a server tool or without: the model server's bytes, as long as nothing is searched for."""
    client, models = await serve(lambda _: ScriptedCall("add", {"a": 1}) if len(tools) > 1 else Say("Plain [1]."))
    body = {"model": "m", "max_tokens": 9, "messages": QUESTION, "tools": tools, "stream": streamed}
    path = "/v1/messages?beta=true"
    async with aiohttp.ClientSession() as http:
        async with http.post(str(client.base_url).rstrip("/") + path, json=body) as reply:
            through = await reply.read()
        async with http.post(models.url + path, data=models.requests[0].body) as reply:
            assert through.replace(b"msg_1", b"msg_2") == await reply.read()


async def test_text_is_streamed_as_it_comes(serve: Serve) -> None:
    client, models = await serve(script(SEARCH, end=Say("Never sent.")))
    words = ["It merges", " rankings [", "1", "]. More", " follows", " [2][9] `a[1", "]`."]
    events: list[Any] = [{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant"}}]
    events[0]["message"] |= {"model": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}
    events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for word in words:
        delta = {"type": "text_delta", "text": word}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}})
    data = "".join(
        f"event: {one['type']}\r\ndata: {json.dumps(one)}\r\n\r\n" for one in [*events, {"type": "message_stop"}]
    )
    answer = InjectedFault.status(200, data, "text/event-stream")
    models.fail(answer, when=lambda asked: b"tool_result" in asked.body)
    body: Any = {"model": "m", "max_tokens": 9, "messages": QUESTION, "tools": [SEARCHING]}
    async with client.messages.stream(**body) as stream:
        deltas = [event.delta async for event in stream if event.type == "content_block_delta"]
        message = await stream.get_final_message()
    came = [delta.text for delta in deltas if delta.type == "text_delta"]
    assert came == ["It merges", " rankings", ". More", " follows", "[9]", " `a[1]`."]
    rows = [row.url for row in message.content[1].content]
    assert citations(message) == [
        ("It merges rankings", [rows[0]]),
        (". More follows", [rows[1]]),
        ("[9] `a[1]`.", []),
    ]
    assert (message.stop_reason, message.usage.server_tool_use.web_search_requests) == ("end_turn", 1)


@pytest.mark.parametrize("tools", [[SEARCHING], []])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_server_without_this_api_is_named_as_the_reason(
    serve: Serve, tools: list[Any], streamed: bool
) -> None:
    """As a server that speaks OpenAI's API alone answers; a model that is not found is told as it came."""
    client, models = await serve(lambda _: Say("Hello."))
    models.fail(InjectedFault.status(404, '{"detail":"Not Found"}', "application/json"))
    with pytest.raises(heavy.anthropic.NotFoundError) as caught:
        await asked(client, streamed, tools=tools)
    said: Any = caught.value.body
    assert said["error"]["type"] == "not_found_error"
    assert "does not have Anthropic's Messages API" in said["error"]["message"]
    theirs = {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}, "request_id": "req_1"}
    models.fail(InjectedFault.status(404, json.dumps(theirs), "application/json"))
    with pytest.raises(heavy.anthropic.NotFoundError) as caught:
        await asked(client, streamed, tools=tools)
    assert caught.value.body == theirs


async def test_text_comes_before_a_citation_of_the_model_server(serve: Serve) -> None:
    """Also what waits for the next chunk, as it may begin a link or a marker."""
    client, models = await serve(script(end=Say("Never sent.")))
    citation: dict[str, Any] = {
        "type": "char_location",
        "cited_text": "So.",
        "document_index": 0,
        "document_title": "A",
    }
    citation |= {"start_char_index": 0, "end_char_index": 3}
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    message["usage"] = {"input_tokens": 1, "output_tokens": 1}
    place = {"type": "content_block_delta", "index": 0}
    events: list[Any] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {**place, "delta": {"type": "text_delta", "text": "So it is, in a[1"}},
        {**place, "delta": {"type": "citations_delta", "citation": citation}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    data = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    models.fail(InjectedFault.status(200, data, "text/event-stream"))
    body: Any = {"model": "m", "max_tokens": 9, "messages": QUESTION, "tools": [SEARCHING]}
    async with client.messages.stream(**body) as stream:
        deltas = [event.delta async for event in stream if event.type == "content_block_delta"]
        [block] = (await stream.get_final_message()).content
    assert [delta.type for delta in deltas] == ["text_delta", "text_delta", "citations_delta"]
    assert (block.text, len(block.citations)) == ("So it is, in a[1", 1)


def test_what_a_client_has_nested_too_deeply_is_no_page() -> None:
    sealed = base64.b64encode(b"[" * 100_000).decode()
    assert list(sealed_pages([{"encrypted_index": sealed}])) == []
