"""Answers of Gemini's generateContent (https://ai.google.dev/api/generate-content), in Google AI and Vertex."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import ByteSpans, Gather
from groundwire.hosted.answers.source_audit import site_of
from groundwire.hosted.answers.types import HostedError, count, items, object_of, offset, text_of, texts
from groundwire.hosted.answers.upstream_errors import outcome_of

__all__ = ["GeminiReader"]

_FINE = frozenset({"STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"})
_RETRIEVED = "URL_RETRIEVAL_STATUS_SUCCESS"


class GeminiReader:
    """Parses the first candidate; its citations can be placed only when the whole text is known."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._parts: list[dict[str, Any]] = []
        self._joins = True  # consecutive pieces of one text, as split by a stream
        self._chunks: list[dict[str, Any]] = []
        self._supports: list[tuple[dict[str, Any], int]] = []  # a support, and the index at which its chunks start
        self._pages_read: list[str] = []
        self._queries: set[str] = set()

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        self._joins = False
        self.event("", body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one response of a stream; each has the format of a whole one."""
        del name
        candidate = next((one for one in items(data.get("candidates")) if count(one.get("index")) == 0), {})
        for part in items(object_of(candidate.get("content")).get("parts")):
            self._part(part)
        self._grounding(object_of(candidate.get("groundingMetadata")))
        self._pages(object_of(candidate.get("urlContextMetadata")))
        self._about(data)
        self._stop(candidate, object_of(data.get("promptFeedback")))

    def finish(self) -> None:
        """Place the citations, and build the turn."""
        texts_of_parts = [text_of(part.get("text")) if part.get("thought") is not True else "" for part in self._parts]
        offsets = [self._gather.say(text)[0] for text in texts_of_parts]
        for url in self._pages_read:
            self._gather.source(url)
        self._gather.searched(len(self._queries))
        spans = ByteSpans(self._gather.text)
        for support, base in self._supports:
            segment = object_of(support.get("segment"))
            index = offset(segment.get("partIndex")) or 0
            words = text_of(segment.get("text"))
            within = spans
            if 0 < index < len(texts_of_parts):
                within = ByteSpans(texts_of_parts[index], offsets[index])
            span = within.span(segment.get("startIndex"), segment.get("endIndex"), words)
            if span is None and within is not spans:
                span = spans.span(segment.get("startIndex"), segment.get("endIndex"), words)
            self._cited(support, base, words, span)
        if self._parts:
            self._gather.turn = [{"role": "model", "parts": self._parts}]

    def _cited(self, support: dict[str, Any], base: int, words: str, span: tuple[int, int] | None) -> None:
        indices = support.get("groundingChunkIndices")
        for index in indices if isinstance(indices, list) else []:
            place = offset(index)
            if place is not None and base + place < len(self._chunks):
                url, title, site = _page(self._chunks[base + place])
                self._gather.cite(url, title, cited_text=words, span=span, covers="claim", site=site)

    def _part(self, part: dict[str, Any]) -> None:
        if text_of(part.get("text")) and part.get("thought") is not True:
            self._gather.delta(part.get("text"))
        last = self._parts[-1] if self._parts else {}
        # A part with a signature is kept as received.
        alike = {"text"} <= set(last) == set(part) <= {"text", "thought"} and last.get("thought") == part.get("thought")
        if self._joins and alike:
            self._parts[-1] = {**part, "text": text_of(last.get("text")) + text_of(part.get("text"))}
        else:
            self._parts.append(part)
        call = object_of(part.get("functionCall"))
        if call:
            self._gather.call(call.get("id"), call.get("name"), call.get("args"))

    def _grounding(self, metadata: dict[str, Any]) -> None:
        # Not those of `toolCall` parts: a search is listed here by the answer that is based on it, so that one made
        # before the caller's functions had answered would count twice.
        for query in texts(metadata.get("webSearchQueries")):
            self._gather.query(query)
            self._queries.add(query)
        chunks = list(items(metadata.get("groundingChunks")))
        supports = list(items(metadata.get("groundingSupports")))
        base = 0
        if chunks:
            if chunks[: len(self._chunks)] == self._chunks:  # a stream may repeat all chunks and add more
                self._chunks = chunks
            else:
                base = len(self._chunks)
                self._chunks = self._chunks + chunks
        known = [support for support, _ in self._supports]
        again = supports[: len(known)] == known
        self._supports += [(support, base) for support in (supports[len(known) :] if again else supports)]
        for chunk in chunks:
            self._source(chunk)

    def _source(self, chunk: dict[str, Any]) -> None:
        url, title, site = _page(chunk)
        self._gather.source(url, title, site=site)

    def _pages(self, metadata: dict[str, Any]) -> None:
        for page in items(metadata.get("urlMetadata")):
            self._gather.fetched()
            status = text_of(page.get("urlRetrievalStatus"))
            if status in {"", _RETRIEVED}:
                self._gather.opened(page.get("retrievedUrl"))
                self._pages_read.append(text_of(page.get("retrievedUrl")))
            else:
                self._gather.tool_failed("url_context", status, page.get("retrievedUrl"))

    def _about(self, body: dict[str, Any]) -> None:
        if model := text_of(body.get("modelVersion")):
            self._gather.model = model
        usage = object_of(body.get("usageMetadata"))
        self._gather.spent(
            {
                "input_tokens": count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount")),
                "output_tokens": count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount")),
            }
        )

    def _stop(self, candidate: dict[str, Any], feedback: dict[str, Any]) -> None:
        reason = text_of(candidate.get("finishReason"))
        if reason:
            self.complete = True
            self._gather.stop_reason = reason
        refused = text_of(feedback.get("blockReason"))
        if refused:
            self.complete = True
            self._gather.stop_reason = self._gather.stop_reason or refused
        for code, words in ((reason, candidate.get("finishMessage")), (refused, feedback.get("blockReasonMessage"))):
            if code and code not in _FINE:
                self._gather.fail(HostedError(code=code, outcome=outcome_of(code), message=text_of(words)[:300]))


def _page(chunk: dict[str, Any]) -> tuple[str, str, str]:
    """Return the URL, the title and the site of a grounding chunk; all empty if it is not a page."""
    about = object_of(chunk.get("web")) or object_of(chunk.get("retrievedContext")) or object_of(chunk.get("maps"))
    url, title = text_of(about.get("uri")), text_of(about.get("title"))
    return url, title, site_of(url, about.get("domain"), title)
