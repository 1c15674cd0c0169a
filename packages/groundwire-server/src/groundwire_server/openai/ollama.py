"""Ollama's API (https://docs.ollama.com/api): newline-delimited JSON, results named by tool, metrics per response.

Citations are in the message's `annotations`, in OpenAI's format. Unchanged lines are forwarded byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import aiohttp
from starlette.responses import Response

from groundwire.agent_loop import LoopEvent, Run
from groundwire.agent_loop.citation_ledger import citations_in
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.settings import Settings
from groundwire_server.client_disconnect import Outbox
from groundwire_server.openai.handler import CompletionHandler, HandlerContext, NoTools
from groundwire_server.openai.prompts import added_up
from groundwire_server.openai.upstream import UpstreamAnswer, passed_back
from groundwire_server.request_json import UpstreamRejected, broken, write_json

__all__ = ["OllamaChatHandler", "OllamaGenerateHandler"]

_BETWEEN = "\n\n"  # the texts of two rounds
_TEXTS = ("content", "thinking")
_FIGURES = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
_LARGEST = 64_000_000  # bytes of one line


class OllamaChatHandler(CompletionHandler):
    """A request to `/api/chat`."""

    api = "ollama"
    path = "/api/chat"
    media_type: ClassVar[str] = "application/x-ndjson"
    has_own_errors: ClassVar[bool] = True

    def __init__(self, *args: Any) -> None:
        self._head: dict[str, Any] = {}
        self._whole: UpstreamAnswer | None = None  # the last answer that came whole
        self._end: tuple[dict[str, Any], dict[str, Any], bytes] = ({}, {}, b"")  # of a round: as it came, its message
        self._figures: dict[str, Any] = {}  # of the rounds before this one
        self._said: dict[str, str] = {}  # the texts of all rounds
        self._begun: set[str] = set()  # those that this round has begun
        self._calls: list[Any] = []  # the client's
        self._failure = b""
        super().__init__(*args)

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether there is anything to answer: without messages, the model is only loaded or unloaded."""
        return bool(body.get("messages"))

    @classmethod
    def error(cls, message: str, status: int = 400, *, kind: str = "", param: str = "") -> bytes:
        """Return an error in Ollama's format."""
        return json.dumps({"error": message}).encode()

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream, which is the default."""
        return self.given.get("stream") is not False

    def idle(self) -> bytes:
        """Return an empty chunk: the format has no comments."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        head = self._head or {"model": self.model, "created_at": now}
        return _line(self._with({**head, "done": False}, {"role": "assistant", "content": ""}))

    async def restored(self) -> list[Any]:
        """Return the messages; an assistant message of a stored run is replaced by the whole run."""
        made, self.run = await self.conversations.restored(self.sent)
        return made

    def answered(self) -> list[str]:
        """Return the text."""
        return [text] if (text := self._said.get("content")) else []

    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Request a whole response."""
        self._begin()
        self._whole = await self.context.upstream.post(self.target, self.headers, self._request(body, stream=False))
        if self._whole.value.get("error"):
            raise UpstreamRejected(502, self._whole.data, self._whole.headers, is_upstreams=True)
        return self._take(self._whole.value, self._whole.data, self._message(self._whole.value))

    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Request a stream, and forward its lines without local calls and without the end."""
        if said := {name: text for name in _TEXTS if (text := self._end[1].get(name))}:
            await self._send(said, outbox)
        self._begin()
        message: dict[str, Any] = {"role": "assistant"}
        data = write_json(self._request(body, stream=True))
        async with self.context.upstream.ask("POST", self.target, self.headers, data) as response:
            if response.status >= 300:
                await self.context.upstream.whole(response)
            outbox.headers |= passed_back(response.headers)
            async for line in _lines(response):
                value = self._parsed(line)
                if value.get("error"):
                    self._failure = line
                    await outbox.put(b"")  # the failure is a line, as it came
                    raise UpstreamRejected(502, line, is_upstreams=True)
                for name, given in self._message(value).items():
                    text = isinstance(given, str) and name in _TEXTS
                    listed = isinstance(given, list) and isinstance(message.get(name), list)
                    message[name] = (
                        message.get(name, "") + given if text else message[name] + given if listed else given
                    )
                if value.get("done"):
                    return self._take(value, line, message)
                await self._pass(value, line, outbox)
        raise broken("ended its response early")

    def told(self, event: LoopEvent) -> None:
        """Ollama's format has no local calls."""

    def whole(self, run: Run) -> Response:
        """Return one response."""
        value, message, data = self._end
        answer = self._whole
        message = dict(message)
        for name, text in self._said.items():
            message[name] = text
        if not self._said.get("content") and run.stop not in ("answered", "calls"):
            message["content"] = run.reason
        if self._calls:
            message["tool_calls"] = self._calls
        made = self._ended(value, message, run)
        return Response(data if made == value else json.dumps(made), headers=dict(answer.headers if answer else {}))

    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the end."""
        value, message, data = self._end
        if not self._said.get("content") and run.stop not in ("answered", "calls"):
            message = {**message, "content": run.reason}
        made = self._ended(value, message, run)
        await outbox.put(data if made == value else _line(made))

    def failed(self, error: UpstreamRejected) -> bytes:
        """Return a failure in the format of Ollama's streams."""
        return self._failure or _line({"error": error.message()})

    def _message(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the message of a response or a chunk."""
        message = value.get("message")
        return message if isinstance(message, dict) else {}

    def _with(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
        """Return a response with another message."""
        return {**value, "message": message}

    def _request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """Return a request in which local results have the name of their tool."""
        made: list[Any] = []
        calls: list[Any] = []
        for message in body["messages"]:
            role = message.get("role") if isinstance(message, Mapping) else None
            if role == "assistant":
                calls = [call for call in message.get("tool_calls") or () if self.is_ours(_name(call))]
            elif role == "tool" and calls and "tool_call_id" in message and not message.get("tool_name"):
                call = calls.pop(0)
                message = {"role": "tool", "tool_name": _name(call), "content": message["content"]}
                message |= {"tool_call_id": call["id"]} if call.get("id") else {}
            made.append(message)
        return {**body, "messages": made, "stream": stream}

    def _begin(self) -> None:
        """Add up the previous round, and start another."""
        figures = {name: self._end[0][name] for name in _FIGURES if name in self._end[0]}
        self._figures = added_up(self._figures, figures)
        self._end = ({}, {}, b"")
        self._filter = self.link_filter()
        self._begun = set()

    def _take(self, value: dict[str, Any], data: bytes, message: dict[str, Any]) -> HostedAnswer:
        """Take the end of a round, and return the model's response."""
        last = self._shown(self._message(value), ends=True)
        self._head = {name: value[name] for name in ("model", "created_at") if name in value}
        self._end = (value, last, data)
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": value.get("done_reason")}
        usage = {"prompt_tokens": value.get("prompt_eval_count"), "completion_tokens": value.get("eval_count")}
        choice["finish_reason"] = choice["finish_reason"] or "stop"
        body = {"model": value.get("model"), "choices": [choice], "usage": usage}
        answer = read_answer("ollama", body)
        # Clients send calls back without ids, so that a run is not to be found by them.
        return replace(answer, calls=tuple(replace(call, id="") for call in answer.calls))

    def _shown(self, message: dict[str, Any], *, ends: bool = False) -> dict[str, Any]:
        """Return a message for the client: without local calls, and separated from earlier rounds."""
        new = dict(message)
        if isinstance(calls := new.get("tool_calls"), list) and any(self.is_ours(_name(call)) for call in calls):
            new["tool_calls"] = [call for call in calls if not self.is_ours(_name(call))]
            if not new["tool_calls"]:
                del new["tool_calls"]
        self._calls += new.get("tool_calls") or ()
        if isinstance(text := new.get("content", ""), str):
            text = self._filter.feed(text) + (self._filter.close() if ends else "")
            new |= {"content": text} if text or "content" in new else {}
        for name in _TEXTS:
            text = new.get(name)
            if not isinstance(text, str):
                continue
            if text and name not in self._begun:
                self._begun.add(name)
                text = (_BETWEEN if self._said.get(name) else "") + text
            if text:
                self._said[name] = self._said.get(name, "") + text
            new[name] = text
        return new

    async def _pass(self, value: dict[str, Any], line: bytes, outbox: Outbox) -> None:
        """Forward a line, unchanged if possible."""
        self._head = {name: value[name] for name in ("model", "created_at") if name in value}
        message = self._message(value)
        new = self._shown(message)
        if new == message:
            await outbox.put(line)
        elif any(new.get(name) for name in (*_TEXTS, "tool_calls", "images")):
            await outbox.put(_line(self._with(value, new)))

    async def _send(self, message: Mapping[str, Any], outbox: Outbox) -> None:
        value = {**self._head, "done": False}
        await outbox.put(_line(self._with(value, {"role": "assistant", "content": "", **message})))

    def _ended(self, value: dict[str, Any], message: dict[str, Any], run: Run) -> dict[str, Any]:
        """Return the end of a response, with the metrics of all rounds and the citations."""
        if notes := self._annotations():
            message = {**message, "annotations": notes}
        made = self._with(value, message) if message != self._message(value) else dict(value)
        if self._figures:
            made |= added_up(self._figures, {name: value[name] for name in _FIGURES if name in value})
        if run.stop not in ("answered", "calls"):
            made["done_reason"] = "length"
        return made

    def _annotations(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "url_citation",
                "url_citation": {"url": one.url, "title": one.title, "start_index": one.start, "end_index": one.end},
            }
            for one in citations_in(self._said.get("content", ""), self.ledger)
        ]

    @staticmethod
    def _parsed(line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise broken("sent a line that is not a JSON object")
        return value


class OllamaGenerateHandler(OllamaChatHandler):
    """A request to `/api/generate`, which has no tools: the proxy searches first, or forwards it unchanged."""

    path = "/api/generate"

    def __init__(self, context: HandlerContext, body: dict[str, Any], *args: Any) -> None:
        prompt = {"role": "user", "content": str(body.get("prompt"))}
        super().__init__(context, {**body, "messages": [prompt]}, *args)

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether the proxy searches first: for a question, not for a text to complete."""
        prompt = body.get("prompt")
        asks = isinstance(prompt, str) and bool(prompt.strip()) and not any(body.get(name) for name in _COMPLETES)
        return asks and settings.server.search_first

    async def _run(self) -> Run:
        if not self.searched:
            raise NoTools
        return await super()._run()

    def _message(self, value: Mapping[str, Any]) -> dict[str, Any]:
        names = {"response": "content", "thinking": "thinking"}
        return {names[name]: text for name, text in value.items() if name in names}

    def _with(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
        names = {"content": "response", "thinking": "thinking", "annotations": "annotations"}
        return {**value, **{names[name]: text for name, text in message.items() if name in names}}

    def _request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        made = {name: value for name, value in body.items() if name != "messages"}
        return {**made, "prompt": body["messages"][-1]["content"], "stream": stream}


_COMPLETES: Final = ("raw", "suffix", "template", "context")  # with which a prompt is no question


def _name(call: object) -> object:
    function = call.get("function") if isinstance(call, Mapping) else None
    return function.get("name") if isinstance(function, Mapping) else None


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield the lines of a response that are not empty, unchanged.

    Raises:
        UpstreamRejected: one is too large.
    """
    held = bytearray()
    async for piece in response.content.iter_any():
        seen = len(held)
        held += piece
        while (end := held.find(b"\n", seen) + 1) > 0:
            line, seen = bytes(held[:end]), 0
            del held[:end]
            if line.strip():
                yield line
        if len(held) > _LARGEST:
            raise broken(f"sent a line of more than {_LARGEST:,} bytes")
    if held.strip():
        yield bytes(held)
