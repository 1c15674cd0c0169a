"""Lines to blocks: paragraphs whose lines belong together, list items, code, tables, and what may be a heading.

A table is a run of lines whose parts are aligned in columns; it becomes a table of GitHub's Markdown where that is
sure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, Literal

from groundwire.reading.documents.pdf.lines import Cell, Line
from groundwire.reading.documents.pdf.table_rows import is_entry, row_starts
from groundwire.reading.documents.tabular import to_table
from groundwire.reading.markdown.escaping import escape_line, fence

_MIN_ROWS: Final = 3
_SLACK: Final = 2.0  # points
_MIN_CERTAIN_COLUMNS: Final = 4  # a head with one row below it is a table if all of these are filled
_MAX_ROWS: Final = 2_000
_MAX_COLUMNS: Final = 30
_MAX_CELL_LENGTH: Final = 60  # characters; running text is not a cell
_MAX_WRAPPED_LENGTH: Final = 250
_MAX_WRAPPED_LINES: Final = 8  # lines of the first column alone
_MARK: Final = re.compile(r"\\?[^\w\s]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})\\?[.)]")  # of a list's items
_MIN_FILLED_SHARE: Final = 0.6  # of the cells


def table_at(lines: Sequence[Line], start: int, compounds: AbstractSet[str] = frozenset()) -> tuple[str, int] | None:
    """Return the table that begins at a line and how many lines it takes, or None.

    Args:
        lines: The lines of a column, from top to bottom.
        start: The place of the line.
        compounds: The hyphenated words of the document, in lower case.
    """
    if not lines[start].cells or lines[start].rows is not None:
        return None
    end = _end(lines, start)
    rows = [line for line in lines[start:end] if line.cells]
    if len(rows) > 1 and len(rows[0].cells) < len(_columns(rows[1:])) > len(_columns(rows)):
        return None  # a title above several columns of the table below it
    edges = _columns(rows)
    few = len(edges) >= _MIN_CERTAIN_COLUMNS and all(len(row.cells) == len(edges) for row in rows)
    if not 2 <= len(edges) <= _MAX_COLUMNS or len(rows) < (_MIN_ROWS - few):
        return None
    size = median(line.size for line in rows)
    if min(right[0] - left[1] for left, right in pairwise(edges)) < size:
        return None  # no table leaves less between its columns; justified text does
    table: list[list[str]] = []
    placements = [_places(line, edges) for line in lines[start:end]]
    if None in placements:
        return None
    every = [places for places in placements if places is not None]
    starts = row_starts([dict(places) for places in every], len(edges), ruled=False)
    for begin, stop in pairwise([*starts, len(every)]):
        row = [""] * len(edges)
        for places in every[begin:stop]:
            _append(row, places, compounds)
        table.append(row)
    if not _is_sure(table, _MAX_CELL_LENGTH if len(starts) == len(every) else _MAX_WRAPPED_LENGTH):
        return None
    return to_table(table), end - start


def _end(lines: Sequence[Line], start: int) -> int:
    """Return where a table ends that begins at a line; a line of one part continues a wrapped cell."""
    left, right, second = lines[start].x0, lines[start].cells[0].x1, lines[start].cells[1].x0
    end = start  # after the last line that certainly is in it
    for index in range(start, min(len(lines), start + _MAX_ROWS)):
        line, before = lines[index], lines[max(index - 1, start)]
        size = max(line.size, before.size, 1.0)
        step = line.middle - before.middle
        if step > 3.0 * size or line.rows is not None:
            break
        if line.cells:
            if line.cells[0].x0 <= left + size:
                right, second = max(right, line.cells[0].x1), min(second, line.cells[1].x0)
            end = index + 1
        elif step > 1.6 * size or index - end > _MAX_WRAPPED_LINES:
            break
        elif line.x0 > right or (end == index and _is_remark(lines, index)):
            end = index + 1
        elif line.x1 >= second:
            break
    return end


def _is_remark(lines: Sequence[Line], index: int) -> bool:
    """Return whether a line of one part stands below a cell of a row, with a row of the same columns after it."""
    before, following = lines[index - 1], lines[index + 1] if index + 1 < len(lines) else None
    if following is None or len(before.cells) < _MIN_CERTAIN_COLUMNS or len(before.cells) != len(following.cells):
        return False
    starts = [abs(cell.x0 - below.x0) for cell, below in zip(before.cells, following.cells, strict=True)]
    return max(starts) <= _SLACK and any(abs(cell.x0 - lines[index].x0) <= _SLACK for cell in before.cells)


def _columns(rows: Sequence[Line]) -> list[tuple[float, float]]:
    """Return the columns that contain all cells, from left to right."""
    strips: list[tuple[float, float]] = []
    for cell in sorted((cell for row in rows for cell in row.cells), key=lambda cell: cell.x0):
        if strips and cell.x0 < strips[-1][1]:
            strips[-1] = strips[-1][0], max(strips[-1][1], cell.x1)
        else:
            strips.append((cell.x0, cell.x1))
    return strips


def _places(line: Line, edges: Sequence[tuple[float, float]]) -> list[tuple[int, str]] | None:
    """Return the column of each part of a line; None if one is in several columns or none."""
    placements = []
    for cell in line.cells or [Cell(line.x0, line.x1, line.text)]:
        columns = [index for index, (left, right) in enumerate(edges) if cell.x0 < right and cell.x1 > left]
        if len(columns) > 1 and not line.cells and abs(cell.x0 - edges[columns[0]][0]) <= _SLACK:
            columns = columns[:1]  # a remark below a cell
        if len(columns) != 1:
            return None
        placements.append((columns[0], cell.text))
    return placements


def _append(row: list[str], places: Sequence[tuple[int, str]], compounds: AbstractSet[str]) -> None:
    for column, text in places:
        before = row[column]
        is_broken = before.endswith("-") and before[-2:-1].isalnum()
        row[column] = join_broken(before, text, compounds) if is_broken else f"{before} {text}".strip()


def _is_sure(table: Sequence[Sequence[str]], longest: int) -> bool:
    if len(table) < 2:
        return False
    cells = [text for row in table for text in row if text]
    filled = len(cells) / (len(table) * len(table[0]))
    return (
        filled >= _MIN_FILLED_SHARE
        and not all(_MARK.fullmatch(row[0]) for row in table)
        and median(map(len, cells)) <= longest
        and not all(text in "\u2026.-" for row in table for text in row[1:])
    )


Kind = Literal["text", "item", "code", "table"]

_BULLET: Final = re.compile(
    r"(?:[\u2022\u25e6\u25aa\u2023\u00b7\u25cb\u25cf\u25a0\u25a1\u2219\u27a2\u2713\u2043\uf0b7\uf0a7\uf076\uf0d8*\u2013\u2014-]|\\\*)(?:\s+|$)(?=(.?))"
)
_NUMBERED: Final = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+\S")
_COMPOUND: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")
_NEXT: Final = re.compile(r"[^\W\d_]+")
_ENTRY: Final = re.compile(r"\u2026 (?:\d{1,4}|[ivxlc]{1,7})(?:(?:, ?|[\u2013-])\d{1,4}){0,30}$")
_ENDS: Final = (".", ":", "?", "!", "\u3002", ";")


@dataclass(slots=True)
class Block:
    """A block of the document, such as a paragraph or a table."""

    kind: Kind
    text: str
    """The text as Markdown, without the heading or item marker."""
    plain: str
    """The plain text."""
    size: float
    """The font size, in points."""
    bold: bool
    """Whether all of it is bold."""
    lines: int
    """The number of lines."""
    indent: float = 0.0
    """The indentation of an item."""
    mark: str = "-"
    """The marker of an item."""
    broken: bool = False
    """Whether its last word continues in the next block."""
    is_entry: bool = False
    """Whether a line of it ends with a number in a column of its own, as in a bill."""


def blocks(lines: Sequence[Line], compounds: AbstractSet[str], *, code: bool) -> list[Block]:
    """Group the lines of one column into blocks.

    Args:
        lines: From top to bottom.
        compounds: The hyphenated words of the document, in lower case.
        code: Whether monospaced lines are code; not in a typewritten document.
    """
    page_blocks: list[Block] = []
    right = max((line.x1 for line in lines), default=0.0)
    leading = _leading(lines)
    index = 0
    while index < len(lines):
        if (rows := lines[index].rows) is not None:
            text = to_table([[_joined(cell, compounds) for cell in row] for row in rows])
            line_count = 1
            page_blocks.append(Block("table", text, lines[index].plain, lines[index].size, bold=False, lines=1))
        elif (table := table_at(lines, index, compounds)) is not None:
            text, line_count = table
            first = lines[index]
            page_blocks.append(Block("table", text, first.plain, first.size, bold=False, lines=line_count))
        elif code and lines[index].mono:
            line_count = _code_run(lines, index, leading)
            page_blocks.append(_code(lines[index : index + line_count]))
        else:
            line_count = _paragraph(lines, index, right, leading, code=code)
            page_blocks.append(_text(lines[index : index + line_count], compounds))
        index += line_count
    return page_blocks


def join_broken(text: str, following: str, compounds: AbstractSet[str]) -> str:
    """Join two pieces of text, restoring a hyphenated word between them."""
    if text[-2:-1].isdigit() and following[:1].isdigit():
        return text + following  # a date or number
    match, after = _COMPOUND.search(text), _NEXT.match(following)
    if match is None or after is None or not after[0][0].islower():
        return f"{text}{following}" if match is not None and after is not None else f"{text} {following}"
    if f"{match[1]}-{after[0]}".lower() in compounds:
        return text + following
    return text[:-1] + following


def _leading(lines: Sequence[Line]) -> float:
    """Return the usual distance between consecutive lines."""
    steps = [
        below.middle - above.middle
        for above, below in itertools.pairwise(lines)
        if 0 < below.middle - above.middle < 2.2 * max(above.size, below.size, 1.0)
    ]
    return median(steps) if steps else 0.0


def _paragraph(lines: Sequence[Line], start: int, right: float, leading: float, *, code: bool) -> int:
    """Return how many lines from `start` form one paragraph."""
    first = lines[start]
    item = bool(_BULLET.match(first.plain) or _NUMBERED.match(first.plain))
    end = start + 1
    while end < len(lines):
        line, before = lines[end], lines[end - 1]
        if (code and line.mono) or line.rows is not None or table_at(lines, end) is not None:
            break
        if _apart(before, line, leading) or _starts(line) or _ENTRY.search(before.plain):
            break
        if (not item and _indented(lines, start, end)) or _is_bill(before):
            break
        if item and line.x0 < first.x0 - 0.5 * first.size:
            break
        if _had_room(before, line, right) and not (first.size == line.size and _is_large(first, leading)):
            break
        end += 1
    return end - start


def _is_bill(line: Line) -> bool:
    """Return whether a line ends with a number in a column of its own."""
    return bool(line.cells) and is_entry(line.cells[-1].text)


def _apart(before: Line, line: Line, leading: float) -> bool:
    """Return whether a line differs in style from the one before, or is farther from it than lines of a paragraph."""
    size = max(before.size, line.size, 1.0)
    if abs(before.size - line.size) > 0.08 * size or before.bold != line.bold:
        return True
    step = line.middle - before.middle
    if step < 0:
        return True
    line_step = leading if 0 < leading < 1.9 * size and leading > 0.8 * size else 1.3 * size
    return step > 1.25 * line_step + 1


def _starts(line: Line) -> bool:
    """Return whether a line begins an item of a list."""
    return bool(_BULLET.match(line.plain) or _NUMBERED.match(line.plain))


def _indented(lines: Sequence[Line], start: int, index: int) -> bool:
    """Return whether the line at `index` begins a paragraph by where it begins."""
    line, before = lines[index], lines[index - 1]
    step = 0.7 * max(line.size, 1.0)
    if line.x0 > before.x0 + step:
        if index - start == 1 and not before.plain.endswith(_ENDS):
            return False  # a hanging indent below a first line
        following = lines[index + 1] if index + 1 < len(lines) else None
        return following is None or following.x0 < line.x0 - 0.5 * step
    if line.x0 < before.x0 - step:
        return index - start > 1
    return False


def _had_room(before: Line, line: Line, right: float) -> bool:
    """Return whether the previous line ended on purpose: this line's first word would have fitted on it."""
    if before.broken:
        return False
    return right - before.x1 > line.first + 1.2 * max(line.size, 1.0)


def _is_large(line: Line, leading: float) -> bool:
    return leading > 0 and line.size > 1.15 * leading


def _text(lines: Sequence[Line], compounds: AbstractSet[str]) -> Block:
    text = _joined(lines, compounds)
    plain = " ".join(line.plain for line in lines)
    first = lines[0]
    block = Block(
        "text",
        text,
        plain,
        first.size,
        all(line.bold for line in lines),
        len(lines),
        first.x0,
        broken=lines[-1].broken,
        is_entry=any(map(_is_bill, lines)),
    )
    if match := _BULLET.match(text):
        block.kind, block.text = "item", text[match.end() :].strip()
    elif _NUMBERED.match(text):
        mark, _, tail = text.partition(" ")
        if mark.strip("().").isdigit() and not mark.startswith("("):
            block.kind, block.mark, block.text = "item", mark, tail.strip()
    elif _ENTRY.search(plain):
        block.kind, block.indent = "item", 0.0
    if block.kind == "text":
        block.text = escape_line(text)
    return block


def _joined(lines: Sequence[Line], compounds: AbstractSet[str]) -> str:
    text = lines[0].text if lines else ""
    for before, line in itertools.pairwise(lines):
        text = join_broken(text, line.text, compounds) if before.broken else f"{text} {line.text}"
    return text


def _code_run(lines: Sequence[Line], start: int, leading: float) -> int:
    end = start + 1
    while end < len(lines) and lines[end].mono:
        if lines[end].middle - lines[end - 1].middle > 3.5 * max(leading, lines[end].size):
            break
        end += 1
    return end - start


def _code(lines: Sequence[Line]) -> Block:
    """Return monospaced lines as code, preserving indentation."""
    pitch = median(line.pitch for line in lines) or 1.0
    left = min(line.x0 for line in lines)
    rows: list[str] = []
    step = min((below.middle - above.middle for above, below in itertools.pairwise(lines)), default=0.0)
    for index, line in enumerate(lines):
        if index and line.middle - lines[index - 1].middle > 1.6 * max(step, line.size):
            rows.append("")
        row = ""
        for x0, word in line.code:
            column = min(round((x0 - left) / pitch), 500)
            row += " " * max(column - len(row), 1 if row else 0) + word.replace("\xad", "-")
        rows.append(row)
    text = "\n".join(rows)
    return Block("code", fence(text), text, lines[0].size, bold=False, lines=len(lines))
