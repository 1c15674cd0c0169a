"""Tables as GitHub Markdown: delimited text with a detected dialect, spreadsheets, and charts.

Spreadsheets (xlsx, xlsm, xlsb, xls, ods) need python-calamine of the extra `office`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from statistics import mode
from typing import Any, Final

from lxml import etree

from groundwire.reading.documents.office_package import SafeZip, left_out, local_name, own_attribute, read_properties
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.text.sanitize import strip_controls

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "cell_text", "drawn", "read_delimited", "read_sheets", "to_table"]

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
    head, *rest = ["| " + " | ".join((row + [""] * width)[:width]) + " |" for row in table]
    return "\n".join([head, "|" + " --- |" * width, *rest])


_DELIMITERS: Final = (",", "\t", ";", "|")
_SAMPLE: Final = 40  # rows
_SAMPLE_LENGTH: Final = 100_000  # characters
_MAX_FIELD: Final = 131_072  # characters; the limit of the csv module, which an unclosed quote exceeds


def read_delimited(text: str) -> Extracted:
    """Convert delimited text to a Markdown table of at most `MAX_ROWS` rows, with a note of the total."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
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
        usual = mode(widths)
        if usual > 1 and (score := widths.count(usual) / len(widths) * min(usual, 10) ** 0.5) > best:
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
_HIDDEN_ROW: Final = re.compile(rb'<row\s(?=[^<>]{0,500}\bhidden="(?:1|true)")(?:[^<>]{0,500}\s)?r="(\d{1,7})"')
_HIDDEN_COLUMNS: Final = re.compile(rb'<col\s(?=[^<>]{0,500}\bhidden="(?:1|true)")[^<>]{0,500}')
_EDGES: Final = re.compile(rb'\b(min|max)="(\d{1,5})"')
_UNSOLVED: Final = re.compile(rb"(?:</f>|<f[^<>]{0,200}/>)(?:<v/>|<v></v>)?</c>")  # a formula that was never calculated


def read_sheets(body: bytes) -> Extracted:
    """Convert a spreadsheet to Markdown: a section per sheet with at most `MAX_ROWS` rows and a note of the total.

    Raises:
        UnreadableDocument: it is damaged, encrypted or over the size limit, or the library is not installed.
    """
    said = read_properties(None)
    left = Counter[str]()
    unseen: dict[str, _Unseen] = {}
    if body.startswith(b"PK"):
        archive = SafeZip(body, "a spreadsheet")
        names = [name for name, _ in archive.sizes()]
        unseen = _unseen_of(archive)
        left["charts"] = sum(name.startswith("xl/charts/chart") for name in names)
        left["pictures"] = sum(name.startswith("xl/media/") for name in names)
        left["comments"] = sum(len(list(root)) for name in names if (root := _comments(archive, name)) is not None)
        said = read_properties(archive.xml("docProps/core.xml" if "docProps/core.xml" in archive else "meta.xml"))
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
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise UnreadableDocument(
            "broken", "The spreadsheet is damaged or cut off. Look for another copy of it."
        ) from error
    parts: list[str] = []
    warnings: list[str] = []
    unsolved = sum(sheet.unsolved for sheet in unseen.values())
    sheets = book.sheets_metadata
    for sheet in sheets[:_MAX_SHEETS]:
        if sheet.typ != calamine.SheetTypeEnum.WorkSheet:
            continue
        if sheet.visible != calamine.SheetVisibleEnum.Visible:
            left["hidden sheets"] += 1
            continue
        hidden = unseen.get(sheet.name, _Unseen())
        left["hidden rows"] += len(hidden.rows)
        left["hidden columns"] += len(hidden.columns)
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
    warnings += left_out(left)
    if unsolved:
        warnings.append(f"formulas without a stored value, whose cells are empty: {unsolved}")
    content = "\n\n".join(parts)
    return Extracted(
        title=said.title,
        content=content[:MAX_CONTENT],
        author=said.author,
        published=said.published,
        modified=said.modified,
        cut=len(content) > MAX_CONTENT or len(sheets) > _MAX_SHEETS or any("first" in remark for remark in warnings),
        kind="document",
        warnings=tuple(warnings),
    )


@dataclass(frozen=True, slots=True)
class _Unseen:
    """What a sheet does not show; rows and columns are counted from 0."""

    rows: frozenset[int] = frozenset()
    columns: frozenset[int] = frozenset()
    unsolved: int = 0
    """Formulas that were never calculated."""


def _unseen_of(archive: SafeZip) -> dict[str, _Unseen]:
    """Return what the sheets of an Open XML workbook do not show, by the name of the sheet."""
    root = archive.xml("xl/workbook.xml")
    targets = archive.relations("xl/workbook.xml")
    found = {}
    for sheet in islice(root.iter("{*}sheet"), _MAX_SHEETS) if root is not None else ():
        source = archive.read(targets.get(own_attribute(sheet, "id"), ""))
        columns: set[int] = set()
        for match in _HIDDEN_COLUMNS.finditer(source):
            edges = dict(_EDGES.findall(match[0]))
            last = min(int(edges.get(b"max", b"0")), MAX_COLUMNS)
            columns.update(range(int(edges.get(b"min", b"1")) - 1, last))
        rows = frozenset(int(match[1]) - 1 for match in _HIDDEN_ROW.finditer(source))
        found[sheet.get("name", "")] = _Unseen(rows, frozenset(columns), len(_UNSOLVED.findall(source)))
    return found


def _comments(archive: SafeZip, name: str) -> etree._Element | None:
    root = archive.xml(name) if re.fullmatch(r"xl/comments\d{0,6}\.xml", name) else None
    return root.find("{*}commentList") if root is not None else None


def _sheet(book: Any, name: str, hidden: _Unseen) -> tuple[str, str]:
    """Return what a sheet shows as a table, with remarks."""
    sheet = book.get_sheet_by_name(name)
    height, width = sheet.total_height, sheet.total_width + 1  # the rows below the first, and all columns
    rows: list[list[str]] = []
    first = sheet.start[1] if sheet.start else 0  # rows come from the top of the sheet on, and columns from the first
    for number, row in enumerate(sheet.iter_rows()):
        if len(rows) > MAX_ROWS:
            break
        if number in hidden.rows:
            continue
        cells = [_cell(value) for column, value in enumerate(row[:MAX_COLUMNS], first) if column not in hidden.columns]
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


_MAX_POINTS: Final = 1_000  # of a chart


def drawn(element: etree._Element, archive: SafeZip, relations: Mapping[str, str]) -> str:
    """Return the chart, diagram (SmartArt) or picture that an element stands for, as Markdown; empty for others.

    A chart is its title and a table, a diagram a list, and a picture what its author says of it.

    Args:
        element: An element of a document or a slide.
        archive: The file.
        relations: The targets of the relationships of its part.
    """
    name = local_name(element)
    if name in {"cNvPr", "docPr"} and "/picture}" not in element.tag:
        said = " ".join((element.get("descr") or "").split())
        return f"Picture: {escape_text(said)}" if said and element.get("hidden") not in {"1", "true"} else ""
    if name not in {"chart", "relIds"}:
        return ""
    root = archive.xml(relations.get(own_attribute(element, "id" if name == "chart" else "dm"), ""))
    if name == "chart":
        table = to_table([[escape_text(cell) for cell in row] for row in _chart_rows(root)])
        title = root.find("{*}chart/{*}title") if root is not None else None
        texts = [text.text or "" for text in title.iter("{*}t", "{*}v")] if title is not None else []
        return "\n\n".join(filter(None, (escape_line(escape_text(" ".join("".join(texts).split()))), table)))
    points = [point for point in root.iter() if local_name(point) == "pt"] if root is not None else []
    labels = (" ".join("".join(text.text or "" for text in one.iter("{*}t")).split()) for one in points)
    return "\n".join(f"- {escape_text(label)}" for label in labels if label)


def _chart_rows(root: etree._Element | None) -> list[list[str]]:
    """Return the stored values of a chart as rows: the names of its series, then a row for each category."""
    series = list(islice(root.iter("{*}ser"), MAX_COLUMNS)) if root is not None else []
    names: list[str] = []
    rows: dict[int, list[str]] = {}
    for number, one in enumerate(series):
        values = {local_name(child): _points(child) for child in one}
        names.append(next(iter(values.get("tx", {}).values()), ""))
        labels = values.get("cat") or values.get("xVal") or {}
        for at, value in (values.get("val") or values.get("yVal") or {}).items():
            row = rows.setdefault(at, [labels.get(at, "")] + [""] * len(series))
            row[0] = row[0] or labels.get(at, "")
            row[number + 1] = value
    return [["", *names], *(rows[at] for at in sorted(rows))] if rows else []


def _points(place: etree._Element) -> dict[int, str]:
    """Return the stored values below an element of a chart, by index."""
    found: dict[int, str] = {}
    for value in place.iter():
        if local_name(value) == "v" and value.text and len(found) < _MAX_POINTS:
            at = own_attribute(parent, "idx")[:9] if (parent := value.getparent()) is not None else ""
            found[int(at) if at.isdecimal() else len(found)] = value.text.strip()
    return found
