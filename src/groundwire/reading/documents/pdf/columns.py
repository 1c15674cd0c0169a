"""Reading order of a page: columns in sequence, with full-width parts in between.

The page is swept from the top. As long as a vertical strip stays free, the text beside it is in columns; anything that
crosses every free strip (a title, a wide figure's caption) ends them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from groundwire.reading.documents.pdf.words import Box, Word, is_to_left

_MAX_DEPTH: Final = 4  # nested columns; no page has more
_MIN_COLUMN_SHARE: Final = 0.08  # share of the width; a column is not narrower
_MAX_WORD_GAP: Final = 1.0  # times the font size; two words farther apart may belong to two columns
_MIN_GUTTER: Final = 0.8  # times the font size
_MIN_TEXT: Final = 18  # characters of a line; a text column has more, a table cell fewer
_FULL_SHARE: Final = 0.5  # share of a column's width
_MIN_ALIGNED_SHARE: Final = 0.7  # share of the lines; in a table most cells have a neighbor at their height
_MAX_GUTTER: Final = 5.0  # times the font size; a wider strip is no gutter
_MIN_LINES: Final = 3  # lines; fewer are not a column

_Strip = tuple[float, float]


@dataclass(slots=True)
class Segment(Box):
    """Words that certainly follow each other on one line."""

    words: list[Word]

    @property
    def size(self) -> float:
        """The font size, in points."""
        return max([word.face.size for word in self.words])

    @property
    def length(self) -> int:
        """The number of characters."""
        return sum(len(word.text) + 1 for word in self.words) - 1


def segments(words: Sequence[Word]) -> list[Segment]:
    """Group words into segments, in their original order.

    Args:
        words: Words with their positions in reading orientation, y growing downward.
    """
    parts: list[Segment] = []
    for word in words:
        if parts and _continues(parts[-1], word):
            parts[-1].words.append(word)
            parts[-1].include(word)
        else:
            parts.append(Segment(word.x0, word.y0, word.x1, word.y1, [word]))
    return parts


def regions(parts: Sequence[Segment], depth: int = _MAX_DEPTH) -> list[list[Segment]]:
    """Return segments in reading order, in groups that each are a column or span all of them."""
    if depth <= 0 or len(parts) < 2 * _MIN_LINES:
        return [list(parts)] if parts else []
    groups: list[list[Segment]] = []
    flat: list[Segment] = []
    for run, strips in _runs(parts):
        columns = _columns(run, strips)
        if columns is None:
            flat += run
            continue
        gutters = _between(columns)
        _give_back(flat, run)
        _take_heading(flat, run, gutters)
        split = _split(run, gutters)
        if flat:
            groups.append(flat)
        for column in split:
            groups += regions(column, depth - 1)
        flat = []
    if flat:
        groups.append(flat)
    return groups


def _continues(last: Segment, word: Word) -> bool:
    before = last.words[-1]
    if word.rows is not None or before.rows is not None:
        return False
    size = before.face.size if before.face is word.face else max(before.face.size, word.face.size, 1.0)
    gap = word.x0 - before.x1
    if gap < 0 and is_to_left(word.text) and is_to_left(before.text):
        gap = before.x0 - word.x1
    if not -0.6 * size <= gap <= _MAX_WORD_GAP * size:
        return False
    overlap = min(last.y1, word.y1) - max(last.y0, word.y0)
    return overlap >= 0.4 * min(before.y1 - before.y0, word.y1 - word.y0)


def _runs(parts: Sequence[Segment]) -> list[tuple[list[Segment], list[_Strip]]]:
    """Return runs of segments from top to bottom, with the strips that each leaves free."""
    left, right = min(part.x0 for part in parts), max(part.x1 for part in parts)
    least = _MIN_GUTTER * median(part.size for part in parts)
    edge = _MIN_COLUMN_SHARE * (right - left)
    full_width = [(left + edge, right - edge)]
    runs: list[tuple[list[Segment], list[_Strip]]] = []
    run: list[Segment] = []
    strips = full_width
    for part in sorted(parts, key=lambda part: (part.middle, part.x0)):
        free = _without(strips, part, least)
        if run and (not free or _is_in_gutter(part, strips, run)):
            runs.append((run, strips))
            run, free = [], _without(full_width, part, least)
        run.append(part)
        strips = free
        if not strips:
            runs.append((run, []))
            run, strips = [], full_width
    if run:
        runs.append((run, strips))
    return runs


def _without(strips: Sequence[_Strip], part: Segment, least: float) -> list[_Strip]:
    """Return the strips that a segment leaves free."""
    free: list[_Strip] = []
    for start, end in strips:
        sides = {(start, min(end, part.x0)), (max(start, part.x1), end)}  # one, if the segment is beside the strip
        free += sorted(side for side in sides if side[1] - side[0] >= least)
    return free


def _is_in_gutter(part: Segment, strips: Sequence[_Strip], run: Sequence[Segment]) -> bool:
    """Return whether a segment, such as a page number, stands between columns and so ends them."""
    for start, end in strips:
        if start < part.x0 and part.x1 < end and end - start <= _MAX_GUTTER * part.size:
            before, after = sum(row.x1 <= start + 0.01 for row in run), sum(row.x0 >= end - 0.01 for row in run)
            return min(before, after) >= _MIN_LINES
    return False


def _columns(run: Sequence[Segment], strips: Sequence[_Strip]) -> list[list[Segment]] | None:
    """Return the columns of a run; None if it has none, or they belong to a table."""
    gutters = [
        strip
        for strip in strips
        if any(part.x1 <= strip[0] + 0.01 for part in run) and any(part.x0 >= strip[1] - 0.01 for part in run)
    ]
    if not gutters:
        return None
    columns = _split(run, gutters)
    if len(columns) < 2 or not _is_text_enough(columns) or not _side_by_side(columns):
        return None
    if _is_table(columns):
        return None
    return columns


def _split(run: Sequence[Segment], gutters: Sequence[_Strip]) -> list[list[Segment]]:
    columns: list[list[Segment]] = [[] for _ in range(len(gutters) + 1)]
    for part in run:
        columns[sum(part.center > (start + end) / 2 for start, end in gutters)].append(part)
    return [column for column in columns if column]


def _between(columns: Sequence[Sequence[Segment]]) -> list[_Strip]:
    """Return the strips between columns."""
    return [
        (max(part.x1 for part in column), min(part.x0 for part in after))
        for column, after in itertools.pairwise(columns)
    ]


def _is_text_enough(columns: Sequence[Sequence[Segment]]) -> bool:
    """Return whether there are enough lines for columns; the last column may have only one or two."""
    strong = sum(len(column) >= _MIN_LINES for column in columns)
    short = [column for column in columns if len(column) < _MIN_LINES]
    return strong > 1 or (strong == 1 and all(max(part.length for part in column) >= _MIN_TEXT for column in short))


def _side_by_side(columns: Sequence[Sequence[Segment]]) -> bool:
    """Return whether each column overlaps the next by half the height of the shorter one."""
    spans = [(min(part.y0 for part in column), max(part.y1 for part in column)) for column in columns]
    return all(
        min(span[1], after[1]) - max(span[0], after[0]) >= 0.5 * min(span[1] - span[0], after[1] - after[0])
        for span, after in itertools.pairwise(spans)
    )


def _is_table(columns: Sequence[Sequence[Segment]]) -> bool:
    """Return whether adjacent segments belong together line by line."""
    near = 0.3 * median(part.size for column in columns for part in column)
    rows = [_rows(column, near) for column in columns]
    texts = 0
    for column in rows:
        width = max(row.x1 for row in column) - min(row.x0 for row in column)
        average = median if len(column) > _MIN_LINES else max
        full = average(row.covered for row in column) >= _FULL_SHARE * width
        texts += full and average(row.length for row in column) >= _MIN_TEXT
    strong = [column for column in rows if len(column) >= _MIN_LINES]
    if texts == len(rows) or (texts >= len(strong) > 1):
        return False
    fewest = min(rows, key=len)
    others = [row.middle for column in rows if column is not fewest for row in column]
    aligned = sum(any(abs(row.middle - other) <= near for other in others) for row in fewest)
    return aligned >= _MIN_ALIGNED_SHARE * len(fewest)


@dataclass(slots=True)
class _Row:
    """The text at one height of a column; justified text may have wide gaps."""

    middle: float
    x0: float
    x1: float
    length: int
    covered: float
    """The width of its text without the gaps."""


def _rows(column: Sequence[Segment], near: float) -> list[_Row]:
    rows: list[_Row] = []
    for part in sorted(column, key=lambda part: part.middle):
        if rows and part.middle - rows[-1].middle <= near:
            row = rows[-1]
            row.x0, row.x1, row.length = min(row.x0, part.x0), max(row.x1, part.x1), row.length + part.length + 1
            row.covered += part.x1 - part.x0
        else:
            rows.append(_Row(part.middle, part.x0, part.x1, part.length, part.x1 - part.x0))
    return rows


def _give_back(before: list[Segment], run: list[Segment]) -> None:
    """Move the last line of a paragraph above the columns out of the run."""
    if not before:
        return
    bottom = max(part.y1 for part in before)
    first = min(run, key=lambda part: part.y0)
    line = [part for part in run if part.y0 < first.y1 - 0.5 * (first.y1 - first.y0)]
    below = [part.y0 for part in run if part.y0 >= first.y1 - 1]
    if not below or len(line) == len(run):
        return
    above, under = first.y0 - bottom, min(below) - max(part.y1 for part in line)
    if above <= 0.6 * first.size and under > above + 0.3 * first.size:
        before += line
        run[:] = [part for part in run if all(part is not segment for segment in line)]


def _take_heading(before: list[Segment], run: list[Segment], gutters: Sequence[_Strip]) -> None:
    """Move a heading right above a column from the preceding segments into the run."""
    while before:
        last = max(before, key=lambda part: part.middle)
        if any(last.x1 > start and last.x0 < end for start, end in gutters):
            return
        top = min(part.y0 for part in run)
        above = [part.y1 for part in before if part is not last and part.y1 <= last.y0 + 1]
        if above and last.y0 - max(above) <= top - last.y1:
            return
        before.remove(last)
        run.append(last)
