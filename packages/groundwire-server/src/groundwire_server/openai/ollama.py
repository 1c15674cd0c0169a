"""Ollama's API (https://docs.ollama.com/api): newline-delimited JSON, results named by tool, metrics per response.

Citations are in the message's `annotations`, in OpenAI's format. Unchanged lines are forwarded byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import aiohttp

from groundwire.agent_loop import Run
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of, parsed
from groundwire_server.error_body import Failed
from groundwire_server.openai.handler import PiecesHandler
from groundwire_server.openai.prompts import sum_usage
from groundwire_server.openai.upstream import UpstreamAnswer, broken
from groundwire_server.request_json import UpstreamRejected

_TEXTS = ("content", "thinking")
_METRICS = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
_MAX_LINE_BYTES = 64_000_000  # bytes of one line


class OllamaChatHandler(PiecesHandler):
    """A request to `/api/chat`."""

    api = "ollama"
    path = "/api/chat"
    media_type = "application/x-ndjson"
    streams_lines: ClassVar[bool] = True

    def __init__(self, *args: Any) -> None:
        self._last: dict[str, Any] = {}  # the last line
        super().__init__(*args)

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether there is anything to answer: without messages, the model is only loaded or unloaded."""
        return bool(body.get("messages"))

    @classmethod
    def error(cls, failure: Failed) -> dict[str, Any]:
        """Return an error in Ollama's format."""
        return {"error": failure.problem.message}

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream, which is the default."""
        return self.request.get("stream") is not False

    def idle(self) -> bytes:
        """Return an empty chunk: the format has no comments."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        return self._line(self._without_end(self._last or {"model": self.model, "created_at": now}))

    async def _begin_round(self) -> None:
        await super()._begin_round()
        self._received: dict[str, Any] = {"role": "assistant"}

    async def _events(self, response: aiohttp.ClientResponse) -> AsyncIterator[tuple[ServerSentEvent, dict[str, Any]]]:
        """Yield the lines of a stream with their values, up to the end of the response."""
        async for line in _lines(response):
            value = parsed(line)
            if not isinstance(value, dict):
                raise broken("sent a line that is not a JSON object")
            yield ServerSentEvent("", line.decode("utf-8", "replace"), line), value
            if value.get("done"):
                return

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take a whole response, which is the last line of a stream."""
        if answer.value.get("error"):
            raise UpstreamRejected(502, answer.data, answer.headers)
        self._received = self._content(answer.value)
        await self._forward(answer.value, answer.data, ends=True)
        return self._streamed_answer()

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        message, self._last = self._received, value
        for name, part in self._content(value).items():
            text = isinstance(part, str) and name in _TEXTS
            listed = isinstance(part, list) and isinstance(message.get(name), list)
            message[name] = message.get(name, "") + part if text else message[name] + part if listed else part
        await self._forward(value, event.raw, ends=self._ends(value))

    def _streamed_answer(self) -> HostedAnswer:
        if not self.tail:
            raise broken("ended its response early")
        value = self.tail[0][0]
        self.round_usage = {name: value[name] for name in _METRICS if name in value}
        message = {"role": "assistant", **self._received}
        choice = {"index": 0, "message": message, "finish_reason": value.get("done_reason") or "stop"}
        usage = {"prompt_tokens": value.get("prompt_eval_count"), "completion_tokens": value.get("eval_count")}
        answer = read_answer("ollama", {"model": value.get("model"), "choices": [choice], "usage": usage})
        # Clients send calls back without ids, so that a run is not to be found by them.
        return replace(answer, calls=tuple(replace(call, id="") for call in answer.calls))

    def _response(self, run: Run) -> dict[str, Any]:
        value = self.tail[0][0]
        message = {**self._content(value), **self.texts}
        if calls := [call for content in self.contents for call in content.get("tool_calls") or ()]:
            message["tool_calls"] = calls
        return self._last_piece(self._with_content(value, message) if message else value, run)

    def _content(self, value: dict[str, Any]) -> dict[str, Any]:
        return object_of(value.get("message"))

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        return {**value, "message": content}

    def _ends(self, value: dict[str, Any]) -> bool:
        return bool(value.get("done"))

    def _says(self, value: dict[str, Any]) -> bool:
        return any(self._content(value).get(name) for name in (*_TEXTS, "tool_calls", "images"))

    def _without_end(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a line with the texts of the last one; its calls are the proxy's."""
        head: dict[str, Any] = {name: value[name] for name in ("model", "created_at") if name in value}
        texts = {name: text for name in _TEXTS if (text := self._content(value).get(name))}
        return self._with_content({**head, "done": False}, {"role": "assistant", "content": "", **texts})

    def _line(self, value: dict[str, Any]) -> bytes:
        return json.dumps(value).encode() + b"\n"

    def _model_request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """Return a request in which local results have the name of their tool."""
        messages: list[Any] = []
        calls: list[Any] = []
        for message in body["messages"]:
            role = message.get("role") if isinstance(message, Mapping) else None
            if role == "assistant":
                calls = [call for call in items(message.get("tool_calls")) if self.is_ours(_name(call))]
            elif role == "tool" and calls and "tool_call_id" in message and not message.get("tool_name"):
                call = calls.pop(0)
                message = {"role": "tool", "tool_name": _name(call), "content": message.get("content", "")}
                message |= {"tool_call_id": call["id"]} if call.get("id") else {}
            messages.append(message)
        return {**body, "messages": messages, "stream": stream}

    def _client_content(self, content: dict[str, Any], *, ends: bool) -> dict[str, Any]:
        new = dict(content)
        if isinstance(calls := new.get("tool_calls"), list) and any(self.is_ours(_name(call)) for call in calls):
            new["tool_calls"] = [call for call in calls if not self.is_ours(_name(call))]
            if not new["tool_calls"]:
                del new["tool_calls"]
        for name in _TEXTS:
            text = new.get(name, "")
            if isinstance(text, str) and ((text := self.say(text, name, ends=ends)) or name in new):
                new[name] = text
        return new

    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        """Return the last line, with the metrics of all rounds and the citations."""
        message = self._content(value)
        if reason := self.excuse(run):
            message = {**message, "content": reason}
        if notes := self.annotations():
            message = {**message, "annotations": notes}
        line = self._with_content(value, message) if message != self._content(value) else dict(value)
        if self.usage:
            line |= sum_usage(self.usage, self.round_usage)
        if run.stop not in ("answered", "calls"):
            line["done_reason"] = "length"
        return line


def _name(call: object) -> object:
    return object_of(object_of(call).get("function")).get("name")


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield the lines of a response that are not empty, unchanged.

    Raises:
        Failed: one is too large.
    """
    buffer = bytearray()
    async for piece in response.content.iter_any():
        scanned = len(buffer)
        buffer += piece
        while (end := buffer.find(b"\n", scanned) + 1) > 0:
            line, scanned = bytes(buffer[:end]), 0
            del buffer[:end]
            if line.strip():
                yield line
        if len(buffer) > _MAX_LINE_BYTES:
            raise broken(f"sent a line of more than {_MAX_LINE_BYTES:,} bytes")
    if buffer.strip():
        yield bytes(buffer)
