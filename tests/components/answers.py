"""Feeding streams of hosted answers, and checks of their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundwire.hosted.answers import (
    AnswerApi,
    AnswerEvent,
    AnswerStream,
    CitationAdded,
    Ended,
    ErrorMet,
    HostedAnswer,
    PageOpened,
    QueryIssued,
    SourceFound,
    TextAdded,
)

__all__ = ["answer_of", "bytewise", "check_that_events_tell_the_answer", "events_of"]


def events_of(api: AnswerApi, pieces: Iterable[bytes], status: int = 200) -> list[AnswerEvent]:
    """Return the events of a stream that is fed in chunks."""
    stream = AnswerStream(api, status=status)
    events = [event for piece in pieces for event in stream.feed(piece)]
    events += stream.close()
    assert events[-1] == Ended(stream.answer)
    return events


def bytewise(data: bytes) -> Iterator[bytes]:
    """Yield data one byte at a time."""
    return (data[at : at + 1] for at in range(len(data)))


def check_that_events_tell_the_answer(events: list[AnswerEvent]) -> None:
    """Check that the events together form the answer."""
    answer = events[-1]
    assert isinstance(answer, Ended)
    whole = answer.answer
    assert "".join(one.text for one in events if isinstance(one, TextAdded)) == whole.text
    assert tuple(one.query for one in events if isinstance(one, QueryIssued)) == whole.queries
    assert tuple(one.url for one in events if isinstance(one, PageOpened)) == whole.opened
    assert tuple(one.citation for one in events if isinstance(one, CitationAdded)) == whole.citations
    assert tuple(one.error for one in events if isinstance(one, ErrorMet)) == whole.errors
    assert [one.source.url for one in events if isinstance(one, SourceFound)] == [one.url for one in whole.sources]


def answer_of(api: AnswerApi, data: bytes, status: int = 200) -> HostedAnswer:
    """Return the answer of a whole stream."""
    last = events_of(api, [data], status)[-1]
    assert isinstance(last, Ended)
    return last.answer
