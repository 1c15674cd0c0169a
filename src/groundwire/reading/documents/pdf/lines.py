"""Lines of a page: the segments at one height of a column, as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.documents.pdf.columns import Segment, segments
from groundwire.reading.documents.pdf.words import Box, Word, is_to_left
from groundwire.reading.documents.runs import TextRun, link_target, to_inline
from groundwire.reading.markdown.escaping import escape_text

_LEADERS: Final = re.compile(r"(?:\s?[.\u2026\u00b7_]){5,}\s*|(?:\s?\.){3,4}\s{0,3}(?=\d{1,4}(?:, ?\d{1,4}){0,30}$)")
_LEADING: Final = ("...", ". .", "\u2026", "\u00b7", "__")


@dataclass(slots=True)
class Cell:
    """A part of a line, surrounded by wide gaps."""

    x0: float
    x1: float
    text: str
    """The text as Markdown."""


@dataclass(slots=True)
class Line(Box):
    """A line of a column."""

    size: float
    """The predominant font size, in points."""
    bold: bool
    """Whether all of it is bold."""
    mono: bool
    """Whether all of it is monospaced."""
    plain: str
    """The plain text."""
    text: str
    """The text as Markdown."""
    first: float
    """The width of its first word."""
    broken: bool
    """Whether its last word continues on the next line."""
    cells: list[Cell] = field(default_factory=list)
    """Its parts, if there are several."""
    code: list[tuple[float, str]] = field(default_factory=list)
    """The positions and texts of its words, if it is monospaced."""
    pitch: float = 0.0
    """The width of a letter, if it is monospaced."""
    rows: list[list[list[Line]]] | None = None
    """The lines of each cell, if it stands for a ruled table."""


def lines(parts: Iterable[Segment]) -> list[Line]:
    """Group the segments of a column into lines, from top to bottom."""
    rows: list[list[Segment]] = []
    for part in sorted(parts, key=lambda part: part.middle):
        for row in reversed(rows[-3:]):
            if _on_one_line(row, part):
                row.append(part)
                break
        else:
            rows.append([part])
    return [line for row in rows if (line := _line(_in_order(row))) is not None]


def _in_order(row: list[Segment]) -> list[Segment]:
    """Return the segments of a line in reading order: from the right for right-to-left scripts."""
    to_left = sum(len(part.words) for part in row if is_to_left(part.words[0].text))
    if 2 * to_left > sum(len(part.words) for part in row):
        return sorted(row, key=lambda part: -part.x1)
    return sorted(row, key=lambda part: part.x0)


def _on_one_line(row: Sequence[Segment], part: Segment) -> bool:
    if part.words[0].rows is not None or row[0].words[0].rows is not None:
        return False
    for other in row:
        overlap = min(other.y1, part.y1) - max(other.y0, part.y0)
        if overlap >= 0.5 * min(other.y1 - other.y0, part.y1 - part.y0):
            # text at the same position is another line: adjacent lines overlap vertically
            return not any(min(segment.x1, part.x1) - max(segment.x0, part.x0) > 0.5 * part.size for segment in row)
    return False


def _line(row: Sequence[Segment]) -> Line | None:
    cells: list[list[Word]] = []
    for part in row:
        last = cells[-1][-1] if cells else None
        gap = max(part.x0 - last.x1, last.x0 - part.x1) if last is not None else 0.0
        if last is not None and gap <= max(last.face.size, part.size):
            cells[-1] += part.words
        else:
            cells.append(list(part.words))
    words = [word for cell in cells for word in cell]
    plain = " ".join(_plain(cell) for cell in cells).strip()
    if not plain.strip("\xad "):
        return None
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.face.size] += len(word.text)
    mono = all(word.face.mono for word in words)
    texts = [_markdown(cell) for cell in cells]
    rows = row[0].words[0].rows
    return Line(
        x0=min(part.x0 for part in row),
        y0=min(part.y0 for part in row),
        x1=max(part.x1 for part in row),
        y1=max(part.y1 for part in row),
        size=sizes.most_common(1)[0][0],
        bold=all(word.face.bold for word in words),
        mono=mono,
        plain=_without_leaders(plain).rstrip("\xad").replace("\xad", ""),
        text=_without_leaders(" ".join(texts)).strip(),
        first=words[0].x1 - words[0].x0,
        broken=plain.endswith(("\xad", "-", "\u2010")) and plain[-2:-1].isalnum(),
        cells=[Cell(cell[0].x0, cell[-1].x1, text) for cell, text in zip(cells, texts, strict=True)]
        if len(cells) > 1
        else [],
        code=_code(words) if mono else [],
        pitch=max((word.x1 - word.x0) / len(word.text) for word in words) if mono else 0.0,
        rows=None if rows is None else [[lines(segments(cell)) for cell in cells] for cells in rows],
    )


def _without_leaders(text: str) -> str:
    """Remove the dot leaders between an entry and its page number."""
    return _LEADERS.sub(" \u2026 ", text) if any(mark in text for mark in _LEADING) else text


def _plain(words: Sequence[Word]) -> str:
    text = "".join([word.text if word.glued else " " + word.text for word in words])
    return text if words[0].glued else text[1:]


def _code(words: Sequence[Word]) -> list[tuple[float, str]]:
    runs: list[tuple[float, str]] = []
    for word in words:
        if word.glued and runs:
            start, text = runs[-1]
            runs[-1] = start, text + word.text
        else:
            runs.append((word.x0, word.text))
    return runs


def _markdown(words: Sequence[Word]) -> str:
    """Return words as Markdown, with consecutive words of one link target as one link."""
    if not any(word.styles or word.link for word in words):
        return escape_text(_keep_hyphens(_plain(words)))
    runs: list[TextRun] = []
    for word in words:
        link = link_target(word.link)
        is_last = word is words[-1] and not link
        text = _keep_hyphens(word.text) if is_last else word.text.replace("\xad", "")
        if runs and not word.glued:
            runs.append(TextRun(" ", link=link if link == runs[-1].link else ""))
        runs.append(TextRun(text, word.styles, link))
    return to_inline(runs)


def _keep_hyphens(text: str) -> str:
    """Return text in which only a hyphen at the end is a soft hyphen."""
    if "\xad" not in text:
        return text
    end = "\xad" if text.endswith("\xad") else ""
    return text.replace("\xad", "") + ("-" if end else "")
