"""Tables by the lines that a page draws and the cells that they enclose, or by cells that are vertically centered.

Lines are strokes, thin filled rectangles and the edges of filled areas. Those that touch each other form a grid; two
places of it belong to one cell where no line separates them.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from groundwire.reading.documents.pdf.bands import (
    GAP,
    MAX_CELL_TEXT,
    MIN_FILL,
    MIN_STRIP,
    RuledTable,
    banded,
    free_run,
    free_width,
    gutters_of,
    place_in_columns,
    starts_by_gaps,
    with_entries,
)
from groundwire.reading.documents.pdf.pdfium import Edge
from groundwire.reading.documents.pdf.words import TextLine, Word, intervals, is_entry, is_to_left, text_lines

__all__ = ["grids", "with_tables"]

_MAX_PAIRS: Final = 200_000
_MAX_COLUMNS: Final = 60  # columns of a grid
_FEW_ROWS: Final = 2
_MAX_ROWS: Final = 400
_BORDER_SHARE: Final = 0.6  # share of a border that a line must cover
_MAX_CELL_LENGTH: Final = 1_500  # characters; a longer cell is the layout of a page
_LINE_STEP: Final = 0.8  # times the font size; lines of one column are farther apart
_MAX_STARTS: Final = 3  # lines with which a table may begin, after each other
_MIN_LINES: Final = 5  # three rows with one cell of two lines
_MAX_LINES: Final = 300  # of a table on one page
_MIN_ROWS: Final = 3
_MIN_CELL_SHARE: Final = 0.5  # of the cells have text
_WORDS: Final = 0.75  # of the words between the strips; in columns of text, few lines are centered by chance
_MAX_WORD_GAP: Final = 1.0  # times the font size; a gap in justified text is not wider
_MAX_NARROW_STRIPS: Final = 5  # strips that may be such gaps
_MIN_PROSE_LENGTH: Final = 18  # characters; a line of running text has more
_MAX_GAPS: Final = 4  # distances between lines that may separate rows
_MIN_FRAMED_STRIP: Final = 1.2  # times the font size; a strip between the columns of a table in a frame is not narrower
_CENTER_TOLERANCE: Final = 0.2  # times the font size; cells of a row are centered so precisely
_MIN_ROW_DISTANCE: Final = 0.7  # times the font size; rows are not nearer to each other
_Columns = Sequence[Sequence[TextLine]]
_Strips = Sequence[tuple[float, float]]
_Rows = Sequence[Sequence[Sequence[TextLine]]]


def with_tables(words: Sequence[Word], edges: Sequence[Edge]) -> list[Word]:
    """Return words with those of each ruled table replaced by one that stands for it.

    Args:
        words: The words of a page in one direction, in reading orientation.
        edges: Its lines, likewise.
    """
    ruled_tables = grids(edges, words)
    ruled = {id(word) for grid in ruled_tables for word in grid.words}
    tables = [grid for grid in ruled_tables if grid.rows]
    tables += _centered_tables([word for word in words if id(word) not in ruled])
    table_of = {id(word): grid for grid in tables for word in grid.words}
    words_and_tables, placed = list[Word](), set[int]()
    for word in words:
        grid = table_of.get(id(word))
        if grid is None:
            words_and_tables.append(word)
        elif id(grid) not in placed:
            placed.add(id(grid))
            text = " ".join(word.text for word in grid.words)
            to_left = 2 * sum(is_to_left(word.text) for word in grid.words) > len(grid.words)
            rows = [row[::-1] for row in grid.rows] if to_left else grid.rows
            words_and_tables.append(Word(text, grid.x0, grid.y0, grid.x1, grid.y1, word.face, rows=rows))
    return words_and_tables


def grids(edges: Sequence[Edge], words: Sequence[Word]) -> list[RuledTable]:
    """Return the ruled tables of a page; one without rows is only a frame.

    Args:
        edges: Its lines, in reading orientation.
        words: Its words, likewise.
    """
    level = _joined([edge for edge in edges if edge.level])
    upright = _joined([edge for edge in edges if not edge.level])
    if len(level) * len(upright) > _MAX_PAIRS:
        return []
    tables: list[RuledTable] = []
    for group in _connected(level, upright):
        grid = _grid([edge for edge in group if edge.level], [edge for edge in group if not edge.level], words)
        if grid is not None and not any(_inside(grid, other) for other in tables):
            tables.append(grid)
    ruled = {id(word) for grid in tables for word in grid.words}
    outside = [edge for edge in level if not any(_holds(grid, edge) for grid in tables)]
    return tables + banded(outside, [word for word in words if id(word) not in ruled])


def _holds(grid: RuledTable, edge: Edge) -> bool:
    return grid.y0 - GAP <= edge.at <= grid.y1 + GAP and edge.start < grid.x1 and edge.end > grid.x0


def _joined(edges: Sequence[Edge]) -> list[Edge]:
    """Return lines with those at one place joined."""
    places: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        if places and edge.at - places[-1][0].at <= GAP:
            places[-1].append(edge)
        else:
            places.append([edge])
    merged: list[Edge] = []
    for place in places:
        at = sum(edge.at for edge in place) / len(place)
        start, end = float("inf"), float("-inf")
        for edge in sorted(place, key=lambda edge: edge.start):
            if end > float("-inf") and edge.start > end + GAP:
                merged.append(Edge(edge.level, at, start, end))
                start, end = edge.start, edge.end
            start, end = min(start, edge.start), max(end, edge.end)
        merged.append(Edge(place[0].level, at, start, end))
    return merged


def _connected(level: Sequence[Edge], upright: Sequence[Edge]) -> list[list[Edge]]:
    """Return groups of lines that touch each other, the largest first."""
    owner = {edge: edge for edge in (*level, *upright)}

    def top(edge: Edge) -> Edge:
        while owner[edge] is not edge:
            owner[edge] = owner[owner[edge]]
            edge = owner[edge]
        return edge

    for edge in upright:
        for other in level:
            if edge.start - GAP <= other.at <= edge.end + GAP and other.start - GAP <= edge.at <= other.end + GAP:
                owner[top(edge)] = top(other)
    groups: dict[Edge, list[Edge]] = defaultdict(list)
    for edge in owner:
        groups[top(edge)].append(edge)
    return sorted(groups.values(), key=len, reverse=True)


def _grid(level: Sequence[Edge], upright: Sequence[Edge], words: Sequence[Word]) -> RuledTable | None:
    if len(level) < 2 or not upright:
        return None
    left, top, right, bottom = _frame(level, upright)
    xs = _steps([left, right, *(edge.at for edge in upright)])
    ys = _steps([top, bottom, *(edge.at for edge in level)])
    if not 3 <= len(xs) <= _MAX_COLUMNS or not 3 <= len(ys) <= _MAX_ROWS:
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
    if any(_holds_table(text) for text in cells.values()):
        return grid
    rows = [[cells.get((row, column), []) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    used = [any(row[column] for row in rows) for column in range(len(xs) - 1)]  # columns that only separate are empty
    grid.rows = [list(itertools.compress(row, used)) for row in rows if any(row)]
    few = len(grid.rows) <= _FEW_ROWS  # only its columns, and perhaps its head, are ruled
    grid.rows = [part for row in grid.rows for part in _parts(row, by_gaps=few)]
    return grid if len(grid.rows) > 1 and sum(used) > 1 else None


def _frame(level: Sequence[Edge], upright: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Return the left, top, right, and bottom of the box around lines."""
    return (
        min(*(edge.start for edge in level), *(edge.at for edge in upright)),
        min(*(edge.start for edge in upright), *(edge.at for edge in level)),
        max(*(edge.end for edge in level), *(edge.at for edge in upright)),
        max(*(edge.end for edge in upright), *(edge.at for edge in level)),
    )


def _parts(row: list[list[Word]], *, by_gaps: bool) -> list[list[list[Word]]]:
    """Return the rows of a table between two horizontal lines, by their numbers and labels and by their distances."""
    columns = {id(word): column for column, cell in enumerate(row) for word in cell}
    lines = text_lines([word for cell in row for word in cell])
    for line in lines:
        place_in_columns(line, columns)
    starts = with_entries((by_gaps and starts_by_gaps(lines, len(row))) or [0], lines)
    parts: list[list[list[Word]]] = []
    for begin, stop in itertools.pairwise([*starts, len(lines)]):
        here = {id(word) for line in lines[begin:stop] for word in line.words}
        parts.append([[word for word in cell if id(word) in here] for cell in row])
    return parts


def _steps(places: Sequence[float]) -> list[float]:
    steps: list[float] = []
    for place in sorted(places):
        if not steps or place - steps[-1] > GAP:
            steps.append(place)
    return steps


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

    def join(place: tuple[int, int], other: tuple[int, int]) -> None:
        early, late = sorted((first(place), first(other)))
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
    return sum(max(0.0, min(edge.end, end) - max(edge.start, start)) for edge in edges) >= _BORDER_SHARE * (end - start)


def _is_table(owners: dict[tuple[int, int], tuple[int, int]], cells: dict[tuple[int, int], list[Word]]) -> bool:
    """Return whether the cells hold a table, not the layout of a page, a chart or a frame."""
    count = len(set(owners.values()))
    filled = [_length(text) for text in cells.values() if text]
    return count >= 4 and len(filled) >= max(3, MIN_FILL * count) and max(filled) <= _MAX_CELL_LENGTH


def _holds_table(words: Sequence[Word]) -> bool:
    """Return whether the words of a cell are a table of its own, so that the lines around it are only a frame."""
    lines = text_lines(words)
    if len(lines) < _MIN_ROWS:
        return False
    strips = [strip for strip in gutters_of(lines) if strip[1] - strip[0] >= _MIN_FRAMED_STRIP * lines[0].size]
    columns = _between(lines, strips) if strips else []
    return sum(len(column) >= _WORDS * len(lines) for column in columns) > 1


def _inside(grid: RuledTable, other: RuledTable) -> bool:
    x, y = (grid.x0 + grid.x1) / 2, (grid.y0 + grid.y1) / 2
    return other.x0 <= x <= other.x1 and other.y0 <= y <= other.y1


def _centered_tables(words: Sequence[Word]) -> list[RuledTable]:
    """Return the tables without lines whose wrapped cells are vertically centered in their rows.

    A column is what stands between strips that a run of lines leaves free. A row is where the cells of all columns
    have one center; a cell of two lines beside one of a single line tells such a table from columns of text.
    """
    lines = text_lines(words)
    parts = [intervals(line.words) for line in lines]
    order = {id(word): place for place, word in enumerate(words)}
    best_tables: list[RuledTable] = []
    start = 0
    while start + _MIN_LINES <= len(lines) and _has_offsets(lines[start:]):
        begins = range(start, min(start + _MAX_STARTS, len(lines)))
        tables = [table for begin in begins if (table := _centered_table(lines, parts, begin)) is not None]
        best = max(tables, key=lambda table: (len(table.words), len(table.rows[0])), default=None)
        if best is None:
            start += _MAX_STARTS
        else:
            best.rows = [[sorted(cell, key=lambda word: order[id(word)]) for cell in row] for row in best.rows]
            best_tables.append(best)
            start = next((at for at in range(start, len(lines)) if lines[at].middle > best.y1), len(lines))
    return best_tables


def _centered_table(lines: Sequence[TextLine], parts: Sequence[_Strips], start: int) -> RuledTable | None:
    """Return the table that begins at a line, if it is one."""
    end, gutters = free_run(lines, parts, start, _MAX_LINES)
    if end - start < _MIN_LINES or not gutters or not _has_offsets(lines[start:end]):
        return None
    if _is_inside(lines[max(0, start - _MAX_STARTS) : start], gutters):
        return None
    narrow = [strip for strip in gutters if strip[1] - strip[0] < _MAX_WORD_GAP * lines[start].size]
    wide = [strip for strip in gutters if strip not in narrow]
    if _is_prose(_between(lines[start:end], wide or gutters)):
        return None
    rows = _best_rows(lines[start:end], gutters, narrow)
    cells = [[[word for line in cell for word in line.words] for cell in row] for row in rows]
    if not _are_centered_rows(rows, [_length(cell) for row in cells for cell in row if cell]):
        return None
    words = [word for row in cells for cell in row for word in cell]
    if len(words) < _WORDS * sum(len(line.words) for line in lines[start:end]):
        return None
    x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
    y0, y1 = min(word.y0 for word in words), max(word.y1 for word in words)
    grid = RuledTable(x0, y0, x1, y1, cells)
    grid.words = words
    return grid


def _best_rows(lines: Sequence[TextLine], gutters: _Strips, narrow: list[tuple[float, float]]) -> _Rows:
    """Return the rows between strips, without `narrow` ones that are gaps between words that happen to be aligned."""
    best = _rows_between(lines, gutters)
    while narrow and len(narrow) <= _MAX_NARROW_STRIPS:
        fewer = [[strip for strip in gutters if strip is not gap] for gap in narrow]
        candidates = [(_rows_between(lines, strips), at) for at, strips in enumerate(fewer) if strips]
        rows, at = max(candidates, key=lambda candidate: _worth(candidate[0]), default=(best, 0))
        if _worth(rows) <= _worth(best):
            break
        best, gutters = rows, fewer[at]
        del narrow[at]
    return best


def _are_centered_rows(rows: _Rows, lengths: Sequence[int]) -> bool:
    """Return whether rows look like those of one table with centered cells, given the lengths of those with text."""
    if any(len(cell) > 1 and all(_is_entry(line) for line in cell) for row in rows for cell in row):
        return False  # rows of two tables beside each other
    is_mixed = any(len({len(cell) % 2 for cell in row if cell}) > 1 for row in rows)
    if not is_mixed or len(rows) < _MIN_ROWS or max(lengths) > MAX_CELL_TEXT:
        return False
    columns = [[line for cell in column for line in cell] for column in zip(*rows, strict=True)]
    return len(lengths) >= _MIN_CELL_SHARE * len(rows) * len(rows[0]) and not _is_prose(columns)


def _is_entry(line: TextLine) -> bool:
    return is_entry(" ".join(word.text for word in sorted(line.words, key=lambda word: word.x0)))


def _has_offsets(lines: Sequence[TextLine]) -> bool:
    """Return whether lines are nearer to each other than those of one column."""
    return any(below.middle - above.middle < _LINE_STEP * above.size for above, below in itertools.pairwise(lines))


def _is_inside(before: Sequence[TextLine], gutters: _Strips) -> bool:
    """Return whether lines are in the same columns as what follows them, so that no table begins there."""
    lines = [(line, intervals(line.words)) for line in before]
    if any(free_width(covered, strip) < MIN_STRIP * line.size for line, covered in lines for strip in gutters):
        return False
    parts = [x0 + x1 for _, covered in lines for x0, x1 in covered]
    return len({sum(part >= left + right for left, right in gutters) for part in parts}) > 1


def _is_prose(columns: _Columns) -> bool:
    """Return whether the lines of every column are as long as those of running text."""
    return all(sum(_length(line.words) for line in column) >= _MIN_PROSE_LENGTH * len(column) for column in columns)


def _length(words: Sequence[Word]) -> int:
    return sum(len(word.text) + 1 for word in words)


def _rows_between(lines: Sequence[TextLine], gutters: _Strips) -> list[list[list[TextLine]]]:
    """Return the rows of centered cells whose columns are separated by the given strips."""
    columns = _between(lines, gutters)
    steps = [below.middle - above.middle for column in columns for above, below in itertools.pairwise(column)]
    near = min((step for step in steps if step > _MIN_ROW_DISTANCE * lines[0].size), default=0.0) * 1.15 + 0.6
    return max((_centered_rows(columns, centers, near) for centers in _centers(columns)), key=_worth, default=[])


def _between(lines: Sequence[TextLine], gutters: _Strips) -> list[list[TextLine]]:
    """Return the lines of the columns that are separated by the given strips."""
    columns: list[list[TextLine]] = [[] for _ in (None, *gutters)]
    for line in lines:
        parts: dict[int, list[Word]] = defaultdict(list)
        for word in line.words:
            parts[sum(word.x0 >= (left + right) / 2 for left, right in gutters)].append(word)
        for column, part in parts.items():
            middle = sum(word.middle for word in part) / len(part)
            columns[column].append(TextLine(middle, line.size, part))
    return columns


def _worth(rows: Sequence[Sequence[Sequence[TextLine]]]) -> float:
    """Return the number of words in cells, times the share of the cells that have some."""
    cells = [cell for row in rows for cell in row]
    words = sum(len(line.words) for cell in cells for line in cell)
    return words * sum(map(bool, cells)) / max(1, len(cells))


def _centers(columns: _Columns) -> Iterator[list[float]]:
    """Yield the centers that rows may have: those of the lines of a column, and of lines that are near each other."""
    every = sorted((line for column in columns for line in column), key=lambda line: line.middle)
    for lines in [*columns, every]:
        yield [line.middle for line in lines]
        steps = [below.middle - above.middle for above, below in itertools.pairwise(lines)]
        for near in sorted({round(step, 1) for step in steps})[:_MAX_GAPS]:
            centers, begin = [], 0
            for at, step in enumerate([*steps, float("inf")]):
                if step > near + 0.6:
                    centers.append((lines[begin].middle + lines[at].middle) / 2)
                    begin = at + 1
            yield centers


def _centered_rows(columns: _Columns, centers: Sequence[float], near: float) -> list[list[list[TextLine]]]:
    """Return the rows around centers while every cell is centered, and its lines `near`, without rows of one cell."""
    rows: list[list[list[TextLine]]] = []
    places = [0] * len(columns)
    bottom = float("-inf")
    for center in centers:
        row: list[list[TextLine]] = []
        for column, place in zip(columns, places, strict=True):
            cell: list[TextLine] = []
            if place < len(column) and column[place].middle <= center + _CENTER_TOLERANCE * column[place].size:
                mirror = 2 * center - column[place].middle
                last = min(range(place, len(column)), key=lambda at: abs(column[at].middle - mirror))
                if abs(column[last].middle - mirror) > 2 * _CENTER_TOLERANCE * column[last].size:
                    return _without_ends(rows)
                cell = list(column[place : last + 1])
                if any(below.middle - above.middle > near for above, below in itertools.pairwise(cell)):
                    return _without_ends(rows)
            row.append(cell)
        inside = [line for cell in row for line in cell]
        if not inside or min(line.middle for line in inside) - bottom < _MIN_ROW_DISTANCE * inside[0].size:
            return _without_ends(rows)
        bottom = max(line.middle for line in inside)
        places = [place + len(cell) for place, cell in zip(places, row, strict=True)]
        rows.append(row)
    return _without_ends(rows)


def _without_ends(rows: list[list[list[TextLine]]]) -> list[list[list[TextLine]]]:
    full = [at for at, row in enumerate(rows) if sum(map(bool, row)) > 1]
    return rows[full[0] : full[-1] + 1] if full else []
