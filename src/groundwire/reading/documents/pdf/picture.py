"""A page as a picture, to see whether a word is there."""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import Final

from groundwire.reading.documents.pdf.pdfium import Page
from groundwire.reading.documents.pdf.shapes import Colour
from groundwire.reading.documents.pdf.words import Word

__all__ = ["Picture"]

_SCALE: Final = 1.5  # pixels for a point
_LARGEST: Final = 1_600  # pixels of the longer side
_MARGIN: Final = 2  # pixels around a word, in which its background shows
_SAME: Final = 20  # of 255; colours that differ by less look alike
_SHARE: Final = 0.2  # of the contrast; thin letters are painted in paler tones than they have
_MAX_PIXELS: Final = 20_000  # of one word
_ANNOTATIONS: Final = 1  # FPDF_ANNOT: what a note covers is covered
_WHITE: Final = 0xFFFFFFFF


class Picture:
    """One page, painted.

    Args:
        page: The page.
    """

    def __init__(self, page: Page) -> None:
        raw = page.pdf.raw
        self._page, self._raw = page, raw
        width, height = raw.FPDF_GetPageWidthF(page.handle), raw.FPDF_GetPageHeightF(page.handle)
        scale = min(_SCALE, _LARGEST / max(width, height, 1.0))
        self._width, self._height = max(1, int(width * scale)), max(1, int(height * scale))
        bitmap = raw.FPDFBitmap_Create(self._width, self._height, 0)
        if not bitmap:
            raise MemoryError
        try:
            raw.FPDFBitmap_FillRect(bitmap, 0, 0, self._width, self._height, _WHITE)
            raw.FPDF_RenderPageBitmap(bitmap, page.handle, 0, 0, self._width, self._height, 0, _ANNOTATIONS)
            self._stride = raw.FPDFBitmap_GetStride(bitmap)
            self._bytes = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), self._stride * self._height)
        finally:
            raw.FPDFBitmap_Destroy(bitmap)

    def shows(self, word: Word, colour: Colour | None) -> bool:
        """Return whether something of a word can be seen in its place.

        Args:
            word: The word; its place is as on the sheet, y growing up.
            colour: What it is filled with; None when that is not known.
        """
        pixels = self._pixels(word)
        if not pixels:
            return False
        background = pixels.most_common(1)[0][0]
        if colour is None:
            return any(_difference(pixel, background) >= _SAME for pixel in pixels)
        own = (colour[2], colour[1], colour[0])  # PDFium's pixels are blue, green, red
        contrast = _difference(own, background)
        if contrast < _SAME:  # either the word fills its place, or it cannot be told from its background
            others = sum(count for pixel, count in pixels.items() if _difference(pixel, own) > 2 * _SAME)
            return others * 20 > pixels.total()
        least = max(4.0, contrast * _SHARE)
        return any(
            _difference(pixel, background) >= least and _difference(pixel, own) <= contrast - least for pixel in pixels
        )

    def _pixels(self, word: Word) -> Counter[tuple[int, int, int]]:
        """Return the colours in a word's place and around it, counted."""
        corners = [self._device(x, y) for x, y in ((word.x0, word.y0), (word.x1, word.y1))]
        left, right = sorted(x for x, _ in corners)
        top, bottom = sorted(y for _, y in corners)
        left, right = max(0, left - _MARGIN), min(self._width, right + _MARGIN + 1)
        top, bottom = max(0, top - _MARGIN), min(self._height, bottom + _MARGIN + 1)
        found: Counter[tuple[int, int, int]] = Counter()
        for row in range(top, bottom):
            begin = row * self._stride
            line = self._bytes[begin + 4 * left : begin + 4 * right]
            found.update(zip(line[::4], line[1::4], line[2::4], strict=True))
            if found.total() > _MAX_PIXELS:
                break
        return found

    def _device(self, x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        self._raw.FPDF_PageToDevice(
            self._page.handle, 0, 0, self._width, self._height, 0, x, y, ctypes.byref(across), ctypes.byref(down)
        )
        return across.value, down.value


def _difference(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    return max(abs(first - second) for first, second in zip(one, other, strict=True))
