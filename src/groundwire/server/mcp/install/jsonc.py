"""JSON with comments and trailing commas, as editors write their settings."""

from __future__ import annotations

import re

__all__ = ["has_comments", "without_comments"]

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[\]}])', re.DOTALL)


def has_comments(text: str) -> bool:
    """Whether there is a comment outside of strings."""
    return any(not found[0].startswith('"') for found in _TOKEN.finditer(text))


def without_comments(text: str) -> str:
    """Return the text as plain JSON: without comments and trailing commas."""
    bare = _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    return _COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", bare)
