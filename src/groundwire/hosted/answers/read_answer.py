"""Parsing of answers of any API into the common format: of whole ones, and of streams as they arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from groundwire.errors import InvalidRequest, UnexpectedResponse
from groundwire.hosted.answers.answer_builder import AnswerBuilder, WireReader
from groundwire.hosted.answers.anthropic import AnthropicReader
from groundwire.hosted.answers.bedrock import ConverseReader
from groundwire.hosted.answers.event_streams import EventDecoder, ServerSentEvent, TooLarge
from groundwire.hosted.answers.gemini import GeminiReader
from groundwire.hosted.answers.gemini_interactions import InteractionsReader
from groundwire.hosted.answers.mistral import ConversationsReader
from groundwire.hosted.answers.openai_chat import ChatReader
from groundwire.hosted.answers.openai_responses import ResponsesReader
from groundwire.hosted.answers.types import HostedAnswer, object_of, parsed
from groundwire.hosted.answers.upstream_errors import error_of, unreadable
from groundwire.hosted.api_capabilities import Wire, load_matrix
from groundwire.json_text import json_or_none

_READERS: Final[Mapping[Wire, type[WireReader]]] = {
    "anthropic": AnthropicReader,
    "bedrock": ConverseReader,
    "chat": ChatReader,
    "gemini": GeminiReader,
    "interactions": InteractionsReader,
    "mistral": ConversationsReader,
    "responses": ResponsesReader,
}

_SHAPES: tuple[tuple[frozenset[str], tuple[str, ...], type[WireReader]], ...] = (
    # Any of these keys, or a prefix of `object`, `type` or `event_type`, identifies the wire format of a body or event.
    (frozenset({"choices"}), ("chat.completion",), ChatReader),
    (frozenset({"candidates", "promptFeedback", "usageMetadata"}), (), GeminiReader),
    (frozenset({"steps"}), ("interaction", "step."), InteractionsReader),
    (frozenset({"outputs"}), ("conversation", "message.output", "tool.execution"), ConversationsReader),
    (frozenset({"stopReason"}), (), ConverseReader),
    (frozenset({"content", "stop_reason"}), ("message", "content_block", "ping"), AnthropicReader),
    (frozenset({"output"}), ("response",), ResponsesReader),
)
_MAX_EXCERPT_CHARS = 80


def read_answer(
    api: str,
    body: object,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HostedAnswer:
    """Parse the whole answer of a model API.

    Fields that are missing, null or of the wrong type are ignored, as are unknown kinds of blocks and items. An error,
    of the HTTP request or inside the answer, is in `error`.

    Args:
        api: The API that the answer comes from, such as `anthropic`. Some have several wire formats, which are
            recognized by the body.
        body: The body: bytes or text with JSON, or the parsed JSON.
        status: The HTTP status.
        headers: The HTTP headers, for Retry-After.

    Raises:
        InvalidRequest: the API is unknown.
        UnexpectedResponse: the status is good, but the body is neither an answer nor an error: a web page, not JSON,
            JSON of another form.
    """
    answer = AnswerBuilder(load_matrix().api(api).name)
    _read_into(answer, body, status=status, headers=headers)
    return answer.build()


def _reader_of_api(api: str) -> type[WireReader]:
    return _READERS[load_matrix().apis[api].wire]


def _reader_of_shape(data: Mapping[str, Any]) -> type[WireReader] | None:
    names = [name for key in ("object", "type", "event_type") if isinstance(name := data.get(key), str)]
    for keys, words, reader in _SHAPES:
        if not keys.isdisjoint(data) or any(name.startswith(words) for name in names):
            return reader
    return None


def _read_into(
    answer: AnswerBuilder, body: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """Parse a whole body with the builder of its answer; see `read_answer`."""
    data, what = _json(body)
    if isinstance(data, list) and len(data) == 1 and (status >= 300 or object_of(data[0]).get("error")):
        data = data[0]  # as Gemini answers where it would stream, and to the clients of OpenAI
    if not isinstance(data, dict):
        is_list = isinstance(data, list)
        what = "a list, which Gemini streams without alt=sse," if is_list else what or f"JSON that is {_excerpt(data)}"
        if 200 <= status < 300:
            raise _not_an_answer(answer.api, what, status)
        answer.add_error(unreadable(what, status, headers))
        return
    failure = error_of(data, status=status, headers=headers)
    reader = _reader_of(answer.api, data)
    # A failed response of the Responses API contains an error, which is parsed there, along with the preceding text.
    if failure is not None and (reader is None or data.get("error") is None or not _has_answer(data)):
        answer.add_error(failure)
        answer.turn = []
        return
    if reader is None:
        keys = ", ".join(sorted(str(key) for key in data)[:8])
        raise _not_an_answer(
            answer.api, f"JSON with the fields {_excerpt(keys)}" if keys else "an empty object", status
        )
    if failure is not None and reader is not ResponsesReader and reader is not InteractionsReader:
        answer.add_error(failure)
    reader(answer).whole(data)


def _not_an_answer(
    api: str, what: str, status: int = 200, fix: str = "Check the URL, and that it is this API"
) -> UnexpectedResponse:
    """Return the error for a body that is not an answer.

    Args:
        api: The API's name.
        what: What was received instead.
        status: The HTTP status.
        fix: What to do.
    """
    return UnexpectedResponse(
        api,
        f"answered with {what} instead of an answer",
        status=status,
        fix=fix,
    )


def _json(body: object) -> tuple[object, str]:
    """Return the JSON of a body, or None and a description of the body."""
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        return (dict(body) if isinstance(body, Mapping) else body), ""
    text = body if isinstance(body, str) else bytes(body).decode("utf-8", "replace")
    text = text.removeprefix("\ufeff").lstrip()
    if (value := json_or_none(text)) is not None:
        return value, ""
    if not text:
        return None, "an empty body"
    if text.startswith("<"):
        return None, "a web page"
    if text.startswith(("data:", "event:")):
        return None, "an event stream, which AnswerStream reads,"
    return None, f"something that is not JSON ({_excerpt(text[:_MAX_EXCERPT_CHARS])})"


def _reader_of(api: str, body: Mapping[str, Any]) -> type[WireReader] | None:
    """Return the parser for a body of this form, or None if it has none."""
    if isinstance(body.get("output"), dict):
        return ConverseReader
    bare = _reader_of_api(api) if not {"model", "usage", "id"}.isdisjoint(body) and len(body) > 1 else None
    return _reader_of_shape(body) or bare


def _has_answer(body: Mapping[str, Any]) -> bool:
    """Return whether a body with an error also has an answer, or the beginning of one."""
    return any(body.get(key) for key in ("output", "choices", "content", "steps", "outputs", "candidates"))


def _excerpt(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)[: _MAX_EXCERPT_CHARS * 2]
    return text if len(text) <= _MAX_EXCERPT_CHARS else text[: _MAX_EXCERPT_CHARS - 1] + "…"


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
        self._has_part = False  # whether part of an event's JSON has come
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
            raise _not_an_answer(self._builder.api, f"more than {_MAX_BODY_BYTES:,} bytes", self._status)
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
            _read_into(self._builder, bytes(self._body), status=self._status, headers=self._headers)
        elif self._reader is not None:
            self._reader.finish()
        elif not self._builder.has_errors and not self._done and not self._has_part:
            raise _not_an_answer(self._builder.api, "a stream without events", self._status)
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
            raise _not_an_answer(self._builder.api, "AWS's binary event stream", self._status, fix)
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
            raise _not_an_answer(self._builder.api, f"a stream of which {error}", self._status) from error

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
            else:
                self._has_part = self._has_part or line.lstrip().startswith("{")

    def _take(self, name: str, data: dict[str, Any]) -> None:
        failure = error_of(
            {"type": "error", **data} if name == "error" else data, status=self._status, headers=self._headers
        )
        if failure is not None:
            self._builder.add_error(failure)
        if self._reader is None:
            if failure is not None and not {"choices", "response"} & set(data):
                return
            reader = _reader_of_shape(data) or _reader_of_api(self._builder.api)
            self._reader = reader(self._builder)
        self._reader.event(name, data)

    def _check_open(self) -> None:
        if self._answer is not None:
            raise InvalidRequest("stream", "is closed", "Make a new AnswerStream for each answer.")
