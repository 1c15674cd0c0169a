"""Detection of invisible text on a page.

A word that is not clearly visible from its properties (a color close to its background, something painted over it, an
optional layer, a clipping path) is looked up in a rendering of the page: it is visible if its area has pixels that
differ from the background toward the word's color.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groundwire.reading.documents.pdf.pdfium import PdfPage
from groundwire.reading.documents.pdf.shapes import Color, Shapes, fill_color, page_shapes
from groundwire.reading.documents.pdf.words import Word

_WHITE: Final = 0xFFFFFFFF
_SCALE: Final = 1.5  # pixels for a point
_MAX_SIDE: Final = 1_600  # pixels of the longer side
_MARGIN: Final = 2  # pixels around a word that show its background
_MIN_CHANGE: Final = 20  # of 255; colors that differ by less look the same
_CONTRAST_SHARE: Final = 0.2  # of the contrast; thin letters are rendered paler than their color
_MAX_PIXELS: Final = 20_000  # of one word


class Picture:
    """A page rendered with its annotations; a pixel is four bytes: blue, green, red, and one without meaning.

    Args:
        page: The page.

    Raises:
        MemoryError: it is too large.
    """

    def __init__(self, page: PdfPage) -> None:
        self._page = page
        raw = page.pdf.raw
        across, down = raw.FPDF_GetPageWidthF(page.handle), raw.FPDF_GetPageHeightF(page.handle)
        scale = min(_SCALE, _MAX_SIDE / max(across, down, 1.0))
        self._width, self._height = max(1, int(across * scale)), max(1, int(down * scale))
        bitmap = raw.FPDFBitmap_CreateEx(self._width, self._height, raw.FPDFBitmap_BGRx, None, 0)
        if not bitmap:
            raise MemoryError
        try:
            raw.FPDFBitmap_FillRect(bitmap, 0, 0, self._width, self._height, _WHITE)
            raw.FPDF_RenderPageBitmap(bitmap, page.handle, 0, 0, self._width, self._height, 0, raw.FPDF_ANNOT)
            self._stride = raw.FPDFBitmap_GetStride(bitmap)
            self._pixels = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), self._stride * self._height)
        finally:
            raw.FPDFBitmap_Destroy(bitmap)

    def shows(self, word: Word, color: Color | None) -> bool:
        """Return whether any part of a word is visible at its position.

        Args:
            word: The word, in sheet coordinates, y growing upward.
            color: Its fill color, or None if unknown.
        """
        pixels = self._colors(word)
        if not pixels:
            return False
        background = pixels.most_common(1)[0][0]
        if color is None:
            return any(_difference(pixel, background) >= _MIN_CHANGE for pixel in pixels)
        own = (color[2], color[1], color[0])  # PDFium's pixels are in BGR order
        contrast = _difference(own, background)
        if contrast < _MIN_CHANGE:  # either the word fills its area, or it cannot be distinguished from its background
            others = sum(count for pixel, count in pixels.items() if _difference(pixel, own) > 2 * _MIN_CHANGE)
            return others * 20 > pixels.total()
        least = max(4.0, contrast * _CONTRAST_SHARE)
        return any(
            _difference(pixel, background) >= least and _difference(pixel, own) <= contrast - least for pixel in pixels
        )

    def _colors(self, word: Word) -> Counter[tuple[int, int, int]]:
        """Count the colors in a word's area and around it."""
        corners = [self._device(x, y) for x, y in ((word.x0, word.y0), (word.x1, word.y1))]
        left, right = sorted(x for x, _ in corners)
        top, bottom = sorted(y for _, y in corners)
        left, right = max(0, left - _MARGIN), min(self._width, right + _MARGIN + 1)
        top, bottom = max(0, top - _MARGIN), min(self._height, bottom + _MARGIN + 1)
        colors: Counter[tuple[int, int, int]] = Counter()
        for row in range(top, bottom):
            begin = row * self._stride
            line = self._pixels[begin + 4 * left : begin + 4 * right]
            colors.update(zip(line[::4], line[1::4], line[2::4], strict=True))
            if colors.total() > _MAX_PIXELS:
                break
        return colors

    def _device(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        size = self._width, self._height
        self._page.pdf.raw.FPDF_PageToDevice(
            self._page.handle, 0, 0, *size, 0, x, y, ctypes.byref(across), ctypes.byref(down)
        )
        return across.value, down.value


def _difference(color: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    return max(abs(first - second) for first, second in zip(color, other, strict=True))


_MIN_SIZE: Final = 2.0  # points of height
_MIN_LETTER_WIDTH: Final = 0.4  # points of width per letter
_MIN_OPACITY: Final = 12  # of 255; anything less opaque is invisible
_CLEAR_DIFFERENCE: Final = 40  # of 255; colors that differ by this much are distinct
_INVISIBLE_MODE: Final = 3  # the rendering mode of text that is neither filled nor stroked (ISO 32000-1, 9.3.6)
_OPAQUE_WHITE: Final[Color] = (255, 255, 255, 255)
_STROKE_MODES: Final = (1, 5)
_CLIP_MODE: Final = 7


@dataclass(slots=True)
class VisibleContent:
    """The visible content of a page."""

    words: list[Word]
    """The visible words."""
    removed: int = 0
    """How many words were removed."""
    images: bool = False
    """Whether there are images."""
    recognized: bool = False
    """Whether the words are the invisible OCR text of a scan."""


@dataclass(slots=True)
class _TextPaint:
    """The paint of a text object."""

    mode: int
    color: Color | None
    order: int | None
    layered: bool
    clip: tuple[float, float, float, float] | None


def look(page: PdfPage, words: Sequence[Word]) -> VisibleContent:
    """Return the visible words of a page."""
    shapes = page_shapes(page)
    visible = VisibleContent([], images=shapes.images)
    paints: dict[int, _TextPaint] = {}
    picture: Picture | None = None
    for word in words:
        handle = word.face.handle
        if handle not in paints:
            paints[handle] = _paint(page, handle, shapes)
        paint = paints[handle]
        is_hidden = _is_plainly_hidden(page, word, paint)
        is_recognized = False
        if not is_hidden and paint.mode == _INVISIBLE_MODE:
            is_recognized = True
        elif not is_hidden and not _is_clear(word, paint, shapes):
            picture = picture or Picture(page)
            is_recognized = not picture.shows(word, paint.color)  # some OCR programs put the text behind the picture
        if is_hidden or (is_recognized and not shapes.scanned):
            visible.removed += 1
        else:
            visible.recognized = visible.recognized or is_recognized
            visible.words.append(word)
    return visible


def _paint(page: PdfPage, handle: int, shapes: Shapes) -> _TextPaint:
    mode = page.pdf.raw.FPDFTextObj_GetTextRenderMode(handle)
    color = None if mode in _STROKE_MODES or mode == _CLIP_MODE else fill_color(page, handle)
    return _TextPaint(mode, color, shapes.orders.get(handle), _is_layered(page, handle), _clip(page, handle))


def _is_plainly_hidden(page: PdfPage, word: Word, paint: _TextPaint) -> bool:
    """Return whether a word is off the page, too small, or transparent."""
    if not (page.left <= word.center <= page.right and page.bottom <= word.middle <= page.top):
        return True
    width, height = word.x1 - word.x0, word.y1 - word.y0
    if word.face.size < _MIN_SIZE and min(width, height) < _MIN_SIZE:
        return True
    if max(width, height) < _MIN_LETTER_WIDTH * len(word.text):
        return True
    return paint.mode != _INVISIBLE_MODE and paint.color is not None and paint.color[3] < _MIN_OPACITY


def _is_clear(word: Word, paint: _TextPaint, shapes: Shapes) -> bool:
    """Return whether a word is certainly visible."""
    color = paint.color
    if paint.order is None or paint.layered or color is None:
        return False
    x, y = word.center, word.middle
    if paint.clip is not None:
        left, bottom, right, top = paint.clip
        if not (left <= x <= right and bottom <= y <= top):
            return False
    behind: Color | None = _OPAQUE_WHITE
    for shape in shapes.shapes:
        if shape.holds(x, y):
            if shape.order > paint.order:
                return False
            behind = shape.color
    return behind is not None and _differ(color, behind)


def _differ(color: Color, behind: Color) -> bool:
    """Return whether a color differs visibly from its background."""
    return max(abs(color[part] - behind[part]) for part in range(3)) * color[3] >= _CLEAR_DIFFERENCE * 255


def _is_layered(page: PdfPage, handle: int) -> bool:
    """Return whether an object belongs to an optional layer (ISO 32000-1, 8.11)."""
    raw = page.pdf.raw
    buffer = ctypes.create_string_buffer(8)
    length = ctypes.c_ulong()
    marks = (raw.FPDFPageObj_GetMark(handle, index) for index in range(min(raw.FPDFPageObj_CountMarks(handle), 20)))
    named = (mark for mark in marks if mark and raw.FPDFPageObjMark_GetName(mark, buffer, 8, ctypes.byref(length)))
    return any(buffer.raw[: length.value] == b"O\0C\0\0\0" for _ in named)


def _clip(page: PdfPage, handle: int) -> tuple[float, float, float, float] | None:
    """Return the bounding box of an object's clipping path; None if it has none."""
    raw = page.pdf.raw
    clip = raw.FPDFPageObj_GetClipPath(handle)
    count = raw.FPDFClipPath_CountPaths(clip) if clip else 0
    if count <= 0:
        return None
    left, bottom, right, top = page.left, page.bottom, page.right, page.top
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(min(count, 10)):
        xs, ys = [], []
        for index in range(min(raw.FPDFClipPath_CountPathSegments(clip, path), 50)):
            segment = raw.FPDFClipPath_GetPathSegment(clip, path, index)
            if segment and raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y)):
                xs.append(x.value)
                ys.append(y.value)
        if xs:
            left, right = max(left, min(xs)), min(right, max(xs))
            bottom, top = max(bottom, min(ys)), min(top, max(ys))
    return left, bottom, right, top
