"""The parser interface for wire formats, and the builder of events and the final answer.

Citation spans are converted to code points of the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from groundwire.hosted.answers.types import (
    AnswerEvent,
    CitationAdded,
    Covers,
    Ended,
    ErrorMet,
    Finish,
    HostedAnswer,
    HostedCall,
    HostedCitation,
    HostedError,
    HostedSource,
    HostedUsage,
    PageOpened,
    QueryIssued,
    SourceFound,
    SourcesFrom,
    TextAdded,
    UsageReported,
    answer_words,
    clean_url,
    offset,
    text_of,
)
from groundwire.hosted.answers.upstream_errors import outcome_of, truncated

__all__ = ["ByteSpans", "Gather", "WireReader", "in_part"]

_FINISHES: Final[Mapping[str, Finish]] = {
    word: finish for finish, words in answer_words()["finishes"].items() for word in words.split()
}


class Gather:
    """Collects one answer.

    A whole body and a stream make the same calls in the same order; only `delta` is specific to streams.

    Args:
        api: The API's name.
    """

    def __init__(self, api: str) -> None:
        self.api = api
        self.model = ""
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
        self._events: list[AnswerEvent] = []
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

    def delta(self, text: object) -> None:
        """Pass on streamed text; `say` follows when its part is complete."""
        if fresh := text_of(text):
            self._streamed += len(fresh)
            self._events.append(TextAdded(fresh))

    def say(self, text: object) -> tuple[int, int]:
        """Add a complete part of the answer's text.

        Returns:
            The start and end of the part.
        """
        part, start = text_of(text), self.length
        if part:
            self._texts.append(part)
            self.length += len(part)
            if self._streamed < self.length:
                self.delta(part[len(part) - (self.length - self._streamed) :])
        return start, self.length

    def query(self, words: object) -> None:
        """Record a search query of the model."""
        query = text_of(words)
        if query and query not in self._queries:
            self._queries[query] = None
            self._events.append(QueryIssued(query))

    def searched(self, times: int = 1) -> None:
        """Count searches that are visible in the answer."""
        self._searches += times

    def fetched(self) -> None:
        """Count a fetched page."""
        self._fetches += 1

    def source(
        self, url: object, title: object = "", *, snippet: object = "", published: object = "", site: object = ""
    ) -> None:
        """Record a page that was found or fetched; later mentions fill in missing fields."""
        address = clean_url(url)
        if not address:
            return
        fresh = HostedSource(
            url=address,
            title=text_of(title),
            snippet=text_of(snippet),
            published=text_of(published),
            site=text_of(site),
        )
        known = self._sources.get(address)
        if known is None:
            self._sources[address] = fresh
            self._events.append(SourceFound(fresh))
        elif not (known.title and known.snippet and known.published):
            self._sources[address] = replace(
                known,
                title=known.title or fresh.title,
                snippet=known.snippet or fresh.snippet,
                published=known.published or fresh.published,
            )

    def name(self, url: object, title: object) -> None:
        """Set the title of a recorded page that has none."""
        known = self._sources.get(clean_url(url))
        if known is not None and not known.title:
            self._sources[known.url] = replace(known, title=text_of(title))

    def opened(self, url: object) -> None:
        """Record a page that the model opened."""
        address = clean_url(url)
        if address and address not in self._opened:
            self._opened[address] = None
            self._events.append(PageOpened(address))

    def cite(
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
        made = HostedCitation(
            url=address,
            title=text_of(title),
            cited_text=text_of(cited_text),
            start=start,
            end=end,
            covers=covers if span else "nothing",
            position=end if span else position,
            site=text_of(site),
        )
        self._citations.append(made)
        self._events.append(CitationAdded(made))

    def fail(self, error: HostedError) -> None:
        """Record an error; the same error is recorded once."""
        if error not in self._errors:
            self._errors[error] = None
            self._events.append(ErrorMet(error))

    def tool_failed(self, tool: str, code: object, message: object = "") -> None:
        """Record a failed search or fetch inside a successful answer; identical failures are recorded once."""
        words = text_of(code)[:100] or "failed"
        self.fail(HostedError(code=words, outcome=outcome_of(words), message=text_of(message)[:300], tool=tool))

    def call(self, id_: object, name: object, arguments: object) -> None:
        """Record a call of one of the caller's own functions."""
        self._calls.append(HostedCall(id=text_of(id_), name=text_of(name), arguments=arguments))

    def drain(self) -> list[AnswerEvent]:
        """Return the events since the last call."""
        events, self._events = self._events, []
        return events

    def end(self, *, complete: bool = True) -> HostedAnswer:
        """Return the answer and complete the last events.

        Args:
            complete: False when a stream ended before the answer did.
        """
        if not complete and not self._errors:
            self.fail(truncated(self.api, max(self.length, self._streamed)))
        answer = self._answer()
        self._events += [UsageReported(answer.usage), Ended(answer)]
        return answer

    def _answer(self) -> HostedAnswer:
        sources_from: SourcesFrom = "results" if self._sources else "citations" if self._citations else "none"
        if sources_from == "citations":
            for one in self._citations:
                self.source(one.url, one.title, site=one.site)
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
        whole = [error for error in errors if not error.tool]
        if whole:
            return "refused" if whole[0].outcome == "blocked" else "failed"
        if self._calls and self.stop_reason:
            return "tool_calls"
        return _FINISHES.get((self.stop_reason or "").lower(), "unknown")

    def spent(self, numbers: Mapping[str, int]) -> None:
        """Replace the usage reported so far.

        Args:
            numbers: Fields of `HostedUsage`; a field of 0 does not replace a value.
        """
        known = {name: number for name, number in numbers.items() if number}
        if known:
            self.usage = replace(self.usage, **known)


class WireReader(Protocol):
    """Parses one wire format into a `Gather`: one whole body, or the events of a stream followed by `finish`."""

    complete: bool
    """Whether a stream has signaled the end of the answer."""

    def __init__(self, gather: Gather) -> None: ...

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a whole body."""
        ...

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event of a stream.

        Args:
            name: The event's name, or empty.
            data: Its data.
        """
        ...

    def finish(self) -> None:
        """Parse what is left at the end of a stream, complete or interrupted."""
        ...


def in_part(start: object, end: object, length: int, begins: int) -> tuple[int, int] | None:
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
        if segment and (found := self._nearest(segment, at)) is not None:
            return self._begins + found, self._begins + found + len(segment)
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
            found = max(before, after)
            return found if found >= 0 else None
        return before if at - before <= after - at else after
