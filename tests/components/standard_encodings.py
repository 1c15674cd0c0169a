"""Python's codecs for the encodings of the web."""

from __future__ import annotations


def codec(encoding: str) -> str:
    """Return the name that Python has for an encoding of the standard."""
    return {"windows-874": "cp874", "x-mac-cyrillic": "mac-cyrillic"}.get(encoding, encoding)
