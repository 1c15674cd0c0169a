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

__all__ = ["Headings", "drop_furniture", "outline_levels"]

_LARGER: Final = 1.12  # times the body font size
_LEVELS: Final = 5
_LONG: Final = 200  # characters
_LONG_BOLD: Final = 120
_MOST_LINES: Final = 4
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
            if line.size >= _LARGER * self.body and len(line.plain) <= _LONG and _LETTER.search(line.plain):
                sizes[_rounded(line.size)] += 1
        self._sizes = sorted(sizes, reverse=True)[:_LEVELS]

    def level(self, block: Block) -> int:
        """Return the level of a block, 1 to 6, or 0 if it is not a heading."""
        plain = block.plain.strip()
        if block.kind not in {"text", "item"} or block.lines > _MOST_LINES or len(plain) > _LONG:
            return 0
        if not _LETTER.search(plain) or _ENTRY.search(plain) or block.is_entry:
            return 0
        size = _rounded(block.size)
        if block.bold or size > self.body:
            level = self._outline.get(_folded(plain), 0) or self._outline.get(_folded(_NUMBERING.sub("", plain)), 0)
            if level:
                return min(level, 6)
        if size >= _LARGER * self.body:
            return next((rank for rank, own in enumerate(self._sizes, 1) if size >= own), _LEVELS)
        if (
            block.bold
            and size >= 0.95 * self.body
            and block.lines <= 2
            and len(plain) <= _LONG_BOLD
            and not plain.endswith((".", ",", ";", ":"))
        ):
            return min(len(self._sizes) + 1, 6)
        return 0


def outline_levels(pdf: Any) -> dict[str, int]:
    """Return the levels of the folded titles in a file's outline, 1 for the highest.

    Args:
        pdf: The pypdfium2 document.
    """
    found: dict[str, int] = {}
    for count, mark in enumerate(pdf.get_toc(max_depth=6)):
        if count >= _MAX_OUTLINE:
            break
        title = mark.get_title() or ""
        for form in (_folded(title), _folded(_NUMBERING.sub("", title))):
            if form:
                found.setdefault(form, mark.level + 1)
    return found


def _folded(title: str) -> str:
    return _SPACE.sub("", title).lower()


def _without_numbers(title: str) -> str:
    return _folded(_NUMBER.sub("", _NUMBERING.sub("", title.replace(":", " "))))


def _rounded(size: float) -> float:
    return round(size * 2) / 2


Regions = list[list[Line]]
_Key = tuple[str, int]

_BAND: Final = 0.12  # share of the page's height, from the top and from the bottom
_LINES: Final = 4  # lines from the top and from the bottom
_REPEATS: Final = 3  # pages
_NEAR: Final = 12  # pages; a running head changes with the chapter
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_ONLY_NUMBER: Final = re.compile(
    r"\A[\s\-\u2013\u2014|.]*+(?:(?:page|p\.|seite)\s*+)?#(?:\s*+(?:/|of|von|de)\s*+#)?[\s\-\u2013\u2014|.]*+",
    re.IGNORECASE,
)
_LARGE: Final = 1.15  # times the size of most lines
_LONG_LINE: Final = 160  # characters
_CELLS: Final = 4  # a line with this many parts is the header of a continued table


def drop_furniture(pages: Sequence[Regions], heights: Sequence[float]) -> int:
    """Remove repeated lines at the edges of the pages but for one of each, and return how many.

    All digits compare equal, so that page numbers repeat. A repeated line must have the same position on three pages
    that are close to each other. A letterhead stays where it stands first, and a footer where it stands last, so that
    it is not between pages; page numbers, and what the document says elsewhere, do not stay.

    Args:
        pages: The columns of each page; modified in place.
        heights: The height of each page, in points.
    """
    seen: dict[_Key, list[int]] = defaultdict(list)
    usual = median(line.size for page in pages for region in page for line in region) if any(map(any, pages)) else 0.0
    edges = [list(_edges(page, height)) for page, height in zip(pages, heights, strict=True)]
    for number, (lines, height) in enumerate(zip(edges, heights, strict=True)):
        for line in lines:
            if len(line.cells) < _CELLS:
                seen[_key(line, height, usual)].append(number)
    repeated: list[tuple[int, Line, _Key]] = []
    for number, (lines, height) in enumerate(zip(edges, heights, strict=True)):
        for line in lines:
            key = _key(line, height, usual)
            places = [*seen[key], *seen.get((key[0], key[1] - 1), ()), *seen.get((key[0], key[1] + 1), ())]
            near = {place for place in places if abs(place - number) <= _NEAR}
            least = 2 if _ONLY_NUMBER.fullmatch(key[0]) else _REPEATS
            if len(near) >= least:
                repeated.append((number, line, key))
    dropped = {id(line) for _, line, _ in repeated}
    said = {
        _without_numbers(line.plain) for page in pages for region in page for line in region if id(line) not in dropped
    }
    kept: dict[str, int] = {}
    for _, line, (text, side) in repeated:
        if (
            not _ONLY_NUMBER.fullmatch(text)
            and _without_numbers(line.plain) not in said
            and (side > 0 or text not in kept)
        ):
            kept[text] = id(line)
    dropped -= set(kept.values())
    for page in pages:
        for region in page:
            region[:] = [line for line in region if id(line) not in dropped]
    return len(dropped)


def _edges(page: Regions, height: float) -> Iterator[Line]:
    """Yield the lines whose position allows page furniture."""
    every = sorted((line for region in page for line in region), key=lambda line: line.middle)
    yield from (line for line in every[:_LINES] if line.middle <= _BAND * height and len(line.plain) <= _LONG_LINE)
    rest = every[max(_LINES, len(every) - _LINES) :]
    yield from (line for line in rest if line.middle >= (1 - _BAND) * height and len(line.plain) <= _LONG_LINE)


def _key(line: Line, height: float, usual: float) -> _Key:
    """Return the key that repetitions of a line share."""
    side = -1 if line.middle < height / 2 else 1
    distance = line.middle if side < 0 else height - line.middle
    # a numbered line in a large font is a heading
    text = line.plain.lower() if line.size > _LARGE * usual else _NUMBER.sub("#", line.plain.lower())
    return text, side * (1 + round(distance / 6))
