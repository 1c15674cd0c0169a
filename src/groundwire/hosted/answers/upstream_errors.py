"""Errors of model APIs in a common format: of whole requests, of streams, and of searches inside successful answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from groundwire.hosted.answers.types import HostedError, answer_words, first_text, items, object_of, text_of
from groundwire.models import Outcome
from groundwire.providers.http_parsing import masked, retry_after

_DELAY = re.compile(r"(\d{1,7}(?:\.\d{1,9})?)s")
_MAX_MESSAGE_CHARS = 300
_MAX_CODE_CHARS = 100

_CODES: tuple[tuple[Outcome, re.Pattern[str]], ...] = tuple(
    (outcome, re.compile(words, re.IGNORECASE)) for outcome, words in answer_words()["outcomes"].items()
)
_ERROR_TYPES = frozenset({"error", "conversation.response.error"})  # types without further information
_STATUSES: Final[Mapping[int, Outcome]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    413: "bad_request",
    429: "rate_limited",
    504: "timeout",
}


def outcome_of(code: str, status: int = 200) -> Outcome:
    """Map an error code and an HTTP status to an outcome.

    Args:
        code: The API's own code.
        status: The HTTP status; 200 for an error inside an answer.
    """
    by_code = next((outcome for outcome, words in _CODES if words.search(code)), None)
    if 200 <= status < 300:
        return by_code or "unavailable"
    if by_code in {"quota", "blocked"}:  # sent with 429, 400 or 403, and more precise than these
        return by_code
    if status in _STATUSES:
        return _STATUSES[status]
    return "unavailable" if status >= 500 else by_code or "bad_request"


def error_of(
    body: Mapping[str, object], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HostedError | None:
    """Parse a body or an event as an error; None if it is not one.

    Supports the formats of all these APIs: `error` as an object, a string or a list of them; a flat object with `code`
    and `message`; `detail` of FastAPI; and AWS's bare `message`.

    Args:
        body: The body or event.
        status: The HTTP status.
        headers: The HTTP headers, for Retry-After.
    """
    stated = body.get("error")
    inner = object_of(stated)
    failed = not 200 <= status < 300
    flat = text_of(body.get("type")) in _ERROR_TYPES or body.get("object") == "error"
    if not inner and not text_of(stated) and not flat and not failed:
        return None
    code = _code(inner, body, flat=flat or failed)
    if not code:
        code = f"http_{status}" if failed else "error"
    message = first_text(
        inner.get("message"), stated, body.get("message"), body.get("detail"), body.get("error_message")
    )
    if not message:
        details = items(body.get("detail"))
        message = next((first_text(detail.get("message"), detail.get("msg")) for detail in details), "")
    return HostedError(
        code=code[:_MAX_CODE_CHARS],
        outcome=outcome_of(code, status),
        message=_excerpt(message),
        status=status if failed else None,
        retry_after=_retry_after_seconds(inner, headers),
    )


def unreadable(what: str, status: int, headers: Mapping[str, str] | None = None) -> HostedError:
    """Return the error of a failed request with an uninformative body, as sent by intermediate proxies.

    Args:
        what: A description of the body.
        status: The HTTP status.
        headers: The HTTP headers, for Retry-After.
    """
    code = f"http_{status}"
    return HostedError(
        code=code,
        outcome=outcome_of(code, status),
        message=f"HTTP {status} with {_excerpt(what)}",
        status=status,
        retry_after=_retry_after_seconds({}, headers),
    )


def truncated(api: str, characters: int) -> HostedError:
    """Return the error for a stream that ended before its answer.

    Args:
        api: The API's name.
        characters: The length of the text received.
    """
    return HostedError(
        code="stream_ended_early",
        outcome="network",
        message=f"The stream of {api} ended before the answer; {characters:,} characters of it had arrived. Retry.",
    )


def _retry_after_seconds(inner: Mapping[str, object], headers: Mapping[str, str] | None) -> float | None:
    """Return when to retry, in seconds: from the header, or from Google's RetryInfo (`"retryDelay": "34s"`)."""
    if headers and (seconds := retry_after(headers)) is not None:
        return seconds
    for detail in items(inner.get("details")):
        if match := _DELAY.fullmatch(text_of(detail.get("retryDelay"))):
            return float(match[1])
    return None


def _code(inner: Mapping[str, object], body: Mapping[str, object], *, flat: bool) -> str:
    """Return the most precise code: text before a number, the inner object before the outer."""
    outer = body if flat or not inner else {}
    kind = text_of(outer.get("type"))
    words = first_text(
        inner.get("code"),
        inner.get("type"),
        inner.get("status"),
        outer.get("code"),
        kind if kind not in _ERROR_TYPES else None,
        outer.get("__type"),
    )
    if words:
        return words
    for number in (inner.get("code"), outer.get("code")):
        if isinstance(number, int) and not isinstance(number, bool):
            return str(number) if abs(number) < 10**9 else ""
    return ""


def _excerpt(message: str) -> str:
    text = masked(" ".join(message[: _MAX_MESSAGE_CHARS * 8].split()))
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"
