"""What the proxy adds nothing to reaches the client byte for byte, in both directions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

import aiohttp
import pytest

from components.model_bodies import ADD, chat, responses
from groundwire import Settings, Web
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

LIMITS = {"X-RateLimit-Remaining-Requests": "59", "X-Request-Id": "req_1", "OpenAI-Processing-Ms": "12"}
SEARCH = {"name": "web_search", "arguments": '{"query": "reciprocal rank fusion"}'}
USER = [{"role": "user", "content": "What?"}]


class Fixed(ModelServer):
    """A server that answers with these bytes, one after the other."""

    def __init__(self, *answers: bytes) -> None:
        super().__init__(name="fixed")
        self.answers = list(answers)

    def handle(self, request: Recorded) -> EmulatedResponse:
        body = self.answers.pop(0)
        kind = "application/json" if body.startswith(b"{") else "text/event-stream"
        return EmulatedResponse(body=body, content_type=kind, headers=LIMITS)


class Reply:
    """An answer as it came."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def chunks(self) -> list[dict[str, Any]]:
        lines = [line[6:] for line in self.body.decode().split("\n") if line.startswith("data: {")]
        return [json.loads(line) for line in lines]


Ask = Callable[..., Any]


@pytest.fixture
async def ask(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Ask]:
    """Ask a server through a proxy; the answer is the bytes."""
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(Web(settings()))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        added: list[ModelServer] = []

        async def send(models: ModelServer, path: str = "chat/completions", **body: Any) -> Reply:
            if models not in added:
                added.append(world.add(models))
            proxy = Proxy(web, f"{models.url}/v1")
            stack.push_async_callback(proxy.aclose)
            url = await stack.enter_async_context(serving(proxy.app))
            asked = {"model": "m", "messages": USER} if path == "chat/completions" else {"model": "m", "input": USER}
            sent = {key: value for key, value in (asked | body).items() if value is not None}
            async with http.post(f"{url}/v1/{path}", json=sent) as reply:
                return Reply(reply.status, reply.headers, await reply.read())

        yield send


async def test_a_name_in_a_path_stays_what_it_is(ask: Ask) -> None:
    models = Fixed(b"{}")
    assert (await ask(models, "files/a%20b%3Fc%23d:e")).body == b"{}"
    assert [request.path for request in models.requests] == ["/v1/files/a b?c#d:e"]


def stream(*deltas: dict[str, Any], finish: str = "stop", **more: Any) -> bytes:
    """Return a stream in a way of writing JSON that is none of Python's."""
    chunks: list[dict[str, Any]] = [{"index": 0, "delta": one, "finish_reason": None} for one in deltas]
    for chunk in chunks:
        if chunk["delta"].get("content"):
            chunk["logprobs"] = {"content": [{"token": chunk["delta"]["content"], "logprob": -0.25}]}
    chunks.append({"index": 0, "delta": {}, "finish_reason": finish})
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "x_unknown": {"é": 1e-7}}
    lines = [json.dumps({**head, "choices": [one]}, ensure_ascii=False, separators=(",", ": ")) for one in chunks]
    lines.append(json.dumps({**head, "choices": [], "timings": {"predicted_ms": 1.50}, **more}))
    return "".join(f"data: {line}\n\n" for line in lines).encode() + b"data: [DONE]\n\n"


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **more}
    told = {"id": "x", "object": "chat.completion", "choices": [choice], "timings": {"predicted_ms": 1.50}}
    return json.dumps({**told, "usage": {"total_tokens": 3, "cost": 0.5}}, separators=(", ", ":")).encode()


ANGLES = (
    "In the template write <tool_call> and <system> as they stand: the <div> tag, `<b>` in code, Vec<String>, "
    "it's a <b and x<y;\r<think>hm</think>\n```\n<p>\n```"
)
TEXT = (
    {"role": "assistant", "content": ""},
    {"reasoning_content": "Hm."},
    {"content": "Rank fusion"},
    {"content": "."},
)
CALL = {"id": "call_a1", "type": "function", "function": {"name": "add", "arguments": ""}}
CALLING = (
    {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CALL}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
)


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        (stream(*TEXT), {"stream": True}),
        (stream(*TEXT, usage={"total_tokens": 3}), {"stream": True, "stream_options": {"include_usage": True}}),
        (stream(*CALLING, finish="tool_calls"), {"stream": True, "tools": [chat("add", ADD)]}),
        (stream(*TEXT, finish="length"), {"stream": True, "model": None}),
        (stream(*TEXT), {"stream": True, "n": 2, "tools": [chat("add", ADD)], "tool_choice": "none"}),
        (whole({"content": "Rank fusion.", "reasoning": "Hm.", "x": [1]}, logprobs={"content": [1]}), {}),
        (whole({"content": None, "refusal": "No."}, finish="content_filter"), {}),
        (whole({"content": "", "tool_calls": [CALL]}, finish="tool_calls"), {"tools": [chat("add", ADD)]}),
        (whole({"content": "One."}), {"n": 2}),
        (whole({"content": ANGLES}), {}),
        (b'{"error":  {"message": "No.", "code":null}}', {"stream": True}),
    ],
)
async def test_what_is_not_ours_comes_back_byte_for_byte(ask: Ask, answer: bytes, more: dict[str, Any]) -> None:
    models = Fixed(answer)
    reply = await ask(models, **more)
    assert reply.body == answer
    assert {name: reply.headers.get(name) for name in LIMITS} == LIMITS or b'"error"' in answer
    sent = json.loads(models.requests[0].body)
    assert {key: sent.get(key) for key in more if key != "tools"} == {k: v for k, v in more.items() if k != "tools"}


async def test_unknown_fields_reach_the_model_server(ask: Ask) -> None:
    models = Fixed(whole({"content": "Yes."}))
    odd = {"min_p": 0.05, "chat_template_kwargs": {"enable_thinking": False}, "cache_prompt": None, "id_slot": 3}
    await ask(models, **odd)
    sent = json.loads(models.requests[0].body)
    assert {key: sent[key] for key in odd if odd[key] is not None} == {k: v for k, v in odd.items() if v is not None}
    assert set(sent) - set(odd) == {"model", "messages", "tools"}


@pytest.mark.parametrize("streamed", [False, True])
async def test_nothing_of_an_earlier_round_is_lost(ask: Ask, streamed: bool) -> None:
    call = {"id": "c1", "type": "function", "function": SEARCH}
    first: dict[str, Any] = {"content": "Let me look.", "reasoning_content": "Search?"}
    last: dict[str, Any] = {"content": "Found.", "reasoning_content": "Enough."}
    usage = {"total_tokens": 3, "cost": 0.5}
    if streamed:
        parts = [
            {"role": "assistant"},
            *({key: one} for key, one in first.items()),
            {"tool_calls": [{"index": 0, **call}]},
        ]
        ended = [{"role": "assistant"}, *({key: one} for key, one in last.items())]
        models = Fixed(stream(*parts, finish="tool_calls", usage=usage), stream(*ended, usage=usage))
        reply = await ask(models, stream=True, stream_options={"include_usage": True})
        deltas = [choice["delta"] for one in reply.chunks for choice in one["choices"]]
        odds = [
            row
            for one in reply.chunks
            for choice in one["choices"]
            for row in (choice.get("logprobs") or {}).get("content", ())
        ]
        message = {key: "".join(one.get(key) or "" for one in deltas) for key in first}
        [total] = [one["usage"] for one in reply.chunks if one.get("usage")]
        assert [one.get("role") for one in deltas].count("assistant") == 1
        assert not any("tool_calls" in one for one in deltas)
    else:
        tell: Any = {"logprobs": {"content": [1]}}
        models = Fixed(whole({**first, "tool_calls": [call]}, "tool_calls", **tell), whole(last, **tell))
        reply = await ask(models)
        body = json.loads(reply.body)
        message, odds, total = body["choices"][0]["message"], body["choices"][0]["logprobs"]["content"], body["usage"]
        assert body["timings"] == {"predicted_ms": 1.5}
    assert message["content"] == "Let me look.\n\nFound."
    assert message["reasoning_content"] == "Search?\n\nEnough."
    assert len(odds) == 2
    assert total == {"total_tokens": 6, "cost": 1.0}
    assert reply.headers["X-Request-Id"] == "req_1"


async def test_the_end_of_an_earlier_round_is_not_lost(ask: Ask) -> None:
    """As of servers that send the log probabilities of the last token with the finish reason."""
    call = {"id": "c1", "type": "function", "function": SEARCH}
    odds = {"content": [{"token": "</s>", "logprob": -0.5}]}
    calling = {"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls", "logprobs": odds}
    first = "".join(f"data: {json.dumps({'id': 'x', 'choices': [one]})}\n\n" for one in (calling, ended))
    reply = await ask(Fixed(first.encode() + b"data: [DONE]\n\n", stream({"content": "Found."})), stream=True)
    choices = [choice for one in reply.chunks for choice in one["choices"]]
    assert [choice["finish_reason"] for choice in choices if choice.get("logprobs") == odds] == [None]
    assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["stop"]


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_the_model_is_answered_that_it_has_no_such_tool(ask: Ask, path: str, streamed: bool) -> None:
    def decide(asked: ScriptedRequest) -> Any:
        return Say(f"Sorry. {asked.results[-1]}") if asked.results else ScriptedCall("browse", {"a": 1})

    models = ModelServer(decide, name="inventive", invents=True)
    reply = await ask(models, path, stream=streamed)
    assert reply.status == 200, reply.body
    assert b"call_0" not in reply.body
    told = json.loads(models.requests[-1].body)
    assert "There is no tool named 'browse'. Call one of: web_search, open_page." in json.dumps(told)
    mine = chat("add", ADD) if path == "chat/completions" else responses("add", ADD)
    reply = await ask(models, path, stream=streamed, tools=[mine])
    assert reply.status == 200, reply.body
    assert "Call one of: web_search, open_page, add." in json.dumps(json.loads(models.requests[-1].body))


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
async def test_a_failure_within_a_stream_comes_as_it_came(ask: Ask, path: str) -> None:
    failure = b'event: error\ndata: {"type": "error","error":{"message":"It broke.","code":7}}\n\n'
    failure = failure if path == "responses" else failure.partition(b"\n")[2]
    assert (await ask(Fixed(failure), path, stream=True)).body == failure


def requested(requests: Sequence[Recorded]) -> list[Any]:
    return [json.loads(one.body) for one in requests]


@pytest.mark.parametrize("streamed", [False, True])
async def test_responses_come_as_they_came(ask: Ask, streamed: bool) -> None:
    models = ModelServer(lambda _: ScriptedCall("add", {"a": 1}), name="plain")
    through = await ask(models, "responses", stream=streamed, tools=[responses("add", ADD)])
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{models.url}/v1/responses", json=requested(models.requests)[0]) as reply,
    ):
        direct = Reply(reply.status, reply.headers, await reply.read())
    ours = [line for line in direct.body.split(b"\n") if b"open_page" not in line]  # the events that repeat the tools
    theirs = [line for line in through.body.split(b"\n") if b'"tools"' not in line]
    assert theirs == ours


async def test_a_call_in_a_namespace_is_the_clients(ask: Ask) -> None:
    """As Codex declares tools: the name of the call is declared within another tool."""
    inner = {"type": "function", "name": "spawn", "parameters": {"type": "object"}}
    call = {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "spawn", "arguments": "{}"}
    whole = json.dumps({"id": "r", "object": "response", "status": "completed", "output": [call]}).encode()
    tools = [responses("add", ADD), {"type": "namespace", "name": "agents", "tools": [inner]}]
    assert (await ask(Fixed(whole), "responses", tools=tools)).body == whole


async def test_line_ends_and_comments_of_a_stream_stay(ask: Ask) -> None:
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]})
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    answer = f": ping\r\ndata:{chunk}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n".encode()
    assert (await ask(Fixed(answer), stream=True)).body == answer


@pytest.mark.parametrize("tools", [None, [chat("add", ADD)]])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_that_rules_out_calls_gets_no_tools_of_ours(ask: Ask, streamed: bool, tools: Any) -> None:
    """Their definitions would only lengthen the prompt, and change what the model says."""
    models = Fixed(stream(*TEXT) if streamed else whole({"content": "Yes."}))
    await ask(models, tool_choice="none", tools=tools, stream=streamed)
    [sent] = requested(models.requests)
    assert sent.get("tools") == tools
    assert sent.get("tool_choice") in ((None, "none") if tools is None else ("none",))


class Closing:
    """A server that closes a kept connection in the moment in which it is used again, and has not said so."""

    def __init__(self, requests: int = 1) -> None:
        self.connections = self.answered = 0
        self._requests = requests

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError):
            for _ in range(self._requests):
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                sizes = [line for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
                await reader.readexactly(int(sizes[0].split(b":")[1]))
                self.answered += 1
                body = whole({"content": "Yes."})
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                writer.write(head + body)
        await reader.read(1)
        writer.close()


async def test_a_connection_that_is_closed_when_it_is_used_again(settings: Any) -> None:
    """The client is told; no request is sent twice."""
    closing = Closing()
    async with await asyncio.start_server(closing, "127.0.0.1", 0) as server, Web(settings()) as web:
        host, port = server.sockets[0].getsockname()
        proxy = Proxy(web, f"http://{host}:{port}/v1")
        async with serving(proxy.app) as url, aiohttp.ClientSession() as http:
            statuses = []
            for _ in range(3):
                async with http.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": USER}) as reply:
                    statuses.append(reply.status)
            assert statuses == [200, 502, 200]
            assert closing.answered == closing.connections == 2
        await proxy.aclose()


async def test_connections_to_the_model_server_are_used_again(settings: Any) -> None:
    """Opening one takes longer than all that the proxy does for a request."""
    closing = Closing(requests=10)
    async with await asyncio.start_server(closing, "127.0.0.1", 0) as server, Web(settings()) as web:
        host, port = server.sockets[0].getsockname()
        proxy = Proxy(web, f"http://{host}:{port}/v1")
        async with serving(proxy.app) as url, aiohttp.ClientSession() as http:
            for _ in range(5):
                async with http.post(f"{url}/v1/chat/completions", json={"messages": USER}) as reply:
                    assert reply.status == 200
        await proxy.aclose()
    assert (closing.answered, closing.connections) == (5, 1)


def _part(arguments: Any = None, name: str | None = "web_search", **more: Any) -> dict[str, Any]:
    """Return a part of a call; what is not given is not sent."""
    function = {"name": name, "arguments": arguments}
    return {**more, "function": {key: value for key, value in function.items() if value is not None}}


FEES, HOURS = '{"query": "harbour fees"}', '{"query": "harbour hours \\\\\\"}\\\\"}'
ONE, BOTH = [FEES], [FEES, HOURS]
ODD_CALLS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "no index": ([_part("", id="a"), _part(FEES[:9], None), _part(FEES[9:], None)], ONE),
    "no index, two calls": ([_part(FEES, id="a"), _part(HOURS[:9], id="b"), _part(HOURS[9:], None)], BOTH),
    "two calls at one index": ([_part(FEES, index=0, id="a"), _part(HOURS, index=0, id="b")], BOTH),
    "two calls at one index, no ids": (
        [_part(FEES[:9], index=0), _part(FEES[9:], index=0), _part(HOURS[:9], index=0), _part(HOURS[9:], index=0)],
        BOTH,
    ),
    "arguments at another index": ([_part("", index=0, id="a"), _part(FEES, None, index=1)], ONE),
    "an empty object first": ([_part("{}", index=0, id="a"), _part(FEES, None, index=0)], ONE),
    "no id": ([_part(FEES, index=0)], ONE),
    "an empty id": ([_part(FEES[:9], index=0, id=""), _part(FEES[9:], None, index=0, id="")], ONE),
    "an object": ([_part(json.loads(FEES), index=0, id="a")], ONE),
    "an empty object, then an object": ([_part({}, id="a"), _part(json.loads(FEES), None)], ONE),
    "everything repeated": ([_part(FEES[:9], index=0, id="a"), _part(FEES[9:], index=0, id="a")], ONE),
    "another id each time": ([_part(FEES[:9], index=0, id="a"), _part(FEES[9:], index=0, id="b")], ONE),
    "an index from one": ([_part("", index=1, id="a"), _part(FEES, None, index=1)], ONE),
    "interleaved": (
        [
            _part("", index=0, id="a"),
            _part("", index=1, id="b"),
            _part(FEES, None, index=0),
            _part(HOURS, None, index=1),
        ],
        BOTH,
    ),
}

ODD_WAYS = [(name, True) for name in ODD_CALLS]
ODD_WAYS += [(name, False) for name, (parts, wanted) in ODD_CALLS.items() if len(parts) == len(wanted)]


def _is_well_formed(call: dict[str, Any]) -> bool:
    function = call["function"]
    return bool(call["id"]) and call["type"] == "function" and isinstance(function["arguments"], str)


@pytest.mark.req("B27")
@pytest.mark.parametrize(("name", "streamed"), ODD_WAYS)
async def test_a_call_in_odd_parts_is_made_once(world: World, ask: Ask, name: str, streamed: bool) -> None:
    parts, wanted = ODD_CALLS[name]
    first = stream(
        {"role": "assistant", "content": None}, *({"tool_calls": [one]} for one in parts), finish="tool_calls"
    )
    if not streamed:
        first = whole({"content": None, "tool_calls": parts}, finish="tool_calls")
    models = Fixed(first, stream({"content": "Ten euros."}) if streamed else whole({"content": "Ten euros."}))
    reply = await ask(models, stream=streamed)
    assert "Ten euros." in reply.body.decode()
    assert "tool_calls" not in reply.body.decode()
    _, turn, *results = json.loads(models.requests[1].body)["messages"]
    assert [json.loads(call["function"]["arguments"]) for call in turn["tool_calls"]] == list(map(json.loads, wanted))
    assert all(map(_is_well_formed, turn["tool_calls"]))
    assert [one["tool_call_id"] for one in results] == [call["id"] for call in turn["tool_calls"]]
    assert len({call["id"] for call in turn["tool_calls"]}) == len(wanted)
    assert len(world.searxng.requests) == len(wanted)


@pytest.mark.req("B27")
@pytest.mark.parametrize(("name", "streamed"), ODD_WAYS)
async def test_a_call_of_the_clients_in_odd_parts_comes_whole(ask: Ask, name: str, streamed: bool) -> None:
    parts, wanted = ODD_CALLS[name]
    named = json.loads(json.dumps(parts).replace("web_search", "add"))
    chunks = [{"tool_calls": [one]} for one in [*named, _part("{}", "add", id="last")]]
    answer = whole({"content": None, "tool_calls": [*named, _part("{}", "add", id="last")]}, finish="tool_calls")
    models = Fixed(stream(*chunks, finish="tool_calls") if streamed else answer)
    reply = await ask(models, stream=streamed, tools=[chat("add", ADD)])
    if not streamed:
        calls = dict(enumerate(json.loads(reply.body)["choices"][0]["message"]["tool_calls"]))
    else:
        calls = {}
        deltas = [one["choices"][0]["delta"] for one in reply.chunks if one["choices"]]
        for entry in (entry for delta in deltas for entry in delta.get("tool_calls", ())):
            known = calls.setdefault(entry["index"], {"id": entry.get("id"), "function": {"arguments": ""}})
            known["function"]["arguments"] += entry["function"].get("arguments") or ""
    assert [calls[place]["function"]["arguments"] for place in range(len(calls))] == [*wanted, "{}"]
    assert all(call["id"] for call in calls.values())


@pytest.mark.req("B27")
async def test_a_call_without_an_id_is_continued_by_the_one_made_up(ask: Ask) -> None:
    models = Fixed(
        stream({"tool_calls": [_part('{"a": 1}', "add", index=0)]}, finish="tool_calls"), stream({"content": "One."})
    )
    tools = [chat("add", ADD)]
    reply = await ask(models, stream=True, tools=tools)
    [call] = [
        entry for one in reply.chunks if one["choices"] for entry in one["choices"][0]["delta"].get("tool_calls", ())
    ]
    turn = {"role": "assistant", "content": None, "tool_calls": [{**call, "type": "function"}]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "1"}
    await ask(models, stream=True, tools=tools, messages=[*USER, turn, result])
    _, sent, told = json.loads(models.requests[1].body)["messages"]
    assert sent["tool_calls"][0]["id"] == told["tool_call_id"] == call["id"]


@pytest.mark.req("B27")
@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_what_loads_nothing_is_not_touched(ask: Ask, size: int) -> None:
    text = f"{ANGLES}\n\n![a](https://x.test/i.png)"
    parts = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    reply = await ask(Fixed(stream(*parts)), stream=True)
    deltas = [one["choices"][0]["delta"] for one in reply.chunks if one["choices"]]
    shown = f"{ANGLES}\n\n\\[a](https://x.test/i.png)"
    assert "".join(delta.get("content", "") for delta in deltas) == shown
