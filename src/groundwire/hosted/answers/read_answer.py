"""Parsing of whole answers of any API into the common format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, cast, get_args

from groundwire.errors import InvalidRequest, UnexpectedResponse
from groundwire.hosted.answers.answer_builder import Gather, WireReader
from groundwire.hosted.answers.anthropic import AnthropicReader
from groundwire.hosted.answers.bedrock import ConverseReader
from groundwire.hosted.answers.gemini import GeminiReader
from groundwire.hosted.answers.gemini_interactions import InteractionsReader
from groundwire.hosted.answers.mistral import ConversationsReader
from groundwire.hosted.answers.openai_chat import ChatReader
from groundwire.hosted.answers.openai_responses import ResponsesReader
from groundwire.hosted.answers.types import HostedAnswer
from groundwire.hosted.answers.upstream_errors import error_of, unreadable

__all__ = ["AnswerApi", "check_api", "not_an_answer", "read_answer", "read_into", "usual_reader"]

AnswerApi = Literal[
    "anthropic",
    "bedrock",
    "deepseek",
    "gemini",
    "gemini_interactions",
    "groq",
    "kimi",
    "llama_cpp",
    "lmstudio",
    "mistral",
    "mistral_chat",
    "mlx",
    "ollama",
    "openai_chat",
    "openai_compatible",
    "openai_responses",
    "openrouter",
    "perplexity",
    "qwen",
    "qwen_responses",
    "venice",
    "vllm",
    "xai",
    "xai_chat",
    "zai",
]
"""The APIs whose answers can be parsed. Some have several wire formats, which are recognized by the body."""

ReaderType = Callable[[Gather], WireReader]

_USUAL: Final[Mapping[str, ReaderType]] = {
    **dict.fromkeys(get_args(AnswerApi), ChatReader),
    "anthropic": AnthropicReader,
    "bedrock": ConverseReader,
    "deepseek": AnthropicReader,
    "gemini": GeminiReader,
    "gemini_interactions": InteractionsReader,
    "mistral": ConversationsReader,
    "openai_responses": ResponsesReader,
    "perplexity": ResponsesReader,
    "qwen_responses": ResponsesReader,
    "xai": ResponsesReader,
}

_SHAPES: tuple[tuple[frozenset[str], str, ReaderType], ...] = (
    # Any of these keys, or this prefix of `object` or `type`, identifies the wire format.
    (frozenset({"choices"}), "chat.completion", ChatReader),
    (frozenset({"candidates", "promptFeedback", "usageMetadata"}), "", GeminiReader),
    (frozenset({"steps"}), "interaction", InteractionsReader),
    (frozenset({"outputs"}), "conversation", ConversationsReader),
    (frozenset({"stopReason"}), "", ConverseReader),
    (frozenset({"content", "stop_reason"}), "message", AnthropicReader),
    (frozenset({"output"}), "response", ResponsesReader),
)
_LONGEST_SHOWN = 80  # characters


def read_answer(
    api: AnswerApi,
    body: object,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HostedAnswer:
    """Parse the whole answer of a model API.

    Fields that are missing, null or of the wrong type are ignored, as are unknown kinds of blocks and items. An error,
    of the HTTP request or inside the answer, is in `error`.

    Args:
        api: The API that the answer comes from.
        body: The body: bytes or text with JSON, or the parsed JSON. A list is what Gemini streams without `alt=sse`.
        status: The HTTP status.
        headers: The HTTP headers, for Retry-After.

    Raises:
        InvalidRequest: the API is unknown.
        UnexpectedResponse: the status is good, but the body is neither an answer nor an error: a web page, not JSON,
            JSON of another form.
    """
    gather = Gather(check_api(api))
    read_into(gather, body, status=status, headers=headers)
    return gather.end()


def check_api(api: object) -> AnswerApi:
    """Validate the name of an API.

    Raises:
        InvalidRequest: it is unknown.
    """
    if isinstance(api, str) and api in _USUAL:
        return cast("AnswerApi", api)
    raise InvalidRequest("api", f"does not know {str(api)[:40]!r}", f"Pass one of: {', '.join(_USUAL)}.")


def usual_reader(api: str, data: Mapping[str, Any]) -> ReaderType:
    """Return the parser for a stream of an API that begins with `data`."""
    kind = str(data.get("type", ""))
    if "choices" in data:
        return ChatReader
    if kind.startswith("response."):
        return ResponsesReader
    if kind in {"message_start", "content_block_start", "ping"}:
        return AnthropicReader
    if kind.startswith(("conversation.", "message.output", "tool.execution")):
        return ConversationsReader
    if isinstance(data.get("event_type"), str):
        return InteractionsReader
    if "candidates" in data:
        return GeminiReader
    return _USUAL[api]


def read_into(gather: Gather, body: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
    """Parse a whole body into a gather; see `read_answer`."""
    given, what = _json(body)
    if isinstance(given, list) and (listed := [one for one in given if isinstance(one, dict)]):
        _pieces(gather, listed, status, headers)
        return
    if isinstance(given, list):
        what = "a list that holds no answer"
    elif not isinstance(given, dict):
        what = what or f"JSON that is {_shown(given)}"
    if not isinstance(given, dict):
        if 200 <= status < 300:
            raise not_an_answer(gather.api, what, status)
        gather.fail(unreadable(what, status, headers))
        return
    failure = error_of(given, status=status, headers=headers)
    reader = _reader_of(gather.api, given)
    # A failed response of the Responses API contains an error, which is parsed there, along with the preceding text.
    if failure is not None and (reader is None or given.get("error") is None or not _told(given)):
        gather.fail(failure)
        gather.turn = []
        return
    if reader is None:
        keys = ", ".join(sorted(str(key) for key in given)[:8])
        raise not_an_answer(gather.api, f"JSON with the fields {_shown(keys)}" if keys else "an empty object", status)
    if failure is not None and reader is not ResponsesReader and reader is not InteractionsReader:
        gather.fail(failure)
    reader(gather).whole(given)


def not_an_answer(api: str, what: str, status: int = 200) -> UnexpectedResponse:
    """Return the error for a body that is not an answer.

    Args:
        api: The API's name.
        what: What was received instead.
        status: The HTTP status.
    """
    return UnexpectedResponse(
        api,
        f"answered with {what} instead of an answer",
        status=status,
        fix="Check the URL, and that it is this API",
    )


def _json(body: object) -> tuple[object, str]:
    """Return the JSON of a body, or None and a description of the body."""
    if isinstance(body, (bytearray, memoryview)):
        body = bytes(body)
    if not isinstance(body, (bytes, str)):
        return (dict(body) if isinstance(body, Mapping) else body), ""
    try:
        return json.loads(body.removeprefix("\ufeff") if isinstance(body, str) else body), ""
    except RecursionError:
        return None, "JSON that is nested too deeply"
    except ValueError:
        text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    start = text.lstrip()[:_LONGEST_SHOWN]
    if not start:
        return None, "an empty body"
    if start.startswith("<"):
        return None, "a web page"
    if start.startswith(("data:", "event:")):
        return None, "an event stream, which AnswerStream reads,"
    return None, f"something that is not JSON ({_shown(start)})"


def _reader_of(api: str, body: Mapping[str, Any]) -> ReaderType | None:
    """Return the parser for a body of this form, or None if it has none."""
    words = [word for key in ("object", "type") if isinstance(word := body.get(key), str)]
    output = body.get("output")
    if isinstance(output, dict):
        return ConverseReader
    for keys, word, reader in _SHAPES:
        if not keys.isdisjoint(body) or (word and any(one.startswith(word) for one in words)):
            return reader
    usual = _USUAL[api]
    return usual if not {"model", "usage", "id"}.isdisjoint(body) and len(body) > 1 else None


def _told(body: Mapping[str, Any]) -> bool:
    """Return whether a body with an error also has an answer, or the beginning of one."""
    return any(body.get(key) for key in ("output", "choices", "content", "steps", "outputs", "candidates"))


def _pieces(gather: Gather, listed: list[dict[str, Any]], status: int, headers: Mapping[str, str] | None) -> None:
    """Parse Gemini's stream without `alt=sse`: one list of responses."""
    reader = usual_reader(gather.api, listed[0])(gather)
    for one in listed:
        if (failure := error_of(one, status=status, headers=headers)) is not None:
            gather.fail(failure)
        else:
            reader.event("", one)
    reader.finish()


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)[: _LONGEST_SHOWN * 2]
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
