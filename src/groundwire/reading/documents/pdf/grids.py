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
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.pdfium import Matrix, PdfPage
from groundwire.reading.documents.pdf.words import Word, is_to_left, turned_box

__all__ = ["Edge", "Grid", "TextLine", "grids", "page_edges", "row_starts", "turned_edge", "with_tables"]

_PATH, _FORM = 2, 5  # FPDF_PAGEOBJ_...
_LINE_TO, _MOVE_TO = 0, 2  # FPDF_SEGMENT_...
_MAX_OBJECTS: Final = 20_000
_MAX_POINTS: Final = 40_000  # of a page; maps and charts have more
_MAX_EDGES: Final = 6_000
_MOST_PAIRS: Final = 200_000
_MAX_PLACES: Final = 60  # columns of a grid
_MAX_ROWS: Final = 400
_DEPTH: Final = 3  # forms inside forms
_THIN: Final = 3.0  # points; a filled area that is thinner is a line
_STRAIGHT: Final = 0.7  # points
_NEAR: Final = 2.5  # points; lines nearer to each other are one
_SHORT: Final = 4.0  # points; an edge is not shorter
_COVERED: Final = 0.6  # share of a border that a line must cover
_LAYOUT: Final = 1_500  # characters; a longer cell is the layout of a page
_FILLED: Final = 0.3  # share of the cells with text; charts have fewer

_RULES: Final = 3  # of a table without vertical lines
_MANY: Final = 6  # lines, after which a narrow strip without words is no chance
_NARROW: Final = 0.35  # times the font size
_PARTS: Final = 0.75  # share of the columns; lines that fill more are rows
_LONGEST: Final = 500  # characters of a cell without vertical lines

_Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Edge:
    """A horizontal or vertical line."""

    level: bool
    """Whether it is horizontal."""
    at: float
    """Its y if it is horizontal, else its x."""
    start: float
    end: float


@dataclass(slots=True)
class Grid:
    """A ruled table."""

    x0: float
    y0: float
    x1: float
    y1: float
    rows: list[list[list[Word]]] = field(default_factory=list)
    """The words of each cell; those of a merged cell stand at its first place."""
    words: list[Word] = field(default_factory=list)
    """All its words."""


@dataclass(slots=True)
class TextLine:
    """The words at one height of a table."""

    middle: float
    size: float
    words: list[Word] = field(default_factory=list)
    filled: frozenset[int] = frozenset()
    """The columns that it has text in."""


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


def grids(edges: Sequence[Edge], words: Sequence[Word]) -> list[Grid]:
    """Return the ruled tables of a page.

    Args:
        edges: Its lines, in reading orientation.
        words: Its words, likewise.
    """
    level = _joined([edge for edge in edges if edge.level])
    upright = _joined([edge for edge in edges if not edge.level])
    if len(level) * len(upright) > _MOST_PAIRS:
        return []
    found: list[Grid] = []
    for group in _connected(level, upright):
        grid = _grid([edge for edge in group if edge.level], [edge for edge in group if not edge.level], words)
        if grid is not None and not any(_inside(grid, other) for other in found):
            found.append(grid)
    kept = {id(word) for grid in found for word in grid.words}
    outside = [edge for edge in level if not any(_holds(grid, edge) for grid in found)]
    return found + _banded(outside, [word for word in words if id(word) not in kept])


def _holds(grid: Grid, edge: Edge) -> bool:
    return grid.y0 - _NEAR <= edge.at <= grid.y1 + _NEAR and edge.start < grid.x1 and edge.end > grid.x0


def row_starts(lines: Sequence[TextLine], columns: int) -> list[int]:
    """Return the lines with which the rows of a table begin, where no ruled line says so.

    Rows are farther apart than the lines of a wrapped cell. Where the distances say nothing, a line continues a row if
    its first column and at least half of the others are empty.

    Args:
        lines: From top to bottom.
        columns: How many columns the table has.
    """
    steps = [other.middle - one.middle for one, other in itertools.pairwise(lines)]
    usual = [step for step, line in zip(steps, lines, strict=False) if step > 0.7 * line.size]
    near = min(usual, default=0.0) * 1.15 + 0.6
    tight = [line for step, line in zip(steps, lines[1:], strict=True) if step <= near]
    if tight and len(tight) < len(steps) and _are_parts(tight, columns):
        return [0, *(index for index, step in enumerate(steps, 1) if step > near)]
    return [0, *(index for index, line in enumerate(lines) if index and not _continues_row(line, columns))]


def _has_gaps(lines: Sequence[TextLine]) -> bool:
    steps = [other.middle - one.middle for one, other in itertools.pairwise(lines)]
    return bool(steps) and max(steps) > min(steps) * 1.15 + 0.6


def _are_parts(lines: Sequence[TextLine], columns: int) -> bool:
    """Return whether lines continue wrapped cells: most columns of a row have fewer lines than its longest."""
    return sum(len(line.filled) for line in lines) <= _PARTS * columns * len(lines)


def _continues_row(line: TextLine, columns: int) -> bool:
    return 0 not in line.filled and 2 * len(line.filled) <= columns


def _banded(edges: Sequence[Edge], words: Sequence[Word]) -> list[Grid]:
    """Return the tables whose rows are separated by horizontal lines or shades only."""
    groups: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        for group in groups:
            if abs(group[0].start - edge.start) <= _NEAR and abs(group[0].end - edge.end) <= _NEAR:
                group.append(edge)
                break
        else:
            groups.append([edge])
    return [grid for group in groups if len(group) >= _RULES and (grid := _banded_grid(group, words)) is not None]


def _banded_grid(rules: Sequence[Edge], words: Sequence[Word]) -> Grid | None:
    left, right = rules[0].start - _NEAR, rules[0].end + _NEAR
    every = _text_lines([word for word in words if word.x1 > left and word.x0 < right])
    first, last = rules[0].at, rules[-1].at
    inside = [line for line in every if first <= line.middle <= last]
    if any(word.x0 < left or word.x1 > right for line in inside for word in line.words) or len(inside) < _RULES:
        return None
    gutters = _gutters(inside)
    if not gutters:
        return None
    start, end = every.index(inside[0]), every.index(inside[-1]) + 1
    while start and _belongs(every[start - 1], every[start], gutters, left, right):
        start -= 1
    while end < len(every) and _belongs(every[end], every[end - 1], gutters, left, right):
        end += 1
    taken = every[start:end]
    while taken and len(_fill(taken[0], gutters)) < 2:
        del taken[0]
    bands: dict[int, list[TextLine]] = defaultdict(list)
    for line in taken:
        line.filled = _fill(line, gutters)
        bands[sum(rule.at <= line.middle for rule in rules)].append(line)
    columns = len(gutters) + 1
    parts = [line for band in bands.values() for line in band[1:]]
    wrapped = not parts or _are_parts(parts, columns)
    grid = Grid(left, min(first, taken[0].middle), right, max(last, taken[-1].middle)) if taken else Grid(0, 0, 0, 0)
    order = {id(word): index for index, word in enumerate(words)}
    for number, band in bands.items():
        inner = 0 < number < len(rules)
        named = sum(0 in line.filled for line in band)
        whole = wrapped and ((inner and len(bands) > _RULES) or (named == 1 and not _has_gaps(band)))
        starts = [0] if whole else row_starts(band, columns)
        for begin, stop in itertools.pairwise([*starts, len(band)]):
            row: list[list[Word]] = [[] for _ in range(columns)]
            text = [word for line in band[begin:stop] for word in line.words]
            before: Word | None = None
            column = 0
            for word in sorted(text, key=lambda word: order[id(word)]):
                if before is None or not word.glued or abs(word.x0 - before.x1) > _NARROW * word.face.size:
                    column = _column(word, gutters)
                row[column].append(word)
                before = word
            grid.words += text
            grid.rows.append(row)
    grid.words.sort(key=lambda word: order[id(word)])
    lengths = [sum(len(word.text) + 1 for word in cell) for row in grid.rows for cell in row if cell]
    if len(grid.rows) < 2 or len(lengths) < _FILLED * columns * len(grid.rows) or max(lengths) > _LONGEST:
        return None
    return grid


def _text_lines(words: Sequence[Word]) -> list[TextLine]:
    found: list[TextLine] = []
    for word in sorted(words, key=lambda word: word.middle):
        if found and word.middle - found[-1].middle <= 0.35 * max(found[-1].size, word.face.size):
            found[-1].words.append(word)
        else:
            found.append(TextLine(word.middle, max(word.face.size, 1.0), [word]))
    return found


def _gutters(lines: Sequence[TextLine]) -> list[tuple[float, float]]:
    """Return the strips between the columns of a table: no word is in them, but for a few that span columns."""
    size = max(line.size for line in lines)
    least = (_NARROW if len(lines) >= _MANY else 0.8) * size
    allowed = len(lines) // 10
    ends: list[tuple[float, int]] = []
    for line in lines:
        for start, end in _intervals(line.words):
            ends += [(start, 1), (end, -1)]
    found: list[tuple[float, float]] = []
    over, begin = 0, None
    for x, change in sorted(ends, key=lambda end: (end[0], -end[1])):
        over += change
        if over <= allowed and begin is None:
            begin = x
        elif over > allowed and begin is not None:
            if begin > ends[0][0] and x - begin >= least:
                found.append((begin, x))
            begin = None
    return [strip for one in found if (strip := _without_ends(one, lines))[1] > strip[0]]


def _without_ends(strip: tuple[float, float], lines: Sequence[TextLine]) -> tuple[float, float]:
    """Return a strip without the ends of words that do not cross all of it."""
    start, end = strip
    for left, right in (part for line in lines for part in _intervals(line.words)):
        if left < strip[0] < right < strip[1]:
            start = max(start, right)
        elif strip[0] < left < strip[1] < right:
            end = min(end, left)
    return start, end


def _intervals(words: Sequence[Word]) -> list[tuple[float, float]]:
    """Return the parts of a line that words cover."""
    found: list[tuple[float, float]] = []
    for word in sorted(words, key=lambda word: word.x0):
        if found and word.x0 <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], word.x1)
        else:
            found.append((word.x0, word.x1))
    return found


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
    covered = _intervals(line.words)
    return all(_free(covered, strip) >= _NARROW * line.size for strip in gutters)


def _free(covered: Sequence[tuple[float, float]], strip: tuple[float, float]) -> float:
    """Return the width of the widest part of a strip that a line leaves free."""
    widest, start = 0.0, strip[0]
    for left, right in covered:
        if right <= start or left >= strip[1]:
            continue
        widest, start = max(widest, left - start), right
    return max(widest, strip[1] - start)


def _joined(edges: Sequence[Edge]) -> list[Edge]:
    """Return lines with those at one place joined."""
    places: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        if places and edge.at - places[-1][0].at <= _NEAR:
            places[-1].append(edge)
        else:
            places.append([edge])
    found: list[Edge] = []
    for place in places:
        at = sum(edge.at for edge in place) / len(place)
        start, end = float("inf"), float("-inf")
        for edge in sorted(place, key=lambda edge: edge.start):
            if end > float("-inf") and edge.start > end + _NEAR:
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
            if one.start - _NEAR <= other.at <= one.end + _NEAR and other.start - _NEAR <= one.at <= other.end + _NEAR:
                owner[top(one)] = top(other)
    groups: dict[Edge, list[Edge]] = defaultdict(list)
    for edge in owner:
        groups[top(edge)].append(edge)
    return sorted(groups.values(), key=len, reverse=True)


def _grid(level: Sequence[Edge], upright: Sequence[Edge], words: Sequence[Word]) -> Grid | None:
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
    grid = Grid(left, top, right, bottom)
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
    return grid if len(grid.rows) > 1 and sum(used) > 1 else None


def _steps(places: Sequence[float]) -> list[float]:
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR:
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
    return count >= 4 and len(filled) >= max(3, _FILLED * count) and max(filled) <= _LAYOUT


def _inside(one: Grid, other: Grid) -> bool:
    x, y = (one.x0 + one.x1) / 2, (one.y0 + one.y1) / 2
    return other.x0 <= x <= other.x1 and other.y0 <= y <= other.y1
