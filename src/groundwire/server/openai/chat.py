"""Chat completions: the rounds of a run become one completion, or one stream of chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from groundwire.agent_loop import LoopEvent, Run
from groundwire.agent_loop.citation_ledger import citations_in
from groundwire.errors import InvalidRequest
from groundwire.hosted.answers import AnswerApi, AnswerStream, HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import EventDecoder, ServerSentEvent, TooLarge
from groundwire.hosted.requirements import Needs
from groundwire.server.cancellable_response import Outbox
from groundwire.server.openai.conversations import question_in
from groundwire.server.openai.handler import CompletionHandler, added_up
from groundwire.server.request_errors import UpstreamRejected, error_body

__all__ = ["ChatHandler"]

_BETWEEN = "\n\n"  # the texts of two rounds
_CALLS = ("tool_calls", "function_call")


class ChatHandler(CompletionHandler):
    """One request for a chat completion."""

    api = "openai_compatible"
    path = "chat/completions"

    def __init__(self, *args: Any) -> None:
        self._raw: dict[str, Any] = {}
        self._head: dict[str, Any] = {}
        self._usage: Any = None
        self._round: Any = None  # the usage of this round
        self._text = ""
        self._fresh = False  # whether a round has begun whose text is still to come
        self._role_sent = False
        super().__init__(*args)

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request, see `CompletionHandler.cleaned`."""
        if body.get("n") not in (None, 1):
            raise InvalidRequest("n", "is not 1", "One answer can be searched for at a time; leave n out.")
        return super().cleaned(body)

    async def restored(self) -> list[Any]:
        """Return the messages; an assistant's that belongs to a stored run is replaced by all of that run."""
        made: list[Any] = []
        for place, message in enumerate(self.sent):
            kept = None
            for call in (message.get("tool_calls") if isinstance(message, Mapping) else None) or ():
                function = call.get("function") if isinstance(call, Mapping) else None
                if kept is None and isinstance(function, Mapping):
                    kept = await self.conversations.run_of({**function, "id": call.get("id")}, self._asked(place))
            made += [message] if kept is None else kept.added
            self.run = kept or self.run
        return made

    def _asked(self, place: int) -> str:
        return question_in(self.sent[:place])

    def answered(self) -> list[str]:
        """Return the text."""
        return [self._text] if self._text else []

    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Ask for a whole completion."""
        raw = await self.context.upstream.post(self.path, self.headers, {**body, "stream": False})
        answer = read_answer(cast("AnswerApi", self.api), raw)
        self._took(raw, answer.text)
        return answer

    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Ask for a stream, and pass on its chunks without calls and without the end."""
        self._fresh, self._round, self._filter = True, None, self.link_filter()
        stream = AnswerStream(cast("AnswerApi", self.api))
        decoder = EventDecoder()
        data = json.dumps({**body, "stream": True}).encode()
        async with self.context.upstream.ask("POST", self.path, self.headers, data) as response:
            kind = response.headers.get("Content-Type", "")
            if response.status >= 300 or kind.startswith("application/json"):
                return await self._take_whole(await self.context.upstream.whole(response), outbox)
            try:
                async for piece in response.content.iter_any():
                    for event in decoder.feed(piece):
                        await self._event(event, stream, outbox)
                for event in decoder.close():
                    await self._event(event, stream, outbox)
            except TooLarge as error:
                raise _broken(f"sent a stream of which {error}") from error
        await self._say_rest(outbox)
        stream.close()
        answer = stream.answer
        self._usage = added_up(self._usage, self._round)
        if answer.error is not None and answer.finish == "failed":
            raise _broken(f"broke off its answer ({answer.error.message or answer.error.code})")
        return answer

    def told(self, event: LoopEvent) -> None:
        """Chat completions show nothing of calls; a comment is sent while a client would hear nothing."""

    def whole(self, run: Run) -> dict[str, Any]:
        """Return one completion."""
        choice = dict((self._raw.get("choices") or [{}])[0])
        message = {key: value for key, value in dict(choice.get("message") or {}).items() if key not in _CALLS}
        message["content"] = self._text or (None if run.pending else _nothing(run))
        if calls := _pending(run):
            message["tool_calls"] = calls
        if notes := self._annotations():
            message["annotations"] = notes
        choice |= {"message": message, "finish_reason": _finish(run, choice.get("finish_reason"))}
        made = {**self._raw, "choices": [choice]}
        return {**made, "usage": self._usage} if self._usage is not None else made

    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the annotations, the client's calls, the end, and the usage if it was asked for."""
        if not self._text and not run.pending and (said := _nothing(run)):
            await self._send({"content": said}, outbox)
        if notes := self._annotations():
            await self._send({"annotations": notes}, outbox)
        if calls := _pending(run):
            await self._send({"tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]}, outbox)
        await self._send({}, outbox, finish=_finish(run, run.answers[-1].stop_reason))
        options = self.given.get("stream_options")
        if self._usage is not None and isinstance(options, Mapping) and options.get("include_usage"):
            await outbox.put(_line({**self._head, "choices": [], "usage": self._usage}))
        await outbox.put(b"data: [DONE]\n\n")

    def failed(self, error: UpstreamRejected) -> bytes:
        """Return a failure as OpenAI's stream has it: an object with `error`."""
        try:
            said = json.loads(error.body)
        except ValueError:
            said = None
        if not (isinstance(said, dict) and said.get("error")):
            said = json.loads(error_body(error.message(), kind="upstream_error", code=str(error.status)))
        return _line(said)

    def _took(self, raw: dict[str, Any], text: str) -> None:
        self._raw = raw
        self._usage = added_up(self._usage, raw.get("usage"))
        if text:
            self._text += (_BETWEEN if self._text else "") + self.shown(text)

    async def _take_whole(self, data: bytes, outbox: Outbox) -> HostedAnswer:
        """Take the answer of a server that does not stream."""
        answer = read_answer(cast("AnswerApi", self.api), data)
        raw = json.loads(data)
        if answer.finish == "failed":
            raise UpstreamRejected(502, data, {"Content-Type": "application/json"})
        self._note_head(raw)
        self._took(raw, "")
        if answer.text:
            await self._say({"role": "assistant", "content": answer.text}, outbox)
            await self._say_rest(outbox)
        return answer

    async def _event(self, event: ServerSentEvent, stream: AnswerStream, outbox: Outbox) -> None:
        if event.data.strip() == "[DONE]":
            return
        try:
            data = json.loads(event.data)
        except ValueError:
            raise _broken("sent an event that is no JSON") from None
        if not isinstance(data, dict):
            return
        if data.get("error"):
            raise UpstreamRejected(
                502, json.dumps({"error": data["error"]}).encode(), {"Content-Type": "application/json"}
            )
        stream.event(data)
        self._note_head(data)
        self._round = data.get("usage") or self._round  # some servers tell it again and again, for all until then
        for choice in data.get("choices") or ():
            if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
                delta = choice.get("delta")
                await self._say(delta if isinstance(delta, Mapping) else {}, outbox)

    async def _say(self, delta: Mapping[str, Any], outbox: Outbox) -> None:
        """Pass on what a delta says, but no calls; between two rounds there is an empty line."""
        kept = {key: value for key, value in delta.items() if key not in _CALLS and key != "annotations"}
        if self._role_sent:
            kept.pop("role", None)
        text = kept.get("content")
        if isinstance(text, str) and text:
            text = kept["content"] = self._filter.feed(text)
        if isinstance(text, str) and text:
            if self._fresh and self._text:
                text = kept["content"] = _BETWEEN + text
            self._fresh = False
            self._text += text
        elif self._role_sent:
            kept.pop("content", None)
        if any(value is not None for value in kept.values()):
            self._role_sent = self._role_sent or "role" in kept
            await self._send(kept, outbox)

    async def _say_rest(self, outbox: Outbox) -> None:
        """Pass on what was held back until the end of a round."""
        rest, self._filter = self._filter.close(), self.link_filter()
        if rest:
            text = _BETWEEN + rest if self._fresh and self._text else rest
            self._fresh = False
            self._text += text
            await self._send({"content": text}, outbox)

    async def _send(self, delta: Mapping[str, Any], outbox: Outbox, finish: str | None = None) -> None:
        await outbox.put(_line({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))

    def _note_head(self, data: Mapping[str, Any]) -> None:
        if not self._head:
            self._head = {key: value for key, value in data.items() if key not in ("choices", "usage", "error")}
            self._head["object"] = "chat.completion.chunk"

    def _annotations(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "url_citation",
                "url_citation": {"url": one.url, "title": one.title, "start_index": one.start, "end_index": one.end},
            }
            for one in citations_in(self._text, self.ledger)
        ]


def _pending(run: Run) -> list[dict[str, Any]]:
    """Return the client's calls as the model wrote them."""
    wanted = {(call.id, call.name) for call in run.pending}
    return [
        {key: value for key, value in call.items() if key != "index"}
        for message in run.answers[-1].turn
        for call in message.get("tool_calls") or ()
        if (call.get("id") or "", (call.get("function") or {}).get("name")) in wanted
    ]


def _finish(run: Run, reason: str | None) -> str:
    if run.pending:
        return "tool_calls"
    if run.stop != "answered":
        return "length"
    return "stop" if reason in (None, "tool_calls") else reason


def _nothing(run: Run) -> str:
    """Return what stands for an answer that was never given, empty where the model itself said nothing."""
    return "" if run.stop == "answered" else run.reason


def _line(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _broken(what: str) -> UpstreamRejected:
    text = f"The model server {what}."
    body = error_body(text, kind="upstream_error", code="upstream_broken")
    return UpstreamRejected(502, body, {"Content-Type": "application/json"})
