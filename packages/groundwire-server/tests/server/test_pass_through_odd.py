"""Random answers with unknown fields reach the client byte for byte in every API; so do errors, and requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any, NamedTuple

import aiohttp
import pytest
from starlette.types import Receive, Scope, Send

from groundwire import Settings, Web
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire_server.auth.authentication import TENANT, Tenant
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

HEADERS = {"X-RateLimit-Remaining-Tokens": "59", "Request-Id": "req_1", "X-Unknown": "Yes"}
WORDS = ("Rank", " fusion", " merges", "\n", " lists", ".", " é", " 列", " 😀", "  ", " [", "]", " (1)", "`x`", " <b>")
PLAIN = tuple(word for word in WORDS if word.strip() and not {*word} & {*"[]<`."})
"""What never waits for the next chunk, as what may begin a link does."""
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    1e-7,
    12345678901234567890,
    "",
    "x",
    "é\u2028",
    "https://a.test/?b=c",
    [],
    {},
)


class OddAnswers(ModelServer):
    """Answers with the next bytes."""

    status, body, kind = 200, b"", "application/json"

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse(status=self.status, body=self.body, content_type=self.kind, headers=HEADERS)


class Odd:
    """Makes random JSON, written as none of Python's ways of writing it."""

    def __init__(self, chance: Random, words: Sequence[str] = WORDS) -> None:
        self.chance = chance
        self.words = words

    def value(self, depth: int = 2) -> Any:
        match self.chance.randrange(4) if depth else 0:
            case 1:
                return [self.value(depth - 1) for _ in range(self.chance.randrange(3))]
            case 2:
                return {f"k{number}": self.value(depth - 1) for number in range(self.chance.randrange(3))}
            case _:
                return self.chance.choice(ODD)

    def __call__(self, **known: Any) -> dict[str, Any]:
        """Return an object with these members and unknown ones, in any order."""
        members = [*known.items(), *((f"x_{number}", self.value()) for number in range(self.chance.randrange(3)))]
        self.chance.shuffle(members)
        return dict(members)

    def text(self) -> str:
        return "".join(self.chance.choices(self.words, k=self.chance.randrange(1, 6)))

    def written(self, value: Any) -> str:
        separators = self.chance.choice([(",", ":"), (", ", ":"), (" ,", " : ")])
        return json.dumps(value, ensure_ascii=self.chance.random() < 0.5, separators=separators)

    def events(self, data: list[dict[str, Any]], *, named: bool = False, end: str = "\n") -> bytes:
        """Return a stream of events."""
        lines = []
        for one in data:
            if self.chance.random() < 0.2:
                lines.append(f": {self.chance.choice(['', 'ping', 'é'])}{end}")
            space = self.chance.choice(["", " "])
            lines.append((f"event: {one['type']}{end}" if named else "") + f"data:{space}{self.written(one)}{end}{end}")
        return "".join(lines).encode()


def chat(odd: Odd, streamed: bool) -> bytes:
    think = odd.chance.choice(["reasoning", "reasoning_content", "thinking", "x_thought"])
    usage = odd(prompt_tokens=3, completion_tokens=4, total_tokens=7)
    if not streamed:
        message = odd(role="assistant", content=odd.text(), **{think: odd.text()})
        choice = odd(index=0, message=message, finish_reason="stop", logprobs=odd(content=[odd(token="x")]))
        return odd.written(odd(id="x", object="chat.completion", choices=[choice], usage=usage)).encode()
    deltas = [odd(role="assistant", content=""), *(odd(**{think: odd.text()}) for _ in range(2))]
    deltas += [odd(content=odd.text()) for _ in range(odd.chance.randrange(1, 5))]
    choices = [odd(index=0, delta=one, finish_reason=None) for one in deltas]
    choices.append(odd(index=0, delta=odd(), finish_reason=odd.chance.choice(["stop", "length", "content_filter"])))
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [odd(**head, choices=[one]) for one in choices]
    return odd.events([*chunks, odd(**head, choices=[], usage=usage, timings=odd.value())]) + b"data: [DONE]\n\n"


def messages(odd: Odd, streamed: bool) -> bytes:
    usage = odd(input_tokens=3, output_tokens=4)
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    blocks = [("thinking", "thinking", odd.text()), ("text", "text", odd.text()), ("text", "text", odd.text())]
    if not streamed:
        content = [odd(**{"type": kind, key: text}) for kind, key, text in blocks]
        content.append(odd(type="text", text=odd.text(), citations=[odd(type="char_location", cited_text=odd.text())]))
        return odd.written(odd(**head, content=content, stop_reason="end_turn", stop_sequence=None)).encode()
    events = [odd(type="message_start", message=odd(**head, content=[], stop_reason=None)), odd(type="ping")]
    for index, (kind, key, text) in enumerate(blocks):
        events.append(odd(type="content_block_start", index=index, content_block=odd(**{"type": kind, key: ""})))
        for piece in (text, odd.text()):
            delta = odd(**{"type": f"{kind}_delta", key: piece})
            events.append(odd(type="content_block_delta", index=index, delta=delta))
        if kind == "text":
            delta = odd(type="citations_delta", citation=odd(type="char_location", cited_text=odd.text()))
            events.append(odd(type="content_block_delta", index=index, delta=delta))
        events.append(odd(type="content_block_stop", index=index))
        if odd.chance.random() < 0.3:
            events.append(odd(type="x_unknown", index=index))
    delta = odd(stop_reason=odd.chance.choice(["end_turn", "max_tokens", "refusal"]), stop_sequence=None)
    events += [odd(type="message_delta", delta=delta, usage=odd(output_tokens=4)), odd(type="message_stop")]
    return odd.events(events, named=True)


def responses(odd: Odd, streamed: bool) -> bytes:
    part = odd(type="output_text", text=odd.text(), annotations=[])
    items = [
        odd(id="rs_1", type="reasoning", summary=[odd(type="summary_text", text=odd.text())]),
        odd(id="msg_1", type="message", role="assistant", status="completed", content=[part]),
    ]
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    usage = odd(input_tokens=3, output_tokens=4, total_tokens=7)
    whole = odd(**head, status="completed", output=items, usage=usage)
    if not streamed:
        return odd.written(whole).encode()
    made: list[dict[str, Any]] = [odd(type="response.created", response=odd(**head, status="in_progress", output=[]))]
    for index, item in enumerate(items):
        made.append(
            odd(type="response.output_item.added", output_index=index, item=odd(id=item["id"], type=item["type"]))
        )
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            empty = odd(type="output_text", text="", annotations=[])
            made.append(odd(type="response.content_part.added", **place, part=empty))
            made += [odd(type="response.output_text.delta", **place, delta=piece) for piece in _halves(part["text"])]
            made.append(odd(type="response.output_text.done", **place, text=part["text"]))
            made.append(odd(type="response.content_part.done", **place, part=part))
        made.append(odd(type="response.output_item.done", output_index=index, item=item))
    made.append(odd(type="response.completed", response=whole))
    return odd.events([{**one, "sequence_number": number} for number, one in enumerate(made)], named=True)


def _halves(text: str) -> Iterator[str]:
    yield from filter(None, (text[:2], text[2:]))


def ollama(odd: Odd, streamed: bool) -> bytes:
    ended = {"done": True, "done_reason": "stop", "total_duration": 5, "eval_count": 4, "prompt_eval_count": 3}
    said = [odd(role="assistant", content=odd.text(), thinking=odd.text()) for _ in range(4 if streamed else 1)]
    lines = [odd(model="m", created_at="2026-11-23T10:00:00Z", message=one, done=False) for one in said]
    if not streamed:
        return odd.written({**lines[0], **ended}).encode()
    last = odd(model="m", created_at="2026-11-23T10:00:01Z", message=odd(role="assistant", content=""), **ended)
    return "".join(odd.written(one) + "\n" for one in [*lines, last]).encode()


def gemini(odd: Odd, streamed: bool) -> bytes:
    usage = odd(promptTokenCount=3, candidatesTokenCount=4, totalTokenCount=7)
    made = []
    for last in (False, False, True) if streamed else (True,):
        parts = [odd(text=odd.text(), thought=True), odd(text=odd.text())]
        end = {"finishReason": odd.chance.choice(["STOP", "MAX_TOKENS"])} if last else {}
        candidate = odd(content=odd(role="model", parts=parts), index=0, safetyRatings=odd.value(), **end)
        made.append(odd(candidates=[candidate], usageMetadata=usage, modelVersion="m", responseId="r"))
    return odd.events(made, end="\r\n") if streamed else odd.written(made[0]).encode()


class OddApi(NamedTuple):
    """One API: its paths, whole and streamed, its request, and what makes answers."""

    path: tuple[str, str]
    body: dict[str, Any]
    answer: Callable[[Odd, bool], bytes]
    stream: str = "text/event-stream"


_USER = [{"role": "user", "content": "What?"}]
_SEARCH = {"type": "web_search_20250305", "name": "web_search"}
_GEMINI = {"contents": [{"role": "user", "parts": [{"text": "What?"}]}], "tools": [{"google_search": {}}]}
APIS = {
    "chat": OddApi(("/v1/chat/completions",) * 2, {"model": "m", "messages": _USER}, chat),
    "responses": OddApi(("/v1/responses",) * 2, {"model": "m", "input": "What?"}, responses),
    "messages": OddApi(
        ("/v1/messages",) * 2, {"model": "m", "max_tokens": 9, "messages": _USER, "tools": [_SEARCH]}, messages
    ),
    "ollama": OddApi(("/api/chat",) * 2, {"model": "m", "messages": _USER}, ollama, "application/x-ndjson"),
    "gemini": OddApi(
        ("/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"), _GEMINI, gemini
    ),
}

Ask = Callable[..., Any]


@pytest.fixture
async def ask(world: World, settings: Callable[..., Settings]) -> AsyncIterator[Ask]:
    """Send a request through one proxy to a server that gives this answer."""
    async with AsyncExitStack() as stack:
        models = OddAnswers(name="odd")
        world.add(models)
        web = await stack.enter_async_context(Web(settings()))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        proxy = Proxy(web, f"{models.url}/v1")
        stack.push_async_callback(proxy.aclose)
        url = await stack.enter_async_context(serving(proxy.app))

        async def send(
            api: str, answer: bytes, status: int = 200, *, streamed: bool, kind: str = "", **more: Any
        ) -> Any:
            kind = kind or (APIS[api].stream if streamed and status == 200 else "application/json")
            models.status, models.body, models.kind = status, answer, kind
            body = {**APIS[api].body, **({} if api == "gemini" else {"stream": streamed}), **more}
            async with http.post(url + APIS[api].path[streamed], json=body) as reply:
                return reply.status, reply.headers, await reply.read(), json.loads(models.requests[-1].body)

        yield send


def difference(got: bytes, want: bytes) -> tuple[bytes, ...]:
    """Return both from shortly before where they differ; nothing if they are equal."""
    if got == want:
        return ()
    at = next((at for at, pair in enumerate(zip(got, want, strict=False)) if len({*pair}) > 1), len(got))
    return tuple(one[max(0, at - 200) : at + 200] for one in (got, want))


@pytest.mark.req("B27")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_random_answers_come_as_they_were_sent(ask: Ask, api: str, streamed: bool) -> None:
    for seed in range(60):
        odd = Odd(Random(f"{api} {streamed} {seed}"), PLAIN if streamed else WORDS)
        answer = APIS[api].answer(odd, streamed)
        status, headers, body, _ = await ask(api, answer, streamed=streamed)
        assert (status, difference(body, answer)) == (200, ()), seed
        assert {name: headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_random_errors_and_requests_do_too(ask: Ask, api: str, streamed: bool) -> None:
    for seed in range(30):
        odd = Odd(Random(f"{api} {streamed} {seed}"))
        answer = odd.written(odd(type="error", error=odd(message="No.", code=odd.value()))).encode()
        code = odd.chance.choice([400, 401, 403, 404, 409, 422, 429, 500, 503, 529])
        fields = {f"x_{number}": odd.value() for number in range(3)} | {"temperature": 0.5, "metadata": {"a": "é"}}
        status, headers, body, sent = await ask(api, answer, code, streamed=streamed, **fields)
        assert (status, body) == (code, answer), seed
        assert {name: headers.get(name) for name in HEADERS} == HEADERS
        assert {name: sent.get(name) for name in fields} == fields


def mutated(value: Any, chance: Random) -> Any:
    """Return JSON with one of its values replaced by another kind of value."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
        return chance.choice([one for one in (*ODD, [[]], [None], {"type": []}) if type(one) is not type(value)])
    at = chance.choice([*value]) if isinstance(value, dict) else chance.randrange(len(value))
    return (
        {**value, at: mutated(value[at], chance)}
        if isinstance(value, dict)
        else [mutated(one, chance) if place == at else one for place, one in enumerate(value)]
    )


def mutated_answer(answer: bytes, chance: Random) -> bytes:
    """Return an answer, or a stream of them, of which one is not in its API's form."""
    lines = answer.splitlines(keepends=True)
    at = chance.choice([place for place, line in enumerate(lines) if b"{" in line])
    head, brace, rest = lines[at].partition(b"{")
    lines[at] = head + json.dumps(mutated(json.loads(brace + rest), chance)).encode() + b"\n"
    return b"".join(lines)


@pytest.mark.req("B27")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_an_answer_that_is_not_in_its_apis_form_is_passed_on_or_a_failure_in_that_form(
    ask: Ask, api: str, streamed: bool
) -> None:
    deep = b"[" * 100_000
    for seed in range(80):
        odd = Odd(Random(f"{api} {streamed} {seed}"), PLAIN)
        answer = mutated_answer(APIS[api].answer(odd, streamed), odd.chance) if seed else deep
        status, _, body, _ = await ask(api, answer, streamed=streamed)
        assert status in (200, 502), (seed, answer, body)
        if status == 502:
            assert json.loads(body)["error"], (seed, answer)


@pytest.mark.parametrize("api", ["chat", "messages"])
async def test_a_server_that_does_not_stream_is_said_to(ask: Ask, api: str) -> None:
    for answer in (b"<html>", b"[" * 100_000, b"[]", b"", b"{}", b'{"choices": []}'):
        status, _, body, _ = await ask(api, answer, streamed=True, kind="application/json")
        said = "did not stream its response" if answer.startswith(b"{") else "did not answer with"
        assert (status, said in json.loads(body)["error"]["message"]) == (502, True)


async def test_lines_are_a_stream_whatever_the_server_calls_them(ask: Ask) -> None:
    answer = ollama(Odd(Random(1), PLAIN), streamed=True)
    status, _, body, _ = await ask("ollama", answer, streamed=True, kind="application/json; charset=utf-8")
    assert (status, body) == (200, answer)


_CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
_USE = {"type": "server_tool_use", "id": "srvtoolu_gw_1", "name": "web_search", "input": {"query": "q"}}
_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_gw_1", "content": [{"encrypted_content": "x"}]}
_CITED = {"type": "text", "text": "So.", "citations": [{"encrypted_index": "x"}], "annotations": [{"url": "x"}]}
_PARTS = [{"text": "So."}, {"functionCall": {"name": "add", "args": {}}}]
HISTORIES: dict[str, list[Any]] = {
    "messages": [{"role": "assistant", "content": [_USE, _RESULT, _CITED]}],
    "input": [
        {"role": "assistant", "content": [_CITED]},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"type": "web_search_call", "id": "ws_gw_1"},
    ],
    "contents": [
        {"role": "model", "parts": _PARTS},
        {"role": "user", "parts": [{"functionResponse": {"name": "add"}}]},
    ],
    "chat": [{"role": "assistant", "content": "So.", "tool_calls": [_CALL]}, {"role": "tool", "tool_call_id": "c1"}],
}


@pytest.mark.parametrize("api", APIS)
async def test_a_history_that_is_not_in_its_apis_form_is_no_failure_of_the_proxy(ask: Ask, api: str) -> None:
    refusal = json.dumps({"type": "error", "error": {"message": "No."}}).encode()
    key = {"responses": "input", "gemini": "contents"}.get(api, "messages")
    for seed in range(120):
        chance = Random(f"{api} {seed}")
        history = HISTORIES["chat" if api in ("chat", "ollama") else key] + [{"role": "user", "content": "What?"}]
        more = {key: [mutated(one, chance) if chance.random() < 0.7 else one for one in history]}
        status, _, body, _ = await ask(api, refusal, 400, streamed=False, **more)
        assert status == 400, (more, body)
        assert json.loads(body)["error"]


@pytest.mark.parametrize("api", APIS)
async def test_a_tool_that_is_none_is_no_failure_of_the_proxy(ask: Ask, api: str) -> None:
    tools = [*APIS[api].body.get("tools", ()), None, "x"]
    status, _, body, _ = await ask(api, b'{"error": {"message": "No."}}', 400, streamed=False, tools=tools)
    assert (status, json.loads(body)["error"]) == (400, {"message": "No."})


@pytest.mark.parametrize("api", APIS)
async def test_a_failure_of_the_proxys_own_has_the_form_of_the_api(
    world: World, settings: Callable[..., Settings], api: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Tenant):
        def narrow(self, _: Web) -> Web:
            raise RuntimeError("a bug")

    tenant = Broken(id="one", key_id="k", name="one", operator=False, limits=KeyLimits())

    async def with_tenant(scope: Scope, receive: Receive, send: Send) -> None:
        await proxy.app({**scope, TENANT: tenant}, receive, send)

    async with AsyncExitStack() as stack:
        proxy = Proxy(await stack.enter_async_context(Web(settings())), f"{world.searxng.url}/v1")
        stack.push_async_callback(proxy.aclose)
        url = await stack.enter_async_context(serving(with_tenant))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        async with http.post(url + APIS[api].path[False], json=APIS[api].body) as reply:
            assert (reply.status, reply.headers["Content-Type"]) == (500, "application/json")
            body = await reply.read()
    assert "the reason is in its log" in str(json.loads(body)["error"])
    assert "a bug" in caplog.text
