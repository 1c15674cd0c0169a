"""Which words of a page somebody who looks at it can see.

A word that its own properties do not clear (a colour near its background's, something painted over it, a layer that can
be switched off, a clip that leaves it out) is looked for in a picture of the page: it is there when something in its
place differs from its background towards the colour that it has.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.pdfium import Page
from groundwire.reading.documents.pdf.picture import Picture
from groundwire.reading.documents.pdf.shapes import Colour, Shapes, fill_colour, page_shapes
from groundwire.reading.documents.pdf.words import Word

__all__ = ["Seen", "look"]

_TINY: Final = 2.0  # points of height
_NARROW: Final = 0.4  # points of width for a letter
_FAINT: Final = 12  # of 255; what is less opaque is not seen
_CLEAR: Final = 40  # of 255; colours that differ by as much are told apart
_INVISIBLE: Final = 3  # the rendering mode of text that is neither filled nor stroked (ISO 32000-1, 9.3.6)
_WHITE: Final[Colour] = (255, 255, 255, 255)
_STROKED: Final = (1, 5)
_CLIPPED: Final = 7


@dataclass(slots=True)
class Seen:
    """What there is to be seen on a page."""

    words: list[Word]
    """The words that somebody can see."""
    removed: Counter[str] = field(default_factory=Counter)
    """How many words went, for each reason."""
    images: int = 0
    """How many images there are."""
    recognised: bool = False
    """Whether the words are the invisible text that was recognised in a scan."""


@dataclass(slots=True)
class _Look:
    """What one text object is painted with."""

    mode: int
    colour: Colour | None
    order: int | None
    layered: bool
    clip: tuple[float, float, float, float] | None
    plain: bool
    """Whether its colour is clear on the white sheet."""


def look(page: Page, words: Sequence[Word]) -> Seen:
    """Return the words of a page that can be seen."""
    shapes = page_shapes(page)
    seen = Seen([], images=shapes.images)
    looks: dict[int, _Look] = {}
    picture: Picture | None = None
    for word in words:
        handle = word.face.handle
        if handle not in looks:
            looks[handle] = _look(page, handle, shapes)
        found = looks[handle]
        reason = _plainly_hidden(page, word, found)
        if reason == "mode" and shapes.scanned:
            reason, seen.recognised = "", True
        elif not reason and not _is_clear(word, found, shapes):
            picture = picture or Picture(page)
            if not picture.shows(word, found.colour):
                if shapes.scanned:
                    seen.recognised = True  # some programs put the text that they recognised behind the picture
                else:
                    reason = "colour"
        if reason:
            seen.removed[reason] += 1
        else:
            seen.words.append(word)
    return seen


def _look(page: Page, handle: int, shapes: Shapes) -> _Look:
    call = page.pdf.call
    mode = call.mode(handle)
    colour = None if mode in _STROKED or mode == _CLIPPED else fill_colour(page, handle)
    plain = colour is not None and _differ(colour, _WHITE)
    return _Look(mode, colour, shapes.orders.get(handle), _is_layered(page, handle), _clip(page, handle), plain)


def _plainly_hidden(page: Page, word: Word, found: _Look) -> str:
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    if not (page.left <= x <= page.right and page.bottom <= y <= page.top):
        return "position"
    width, height = word.x1 - word.x0, word.y1 - word.y0
    if word.face.size < _TINY and min(width, height) < _TINY:
        return "size"
    least = _NARROW * len(word.text)
    if width < least and height < least:
        return "size"
    if found.mode == _INVISIBLE:
        return "mode"
    return "colour" if found.colour is not None and found.colour[3] < _FAINT else ""


def _is_clear(word: Word, found: _Look, shapes: Shapes) -> bool:
    """Return whether a word is seen without a doubt."""
    colour = found.colour
    if found.order is None or found.layered or colour is None:
        return False
    if not shapes.shapes and found.clip is None:
        return found.plain
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    if found.clip is not None:
        left, bottom, right, top = found.clip
        if not (left <= x <= right and bottom <= y <= top):
            return False
    behind: Colour | None = _WHITE
    for shape in shapes.shapes:
        if shape.holds(x, y):
            if shape.order > found.order:
                return False
            behind = shape.colour
    return found.plain if behind is _WHITE else behind is not None and _differ(colour, behind)


def _differ(colour: Colour, behind: Colour) -> bool:
    """Return whether a colour can be told from what is behind it."""
    return max(abs(colour[part] - behind[part]) for part in range(3)) * colour[3] >= _CLEAR * 255


def _is_layered(page: Page, handle: int) -> bool:
    """Return whether an object belongs to a layer that can be switched off (ISO 32000-1, 8.11)."""
    call = page.pdf.call
    count = call.marks(handle)
    if count <= 0:
        return False
    buffer = ctypes.create_string_buffer(8)
    length = ctypes.c_ulong()
    for index in range(min(count, 20)):
        mark = call.mark(handle, index)
        if (
            mark
            and call.mark_name(mark, ctypes.addressof(buffer), 8, ctypes.byref(length))
            and buffer.raw[: length.value] == b"O\0C\0\0\0"
        ):
            return True
    return False


def _clip(page: Page, handle: int) -> tuple[float, float, float, float] | None:
    """Return the rectangle around the part of the page on which an object is painted; None means everywhere."""
    call, raw = page.pdf.call, page.pdf.raw
    clip = call.clip(handle)
    count = call.clip_paths(clip) if clip else 0
    if count <= 0:
        return None
    left, bottom, right, top = page.left, page.bottom, page.right, page.top
    typed = ctypes.cast(clip, raw.FPDF_CLIPPATH)
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(min(count, 10)):
        xs, ys = [], []
        for index in range(min(raw.FPDFClipPath_CountPathSegments(typed, path), 50)):
            segment = raw.FPDFClipPath_GetPathSegment(typed, path, index)
            if segment and raw.FPDFPathSegment_GetPoint(segment, x, y):
                xs.append(x.value)
                ys.append(y.value)
        if xs:
            left, right = max(left, min(xs)), min(right, max(xs))
            bottom, top = max(bottom, min(ys)), min(top, max(ys))
    return left, bottom, right, top
