"""Rows of cells as a table of GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from groundwire.reading.clean import strip_controls
from groundwire.reading.escaping import escape_text

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "cell_text", "to_table"]

MAX_ROWS: Final = 1_000
"""Rows of one table that are shown."""
MAX_COLUMNS: Final = 60
"""Columns of one table that are shown."""
_MAX_CELL: Final = 500  # characters


def cell_text(text: str) -> str:
    """Return a plain text as it stands in a cell: on one line, escaped, and cut when it is very long."""
    line = " ".join(strip_controls(text).split())
    if len(line) > _MAX_CELL:
        line = line[: _MAX_CELL - 1].rstrip() + "\u2026"
    return escape_text(line)


def to_table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a table whose first row is its head; empty when there are none.

    Args:
        rows: The cells as Markdown; rows may differ in length, and columns that are empty at the right go.
    """
    table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    width = max((index + 1 for row in table for index, cell in enumerate(row) if cell), default=0)
    if not width:
        return ""
    head, *rest = ["| " + " | ".join((row + [""] * width)[:width]) + " |" for row in table]
    return "\n".join([head, "|" + " --- |" * width, *rest])
