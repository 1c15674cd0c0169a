"""Gemini's generateContent: Google Search and URL context run locally, with responses in the API's format.

The model's markers become `groundingSupports`. The client's history does not contain them, so they are restored by the
words of a response, for the same client and as long as the numbers are stored.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import accumulate
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from groundwire.agent_loop import CallEnded, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.errors import InvalidRequest
from groundwire.hosted import Needs
from groundwire.hosted.answers import HostedAnswer
from groundwire.hosted.answers.types import items, object_of
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, WebSearchToolResult
from groundwire_server.error_body import Failed
from groundwire_server.openai.conversations import History, Utterance, question_in
from groundwire_server.openai.message_pieces import PiecesHandler
from groundwire_server.openai.prompts import arguments_in, utterances_in

__all__ = ["GeminiHandler"]

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
        self._text = ""  # what the client has got
        self._grounding = _Grounding()
        self._shown_before = History()  # what the client has got and asked
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
        for tool in body["tools"]:
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
        """Return the contents with stored runs, and with the markers of earlier responses."""
        restored: list[Any] = []
        turn: list[Any] = []
        for place, content in enumerate([*self.messages, None]):
            if isinstance(content, Mapping) and content.get("role") == "model":
                turn.append(content)
                continue
            restored += await self._turn(turn, self.messages[: place - len(turn)])
            turn = []
            if content is None:
                break
            for utterance in utterances_in([content]):
                self._shown_before.add(utterance)
            if restored and _has_results(restored[-1]) and _has_results(content):
                content = {**content, "parts": [*restored.pop()["parts"], *content["parts"]]}
            restored.append(content)
        self._history = restored
        return restored

    async def _turn(self, contents: list[Any], before: Any) -> list[Any]:
        """Return one turn of the model, which clients may have in several contents."""
        for utterance in utterances_in(contents):
            self._shown_before.add(utterance)
        if not contents:
            return []
        parts = [part for content in contents for part in items(content.get("parts"))]
        for part in parts:
            if isinstance(call := part.get("functionCall", part.get("function_call")), Mapping):
                call_fields = {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
                if stored := await self.conversations.waiting_run(call_fields, question_in(before)):
                    self.run = stored
                    return list(stored.added)
        marked = await self.conversations.saved_answer(self._shown_before) if any(map(_text, parts)) else ""
        if not marked:
            return contents
        return [{"role": "model", "parts": [{"text": marked}, *(part for part in parts if "text" not in part)]}]

    def _utterances(self) -> tuple[Utterance, ...]:
        """Return the texts of the conversation, with their markers."""
        return utterances_in(self._history if self.messages else ())

    def _model_request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """Return the request of a round, of which the URL says whether it is streamed."""
        return body

    async def _begin_round(self) -> None:
        await super()._begin_round()
        self._cited = CitedText(self.ledger)

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
                self._grounding.queries.append(str(arguments.get("query", "")))
        elif isinstance(result, OpenPageToolResult):
            status = "SUCCESS" if result.status == "success" else "ERROR"
            self._pages.append(
                {"retrievedUrl": result.final_url or result.url, "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}"}
            )

    def _response(self, run: Run) -> dict[str, Any]:
        """Return one response, with the parts of all rounds."""
        value, parts = self.tail[-1][0], [part for parts in self.contents for part in parts]
        return self._last_piece(self._with_content(value, parts) if len(self.contents) > 1 else value, run)

    async def _remember(self, run: Run) -> None:
        await super()._remember(run)
        if self._text:
            self._shown_before.add(Utterance(self._text, "assistant"))
            await self.conversations.save_answer(self._shown_before, self.texts["content"])

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
                text = self._without_markers(part["text"])
                if text != part["text"] and not text and set(part) == {"text"}:
                    continue
                part = {**part, "text": text}
            parts.append(part)
        if ends and (tail := self._without_markers("", ends=True)):
            last = next((at for at in reversed(range(len(parts))) if _is_text(parts[at])), None)
            if last is None:
                parts.append({"text": tail})
            else:
                parts[last] = {**parts[last], "text": parts[last]["text"] + tail}
        return parts

    def _without_markers(self, text: str, *, ends: bool = False) -> str:
        """Return a text without its markers, and record what they support."""
        text = self.say(text, ends=ends)
        visible = ""
        for piece, sources in [*self._cited.feed(text), *(self._cited.close() if ends else ())]:
            visible += piece
            self._text += piece
            self._grounding.say(piece)
            if sources:
                self._grounding.support(sources)
        return visible

    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        parts = self._content(value)
        if reason := self.excuse(run):
            parts = [*parts, {"text": reason}]
        response = value if parts == self._content(value) else self._with_content(value, parts)
        texts = None if self._streamed else [_text(part) for part in parts]
        more = self._grounding.metadata(texts, self.ledger.sources)
        if self._pages:
            more["urlContextMetadata"] = {"urlMetadata": self._pages}
        if run.stop not in ("answered", "calls"):
            more["finishReason"] = "MAX_TOKENS"
        return {**response, "candidates": [{"index": 0, **_candidate(response), **more}]} if more else response


def _candidate(value: Mapping[str, Any]) -> dict[str, Any]:
    return next((candidate for candidate in items(value.get("candidates")) if not candidate.get("index")), {})


def _is_text(part: Mapping[str, Any]) -> bool:
    """Whether a part is text of the answer."""
    return isinstance(part.get("text"), str) and not part.get("thought")


def _text(part: Mapping[str, Any]) -> str:
    return str(part["text"]) if _is_text(part) else ""


def _has_results(content: Any) -> bool:
    parts = content.get("parts") if isinstance(content, Mapping) and content.get("role") != "model" else None
    last = parts[-1] if isinstance(parts, list) and parts else None
    return isinstance(last, Mapping) and ("functionResponse" in last or "function_response" in last)


def _day(moment: object) -> date | None:
    """Return the day of a timestamp, None if it is invalid."""
    with suppress(ValueError):
        return date.fromisoformat(str(moment or "")[:10])
    return None


class _Grounding:
    """Collects the text of a response and the pages that it cites, for `groundingMetadata`."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        """The queries."""
        self._claim = ""  # the text since the last citation
        self._bytes = 0  # of all text, in UTF-8
        self._supports: list[dict[str, Any]] = []
        self._chunks: dict[str, tuple[int, Source]] = {}

    def say(self, text: str) -> None:
        """Add text."""
        self._claim = (self._claim + text)[-_CLAIM_CHARS:]
        self._bytes += _size(text)

    def support(self, sources: Sequence[Source]) -> None:
        """Record that these pages support the last sentence."""
        indices = [self._chunks.setdefault(source.url, (len(self._chunks), source))[0] for source in sources]
        claim = self._claim.rstrip()
        if not claim.strip(" \t\n,.;:"):  # more pages for the same words
            indices_before = self._supports[-1]["groundingChunkIndices"] if self._supports else []
            indices_before += [index for index in indices if index not in indices_before]
            return
        end = self._bytes - _size(self._claim[len(claim) :])
        claim = _SENTENCE.split(claim)[-1].lstrip(" \t,.;:")
        segment = {"startIndex": end - _size(claim), "endIndex": end, "text": claim}
        self._supports.append({"segment": segment, "groundingChunkIndices": indices})
        self._claim = ""

    def metadata(self, texts: Sequence[str] | None, sources: Sequence[Source]) -> dict[str, Any]:
        """Return the metadata of a candidate; nothing without a search or a citation.

        Args:
            texts: The texts of its parts, in which the API counts; None in a stream, whose text counts as one.
            sources: The pages that were found, listed if none is cited.
        """
        if not self.queries and not self._supports:
            return {}
        pages = [source for _, source in self._chunks.values()] or sources
        web = [
            {"web": {"uri": page.url, "title": page.title, "domain": urlsplit(page.url).hostname or ""}}
            for page in pages
        ]
        return {
            "groundingMetadata": {
                "webSearchQueries": self.queries,
                "groundingChunks": web,
                "groundingSupports": self._supports if texts is None else _by_part(self._supports, texts),
            }
        }


def _by_part(supports: Sequence[dict[str, Any]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return supports whose positions are counted from the beginning of their part, as in the API."""
    ends = list(accumulate(map(_size, texts)))
    placed: list[dict[str, Any]] = []
    for support in supports:
        segment = support["segment"]
        index = bisect_left(ends, segment["endIndex"])
        begins = ends[index - 1] if index else 0
        moved = {"startIndex": max(segment["startIndex"], begins) - begins, "endIndex": segment["endIndex"] - begins}
        placed.append({**support, "segment": {**({"partIndex": index} if index else {}), **segment, **moved}})
    return placed


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
