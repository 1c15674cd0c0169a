"""Feeding streams of hosted answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundwire.hosted.answers import AnswerStream, HostedAnswer


def answer_in(api: str, pieces: Iterable[bytes], status: int = 200) -> HostedAnswer:
    """Return the answer of a stream that is fed in chunks; what it returns meanwhile is the whole text."""
    stream = AnswerStream(api, status=status)
    shown = [text for piece in pieces for text in stream.feed(piece)] + stream.close()
    assert "".join(shown) == stream.answer.text
    return stream.answer


def bytewise(data: bytes) -> Iterator[bytes]:
    """Yield data one byte at a time."""
    return (data[at : at + 1] for at in range(len(data)))


def answer_of(api: str, data: bytes, status: int = 200) -> HostedAnswer:
    """Return the answer of a whole stream."""
    return answer_in(api, [data], status)
