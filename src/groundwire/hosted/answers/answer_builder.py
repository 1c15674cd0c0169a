"""The base of the parsers of wire formats, and the builder of the answer.

Citation spans are converted to code points of the whole answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from groundwire.hosted.answers.types import (
    Covers,
    Finish,
    HostedAnswer,
    HostedCall,
    HostedCitation,
    HostedError,
    HostedSource,
    HostedUsage,
    SourcesFrom,
    answer_words,
    clean_url,
    count,
    first_text,
    items,
    object_of,
    offset,
    text_of,
)
from groundwire.hosted.answers.upstream_errors import outcome_of, truncated

_FINISHES: Final[Mapping[str, Finish]] = {
    word: finish for finish, words in answer_words()["finishes"].items() for word in words.split()
}

_DATE_FIELDS = ("date", "publish_date", "published_at", "page_age")  # the APIs' names for it


class AnswerBuilder:
    """Builds one answer.

    A whole body and a stream make the same calls in the same order; only `stream_text` is specific to streams.

    Args:
        api: The API's name.
    """

    def __init__(self, api: str) -> None:
        self.api = api
        self.model: str = ""
        self.stop_reason: str | None = None
        self.turn: list[dict[str, Any]] = []
        self.usage: HostedUsage = HostedUsage()
        self.length: int = 0
        """The length of the text, in code points."""
        self._texts: list[str] = []
        self._streamed = 0
        self._queries: dict[str, None] = {}
        self._sources: dict[str, HostedSource] = {}
        self._opened: dict[str, None] = {}
        self._citations: list[HostedCitation] = []
        self._errors: dict[HostedError, None] = {}
        self._calls: list[HostedCall] = []
        self._new_text: list[str] = []  # since the last call of `new_text`
        self._searches = 0
        self._fetches = 0

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._texts) > 1:
            self._texts = ["".join(self._texts)]
        return self._texts[0] if self._texts else ""

    @property
    def has_errors(self) -> bool:
        """Whether there was an error."""
        return bool(self._errors)

    def set_model(self, model: object) -> None:
        """Set the model, if `model` names one."""
        self.model = text_of(model) or self.model

    def stream_text(self, text: object) -> None:
        """Pass on streamed text; `add_text` follows when its part is complete."""
        if piece := text_of(text):
            self._streamed += len(piece)
            self._new_text.append(piece)

    def add_text(self, text: object) -> tuple[int, int]:
        """Add a complete part of the answer's text.

        Returns:
            The start and end of the part.
        """
        part, start = text_of(text), self.length
        if part:
            self._texts.append(part)
            self.length += len(part)
            if self._streamed < self.length:
                self.stream_text(part[len(part) - (self.length - self._streamed) :])
        return start, self.length

    def add_query(self, words: object) -> None:
        """Record a search query of the model."""
        if query := text_of(words):
            self._queries[query] = None

    def count_searches(self, times: int = 1) -> None:
        """Count searches that are visible in the answer."""
        self._searches += times

    def count_fetch(self) -> None:
        """Count a fetched page."""
        self._fetches += 1

    def add_sources(self, rows: object) -> None:
        """Record the pages in a list of results of any API."""
        for row in items(rows):
            self.add_source(
                first_text(row.get("url"), row.get("link")),
                row.get("title"),
                snippet=first_text(row.get("snippet"), row.get("content")),
                published=first_text(*(row.get(name) for name in _DATE_FIELDS)),
            )

    def add_source(
        self, url: object, title: object = "", *, snippet: object = "", published: object = "", site: object = ""
    ) -> None:
        """Record a page that was found or fetched; later mentions fill in missing fields."""
        address = clean_url(url)
        if not address:
            return
        earlier = self._sources.get(address, HostedSource(url=address))
        fields = {"title": title, "snippet": snippet, "published": published, "site": site}
        new = {name: text_of(value) for name, value in fields.items() if not getattr(earlier, name)}
        self._sources[address] = replace(earlier, **new)

    def set_title(self, url: object, title: object) -> None:
        """Set the title of a recorded page that has none."""
        if clean_url(url) in self._sources:
            self.add_source(url, title)

    def add_opened_page(self, url: object) -> None:
        """Record a page that the model opened."""
        if address := clean_url(url):
            self._opened[address] = None

    def add_citation(
        self,
        url: object,
        title: object = "",
        *,
        cited_text: object = "",
        span: tuple[int, int] | None = None,
        covers: Covers = "nothing",
        position: int | None = None,
        site: object = "",
    ) -> None:
        """Record a citation.

        Args:
            url: The page's URL; a citation without one is ignored.
            title: The page's title.
            cited_text: The quotation given by the API.
            span: Start and end of the span in the whole text.
            covers: What the span covers; ignored without a span.
            position: The position of a marker for it, if there is no span.
            site: The page's host, if the URL only redirects to it.
        """
        address = clean_url(url)
        if not address:
            return
        start, end = span or (None, None)
        citation = HostedCitation(
            url=address,
            title=text_of(title),
            cited_text=text_of(cited_text),
            start=start,
            end=end,
            covers=covers if span else "nothing",
            position=end if span else position,
            site=text_of(site),
        )
        self._citations.append(citation)

    def add_error(self, error: HostedError) -> None:
        """Record an error; the same error is recorded once."""
        self._errors[error] = None

    def refuse(self, code: str, message: object = "") -> None:
        """Record that a filter or the model refused the answer."""
        self.add_error(HostedError(code=code, outcome="blocked", message=text_of(message)[:300]))

    def add_tool_error(self, tool: str, code: object, message: object = "") -> None:
        """Record a failed search or fetch inside a successful answer; identical failures are recorded once."""
        words = text_of(code)[:100] or "failed"
        self.add_error(HostedError(code=words, outcome=outcome_of(words), message=text_of(message)[:300], tool=tool))

    def add_call(self, id_: object, name: object, arguments: object) -> None:
        """Record a call of one of the caller's own functions."""
        self._calls.append(HostedCall(id=text_of(id_), name=text_of(name), arguments=arguments))

    def new_text(self) -> list[str]:
        """Return the pieces of text that have come since the last call."""
        pieces, self._new_text = self._new_text, []
        return pieces

    def build(self, *, complete: bool = True) -> HostedAnswer:
        """Return the answer.

        Args:
            complete: False when a stream ended before the answer did.
        """
        if not complete and not self._errors:
            self.add_error(truncated(self.api, max(self.length, self._streamed)))
        sources_from: SourcesFrom = "results" if self._sources else "citations" if self._citations else "none"
        if sources_from == "citations":
            for citation in self._citations:
                self.add_source(citation.url, citation.title, site=citation.site)
        errors = tuple(self._errors)
        return HostedAnswer(
            api=self.api,
            model=self.model,
            text=self.text,
            queries=tuple(self._queries),
            sources=tuple(self._sources.values()),
            sources_from=sources_from,
            citations=tuple(self._citations),
            opened=tuple(self._opened),
            error=errors[0] if errors else None,
            errors=errors,
            usage=replace(
                self.usage,
                searches=self.usage.searches or self._searches,
                fetches=self.usage.fetches or self._fetches,
            ),
            stop_reason=self.stop_reason,
            finish=self._finish(errors),
            calls=tuple(self._calls),
            turn=tuple(self.turn),
        )

    def _finish(self, errors: tuple[HostedError, ...]) -> Finish:
        request_error = next((error for error in errors if not error.tool), None)
        if request_error is not None:
            return "refused" if request_error.outcome == "blocked" else "failed"
        if self._calls and self.stop_reason:
            return "tool_calls"
        return _FINISHES.get((self.stop_reason or "").lower(), "unknown")

    def set_usage(self, wire: str, usage: Mapping[str, Any], searches: int = 0) -> None:
        """Replace the usage reported so far; a number of 0 replaces nothing.

        Args:
            wire: The row of `usage` in `data/answers.toml`, which says where the numbers are.
            usage: The object that has them.
            searches: The number of searches, if it is not among them.
        """
        rows = answer_words()["usage"][wire]
        numbers = {name: next(filter(None, (_total(usage, paths) for paths in rows[name])), 0) for name in rows}
        numbers["searches"] = searches or numbers.get("searches", 0)
        self.usage = replace(self.usage, **{name: number for name, number in numbers.items() if number})


def _total(usage: Mapping[str, Any], paths: str) -> int:
    """Return the sum of the numbers at some paths; those with an `&` count only beside others."""
    total = 0
    for path in paths.split():
        *outer, last = path.removeprefix("&").split(".")
        inner = usage
        for name in outer:
            inner = object_of(inner.get(name))
        if total or not path.startswith("&"):
            total += count(inner.get(last))
    return total


class StreamedParts:
    """The parts of an answer that a stream has begun and not ended; some of their fields come in pieces."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, Any]] = {}
        self._pieces: defaultdict[int, defaultdict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))

    @property
    def indexes(self) -> list[int]:
        """The indexes of the parts, in order."""
        return sorted(self._parts)

    def begin(self, index: int, part: dict[str, Any]) -> dict[str, Any]:
        """Begin a part and return it; one that has begun stays."""
        return self._parts.setdefault(index, part)

    def add(self, index: int, field: str, *pieces: object) -> None:
        """Add pieces to a field of a part: of its text, or elements of its list; other values are ignored."""
        if known := [piece for piece in pieces if isinstance(piece, (str, dict))]:
            self._pieces[index][field] += known

    def end(self, index: int) -> dict[str, Any] | None:
        """End a part and return it with its fields joined; None if none has begun."""
        part = self._parts.pop(index, None)
        if part is None:
            return None
        for field, pieces in self._pieces.pop(index, {}).items():
            texts = [text_of(piece) for piece in pieces if isinstance(piece, str)]
            part[field] = text_of(part.get(field)) + "".join(texts) if texts else [*items(part.get(field)), *pieces]
        return part


def joined(content: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return content with the pieces of each text joined, and their annotations."""
    whole: list[dict[str, Any]] = []
    for kind, group in groupby(content, key=lambda piece: piece.get("type")):
        pieces = list(group)
        if kind != "text":
            whole += pieces
            continue
        notes = [note for piece in pieces for note in items(piece.get("annotations"))]
        text = {**pieces[0], "text": "".join(text_of(piece.get("text")) for piece in pieces)}
        whole.append({**text, "annotations": notes} if notes else text)
    return whole


class WireReader(ABC):
    """Parses one wire format: one whole body, or the events of a stream followed by `finish`.

    Args:
        answer: The builder of the answer.
    """

    def __init__(self, answer: AnswerBuilder) -> None:
        self.answer = answer
        self.complete: bool = False
        """Whether a stream has signaled the end of the answer."""

    @abstractmethod
    def whole(self, body: dict[str, Any]) -> None:
        """Parse a whole body."""

    @abstractmethod
    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event of a stream.

        Args:
            name: The event's name, or empty.
            data: Its data.
        """

    @abstractmethod
    def finish(self) -> None:
        """Parse the unfinished parts at the end of a stream, complete or interrupted, and build the turn."""

    def stop(self, reason: object) -> str:
        """Take the reason for which the model stopped, if there is one, and return it."""
        text = text_of(reason)
        if text:
            self.complete = True
            self.answer.stop_reason = text
        return text


def span_in_text(start: object, end: object, length: int, begins: int) -> tuple[int, int] | None:
    """Convert a span of a part to one of the whole text; None if it is invalid.

    Args:
        start: The start in the part, in code points, as sent by the API.
        end: The end in the part.
        length: The length of the part.
        begins: The start of the part in the whole text.
    """
    first, last = offset(start), offset(end)
    if first is None or last is None or not first < last <= length:
        return None  # including 0 to 0, which OpenRouter sends for an unknown span
    return begins + first, begins + last


class ByteSpans:
    """Converts spans in UTF-8 bytes to spans in code points of one text.

    Args:
        text: The text of one part.
        begins: The start of the part in the whole text, in code points.
    """

    def __init__(self, text: str, begins: int = 0) -> None:
        self._text = text
        self._begins = begins
        self._bytes = text.encode("utf-8", "surrogatepass")
        self._plain = len(self._bytes) == len(text)

    def span(self, start: object, end: object, segment: str) -> tuple[int, int] | None:
        """Return the span in the whole text, or None if it cannot be found.

        Gemini's offsets drift, especially after multibyte characters; the nearest occurrence of the segment's text is
        used then.

        Args:
            start: The start, in bytes, as sent; Gemini omits 0.
            end: The end.
            segment: The text it covers, as sent, or empty.
        """
        first, last = offset(start) if start is not None else 0, offset(end)
        at = self._characters(first or 0)
        if segment and (nearest := self._nearest(segment, at)) is not None:
            return self._begins + nearest, self._begins + nearest + len(segment)
        if first is None or last is None or not first < last <= len(self._bytes):
            return None
        return self._begins + at, self._begins + self._characters(last)

    def _characters(self, position: int) -> int:
        if self._plain:
            return min(position, len(self._text))
        return len(self._bytes[:position].decode("utf-8", "ignore"))

    def _nearest(self, segment: str, at: int) -> int | None:
        before = self._text.rfind(segment, 0, at + len(segment))
        after = self._text.find(segment, at)
        if before < 0 or after < 0:
            position = max(before, after)
            return position if position >= 0 else None
        return before if at - before <= after - at else after
