"""A page as a row of passages: as short as may be, as long as makes sense, in the order of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from groundwire.reading.handle.document import Document

__all__ = ["Passage", "passages_of"]

_LONG: Final = 600  # characters; a block that is longer is parted
_SHORT: Final = 200  # characters; what is shorter stays with its neighbour
_EMPTY_LINE: Final = re.compile(r"\n[ \t>]*\n\s*")
_ITEM: Final = re.compile(r"\n(?=[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\|))")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"""[.!?\u2026]["')\]\u2019\u201d\u00bb*_]{0,3}\s+|[\u3002\uff01\uff1f\u0964\u06d4]\s*""")
_SPACE: Final = re.compile(r"\s+")
_IN_TEXT: Final = (_ITEM, _SENTENCE, _LINE, _SPACE)
_IN_CODE: Final = (_EMPTY_LINE, _LINE)


class Passage(NamedTuple):
    """A part of a page."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends, without the blanks behind it."""
    path: tuple[int, ...]
    """The headings that it stands under, by their numbers from 0."""


def passages_of(document: Document) -> list[Passage]:
    """Return the passages of a page. A heading belongs to the passage that follows it."""
    found: list[Passage] = []
    headings: int | None = None  # where the headings begin that nothing has followed yet
    for start, end, is_heading in _spans(document):
        if is_heading:
            headings = start if headings is None else headings
            continue
        last = found[-1] if found else None
        if last and headings is None and last.end - last.start < _SHORT and end - last.start <= _LONG:
            found[-1] = Passage(last.start, end, last.path)
            continue
        found.append(Passage(start if headings is None else headings, end, document.heading_path(start)))
        headings = None
    if headings is not None:
        end = len(document.text.rstrip())
        found.append(Passage(headings, end, document.heading_path(end)))
    return found


def _spans(document: Document) -> Iterator[tuple[int, int, bool]]:
    """Yield the blocks of a page, parted where they are long, and whether each is a heading."""
    text = document.text
    fixed = [(heading.start, heading.end, True) for heading in document.headings]
    fixed += [(code.start, len(text) if code.end is None else code.end, False) for code in document.codes]
    place = 0
    for start, end, is_heading in sorted(fixed):
        if start < place:
            continue
        yield from _blocks(text, place, start)
        if is_heading:
            yield start, end, True
        else:
            yield from ((begin, stop, False) for begin, stop in _divided(text, start, end, _IN_CODE))
        place = end
    yield from _blocks(text, place, len(text))


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    begin = start
    for stop, further in (*((m.start(), m.end()) for m in _EMPTY_LINE.finditer(text, start, end)), (end, end)):
        for first, last in _divided(text, begin, stop, _IN_TEXT):
            block = text[first:last]
            first += len(block) - len(block.lstrip())
            last -= len(block) - len(block.rstrip())
            if first < last:
                yield first, last, False
        begin = further


def _divided(text: str, start: int, end: int, patterns: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, int]]:
    """Yield parts of a block that are not too long, cut by the first pattern that cuts it short enough."""
    if end - start <= _LONG:
        yield start, end
        return
    if not patterns:
        yield from ((begin, min(begin + _LONG, end)) for begin in range(start, end, _LONG))
        return
    begin = last = start
    for cut in (*(match.end() for match in patterns[0].finditer(text, start, end)), end):
        if cut - begin > _LONG and last > begin:
            yield from _divided(text, begin, last, patterns[1:])
            begin = last
        last = cut
    yield from _divided(text, begin, end, patterns[1:])
