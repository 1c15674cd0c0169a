"""Incremental parsing of a streamed answer: bytes in, text out, and the same answer as from a whole body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.answers.answer_builder import AnswerBuilder, WireReader
from groundwire.hosted.answers.event_streams import EventDecoder, ServerSentEvent, TooLarge
from groundwire.hosted.answers.read_answer import not_an_answer, read_into, stream_reader
from groundwire.hosted.answers.types import HostedAnswer, parsed
from groundwire.hosted.answers.upstream_errors import error_of
from groundwire.hosted.api_capabilities import load_matrix

__all__ = ["AnswerStream"]

_DONE = "[DONE]"
_MAX_BODY_BYTES = 64_000_000  # of a body that is not a stream
_BOM = b"\xef\xbb\xbf"


class AnswerStream:
    """Parses one streamed answer without doing any I/O itself.

    Feed it the bytes of the body in chunks of any size, then close it; or pass it events that a client library has
    already parsed. A body of plain JSON, as most errors are, is parsed as by `read_answer`. A stream that ends before
    its answer does not raise: the text received is kept, and the answer's `error` reports it.

    Args:
        api: The API that the answer comes from.
        status: The HTTP status.
        headers: The HTTP headers, for Retry-After.

    Raises:
        InvalidRequest: the API is unknown.
    """

    def __init__(self, api: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._builder = AnswerBuilder(load_matrix().api(api).name)
        self._status = status
        self._headers = headers
        self._reader: WireReader | None = None
        self._events: EventDecoder | None = None
        self._body = bytearray()  # all that came, unless it is a stream
        self._is_whole = False  # whether it is known to be none
        self._done = False
        self._answer: HostedAnswer | None = None

    @property
    def answer(self) -> HostedAnswer:
        """The whole answer, available once the stream is closed.

        Raises:
            InvalidRequest: it is not closed.
        """
        if self._answer is None:
            raise InvalidRequest("stream", "is not closed yet", "Call close() when all bytes are fed.")
        return self._answer

    def feed(self, data: bytes) -> list[str]:
        """Take more bytes and return the pieces of the answer's text in them.

        Raises:
            UnexpectedResponse: they are neither a stream nor an answer.
            InvalidRequest: the stream is closed.
        """
        self._check_open()
        if self._events is not None:
            self._take_events(self._events.feed(data))
            return self._builder.new_text()
        self._body += data
        if len(self._body) > _MAX_BODY_BYTES:
            raise not_an_answer(self._builder.api, f"more than {_MAX_BODY_BYTES:,} bytes", self._status)
        if not self._is_whole:
            self._begin()
        return self._builder.new_text()

    def event(self, data: Mapping[str, Any], name: str = "") -> list[str]:
        """Take one parsed event and return the pieces of the answer's text in it.

        Args:
            data: The event's JSON.
            name: The event's name, if it is not in the data.

        Raises:
            InvalidRequest: the stream is closed.
        """
        self._check_open()
        self._take(name, dict(data))
        return self._builder.new_text()

    def close(self) -> list[str]:
        """End the stream and return the rest of the text in pieces; sets `answer`. A second call returns nothing.

        Raises:
            UnexpectedResponse: the body is not an answer.
        """
        if self._answer is not None:
            return []
        if self._events is not None:
            self._take_events(self._events.close())
        is_body = self._events is None and self._reader is None
        if is_body:
            read_into(self._builder, bytes(self._body), status=self._status, headers=self._headers)
        elif self._reader is not None:
            self._reader.finish()
        elif not self._builder.has_errors and not self._done:
            raise not_an_answer(self._builder.api, "a stream without events", self._status)
        complete = is_body or self._done or (self._reader is not None and self._reader.complete)
        self._answer = self._builder.build(complete=complete)
        return self._builder.new_text()

    def _begin(self) -> None:
        """Detect the format from the first byte that is not white space."""
        data = bytes(self._body)
        start = data.removeprefix(_BOM).lstrip()
        if not start or _BOM.startswith(data):
            return
        if start[:1] == b"\0":  # the length of a frame of AWS's event streams, all of which are below 16 MB
            fix = "Call converse with boto3, and pass its response to read_answer"
            raise not_an_answer(self._builder.api, "AWS's binary event stream", self._status, fix)
        failed = not 200 <= self._status < 300 and not start.startswith((b"data", b"event", b":"))
        self._is_whole = start[:1] in {b"{", b"[", b"<"} or failed
        if not self._is_whole:
            self._events, self._body = EventDecoder(), bytearray()
            self._take_events(self._events.feed(data))

    def _take_events(self, events: Iterator[ServerSentEvent]) -> None:
        try:
            for event in events:
                self._take_event(event)
        except TooLarge as error:
            raise not_an_answer(self._builder.api, f"a stream of which {error}", self._status) from error

    def _take_event(self, event: ServerSentEvent) -> None:
        data = parsed(event.data)
        if isinstance(data, dict):
            self._take(event.name, data)
            return
        for line in event.data.split("\n"):
            # Some servers omit the empty line between events, so that several are joined.
            if line.strip() == _DONE:
                self._done = True
            elif isinstance(line_data := parsed(line), dict):
                self._take(event.name, line_data)
            elif event.name == "error" and line.strip():
                self._take("error", {"error": line})

    def _take(self, name: str, data: dict[str, Any]) -> None:
        failure = error_of(
            {"type": "error", **data} if name == "error" else data, status=self._status, headers=self._headers
        )
        if failure is not None:
            self._builder.add_error(failure)
        if self._reader is None:
            if failure is not None and not {"choices", "response"} & set(data):
                return
            self._reader = stream_reader(self._builder.api, data)(self._builder)
        self._reader.event(name, data)

    def _check_open(self) -> None:
        if self._answer is not None:
            raise InvalidRequest("stream", "is closed", "Make a new AnswerStream for each answer.")
