"""Style sheets that a page brings along in an address of their own, a `data:` URL (RFC 2397)."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Final
from urllib.parse import unquote

__all__ = ["sheet_of", "with_imports"]

_MAX: Final = 200_000  # characters
_IMPORT: Final = re.compile(
    r"@import\s+(?:url\(\s*([^\"')\s]+)\s*\)|(?:url\(\s*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*\)?)([^;{}]{0,200})(?:;|\Z)",
    re.IGNORECASE,
)


def sheet_of(address: str) -> str | None:
    """Return the style sheet that an address holds itself; None if it is somewhere else."""
    address = address.strip()
    if address[:5].lower() != "data:" or len(address) > _MAX:
        return None
    kind, comma, data = address[5:].partition(",")
    if not comma or kind.partition(";")[0].strip().lower() not in {"", "text/css"}:
        return ""
    if kind.strip().lower().endswith(";base64"):
        try:
            return b64decode(unquote(data)).decode("utf-8", "replace")
        except ValueError:
            return ""
    return unquote(data)


def with_imports(text: str) -> tuple[str, bool]:
    """Return a style sheet with those that it imports from itself put in, and whether others are missing."""
    missing = False

    def put_in(match: re.Match[str]) -> str:
        nonlocal missing
        imported = sheet_of(match[1] or match[2] or match[3] or "")
        if imported is None:
            missing = True
            return ""
        condition = match[4].strip()
        return f"@media {condition} {{{imported}}}" if condition else f"{imported}\n"

    return _IMPORT.sub(put_in, text), missing
