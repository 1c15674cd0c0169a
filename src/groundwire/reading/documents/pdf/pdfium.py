"""Access to PDFium: an open file, its pages, the lines drawn on them, and the functions called for every word.

PDFium's functions are redeclared with untyped pointers: ctypes creates an object for every typed one that they return,
which takes longer than the call.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_float, c_int, c_void_p
from dataclasses import dataclass
from typing import Any, Final

from groundwire.reading.extracted import UnreadableDocument

_PAGE: Final = re.compile(rb"(?<![0-9])(\d{1,7}) 0 obj\s*<<(?:(?!obj)[^\0]){0,4000}?/Type\s*/Page(?![a-zA-Z])")
_MAX_PAGES: Final = 10_000
_MAX_FIELDS: Final = 5_000
_MAX_VALUE_BYTES: Final = 200_000  # bytes in UTF-16
_PASSWORD_FLAG: Final = 1 << 13  # a password field (ISO 32000-1, table 228)
_PASSWORD: Final = 4
_SECURITY: Final = 5
_PATH, _FORM = 2, 5  # FPDF_PAGEOBJ_...
_LINE_TO, _MOVE_TO = 0, 2  # FPDF_SEGMENT_...
_MAX_OBJECTS: Final = 20_000
_MAX_POINTS: Final = 40_000  # of a page; maps and charts have more
_MAX_EDGES: Final = 6_000
_MAX_DEPTH: Final = 3  # forms inside forms
_MAX_RULE_WIDTH: Final = 3.0  # points; a filled area that is thinner is a line
_MAX_DEVIATION: Final = 0.7  # points
_MIN_EDGE_LENGTH: Final = 4.0  # points; an edge is not shorter


class _Pdfium:
    """PDFium's functions with untyped pointers, and its constants and structures.

    Args:
        raw: The module of pypdfium2 that has them.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._raw, name)
        if hasattr(value, "argtypes"):
            result, *arguments = [
                c_void_p if hasattr(type_, "contents") else type_ for type_ in (value.restype, *value.argtypes)
            ]
            value = ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(value, c_void_p).value or 0)
        setattr(self, name, value)  # the next time it is found at once
        return value


class PdfPage:
    """A page of an open file, with its text.

    Args:
        pdf: The file.
        handle: PDFium's page.
        text: PDFium's text page.
    """

    def __init__(self, pdf: Pdf, handle: int, text: int) -> None:
        self.pdf = pdf
        self.handle = handle
        self.text = text
        box = pdf.raw.FS_RECTF()
        pdf.raw.FPDF_GetPageBoundingBox(handle, byref(box))
        self.left: float = box.left
        self.bottom: float = box.bottom
        self.right: float = box.right
        self.top: float = box.top


class Pdf:
    """An open file.

    Args:
        raw: PDFium's functions, constants and structures.
        document: The file, opened by pypdfium2.
        rebuilt: Whether its list of pages was lost, and is one of those that were found.
    """

    def __init__(self, raw: _Pdfium, document: Any, *, rebuilt: bool) -> None:
        self.raw = raw
        self.rebuilt = rebuilt
        self.document = document
        self.pages: int = len(document)

    @contextmanager
    def page(self, number: int) -> Iterator[PdfPage | None]:
        """Yield a page, or None if it cannot be read, and free it afterwards.

        Args:
            number: The index from zero.
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
            "missing", "The page is a PDF, and its library is not installed (`groundwire doctor` says how)."
        ) from error
    whole = b""
    try:
        try:
            document = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) in {_PASSWORD, _SECURITY} or not (whole := _with_pages(body)):
                raise
            document = pypdfium2.PdfDocument(whole)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(getattr(error, "err_code", None)) from error
    try:
        document.init_forms()
        if not len(document):
            raise UnreadableDocument("empty", "The PDF has no pages. Look for another copy of it.")
        yield Pdf(_Pdfium(raw), document, rebuilt=bool(whole))
    finally:
        document.close()


def _with_pages(body: bytes) -> bytes:
    """Return a file that was cut off before its list of pages with one of those that it has; empty if it has none."""
    pages = list(dict.fromkeys(match[1] for match in _PAGE.finditer(body)))[:_MAX_PAGES]
    if not pages or not body.startswith(b"%PDF-") or b"/Encrypt" in body:
        return b""
    end = body.rfind(b"endobj") + len(b"endobj")
    if body[end : end + 20].lstrip().startswith(b"xref"):
        body = body[:end]  # what follows an unfinished trailer would be read as a part of it
    last = max(map(int, pages)) + 1_000_000
    return body + (
        b"\nendstream\nendobj\n%d 0 obj\n<< /Type /Pages /MediaBox [0 0 612 792] /Count %d /Kids [%s 0 R] >>\nendobj\n"
        b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\ntrailer\n<< /Root %d 0 R /Size %d >>\n"
        % (last, len(pages), b" 0 R ".join(pages), last + 1, last, last + 1, last + 2)
    )


def form_values(pdf: Pdf, page: PdfPage) -> list[tuple[str, str]]:
    """Return the names and values of the visible fields of a page's form; a box that is not checked has none."""
    raw, form = pdf.raw, pdf.document.formenv
    pairs: dict[tuple[str, str], None] = {}  # each button of a group has its value
    count = raw.FPDFPage_GetAnnotCount(page.handle) if form is not None else 0
    for number in range(min(count, _MAX_FIELDS)):
        if field := raw.FPDFPage_GetAnnot(page.handle, number):
            name = _string(raw.FPDFAnnot_GetFormFieldAlternateName, form, field)
            name = name or _string(raw.FPDFAnnot_GetFormFieldName, form, field)
            value = _string(raw.FPDFAnnot_GetFormFieldValue, form, field)
            hidden = raw.FPDFAnnot_GetFlags(field) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW)
            hidden |= raw.FPDFAnnot_GetFormFieldFlags(form, field) & _PASSWORD_FLAG
            if not hidden and value not in {"", "Off"}:
                pairs[name, value] = None
            raw.FPDFPage_CloseAnnot(field)
    return list(pairs)


def _string(ask: Callable[..., int], form: Any, field: Any) -> str:
    size = ask(form, field, None, 0)
    if not 2 < size <= _MAX_VALUE_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    ask(form, field, buffer, size)
    return " ".join(bytes(buffer).decode("utf-16-le", "replace").strip("\0").split())


def _unreadable(code: int | None) -> UnreadableDocument:
    if code == _PASSWORD:
        return UnreadableDocument("protected", "The PDF is encrypted and opens only with a password.")
    if code == _SECURITY:
        return UnreadableDocument("protected", "The PDF is encrypted with an unsupported method.")
    what = "its structure is damaged or cut off, or it is no PDF inside"
    return UnreadableDocument("broken", f"The PDF is broken: {what}. Look for another copy of it.")


@dataclass(frozen=True, slots=True)
class Edge:
    """A horizontal or vertical line."""

    level: bool
    """Whether it is horizontal."""
    at: float
    """Its y if it is horizontal, else its x."""
    start: float
    end: float


_Point = tuple[float, float]


def page_edges(page: PdfPage) -> list[Edge]:
    """Return the horizontal and vertical lines of a page, in sheet coordinates."""
    edges: list[Edge] = []
    points = 0
    raw = page.pdf.raw
    count = min(raw.FPDFPage_CountObjects(page.handle), _MAX_OBJECTS)
    handles = (raw.FPDFPage_GetObject(page.handle, order) for order in range(count))
    for handle, outer in _paths(page, handles, (), 0):
        for line, closed, filled in _subpaths(page, handle, outer):
            points += len(line)
            edges += _edges(line, closed=closed, filled=filled)
        if points > _MAX_POINTS or len(edges) > _MAX_EDGES:
            return []
    return edges


def _paths(
    page: PdfPage, handles: Iterator[int | None], outer: tuple[Any, ...], depth: int
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the paths of a page or form, with the matrices of the forms that contain them."""
    raw = page.pdf.raw
    for handle in handles:
        kind = raw.FPDFPageObj_GetType(handle) if handle else 0
        if not handle or kind not in {_PATH, _FORM}:
            continue
        matrix = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(handle, byref(matrix))
        chain = (matrix, *outer)
        if kind == _PATH:
            yield handle, chain
        elif depth < _MAX_DEPTH:
            parts = range(min(raw.FPDFFormObj_CountObjects(handle), _MAX_OBJECTS))
            yield from _paths(page, (raw.FPDFFormObj_GetObject(handle, part) for part in parts), chain, depth + 1)


def _subpaths(page: PdfPage, handle: int, chain: Sequence[Any]) -> Iterator[tuple[list[_Point], bool, bool]]:
    """Yield the points of the straight parts of a path, whether each is closed, and whether it is only filled."""
    raw = page.pdf.raw
    fill, stroke = c_int(), c_int()
    if not raw.FPDFPath_GetDrawMode(handle, byref(fill), byref(stroke)) or not (fill.value or stroke.value):
        return
    line: list[_Point] = []
    closed = False
    x, y = c_float(), c_float()
    for index in range(min(max(raw.FPDFPath_CountSegments(handle), 0), _MAX_POINTS)):
        segment = raw.FPDFPath_GetPathSegment(handle, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == _MOVE_TO:
            if len(line) > 1:
                yield line, closed, not stroke.value
            line, closed = [], False
        if kind not in {_MOVE_TO, _LINE_TO} or not raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y)):
            line, closed = [], False  # a curve
            continue
        line.append(_moved(x.value, y.value, chain))
        closed = closed or bool(raw.FPDFPathSegment_GetClose(segment))
    if len(line) > 1:
        yield line, closed, not stroke.value


def _moved(x: float, y: float, chain: Sequence[Any]) -> _Point:
    for matrix in chain:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y


def _edges(line: Sequence[_Point], *, closed: bool, filled: bool) -> Iterator[Edge]:
    xs, ys = [x for x, _ in line], [y for _, y in line]
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if min(width, height) <= _MAX_RULE_WIDTH:
        if max(width, height) >= _MIN_EDGE_LENGTH and (width < height or height <= width):
            level = width >= height
            at = (min(ys) + max(ys)) / 2 if level else (min(xs) + max(xs)) / 2
            yield Edge(level, at, min(xs) if level else min(ys), max(xs) if level else max(ys))
        return
    ends = itertools.pairwise([*line, line[0]] if closed or filled else line)
    for (x0, y0), (x1, y1) in ends:
        if abs(y0 - y1) <= _MAX_DEVIATION and abs(x0 - x1) >= _MIN_EDGE_LENGTH:
            yield Edge(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1))
        elif abs(x0 - x1) <= _MAX_DEVIATION and abs(y0 - y1) >= _MIN_EDGE_LENGTH:
            yield Edge(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1))
