"""What stands on page after page and belongs to the paper, not to the text: running heads, footers, page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from groundwire.reading.documents.pdf.lines import Line

__all__ = ["drop_furniture"]

Regions = list[list[Line]]
_Key = tuple[str, int]

_BAND: Final = 0.12  # of the page's height, from the top and from the bottom
_LINES: Final = 4  # from the top and from the bottom
_REPEATS: Final = 3  # pages
_NEAR: Final = 12  # pages; a running head changes with the chapter
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_ONLY_NUMBER: Final = re.compile(
    r"[\s\-\u2013\u2014|.]*(?:page|p\.|seite)?\s*#(?:\s*(?:/|of|von|de)\s*#)?[\s\-\u2013\u2014|.]*", re.IGNORECASE
)
_LARGE: Final = 1.15  # times the size of most lines
_LONG: Final = 160  # characters
_CELLS: Final = 4  # a line with as many parts is the head of a table that goes on


def drop_furniture(pages: Sequence[Regions], heights: Sequence[float]) -> int:
    """Take what repeats at the edges of the pages out of them, and return how many lines went.

    Digits count as alike, so that page numbers repeat. What repeats must stand at the same height of three pages that
    are not far from each other.

    Args:
        pages: The columns of each page; they are changed.
        heights: The height of each page, in points.
    """
    seen: dict[_Key, list[int]] = defaultdict(list)
    usual = median(line.size for page in pages for region in page for line in region) if any(map(any, pages)) else 0.0
    for number, (page, height) in enumerate(zip(pages, heights, strict=True)):
        for line in _edges(page, height):
            if len(line.cells) < _CELLS:
                seen[_key(line, height, usual)].append(number)
    removed = 0
    for number, (page, height) in enumerate(zip(pages, heights, strict=True)):
        for line in list(_edges(page, height)):
            key = _key(line, height, usual)
            places = [*seen[key], *seen.get((key[0], key[1] - 1), ()), *seen.get((key[0], key[1] + 1), ())]
            near = {place for place in places if abs(place - number) <= _NEAR}
            least = 2 if _ONLY_NUMBER.fullmatch(key[0]) else _REPEATS
            if len(near) >= least:
                removed += 1
                for region in page:
                    if any(line is one for one in region):
                        region[:] = [one for one in region if one is not line]
    return removed


def _edges(page: Regions, height: float) -> Iterator[Line]:
    """Yield the lines that may be furniture by their place."""
    every = sorted((line for region in page for line in region), key=lambda line: line.middle)
    yield from (line for line in every[:_LINES] if line.middle <= _BAND * height and len(line.plain) <= _LONG)
    rest = every[max(_LINES, len(every) - _LINES) :]
    yield from (line for line in rest if line.middle >= (1 - _BAND) * height and len(line.plain) <= _LONG)


def _key(line: Line, height: float, usual: float) -> _Key:
    """Return what a line must have in common with another to be its repetition."""
    side = -1 if line.middle < height / 2 else 1
    distance = line.middle if side < 0 else height - line.middle
    # a line in large type that counts up is a heading
    text = line.plain.lower() if line.size > _LARGE * usual else _NUMBER.sub("#", line.plain.lower())
    return text, side * (1 + round(distance / 6))
