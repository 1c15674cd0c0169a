"""Evaluation of the conditions of `@media`, `@supports` and `@container`, and fonts of `@font-face` that draw nothing.

Sources: Media Queries 5 (https://www.w3.org/TR/mediaqueries-5/), CSS Conditional Rules 5. Evaluated for a desktop
    screen; for an unknown condition, neither it nor its negation holds, since a rule that is not applied hides nothing.

A font counts as blank if its outlines take almost no bytes, by the table directory at its beginning, so that no outline
is parsed and nothing is decompressed; or if its file is called so, as that of Adobe Blank. Sources: OpenType 1.9
(https://learn.microsoft.com/typography/opentype/spec/otff), WOFF 1.0, section 4, and WOFF 2.0, section 4
(https://www.w3.org/TR/WOFF2/); CSS Fonts 4, section 4.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

from groundwire.reading.css.longhands import NARROW, is_told, longhands
from groundwire.reading.css.values import NUMBER, SCREEN_HEIGHT, SCREEN_WIDTH, pixels, ratio

__all__ = ["blank_families", "in_container", "is_blank", "is_supported", "mark_fonts", "may_be_blank", "on_screen"]

_Judge = Callable[[str], bool | None]
"""Evaluates the condition in parentheses; None if unknown."""

_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"\s*(and|or|not)(?=[\s(])")
_TYPE: Final = re.compile(r"(?:(not|only)\s+)?(?!not\b|only\b)([a-z-]+)(?:\s+and\s+|$)")
_FEATURE: Final = re.compile(r"([a-z0-9-]+)\s*(?::\s*(.*))?")
_RANGE: Final = re.compile(
    r"(?:([\w.+/-]+)\s*([<>]=?)\s*)?((?:device-)?(?:width|height|inline-size|block-size)|aspect-ratio|resolution|color)"
    r"\s*(?:([<>]=?|=)\s*([\w.+/-]+))?"
)
_RATIO: Final = re.compile(r"([\d.]+)\s*(?:/\s*([\d.]+))?")
_RESOLUTION: Final = re.compile(rf"({NUMBER})(dppx|x|dpi|dpcm)")
_DOTS: Final[Mapping[str, float]] = {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96}
_MAX_DEPTH: Final = 12
_COMMON: Final = 120  # characters of a query that is likely to be repeated on other pages
_NARROW: Final = 240.0  # pixels; the range of a container is from this to the width of the screen
_OTHERS: Final = ("-ms-", "-moz-", "-o-", "-khtml-", "-apple-")
"""Prefixes of properties and values of other browsers only."""
_TRUE_OF_A_DESKTOP: Final = frozenset(
    {
        ("prefers-color-scheme", "light"), ("prefers-reduced-motion", "no-preference"), ("orientation", "landscape"),
        ("hover", "hover"), ("any-hover", "hover"), ("pointer", "fine"), ("any-pointer", "fine"), ("hover", ""),
        ("pointer", ""), ("color", ""), ("width", ""), ("height", ""), ("scripting", "enabled"), ("scripting", ""),
        ("update", "fast"), ("grid", "0"), ("display-mode", "browser"), ("prefers-contrast", "no-preference"),
        ("forced-colors", "none"), ("overflow-block", "scroll"), ("color-gamut", "srgb"), ("dynamic-range", "standard"),
        ("monochrome", "0"), ("prefers-reduced-transparency", "no-preference"), ("overflow-inline", "scroll"),
        ("color-index", "0"), ("-webkit-transform-3d", ""), ("prefers-reduced-data", "no-preference"),
        ("video-color-gamut", "srgb"), ("nav-controls", ""),
    }
)  # fmt: skip


_STEM_NAMES: Final = """
    accent align all alignment anchor animation app appearance aspect backdrop backface background baseline block border
    bottom box break caption caret clear clip color column columns contain container content corner counter cursor cx cy
    d direction display dominant dynamic empty field fill filter flex float flood font forced gap grid hanging height
    hyphen hyphens image initial inline inset interactivity interpolate isolation justify left letter lighting line list
    margin marker mask math max min mix object offset opacity order orphans outline overflow overlay overscroll padding
    page paint perspective place pointer position print quotes r reading resize right rotate row ruby rx ry scale scroll
    scrollbar shape size speak src stop stroke tab table text timeline top touch transform transition translate unicode
    user vector vertical view visibility white widows width will word writing x y z zoom
"""
_STEMS: Final = frozenset(_STEM_NAMES.split())
"""The first words of the names of CSS properties."""


def on_screen(query: str) -> bool:
    """Return whether a media query list matches a desktop screen."""
    return _on_screen(query) if len(query) <= _COMMON else _judge_media(query)


@lru_cache(maxsize=1024)
def _on_screen(query: str) -> bool:
    return _judge_media(query)


def _judge_media(query: str) -> bool:
    query = _SPACE.sub(" ", query.lower()).strip()
    return not query or any(_media(part.strip()) is True for part in query.split(","))


def is_supported(condition: str) -> bool:
    """Return whether a current browser supports an `@supports` condition."""
    return _condition(_SPACE.sub(" ", condition.lower()).strip(), _supports, 0) is True


def in_container(condition: str) -> bool:
    """Return whether an `@container` condition holds for any width of the container."""
    condition = _SPACE.sub(" ", condition.lower()).strip()
    name, bracket, rest = condition.partition("(")
    if name.strip() not in {"", "not"}:
        name = "not" if name.split()[-1] == "not" else ""
    condition = f"{name} {bracket}{rest}".strip()
    return all(
        _condition(condition, lambda part, wide=width: _size(part, wide, wide), 0) is True  # type: ignore[misc]
        for width in (_NARROW, float(SCREEN_WIDTH))
    )


def _media(query: str) -> bool | None:
    """Return whether a single media query matches."""
    if match := _TYPE.match(query):
        holds: bool | None = match[2] in {"all", "screen"}
        rest = query[match.end() :]
        if rest:
            holds = holds and _condition(rest, _feature, 0)
        return (None if holds is None else not holds) if match[1] == "not" else holds
    return _condition(query, _feature, 0)


def _condition(text: str, judge: _Judge, depth: int) -> bool | None:
    """Evaluate a condition of parentheses, `and`, `or` and `not`."""
    if depth > _MAX_DEPTH:
        return None
    verdicts: list[bool | None] = []
    words: set[str] = set()
    negated, position = False, 0
    while position < len(text):
        if match := _WORD.match(text, position):
            if match[1] == "not":
                negated = not negated
            else:
                words.add(match[1])
            position = match.end()
            continue
        start = text.find("(", position)
        end = _closing(text, start)
        if start < 0 or end < 0:
            return None
        name, inside = text[position:start].strip(), text[start + 1 : end].strip()
        verdict = judge(f"{name}({inside})") if name else _inside(inside, judge, depth)
        verdicts.append(verdict if verdict is None else verdict != negated)
        negated, position = False, end + 1
        while position < len(text) and text[position] == " ":
            position += 1
    if not verdicts or len(words) > 1:
        return None
    if "or" in words:
        return True if True in verdicts else None if None in verdicts else False
    return False if False in verdicts else None if None in verdicts else True


def _inside(text: str, judge: _Judge, depth: int) -> bool | None:
    return _condition(text, judge, depth + 1) if text.startswith(("(", "not ", "not(")) else judge(text)


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(max(start, 0), len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    return -1


def _feature(text: str) -> bool | None:
    """Evaluate a media feature for a desktop screen."""
    if (sized := _size(text, SCREEN_WIDTH, SCREEN_HEIGHT)) is not None:
        return sized
    match = _FEATURE.fullmatch(text)
    if match is None:
        return None
    pair = (match[1], (match[2] or "").strip())
    if pair in _TRUE_OF_A_DESKTOP:
        return True
    return False if match[1] in {name for name, _ in _TRUE_OF_A_DESKTOP} else None


def _size(text: str, width: float, height: float) -> bool | None:
    """Evaluate a numeric feature; None if it is not numeric."""
    sizes = {"width": width, "inline-size": width, "height": height, "block-size": height}
    sizes |= {"aspect-ratio": width / height, "resolution": 1.0, "color": 8.0, "-webkit-device-pixel-ratio": 1.0}
    if (match := _FEATURE.fullmatch(text)) and match[2]:
        name = match[1].replace("-webkit-min-", "min--webkit-").replace("-webkit-max-", "max--webkit-")
        bound = name[:4] if name[:4] in {"min-", "max-"} else ""
        size = sizes.get(name.removeprefix(bound).removeprefix("device-"))
        limit = _number(match[2].strip())
        if size is None or limit is None:
            return None
        return size >= limit if bound == "min-" else size <= limit if bound == "max-" else size == limit
    if (match := _RANGE.fullmatch(text)) and (match[1] or match[4]):
        size = sizes[match[3].removeprefix("device-")]
        pairs = [(_number(match[1]), match[2], size)] if match[1] else []
        verdicts = [_compare(*pair) for pair in pairs]
        if match[4]:
            verdicts.append(_compare(size, match[4], _number(match[5])))
        return None if None in verdicts else all(verdicts)
    return None


def _number(value: str) -> float | None:
    if match := _RESOLUTION.fullmatch(value):
        return float(match[1]) * _DOTS[match[2]]
    if (length := pixels(value)) is not None:
        return length
    match = _RATIO.fullmatch(value)
    try:
        return float(match[1]) / float(match[2] or 1) if match else None
    except (ValueError, ZeroDivisionError):
        return None


def _compare(left: float | None, sign: str, right: float | None) -> bool | None:
    if left is None or right is None:
        return None
    if sign == "=" or left == right:
        return left == right and "=" in sign
    return left < right if sign[0] == "<" else left > right


def _supports(text: str) -> bool | None:
    """Return whether a declaration is supported, as far as it affects visibility."""
    if text.startswith("selector("):
        return ":" not in text or any(known in text for known in (":has(", ":is(", ":where(", ":focus"))
    if text.startswith("font-"):
        return True  # font formats, all of which are supported
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or "(" in name:
        return None
    if name.startswith("--"):
        return True
    if name.startswith(_OTHERS) or value.startswith(_OTHERS):
        return False
    if is_told(name) and name not in NARROW:
        return bool(longhands(name, value))
    return name.removeprefix("-webkit-").partition("-")[0] in _STEMS


_FACE: Final = re.compile(r"@font-face", re.IGNORECASE)
_BODY: Final = re.compile(r"\s*\{((?:[^{}\"']|\"[^\"]*\"|'[^']*')*+)\}")
_SAID: Final = re.compile(
    r"(font-family|src|unicode-range|size-adjust)\s*:\s*((?:[^;\"'()]|\"[^\"]*\"|'[^']*'|\((?:[^()\"']|\"[^\"]*\"|'[^']*')*\))*)",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"\A\s*(url|local)\(\s*[\"']?([^\"')]*)", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?<![a-z])(?:adobe)?blank(?![a-z])", re.IGNORECASE)
_CODES: Final = re.compile(r"u\+([0-9a-f?]{1,6})(?:-([0-9a-f]{1,6}))?", re.IGNORECASE)
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
    for match in _CODES.finditer(ranges):
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
        found[tag], place = _packed_number(font, place)
        if (tag in {"glyf", "loca"}) == (flags >> 6 != 3):
            _, place = _packed_number(font, place)
    return found


def _packed_number(font: bytes, place: int) -> tuple[int, int]:
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
