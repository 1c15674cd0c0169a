"""The words of a page with their text, positions and fonts.

Positions can be rotated to reading orientation: text runs to the right, y grows downward from the top.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Final

from groundwire.reading.documents.pdf.pdfium import Edge, PdfPage
from groundwire.reading.documents.runs import MONOSPACED

MAX_LETTERS: Final = 200_000
"""Maximum letters of a page that are processed; a full page of small print has a tenth of it."""
_WORD: Final = re.compile(r"[^\s\x00-\x1f]+|[\x02\ufffe]")
_BOLD: Final = re.compile(
    r"bold|black|heavy|demi(?!light)|(?:^|\+)(?:cmbx|cmssbx|sfbx|ecbx|lmbx)|[-,]bd", re.IGNORECASE
)
_FIXED_PITCH: Final = 1
_FORCE_BOLD: Final = 1 << 18
_MAX_LETTER_GAP: Final = 0.04
_MIN_CELL_GAP: Final = 0.06  # times the font size
_SCRIPT: Final = (0.45, 0.87)  # times the font size before it; a word after a large initial is smaller still
_RISE: Final = (0.15, 0.75)  # times the font size
_DROP: Final = (-0.5, -0.06)
_GAP: Final = (-0.3, 0.25)  # times the font size; the space between a word and what is raised after it
_SUP: Final = frozenset({"sup"})
_SUB: Final = frozenset({"sub"})
_STRIKE: Final = (0.3, 0.62)  # of a word's height from below; a line under it is lower
_END_TOLERANCE: Final = 0.35  # times the font size
_MAX_CHECKS: Final = 1_000_000  # of a word and a line; a page of tables has a tenth of it
_MAX_REACH: Final = 40.0  # points from the middle of a word to a line through it
_HYPHENS: Final = frozenset({0x02, 0xFFFE, 0xAD})  # PDFium's marks of a hyphen at a line break
_Corners = tuple[float, float, float, float]
_LIGATURES: Final = re.compile("[\ufb00-\ufb06]")


@dataclass(slots=True)
class Box:
    """A rectangle in points: on the sheet, y grows upward; in reading orientation, downward from the upper left."""

    x0: float
    """The left edge."""
    y0: float
    """The edge with the lower number."""
    x1: float
    """The right edge."""
    y1: float
    """The edge with the higher number."""

    @property
    def center(self) -> float:
        """The horizontal center."""
        return (self.x0 + self.x1) / 2

    @property
    def middle(self) -> float:
        """The vertical center."""
        return (self.y0 + self.y1) / 2

    def include(self, other: Box) -> None:
        """Grow to what includes another box."""
        self.x0, self.y0 = min(self.x0, other.x0), min(self.y0, other.y0)
        self.x1, self.y1 = max(self.x1, other.x1), max(self.y1, other.y1)


@dataclass(slots=True)
class FontFace:
    """The font and orientation of a text object."""

    handle: int
    """PDFium's text object."""
    size: float
    """The font size in points, as displayed."""
    direction: int
    """The writing direction: 0 right, 1 up, 2 left, 3 down; -1 if skewed."""
    bold: bool
    """Whether the font is bold."""
    mono: bool
    """Whether the font is monospaced."""


@dataclass(slots=True)
class Word(Box):
    """Letters without space between them."""

    text: str
    """The letters."""
    face: FontFace
    """Its font and orientation."""
    glued: bool = False
    """Whether there is no space before it."""
    link: str = ""
    """Its link target."""
    styles: frozenset[str] = frozenset()
    """`sup` if it is raised beside the word before it, `sub` if it is lowered, `del` if it is struck."""
    rows: list[list[list[Word]]] | None = None
    """The words of each cell, if it stands for a ruled table."""


def page_words(page: PdfPage) -> tuple[list[Word], bool]:
    """Return the words of a page in text order, and whether the limit was exceeded.

    Positions are in sheet coordinates: not rotated, with the origin at the lower left, y growing upward.
    """
    raw, pointer = page.pdf.raw, page.text
    count = min(raw.FPDFText_CountChars(pointer), MAX_LETTERS + 1)
    if count <= 0:
        return [], False
    cut, count = count > MAX_LETTERS, min(count, MAX_LETTERS)
    text = _letters(page, count)
    faces: dict[int, FontFace] = {}
    fonts: dict[int, tuple[bool, bool]] = {}
    box, first, last = raw.FPDFText_GetLooseCharBox, raw.FS_RECTF(), raw.FS_RECTF()
    words: list[Word] = []
    base, base_at = None, 0  # the last word that is neither raised nor lowered, and its first letter
    end_before = -1
    for start, end, handle in _runs(page, text):
        if not box(pointer, start, byref(first)) or not box(pointer, end - 1, byref(last)):
            continue
        face = faces.get(handle)
        if face is None:
            face = faces[handle] = _face(page, handle, start, fonts)
        letters = _spelled(text[start:end])
        if not letters:
            continue
        left, right = first.left, last.right
        if face.direction or right <= left:  # not left to right
            if left < last.left and is_to_left(letters):
                letters = _reversed(letters)  # in the order of the sheet
            left, right = min(left, last.left), max(right, first.right)
        bottom, top = min(first.bottom, last.bottom), max(first.top, last.top)
        word = Word(left, bottom, right, top, letters, face, glued=start == end_before)
        word.glued = word.glued and not _is_apart(words[-1], word)
        if base is not None and base.face is not face and _may_be_script(base, words[-1], word):
            word.styles = _script(page, base, base_at, start)
        if word.styles:
            word.glued = True
        else:
            if words and words[-1].styles and base is not None and base.face.size == face.size:
                word.glued = word.glued or abs(left - words[-1].x1) <= _MAX_LETTER_GAP * face.size
            base, base_at = word, start
        words.append(word)
        end_before = end
    return words, cut


def _is_apart(before: Word, word: Word) -> bool:
    """Return whether a number and a word are two cells that are nearer to each other than a space is wide."""
    if before.face is word.face or not (before.text[-1].isdigit() and word.text[:2].isalpha() and len(word.text) > 1):
        return False
    return word.x0 - before.x1 > _MIN_CELL_GAP * word.face.size and before.face.size == word.face.size


def _may_be_script(base: Word, before: Word, word: Word) -> bool:
    """Return whether a word is as small, and as near to the word before it, as an exponent or a note's mark is."""
    size = base.face.size
    if word.face.direction or base.face.direction or not _SCRIPT[0] * size <= word.face.size <= _SCRIPT[1] * size:
        return False
    return _GAP[0] * size <= word.x0 - before.x1 <= _GAP[1] * size and (before is base or bool(before.styles))


def _script(page: PdfPage, base: Word, base_at: int, at: int) -> frozenset[str]:
    """Return where a small word stands, by the lines on which the letters stand."""
    places = [ctypes.c_double() for _ in range(4)]
    origin, text = page.pdf.raw.FPDFText_GetCharOrigin, page.text
    if not origin(text, base_at, byref(places[0]), byref(places[1])):
        return frozenset()
    if not origin(text, at, byref(places[2]), byref(places[3])):
        return frozenset()
    rise = (places[3].value - places[1].value) / base.face.size
    if _RISE[0] <= rise <= _RISE[1]:
        return _SUP
    return _SUB if _DROP[0] <= rise <= _DROP[1] else frozenset()


def level_scripts(words: Sequence[Word]) -> None:
    """Place raised and lowered words on the line of the word before them, so that they stay in its line and cell."""
    for before, word in itertools.pairwise(words):
        if word.styles:
            word.y0, word.y1 = before.y0, before.y1


def strike(words: Sequence[Word], edges: Sequence[Edge]) -> list[Edge]:
    """Mark the words that lines strike out, and return the other lines; both in reading orientation.

    Such a line runs through the middle of words, and begins and ends with one.
    """
    lines = sorted(words, key=lambda word: word.middle)
    middles = [word.middle for word in lines]
    others: list[Edge] = []
    remaining_checks = _MAX_CHECKS
    for edge in edges:
        near = lines[bisect_left(middles, edge.at - _MAX_REACH) : bisect_left(middles, edge.at + _MAX_REACH)]
        remaining_checks -= len(near) if edge.level else 0
        struck = [word for word in near if _is_through(word, edge)] if edge.level and remaining_checks > 0 else []
        if not struck or not _are_ends(struck, edge):
            others.append(edge)
        for word in struck if not others or others[-1] is not edge else ():
            word.styles |= {"del"}
    return others


def _is_through(word: Word, edge: Edge) -> bool:
    height = word.y1 - word.y0
    return edge.start <= word.center <= edge.end and _STRIKE[0] * height <= word.y1 - edge.at <= _STRIKE[1] * height


def _are_ends(words: Sequence[Word], edge: Edge) -> bool:
    near = _END_TOLERANCE * words[0].face.size
    first, last = min(word.x0 for word in words), max(word.x1 for word in words)
    return abs(first - edge.start) <= near and abs(last - edge.end) <= near


def _letters(page: PdfPage, count: int) -> str:
    """Return the page's text with one character for each of PDFium's, so that indexes correspond."""
    raw = page.pdf.raw
    buffer = (ctypes.c_ushort * (count + 1))()
    written = raw.FPDFText_GetText(page.text, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(text) == count:
        return text
    letter, pointer = raw.FPDFText_GetUnicode, page.text
    return "".join(chr(code) if 0 < (code := letter(pointer, index)) < 0x110000 else "\ufffd" for index in range(count))


def _runs(page: PdfPage, text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the start, end and PDFium text object of each word of a single style."""
    of, pointer = page.pdf.raw.FPDFText_GetTextObject, page.text
    for match in _WORD.finditer(text):
        start, end = match.span()
        handle, final = of(pointer, start), of(pointer, end - 1)
        if handle == final:
            if handle:
                yield start, end, handle
            continue
        begin = start
        for index in range(start + 1, end):
            other = of(pointer, index)
            if other != handle:
                if handle:
                    yield begin, index, handle
                begin, handle = index, other
        if handle:
            yield begin, end, handle


def _face(page: PdfPage, handle: int, index: int, fonts: dict[int, tuple[bool, bool]]) -> FontFace:
    raw = page.pdf.raw
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(page.text, index, byref(matrix))
    size = raw.FPDFText_GetFontSize(page.text, index) * math.hypot(matrix.c, matrix.d)
    font = raw.FPDFTextObj_GetFont(handle) or 0
    if font not in fonts:
        fonts[font] = _font(page, font)
    bold, mono = fonts[font]
    return FontFace(handle, size if math.isfinite(size) else 0.0, _direction(matrix), bold, mono)


def _font(page: PdfPage, font: int) -> tuple[bool, bool]:
    if not font:
        return False, False
    raw = page.pdf.raw
    buffer = ctypes.create_string_buffer(200)
    raw.FPDFFont_GetBaseFontName(font, buffer, 200)
    name = buffer.value.decode("utf-8", "replace")
    flags = max(0, raw.FPDFFont_GetFlags(font))
    return bool(_BOLD.search(name) or flags & _FORCE_BOLD), bool(MONOSPACED.search(name) or flags & _FIXED_PITCH)


def _direction(matrix: Any) -> int:
    right, up = matrix.a, matrix.b
    length = math.hypot(right, up)
    if not length:
        return 0
    if abs(up) <= 0.1 * length:
        return 0 if right > 0 else 2
    if abs(right) <= 0.1 * length:
        return 1 if up > 0 else 3
    return -1


def _spelled(text: str) -> str:
    """Return the letters of a word with ligatures expanded, and a hyphen for each that PDFium marks."""
    if text.isascii() and text.isprintable():
        return text
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = "".join("\xad" if ord(letter) in _HYPHENS else letter for letter in text)
    text = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return "".join(letter for letter in text if letter >= " " and not "\x7f" <= letter <= "\x9f")


def is_to_left(text: str) -> bool:
    """Return whether a word is written from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(letter) in {"R", "AL"} for letter in text)


def _reversed(text: str) -> str:
    """Return letters from the last to the first, each with its combining marks."""
    parts: list[str] = []
    for letter in text:
        if parts and unicodedata.combining(letter):
            parts[-1] += letter
        else:
            parts.append(letter)
    return "".join(reversed(parts))


def joined_letters(words: Sequence[Word]) -> list[Word]:
    """Return words with the letters of each right-to-left word joined, from right to left.

    Some programs paint each letter by itself, and PDFium returns them in the order of the sheet.
    """
    joined_words: list[Word] = []
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and words[end].glued:
            continue
        group = words[start:end]
        start = end
        to_left = [word for word in group if is_to_left(word.text)]
        has_others = any(any(map(str.isalnum, word.text)) for word in group if word not in to_left)
        if len(group) == 1 or not to_left or has_others:
            joined_words += group
            continue
        group = sorted(group, key=lambda word: -word.x1)
        first = group[0]
        first.text, first.glued = "".join(word.text for word in group), False
        for word in group:
            first.include(word)
        joined_words.append(first)
    return joined_words


def turned(page: PdfPage, words: Sequence[Word]) -> dict[int, list[Word]]:
    """Group the words by direction, the most frequent first, and rotate their positions.

    A rotated table and a stamp along the margin are read separately.
    """
    letters: Counter[int] = Counter()
    groups: dict[int, list[Word]] = {}
    for word in words:
        direction = max(word.face.direction, 0)  # skewed text is read as horizontal
        letters[direction] += len(word.text)
        groups.setdefault(direction, []).append(word)
    for direction, group in groups.items():
        for word in group:
            word.x0, word.y0, word.x1, word.y1 = turned_box(page, direction, (word.x0, word.y0, word.x1, word.y1))
    return {direction: groups[direction] for direction, _ in letters.most_common()}


def turned_box(page: PdfPage, direction: int, box: _Corners) -> _Corners:
    """Return a box of sheet coordinates in the reading orientation of a direction.

    Args:
        page: The page.
        direction: The writing direction; see `FontFace.direction`.
        box: Its left, bottom, right and top.
    """
    left, bottom, right, top = box
    if direction == 0:
        return left - page.left, page.top - top, right - page.left, page.top - bottom
    if direction == 1:
        return bottom - page.bottom, left - page.left, top - page.bottom, right - page.left
    if direction == 2:
        return page.right - right, bottom - page.bottom, page.right - left, top - page.bottom
    return page.top - top, page.right - right, page.top - bottom, page.right - left


def turned_edge(page: PdfPage, direction: int, edge: Edge) -> Edge:
    """Return a line in the reading orientation of a direction; see `turned_box`."""
    box = (edge.start, edge.at, edge.end, edge.at) if edge.level else (edge.at, edge.start, edge.at, edge.end)
    x0, y0, x1, y1 = turned_box(page, direction, box)
    level = edge.level if direction in {0, 2} else not edge.level
    return Edge(level, y0 if level else x0, x0 if level else y0, x1 if level else y1)
