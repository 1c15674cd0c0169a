"""What a page paints beside its text: filled areas, images, shadings and forms, in painting order."""

from __future__ import annotations

from ctypes import byref, c_float, c_int, c_uint
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.pdfium import PdfPage
from groundwire.reading.documents.pdf.words import Box

Color = tuple[int, int, int, int]
"""Red, green, blue and opacity, 0 to 255 each."""

_TEXT, _PATH, _IMAGE, _FORM = 1, 2, 3, 5  # FPDF_PAGEOBJ_...
_MAX_OBJECTS: Final = 20_000
_MAX_SHAPES: Final = 300
_MIN_COVER_HEIGHT: Final = 4.0  # points; a word is not hidden by a shape lower than this
_MIN_SCAN_SHARE: Final = 0.5  # share of the page; scans cover all of it except for margins


@dataclass(slots=True)
class Shape(Box):
    """A filled path, an image, a shading or a form, on the sheet."""

    order: int
    """Its index in the painting order."""
    color: Color | None
    """Its fill; None if that is not a single opaque color."""

    @property
    def area(self) -> float:
        """Its area in square points."""
        return max(0.0, self.x1 - self.x0) * max(0.0, self.y1 - self.y0)

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point is inside."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(slots=True)
class Shapes:
    """The objects of a page."""

    orders: dict[int, int] = field(default_factory=dict)
    """The index of each text object in the painting order, except for those inside forms."""
    shapes: list[Shape] = field(default_factory=list)
    """Shapes that may be behind or in front of text, in painting order."""
    images: bool = False
    """Whether there are images."""
    scanned: bool = False
    """Whether the page is a scan, mostly covered by images."""


def page_shapes(page: PdfPage) -> Shapes:
    """Return the objects on a page other than its text."""
    raw = page.pdf.raw
    shapes = Shapes()
    covered = 0.0
    for order in range(min(raw.FPDFPage_CountObjects(page.handle), _MAX_OBJECTS)):
        handle = raw.FPDFPage_GetObject(page.handle, order)
        if not handle:
            continue
        kind = raw.FPDFPageObj_GetType(handle)
        if kind == _TEXT:
            shapes.orders[handle] = order
            continue
        if kind == _PATH and not _is_filled(page, handle):
            continue
        shape = _shape(page, handle, order, kind)
        if shape is None:
            continue
        if kind == _IMAGE or (kind == _FORM and _has_image(page, handle)):
            shapes.images = True
            covered += _on_page(page, shape)
        if shape.y1 - shape.y0 >= _MIN_COVER_HEIGHT:
            shapes.shapes.append(shape)
    page_area = (page.right - page.left) * (page.top - page.bottom)
    shapes.scanned = page_area > 0 and covered >= _MIN_SCAN_SHARE * page_area
    if len(shapes.shapes) > _MAX_SHAPES:
        largest = sorted(shapes.shapes, key=lambda shape: -shape.area)[:_MAX_SHAPES]
        shapes.shapes = sorted(largest, key=lambda shape: shape.order)
    return shapes


def fill_color(page: PdfPage, handle: int) -> Color | None:
    """Return an object's fill color; None if it is not a plain color."""
    parts = [c_uint() for _ in range(4)]
    if not page.pdf.raw.FPDFPageObj_GetFillColor(handle, *map(byref, parts)):
        return None
    red, green, blue, opacity = (part.value for part in parts)
    return red, green, blue, opacity


def _is_filled(page: PdfPage, handle: int) -> bool:
    fill, stroke = c_int(), c_int()
    return bool(page.pdf.raw.FPDFPath_GetDrawMode(handle, byref(fill), byref(stroke))) and fill.value != 0


def _shape(page: PdfPage, handle: int, order: int, kind: int) -> Shape | None:
    edges = [c_float() for _ in range(4)]
    if not page.pdf.raw.FPDFPageObj_GetBounds(handle, *map(byref, edges)):
        return None
    color = fill_color(page, handle) if kind == _PATH else None
    if color is not None and color[3] < 12:
        return None
    color = color if color is not None and color[3] >= 250 else None
    left, bottom, right, top = (edge.value for edge in edges)
    return Shape(left, bottom, right, top, order, color)


def _on_page(page: PdfPage, shape: Shape) -> float:
    width = min(shape.x1, page.right) - max(shape.x0, page.left)
    height = min(shape.y1, page.top) - max(shape.y0, page.bottom)
    return float(max(0.0, width) * max(0.0, height))


def _has_image(page: PdfPage, form: int) -> bool:
    raw = page.pdf.raw
    parts = (raw.FPDFFormObj_GetObject(form, index) for index in range(min(raw.FPDFFormObj_CountObjects(form), 100)))
    return any(part and raw.FPDFPageObj_GetType(part) == _IMAGE for part in parts)
