"""Parsing of whole answers of any API into the common format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.errors import UnexpectedResponse
from groundwire.hosted.answers.answer_builder import AnswerBuilder, WireReader
from groundwire.hosted.answers.anthropic import AnthropicReader
from groundwire.hosted.answers.bedrock import ConverseReader
from groundwire.hosted.answers.gemini import GeminiReader
from groundwire.hosted.answers.gemini_interactions import InteractionsReader
from groundwire.hosted.answers.mistral import ConversationsReader
from groundwire.hosted.answers.openai_chat import ChatReader
from groundwire.hosted.answers.openai_responses import ResponsesReader
from groundwire.hosted.answers.types import HostedAnswer
from groundwire.hosted.answers.upstream_errors import error_of, unreadable
from groundwire.hosted.api_capabilities import Wire, load_matrix
from groundwire.json_text import json_or_none

__all__ = ["not_an_answer", "read_answer", "read_into", "stream_reader"]

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
    read_into(answer, body, status=status, headers=headers)
    return answer.build()


def stream_reader(api: str, data: Mapping[str, Any]) -> type[WireReader]:
    """Return the parser for a stream of an API that begins with `data`."""
    return _reader_of_shape(data) or _reader_of_api(api)


def _reader_of_api(api: str) -> type[WireReader]:
    return _READERS[load_matrix().apis[api].wire]


def _reader_of_shape(data: Mapping[str, Any]) -> type[WireReader] | None:
    names = [name for key in ("object", "type", "event_type") if isinstance(name := data.get(key), str)]
    for keys, words, reader in _SHAPES:
        if not keys.isdisjoint(data) or any(name.startswith(words) for name in names):
            return reader
    return None


def read_into(
    answer: AnswerBuilder, body: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """Parse a whole body with the builder of its answer; see `read_answer`."""
    data, what = _json(body)
    if not isinstance(data, dict):
        is_list = isinstance(data, list)
        what = "a list, which Gemini streams without alt=sse," if is_list else what or f"JSON that is {_excerpt(data)}"
        if 200 <= status < 300:
            raise not_an_answer(answer.api, what, status)
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
        raise not_an_answer(answer.api, f"JSON with the fields {_excerpt(keys)}" if keys else "an empty object", status)
    if failure is not None and reader is not ResponsesReader and reader is not InteractionsReader:
        answer.add_error(failure)
    reader(answer).whole(data)


def not_an_answer(
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
