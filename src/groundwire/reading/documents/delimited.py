"""Tables of text: CSV and its kin, whose dialect the text itself tells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from statistics import mode
from typing import Final

from groundwire.reading.documents.grid import MAX_COLUMNS, MAX_ROWS, cell_text, to_table
from groundwire.reading.extracted import Extracted

__all__ = ["read_delimited"]

_DELIMITERS: Final = (",", "\t", ";", "|")
_SAMPLE: Final = 40  # rows
_SAMPLE_LENGTH: Final = 100_000  # characters
_MAX_FIELD: Final = 131_072  # characters; the csv module takes no more, and a quote that is never closed makes one


def read_delimited(text: str) -> Extracted:
    """Return a table of text as a Markdown table of at most `MAX_ROWS` rows; the count of all is said."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    delimiter = _delimiter(text)
    rows: list[list[str]] = []
    count, wide = 0, 0
    for row in _rows(text, delimiter):
        if not any(cell.strip() for cell in row):
            continue
        count += 1
        wide = max(wide, len(row))
        if count <= MAX_ROWS + 1:  # the first is the head
            rows.append([cell_text(cell) for cell in row[:MAX_COLUMNS]])
    warnings = []
    if count > len(rows):
        warnings.append(f"the table has {count - 1:,} rows; the first {len(rows) - 1:,} are shown")
    if wide > MAX_COLUMNS:
        warnings.append(f"the table has {wide:,} columns; the first {MAX_COLUMNS} are shown")
    return Extracted(content=to_table(rows), cut=bool(warnings), kind="document", warnings=tuple(warnings))


def _delimiter(text: str) -> str:
    """Return what separates the cells: what most of the first rows have the same number of."""
    sample = text[:_SAMPLE_LENGTH]
    best, delimiter = 0.0, ","
    for candidate in _DELIMITERS:
        widths = [len(row) for row in islice(_rows(sample, candidate), _SAMPLE) if row]
        if not widths:
            continue
        usual = mode(widths)
        if usual > 1 and (score := widths.count(usual) / len(widths) * min(usual, 10) ** 0.5) > best:
            best, delimiter = score, candidate
    return delimiter


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows; a text with a quote that is never closed is taken line by line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        yield from reader
    except csv.Error:
        for line in text.split("\n")[max(0, reader.line_num - 1) :]:
            yield [cell[:_MAX_FIELD].strip('" ') for cell in line.split(delimiter)]
