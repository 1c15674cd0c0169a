"""Reading JSON that may have any form: a value of the wrong type is as good as none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["clean_url", "count", "first_text", "items", "object_of", "offset", "parsed", "text_of", "texts"]

_MAX_COUNT = 2**53  # beyond it JSON's numbers are not exact
_ASSISTANTS = (
    r"openai|chatgpt(?:\.com)?|perplexity(?:\.ai)?|claude(?:\.ai)?|anthropic|gemini(?:\.google\.com)?"
    r"|copilot(?:\.com|\.microsoft\.com)?|grok(?:\.com)?|x\.ai|xai|mistral(?:\.ai)?|openrouter(?:\.ai)?"
)
_MARK = re.compile(rf"(?<=[?&])utm_source=(?:{_ASSISTANTS})(?:&|(?=#)|$)", re.IGNORECASE)


def text_of(value: object) -> str:
    """Return `value` if it is text, else an empty text; half a surrogate pair becomes U+FFFD, so lengths stay."""
    if not isinstance(value, str):
        return ""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
    return value


def first_text(*values: object) -> str:
    """Return the first of `values` that is text and not empty, or an empty text."""
    return next((text for value in values if (text := text_of(value))), "")


def object_of(value: object) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a list; anything else in it, or instead of it, is passed over."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def texts(value: object) -> Iterator[str]:
    """Yield the texts in a list; anything else in it, or instead of it, is passed over."""
    if isinstance(value, list):
        yield from (text for item in value if (text := text_of(item)))


def count(*values: object) -> int:
    """Return the first of `values` that is a whole number of at least 0, or 0."""
    for value in values:
        if (found := offset(value)) is not None:
            return found
    return 0


def offset(value: object) -> int | None:
    """Return `value` if it is a whole number of at least 0, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        return None
    return value


def parsed(text: object) -> object:
    """Return the JSON value that a text holds, an object as it is, and None for anything else."""
    if not isinstance(text, (str, bytes)):
        return text if isinstance(text, dict) else None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def clean_url(value: object) -> str:
    """Return an address without the `utm_source` that an assistant hung on it; everything else stays as sent."""
    url = text_of(value)
    if "utm_source=" not in url:
        return url
    head, mark, fragment = url.partition("#")
    return _MARK.sub("", head).rstrip("?&") + mark + fragment if _MARK.search(head) else url
