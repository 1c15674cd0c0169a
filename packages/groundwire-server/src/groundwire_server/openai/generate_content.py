"""Gemini's generateContent: Google Search and URL context run locally, with responses in the API's format.

The model's markers stay in the text, so that the client's history has them; what they support is in
`groundingSupports`, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import groupby
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from groundwire.agent_loop import CallEnded, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitationLedger, marks_in
from groundwire.errors import InvalidRequest
from groundwire.hosted import Needs
from groundwire.hosted.answers import HostedAnswer
from groundwire.hosted.answers.types import items, object_of
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, WebSearchToolResult
from groundwire_server.error_body import Failed
from groundwire_server.openai.conversations import Utterance, question_in
from groundwire_server.openai.handler import PiecesHandler
from groundwire_server.openai.prompts import arguments_in, utterances_in

_SEARCH_TOOLS = ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")
_READ_TOOLS = ("urlContext", "url_context")
_TIME_FILTERS = ("timeRangeFilter", "time_range_filter")
_STATUS: Final[Mapping[int, str]] = {400: "INVALID_ARGUMENT", 502: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n")  # what begins another claim
_CLAIM_CHARS: Final = 2_000  # characters of a claim


class GeminiHandler(PiecesHandler):
    """A request for content; the URL says whether it is streamed."""

    api = "gemini"
    path = "/v1beta/models/"
    usage_key: ClassVar[str] = "usageMetadata"

    def __init__(self, *args: Any) -> None:
        self._queries: list[str] = []
        self._pages: list[dict[str, str]] = []
        super().__init__(*args)
        path, _, query = self.target.partition("?")
        self._named = path.rpartition("/")[2].partition(":")[0]
        self._streamed = path.endswith(":streamGenerateContent")
        if self._streamed and "alt=sse" not in query.split("&"):
            raise InvalidRequest("alt", "is not sse", "Add alt=sse to the URL: a search is streamed as events only.")

    @classmethod
    def requested_tools(cls, body: Mapping[str, Any]) -> Collection[str]:
        """Return the tools that the request asks for."""
        kinds = {kind for tool in items(body.get("tools")) for kind in tool}
        return [name for name, of in (("web_search", _SEARCH_TOOLS), ("open_page", _READ_TOOLS)) if kinds & {*of}]

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether a request has a tool that runs locally; others are forwarded unchanged."""
        return bool(body.get("contents")) and bool(cls.requested_tools(body))

    @classmethod
    def error(cls, failure: Failed) -> dict[str, Any]:
        """Return an error in the API's format."""
        status = _STATUS.get(failure.status, "INTERNAL")
        return {"error": {"code": failure.status, "message": failure.problem.message, "status": status}}

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream."""
        return self._streamed

    @property
    def model(self) -> str:
        """The model in the URL."""
        return str(self.request.get("model") or self._named)

    def idle(self) -> bytes:
        """Return what keeps an idle stream open."""
        return b": searching\r\n\r\n"

    def _extract_needs(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request with one search tool, and the requirements of the tools."""
        tools: list[Any] = []
        options: Mapping[str, Any] = {}
        for tool in items(body["tools"]):
            others = {name: value for name, value in tool.items() if name not in (*_SEARCH_TOOLS, *_READ_TOOLS)}
            own_options = next((tool[name] for name in _SEARCH_TOOLS if isinstance(tool.get(name), Mapping)), None)
            options = own_options or options
            tools += [others] if others else []
        span: Mapping[str, Any] = next(
            (options[name] for name in _TIME_FILTERS if isinstance(options.get(name), Mapping)), {}
        )
        blocked = options.get("excludeDomains") or options.get("exclude_domains") or ()
        needs = Needs(
            published_after=_day(span.get("startTime") or span.get("start_time")),
            published_before=_day(span.get("endTime") or span.get("end_time")),
            blocked_domains=tuple(blocked),
        )
        config = body.get("toolConfig")
        if isinstance(config, Mapping):
            body = {**body, "toolConfig": {k: v for k, v in config.items() if k != "includeServerSideToolInvocations"}}
        return {**body, "tools": [*tools, {"googleSearch": {}}]}, needs

    async def _restore_history(self) -> list[Any]:
        """Return the contents with stored runs."""
        restored: list[Any] = []
        place = 0
        for is_model, group in groupby(self.messages, _is_of_model):
            contents = list(group)
            if is_model:  # one turn, which clients may have in several contents
                restored += await self._stored_turn(contents, self.messages[:place]) or contents
            else:
                if restored and _has_results(restored[-1]) and _has_results(contents[0]):
                    contents[0] = {**contents[0], "parts": [*restored.pop()["parts"], *contents[0]["parts"]]}
                restored += contents
            place += len(contents)
        return restored

    async def _stored_turn(self, contents: list[Any], before: Sequence[Any]) -> list[Any]:
        """Return a turn of the model with the local calls that the client did not get; nothing if it has none."""
        for part in (part for content in contents for part in items(content.get("parts"))):
            if isinstance(call := part.get("functionCall", part.get("function_call")), Mapping):
                call_fields = {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
                if stored := await self.conversations.waiting_run(call_fields, question_in(before)):
                    self.run = stored
                    return list(stored.added)
        return []

    def _utterances(self) -> Iterator[Utterance]:
        """Yield the texts of the conversation; clients have an answer in pieces, which may divide a marker."""
        for is_model, group in groupby(self.messages, _is_of_model):
            if is_model:
                parts = (part for content in group for part in items(content.get("parts")))
                yield Utterance("".join(map(_text, parts)), "assistant")
            else:
                yield from utterances_in(list(group))

    def _model_request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """Return the request of a round, of which the URL says whether it is streamed."""
        return body

    def _streamed_answer(self) -> HostedAnswer:
        """Return the answer of a stream, which also a refusal may end."""
        if not self.tail:
            return super()._streamed_answer()
        self.stream_reader.close()
        return self.stream_reader.answer

    def _record_call(self, event: LoopEvent) -> None:
        """Record queries and pages."""
        if not isinstance(event, CallEnded):
            return
        result = event.result
        if isinstance(result, WebSearchToolResult):
            if arguments := arguments_in(event.call):
                self._queries.append(str(arguments.get("query", "")))
        elif isinstance(result, OpenPageToolResult):
            status = "SUCCESS" if result.status == "success" else "ERROR"
            self._pages.append(
                {"retrievedUrl": result.final_url or result.url, "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}"}
            )

    def _response(self, run: Run) -> dict[str, Any]:
        """Return one response, with the parts of all rounds."""
        value, parts = self.tail[-1][0], [part for parts in self.contents for part in parts]
        return self._last_piece(self._with_content(value, parts) if len(self.contents) > 1 else value, run)

    def _content(self, value: dict[str, Any]) -> list[dict[str, Any]]:
        return list(items(object_of(_candidate(value).get("content")).get("parts")))

    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        candidate = _candidate(value)
        parts = {"role": "model", **(candidate.get("content") or {}), "parts": content}
        return {**value, "candidates": [{**candidate, "content": parts}]}

    def _ends(self, value: dict[str, Any]) -> bool:
        return bool(_candidate(value).get("finishReason"))

    def _says(self, value: dict[str, Any]) -> bool:
        return bool(self._content(value))

    def _without_end(self, value: dict[str, Any]) -> dict[str, Any]:
        candidate = {name: field for name, field in _candidate(value).items() if name != "finishReason"}
        return {**value, "candidates": [candidate]}

    def _line(self, value: dict[str, Any]) -> bytes:
        """Return a response as an event."""
        return b"data: " + json.dumps(value).encode() + b"\r\n\r\n"

    def _client_content(self, content: list[dict[str, Any]], *, ends: bool) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        for part in content:
            call = part.get("functionCall")
            if isinstance(call, Mapping) and self.is_ours(call.get("name")):
                continue
            if _is_text(part):
                text = self.say(part["text"])
                if text != part["text"] and not text and set(part) == {"text"}:
                    continue
                part = {**part, "text": text}
            parts.append(part)
        if ends and (tail := self.say("", ends=True)):
            last = next((at for at in reversed(range(len(parts))) if _is_text(parts[at])), None)
            if last is None:
                parts.append({"text": tail})
            else:
                parts[last] = {**parts[last], "text": parts[last]["text"] + tail}
        return parts

    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        parts = self._content(value)
        if reason := self.excuse(run):
            parts = [*parts, {"text": reason}]
        response = value if parts == self._content(value) else self._with_content(value, parts)
        more = self._grounding()
        if self._pages:
            more["urlContextMetadata"] = {"urlMetadata": self._pages}
        if run.stop not in ("answered", "calls"):
            more["finishReason"] = "MAX_TOKENS"
        return {**response, "candidates": [{"index": 0, **_candidate(response), **more}]} if more else response

    def _grounding(self) -> dict[str, Any]:
        """Return the metadata of a candidate; nothing without a search or a citation. Its parts count as one text."""
        supports, cited = _supports(self.texts.get("content", ""), self.ledger)
        if not self._queries and not supports:
            return {}
        web = [
            {"web": {"uri": page.url, "title": page.title, "domain": urlsplit(page.url).hostname or ""}}
            for page in cited or self.ledger.sources
        ]
        return {
            "groundingMetadata": {
                "webSearchQueries": self._queries,
                "groundingChunks": web,
                "groundingSupports": supports,
            }
        }


def _candidate(value: Mapping[str, Any]) -> dict[str, Any]:
    return next((candidate for candidate in items(value.get("candidates")) if not candidate.get("index")), {})


def _is_text(part: Mapping[str, Any]) -> bool:
    """Whether a part is text of the answer."""
    return isinstance(part.get("text"), str) and not part.get("thought")


def _text(part: Mapping[str, Any]) -> str:
    return str(part["text"]) if _is_text(part) else ""


def _is_of_model(content: Any) -> bool:
    return isinstance(content, Mapping) and content.get("role") == "model"


def _has_results(content: Any) -> bool:
    parts = content.get("parts") if isinstance(content, Mapping) and not _is_of_model(content) else None
    last = parts[-1] if isinstance(parts, list) and parts else None
    return isinstance(last, Mapping) and ("functionResponse" in last or "function_response" in last)


def _day(moment: object) -> date | None:
    """Return the day of a timestamp, None if it is invalid."""
    with suppress(ValueError):
        return date.fromisoformat(str(moment or "")[:10])
    return None


def _supports(text: str, ledger: CitationLedger) -> tuple[list[dict[str, Any]], list[Source]]:
    """Return the sentences before the markers of a text, each with its pages by index, and these pages."""
    supports: list[dict[str, Any]] = []
    pages: dict[str, tuple[int, Source]] = {}
    before, size = 0, 0  # the end of the last marker, in characters and in bytes of UTF-8
    for start, end, numbers in marks_in(text):
        sources = [source for number in numbers if (source := ledger.get(number))]
        if not sources:
            continue
        indices = [pages.setdefault(source.url, (len(pages), source))[0] for source in sources]
        claim = text[before:start].rstrip()
        claim_end, size = size + _size(claim), size + _size(text[before:end])
        before = end
        claim = _SENTENCE.split(claim[-_CLAIM_CHARS:])[-1].lstrip(" \t,.;:")
        if claim:
            segment = {"startIndex": claim_end - _size(claim), "endIndex": claim_end, "text": claim}
            supports.append({"segment": segment, "groundingChunkIndices": indices})
        elif supports:  # more pages for the same words
            known = supports[-1]["groundingChunkIndices"]
            known += [index for index in indices if index not in known]
    return supports, [source for _, source in pages.values()]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
