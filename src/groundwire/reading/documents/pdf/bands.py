"""Tables without vertical lines: rows between horizontal lines or shades, and rows by distance."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.words import Word

__all__ = ["FILLED", "NEAR", "Edge", "RuledTable", "TextLine", "banded", "row_starts", "starts_by_gaps", "text_lines"]

NEAR: Final = 2.5
"""Points; lines nearer to each other are one."""
FILLED: Final = 0.3
"""Share of the cells with text; charts have fewer."""
_RULES: Final = 3  # of a table without vertical lines
_MANY: Final = 6  # lines, after which a narrow strip without words is no chance
_NARROW: Final = 0.35  # times the font size
_PARTS: Final = 0.75  # share of the columns; lines that fill more are rows
_LONGEST: Final = 500  # characters of a cell without vertical lines


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


@dataclass(slots=True)
class TextLine:
    """The words at one height of a table."""

    middle: float
    size: float
    words: list[Word] = field(default_factory=list)
    filled: frozenset[int] = frozenset()
    """The columns that it has text in."""


def row_starts(lines: Sequence[TextLine], columns: int) -> list[int]:
    """Return the lines with which the rows of a table begin, where no ruled line says so.

    Rows are farther apart than the lines of a wrapped cell. Where the distances say nothing, a line continues a row if
    its first column and at least half of the others are empty.

    Args:
        lines: From top to bottom.
        columns: How many columns the table has.
    """
    if starts := starts_by_gaps(lines, columns):
        return starts
    return [0, *(index for index, line in enumerate(lines) if index and not _continues_row(line, columns))]


def starts_by_gaps(lines: Sequence[TextLine], columns: int) -> list[int]:
    """Return the lines with which the rows of a table begin as `row_starts`; empty if the distances say nothing."""
    steps = [other.middle - one.middle for one, other in itertools.pairwise(lines)]
    usual = [step for step, line in zip(steps, lines, strict=False) if step > 0.7 * line.size]
    near = min(usual, default=0.0) * 1.15 + 0.6
    tight = [line for step, line in zip(steps, lines[1:], strict=True) if step <= near]
    if tight and len(tight) < len(steps) and _are_parts(tight, columns):
        return [0, *(index for index, step in enumerate(steps, 1) if step > near)]
    return []


def _has_gaps(lines: Sequence[TextLine]) -> bool:
    steps = [other.middle - one.middle for one, other in itertools.pairwise(lines)]
    return bool(steps) and max(steps) > min(steps) * 1.15 + 0.6


def _are_parts(lines: Sequence[TextLine], columns: int) -> bool:
    """Return whether lines continue wrapped cells: most columns of a row have fewer lines than its longest."""
    return sum(len(line.filled) for line in lines) <= _PARTS * columns * len(lines)


def _continues_row(line: TextLine, columns: int) -> bool:
    return 0 not in line.filled and 2 * len(line.filled) <= columns


def banded(edges: Sequence[Edge], words: Sequence[Word]) -> list[RuledTable]:
    """Return the tables whose rows are separated by horizontal lines or shades only."""
    groups: list[list[Edge]] = []
    for edge in sorted(edges, key=lambda edge: edge.at):
        for group in groups:
            if abs(group[0].start - edge.start) <= NEAR and abs(group[0].end - edge.end) <= NEAR:
                group.append(edge)
                break
        else:
            groups.append([edge])
    return [grid for group in groups if len(group) >= _RULES and (grid := _banded_grid(group, words)) is not None]


def _banded_grid(rules: Sequence[Edge], words: Sequence[Word]) -> RuledTable | None:
    left, right = rules[0].start - NEAR, rules[0].end + NEAR
    every = text_lines([word for word in words if word.x1 > left and word.x0 < right])
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
    grid = (
        RuledTable(left, min(first, taken[0].middle), right, max(last, taken[-1].middle))
        if taken
        else RuledTable(0, 0, 0, 0)
    )
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
    if len(grid.rows) < 2 or len(lengths) < FILLED * columns * len(grid.rows) or max(lengths) > _LONGEST:
        return None
    return grid


def text_lines(words: Sequence[Word]) -> list[TextLine]:
    """Return the words of a table by their height, from top to bottom."""
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
    leftmost = min(ends)[0]
    for x, change in sorted(ends, key=lambda end: (end[0], -end[1])):
        over += change
        if over <= allowed and begin is None:
            begin = x
        elif over > allowed and begin is not None:
            if begin > leftmost and x - begin >= least:
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
