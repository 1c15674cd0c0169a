"""Web fonts that draw nothing: text in them is hidden.

A font counts as blank if its outlines take almost no bytes, by the table directory at its beginning, so that no outline
is parsed and nothing is decompressed; or if its file is called so, as that of Adobe Blank.

Sources: OpenType 1.9 (https://learn.microsoft.com/typography/opentype/spec/otff), WOFF 1.0, section 4, and WOFF 2.0,
section 4 (https://www.w3.org/TR/WOFF2/); CSS Fonts 4, section 4, on `@font-face`.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from groundwire.reading.css.values import ratio

__all__ = ["blank_families", "is_blank", "mark_fonts", "may_be_blank"]

_FACE: Final = re.compile(r"@font-face", re.IGNORECASE)
_BODY: Final = re.compile(r"\s*\{((?:[^{}\"']|\"[^\"]*\"|'[^']*')*+)\}")
_SAID: Final = re.compile(
    r"(font-family|src|unicode-range|size-adjust)\s*:\s*((?:[^;\"'()]|\"[^\"]*\"|'[^']*'|\((?:[^()\"']|\"[^\"]*\"|'[^']*')*\))*)",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"\A\s*(url|local)\(\s*[\"']?([^\"')]*)", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?<![a-z])(?:adobe)?blank(?![a-z])", re.IGNORECASE)
_RANGE: Final = re.compile(r"u\+([0-9a-f?]{1,6})(?:-([0-9a-f]{1,6}))?", re.IGNORECASE)
_USES: Final = re.compile(r"(?<![\w-])(font(?:-family)?|--[\w-]+)\s*:\s*([^;{}]*)", re.IGNORECASE)
_IMPORTANT: Final = re.compile(r"!\s*important", re.IGNORECASE)
_START: Final = 4_096  # bytes of a font, with its table directory
_MAX_FACES: Final = 200
_SMALLEST: Final = 0.1  # of the font size
_A_LETTER: Final = ord("a")
_OUTLINES: Final[Mapping[str, tuple[int, int]]] = {"glyf": (100, 4), "CFF ": (400, 8), "CFF2": (400, 8)}
"""The most bytes of the tables of outlines if there are none: of all glyphs without a code, and of each with one."""
_PICTURES: Final = frozenset({"sbix", "CBDT", "SVG ", "COLR", "EBDT"})
_KNOWN: Final = (
    "cmap", "head", "hhea", "hmtx", "maxp", "name", "OS/2", "post", "cvt ", "fpgm", "glyf", "loca", "prep", "CFF ",
    "VORG", "EBDT", "EBLC", "gasp", "hdmx", "kern", "LTSH", "PCLT", "VDMX", "vhea", "vmtx", "BASE", "GDEF", "GPOS",
    "GSUB", "EBSC", "JSTF", "MATH", "CBDT", "CBLC", "COLR", "CPAL", "SVG ", "sbix",
)  # fmt: skip
"""The tables that WOFF 2.0 gives a number, as far as they matter here."""


def may_be_blank(text: str) -> bool:
    """Return whether a style sheet may declare a blank font; a quick test."""
    return "@font-face" in text and ("data:" in text or "size-adjust" in text or "lank" in text)


def blank_families(texts: Iterable[str]) -> set[str]:
    """Return the families of style sheets' blank fonts, in lower case."""
    found: set[str] = set()
    for text in texts:
        for part in _FACE.split(text, _MAX_FACES)[1:]:
            if (face := _BODY.match(part)) is None:
                continue
            said = {match[1].lower(): match[2].strip() for match in _SAID.finditer(face[1])}
            family = said.get("font-family", "").strip("\"' ").lower()
            if family and _draws_nothing(said) and _has_letters(said.get("unicode-range", "")):
                found.add(family)
    return found


def _draws_nothing(said: Mapping[str, str]) -> bool:
    scale = ratio(said.get("size-adjust", "100%"))
    if scale is not None and scale <= _SMALLEST:
        return True
    source = _SOURCE.match(said.get("src", ""))
    if source is None:
        return False
    address = source[2].strip()
    if source[1].lower() == "url" and address[:5].lower() == "data:":
        kind, _, data = address[5:].partition(",")
        if not kind.lower().rstrip().endswith(";base64"):
            return is_blank(unquote_to_bytes(data[: 3 * _START]))
        try:
            return is_blank(b64decode(data[: 4 * _START // 3 // 4 * 4]))
        except ValueError:
            return False
    return source[1].lower() == "url" and _NAMED.search(address.rpartition("/")[2]) is not None


def _has_letters(ranges: str) -> bool:
    for match in _RANGE.finditer(ranges):
        first = int(match[1].replace("?", "0"), 16)
        last = int(match[2] or match[1].replace("?", "f"), 16)
        if first <= _A_LETTER <= last:
            return True
    return not ranges


def is_blank(font: bytes) -> bool:
    """Return whether the outlines of a font take almost no bytes; False if it is no font, or has pictures.

    Args:
        font: Its first bytes, with the table directory.
    """
    tables = _tables(font)
    if not _PICTURES.isdisjoint(tables):
        return False
    glyphs = tables.get("hmtx", 0) // 2  # at most; each has two or four bytes there
    return any(
        name in tables and glyphs > 0 and tables[name] <= most + share * glyphs
        for name, (most, share) in _OUTLINES.items()
    )


def _tables(font: bytes) -> dict[str, int]:
    """Return the length of each table of an OpenType, WOFF or WOFF 2.0 font, in bytes."""
    count = int.from_bytes(font[12:14] if font[:3] == b"wOF" else font[4:6])
    if font[:4] == b"wOF2":
        return _short_tables(font, count)
    start, size, place = (44, 20, 12) if font[:4] == b"wOFF" else (12, 16, 12)
    if font[:4] not in {b"wOFF", b"\0\1\0\0", b"OTTO", b"true"}:
        return {}
    rows = (font[row : row + size] for row in range(start, min(start + count * size, len(font) - size + 1), size))
    return {row[:4].decode("latin-1"): int.from_bytes(row[place : place + 4]) for row in rows}


def _short_tables(font: bytes, count: int) -> dict[str, int]:
    """Return the lengths in the directory of a WOFF 2.0 font, before its tables were transformed."""
    found: dict[str, int] = {}
    place = 48
    for _ in range(count):
        if place >= len(font):
            break
        flags = font[place]
        number, place = flags & 63, place + 1
        tag = _KNOWN[number] if number < len(_KNOWN) else ""
        if number == 63:
            tag, place = font[place : place + 4].decode("latin-1"), place + 4
        found[tag], place = _number(font, place)
        if (tag in {"glyf", "loca"}) == (flags >> 6 != 3):
            _, place = _number(font, place)
    return found


def _number(font: bytes, place: int) -> tuple[int, int]:
    """Read a number of variable length, and return where it ends."""
    value = 0
    for byte in font[place : place + 5]:
        place += 1
        value = value << 7 | byte & 127
        if not byte & 128:
            break
    return value, place


def mark_fonts(text: str, blank: Collection[str]) -> str:
    """Declare `text-font: blank` with each blank font of a style sheet or an attribute, and `shown` with each other."""

    def marked(match: re.Match[str]) -> str:
        name, value = match[1].lower(), match[2]
        first = _IMPORTANT.sub("", value).partition(",")[0].strip().strip("\"'").lower()
        empty = first in blank or (name == "font" and any(first.endswith(family) for family in blank))
        if name.startswith("--"):
            return f"{match[1]}:blank" if empty else match[0]
        if first in {"inherit", "unset"}:
            return match[0]
        said = "blank" if empty else first if first.startswith("var(") else "shown"
        return f"{match[0]};text-font:{said}{' !important' if '!' in value else ''}"

    return _USES.sub(marked, text)
