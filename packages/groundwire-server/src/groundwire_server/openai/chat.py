"""Chat completions: the rounds of a run are merged into one completion, or one stream of chunks.

Unchanged data is forwarded byte for byte: a whole response of one round, and each chunk of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundwire.agent_loop import Run
from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.hosted.answers.call_deltas import CallDeltas
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of
from groundwire.hosted.requirements import Needs
from groundwire_server.openai.handler import PiecesHandler
from groundwire_server.openai.prompts import merge_values, sum_usage
from groundwire_server.openai.upstream import UpstreamAnswer

_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_CHUNK_HEAD = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


@dataclass(slots=True)
class _StreamedCall:
    """A function call that is being received."""

    name: str = ""
    place: int | None = None
    """Its index among the client's calls; None until it is known to be one."""
    parts: list[dict[str, Any]] = field(default_factory=list)


class ChatHandler(PiecesHandler):
    """A request for a chat completion."""

    api = "openai_compatible"
    path = "chat/completions"

    def __init__(self, *args: Any) -> None:
        self._head: dict[str, Any] = {}
        self._cited = False  # whether the model server has sent its own annotations
        self._calls: dict[int, _StreamedCall] = {}
        self._places = 0
        super().__init__(*args)

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether a request can be augmented with search: not if it asks for several choices."""
        return body.get("n") in (None, 1) or not isinstance(body.get("messages"), list) or _wants_search(body)

    def _extract_needs(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        if body.get("n") not in (None, 1):
            raise InvalidRequest("n", "is not 1", "Web search supports one choice per request; omit n.")
        return super()._extract_needs(body)

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        hosted = read_answer("openai_compatible", answer.value)
        if hosted.turn and hosted.turn[0] != _message(answer.value):
            value = {**answer.value, "choices": [{**_first(answer.value), "message": hosted.turn[0]}]}
            answer = self.answers[-1] = UpstreamAnswer(value, json.dumps(value).encode(), answer.headers)
        self.round_usage = answer.value.get("usage")
        content = _message(answer.value).get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        self.say("".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping)), ends=True)
        return hosted

    async def _end_streaming(self) -> None:
        """Forward the parts of calls and the text that are held back."""
        if call_parts := self._parts.close():  # without an end of its own
            delta = {"choices": [{"index": 0, "delta": {"tool_calls": call_parts}}]}
            self.stream_reader.event(delta)
            await self._chunk(delta, b"")
        if text := self.say("", ends=True):
            await self._send({"content": text})

    def _response(self, run: Run) -> dict[str, Any]:
        last, text = self.answers[-1], self.texts.get("content")
        choice = _first(last.value)
        message = _message(last.value)
        reply = dict(message)
        if len(self.answers) > 1 or isinstance(message.get("content"), str):
            reply["content"] = text or message.get("content")
        reply |= {"content": reason} if (reason := self.excuse(run)) else {}
        if calls := reply.pop("tool_calls", None):
            calls = [call for call in calls if self._is_for_client(call)]
        if calls or (calls is not None and not message["tool_calls"]):
            reply["tool_calls"] = calls
        for name in _THOUGHT_FIELDS:
            if (thought := merge_values([_message(answer.value).get(name) for answer in self.answers])) is not None:
                reply[name] = thought
        if (notes := self.annotations()) and not message.get("annotations"):
            reply["annotations"] = notes
        choice = {**choice, "message": reply, "finish_reason": _finish(run, choice.get("finish_reason"))}
        if (odds := merge_values([_first(answer.value).get("logprobs") for answer in self.answers])) is not None:
            choice["logprobs"] = odds
        response = {**last.value, "choices": [choice]}
        if (usage := sum_usage(self.usage, self.round_usage)) is not None:
            response["usage"] = usage
        return response

    async def _last_events(self, run: Run) -> None:
        """Send the annotations, unstreamed calls of the client, and the end of the last round."""
        if reason := self.excuse(run):
            await self._send({"content": reason})
        if (notes := self.annotations()) and not self._cited:
            await self._send({"annotations": notes})
        finish, ended = _finish(run, run.answers[-1].stop_reason), False
        late = [call for call in self._calls.values() if call.parts and call.name and not self.is_ours(call.name)]
        if entries := [{**part, "index": self._places + at} for at, call in enumerate(late) for part in call.parts]:
            await self._send({"tool_calls": entries})
        for data, raw in self.tail:
            if not ended and not _first(data):
                await self._send({}, finish=finish)
            ended, line = True, self._last_piece(data, run)
            await self.put(raw if line == data and raw else self._line(line))
        if not ended:
            await self._send({}, finish=finish)
        await self.put(self.done)

    def _is_for_client(self, call: object) -> bool:
        function = object_of(call).get("function")
        return not isinstance(function, dict) or not self.is_ours(function.get("name"))

    async def _begin_round(self) -> None:
        await super()._begin_round()
        self._calls, self._parts = {}, CallDeltas()

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        """Take a chunk; each part of a call gets the index of its call."""
        choice = _first(value)
        delta = object_of(choice.get("delta"))
        parts = delta.get("tool_calls") or []
        calls = self._parts.feed(parts) + (self._parts.close() if choice.get("finish_reason") is not None else [])
        raw = event.raw
        if calls != parts:
            value, raw = {**value, "choices": [{**choice, "delta": {**delta, "tool_calls": calls}}]}, b""
        self.stream_reader.event(value)
        await self._chunk(value, raw)

    async def _chunk(self, value: dict[str, Any], raw: bytes) -> None:
        """Forward a chunk with the ID of the whole stream, which is that of its first chunk."""
        if not self._head:
            self._head = {key: value[key] for key in _CHUNK_HEAD if key in value}
        same: dict[str, Any] = {key: self._head[key] for key in ("id", "created") if key in self._head}
        if any(value.get(key) != head_value for key, head_value in same.items()):
            value, raw = {**value, **same}, b""
        await self._forward(value, raw, ends=self._ends(value))

    def _content(self, value: dict[str, Any]) -> dict[str, Any]:
        return object_of(_first(value).get("delta"))

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        return {**value, "choices": [{**_first(value), "delta": content}]}

    def _ends(self, value: dict[str, Any]) -> bool:
        """Whether a chunk has the finish reason, or follows it."""
        choice = _first(value)
        return choice.get("finish_reason") is not None if choice else bool(self.tail or value.get("usage"))

    def _says(self, value: dict[str, Any]) -> bool:
        """Whether a chunk has more than its place."""
        others = [field_ for key, field_ in _first(value).items() if key not in ("index", "delta", "finish_reason")]
        return _has_any(_first(value).get("delta")) or any(others)

    def _without_end(self, value: dict[str, Any]) -> dict[str, Any]:
        return {**value, "choices": [{**_first(value), "finish_reason": None}]}

    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        choice = _first(value)
        finish = _finish(run, choice.get("finish_reason"))
        return {**value, "choices": [{**choice, "finish_reason": finish}]} if choice else value

    def _line(self, value: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(value).encode() + b"\n\n"

    def _client_content(self, content: dict[str, Any], *, ends: bool) -> dict[str, Any]:
        new = dict(content)
        if self.rounds:
            new.pop("role", None)
        self._cited = self._cited or bool(new.get("annotations"))
        if isinstance(calls := new.get("tool_calls"), list):
            new["tool_calls"] = self._client_calls(calls)
            if not new["tool_calls"]:
                del new["tool_calls"]
        for name in _THOUGHT_FIELDS[:-1]:
            if isinstance(text := new.get(name), str) and text:
                new[name] = self.say(text, name)
        if isinstance(text := new.get("content"), str) and (text or ends):
            new["content"] = self.say(text, ends=ends)
        return new

    def _client_calls(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the parts of the client's calls, without those of local and undeclared tools."""
        passed: list[dict[str, Any]] = []
        for entry in entries:
            function = object_of(entry.get("function"))
            call = self._calls.setdefault(entry["index"], _StreamedCall())
            if call.place is None:
                call.name = str(function.get("name") or call.name)
            call.parts.append(entry)
            is_known = call.name in (self.declared or ()) or bool(function.get("arguments"))
            if call.place is None and call.name and is_known and not self.is_ours(call.name):
                call.place, self._places = self._places, self._places + 1
            if call.place is not None:
                passed += [{**part, "index": call.place} for part in call.parts]
                call.parts.clear()
        return passed

    async def _send(self, delta: Mapping[str, Any], finish: str | None = None) -> None:
        head = {"object": "chat.completion.chunk", **self._head}
        await self.put(self._line({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))


def _wants_search(body: Mapping[str, Any]) -> bool:
    """Whether a client asks for a search."""
    kinds = (str(tool.get("type")) for tool in items(body.get("tools")))
    return "web_search_options" in body or any("web_search" in kind for kind in kinds)


def _first(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice with the index 0, empty if there is none."""
    return next((choice for choice in items(answer.get("choices")) if choice.get("index", 0) == 0), {})


def _message(answer: Mapping[str, Any]) -> dict[str, Any]:
    return object_of(_first(answer).get("message"))


def _has_any(delta: object) -> bool:
    """Whether a delta has any content."""
    return isinstance(delta, Mapping) and any(value not in (None, "", [], {}) for value in delta.values())


def _finish(run: Run, reason: str | None) -> str | None:
    if run.pending:
        return reason or "tool_calls"
    if run.stop != "answered":
        return "length"
    return "stop" if reason in (None, "tool_calls") else reason
