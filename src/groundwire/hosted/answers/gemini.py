"""Answers of Gemini's generateContent (https://ai.google.dev/api/generate-content), in Google AI and Vertex."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import AnswerBuilder, ByteSpans, WireReader
from groundwire.hosted.answers.source_audit import site_of
from groundwire.hosted.answers.types import HostedError, count, first_text, items, object_of, offset, text_of, texts
from groundwire.hosted.answers.upstream_errors import outcome_of

_NORMAL_FINISHES = frozenset({"STOP", "MAX_TOKENS", "CONTINUATION", "FINISH_REASON_UNSPECIFIED"})
_RETRIEVED = "URL_RETRIEVAL_STATUS_SUCCESS"


class GeminiReader(WireReader):
    """Parses the first candidate; its citations can be placed only when the whole text is known."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._parts: list[dict[str, Any]] = []
        self._pieces: list[list[str]] = []  # the text of each part, which a stream splits
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
        candidate = next((row for row in items(data.get("candidates")) if count(row.get("index")) == 0), {})
        for part in items(object_of(candidate.get("content")).get("parts")):
            self._part(part)
        self._grounding(object_of(candidate.get("groundingMetadata")))
        self._pages(object_of(candidate.get("urlContextMetadata")))
        self._about(data)
        self._stop(candidate, object_of(data.get("promptFeedback")))

    def finish(self) -> None:
        """Place the citations, and build the turn."""
        for number, pieces in enumerate(self._pieces):
            if len(pieces) > 1:
                self._parts[number] = {**self._parts[number], "text": "".join(pieces)}
        texts_of_parts = [text_of(part.get("text")) if part.get("thought") is not True else "" for part in self._parts]
        offsets = [self.answer.add_text(text)[0] for text in texts_of_parts]
        for url in self._pages_read:
            self.answer.add_source(url)
        self.answer.count_searches(len(self._queries))
        spans = ByteSpans(self.answer.text)
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
            self.answer.turn = [{"role": "model", "parts": self._parts}]

    def _cited(self, support: dict[str, Any], base: int, words: str, span: tuple[int, int] | None) -> None:
        indices = support.get("groundingChunkIndices")
        for index in indices if isinstance(indices, list) else []:
            number = offset(index)
            if number is not None and base + number < len(self._chunks):
                url, title, site = _page(self._chunks[base + number])
                self.answer.add_citation(url, title, cited_text=words, span=span, covers="claim", site=site)

    def _part(self, part: dict[str, Any]) -> None:
        if text_of(part.get("text")) and part.get("thought") is not True:
            self.answer.stream_text(part.get("text"))
        last = self._parts[-1] if self._parts else {}
        # A part with a signature is kept as received.
        alike = {"text"} <= set(last) == set(part) <= {"text", "thought"} and last.get("thought") == part.get("thought")
        if self._joins and alike:
            self._pieces[-1].append(text_of(part.get("text")))
        else:
            self._parts.append(part)
            self._pieces.append([text_of(part.get("text"))])
        call = object_of(part.get("functionCall"))
        if call:
            self.answer.add_call(call.get("id"), call.get("name"), call.get("args"))

    def _grounding(self, metadata: dict[str, Any]) -> None:
        # Not those of `toolCall` parts: a search is listed here by the answer that is based on it, so that one made
        # before the caller's functions had answered would count twice.
        for query in texts(metadata.get("webSearchQueries")):
            self.answer.add_query(query)
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
        earlier = [support for support, _ in self._supports]
        if supports[: len(earlier)] == earlier:
            supports = supports[len(earlier) :]
        self._supports += [(support, base) for support in supports]
        for chunk in chunks:
            url, title, site = _page(chunk)
            self.answer.add_source(url, title, site=site)

    def _pages(self, metadata: dict[str, Any]) -> None:
        for page in items(metadata.get("urlMetadata")):
            self.answer.count_fetch()
            status = text_of(page.get("urlRetrievalStatus"))
            if status in {"", _RETRIEVED}:
                self.answer.add_opened_page(page.get("retrievedUrl"))
                self._pages_read.append(text_of(page.get("retrievedUrl")))
            else:
                self.answer.add_tool_error("url_context", status, page.get("retrievedUrl"))

    def _about(self, body: dict[str, Any]) -> None:
        self.answer.set_model(body.get("modelVersion"))
        self.answer.set_usage("gemini", object_of(body.get("usageMetadata")))

    def _stop(self, candidate: dict[str, Any], feedback: dict[str, Any]) -> None:
        reason, refusal = text_of(candidate.get("finishReason")), text_of(feedback.get("blockReason"))
        self.stop(reason or (self.answer.stop_reason if refusal else "") or refusal)
        for code, words in ((reason, candidate.get("finishMessage")), (refusal, feedback.get("blockReasonMessage"))):
            if code and code not in _NORMAL_FINISHES:
                self.answer.add_error(HostedError(code=code, outcome=outcome_of(code), message=text_of(words)[:300]))


def _page(chunk: dict[str, Any]) -> tuple[str, str, str]:
    """Return the URL, the title and the site of a grounding chunk; all empty if it is not a page."""
    about = next(filter(None, map(object_of, map(chunk.get, ("web", "retrievedContext", "maps", "image")))), {})
    url, title = first_text(about.get("uri"), about.get("sourceUri")), text_of(about.get("title"))
    return url, title, site_of(url, about.get("domain"), title)
