"""Spreadsheets (xlsx, xlsm, xlsb, xls, ods) as Markdown tables, by python-calamine of the extra `office`."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from groundwire.reading.documents.grid import MAX_COLUMNS, MAX_ROWS, cell_text, to_table
from groundwire.reading.documents.properties import read_properties
from groundwire.reading.documents.unreadable import UnreadableDocument
from groundwire.reading.documents.zipped import Archive
from groundwire.reading.escaping import escape_text
from groundwire.reading.extracted import MAX_CONTENT, Extracted

__all__ = ["read_sheets"]

_MAX_SHEETS: Final = 100


def read_sheets(body: bytes) -> Extracted:
    """Return a spreadsheet as Markdown: a section for each sheet with at most `MAX_ROWS` rows, the count of all said.

    Raises:
        UnreadableDocument: it is damaged, encrypted or larger than is read, or what reads it is not installed.
    """
    said = read_properties(None)
    if body.startswith(b"PK"):
        archive = Archive(body, "a spreadsheet")
        said = read_properties(archive.xml("docProps/core.xml" if "docProps/core.xml" in archive else "meta.xml"))
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise UnreadableDocument(
            "missing",
            'The page is a spreadsheet, and what reads it is not installed: pip install "groundwire[office]".',
        ) from error
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(body))
    except calamine.PasswordError as error:
        raise UnreadableDocument(
            "protected", "The spreadsheet opens only with a password. Ask the user for a copy without one."
        ) from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise UnreadableDocument(
            "broken", "The spreadsheet is damaged or cut off. Look for another copy of it."
        ) from error
    parts: list[str] = []
    warnings: list[str] = []
    hidden = 0
    sheets = book.sheets_metadata
    for sheet in sheets[:_MAX_SHEETS]:
        if sheet.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        if sheet.visible != calamine.SheetVisibleEnum.Visible:
            hidden += 1
            continue
        try:
            table, remark = _sheet(book, sheet.name)
        except (calamine.CalamineError, OSError, ValueError):
            warnings.append(f"damaged sheet left out: {_name(sheet.name)}")
            continue
        if table:
            parts.append(f"## {escape_text(_name(sheet.name))}\n\n{table}")
        if remark:
            warnings.append(remark)
        if sum(map(len, parts)) > MAX_CONTENT:
            break
    if hidden:
        warnings.append(f"hidden sheets left out: {hidden}")
    content = "\n\n".join(parts)
    return Extracted(
        title=said.title,
        content=content[:MAX_CONTENT],
        author=said.author,
        published=said.published,
        cut=len(content) > MAX_CONTENT or len(sheets) > _MAX_SHEETS or any("first" in remark for remark in warnings),
        kind="document",
        warnings=tuple(warnings),
    )


def _sheet(book: Any, name: str) -> tuple[str, str]:
    """Return a sheet as a table, and what is to be said about it."""
    sheet = book.get_sheet_by_name(name)
    height, width = sheet.total_height, sheet.total_width + 1  # the rows below the first, and all columns
    rows: list[list[str]] = []
    for row in sheet.iter_rows():
        if len(rows) > MAX_ROWS:
            break
        cells = [_cell(value) for value in row[:MAX_COLUMNS]]
        if any(cells):
            rows.append(cells)
    remark = ""
    if height > MAX_ROWS:
        remark = f"the sheet {_name(name)} has {height:,} rows; the first {MAX_ROWS:,} are shown"
    elif width > MAX_COLUMNS:
        remark = f"the sheet {_name(name)} has {width:,} columns; the first {MAX_COLUMNS} are shown"
    return to_table(rows), remark


def _name(name: str) -> str:
    return " ".join(name.split())[:100]


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, (date, time, timedelta)):
        return str(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return cell_text(str(value)) if value not in (None, "") else ""
