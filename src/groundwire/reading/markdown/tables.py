"""Tables as GitHub Flavored Markdown; layout tables are replaced by their content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from turbohtml import Element

from groundwire.reading.markdown.escaping import code_blocks, code_language, code_text, fence, is_code_table
from groundwire.reading.markdown.lists import Close
from groundwire.reading.markdown.writer import MarkdownWriter

_MAX_SPAN: Final = 1_000  # the HTML Standard's own limit for colspan
_MAX_COPY: Final = 80  # characters of a cell that is repeated where it spans
_LONG_CELL: Final = 600  # characters; a longer cell without a header row is a page column
_BLOCKS: Final = ("table", "h1", "h2", "h3", "h4", "pre", "blockquote", "article", "section", "form")


def is_layout(table: Element) -> bool:
    """Whether a table is used for layout rather than data.

    That is: it declares so, has one row or one column, or contains tables, headings, quotations or long texts and no
    header cell.
    """
    role = (table.attr("role") or "").strip().lower()
    if role in {"presentation", "none"}:
        return True
    rows = cells = widest = in_row = 0
    header = False
    row: Element | None = None
    for element in table.iter_elements(("tr", "td", "th", *_BLOCKS)):
        tag = element.tag
        if tag == "tr":
            rows, in_row, row = rows + 1, 0, element
        elif tag in {"td", "th"}:
            cells, in_row = cells + 1, in_row + 1
            widest = max(widest, in_row)
            header = header or tag == "th"
            if cells > 40 and rows > 3 and widest > 1:
                return False
            if tag == "td" and not header and cells <= 8 and len(element.text) > _LONG_CELL:
                return True
        elif not header and row is not None:
            return True
        elif tag == "table":
            break
    return widest < 2 or (rows < 2 and not header)


@dataclass(slots=True)
class _Cell:
    text: str
    is_header: bool
    is_copy: bool = False


class Grid:
    """The cells of one table, filled in source order.

    A cell that spans columns or rows is repeated in all of its positions, so that every row says whose it is: unless it
    is long, or the only one of its row. A table's foot is shown at the end wherever it is in the source.
    """

    def __init__(self) -> None:
        self._rows: list[list[_Cell]] = []
        self._feet: list[list[_Cell]] = []
        self._part = self._rows
        self._spans: dict[int, tuple[int, _Cell]] = {}
        self._copies = 0
        self._cells = 0

    def start_group(self, tag: str) -> None:
        """Start a head, a body or a foot; no cell spans several of them."""
        self._spans.clear()
        self._part = self._feet if tag == "tfoot" else self._rows

    def start_row(self) -> None:
        """Start a row."""
        self._part.append([])
        self._cover()

    def add_cell(self, element: Element, text: str) -> None:
        """Add a cell to the current row.

        Args:
            element: Its element.
            text: Its content, as Markdown of one line.
        """
        if not self._part:
            self.start_row()
        row, cell = self._part[-1], _Cell(text.replace("\n", " "), element.tag == "th")
        self._cells += 1
        start, rows = len(row), _span(element, "rowspan")
        row.append(cell)
        for offset in range(_span(element, "colspan") or 1):
            if offset and not self._add_copy(row, cell):
                break
            if rows != 1:
                self._spans[start + offset] = (rows or _MAX_SPAN) - 1, cell
        self._cover()

    def _cover(self) -> None:
        """Skip the positions covered by a cell from above."""
        row = self._part[-1]
        while spanned := self._spans.pop(len(row), None):
            rows_left, cell = spanned
            if rows_left > 1:
                self._spans[len(row)] = rows_left - 1, cell
            if not self._add_copy(row, cell):
                self._spans.clear()
                break

    def _add_copy(self, row: list[_Cell], cell: _Cell) -> bool:
        """Add a copy of a cell, empty if its text is long; a page may have four times as many as cells, plus 1,000."""
        self._copies += 1
        if self._copies > 1_000 + 4 * self._cells:
            return False
        row.append(_Cell(cell.text if len(cell.text) <= _MAX_COPY else "", cell.is_header, is_copy=True))
        return True

    def to_markdown(self) -> str:
        """Return the table; "" if it is empty."""
        rows = [row for row in self._rows + self._feet if any(cell.text and not cell.is_copy for cell in row)]
        if not rows:
            return ""
        for number, row in enumerate(rows):
            if sum(not cell.is_copy for cell in row) == 1 and not row[0].is_copy:  # a title above other rows
                rows[number] = [row[0], *(_Cell("", is_header=False, is_copy=True) for _ in row[1:])]
        rows = _used_columns(rows)
        width = max(len(row) for row in rows)
        filled = [cell for cell in rows[0] if cell.text]
        by_rows = len(rows) > 1 and rows[0][0].is_header and not any(cell.is_header for cell in rows[0][1:])
        if by_rows and len(filled) > 1:  # the headers are in the first column: the first row is data
            lines = ["|" + "  |" * width]
        else:
            first = rows.pop(0)
            texts = [cell.text for cell in first] + [""] * (width - len(first))
            lines = [f"| {' | '.join(texts)} |"]
        lines.append("|" + " --- |" * width)
        lines += [f"| {' | '.join([cell.text for cell in row])} |" for row in rows]
        return "\n".join(lines)


def _used_columns(rows: list[list[_Cell]]) -> list[list[_Cell]]:
    """Return rows without the columns that have no text, if two columns or more remain."""
    used = {column for row in rows for column, cell in enumerate(row) if cell.text and not cell.is_copy}
    if not 1 < len(used) < max(len(row) for row in rows):
        return rows
    return [[cell for column, cell in enumerate(row) if column in used] for row in rows]


def _span(cell: Element, name: str) -> int:
    value = (cell.attr(name) or "").strip()
    return min(int(value), _MAX_SPAN) if value.isascii() and value.isdigit() and len(value) < 6 else 1


_MAX_TABLES: Final = 20  # nested tables that are inspected


class Tables:
    """Opens tables and their parts; layout tables are replaced by their content.

    Args:
        writer: The output.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self._writer = writer
        self._grids: list[Grid | None] = []

    def table(self, element: Element) -> Close | bool:
        """Start a table; False if it was code, which is then written."""
        writer = self._writer
        writer.flush()
        deep = len(self._grids) >= _MAX_TABLES
        if not deep and is_code_table(element):
            self._code_table(element)
            return False
        layout = writer.in_cell or deep or is_layout(element)
        grid = None if layout else Grid()
        inner = writer.in_cell
        self._grids.append(grid)

        def close() -> None:
            writer.flush()
            self._grids.pop()
            if inner:
                writer.separate("")
            if grid is not None and (markdown := grid.to_markdown()):
                writer.block(markdown)

        return close

    def group(self, element: Element) -> Close:
        """Start a head, a body or a foot."""
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None and not self._writer.in_cell:
            grid.start_group(element.tag)
        return self._writer.flush

    def row(self, _element: Element) -> Close:
        """Start a row."""
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None:
            grid.start_row()
        return (lambda: self._writer.separate(";")) if self._writer.in_cell else self._writer.flush

    def cell(self, element: Element) -> Close:
        """Start a cell."""
        writer = self._writer
        grid = self._grids[-1] if self._grids else None
        if grid is None or writer.in_cell:
            writer.flush()
            return (lambda: writer.separate(",")) if writer.in_cell else writer.flush
        writer.open_cell()
        return lambda: grid.add_cell(element, writer.close_cell())

    def _code_table(self, table: Element) -> None:
        blocks = code_blocks(table)
        for head in table.iter_elements(("caption", "th")):
            if name := head.text.strip():
                self._writer.text(name)  # the file name
                self._writer.flush()
        source = blocks[-1] if blocks else table
        code = code_text(source)
        if code.strip():
            self._writer.block(fence(code, code_language(source)))
