"""Detection of headings, their levels, and repeated page furniture (running heads, footers, page numbers).

Headings are recognized by font size, weight, and the file's outline.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from groundwire.reading.documents.pdf.blocks import Block
from groundwire.reading.documents.pdf.lines import Line

_MIN_RATIO: Final = 1.12  # times the body font size
_MAX_LEVELS: Final = 5
_MAX_TITLE: Final = 200  # characters
_MAX_BOLD_LENGTH: Final = 120
_MAX_HEADING_LINES: Final = 4
_MAX_OUTLINE: Final = 5_000
_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBERING: Final = re.compile(
    r"^(?:chapter|section|part|appendix)?\s*[\dA-Z]{1,5}(?:\.[\dA-Z]{1,3})*\.?\s+", re.IGNORECASE
)
_ENTRY: Final = re.compile(r"\u2026 \w{1,7}$")  # an entry of a table of contents
_SPACE: Final = re.compile(r"[\W_]+")


class Headings:
    """The heading styles of a document.

    Args:
        lines: All lines of the document.
        outline: The level of each title of the file's outline; see `outline_levels`.
    """

    def __init__(self, lines: Sequence[Line], outline: Mapping[str, int]) -> None:
        letters: Counter[float] = Counter()
        mono = 0
        for line in lines:
            letters[_rounded(line.size)] += len(line.plain)
            mono += len(line.plain) * line.mono
        self.body: float = letters.most_common(1)[0][0] if letters else 0.0
        """The size of the body text, in points."""
        self.typewritten: bool = mono > 0.7 * letters.total()
        """Whether most text is monospaced."""
        self._outline = outline
        sizes: Counter[float] = Counter()
        for line in lines:
            if line.size >= _MIN_RATIO * self.body and len(line.plain) <= _MAX_TITLE and _LETTER.search(line.plain):
                sizes[_rounded(line.size)] += 1
        self._sizes = sorted(sizes, reverse=True)[:_MAX_LEVELS]

    def level(self, block: Block) -> int:
        """Return the level of a block, 1 to 6, or 0 if it is not a heading."""
        plain = block.plain.strip()
        if block.kind not in {"text", "item"} or block.lines > _MAX_HEADING_LINES or len(plain) > _MAX_TITLE:
            return 0
        if not _LETTER.search(plain) or _ENTRY.search(plain) or block.is_entry:
            return 0
        size = _rounded(block.size)
        if block.bold or size > self.body:
            level = self._outline.get(_folded(plain), 0) or self._outline.get(_folded(_NUMBERING.sub("", plain)), 0)
            if level:
                return min(level, 6)
        if size >= _MIN_RATIO * self.body:
            return next((rank for rank, own in enumerate(self._sizes, 1) if size >= own), _MAX_LEVELS)
        if (
            block.bold
            and size >= 0.95 * self.body
            and block.lines <= 2
            and len(plain) <= _MAX_BOLD_LENGTH
            and not plain.endswith((".", ",", ";", ":"))
        ):
            return min(len(self._sizes) + 1, 6)
        return 0


def outline_levels(pdf: Any) -> dict[str, int]:
    """Return the levels of the folded titles in a file's outline, 1 for the highest.

    Args:
        pdf: The pypdfium2 document.
    """
    levels: dict[str, int] = {}
    for count, mark in enumerate(pdf.get_toc(max_depth=6)):
        if count >= _MAX_OUTLINE:
            break
        title = mark.get_title() or ""
        for form in (_folded(title), _folded(_NUMBERING.sub("", title))):
            if form:
                levels.setdefault(form, mark.level + 1)
    return levels


def _folded(title: str) -> str:
    return _SPACE.sub("", title).lower()


def _without_numbers(title: str) -> str:
    return _folded(_NUMBER.sub("", _NUMBERING.sub("", title.replace(":", " "))))


def _rounded(size: float) -> float:
    return round(size * 2) / 2


Regions = list[list[Line]]
_Key = tuple[str, int]

_BAND: Final = 0.12  # share of the page's height, from the top and from the bottom
_EDGE_LINES: Final = 4  # lines from the top and from the bottom
_MIN_REPEATS: Final = 3  # pages
_MAX_PAGE_DISTANCE: Final = 12  # pages; a running head changes with the chapter
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_ONLY_NUMBER: Final = re.compile(
    r"\A[\s\-\u2013\u2014|.]*+(?:(?:page|p\.|seite)\s*+)?#(?:\s*+(?:/|of|von|de)\s*+#)?[\s\-\u2013\u2014|.]*+",
    re.IGNORECASE,
)
_MIN_NUMBERED_RATIO: Final = 1.15  # times the size of most lines
_MAX_LINE: Final = 160  # characters
_MIN_HEADER_CELLS: Final = 4  # a line with this many parts is the header of a continued table


def drop_furniture(pages: Sequence[Regions], heights: Sequence[float]) -> int:
    """Remove repeated lines at the edges of the pages but for one of each, and return how many.

    All digits compare equal, so that page numbers repeat. A repeated line must have the same position on three pages
    that are close to each other. A letterhead stays where it stands first, and a footer where it stands last, so that
    it is not between pages; page numbers, and what the document says elsewhere, do not stay.

    Args:
        pages: The columns of each page; modified in place.
        heights: The height of each page, in points.
    """
    repeated = _repeated_lines(pages, heights)
    dropped = {id(line) for line, _ in repeated}
    other_texts = {
        _without_numbers(line.plain) for page in pages for region in page for line in region if id(line) not in dropped
    }
    line_of_text: dict[str, int] = {}
    for line, (text, side) in repeated:
        is_elsewhere = _ONLY_NUMBER.fullmatch(text) or _without_numbers(line.plain) in other_texts
        if not is_elsewhere and (side > 0 or text not in line_of_text):
            line_of_text[text] = id(line)
    dropped -= set(line_of_text.values())
    for page in pages:
        for region in page:
            region[:] = [line for line in region if id(line) not in dropped]
    return len(dropped)


def _repeated_lines(pages: Sequence[Regions], heights: Sequence[float]) -> list[tuple[Line, _Key]]:
    """Return the lines at the edges of the pages that repeat on pages near theirs."""
    body = median(line.size for page in pages for region in page for line in region) if any(map(any, pages)) else 0.0
    lines: list[tuple[int, Line, _Key]] = []
    pages_of: dict[_Key, list[int]] = defaultdict(list)
    for number, (page, height) in enumerate(zip(pages, heights, strict=True)):
        for line in _edges(page, height):
            key = _key(line, height, body)
            lines.append((number, line, key))
            if len(line.cells) < _MIN_HEADER_CELLS:
                pages_of[key].append(number)

    def repeats(number: int, text: str, place: int) -> bool:
        others = (other for step in (-1, 0, 1) for other in pages_of.get((text, place + step), ()))
        near = {other for other in others if abs(other - number) <= _MAX_PAGE_DISTANCE}
        return len(near) >= (2 if _ONLY_NUMBER.fullmatch(text) else _MIN_REPEATS)

    return [(line, key) for number, line, key in lines if repeats(number, *key)]


def _edges(page: Regions, height: float) -> Iterator[Line]:
    """Yield the lines whose position allows page furniture."""
    every = sorted((line for region in page for line in region), key=lambda line: line.middle)
    yield from (line for line in every[:_EDGE_LINES] if line.middle <= _BAND * height and len(line.plain) <= _MAX_LINE)
    lower = every[max(_EDGE_LINES, len(every) - _EDGE_LINES) :]
    yield from (line for line in lower if line.middle >= (1 - _BAND) * height and len(line.plain) <= _MAX_LINE)


def _key(line: Line, height: float, body: float) -> _Key:
    """Return the key that repetitions of a line share."""
    side = -1 if line.middle < height / 2 else 1
    distance = line.middle if side < 0 else height - line.middle
    # a numbered line in a large font is a heading
    text = line.plain.lower() if line.size > _MIN_NUMBERED_RATIO * body else _NUMBER.sub("#", line.plain.lower())
    return text, side * (1 + round(distance / 6))
