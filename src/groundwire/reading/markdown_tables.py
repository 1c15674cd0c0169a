"""Tables, as Markdown has them."""

from __future__ import annotations

from typing import Final

from turbohtml import Element

from groundwire.reading.code import code_blocks, code_language, code_text, is_code_table
from groundwire.reading.escaping import fence
from groundwire.reading.markdown_notes import Close
from groundwire.reading.tables import Grid, is_layout
from groundwire.reading.writer import Writer

__all__ = ["Tables"]

_MAX_TABLES: Final = 20  # tables in each other that are looked at


class Tables:
    """Opens tables and their parts; those that only lay out a page become what is in them.

    Args:
        writer: Writes what is in the cells, and the tables.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._grids: list[Grid | None] = []

    def table(self, element: Element) -> Close | bool:
        """Begin a table; False when it was code, which is written."""
        writer = self._writer
        writer.flush()
        deep = len(self._grids) >= _MAX_TABLES
        if not deep and is_code_table(element):
            self._code_table(element)
            return False
        layout = writer.in_cell or deep or is_layout(element)
        grid = None if layout else Grid()
        self._grids.append(grid)

        def close() -> None:
            writer.flush()
            self._grids.pop()
            if grid is not None and (markdown := grid.to_markdown()):
                writer.block(markdown)

        return close

    def group(self, element: Element) -> Close:
        """Begin a head, a body or a foot."""
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None and not self._writer.in_cell:
            grid.start_group(element.tag)
        return self._writer.flush

    def row(self, _element: Element) -> Close:
        """Begin a row."""
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None:
            grid.start_row()
        return self._writer.flush

    def cell(self, element: Element) -> Close:
        """Begin a cell."""
        writer = self._writer
        grid = self._grids[-1] if self._grids else None
        if grid is None or writer.in_cell:
            writer.flush()
            return writer.flush
        grid.start_cell(element)
        writer.open_cell()
        return lambda: grid.end_cell(writer.close_cell())

    def _code_table(self, table: Element) -> None:
        blocks = code_blocks(table)
        for head in table.iter_elements(("caption", "th")):
            if name := head.text.strip():
                self._writer.text(name)  # the name of the file
                self._writer.flush()
        code = code_text(blocks[-1] if blocks else table)
        if code.strip():
            self._writer.block(fence(code, code_language(blocks[-1] if blocks else table)))
