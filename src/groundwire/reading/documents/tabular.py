"""Tables as GitHub Markdown: delimited text with a detected dialect, spreadsheets, and charts.

Spreadsheets (xlsx, xlsm, xlsb, xls, ods) need python-calamine of the extra `office`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from itertools import islice
from statistics import mode
from typing import Any, Final

from lxml import etree

from groundwire.reading.documents.number_formats import BUILT_IN, format_number
from groundwire.reading.documents.office_package import (
    SafeZip,
    local_name,
    omissions,
    own_attribute,
    read_properties,
    whole_number,
)
from groundwire.reading.documents.runs import link_target
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.text.sanitize import strip_controls

MAX_ROWS: Final = 1_000
"""Maximum rows of a table."""
MAX_COLUMNS: Final = 60
"""Maximum columns of a table."""
_MAX_CELL: Final = 500  # characters


def cell_text(text: str) -> str:
    """Return plain text as a cell: on one line, escaped, and truncated if very long."""
    line = " ".join(strip_controls(text).split())
    if len(line) > _MAX_CELL:
        line = line[: _MAX_CELL - 1].rstrip() + "\u2026"
    return escape_text(line)


def to_table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a table with the first as its header; empty if there are none.

    Args:
        rows: The cells as Markdown; rows may differ in length, and empty columns on the right are dropped.
    """
    table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    width = max((index + 1 for row in table for index, cell in enumerate(row) if cell), default=0)
    if not width:
        return ""
    head, *body = ["| " + " | ".join((row + [""] * width)[:width]) + " |" for row in table]
    return "\n".join([head, "|" + " --- |" * width, *body])


def _titled(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table, below its title and remarks: the first rows, while each says one thing only."""
    count = next((count for count, row in enumerate(rows) if len(set(filter(None, row))) > 1), 0)
    titles = [escape_line(next(filter(None, row))) for row in rows[:count]]
    return "\n\n".join(filter(None, (*titles, to_table(rows[count:]))))


_DELIMITERS: Final = (",", "\t", ";", "|")
_SEPARATOR: Final = re.compile(r'\A"?sep=[^\n]"?\n', re.IGNORECASE)  # a line for Excel
_SAMPLE: Final = 40  # rows
_SAMPLE_LENGTH: Final = 100_000  # characters
_MAX_FIELD: Final = 131_072  # characters; the limit of the csv module, which an unclosed quote exceeds


def read_delimited(text: str) -> Extracted:
    """Convert delimited text to a Markdown table of at most `MAX_ROWS` rows, with a note of the total."""
    text = _SEPARATOR.sub("", text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    delimiter = _delimiter(text)
    rows: list[list[str]] = []
    count, wide = 0, 0
    for row in _rows(text, delimiter):
        if not any(cell.strip() for cell in row):
            continue
        count += 1
        wide = max(wide, len(row))
        if count <= MAX_ROWS + 1:  # the first is the header
            rows.append([cell_text(cell) for cell in row[:MAX_COLUMNS]])
    warnings = []
    if count > len(rows):
        warnings.append(f"the table has {count - 1:,} rows; the first {len(rows) - 1:,} are shown")
    if wide > MAX_COLUMNS:
        warnings.append(f"the table has {wide:,} columns; the first {MAX_COLUMNS} are shown")
    return Extracted(content=to_table(rows), cut=bool(warnings), kind="document", warnings=tuple(warnings))


def _delimiter(text: str) -> str:
    """Detect the delimiter: the one with the same count in most of the first rows."""
    sample = text[:_SAMPLE_LENGTH]
    best, delimiter = 0.0, ","
    for candidate in _DELIMITERS:
        widths = [len(row) for row in islice(_rows(sample, candidate), _SAMPLE) if row]
        if not widths:
            continue
        width = mode(widths)
        if width > 1 and (score := widths.count(width) / len(widths) * min(width, 10) ** 0.5) > best:
            best, delimiter = score, candidate
    return delimiter


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows; text with an unclosed quote is split line by line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        yield from reader
    except csv.Error:
        for line in text.split("\n")[max(0, reader.line_num - 1) :]:
            yield [cell[:_MAX_FIELD].strip('" ') for cell in line.split(delimiter)]


_MAX_SHEETS: Final = 100
_PLACE: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_TRUE: Final = frozenset({"1", "true"})
_MAX_CELLS: Final = 200_000  # of a sheet, whose looks are read


def read_sheets(body: bytes) -> Extracted:
    """Convert a spreadsheet to Markdown: a section per sheet with at most `MAX_ROWS` rows and a note of the total.

    Raises:
        UnreadableDocument: it is damaged, encrypted or over the size limit, or the library is not installed.
    """
    properties = read_properties(None)
    unread = Counter[str]()
    looks: dict[str, _SheetLook] = {}
    if body.startswith(b"PK"):
        archive = SafeZip(body, "a spreadsheet")
        names = [name for name, _ in archive.sizes()]
        looks = _looks(archive)
        unread["charts"] = sum(name.startswith("xl/charts/chart") for name in names)
        unread["pictures"] = sum(name.startswith("xl/media/") for name in names)
        unread["comments"] = sum(len(list(root)) for name in names if (root := _comments(archive, name)) is not None)
        properties = read_properties(archive.xml("docProps/core.xml" if "docProps/core.xml" in archive else "meta.xml"))
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise UnreadableDocument(
            "missing",
            "The page is a spreadsheet, and its library is not installed (`groundwire doctor` says how).",
        ) from error
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(body))
    except calamine.PasswordError as error:
        raise UnreadableDocument("protected", "The spreadsheet opens only with a password.") from error
    except BaseException as error:
        # A bug in its Rust code is a PanicException, which is no Exception (pyo3) and cannot be imported.
        expected = isinstance(error, (calamine.CalamineError, OSError, ValueError))
        if not expected and type(error).__name__ != "PanicException":
            raise
        raise UnreadableDocument(
            "broken", "The spreadsheet is damaged, cut off, or encrypted. Look for another copy of it."
        ) from error
    parts: list[str] = []
    warnings: list[str] = []
    unsolved = sum(sheet.unsolved for sheet in looks.values())
    sheets = book.sheets_metadata
    for sheet in sheets[:_MAX_SHEETS]:
        if sheet.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        if sheet.visible != calamine.SheetVisibleEnum.Visible:
            unread["hidden sheets"] += 1
            continue
        hidden = looks.get(sheet.name, _SheetLook())
        unread["hidden rows"] += len(hidden.rows)
        unread["hidden columns"] += len(hidden.columns)
        try:
            table, remark = _sheet(book, sheet.name, hidden)
        except (calamine.CalamineError, OSError, ValueError):
            warnings.append(f"damaged sheet left out: {_name(sheet.name)}")
            continue
        if table:
            parts.append(f"## {escape_text(_name(sheet.name))}\n\n{table}")
        if remark:
            warnings.append(remark)
        if sum(map(len, parts)) > MAX_CONTENT:
            break
    warnings += omissions(unread)
    if unsolved:
        warnings.append(f"formulas without a stored value, whose cells are empty: {unsolved}")
    content = "\n\n".join(parts)
    return replace(
        properties,
        content=content[:MAX_CONTENT],
        cut=len(content) > MAX_CONTENT or len(sheets) > _MAX_SHEETS or any("first" in remark for remark in warnings),
        warnings=tuple(warnings),
    )


_Place = tuple[int, int]  # row and column, counted from 0


@dataclass(slots=True)
class _SheetLook:
    """What a sheet does not show, and how it shows the rest; rows and columns are counted from 0."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    unsolved: int = 0
    """Formulas that were never calculated."""
    errors: dict[_Place, str] = field(default_factory=dict)
    """The errors that cells show, such as `#DIV/0!`."""
    formats: dict[_Place, str] = field(default_factory=dict)
    """The formats of numbers."""
    links: dict[_Place, str] = field(default_factory=dict)
    """The targets of cells that are links."""


def _looks(archive: SafeZip) -> dict[str, _SheetLook]:
    """Return how the sheets of an Open XML workbook look, by the name of the sheet."""
    root = archive.xml("xl/workbook.xml")
    targets = archive.relations("xl/workbook.xml")
    codes = _format_codes(archive.xml("xl/styles.xml"))
    looks = {}
    for sheet in islice(root.iter("{*}sheet"), _MAX_SHEETS) if root is not None else ():
        part = targets.get(own_attribute(sheet, "id"), "")
        looks[sheet.get("name", "")] = _look(archive.read(part), archive.relations(part), codes)
    return looks


def _look(source: bytes, targets: Mapping[str, str], codes: Mapping[str, str]) -> _SheetLook:
    look = _SheetLook()
    cells = 0
    tags = ("{*}col", "{*}row", "{*}hyperlink")
    elements = etree.iterparse(io.BytesIO(source), tag=tags, recover=True, resolve_entities=False)
    for _, element in elements if source else ():
        name = local_name(element)
        if name == "hyperlink":
            target = link_target(targets.get(own_attribute(element, "id"), ""))
            if target and len(look.links) < MAX_ROWS * MAX_COLUMNS:
                look.links[_place(element.get("ref", ""))] = target
        elif name == "col" and element.get("hidden") in _TRUE:
            last = min(whole_number(element.get("max", ""), 0), MAX_COLUMNS)
            look.columns.update(range(whole_number(element.get("min", ""), 1) - 1, last))
        elif name == "row":
            cells += len(element)
            for cell in element if cells <= _MAX_CELLS else ():
                _add_cell(look, cell, codes)
            if element.get("hidden") in _TRUE:
                look.rows.add(whole_number(element.get("r", ""), 0) - 1)
            element.clear()  # or the whole sheet is in memory
    return look


def _add_cell(look: _SheetLook, cell: etree._Element, codes: Mapping[str, str]) -> None:
    value = cell.findtext("{*}v")
    look.unsolved += not value and cell.find("{*}f") is not None
    if value and cell.get("t") == "e":
        look.errors[_place(cell.get("r", ""))] = value[:20]
    elif code := codes.get(cell.get("s", "")):
        look.formats[_place(cell.get("r", ""))] = code


def _place(reference: str) -> _Place:
    """Return the place of a cell such as `B12`, or of the first one of several."""
    match = _PLACE.match(reference)
    if match is None:
        return -1, -1
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1


def _format_codes(root: etree._Element | None) -> dict[str, str]:
    """Return the formats of numbers by the identifier of a cell's style, without those of the styles for any number."""
    if root is None or (styles := root.find("{*}cellXfs")) is None:
        return {}
    own = {number.get("numFmtId", ""): number.get("formatCode", "") for number in root.iterfind("{*}numFmts/{*}numFmt")}
    numbers = [style.get("numFmtId", "") for style in styles.iterfind("{*}xf")]
    codes = {str(at): own.get(name) or BUILT_IN.get(whole_number(name, 0), "") for at, name in enumerate(numbers)}
    return {at: code for at, code in codes.items() if code not in {"", "General", "@"}}


def _comments(archive: SafeZip, name: str) -> etree._Element | None:
    root = archive.xml(name) if re.fullmatch(r"xl/comments\d{0,6}\.xml", name) else None
    return root.find("{*}commentList") if root is not None else None


def _sheet(book: Any, name: str, hidden: _SheetLook) -> tuple[str, str]:
    """Return what a sheet shows as a table, with remarks."""
    sheet = book.get_sheet_by_name(name)
    height, width = sheet.total_height, sheet.total_width + 1  # the rows below the first, and all columns
    rows: list[list[str]] = []
    first = sheet.start[1] if sheet.start else 0  # rows come from the top of the sheet on, and columns from the first
    merged = _merged(sheet.merged_cell_ranges or ())
    merged_texts: dict[_Place, str] = {}  # the texts of merged cells
    for number, row in enumerate(sheet.iter_rows()):
        if len(rows) > MAX_ROWS:
            break
        cells = []
        for column, value in enumerate(row[:MAX_COLUMNS], first):
            place = (number, column)
            text = merged_texts.get(merged.get(place, place)) or _cell_markdown(value, place, hidden)
            if place in merged:
                merged_texts.setdefault(merged[place], text)
            if column not in hidden.columns:
                cells.append(text)
        if any(cells) and number not in hidden.rows:
            rows.append(cells)
    remark = ""
    if height > MAX_ROWS:
        remark = f"the sheet {_name(name)} has {height:,} rows; the first {MAX_ROWS:,} are shown"
    elif width > MAX_COLUMNS:
        remark = f"the sheet {_name(name)} has {width:,} columns; the first {MAX_COLUMNS} are shown"
    return _titled(rows), remark


def _merged(ranges: Iterable[tuple[_Place, _Place]]) -> dict[_Place, _Place]:
    """Return the first cell of each merged one, which alone has their text, for all of its places."""
    first_cells: dict[_Place, _Place] = {}
    for (top, left), (bottom, right) in ranges:
        for row in range(top, min(bottom, top + MAX_ROWS) + 1):
            for column in range(left, min(right, left + MAX_COLUMNS) + 1):
                if len(first_cells) < MAX_ROWS * MAX_COLUMNS:
                    first_cells[row, column] = (top, left)
    return first_cells


def _cell_markdown(value: object, place: _Place, look: _SheetLook) -> str:
    text = look.errors.get(place, "")
    if not text and isinstance(value, (int, float)) and not isinstance(value, bool):
        text = cell_text(format_number(value, look.formats.get(place, "")))
    text = text or _cell(value)
    return f"[{text}]({look.links[place]})" if text and place in look.links else text


def _name(name: str) -> str:
    return " ".join(name.split())[:100]


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return cell_text(str(value)) if value not in (None, "") else ""


_MAX_POINTS: Final = 1_000  # of a chart


def graphic_to_markdown(element: etree._Element, archive: SafeZip, relations: Mapping[str, str]) -> str:
    """Return the chart, diagram (SmartArt) or picture that an element stands for, as Markdown; empty for others.

    A chart is its title and a table, a diagram a list, and a picture what its author says of it.

    Args:
        element: An element of a document or a slide.
        archive: The file.
        relations: The targets of the relationships of its part.
    """
    name = local_name(element)
    if name in {"cNvPr", "docPr"} and "/picture}" not in element.tag:
        alt = " ".join((element.get("descr") or "").split())
        return f"Picture: {escape_text(alt)}" if alt and element.get("hidden") not in {"1", "true"} else ""
    if name not in {"chart", "relIds"}:
        return ""
    root = archive.xml(relations.get(own_attribute(element, "id" if name == "chart" else "dm"), ""))
    if name == "chart":
        table = to_table([[escape_text(cell) for cell in row] for row in _chart_rows(root)])
        title = root.find("{*}chart/{*}title") if root is not None else None
        texts = [text.text or "" for text in title.iter("{*}t", "{*}v")] if title is not None else []
        return "\n\n".join(filter(None, (escape_line(escape_text(" ".join("".join(texts).split()))), table)))
    points = [point for point in root.iter() if local_name(point) == "pt"] if root is not None else []
    labels = (" ".join("".join(text.text or "" for text in point.iter("{*}t")).split()) for point in points)
    return "\n".join(f"- {escape_text(label)}" for label in labels if label)


def _chart_rows(root: etree._Element | None) -> list[list[str]]:
    """Return the stored values of a chart as rows: the names of its series, then a row for each category."""
    series = list(islice(root.iter("{*}ser"), MAX_COLUMNS)) if root is not None else []
    names: list[str] = []
    rows: dict[int, list[str]] = {}
    for number, data_series in enumerate(series):
        values = {local_name(child): _points(child) for child in data_series}
        names.append(next(iter(values.get("tx", {}).values()), ""))
        labels = values.get("cat") or values.get("xVal") or {}
        for at, value in (values.get("val") or values.get("yVal") or {}).items():
            row = rows.setdefault(at, [labels.get(at, "")] + [""] * len(series))
            row[0] = row[0] or labels.get(at, "")
            row[number + 1] = value
    return [["", *names], *(rows[at] for at in sorted(rows))] if rows else []


def _points(place: etree._Element) -> dict[int, str]:
    """Return the stored values below an element of a chart, by index."""
    values: dict[int, str] = {}
    for value in place.iter():
        if local_name(value) == "v" and value.text and len(values) < _MAX_POINTS:
            at = own_attribute(parent, "idx")[:9] if (parent := value.getparent()) is not None else ""
            values[int(at) if at.isdecimal() else len(values)] = value.text.strip()
    return values
