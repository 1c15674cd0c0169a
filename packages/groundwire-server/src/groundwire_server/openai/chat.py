"""Chat completions: the rounds of a run are merged into one completion, or one stream of chunks.

Unchanged data is forwarded byte for byte: a whole response of one round, and each chunk of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from starlette.responses import Response

from groundwire.agent_loop import LoopEvent, Run
from groundwire.agent_loop.citation_ledger import citations_in
from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import AnswerApi, AnswerStream, HostedAnswer, read_answer
from groundwire.hosted.answers.call_deltas import CallDeltas
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of, parsed
from groundwire.hosted.requirements import Needs
from groundwire.settings import Settings
from groundwire_server.client_disconnect import Outbox
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import added_up, merged
from groundwire_server.openai.upstream import UpstreamAnswer, events_of, passed_back
from groundwire_server.request_json import UpstreamRejected, broken, error_body, write_json

__all__ = ["ChatHandler"]

_BETWEEN = "\n\n"  # between the texts of two rounds
_THINKING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_HEAD = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
_TYPED: Final[Mapping[str, str]] = {"Content-Type": "application/json"}


@dataclass(slots=True)
class _StreamedCall:
    """A function call that is being received."""

    name: str = ""
    place: int | None = None
    """Its index among the client's calls; None until it is known to be one."""
    held: list[dict[str, Any]] = field(default_factory=list)


class ChatHandler(CompletionHandler):
    """A request for a chat completion."""

    api = "openai_compatible"
    path = "chat/completions"

    def __init__(self, *args: Any) -> None:
        self._rounds: list[UpstreamAnswer] = []
        self._head: dict[str, Any] = {}
        self._usage: Any = None  # of the previous rounds
        self._round: Any = None  # the usage of this round
        self._text = ""
        self._later = False  # whether this round follows another
        self._said: set[str] = set()  # the text fields started in this round
        self._ever: set[str] = set()  # the same for all rounds
        self._done = b"data: [DONE]\n\n"
        self._cited = False  # whether the model server has sent its own annotations
        self._calls: dict[int, _StreamedCall] = {}
        self._places = 0
        self._tail: list[tuple[dict[str, Any], bytes]] = []  # the end of this round, in case it is the last
        super().__init__(*args)

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether a request can be augmented with search: not if it asks for several choices."""
        return body.get("n") in (None, 1) or not isinstance(body.get("messages"), list) or _wants_search(body)

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request, see `CompletionHandler.cleaned`."""
        if body.get("n") not in (None, 1):
            raise InvalidRequest("n", "is not 1", "Web search supports one choice per request; omit n.")
        return super().cleaned(body)

    async def restored(self) -> list[Any]:
        """Return the messages; an assistant message of a stored run is replaced by the whole run."""
        made, self.run = await self.conversations.restored(self.sent)
        return made

    def answered(self) -> list[str]:
        """Return the text."""
        return [self._text] if self._text else []

    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Request a whole completion."""
        answer = await self.context.upstream.post(self.target, self.headers, body)
        made = read_answer(cast("AnswerApi", self.api), answer.value)
        if made.turn and made.turn[0] != _message(answer.value):
            value = {**answer.value, "choices": [{**_first(answer.value), "message": made.turn[0]}]}
            answer = UpstreamAnswer(value, json.dumps(value).encode(), answer.headers)
        self._took(answer)
        return made

    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Request a stream, and forward its chunks without local calls and without the end."""
        await self._begin_round(outbox)
        stream = AnswerStream(cast("AnswerApi", self.api))
        data = write_json({**body, "stream": True})
        async with self.context.upstream.ask("POST", self.target, self.headers, data) as response:
            kind = response.headers.get("Content-Type", "")
            if response.status >= 300 or kind.startswith("application/json"):
                return await self._take_whole(await self.context.upstream.answer(response), outbox)
            outbox.headers |= passed_back(response.headers)
            async for event, found in events_of(response):
                await self._event(event, found, stream, outbox)
        if rest := self._parts.close():  # without an end of its own
            delta = {"choices": [{"index": 0, "delta": {"tool_calls": rest}}]}
            stream.event(delta)
            await self._chunk(delta, b"", outbox)
        await self._say_rest(outbox)
        stream.close()
        answer = stream.answer
        if answer.error is not None and answer.finish == "failed":
            raise broken(f"ended its response early ({answer.error.message or answer.error.code})")
        return answer

    def told(self, event: LoopEvent) -> None:
        """Send a comment as a keep-alive: chat completions do not show tool calls."""

    def whole(self, run: Run) -> Response:
        """Return one completion."""
        last = self._rounds[-1]
        choice = _first(last.value)
        message = _message(last.value)
        shown = dict(message)
        if len(self._rounds) > 1 or isinstance(message.get("content"), str):
            shown["content"] = self._text or message.get("content")
        if run.stop not in ("answered", "calls") and not self._text:
            shown["content"] = run.reason
        if calls := shown.pop("tool_calls", None):
            calls = [one for one in calls if self._passes(one)]
        if calls or (calls is not None and not message["tool_calls"]):
            shown["tool_calls"] = calls
        for name in _THINKING:
            if (thought := merged([_message(one.value).get(name) for one in self._rounds])) is not None:
                shown[name] = thought
        if (notes := self._annotations()) and not message.get("annotations"):
            shown["annotations"] = notes
        choice = {**choice, "message": shown, "finish_reason": _finish(run, choice.get("finish_reason"))}
        if (odds := merged([_first(one.value).get("logprobs") for one in self._rounds])) is not None:
            choice["logprobs"] = odds
        made = {**last.value, "choices": [choice]}
        if (usage := added_up(self._usage, self._round)) is not None:
            made["usage"] = usage
        return Response(last.data if made == last.value else json.dumps(made), headers=dict(last.headers))

    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the annotations, unstreamed calls of the client, and the end of the last round."""
        if not self._text and run.stop not in ("answered", "calls"):
            await self._send({"content": run.reason}, outbox)
        if (notes := self._annotations()) and not self._cited:
            await self._send({"annotations": notes}, outbox)
        finish, ended = _finish(run, run.answers[-1].stop_reason), False
        late = [call for call in self._calls.values() if call.held and call.name and not self.is_ours(call.name)]
        if entries := [{**one, "index": self._places + at} for at, call in enumerate(late) for one in call.held]:
            await self._send({"tool_calls": entries}, outbox)
        for data, raw in self._tail:
            choice = _first(data)
            ended = ended or bool(choice)
            if choice and choice.get("finish_reason") != _finish(run, choice.get("finish_reason")):
                data, raw = {**data, "choices": [{**choice, "finish_reason": finish}]}, b""
            if not choice and not ended:
                await self._send({}, outbox, finish=finish)
                ended = True
            await outbox.put(raw or _line(data))
        if not ended:
            await self._send({}, outbox, finish=finish)
        await outbox.put(self._done)

    def failed(self, error: UpstreamRejected) -> bytes:
        """Return a failure in the format of OpenAI's stream: an object with `error`."""
        if object_of(parsed(error.body)).get("error"):
            return _raw(error.body.decode())
        return _line(json.loads(error_body(error.message(), kind="upstream_error", code=str(error.status))))

    def _took(self, answer: UpstreamAnswer) -> None:
        self._rounds.append(answer)
        self._usage, self._round = added_up(self._usage, self._round), answer.value.get("usage")
        content = _message(answer.value).get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        text = "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))
        if text:
            self._text += (_BETWEEN if self._text else "") + self.shown(text)

    def _passes(self, call: object) -> bool:
        """Whether a call is for the client."""
        function = call.get("function") if isinstance(call, Mapping) else None
        return not isinstance(function, Mapping) or not self.is_ours(function.get("name"))

    async def _take_whole(self, answer: UpstreamAnswer, outbox: Outbox) -> HostedAnswer:
        """Process the response of a server that does not stream."""
        made = read_answer(cast("AnswerApi", self.api), answer.data)
        if made.finish == "failed":
            raise UpstreamRejected(502, answer.data, _TYPED)
        choice = _first(answer.value)
        delta = dict(object_of(choice.get("message")))
        delta.pop("tool_calls", None)
        if calls := list(items(made.turn[0].get("tool_calls") if made.turn else None)):
            delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
        chunk = {**answer.value, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        usage = {"choices": [], "usage": chunk.pop("usage", None)}
        end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason") or "stop"}
        asked = (self.given.get("stream_options") or {}).get("include_usage")
        for data in (chunk, {**chunk, "choices": [end]}, *([{**chunk, **usage}] if asked else ())):
            await self._chunk(data, b"", outbox)
        await self._say_rest(outbox)
        return made

    async def _begin_round(self, outbox: Outbox) -> None:
        """Reset the state of the previous round's end, but keep its text."""
        for data, _ in self._tail:
            choice = _first(data)
            if _says(choice.get("delta")):
                await outbox.put(_line({**data, "choices": [{**choice, "finish_reason": None}]}))
        self._usage, self._round = added_up(self._usage, self._round), None
        self._later = bool(self._head)
        self._filter = self.link_filter()
        self._tail, self._calls, self._parts = [], {}, CallDeltas()
        self._ever |= self._said
        self._said = set()

    async def _event(
        self, event: ServerSentEvent, data: dict[str, Any] | None, stream: AnswerStream, outbox: Outbox
    ) -> None:
        if data is None:
            self._done = event.raw
            return
        if data.get("error"):
            await outbox.put(b"")  # the failure event, unchanged
            raise UpstreamRejected(502, event.data.encode("utf-8", "surrogatepass"), _TYPED)
        placed = self._placed(data)
        stream.event(placed)
        await self._chunk(placed, event.raw if placed is data else b"", outbox)

    def _placed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a chunk in which each part of a call says which one it belongs to."""
        choice = _first(data)
        delta = object_of(choice.get("delta"))
        given = delta.get("tool_calls") or []
        calls = self._parts.feed(given) + (self._parts.close() if choice.get("finish_reason") is not None else [])
        if calls == given:
            return data
        return {**data, "choices": [{**choice, "delta": {**delta, "tool_calls": calls}}]}

    async def _chunk(self, data: dict[str, Any], raw: bytes, outbox: Outbox) -> None:
        """Forward a chunk, unchanged if possible."""
        if not self._head:
            self._head = {key: data[key] for key in _HEAD if key in data}
        made = dict(data)
        made.update((key, self._head[key]) for key in ("id", "created") if key in self._head)
        if data.get("usage"):
            self._round = data["usage"]
            made["usage"] = added_up(self._usage, self._round)
        choice = _first(data)
        ends = choice.get("finish_reason") is not None
        if choice:
            delta = dict(choice.get("delta") or {})
            new = self._delta(delta, ends=ends)
            others = [value for key, value in choice.items() if key not in ("index", "delta", "finish_reason")]
            if new != delta and not _says(new) and not ends and not any(others):
                return
            if new != delta:
                made["choices"] = [{**choice, "delta": new}]
        line = raw if made == data and raw else _line(made)
        if ends or (not choice and (self._tail or data.get("usage"))):
            self._tail.append((made, line))
        else:
            await outbox.put(line)

    def _delta(self, delta: Mapping[str, Any], *, ends: bool) -> dict[str, Any]:
        """Return a delta for the client: without local calls, and separated from an earlier round's text."""
        new = dict(delta)
        if self._later:
            new.pop("role", None)
        self._cited = self._cited or bool(new.get("annotations"))
        if isinstance(calls := new.get("tool_calls"), list) and not (made := self._client_calls(calls)):
            del new["tool_calls"]
        elif isinstance(calls, list):
            new["tool_calls"] = made
        for name in _THINKING[:-1]:
            if isinstance(text := new.get(name), str) and text:
                new[name] = self._apart(name, text)
        if isinstance(text := new.get("content"), str) and (text or ends):
            text = self._filter.feed(text)
            if ends:
                text += self._filter.close()
                self._filter = self.link_filter()
            new["content"] = text = self._apart("content", text)
            self._text += text
        return new

    def _apart(self, name: str, text: str) -> str:
        if not text or name in self._said:
            return text
        self._said.add(name)
        return _BETWEEN + text if name in self._ever else text

    def _client_calls(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the parts of the client's calls, without those of local and undeclared tools."""
        made: list[dict[str, Any]] = []
        for entry in entries:
            function = object_of(entry.get("function"))
            call = self._calls.setdefault(entry["index"], _StreamedCall())
            if call.place is None:
                call.name = str(function.get("name") or call.name)
            call.held.append(entry)
            known = call.name in (self.declared or ()) or bool(function.get("arguments"))
            if call.place is None and call.name and known and not self.is_ours(call.name):
                call.place, self._places = self._places, self._places + 1
            if call.place is not None:
                made += [one if one.get("index") == call.place else {**one, "index": call.place} for one in call.held]
                call.held.clear()
        return made

    async def _say_rest(self, outbox: Outbox) -> None:
        """Forward what was held back until the end of a round."""
        rest, self._filter = self._filter.close(), self.link_filter()
        if rest:
            text = self._apart("content", rest)
            self._text += text
            await self._send({"content": text}, outbox)

    async def _send(self, delta: Mapping[str, Any], outbox: Outbox, finish: str | None = None) -> None:
        head = {"object": "chat.completion.chunk", **self._head}
        await outbox.put(_line({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))

    def _annotations(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "url_citation",
                "url_citation": {"url": one.url, "title": one.title, "start_index": one.start, "end_index": one.end},
            }
            for one in citations_in(self._text, self.ledger)
        ]


def _wants_search(body: Mapping[str, Any]) -> bool:
    """Whether a client asks for a search."""
    tools = body.get("tools")
    named = [one for one in tools if isinstance(one, Mapping)] if isinstance(tools, list) else []
    return "web_search_options" in body or any("web_search" in str(one.get("type")) for one in named)


def _first(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice with the index 0, empty if there is none."""
    choices = answer.get("choices")
    found = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return next((one for one in found if one.get("index", 0) == 0), {})


def _message(answer: Mapping[str, Any]) -> dict[str, Any]:
    message = _first(answer).get("message")
    return message if isinstance(message, dict) else {}


def _says(delta: object) -> bool:
    """Whether a delta has any content."""
    return isinstance(delta, Mapping) and any(value not in (None, "", [], {}) for value in delta.values())


def _finish(run: Run, reason: str | None) -> str | None:
    if run.pending:
        return reason or "tool_calls"
    if run.stop != "answered":
        return "length"
    return "stop" if reason in (None, "tool_calls") else reason


def _line(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _raw(data: str) -> bytes:
    """Return the data of an event as it came."""
    return "".join(f"data: {line}\n" for line in data.split("\n")).encode("utf-8", "surrogatepass") + b"\n"
