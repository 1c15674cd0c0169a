"""PDFium, as far as it is used here: an open file, its pages, and the calls that are made for every word.

The functions that are called for every word are redeclared with plain pointers: ctypes makes an object of every
typed one that they return, which takes longer than the call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import POINTER, Structure, c_float, c_int, c_uint, c_void_p
from typing import Any, Final

from groundwire.reading.extracted import UnreadableDocument

__all__ = ["Matrix", "Pdf", "PdfPage", "PdfiumCalls", "open_pdf"]

_BROKEN: Final = "The PDF is broken: {what}. Look for another copy of it."
_ERRORS: Final[Mapping[int, str]] = {
    3: "it is not a PDF inside, or its structure is damaged or cut off",
    6: "its pages are missing or damaged",
}
_PASSWORD: Final = 4
_SECURITY: Final = 5


class Matrix(Structure):
    """FS_MATRIX: how text is scaled, turned and moved."""

    _fields_ = tuple((name, c_float) for name in "abcdef")


class PdfiumCalls:
    """The functions of PDFium that are called for every word or object, by short names."""

    def __init__(self, raw: Any) -> None:
        word = c_void_p, c_int
        self.text_object = _typed(raw.FPDFText_GetTextObject, c_void_p, *word)
        self.box = _typed(raw.FPDFText_GetLooseCharBox, c_int, *word, c_void_p)
        self.matrix = _typed(raw.FPDFText_GetMatrix, c_int, *word, POINTER(Matrix))
        self.letter = _typed(raw.FPDFText_GetUnicode, c_uint, *word)
        self.size = _typed(raw.FPDFText_GetFontSize, ctypes.c_double, *word)
        self.font = _typed(raw.FPDFTextObj_GetFont, c_void_p, c_void_p)
        self.mode = _typed(raw.FPDFTextObj_GetTextRenderMode, c_int, c_void_p)
        self.fill = _typed(raw.FPDFPageObj_GetFillColor, c_int, c_void_p, *[POINTER(c_uint)] * 4)
        self.bounds = _typed(raw.FPDFPageObj_GetBounds, c_int, c_void_p, *[POINTER(c_float)] * 4)
        self.kind = _typed(raw.FPDFPageObj_GetType, c_int, c_void_p)
        self.marks = _typed(raw.FPDFPageObj_CountMarks, c_int, c_void_p)
        self.mark = _typed(raw.FPDFPageObj_GetMark, c_void_p, c_void_p, ctypes.c_ulong)
        self.mark_name = _typed(
            raw.FPDFPageObjMark_GetName, c_int, c_void_p, c_void_p, ctypes.c_ulong, POINTER(ctypes.c_ulong)
        )
        self.clip = _typed(raw.FPDFPageObj_GetClipPath, c_void_p, c_void_p)
        self.clip_paths = _typed(raw.FPDFClipPath_CountPaths, c_int, c_void_p)
        self.object = _typed(raw.FPDFPage_GetObject, c_void_p, c_void_p, c_int)
        self.part = _typed(raw.FPDFFormObj_GetObject, c_void_p, c_void_p, ctypes.c_ulong)
        self.draw_mode = _typed(raw.FPDFPath_GetDrawMode, c_int, c_void_p, POINTER(c_int), POINTER(c_int))
        self.font_name = _typed(raw.FPDFFont_GetBaseFontName, ctypes.c_size_t, c_void_p, c_void_p, ctypes.c_size_t)
        self.font_flags = _typed(raw.FPDFFont_GetFlags, c_int, c_void_p)


class PdfPage:
    """One page of an open file, with its text.

    Args:
        pdf: The file.
        handle: PDFium's page.
        text: PDFium's text of it.
    """

    def __init__(self, pdf: Pdf, handle: Any, text: Any) -> None:
        self.pdf = pdf
        self.handle = handle
        self.text = text
        self.pointer = _address(handle)
        self.text_pointer = _address(text)
        box = pdf.raw.FS_RECTF()
        pdf.raw.FPDF_GetPageBoundingBox(handle, box)
        self.left, self.bottom, self.right, self.top = box.left, box.bottom, box.right, box.top


class Pdf:
    """An open file.

    Args:
        raw: The module with PDFium's functions.
        document: The file as its wrapper has opened it.
    """

    def __init__(self, raw: Any, document: Any) -> None:
        self.raw = raw
        self.document = document
        self.call = PdfiumCalls(raw)
        self.pages: int = len(document)

    @contextmanager
    def page(self, number: int) -> Iterator[PdfPage | None]:
        """Give a page, or None when it cannot be read, and free what it took afterwards.

        Args:
            number: Counted from zero.
        """
        raw = self.raw
        handle = raw.FPDF_LoadPage(self.document, number)
        if not handle:
            yield None
            return
        text = raw.FPDFText_LoadPage(handle)
        try:
            yield PdfPage(self, handle, text) if text else None
        finally:
            if text:
                raw.FPDFText_ClosePage(text)
            raw.FPDF_ClosePage(handle)


@contextmanager
def open_pdf(body: bytes) -> Iterator[Pdf]:
    """Open a file and close it afterwards.

    Args:
        body: The whole file.

    Raises:
        UnreadableDocument: it is protected, broken or without pages, or PDFium is not installed.
    """
    try:
        import pypdfium2
        from pypdfium2 import raw
    except ImportError as error:
        raise UnreadableDocument(
            "missing", "The page is a PDF, and what reads it is not installed: pip install pypdfium2."
        ) from error
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(getattr(error, "err_code", None)) from error
    try:
        if not len(document):
            raise UnreadableDocument("empty", "The PDF has no pages. Look for another copy of it.")
        yield Pdf(raw, document)
    finally:
        document.close()


def _unreadable(code: int | None) -> UnreadableDocument:
    if code == _PASSWORD:
        return UnreadableDocument(
            "protected",
            "The PDF is encrypted and opens only with a password.",
        )
    if code == _SECURITY:
        return UnreadableDocument("protected", "The PDF is encrypted in a way that cannot be read here.")
    return UnreadableDocument("broken", _BROKEN.format(what=_ERRORS.get(code or 0, "it cannot be opened")))


def _typed(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(function, c_void_p).value or 0)


def _address(handle: Any) -> int:
    return ctypes.cast(handle, c_void_p).value or 0
