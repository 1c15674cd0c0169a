"""Tolerant access to JSON of unknown form: a value of the wrong type counts as missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["clean_url", "count", "first_text", "items", "object_of", "offset", "parsed", "text_of", "texts"]

_MAX_COUNT = 2**53  # beyond it, numbers in JSON are not exact
_ASSISTANTS = (
    r"openai|chatgpt(?:\.com)?|perplexity(?:\.ai)?|claude(?:\.ai)?|anthropic|gemini(?:\.google\.com)?"
    r"|copilot(?:\.com|\.microsoft\.com)?|grok(?:\.com)?|x\.ai|xai|mistral(?:\.ai)?|openrouter(?:\.ai)?"
)
_MARK = re.compile(rf"(?<=[?&])utm_source=(?:{_ASSISTANTS})(?:&|(?=#)|$)", re.IGNORECASE)


def text_of(value: object) -> str:
    """Return `value` if it is text, else an empty string; a lone surrogate becomes U+FFFD, which keeps the length."""
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
    """Return the first of `values` that is a non-empty string, or an empty string."""
    return next((text for value in values if (text := text_of(value))), "")


def object_of(value: object) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a list, skipping everything else."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def texts(value: object) -> Iterator[str]:
    """Yield the strings in a list, skipping everything else."""
    if isinstance(value, list):
        yield from (text for item in value if (text := text_of(item)))


def count(*values: object) -> int:
    """Return the first of `values` that is a non-negative integer, or 0."""
    for value in values:
        if (found := offset(value)) is not None:
            return found
    return 0


def offset(value: object) -> int | None:
    """Return `value` if it is a non-negative integer, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        return None
    return value


def parsed(text: object) -> object:
    """Parse the JSON in a text; return an object unchanged, and None for anything else."""
    if not isinstance(text, (str, bytes)):
        return text if isinstance(text, dict) else None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def clean_url(value: object) -> str:
    """Return a URL without the `utm_source` added by an assistant, otherwise unchanged."""
    url = text_of(value)
    if "utm_source=" not in url:
        return url
    head, mark, fragment = url.partition("#")
    return _MARK.sub("", head).rstrip("?&") + mark + fragment if _MARK.search(head) else url
