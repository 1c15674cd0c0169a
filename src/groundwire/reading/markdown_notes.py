"""Footnotes and notes in the margin, as Markdown has them."""

from __future__ import annotations

from collections.abc import Callable

from turbohtml import Element

from groundwire.reading.footnotes import footnotes
from groundwire.reading.writer import Writer

__all__ = ["Close", "Notes"]

Close = Callable[[], None]
"""Ends what a handler has begun."""


class Notes:
    """Opens blocks, and the definitions of footnotes among them.

    Args:
        root: What is written.
        writer: Writes it.
    """

    def __init__(self, root: Element, writer: Writer) -> None:
        self.labels = footnotes(root)
        """The label of each footnote, by the id of the element that defines it."""
        self.depth = 0
        """How many definitions the writer is in."""
        self._writer = writer

    def block(self, element: Element) -> Close:
        """Begin a block; return what ends it."""
        writer = self._writer
        writer.flush()
        if self.labels and (label := self.labels.get(element.attr("id") or "")):
            return self.define(label, writer.flush)
        return writer.flush

    def define(self, label: str, otherwise: Close) -> Close:
        """Open the definition of a footnote."""
        if not self._writer.open_container(f"[^{label}]: ", "    "):
            return otherwise
        self.depth += 1

        def close() -> None:
            self.depth -= 1
            self._writer.close_container()

        return close

    def inline(self) -> Close:
        """Open a note that stands in the text that it belongs to."""
        writer = self._writer
        writer.text(" ")
        writer.raw("(")
        return lambda: writer.raw(")")

    def element(self, _element: Element) -> Close:
        """Open an element that is such a note."""
        return self.inline()
