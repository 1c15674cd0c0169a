"""Tables with ruled lines: the lines that a page draws, and the cells that they enclose.

Lines are strokes, thin filled rectangles and the edges of filled areas. Those that touch each other form a grid; two
places of it belong to one cell where no line separates them.
"""

from __future__ import annotations

import ctypes
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from ctypes import byref, c_float, c_int
from typing import Final

from groundwire.reading.documents.pdf.bands import FILLED, NEAR, Edge, RuledTable, banded, starts_by_gaps, text_lines
from groundwire.reading.documents.pdf.pdfium import Matrix, PdfPage
from groundwire.reading.documents.pdf.words import Word, is_to_left, turned_box

__all__ = ["grids", "page_edges", "turned_edge", "with_tables"]

_PATH, _FORM = 2, 5  # FPDF_PAGEOBJ_...
_LINE_TO, _MOVE_TO = 0, 2  # FPDF_SEGMENT_...
_MAX_OBJECTS: Final = 20_000
_MAX_POINTS: Final = 40_000  # of a page; maps and charts have more
_MAX_EDGES: Final = 6_000
_MOST_PAIRS: Final = 200_000
_MAX_PLACES: Final = 60  # columns of a grid
_FEW_ROWS: Final = 2
_MAX_ROWS: Final = 400
_DEPTH: Final = 3  # forms inside forms
_THIN: Final = 3.0  # points; a filled area that is thinner is a line
_STRAIGHT: Final = 0.7  # points
_SHORT: Final = 4.0  # points; an edge is not shorter
_COVERED: Final = 0.6  # share of a border that a line must cover
_LAYOUT: Final = 1_500  # characters; a longer cell is the layout of a page


_Point = tuple[float, float]


def page_edges(page: PdfPage) -> list[Edge]:
    """Return the horizontal and vertical lines of a page, in sheet coordinates."""
    found: list[Edge] = []
    points = 0
    raw = page.pdf.raw
    count = min(raw.FPDFPage_CountObjects(page.handle), _MAX_OBJECTS)
    handles = (page.pdf.call.object(page.pointer, order) for order in range(count))
    for handle, outer in _paths(page, handles, (), 0):
        for line, closed, filled in _subpaths(page, handle, outer):
            points += len(line)
            found += _edges(line, closed=closed, filled=filled)
        if points > _MAX_POINTS or len(found) > _MAX_EDGES:
            return []
    return found


def _paths(
    page: PdfPage, handles: Iterator[int | None], outer: tuple[Matrix, ...], depth: int
) -> Iterator[tuple[int, tuple[Matrix, ...]]]:
    """Yield the paths of a page or form, with the matrices of the forms that contain them."""
    call, raw = page.pdf.call, page.pdf.raw
    for handle in handles:
        kind = call.kind(handle) if handle else 0
        if not handle or kind not in {_PATH, _FORM}:
            continue
        matrix = Matrix()
        call.object_matrix(handle, byref(matrix))
        chain = (matrix, *outer)
        if kind == _PATH:
            yield handle, chain
        elif depth < _DEPTH:
            form = ctypes.cast(handle, raw.FPDF_PAGEOBJECT)
            count = min(raw.FPDFFormObj_CountObjects(form), _MAX_OBJECTS)
            yield from _paths(page, (call.part(handle, index) for index in range(count)), chain, depth + 1)


def _subpaths(page: PdfPage, handle: int, chain: Sequence[Matrix]) -> Iterator[tuple[list[_Point], bool, bool]]:
    """Yield the points of the straight parts of a path, whether each is closed, and whether it is only filled."""
    call = page.pdf.call
    fill, stroke = c_int(), c_int()
    if not call.draw_mode(handle, byref(fill), byref(stroke)) or not (fill.value or stroke.value):
        return
    line: list[_Point] = []
    closed = False
    x, y = c_float(), c_float()
    for index in range(min(max(call.segments(handle), 0), _MAX_POINTS)):
        segment = call.segment(handle, index)
        kind = call.segment_kind(segment)
        if kind == _MOVE_TO:
            if len(line) > 1:
                yield line, closed, not stroke.value
            line, closed = [], False
        if kind not in {_MOVE_TO, _LINE_TO} or not call.point(segment, byref(x), byref(y)):
            line, closed = [], False  # a curve
            continue
        line.append(_moved(x.value, y.value, chain))
        closed = closed or bool(call.closes(segment))
    if len(line) > 1:
        yield line, closed, not stroke.value


def _moved(x: float, y: float, chain: Sequence[Matrix]) -> _Point:
    for matrix in chain:
        x, y = matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f
    return x, y


def _edges(line: Sequence[_Point], *, closed: bool, filled: bool) -> Iterator[Edge]:
    xs, ys = [x for x, _ in line], [y for _, y in line]
    width, height = max(xs) - min(xs), max(ys) - min(ys)
    if min(width, height) <= _THIN:
        if max(width, height) >= _SHORT and (width < height or height <= width):
            level = width >= height
            at = (min(ys) + max(ys)) / 2 if level else (min(xs) + max(xs)) / 2
            yield Edge(level, at, min(xs) if level else min(ys), max(xs) if level else max(ys))
        return
    ends = itertools.pairwise([*line, line[0]] if closed or filled else line)
    for (x0, y0), (x1, y1) in ends:
        if abs(y0 - y1) <= _STRAIGHT and abs(x0 - x1) >= _SHORT:
            yield Edge(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1))
        elif abs(x0 - x1) <= _STRAIGHT and abs(y0 - y1) >= _SHORT:
            yield Edge(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1))


def turned_edge(page: PdfPage, direction: int, edge: Edge) -> Edge:
    """Return a line in the reading orientation of a direction; see `turned_box`."""
    box = (edge.start, edge.at, edge.end, edge.at) if edge.level else (edge.at, edge.start, edge.at, edge.end)
    x0, y0, x1, y1 = turned_box(page, direction, box)
    level = edge.level if direction in {0, 2} else not edge.level
    return Edge(level, y0 if level else x0, x0 if level else y0, x1 if level else y1)


def with_tables(words: Sequence[Word], edges: Sequence[Edge]) -> list[Word]:
    """Return words with those of each ruled table replaced by one that stands for it.

    Args:
        words: The words of a page in one direction, in reading orientation.
        edges: Its lines, likewise.
    """
    found = grids(edges, words)
    if not found:
        return list(words)
    taken = {id(word): grid for grid in found for word in grid.words}
    kept: list[Word] = []
    placed: set[int] = set()
    for word in words:
        grid = taken.get(id(word))
        if grid is None:
            kept.append(word)
        elif id(grid) not in placed:
            placed.add(id(grid))
            text = " ".join(word.text for word in grid.words)
            to_left = 2 * sum(is_to_left(word.text) for word in grid.words) > len(grid.words)
            rows = [row[::-1] for row in grid.rows] if to_left else grid.rows
            kept.append(Word(text, grid.x0, grid.y0, grid.x1, grid.y1, word.face, rows=rows))
    return kept


def grids(edges: Sequence[Edge], words: Sequence[Word]) -> list[RuledTable]:
    """Return the ruled tables of a page.

    Args:
        edges: Its lines, in reading orientation.
        words: Its words, likewise.
    """
    level = _joined([edge for edge in edges if edge.level])
    upright = _joined([edge for edge in edges if not edge.level])
    if len(level) * len(upright) > _MOST_PAIRS:
        return []
    found: list[RuledTable] = []
    for group in _connected(level, upright):
        grid = _grid([edge for edge in group if edge.level], [edge for edge in group if not edge.level], words)
        if grid is not None and not any(_inside(grid, other) for other in found):
            found.append(grid)
    kept = {id(word) for grid in found for word in grid.words}
    outside = [edge for edge in level if not any(_holds(grid, edge) for grid in found)]
    return found + banded(outside, [word for word in words if id(word) not in kept])


def _holds(grid: RuledTable, edge: Edge) -> bool:
    return grid.y0 - NEAR <= edge.at <= grid.y1 + NEAR and edge.start < grid.x1 and edge.end > grid.x0


def _joined(edges: Sequence[Edge]) -> list[Edge]:
    """Return lines with those at one place joined."""
    places: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        if places and edge.at - places[-1][0].at <= NEAR:
            places[-1].append(edge)
        else:
            places.append([edge])
    found: list[Edge] = []
    for place in places:
        at = sum(edge.at for edge in place) / len(place)
        start, end = float("inf"), float("-inf")
        for edge in sorted(place, key=lambda edge: edge.start):
            if end > float("-inf") and edge.start > end + NEAR:
                found.append(Edge(edge.level, at, start, end))
                start, end = edge.start, edge.end
            start, end = min(start, edge.start), max(end, edge.end)
        found.append(Edge(place[0].level, at, start, end))
    return found


def _connected(level: Sequence[Edge], upright: Sequence[Edge]) -> list[list[Edge]]:
    """Return groups of lines that touch each other, the largest first."""
    owner = {edge: edge for edge in (*level, *upright)}

    def top(edge: Edge) -> Edge:
        while owner[edge] is not edge:
            owner[edge] = owner[owner[edge]]
            edge = owner[edge]
        return edge

    for one in upright:
        for other in level:
            if one.start - NEAR <= other.at <= one.end + NEAR and other.start - NEAR <= one.at <= other.end + NEAR:
                owner[top(one)] = top(other)
    groups: dict[Edge, list[Edge]] = defaultdict(list)
    for edge in owner:
        groups[top(edge)].append(edge)
    return sorted(groups.values(), key=len, reverse=True)


def _grid(level: Sequence[Edge], upright: Sequence[Edge], words: Sequence[Word]) -> RuledTable | None:
    if len(level) < 2 or not upright:
        return None
    left = min(*(edge.start for edge in level), *(edge.at for edge in upright))
    right = max(*(edge.end for edge in level), *(edge.at for edge in upright))
    top = min(*(edge.start for edge in upright), *(edge.at for edge in level))
    bottom = max(*(edge.end for edge in upright), *(edge.at for edge in level))
    xs = _steps([left, right, *(edge.at for edge in upright)])
    ys = _steps([top, bottom, *(edge.at for edge in level)])
    if not 3 <= len(xs) <= _MAX_PLACES or not 3 <= len(ys) <= _MAX_ROWS:
        return None
    owners = _merged(xs, ys, level, upright)
    cells: dict[tuple[int, int], list[Word]] = defaultdict(list)
    grid = RuledTable(left, top, right, bottom)
    for word in words:
        x, y = (word.x0 + word.x1) / 2, word.middle
        if left <= x <= right and top <= y <= bottom:
            grid.words.append(word)
            cells[owners[_place(ys, y), _place(xs, x)]].append(word)
    if not _is_table(owners, cells):
        return None
    rows = [[cells.get((row, column), []) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    used = [any(row[column] for row in rows) for column in range(len(xs) - 1)]  # columns that only separate are empty
    grid.rows = [list(itertools.compress(row, used)) for row in rows if any(row)]
    if len(grid.rows) <= _FEW_ROWS:  # only its columns, and perhaps its head, are ruled
        grid.rows = [part for row in grid.rows for part in _parts(row)]
    return grid if len(grid.rows) > 1 and sum(used) > 1 else None


def _parts(row: list[list[Word]]) -> list[list[list[Word]]]:
    """Return the rows of a table between two horizontal lines, by their distances."""
    columns = {id(word): column for column, cell in enumerate(row) for word in cell}
    found = text_lines([word for cell in row for word in cell])
    for line in found:
        line.filled = frozenset(columns[id(word)] for word in line.words)
    parts: list[list[list[Word]]] = []
    for begin, stop in itertools.pairwise([*(starts_by_gaps(found, len(row)) or [0]), len(found)]):
        here = {id(word) for line in found[begin:stop] for word in line.words}
        parts.append([[word for word in cell if id(word) in here] for cell in row])
    return parts


def _steps(places: Sequence[float]) -> list[float]:
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > NEAR:
            found.append(place)
    return found


def _place(steps: Sequence[float], value: float) -> int:
    return max(0, min(len(steps) - 2, sum(step <= value for step in steps) - 1))


def _merged(
    xs: Sequence[float], ys: Sequence[float], level: Sequence[Edge], upright: Sequence[Edge]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the first place of the cell that each place belongs to."""
    owners = {place: place for place in itertools.product(range(len(ys) - 1), range(len(xs) - 1))}

    def first(place: tuple[int, int]) -> tuple[int, int]:
        while owners[place] != place:
            place = owners[place]
        return place

    def join(one: tuple[int, int], other: tuple[int, int]) -> None:
        early, late = sorted((first(one), first(other)))
        owners[late] = early

    across: dict[int, list[Edge]] = defaultdict(list)
    down: dict[int, list[Edge]] = defaultdict(list)
    for edges, steps, by in ((level, ys, across), (upright, xs, down)):
        for edge in edges:
            by[min(range(len(steps)), key=lambda step: abs(steps[step] - edge.at))].append(edge)
    for row, column in list(owners):
        if column + 2 < len(xs) and not _covers(down[column + 1], ys[row], ys[row + 1]):
            join((row, column), (row, column + 1))
        if row + 2 < len(ys) and not _covers(across[row + 1], xs[column], xs[column + 1]):
            join((row, column), (row + 1, column))
    return {place: first(place) for place in owners}


def _covers(edges: Sequence[Edge], start: float, end: float) -> bool:
    covered = sum(max(0.0, min(edge.end, end) - max(edge.start, start)) for edge in edges)
    return covered >= _COVERED * (end - start)


def _is_table(owners: dict[tuple[int, int], tuple[int, int]], cells: dict[tuple[int, int], list[Word]]) -> bool:
    """Return whether the cells hold a table, not the layout of a page, a chart or a frame."""
    count = len(set(owners.values()))
    filled = [sum(len(word.text) + 1 for word in text) for text in cells.values() if text]
    return count >= 4 and len(filled) >= max(3, FILLED * count) and max(filled) <= _LAYOUT


def _inside(one: RuledTable, other: RuledTable) -> bool:
    x, y = (one.x0 + one.x1) / 2, (one.y0 + one.y1) / 2
    return other.x0 <= x <= other.x1 and other.y0 <= y <= other.y1
