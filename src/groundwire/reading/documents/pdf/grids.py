"""Tables by the lines that a page draws and the cells that they enclose.

Lines are strokes, thin filled rectangles and the edges of filled areas. Those that touch each other form a grid; two
places of it belong to one cell where no line separates them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress, groupby, pairwise, product
from typing import Final

from groundwire.reading.documents.pdf.columns import segments
from groundwire.reading.documents.pdf.lines import Line, lines
from groundwire.reading.documents.pdf.pdfium import Edge
from groundwire.reading.documents.pdf.table_rows import row_starts
from groundwire.reading.documents.pdf.words import Word, is_to_left

_GAP: Final = 2.5  # points; lines nearer to each other are one
_MAX_PAIRS: Final = 200_000
_MAX_COLUMNS: Final = 60  # columns of a grid
_MAX_ROWS: Final = 400
_BORDER_SHARE: Final = 0.6  # share of a border that a line must cover
_MAX_CELL_LENGTH: Final = 1_500  # characters; a longer cell is the layout of a page
_MIN_FILL: Final = 0.3  # share of the cells with text; charts have fewer
_MAX_OFFSET: Final = 0.35  # times the font size; words at one height are no farther apart
_MIN_ROWS: Final = 3
_MIN_LINE_SHARE: Final = 0.75  # of the lines of a frame; in a table, as many have columns
_MIN_FRAMED_GAP: Final = 1.2  # times the font size; a gap between the columns of a table in a frame is not narrower


def with_tables(words: Sequence[Word], edges: Sequence[Edge]) -> list[Word]:
    """Return words with those of each ruled table replaced by one that stands for it.

    Args:
        words: The words of a page in one direction, in reading orientation.
        edges: Its lines, likewise.
    """
    tables = _tables(edges, words)
    table_of = {id(word): table for table in tables for row in table.rows or () for cell in row for word in cell}
    words_and_tables, placed = list[Word](), set[int]()
    for word in words:
        table = table_of.get(id(word))
        if table is None:
            words_and_tables.append(word)
        elif id(table) not in placed:
            placed.add(id(table))
            words_and_tables.append(table)
    return words_and_tables


def _tables(edges: Sequence[Edge], words: Sequence[Word]) -> list[Word]:
    level = _joined([edge for edge in edges if edge.level])
    upright = _joined([edge for edge in edges if not edge.level])
    if len(level) * len(upright) > _MAX_PAIRS:
        return []
    tables: list[Word] = []
    for group in _connected(level, upright):
        table = _table([edge for edge in group if edge.level], [edge for edge in group if not edge.level], words)
        if table is not None and not any(_is_inside(table, other) for other in tables):
            tables.append(table)
    return tables


def _joined(edges: Sequence[Edge]) -> list[Edge]:
    """Return lines with those at one place joined."""
    places: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        if places and edge.at - places[-1][0].at <= _GAP:
            places[-1].append(edge)
        else:
            places.append([edge])
    merged: list[Edge] = []
    for place in places:
        at = sum(edge.at for edge in place) / len(place)
        start, end = float("inf"), float("-inf")
        for edge in sorted(place, key=lambda edge: edge.start):
            if end > float("-inf") and edge.start > end + _GAP:
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
            if edge.start - _GAP <= other.at <= edge.end + _GAP and other.start - _GAP <= edge.at <= other.end + _GAP:
                owner[top(edge)] = top(other)
    groups: dict[Edge, list[Edge]] = defaultdict(list)
    for edge in owner:
        groups[top(edge)].append(edge)
    return sorted(groups.values(), key=len, reverse=True)


def _table(level: Sequence[Edge], upright: Sequence[Edge], words: Sequence[Word]) -> Word | None:
    """Return the table that lines form; the words of a merged cell stand at its first place."""
    if len(level) < 2 or not upright:
        return None
    left, top, right, bottom = _frame(level, upright)
    xs = _steps([left, right, *(edge.at for edge in upright)])
    ys = _steps([top, bottom, *(edge.at for edge in level)])
    if not 3 <= len(xs) <= _MAX_COLUMNS or not 3 <= len(ys) <= _MAX_ROWS:
        return None
    owners = _merged(xs, ys, level, upright)
    cells: dict[tuple[int, int], list[Word]] = defaultdict(list)
    inside = [word for word in words if left <= word.center <= right and top <= word.middle <= bottom]
    for word in inside:
        cells[owners[_place(ys, word.middle), _place(xs, word.center)]].append(word)
    if not _is_table(owners, cells) or any(_holds_table(text) for text in cells.values()):
        return None
    places = [[cells.get((row, column), []) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    used = [any(row[column] for row in places) for column in range(len(xs) - 1)]  # columns that separate are empty
    rows = [part for row in places if any(row) for part in _parts(list(compress(row, used)))]
    if len(rows) < 2 or sum(used) < 2:
        return None
    if 2 * sum(is_to_left(word.text) for word in inside) > len(inside):
        rows = [row[::-1] for row in rows]
    return Word(left, top, right, bottom, " ".join(word.text for word in inside), inside[0].face, rows=rows)


def _frame(level: Sequence[Edge], upright: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Return the left, top, right, and bottom of the box around lines."""
    return (
        min(*(edge.start for edge in level), *(edge.at for edge in upright)),
        min(*(edge.start for edge in upright), *(edge.at for edge in level)),
        max(*(edge.end for edge in level), *(edge.at for edge in upright)),
        max(*(edge.end for edge in upright), *(edge.at for edge in level)),
    )


def _parts(row: list[list[Word]]) -> Iterator[list[list[Word]]]:
    """Yield the rows of a table between two horizontal lines, by their numbers and labels."""
    columns = {id(word): column for column, cell in enumerate(row) for word in cell}
    rows = _by_height([word for cell in row for word in cell])
    texts: list[dict[int, str]] = []
    for words in rows:
        by_column = groupby(
            sorted(words, key=lambda word: (columns[id(word)], word.x0)), lambda word: columns[id(word)]
        )
        texts.append({column: " ".join(word.text for word in cell) for column, cell in by_column})
    for begin, stop in pairwise([*row_starts(texts, len(row), ruled=True), len(rows)]):
        here = {id(word) for words in rows[begin:stop] for word in words}
        yield [[word for word in cell if id(word) in here] for cell in row]


def _by_height(words: Sequence[Word]) -> list[list[Word]]:
    """Return words by their height, from top to bottom."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.middle):
        above = rows[-1][0] if rows else None
        if above is not None and word.middle - above.middle <= _MAX_OFFSET * max(above.face.size, word.face.size, 1.0):
            rows[-1].append(word)
        else:
            rows.append([word])
    return rows


def _steps(places: Sequence[float]) -> list[float]:
    steps: list[float] = []
    for place in sorted(places):
        if not steps or place - steps[-1] > _GAP:
            steps.append(place)
    return steps


def _place(steps: Sequence[float], value: float) -> int:
    return max(0, min(len(steps) - 2, sum(step <= value for step in steps) - 1))


def _merged(
    xs: Sequence[float], ys: Sequence[float], level: Sequence[Edge], upright: Sequence[Edge]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the first place of the cell that each place belongs to."""
    owners = {place: place for place in product(range(len(ys) - 1), range(len(xs) - 1))}

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
    return count >= 4 and len(filled) >= max(3, _MIN_FILL * count) and max(filled) <= _MAX_CELL_LENGTH


def _holds_table(words: Sequence[Word]) -> bool:
    """Return whether the words of a cell are a table of its own, so that the lines around it are only a frame."""
    rows = lines(segments(words))
    return len(rows) >= _MIN_ROWS and sum(map(_has_columns, rows)) >= _MIN_LINE_SHARE * len(rows)


def _has_columns(line: Line) -> bool:
    """Return whether a line has parts far from each other; a bullet is none."""
    parts = [cell for cell in line.cells if any(map(str.isalnum, cell.text))]
    return any(after.x0 - part.x1 >= _MIN_FRAMED_GAP * line.size for part, after in pairwise(parts))


def _is_inside(table: Word, other: Word) -> bool:
    return other.x0 <= table.center <= other.x1 and other.y0 <= table.middle <= other.y1


def _length(words: Sequence[Word]) -> int:
    return sum(len(word.text) + 1 for word in words)
