"""Detection of the encoding of bytes without a declaration, and decoding as the WHATWG Encoding Standard says.

Encodings, labels, and tables are those of the standard (https://encoding.spec.whatwg.org), which the HTML parser has,
and registers as codecs; Python's own differ.
"""

from __future__ import annotations

import re
from typing import Final

_NO_ENCODINGS: Final = frozenset({"replacement", "x-user-defined"})
"""What the standard has for scripts, and in place of what is not to be read."""

MULTI_BYTE: Final = frozenset({"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"})
"""The encodings in which a non-ASCII letter takes at least two bytes, and not every pair is valid."""

WESTERN: Final = frozenset({"windows-1252", "iso-8859-15", "macintosh"})
"""Encodings that servers announce by default, regardless of the page."""


def name_of(label: str) -> str | None:
    """Return the encoding of a label, or None for an unknown label."""
    from turbohtml import parse

    try:
        name = parse(b"", encoding=label.strip(" \t\r\n\f\"'")).encoding or ""
    except (LookupError, ValueError):
        return None
    return name.lower() if name.lower() not in _NO_ENCODINGS else None


def decoded_text(body: bytes, name: str) -> str:
    """Decode bytes in an encoding of the standard; U+FFFD stands for what is not in it."""
    import turbohtml.detect  # noqa: F401  # which registers the codecs

    return body.decode(f"whatwg-{name}", "replace")


_SAMPLE: Final = 200_000  # bytes that are examined
_LETTER_SAMPLE: Final = 12_000  # bytes examined for letters, which is plenty
_LINE_END = re.compile(rb"[\r\n]+")
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>|&#?\w{1,20};", re.DOTALL | re.IGNORECASE
)
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff]")


def utf8_letters(body: bytes) -> tuple[int, int]:
    """Return the number of valid non-ASCII UTF-8 letters in `body`, and of errors."""
    try:
        text = body.decode("utf-8")
        faults = 0
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(body) and len(body) - error.start < 4:
            text, faults = body[: error.start].decode("utf-8"), 0  # a sample that ends inside a letter
        else:
            text = body.decode("utf-8", "replace")
            faults = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) - faults, faults


def detect(body: bytes) -> str | None:
    """Detect the encoding of bytes, or return None if there is no good guess.

    Valid UTF-8 is UTF-8; ISO-2022-JP is recognized by its escapes and UTF-16 by its zeros; the rest is judged by its
    letters, which takes a few sentences.
    """
    sample = body[:_SAMPLE]
    if (name := utf16_without_mark(sample)) is not None:
        return name
    if is_iso_2022_jp(sample):
        return "iso-2022-jp"
    valid, faults = utf8_letters(sample)
    if faults <= valid // 5:  # unlikely by chance, even with a few broken bytes
        return "utf-8"
    return _by_letters(sample)


def utf16_without_mark(sample: bytes) -> str | None:
    """Detect UTF-16 by the zeros beside its ASCII letters and signs, nearly all on one side."""
    big, little = sample[::2].count(0), sample[1::2].count(0)
    if max(big, little) <= len(sample) // 50 or min(big, little) > max(big, little) // 5:
        return None
    name = "utf-16be" if big > little else "utf-16le"
    text = decoded_text(sample[: len(sample) // 2 * 2], name)
    return name if len(_NOT_IN_TEXT.findall(text)) <= len(text) // 50 else None


def _by_letters(sample: bytes) -> str | None:
    from turbohtml.detect import detect_all  # most pages are UTF-8

    words = b"\n".join(line for line in _LINE_END.split(_MARKUP.sub(b" ", sample)) if not line.isascii())
    # the prefix prevents a false byte order mark
    matches = detect_all(b" " + words[:_LETTER_SAMPLE]) if words else ()
    names = ((match.encoding or "").lower() for match in matches if match.confidence)
    return next(filter(None, names), None)


def is_iso_2022_jp(sample: bytes) -> bool:
    """Return whether bytes contain the alphabet escapes of ISO-2022-JP, which are ASCII."""
    return b"\x1b" in sample and b"\x1b$" in sample and sample.isascii() and _has_pairs(sample)


def _has_pairs(sample: bytes) -> bool:
    """Return whether every pair of bytes, but for the last one, is a character."""
    text = decoded_text(sample, "iso-2022-jp")
    return "\ufffd" not in text[:-1]
