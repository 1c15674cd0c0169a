"""The proxy with an unmodified openai client before it and a miniature model server behind it, all over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from components import heavy
from components.held import Held
from components.model_bodies import ADD, ENDED, chat, responses
from groundwire import Settings, Web
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn, script
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World, wait_until_idle, wire_faults
from world.model_apis import ModelServer

pytestmark = pytest.mark.xdist_group(heavy.GROUP)
QUESTION: Any = [{"role": "user", "content": "What is reciprocal rank fusion?"}]
SEARCH = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
ANSWER = "It merges rankings [1], and more [2][3]. Not [9]."
ADDING = ScriptedCall("add", {"a": 1, "b": 2})


@pytest.fixture
def models(world: World) -> ModelServer:
    return world.add(ModelServer(script(SEARCH, end=Say(ANSWER)), name="model"))


Serve = Callable[..., Any]


@pytest.fixture
async def serve(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Serve]:
    """Serve a proxy before a model server, and give an openai client of it."""
    async with AsyncExitStack() as stack:

        async def make(upstream: str, *, limit: int = 20, rules: Any = (), **options: Any) -> heavy.openai.AsyncOpenAI:
            sections = {"session": {"max_searches": limit, "warning_threshold": 1}, "permission": dict(rules)}
            web = await stack.enter_async_context(Web(settings(**sections)))
            proxy = Proxy(web, upstream, **options)
            stack.push_async_callback(proxy.aclose)
            url = await stack.enter_async_context(serving(proxy.app))
            client = heavy.openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="the-key", max_retries=0, timeout=100)
            stack.push_async_callback(client.close)
            return client

        yield make


def checked(text: str, annotations: list[Any]) -> list[tuple[str, str]]:
    """Return the marks of the annotations, and where they lead."""
    return [(text[one["start_index"] : one["end_index"]], one["url"]) for one in annotations]


@pytest.mark.req("B7")
@pytest.mark.parametrize("streamed", [False, True])
async def test_chat(world: World, models: ModelServer, serve: Serve, streamed: bool) -> None:
    client = await serve(f"{models.url}/v1")
    if streamed:
        options = {"include_usage": True}
        async with client.chat.completions.stream(model="m", messages=QUESTION, stream_options=options) as stream:
            deltas = [event.delta async for event in stream if event.type == "content.delta"]
            answer = await stream.get_final_completion()
        assert len(deltas) > 1
    else:
        answer = await client.chat.completions.create(model="m", messages=QUESTION)
    [choice] = answer.choices
    assert (choice.message.content, choice.finish_reason, choice.message.tool_calls) == (ANSWER, "stop", None)
    notes = [dict(one["url_citation"]) for one in choice.message.to_dict()["annotations"]]
    wiki = world.site("articles").url + "/wiki/"
    assert checked(ANSWER, notes) == [
        ("[1]", wiki + "reciprocal-rank-fusion"),
        ("[2]", wiki + "bm25"),
        ("[3]", wiki + "search-engines"),
    ]
    assert notes[0]["title"]
    assert answer.usage.total_tokens == 4
    first, second = (json.loads(one.body) for one in models.requests)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["web_search", "open_page"]
    assert [one["role"] for one in second["messages"]] == ["user", "assistant", "tool"]
    assert all(one.headers["Authorization"] == "Bearer the-key" for one in models.requests)


@pytest.mark.req("B7")
@pytest.mark.parametrize("streamed", [False, True])
async def test_responses(world: World, models: ModelServer, serve: Serve, streamed: bool) -> None:
    client = await serve(f"{models.url}/v1")
    request = {"model": "m", "input": "What is reciprocal rank fusion?", "tools": [{"type": "web_search"}]}
    kinds: list[str] = []
    if streamed:
        text = ""
        async with client.responses.stream(**request) as stream:
            async for event in stream:
                kinds.append(event.type)
                text += event.delta if event.type == "response.output_text.delta" else ""
            answer = await stream.get_final_response()
        assert text == ANSWER
        assert kinds.count("response.output_text.annotation.added") == 3
        assert "response.web_search_call.searching" in kinds
        assert kinds[0] == "response.created"
        assert kinds[-1] == "response.completed"
        assert not any("function_call" in kind for kind in kinds)
    else:
        answer = await client.responses.create(**request)
    assert answer.output_text == ANSWER
    call, message = answer.output
    assert (call.type, call.status, call.action.type, call.action.query) == (
        "web_search_call",
        "completed",
        "search",
        "reciprocal rank fusion",
    )
    assert len(call.action.sources) == 3
    notes = [one.to_dict() for one in message.content[0].annotations]
    assert [mark for mark, _ in checked(ANSWER, notes)] == ["[1]", "[2]", "[3]"]
    assert notes[0]["url"] == call.action.sources[0].url
    assert answer.usage.total_tokens == 4
    assert [tool.type for tool in answer.tools] == ["web_search"]
    last = f"resp_{len(models.requests)}"  # at the model server
    if streamed:
        assert answer.id == "resp_1"
    more = await client.responses.create(model="m", input="And then?", previous_response_id=answer.id)
    sent = [json.loads(one.body) for one in models.requests[2:]]
    assert [one["previous_response_id"] for one in sent] == [last] * len(sent)
    assert (more.previous_response_id, more.id != answer.id) == (answer.id, True)
    with pytest.raises(heavy.openai.BadRequestError):  # the emulator stores no responses
        await client.responses.retrieve(answer.id)
    assert models.requests[-1].path == f"/v1/responses/{last}"
    stranger = client.with_options(api_key="another-key")
    await stranger.responses.create(model="m", input="And then?", previous_response_id=answer.id)
    assert json.loads(models.requests[-1].body)["previous_response_id"] == answer.id
    follow = [{"role": "user", "content": "What?"}, *(item.to_dict() for item in answer.output), *QUESTION]
    assert (await client.responses.create(model="m", input=follow)).output_text
    assert "web_search_call" not in models.requests[-1].body.decode()


@pytest.mark.req("K6")
@pytest.mark.parametrize("streamed", [False, True])
async def test_chat_with_a_function_of_the_clients(models: ModelServer, serve: Serve, streamed: bool) -> None:
    models.decide = script(SEARCH, (SEARCH, ADDING), end=Say("Three [1]."))
    client = await serve(f"{models.url}/v1")
    request: dict[str, Any] = {"model": "m", "tools": [chat("add", ADD)]}

    async def ask(messages: list[Any]) -> Any:
        if not streamed:
            return (await client.chat.completions.create(messages=messages, **request)).choices[0]
        async with client.chat.completions.stream(messages=messages, **request) as stream:
            return (await stream.get_final_completion()).choices[0]

    choice = await ask(QUESTION)
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("add", {"a": 1, "b": 2})
    result = {"role": "tool", "tool_call_id": call.id, "content": "3"}
    again = await ask([*QUESTION, choice.message.to_dict(), result])
    assert again.message.content == "Three [1]."
    assert again.message.to_dict()["annotations"][0]["url_citation"]["url"].endswith("reciprocal-rank-fusion")
    sent = json.loads(models.requests[-1].body)["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    assert [one["tool_call_id"] for one in sent if one["role"] == "tool"] == ["call_0", "call_1", "call_2"]
    # Somebody else with the same ids but another conversation gets nothing of it.
    other = [{"role": "user", "content": "Another question"}, choice.message.to_dict(), result]
    await ask(other)
    assert [one["role"] for one in json.loads(models.requests[3].body)["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.req("K6")
@pytest.mark.parametrize("stateful", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_responses_with_a_function_of_the_clients(
    models: ModelServer, serve: Serve, streamed: bool, stateful: bool
) -> None:
    models.decide = script(SEARCH, (SEARCH, ADDING), end=Say("Three [1]."))
    client = await serve(f"{models.url}/v1")
    request: dict[str, Any] = {"model": "m", "tools": [responses("add", ADD)]}

    async def ask(**more: Any) -> Any:
        if not streamed:
            return await client.responses.create(**request, **more)
        async with client.responses.stream(**request, **more) as stream:
            return await stream.get_final_response()

    answer = await ask(input=QUESTION)
    assert [item.type for item in answer.output] == ["web_search_call", "web_search_call", "function_call"]
    output = {"type": "function_call_output", "call_id": answer.output[-1].call_id, "output": "3"}
    if stateful:
        models.decide = lambda asked: Say("Three [1].")
        again = await ask(input=[output], previous_response_id=answer.id)
        assert [one["call_id"] for one in json.loads(models.requests[-1].body)["input"]] == ["call_1", "call_2"]
    else:
        again = await ask(input=[*QUESTION, *(item.to_dict() for item in answer.output), output])
        kinds = [one.get("type", "message") for one in json.loads(models.requests[-1].body)["input"]]
        turn = ["function_call", "function_call_output"]
        assert kinds == ["message", *turn, "function_call", *turn, "function_call_output"]
    assert again.output_text == "Three [1]."
    assert again.output[-1].content[0].annotations[0].url.endswith("reciprocal-rank-fusion")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("status", "error"),
    [(401, "AuthenticationError"), (429, "RateLimitError"), (500, "InternalServerError")],
)
async def test_failures_of_the_model_server_pass_through(
    models: ModelServer, serve: Serve, api: str, streamed: bool, status: int, error: str
) -> None:
    body = json.dumps({"error": {"message": "No.", "type": "some_error", "code": "a_code", "param": None}})
    models.fail(InjectedFault.status(status, body, headers={"Retry-After": "7", "X-Request-Id": "r1"}))
    client = await serve(f"{models.url}/v1")
    with pytest.raises(getattr(heavy.openai, error)) as caught:
        await asked(client, api, streamed)
    assert (caught.value.status_code, caught.value.code) == (status, "a_code")
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.request_id == "r1"


async def asked(client: heavy.openai.AsyncOpenAI, api: str, streamed: bool) -> str:
    """Ask and return the text, whichever way."""
    if api == "chat":
        if not streamed:
            return str((await client.chat.completions.create(model="m", messages=QUESTION)).choices[0].message.content)
        chunks = await client.chat.completions.create(model="m", messages=QUESTION, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])
    if not streamed:
        return (await client.responses.create(model="m", input="What?")).output_text
    events = await client.responses.create(model="m", input="What?", stream=True)
    return "".join([event.delta async for event in events if event.type == "response.output_text.delta"])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_failure_after_the_search_reaches_the_client(
    models: ModelServer, serve: Serve, api: str, streamed: bool
) -> None:
    body = json.dumps({"error": {"message": "Overloaded.", "type": "overloaded"}})
    models.fail(InjectedFault.status(503, body), when=lambda asked: b"call_0" in asked.body)
    client = await serve(f"{models.url}/v1")
    with pytest.raises(heavy.openai.APIError, match="Overloaded"):
        await asked(client, api, streamed)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_broken_streams_are_failures(models: ModelServer, serve: Serve, api: str) -> None:
    client = await serve(f"{models.url}/v1")
    for fault in (
        InjectedFault.reply(
            "cut",
            lambda reply: EmulatedResponse(
                body=b"".join(reply.chunks() if reply.chunks else ())[:400], content_type="text/event-stream"
            ),
        ),
        InjectedFault.status(200, 'data: {"id": "x", "choices": [{"index\n\n', "text/event-stream"),
        InjectedFault.status(200, 'data: {"error": {"message": "It broke.", "type": "t"}}\n\n', "text/event-stream"),
        InjectedFault.close(),
        wire_faults.garbage(),
        InjectedFault.reset(after=0),
    ):
        models.fail(fault)
        with pytest.raises(heavy.openai.APIError):
            await asked(client, api, streamed=True)
    for fault in (
        InjectedFault.wrong_json(),
        InjectedFault.html_for_json(),
        InjectedFault.empty_body(),
        InjectedFault.close(),
    ):
        models.fail(fault)
        with pytest.raises(heavy.openai.APIStatusError) as caught:
            await asked(client, api, streamed=False)
        assert caught.value.status_code == 502
    assert await asked(client, api, streamed=True) == ANSWER


@pytest.mark.parametrize("streamed", [False, True])
async def test_nobody_behind_the_proxy(world: World, serve: Serve, streamed: bool) -> None:
    client = await serve(f"{world.closed_url}/v1")
    with pytest.raises(heavy.openai.InternalServerError, match="cannot be reached") as caught:
        await asked(client, "chat", streamed)
    assert (caught.value.status_code, caught.value.code) == (502, "upstream_unreachable")
    with pytest.raises(heavy.openai.InternalServerError, match="cannot be reached"):
        await client.models.list()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_silent_model_server_is_a_timeout(models: ModelServer, serve: Serve, api: str, streamed: bool) -> None:
    models.fail(InjectedFault.hang())
    client = await serve(f"{models.url}/v1", read_timeout=0.2)
    with pytest.raises(heavy.openai.InternalServerError, match="did not answer in time") as caught:
        await asked(client, api, streamed)
    assert caught.value.status_code == 504
    models.fail(InjectedFault.hang())
    client = await serve(f"{models.url}/v1", timeout=0.2)
    with pytest.raises(heavy.openai.InternalServerError, match="seconds of the run have passed"):
        await asked(client, api, streamed)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_that_leaves_ends_everything(
    world: World, models: ModelServer, serve: Serve, streamed: bool
) -> None:
    client = await serve(f"{models.url}/v1")
    models.fail(InjectedFault.hang())
    task = asyncio.create_task(asked(client, "chat", streamed))
    await asyncio.to_thread(models.wait_for_requests, 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.to_thread(wait_until_idle, models)
    models.forget()
    world.searxng.fail(InjectedFault.hang())
    task = asyncio.create_task(asked(client, "chat", streamed))
    await asyncio.to_thread(world.searxng.wait_for_requests, 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.to_thread(wait_until_idle, world.searxng)
    assert len(models.requests) == 1


async def test_thirty_two_conversations_at_once(models: ModelServer, serve: Serve) -> None:
    def decide(asked: ScriptedRequest) -> Turn:
        question = str(asked.body.get("messages", asked.body.get("input")))
        return Say(f"Answer to {question[:400].split('number ')[1].split('.')[0]} [1].") if asked.results else SEARCH

    models.decide = decide
    client = await serve(f"{models.url}/v1")

    async def one(number: int) -> None:
        question = f"Question number {number}."
        if number % 2:
            answer = await client.responses.create(model="m", input=question)
            text = answer.output_text
        else:
            stream = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": question}], stream=True
            )
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert text == f"Answer to {number} [1]."

    await asyncio.gather(*(one(number) for number in range(32)))
    assert len(models.requests) == 64


async def test_a_model_without_tools_is_asked_without_any(models: ModelServer, serve: Serve) -> None:
    body = json.dumps({"error": {"message": "m does not support tools", "type": "api_error"}})
    models.fail(InjectedFault.status(400, body), times=None, when=lambda asked: b'"tools"' in asked.body)
    models.decide = script(end=Say("From memory."))
    client = await serve(f"{models.url}/v1")
    raw = await client.chat.completions.with_raw_response.create(model="m", messages=QUESTION)
    assert raw.headers["x-groundwire-search"] == "unsupported"
    assert raw.parse().choices[0].message.content == "From memory."
    assert await asked(client, "chat", streamed=True) == "From memory."
    assert await asked(client, "responses", streamed=False) == "From memory."
    with pytest.raises(heavy.openai.BadRequestError, match="does not support tools"):
        await client.chat.completions.create(model="m", messages=QUESTION, tools=[chat("add", ADD)])


@pytest.mark.req("B44")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("model", "said"), [(ENDED, f"The maker of {ENDED} ended it on"), ("m", "")])
async def test_a_model_past_its_end_is_told_in_a_header(
    models: ModelServer, serve: Serve, model: str, said: str, streamed: bool
) -> None:
    client = await serve(f"{models.url}/v1")
    raw = await client.chat.completions.with_raw_response.create(model=model, messages=QUESTION, stream=streamed)
    assert raw.headers.get("x-groundwire-warning", "")[: len(said) or None] == said
    models.fail(InjectedFault.status(404, b'{"error": {"message": "The model does not exist"}}'))
    with pytest.raises(heavy.openai.NotFoundError) as caught:
        await client.chat.completions.create(model=model, messages=QUESTION, stream=streamed)
    assert caught.value.response.headers.get("x-groundwire-warning", "")[: len(said) or None] == said


async def test_the_budget_of_a_request(models: ModelServer, serve: Serve) -> None:
    client = await serve(f"{models.url}/v1", limit=1)
    for _ in range(2):
        assert await asked(client, "chat", streamed=False) == ANSWER
        assert "Search results for" in models.requests[-1].body.decode()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_model_that_never_answers(models: ModelServer, serve: Serve, api: str, streamed: bool) -> None:
    models.decide = lambda asked: SEARCH
    client = await serve(f"{models.url}/v1", max_rounds=3)
    text = await asked(client, api, streamed)
    assert ("did not finish within 3 rounds" in text) == (api == "chat")
    assert len(models.requests) == 3


async def test_text_before_a_call_is_kept_apart(models: ModelServer, serve: Serve, world: World) -> None:
    """Models often say what they are about to do; both ways of asking give the same text and marks that fit it."""
    models.handle = Preamble(models).handle  # type: ignore[method-assign]
    client = await serve(f"{models.url}/v1")
    for streamed in (False, True):
        assert await asked(client, "chat", streamed) == "Let me look.\n\nFound [1]."
    answer = await client.chat.completions.create(model="m", messages=QUESTION)
    [note] = answer.choices[0].message.annotations
    assert answer.choices[0].message.content[note.url_citation.start_index : note.url_citation.end_index] == "[1]"


class Preamble:
    """A server whose model speaks before it calls."""

    def __init__(self, models: ModelServer) -> None:
        self._url = models.url

    def handle(self, request: Recorded) -> EmulatedResponse:
        body: Any = request.json()
        function = {"name": "web_search", "arguments": json.dumps({"query": "reciprocal rank fusion"})}
        call = {"index": 0, "id": "c1", "type": "function", "function": function}
        message: dict[str, Any] = {"role": "assistant", "content": "Let me look.", "tool_calls": [call]}
        if any(one["role"] == "tool" for one in body["messages"]):
            message = {"role": "assistant", "content": "Found [1]."}
        head = {"id": "x", "created": 1, "model": "m", "object": "chat.completion"}
        if not body.get("stream"):
            return EmulatedResponse.json(
                {**head, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            )
        chunks = [{**head, "choices": [{"index": 0, "delta": message}]}]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        data = "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks) + "data: [DONE]\r\n\r\n"
        pieces = [data[at : at + 7].encode() for at in range(0, len(data), 7)]
        return EmulatedResponse(chunks=lambda: pieces, content_type="text/event-stream")


async def test_bad_requests(models: ModelServer, serve: Serve) -> None:
    client = await serve(f"{models.url}/v1")
    base = str(client.base_url)
    async with aiohttp.ClientSession() as session:
        for path, data, words in (
            ("chat/completions", "no json", "is not JSON"),
            ("chat/completions", "[1]", "is not an object"),
            ("chat/completions", '{"model": "m"}', "messages: is missing"),
            ("chat/completions", '{"model": "m", "messages": "x", "tools": 5}', "tools"),
            ("chat/completions", '{"model": "m", "messages": {"a": 1}}', "must be a list"),
            (
                "chat/completions",
                '{"model": "m", "messages": [{"role": "user"}], "n": 2, "web_search_options": {}}',
                "n: is not 1",
            ),
            ("responses", '{"model": "m"}', "input: is missing"),
        ):
            async with session.post(base + path, data=data) as reply:
                assert reply.status == 400, (path, data)
                assert words in (await reply.json())["error"]["message"]
        own = chat("web_search", {"type": "object", "properties": {"table": {}}, "required": ["table"]})
        body = {"model": "m", "messages": QUESTION, "tools": [own]}
        async with session.post(base + "chat/completions", json=body) as reply:
            assert "function of your own that is named web_search" in (await reply.json())["error"]["message"]
    assert models.requests == []


async def test_everything_else_is_passed_on(world: World, serve: Serve) -> None:
    class Listing(ModelServer):
        def handle(self, request: Recorded) -> EmulatedResponse:
            if request.path == "/v1/models":
                return EmulatedResponse.json(
                    {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x"}]}
                )
            return EmulatedResponse.json(
                {"method": request.method, "target": request.target, "body": request.body.decode()}
            )

    models = world.add(Listing(name="listing"))
    client = await serve(f"{models.url}/v1")
    assert [one.id async for one in client.models.list()] == ["m"]
    raw = await client.post("/embeddings?a=b", body={"input": "x"}, cast_to=object)
    assert raw == {"method": "POST", "target": "/v1/embeddings?a=b", "body": '{"input":"x"}'}


async def test_a_client_that_waits_hears_that_somebody_is_there(
    world: World, models: ModelServer, serve: Serve
) -> None:
    client = await serve(f"{models.url}/v1", keep_alive=0.05)
    held = Held()
    world.searxng.fail(held.fault)
    async with aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": QUESTION, "stream": True}
        async with session.post(f"{client.base_url}chat/completions", json=body) as reply:
            assert reply.content_type == "text/event-stream"
            await reply.content.readuntil(b": searching\n\n")
            held.release()
            text = await reply.text()
    assert text.endswith("data: [DONE]\n\n")


async def test_what_is_passed_on_ends_with_the_client(models: ModelServer, serve: Serve) -> None:
    client = await serve(f"{models.url}/v1")
    models.fail(wire_faults.endless(b"x" * 1_000))
    async with aiohttp.ClientSession() as session, session.get(f"{client.base_url}models") as reply:
        assert await reply.content.readexactly(5_000)
        assert reply.status == 400
        reply.close()
    await asyncio.to_thread(wait_until_idle, models)


async def test_usage_that_grows_from_chunk_to_chunk_is_counted_once(models: ModelServer, serve: Serve) -> None:
    def growing(reply: EmulatedResponse) -> EmulatedResponse:
        chunks = list(reply.chunks() if reply.chunks else ())
        told = [
            chunk.replace(b'"choices"', b'"usage": {"prompt_tokens": 5, "completion_tokens": %d}, "choices"' % number)
            for number, chunk in enumerate(chunks, 1)
        ]
        return EmulatedResponse(chunks=lambda: told, content_type="text/event-stream")

    models.decide = script(end=Say("Yes."))
    models.fail(InjectedFault.reply("growing", growing))
    client = await serve(f"{models.url}/v1")
    options: Any = {"include_usage": True}
    stream = await client.chat.completions.create(model="m", messages=QUESTION, stream=True, stream_options=options)
    usages = [chunk.usage async for chunk in stream if chunk.usage]
    assert [usage.completion_tokens for usage in usages] == [*range(1, len(usages)), 1]  # each as it came, none added


async def test_it_can_be_mounted(models: ModelServer, settings: Callable[..., Settings]) -> None:
    async with Web(settings()) as web:
        proxy = Proxy(web, f"{models.url}/v1", prefix="")
        app = Starlette(routes=[Mount("/openai/v1", app=proxy.app)])
        async with (
            serving(app) as url,
            heavy.openai.AsyncOpenAI(base_url=f"{url}/openai/v1", api_key="none", max_retries=0, timeout=100) as client,
        ):
            assert await asked(client, "chat", streamed=True) == ANSWER
            assert await asked(client, "responses", streamed=False) == ANSWER
            with pytest.raises(heavy.openai.BadRequestError, match="is not JSON"):
                await client.models.list()
        assert models.requests[-1].path == "/v1/models"
        await proxy.aclose()


@pytest.mark.req("K5")
@pytest.mark.parametrize("rules", [{"deny": ("web_search",)}, {"confirm": ("*",)}, {"default": "deny"}])
async def test_the_operators_rules_hold(models: ModelServer, serve: Serve, rules: dict[str, Any]) -> None:
    client = await serve(f"{models.url}/v1", rules=rules)
    assert await asked(client, "chat", streamed=False) == ANSWER
    assert "Permission denied: web_search was not called" in models.requests[-1].body.decode()


async def test_halves_of_a_sign_survive(models: ModelServer, serve: Serve) -> None:
    """Servers that cut a stream by tokens may cut a sign outside of Unicode's first plane in two."""
    head = '"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"'
    chunks = "".join(
        f'data: {{{head}, "choices": [{{"index": 0, "delta": {{"content": "{half}"}}, "finish_reason": {end}}}]}}\n\n'
        for half, end in ((r"\ud83d", "null"), (r"\ude00", '"stop"'))
    )
    models.fail(InjectedFault.status(200, chunks + "data: [DONE]\n\n", "text/event-stream"))
    client = await serve(f"{models.url}/v1")
    async with aiohttp.ClientSession() as session:
        body = {"model": "m", "messages": QUESTION, "stream": True}
        async with session.post(f"{client.base_url}chat/completions", json=body) as reply:
            text = await reply.text()
    assert text.index(r"\ud83d") < text.index(r"\ude00") < text.index("[DONE]")
