"""Lists and definition lists as Markdown."""

from __future__ import annotations

from typing import Final

from turbohtml import Element, Text

from groundwire.reading.html.semantics import task_state
from groundwire.reading.markdown.footnotes import Close, Notes
from groundwire.reading.markdown.writer import MarkdownWriter

__all__ = ["Lists"]

_BULLETS: Final = frozenset("\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u00b7\u2013\u2014-*")
_MAX_NUMBER: Final = 999_999_999  # CommonMark allows nine digits
_MAX_SEARCHES: Final = 20_000  # definition lists that are inspected


class Lists:
    """Opens lists, their items, terms and definitions.

    Args:
        writer: The output.
        notes: Identifies those that are footnotes.
    """

    def __init__(self, writer: MarkdownWriter, notes: Notes) -> None:
        self.mark: Element | None = None
        """The element at the start of an item that only repeats the list marker."""
        self._writer = writer
        self._notes = notes
        self._numbers: list[int | None] = []
        self._steps: list[int] = []
        self._tasks: list[bool] = []
        self._terms: list[bool] = []
        self._in_term = False
        self._searches = 0

    @property
    def inside(self) -> bool:
        """Whether a list is open."""
        return bool(self._numbers)

    def list_(self, element: Element) -> Close:
        """Start a list."""
        writer = self._writer
        writer.flush()
        start: int | None = None
        step = 1
        if element.tag == "ol":
            step = -1 if element.attr("reversed") is not None else 1
            start = _number(element.attr("start"), 1 if step > 0 else sum(1 for _ in element.select(":scope > li")))
        nested = self._numbers and isinstance(element.parent, Element) and element.parent.tag in {"ul", "ol", "menu"}
        indented = bool(nested) and writer.open_container("  ", "  ", tight=True)
        self._numbers.append(start)
        self._steps.append(step)
        self._tasks.append("inline-task-list" in (element.attr("class") or ""))
        if len(self._numbers) > 1 and (start is None or start == 1):
            writer.next_tight()

        def close() -> None:
            self._numbers.pop()
            self._steps.pop()
            self._tasks.pop()
            if indented:
                writer.close_container()
            else:
                writer.flush()

        return close

    def item(self, element: Element) -> Close:
        """Start an item."""
        writer = self._writer
        writer.flush()
        if self._notes.labels and (label := self._notes.labels.get(element.attr("id") or "")):
            return self._notes.define(label, writer.flush)
        marker = "- "
        if self._numbers:
            number = self._numbers[-1]
            if number is not None:
                number = _number(element.attr("value"), number)
                marker = f"{number}. "
                self._numbers[-1] = max(0, min(number + self._steps[-1], _MAX_NUMBER))
        if writer.in_cell:
            writer.bullet = "\u2022 " if marker == "- " else ""
            return writer.flush
        opened = writer.open_container(marker, " " * len(marker), tight=_follows_item(element))
        if self._tasks and self._tasks[-1]:
            writer.raw(f"{task_state(element)} ")
        self.mark = _written_mark(element, marker)
        return writer.close_container if opened else writer.flush

    def definitions(self, element: Element) -> Close:
        """Open a definition list; without terms, as some wikis use it to indent, it is not one."""
        self._notes.block(element)
        self._searches += 1
        self._terms.append(self._searches <= _MAX_SEARCHES and element.find("dt") is not None)

        def close() -> None:
            self._terms.pop()
            self._writer.flush()

        return close

    def term(self, element: Element) -> Close:
        """Start a term."""
        writer = self._writer
        self._notes.block(element)
        if self._in_term:
            return writer.flush
        self._in_term = True
        marked = element.find("code") is None and element.find("strong") is None and writer.open_mark("strong")

        def close() -> None:
            self._in_term = False
            if marked:
                writer.close_mark()
            writer.flush()

        return close

    def definition(self, element: Element) -> Close:
        """Start a definition."""
        writer = self._writer
        writer.flush()
        if self._notes.labels and (label := self._notes.labels.get(element.attr("id") or "")):
            return self._notes.define(label, writer.flush)
        if writer.in_cell or not (self._terms and self._terms[-1]) or not _is_line(element):
            return writer.flush
        if sum(1 for child in element if type(child) is Element and child.tag == "p") > 1:
            opened = writer.open_container(": ", "  ", tight=_follows_term(element))
            return writer.close_container if opened else writer.flush
        writer.lead = ": "

        def close() -> None:
            writer.flush()
            writer.lead = ""

        return close


def _written_mark(item: Element, marker: str) -> Element | None:
    """Return the element at the start of a list item that only repeats the list marker."""
    for node in item:
        if type(node) is Text:
            if node.data.isspace():
                continue
        elif type(node) is Element and node.tag == "span" and node.attr("class"):
            text = node.text.strip()
            return node if text in _BULLETS or text == marker.strip() else None
        break
    return None


def _number(value: str | None, default: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else default


def _follows_item(element: Element) -> bool:
    """Whether the previous element is an item of the same list."""
    for node in element.previous_siblings:
        if type(node) is Element:
            return node.tag in {"li", "ul", "ol"}
    return False


def _follows_term(element: Element) -> bool:
    """Whether the previous element is a term or a definition."""
    before = next((node for node in element.previous_siblings if type(node) is Element), None)
    return before is not None and before.tag in {"dt", "dd"}


def _is_line(element: Element) -> bool:
    """Whether a definition begins with text, not with a list, a table or code."""
    for node in element:
        if type(node) is Text:
            if not node.data.isspace():
                return True
        elif type(node) is Element:
            if node.tag in {"div", "p"}:
                return node.tag == "p" or _is_line_inside(node)
            return node.tag not in {"ul", "ol", "dl", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
    return False


def _is_line_inside(element: Element) -> bool:
    return not any(
        True for _ in element.iter_elements(("ul", "ol", "dl", "table", "pre", "blockquote", "div")) if _ != element
    )
