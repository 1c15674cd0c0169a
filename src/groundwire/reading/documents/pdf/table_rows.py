"""The rows of a table: with which of its lines they begin."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

_ENTRY: Final = re.compile(r"[-+(]?[$\u20ac\u00a3]? ?\d[\d.,/]{0,20} ?%?\)?|[^:]{2,40}:")


def is_entry(text: str) -> bool:
    """Return whether a text is a number or a label with a colon: two below each other are two rows of a table."""
    return bool(_ENTRY.fullmatch(text))


def row_starts(lines: Sequence[Mapping[int, str]], columns: int, *, ruled: bool) -> list[int]:
    """Return the lines with which rows begin.

    Numbers or labels below each other are in two rows. Between ruled lines all else is one row; elsewhere a line
    continues a row if its first column and at least half of the others are empty.

    Args:
        lines: The texts of each line by column, from top to bottom.
        columns: How many columns the table has.
        ruled: Whether the lines stand between two that are drawn.
    """
    starts: list[int] = []
    entries: set[int] = set()
    for index, line in enumerate(lines):
        own = {column for column, text in line.items() if is_entry(text)}
        continues = ruled or (0 not in line and 2 * len(line) <= columns)
        if not index or not continues or own & entries:
            starts.append(index)
            entries = set()
        entries |= own
    return starts
