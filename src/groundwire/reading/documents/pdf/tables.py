"""Detection of tables: lines with aligned parts, as a GitHub Markdown table, where that is certain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from groundwire.reading.documents.pdf.lines import Cell, Line

__all__ = ["table_at"]

_LEAST_ROWS: Final = 3
_MAX_ROWS: Final = 2_000
_MAX_COLUMNS: Final = 30
_LONG: Final = 60  # characters; longer cells are running text
_FILLED: Final = 0.6  # share of the cells


def table_at(lines: Sequence[Line], start: int) -> tuple[str, int] | None:
    """Return the table that begins at a line and its number of lines, or None.

    Args:
        lines: The lines of a column, from top to bottom.
        start: The index of the line.
    """
    if not lines[start].cells:
        return None
    end = start + 1
    while end < len(lines) and end - start < _MAX_ROWS and _goes_on(lines, start, end):
        end += 1
    while end > start and not lines[end - 1].cells:
        end -= 1
    rows = [line for line in lines[start:end] if line.cells]
    edges = _columns(rows)
    if not 2 <= len(edges) <= _MAX_COLUMNS or len(rows) < _LEAST_ROWS:
        return None
    size = median(line.size for line in rows)
    if min(right[0] - left[1] for left, right in pairwise(edges)) < size:
        return None  # no table has narrower gaps; justified text does
    table: list[list[str]] = []
    for line in lines[start:end]:
        places = _places(line, edges)
        if places is None:
            return None
        if table and not line.cells and places[0][0] > 0:
            _append(table[-1], places)  # the rest of a multiline cell
        else:
            row = [""] * len(edges)
            _append(row, places)
            table.append(row)
    if not _is_sure(table):
        return None
    return _to_markdown(table), end - start


def _goes_on(lines: Sequence[Line], start: int, index: int) -> bool:
    line, before = lines[index], lines[index - 1]
    size = max(line.size, before.size, 1.0)
    if line.middle - before.middle > 3.0 * size:
        return False
    if line.cells:
        return True
    if line.middle - before.middle > 1.6 * size or line.x0 <= lines[start].cells[0].x1:
        return False
    return index + 1 < len(lines) and bool(lines[index + 1].cells)


def _columns(rows: Sequence[Line]) -> list[tuple[float, float]]:
    """Return the horizontal extents of the columns, from left to right."""
    strips: list[tuple[float, float]] = []
    for cell in sorted((cell for row in rows for cell in row.cells), key=lambda cell: cell.x0):
        if strips and cell.x0 < strips[-1][1]:
            strips[-1] = strips[-1][0], max(strips[-1][1], cell.x1)
        else:
            strips.append((cell.x0, cell.x1))
    return strips


def _places(line: Line, edges: Sequence[tuple[float, float]]) -> list[tuple[int, str]] | None:
    """Return the column of each part of a line; None if one fits in no single column."""
    found = []
    for cell in line.cells or [Cell(line.x0, line.x1, line.text)]:
        columns = [index for index, (left, right) in enumerate(edges) if cell.x0 < right and cell.x1 > left]
        if len(columns) != 1:
            return None
        found.append((columns[0], cell.text))
    return found


def _append(row: list[str], places: Sequence[tuple[int, str]]) -> None:
    for column, text in places:
        row[column] = f"{row[column]} {text}".strip()


def _is_sure(table: Sequence[Sequence[str]]) -> bool:
    if len(table) < 2:
        return False
    cells = [text for row in table for text in row if text]
    filled = len(cells) / (len(table) * len(table[0]))
    return (
        filled >= _FILLED
        and median(map(len, cells)) <= _LONG
        and not all(text in "\u2026.-" for row in table for text in row[1:])
    )


def _to_markdown(table: Sequence[Sequence[str]]) -> str:
    head, *rows = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in table]
    return "\n".join([head, "|" + " --- |" * len(table[0]), *rows])
