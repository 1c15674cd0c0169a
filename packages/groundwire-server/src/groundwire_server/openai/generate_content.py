"""Gemini's generateContent: Google Search and URL context run locally, with responses in the API's format.

The model's markers become `groundingSupports`. The client's history does not contain them, so they are restored by the
words of a response, for the same client and as long as the numbers are stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import Any, ClassVar, Final

from starlette.responses import Response

from groundwire.agent_loop import CallEnded, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.agent_loop.tool_calls import arguments_of
from groundwire.errors import InvalidRequest
from groundwire.hosted import Needs
from groundwire.hosted.answers import AnswerStream, HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.settings import Settings
from groundwire.tools import OpenPageToolResult, Tool, WebSearchToolResult
from groundwire_server.client_disconnect import Outbox
from groundwire_server.openai.conversations import History, Said, question_in
from groundwire_server.openai.grounding import Grounding
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import added_up, said_in
from groundwire_server.openai.upstream import UpstreamAnswer, events_of, passed_back
from groundwire_server.request_json import UpstreamRejected, broken, write_json

__all__ = ["GeminiHandler"]

_SEARCHES = ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")
_READS = ("urlContext", "url_context")
_SPANS = ("timeRangeFilter", "time_range_filter")
_BETWEEN = "\n\n"  # the texts of two rounds
_STATUS: Final[Mapping[int, str]] = {400: "INVALID_ARGUMENT", 502: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}


class GeminiHandler(CompletionHandler):
    """A request for content; the URL says whether it is streamed."""

    api = "gemini"
    path = "/v1beta/models/"
    has_own_errors: ClassVar[bool] = True

    def __init__(self, *args: Any) -> None:
        self._whole: UpstreamAnswer | None = None  # the last answer that came whole
        self._usage: Any = None  # of the rounds before this one
        self._end: tuple[dict[str, Any], bytes] = ({}, b"")  # of a round: its last answer, and how it came
        self._parts: list[dict[str, Any]] = []
        self._text = ""  # what the client has got
        self._grounding = Grounding()
        self._shown_before = History()  # what the client has got and asked
        self._marked = ""  # what the model has said
        self._said_now = False  # whether this round has said anything
        self._pages: list[dict[str, str]] = []
        self._failure = b""
        self._sent_any = False
        super().__init__(*args)
        path, _, query = self.target.partition("?")
        self._named = path.rpartition("/")[2].partition(":")[0]
        self._streamed = path.endswith(":streamGenerateContent")
        self._as_events = "alt=sse" in query.split("&")
        if self._streamed and not self._as_events:
            self.target = f"{path}?" + "&".join(["alt=sse", *filter(None, query.split("&"))])

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether a request has a tool that runs locally; others are forwarded unchanged."""
        return bool(body.get("contents")) and bool(_kinds(body))

    @classmethod
    def error(cls, message: str, status: int = 400, *, kind: str = "", param: str = "") -> bytes:
        """Return an error in the API's format."""
        about = {"code": status, "message": message, "status": _STATUS.get(status, "INTERNAL")}
        return json.dumps({"error": about}).encode()

    @property
    def media_type(self) -> str:  # type: ignore[override]  # of the class for all others
        """The media type of a stream: without `alt=sse`, a JSON array."""
        return "text/event-stream" if self._as_events else "application/json; charset=UTF-8"

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream."""
        return self._streamed

    @property
    def model(self) -> str:
        """The model in the URL."""
        return str(self.given.get("model") or self._named)

    def idle(self) -> bytes:
        """Return what keeps an idle stream open."""
        return b": searching\r\n\r\n" if self._as_events else b" "

    def choose(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """Return the tools that the request asks for."""
        kinds = _kinds(self.given)
        wanted = {name for name, of in (("web_search", _SEARCHES), ("open_page", _READS)) if kinds & {*of}}
        return tuple(tool for tool in tools if tool.name in wanted)

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request with one search tool, and the requirements of the tools."""
        tools: list[Any] = []
        given: Mapping[str, Any] = {}
        for tool in body["tools"]:
            left = {name: value for name, value in tool.items() if name not in (*_SEARCHES, *_READS)}
            found = next((tool[name] for name in _SEARCHES if isinstance(tool.get(name), Mapping)), None)
            given = found or given
            tools += [left] if left else []
        span: Mapping[str, Any] = next((given[name] for name in _SPANS if isinstance(given.get(name), Mapping)), {})
        blocked = given.get("excludeDomains") or given.get("exclude_domains") or ()
        needs = Needs(
            published_after=_day(span.get("startTime") or span.get("start_time")),
            published_before=_day(span.get("endTime") or span.get("end_time")),
            blocked_domains=tuple(blocked),
        )
        config = body.get("toolConfig")
        if isinstance(config, Mapping):
            body = {**body, "toolConfig": {k: v for k, v in config.items() if k != "includeServerSideToolInvocations"}}
        return {**body, "tools": [*tools, {"googleSearch": {}}]}, needs

    async def restored(self) -> list[Any]:
        """Return the contents with stored runs, and with the markers of earlier responses."""
        made: list[Any] = []
        turn: list[Any] = []
        for place, content in enumerate([*self.sent, None]):
            if isinstance(content, Mapping) and content.get("role") == "model":
                turn.append(content)
                continue
            made += await self._turn(turn, self.sent[: place - len(turn)])
            turn = []
            if content is None:
                break
            for one in said_in([content]):
                self._shown_before.add(one)
            if made and _has_results(made[-1]) and _has_results(content):
                content = {**content, "parts": [*made.pop()["parts"], *content["parts"]]}
            made.append(content)
        self._restored = made
        return made

    async def _turn(self, contents: list[Any], before: Any) -> list[Any]:
        """Return one turn of the model, which clients may have in several contents."""
        for one in said_in(contents):
            self._shown_before.add(one)
        if not contents:
            return []
        parts = [part for one in contents for part in one.get("parts") or () if isinstance(part, Mapping)]
        for part in parts:
            if isinstance(call := part.get("functionCall", part.get("function_call")), Mapping):
                told = {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
                if kept := await self.conversations.run_of(told, question_in(before)):
                    self.run = kept
                    return list(kept.added)
        marked = await self.conversations.marked(self._shown_before) if any(map(_text, parts)) else ""
        if not marked:
            return contents
        return [{"role": "model", "parts": [{"text": marked}, *(part for part in parts if "text" not in part)]}]

    def said(self) -> tuple[Said, ...]:
        """Return the texts of the conversation, with their markers."""
        return said_in(self._restored if self.sent else ())

    def answered(self) -> list[str]:
        """Return the model's text."""
        return [self._marked] if self._marked else []

    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Request whole content."""
        self._begin()
        self._whole = answer = await self.context.upstream.post(self.target, self.headers, body)
        candidate = _candidate(answer.value)
        self._parts += self._shown(_parts(candidate), ends=True)
        self._end = answer.value, answer.data
        return read_answer("gemini", answer.value)

    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Request a stream, and forward its responses without local calls and without the end."""
        if self._parts:  # the end of the round before, which is none of the whole answer
            candidate = {name: one for name, one in _candidate(self._end[0]).items() if name != "finishReason"}
            await self._put(self._with({**self._end[0], "candidates": [candidate]}, self._parts), b"", outbox)
        self._begin()
        stream = AnswerStream("gemini")
        data = write_json(body)
        async with self.context.upstream.ask("POST", self.target, self.headers, data) as response:
            if response.status >= 300:
                await self.context.upstream.whole(response)
            outbox.headers |= passed_back(response.headers)
            async for event, found in events_of(response):
                await self._event(event, found, stream, outbox)
        stream.close()
        answer = stream.answer
        if answer.error is not None and answer.finish == "failed" and not self._end[0]:
            raise broken(f"ended its response early ({answer.error.message or answer.error.code})")
        return answer

    def told(self, event: LoopEvent) -> None:
        """Record queries and pages."""
        if not isinstance(event, CallEnded):
            return
        result = event.result
        if isinstance(result, WebSearchToolResult):
            with suppress(InvalidRequest):
                self._grounding.queries.append(str(arguments_of(event.call).get("query", "")))
        elif isinstance(result, OpenPageToolResult):
            status = "SUCCESS" if result.status == "success" else "ERROR"
            self._pages.append(
                {"retrievedUrl": result.final_url or result.url, "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}"}
            )

    def whole(self, run: Run) -> Response:
        """Return one response."""
        value, data = self._end
        made = self._ended(value, self._parts, run)
        headers = dict(self._whole.headers) if self._whole else {}
        return Response(data if made == value else json.dumps(made), headers=headers)

    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the end, with the grounding metadata."""
        value, data = self._end
        made = self._ended(value, self._parts, run)
        await self._put(made, data if made == value else b"", outbox)
        if not self._as_events:
            await outbox.put(b"]")

    def failed(self, error: UpstreamRejected) -> bytes:
        """Return a failure within a stream."""
        data = self._failure or self.error(error.message(), error.status)
        if self._as_events:
            return self._failure or b"data: " + data + b"\r\n\r\n"
        return (b",\r\n" if self._sent_any else b"[") + data + b"]"

    async def _remember(self, run: Run) -> None:
        await super()._remember(run)
        if self._text:
            self._shown_before.add(Said(self._text, "assistant"))
            await self.conversations.keep_marked(self._shown_before, self._marked)

    def _begin(self) -> None:
        """Add up the previous round, and start another."""
        self._usage = added_up(self._usage, self._end[0].get("usageMetadata"))
        self._end = ({}, b"")
        self._filter = self.link_filter()
        self._cited = CitedText(self.ledger)
        self._said_now = False

    async def _event(
        self, event: ServerSentEvent, value: dict[str, Any] | None, stream: AnswerStream, outbox: Outbox
    ) -> None:
        if value is None:
            return
        raw = event.raw if self._as_events else event.data.encode("utf-8", "surrogatepass")
        if value.get("error"):
            self._failure = raw
            await outbox.put(b"")  # the failure is an event, as it came
            raise UpstreamRejected(502, event.data.encode("utf-8", "surrogatepass"), is_upstreams=True)
        stream.event(value)
        candidate = _candidate(value)
        given = _parts(candidate)
        ends = bool(candidate.get("finishReason"))
        parts = self._shown(given, ends=ends)
        if ends:
            self._parts = parts
            self._end = value, raw
        elif parts or not given:
            made = self._with(value, parts)
            await self._put(made, raw if made == value else b"", outbox)

    def _with(self, value: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a response with other parts, and with the usage of all rounds."""
        made = dict(value)
        candidate = _candidate(value)
        if parts != _parts(candidate):
            content = {"role": "model", **(candidate.get("content") or {}), "parts": parts}
            made["candidates"] = [{**candidate, "content": content}]
        if self._usage is not None and "usageMetadata" in value:
            made["usageMetadata"] = added_up(self._usage, value["usageMetadata"])
        return made

    async def _put(self, made: dict[str, Any], raw: bytes, outbox: Outbox) -> None:
        data = json.dumps(made).encode()
        if self._as_events:
            await outbox.put(raw or b"data: " + data + b"\r\n\r\n")
        else:
            await outbox.put((b",\r\n" if self._sent_any else b"[") + (raw or data))
        self._sent_any = True

    def _shown(self, parts: list[dict[str, Any]], *, ends: bool) -> list[dict[str, Any]]:
        """Return parts for the client: without local calls and markers."""
        made: list[dict[str, Any]] = []
        for part in parts:
            call = part.get("functionCall")
            if isinstance(call, Mapping) and self.is_ours(call.get("name")):
                continue
            if isinstance(part.get("text"), str) and not part.get("thought"):
                text = self._taken(part["text"])
                if text != part["text"] and not text and set(part) == {"text"}:
                    continue
                part = {**part, "text": text}
            made.append(part)
        if ends and (rest := self._taken("", ends=True)):
            said = [at for at, part in enumerate(made) if isinstance(part.get("text"), str) and not part.get("thought")]
            last = said[-1] if said else None
            if last is None:
                made.append({"text": rest})
            else:
                made[last] = {**made[last], "text": made[last]["text"] + rest}
        return made

    def _taken(self, text: str, *, ends: bool = False) -> str:
        """Return a text without its markers, and record what they support."""
        text = self._filter.feed(text) + (self._filter.close() if ends else "")
        if text and not self._said_now:
            self._said_now = True
            if self._text:
                text = _BETWEEN + text
        self._marked += text
        shown = ""
        for piece, sources in [*self._cited.feed(text), *(self._cited.close() if ends else ())]:
            shown += piece
            self._text += piece
            self._grounding.say(piece)
            if sources:
                self._grounding.support(sources)
        return shown

    def _ended(self, value: dict[str, Any], parts: list[dict[str, Any]], run: Run) -> dict[str, Any]:
        if not self._text and run.stop not in ("answered", "calls"):
            parts = [*parts, {"text": run.reason}]
        made = self._with(value, parts)
        more = self._grounding.metadata(
            None if self._streamed else [_text(part) for part in parts], self.ledger.sources
        )
        if self._pages:
            more["urlContextMetadata"] = {"urlMetadata": self._pages}
        if run.stop not in ("answered", "calls"):
            more["finishReason"] = "MAX_TOKENS"
        if more:
            candidate = {"index": 0, **_candidate(made), **more}
            made["candidates"] = [candidate]
        return made


def _kinds(body: Mapping[str, Any]) -> set[str]:
    """Return the tools of a request that run locally."""
    tools = body.get("tools")
    named = {name for tool in tools if isinstance(tool, Mapping) for name in tool} if isinstance(tools, list) else set()
    return named & {*_SEARCHES, *_READS}


def _candidate(value: Mapping[str, Any]) -> dict[str, Any]:
    candidates = value.get("candidates")
    found = [one for one in candidates if isinstance(one, dict)] if isinstance(candidates, list) else []
    return next((one for one in found if not one.get("index")), {})


def _parts(candidate: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _text(part: Mapping[str, Any]) -> str:
    """Return the text of a part, if it is part of the answer."""
    text = part.get("text")
    return text if isinstance(text, str) and not part.get("thought") else ""


def _has_results(content: Any) -> bool:
    parts = content.get("parts") if isinstance(content, Mapping) and content.get("role") != "model" else None
    last = parts[-1] if isinstance(parts, list) and parts else None
    return isinstance(last, Mapping) and ("functionResponse" in last or "function_response" in last)


def _day(moment: object) -> date | None:
    """Return the day of a timestamp, None if it is invalid."""
    with suppress(ValueError):
        return date.fromisoformat(str(moment or "")[:10])
    return None
