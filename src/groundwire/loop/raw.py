"""Answers as client libraries hand them out, made into the JSON that they were."""

from __future__ import annotations

from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.native.answers import AnswerApi, HostedAnswer, read_answer

__all__ = ["answer_of"]


def answer_of(api: AnswerApi, given: Any) -> HostedAnswer:
    """Return what a caller's function returned as an answer.

    Args:
        api: Whose answer it is.
        given: JSON, as values or as bytes; an object of the openai, anthropic or google-genai SDK; or an answer that
            was read already.

    Raises:
        InvalidRequest: it is nothing, or of another type.
        UnexpectedResponse: it is no answer of a model.
    """
    if isinstance(given, HostedAnswer):
        return given
    if callable(to_dict := getattr(given, "to_dict", None)):
        given = to_dict(mode="json")  # openai and anthropic: as the API sent it, unset fields left out
    elif callable(dump := getattr(given, "model_dump", None)):
        given = dump(by_alias=True, exclude_none=True)  # google-genai: bytes stay bytes, so that it takes them back
    if not isinstance(given, (dict, list, str, bytes, bytearray)):
        raise InvalidRequest(
            "call_model",
            f"returned {type(given).__name__}",
            "Return the API's answer: its JSON, or the object of its SDK.",
        )
    return read_answer(api, given)
