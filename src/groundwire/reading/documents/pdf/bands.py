"""Drawn shapes, and tables without vertical lines: rows between horizontal lines or shades, and rows by distance."""

from __future__ import annotations

import ctypes
import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from ctypes import byref, c_float, c_int, c_uint
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.pdfium import Edge, PdfPage
from groundwire.reading.documents.pdf.words import TextLine, Word, intervals, is_entry, text_lines

__all__ = [
    "GAP",
    "MAX_CELL_TEXT",
    "MIN_FILL",
    "MIN_STRIP",
    "Color",
    "RuledTable",
    "Shape",
    "Shapes",
    "banded",
    "fill_color",
    "free_run",
    "free_width",
    "gutters_of",
    "page_shapes",
    "place_in_columns",
    "row_starts",
    "starts_by_gaps",
    "with_entries",
]

Color = tuple[int, int, int, int]
"""Red, green, blue and opacity, 0 to 255 each."""

_TEXT, _PATH, _IMAGE, _SHADING, _FORM = 1, 2, 3, 4, 5  # FPDF_PAGEOBJ_...
_MAX_OBJECTS: Final = 20_000
_MAX_SHAPES: Final = 300
_MIN_COVER_HEIGHT: Final = 4.0  # points; a word is not hidden by a shape lower than this
_MIN_SCAN_SHARE: Final = 0.5  # share of the page; scans cover all of it except for margins


@dataclass(frozen=True, slots=True)
class Shape:
    """A filled path, an image, a shading or a form."""

    order: int
    """Its index in the painting order."""
    left: float
    bottom: float
    right: float
    top: float
    color: Color | None
    """Its fill; None if that is not a single opaque color."""

    @property
    def area(self) -> float:
        """Its area in square points."""
        return max(0.0, self.right - self.left) * max(0.0, self.top - self.bottom)

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point is inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass(slots=True)
class Shapes:
    """The objects of a page."""

    orders: dict[int, int] = field(default_factory=dict)
    """The index of each text object in the painting order, except for those inside forms."""
    shapes: list[Shape] = field(default_factory=list)
    """Shapes that may be behind or in front of text, in painting order."""
    images: int = 0
    """The number of images."""
    scanned: bool = False
    """Whether the page is a scan, mostly covered by images."""


def page_shapes(page: PdfPage) -> Shapes:
    """Return the objects on a page other than its text."""
    call, raw = page.pdf.call, page.pdf.raw
    shapes = Shapes()
    covered = 0.0
    for order in range(min(raw.FPDFPage_CountObjects(page.handle), _MAX_OBJECTS)):
        handle = call.object(page.pointer, order)
        if not handle:
            continue
        kind = call.kind(handle)
        if kind == _TEXT:
            shapes.orders[handle] = order
            continue
        images = 1 if kind == _IMAGE else _images_inside(page, handle) if kind == _FORM else 0
        if kind == _PATH and not _is_filled(page, handle):
            continue
        shape = _shape(page, handle, order, kind)
        if shape is None:
            continue
        if images:
            shapes.images += images
            covered += _on_page(page, shape)
        if shape.top - shape.bottom >= _MIN_COVER_HEIGHT:
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
    if not page.pdf.call.fill(handle, *map(byref, parts)):
        return None
    red, green, blue, opacity = (part.value for part in parts)
    return red, green, blue, opacity


def _is_filled(page: PdfPage, handle: int) -> bool:
    fill, stroke = c_int(), c_int()
    return bool(page.pdf.call.draw_mode(handle, byref(fill), byref(stroke))) and fill.value != 0


def _shape(page: PdfPage, handle: int, order: int, kind: int) -> Shape | None:
    edges = [c_float() for _ in range(4)]
    if not page.pdf.call.bounds(handle, *map(byref, edges)):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    color = fill_color(page, handle) if kind == _PATH else None
    if color is not None and color[3] < 250:
        if color[3] < 12:
            return None
        color = None
    return Shape(order, left, bottom, right, top, color)


def _on_page(page: PdfPage, shape: Shape) -> float:
    width = min(shape.right, page.right) - max(shape.left, page.left)
    height = min(shape.top, page.top) - max(shape.bottom, page.bottom)
    return float(max(0.0, width) * max(0.0, height))


def _images_inside(page: PdfPage, form: int) -> int:
    handle = ctypes.cast(form, page.pdf.raw.FPDF_PAGEOBJECT)
    count = min(page.pdf.raw.FPDFFormObj_CountObjects(handle), 100)
    parts = (page.pdf.call.part(form, index) for index in range(count))
    return sum(1 for part in parts if part and page.pdf.call.kind(part) == _IMAGE)


GAP: Final = 2.5
"""Points; lines nearer to each other are one."""
MIN_FILL: Final = 0.3
"""Share of the cells with text; charts have fewer."""
MAX_CELL_TEXT: Final = 500
"""Characters of a cell without vertical lines."""
_MIN_RULES: Final = 3  # of a table without vertical lines
_MIN_NARROW_STRIP_LINES: Final = 6  # lines, after which a narrow strip without words is no chance
_MIN_NARROW_STRIP: Final = 0.35  # times the font size
MIN_STRIP: Final = 0.5
"""Times the font size; a strip between columns is not narrower."""
_MAX_ROW_DISTANCE: Final = 4.0  # times the font size; rows are not farther apart
_MIN_STRIP_LINES: Final = 3  # lines, after which a strip is one between columns
_MAX_PART_SHARE: Final = 0.75  # share of the columns; lines that fill more are rows


@dataclass(slots=True)
class RuledTable:
    """A ruled table."""

    x0: float
    y0: float
    x1: float
    y1: float
    rows: list[list[list[Word]]] = field(default_factory=list)
    """The words of each cell; those of a merged cell stand at its first place."""
    words: list[Word] = field(default_factory=list)
    """All its words."""


def row_starts(lines: Sequence[TextLine], columns: int) -> list[int]:
    """Return the lines with which the rows of a table begin, where no ruled line says so.

    Rows are farther apart than the lines of a wrapped cell. Where the distances say nothing, a line continues a row if
    its first column and at least half of the others are empty. Numbers or labels below each other are in two rows.

    Args:
        lines: From top to bottom.
        columns: How many columns the table has.
    """
    starts = starts_by_gaps(lines, columns)
    if not starts:
        starts = [0, *(index for index, line in enumerate(lines) if index and not _continues_row(line, columns))]
    return with_entries(starts, lines)


def with_entries(starts: Sequence[int], lines: Sequence[TextLine]) -> list[int]:
    """Return the lines with which rows begin, with those that have a number or a label below another of their row."""
    all_starts: list[int] = []
    entries = frozenset[int]()
    start_set = set(starts)
    for index, line in enumerate(lines):
        if index in start_set or line.entries & entries:
            all_starts.append(index)
            entries = frozenset()
        entries |= line.entries
    return all_starts


def place_in_columns(line: TextLine, columns: Mapping[int, int]) -> None:
    """Say in which columns a line has text, and in which of them a number or a label.

    Args:
        line: The line.
        columns: The column of each of its words, by the identity of the word.
    """
    texts: dict[int, list[str]] = defaultdict(list)
    for word in sorted(line.words, key=lambda word: word.x0):
        texts[columns[id(word)]].append(word.text)
    line.filled = frozenset(texts)
    line.entries = frozenset(column for column, words in texts.items() if is_entry(" ".join(words)))


def starts_by_gaps(lines: Sequence[TextLine], columns: int) -> list[int]:
    """Return the lines with which the rows of a table begin as `row_starts`; empty if the distances say nothing."""
    steps = [below.middle - above.middle for above, below in itertools.pairwise(lines)]
    line_steps = [step for step, line in zip(steps, lines, strict=False) if step > 0.7 * line.size]
    near = min(line_steps, default=0.0) * 1.15 + 0.6
    tight = [line for step, line in zip(steps, lines[1:], strict=True) if step <= near]
    if tight and len(tight) < len(steps) and _are_parts(tight, columns):
        return [0, *(index for index, step in enumerate(steps, 1) if step > near)]
    return []


def _has_gaps(lines: Sequence[TextLine]) -> bool:
    steps = [below.middle - above.middle for above, below in itertools.pairwise(lines)]
    return bool(steps) and max(steps) > min(steps) * 1.15 + 0.6


def _are_parts(lines: Sequence[TextLine], columns: int) -> bool:
    """Return whether lines continue wrapped cells: most columns of a row have fewer lines than its longest."""
    return sum(len(line.filled) for line in lines) <= _MAX_PART_SHARE * columns * len(lines)


def _continues_row(line: TextLine, columns: int) -> bool:
    return 0 not in line.filled and 2 * len(line.filled) <= columns


def banded(edges: Sequence[Edge], words: Sequence[Word]) -> list[RuledTable]:
    """Return the tables whose rows are separated by horizontal lines or shades only."""
    groups: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        for group in groups:
            if abs(group[0].start - edge.start) <= GAP and abs(group[0].end - edge.end) <= GAP:
                group.append(edge)
                break
        else:
            groups.append([edge])
    return [grid for group in groups if len(group) >= _MIN_RULES and (grid := _banded_grid(group, words)) is not None]


def _banded_grid(rules: Sequence[Edge], words: Sequence[Word]) -> RuledTable | None:
    left, right = rules[0].start - GAP, rules[0].end + GAP
    every = text_lines([word for word in words if word.x1 > left and word.x0 < right])
    first, last = rules[0].at, rules[-1].at
    inside = [line for line in every if first <= line.middle <= last]
    gutters = gutters_of(inside) if len(inside) >= _MIN_RULES and _lie_between(inside, left, right) else []
    if not gutters:
        return None
    lines = _with_lines_around(every, inside, gutters, left, right)
    bands: dict[int, list[TextLine]] = defaultdict(list)
    for line in lines:
        place_in_columns(line, {id(word): _column(word, gutters) for word in line.words})
        bands[sum(rule.at <= line.middle for rule in rules)].append(line)
    columns = len(gutters) + 1
    parts = [line for band in bands.values() for line in band[1:]]
    wrapped = not parts or _are_parts(parts, columns)
    grid = RuledTable(0, 0, 0, 0)
    if lines:
        grid = RuledTable(left, min(first, lines[0].middle), right, max(last, lines[-1].middle))
    order = {id(word): index for index, word in enumerate(words)}
    for number, band in bands.items():
        inner = 0 < number < len(rules) and len(bands) > _MIN_RULES
        is_single_row = wrapped and (inner or (sum(0 in line.filled for line in band) == 1 and not _has_gaps(band)))
        starts = with_entries([0], band) if is_single_row else row_starts(band, columns)
        for begin, stop in itertools.pairwise([*starts, len(band)]):
            text = [word for line in band[begin:stop] for word in line.words]
            grid.words += text
            grid.rows.append(_cells(sorted(text, key=lambda word: order[id(word)]), gutters))
    grid.words.sort(key=lambda word: order[id(word)])
    return grid if _has_full_cells(grid.rows) else None


def _lie_between(lines: Sequence[TextLine], left: float, right: float) -> bool:
    return all(left <= word.x0 and word.x1 <= right for line in lines for word in line.words)


def _has_full_cells(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Return whether most cells of two rows or more have text, and none too much."""
    lengths = [sum(len(word.text) + 1 for word in cell) for row in rows for cell in row if cell]
    return len(rows) > 1 and len(lengths) >= MIN_FILL * len(rows[0]) * len(rows) and max(lengths) <= MAX_CELL_TEXT


def _with_lines_around(
    every: Sequence[TextLine],
    inside: Sequence[TextLine],
    gutters: Sequence[tuple[float, float]],
    left: float,
    right: float,
) -> list[TextLine]:
    """Return lines between rules with those above and below that are in the same columns, from a full row on."""
    start, end = every.index(inside[0]), every.index(inside[-1]) + 1
    while start and _belongs(every[start - 1], every[start], gutters, left, right):
        start -= 1
    while end < len(every) and _belongs(every[end], every[end - 1], gutters, left, right):
        end += 1
    lines = list(every[start:end])
    while lines and len(_fill(lines[0], gutters)) < 2:
        del lines[0]
    return lines


def _cells(words: Sequence[Word], gutters: Sequence[tuple[float, float]]) -> list[list[Word]]:
    """Return the cells of a row, given its words in reading order; the parts of one word stay together."""
    row: list[list[Word]] = [[] for _ in (None, *gutters)]
    before: Word | None = None
    column = 0
    for word in words:
        if before is None or not word.glued or abs(word.x0 - before.x1) > _MIN_NARROW_STRIP * word.face.size:
            column = _column(word, gutters)
        row[column].append(word)
        before = word
    return row


def gutters_of(lines: Sequence[TextLine]) -> list[tuple[float, float]]:
    """Return the strips between the columns of a table: no word is in them, but for a few that span columns."""
    size = max(line.size for line in lines)
    least = (_MIN_NARROW_STRIP if len(lines) >= _MIN_NARROW_STRIP_LINES else 0.8) * size
    allowed = len(lines) // 10
    ends: list[tuple[float, int]] = []
    for line in lines:
        for start, end in intervals(line.words):
            ends += [(start, 1), (end, -1)]
    strips: list[tuple[float, float]] = []
    over, begin = 0, None
    leftmost = min(ends)[0]
    for x, change in sorted(ends, key=lambda end: (end[0], -end[1])):
        over += change
        if over <= allowed and begin is None:
            begin = x
        elif over > allowed and begin is not None:
            if begin > leftmost and x - begin >= least:
                strips.append((begin, x))
            begin = None
    return [strip for candidate in strips if (strip := _without_ends(candidate, lines))[1] > strip[0]]


def _without_ends(strip: tuple[float, float], lines: Sequence[TextLine]) -> tuple[float, float]:
    """Return a strip without the ends of words that do not cross all of it."""
    start, end = strip
    for left, right in (part for line in lines for part in intervals(line.words)):
        if left < strip[0] < right < strip[1]:
            start = max(start, right)
        elif strip[0] < left < strip[1] < right:
            end = min(end, left)
    return start, end


def _column(word: Word, gutters: Sequence[tuple[float, float]]) -> int:
    return sum((word.x0 + word.x1) / 2 > (start + end) / 2 for start, end in gutters)


def _fill(line: TextLine, gutters: Sequence[tuple[float, float]]) -> frozenset[int]:
    return frozenset(_column(word, gutters) for word in line.words)


def _belongs(
    line: TextLine, before: TextLine, gutters: Sequence[tuple[float, float]], left: float, right: float
) -> bool:
    """Return whether a line next to a table is one of its rows."""
    if abs(line.middle - before.middle) > 3.0 * line.size:
        return False
    if any(word.x0 < left or word.x1 > right for word in line.words):
        return False
    covered = intervals(line.words)
    return all(free_width(covered, strip) >= _MIN_NARROW_STRIP * line.size for strip in gutters)


def free_width(covered: Sequence[tuple[float, float]], strip: tuple[float, float]) -> float:
    """Return the width of the widest part of a strip that a line leaves free."""
    widest, start = 0.0, strip[0]
    for left, right in covered:
        if right <= start or left >= strip[1]:
            continue
        widest, start = max(widest, left - start), right
    return max(widest, strip[1] - start)


def free_run(
    lines: Sequence[TextLine], parts: Sequence[Sequence[tuple[float, float]]], start: int, most: int
) -> tuple[int, list[tuple[float, float]]]:
    """Return where the lines end that leave strips between their words free, and these strips.

    Args:
        lines: The lines of a page.
        parts: The `intervals` of each.
        start: The first.
        most: Maximum lines.
    """
    free: list[tuple[float, float]] = [(float("-inf"), float("inf"))]
    left, right = float("inf"), float("-inf")
    end = min(start + most, len(lines))
    for at in range(start, end):
        line, covered = lines[at], parts[at]
        remaining: list[tuple[float, float]] = []
        for begin, stop in free:
            for x0, x1 in covered:
                if x0 < stop and x1 > begin:
                    if x0 - begin >= MIN_STRIP * line.size:
                        remaining.append((begin, x0))
                    begin = x1
            if stop - begin >= MIN_STRIP * line.size:
                remaining.append((begin, stop))
        lost = [
            (x0, x1)
            for x0, x1 in free
            if x0 > left and x1 < right and not any(x0 <= begin and stop <= x1 for begin, stop in remaining)
        ]
        far = at > start and line.middle - lines[at - 1].middle > _MAX_ROW_DISTANCE * line.size
        if far or (lost and at - start >= _MIN_STRIP_LINES):
            return at, [(x0, x1) for x0, x1 in free if x0 > left and x1 < right]
        free = remaining
        left, right = min(left, covered[0][0]), max(right, covered[-1][1])
    return end, [(x0, x1) for x0, x1 in free if x0 > left and x1 < right]
