"""Lists, definition lists, footnotes, and margin notes as Markdown, with the references whose note is on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from turbohtml import Element, Text

from groundwire.reading.html.semantics import task_state
from groundwire.reading.markdown.writer import MarkdownWriter

__all__ = ["Close", "Lists", "Notes", "footnotes", "is_back_reference", "is_backlink", "is_permalink", "note_label"]

_BULLETS: Final = frozenset("\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u00b7\u2013\u2014-*")
_MAX_NUMBER: Final = 999_999_999  # CommonMark allows nine digits
_MAX_SEARCHES: Final = 20_000  # definition lists that are inspected
_MARKED: Final = 'a[role="doc-noteref"], a.footnote-ref, a.footnote-reference, a.footnote-anchor, a[href^="#_ftn"]'
_REFERENCES: Final = f'sup a[href^="#"], a[href^="#"] sup, {_MARKED}'
_NUMBER: Final = re.compile(r"[\[(]?\d{1,4}[\])]?|[\u21a9\u2191^\u21b5\u2934]\ufe0e?\s*\d{1,3}")
_LABEL: Final = re.compile(r"\[?\s*([\w*\u2020\u2021.-]{1,20}(?: \d{1,4})?)\s*\]?")
_BACK: Final = frozenset("\u21a9\u2191^\u2b06\u21b5\u2934\u23ce\u21e7\u2912")
_MAX_NOTES: Final = 5_000
_HOLDERS: Final = frozenset({"li", "p", "div", "aside", "dd", "dt"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BACK_CLASS: Final = re.compile(
    r"(?:^|[\s_-])(?:reversefootnote|footnote-?back(?:ref|link)?|backref|backlink|footnote-number)(?=[\s_-]|$)",
    re.IGNORECASE,
)
_PERMALINK: Final = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|heading-anchor|heading-link|anchor(?:js)?-?link|anchor|permalink|hash-link|direct-link)(?=\s|$)"
)
_PERMALINK_TEXT: Final = frozenset(
    {"", "#", "\u00b6", "\u00a7", "\u25c6", "\U0001f517", "\u200b", "Link", "link", "\ue157", "Anchor"}
)


def footnotes(root: Element) -> dict[str, str]:
    """Return the labels of the footnotes with a reference on the page, by the id of the note's element."""
    labels: dict[str, str] = {}
    for reference in root.select(_MARKED if root.find("sup") is None else _REFERENCES):
        link: object = reference
        if reference.tag != "a":
            link = reference.closest("a")
        if not isinstance(link, Element):
            continue
        target = unquote((link.attr("href") or "")[1:])
        label = note_label(link.text) if target and target not in labels else ""
        if label and len(labels) < _MAX_NOTES:
            labels[target] = label
    if not labels:
        return {}
    present = {element.attr("id") or "" for element in root.select("li[id], p[id], div[id], aside[id], dd[id], dt[id]")}
    missing = {target for target in labels if target not in present}
    for link in root.select('a[href^="#"]') if missing else ():
        for name in (link.attr("id"), link.attr("name")):
            if name in missing and (holder := _holder(link, root)) is not None:
                missing.discard(name)
                held = holder.attr("id")
                if not held or held not in labels:
                    holder.attrs["id"] = name
                present.add(name)
    return {target: label for target, label in labels.items() if target in present}


def note_label(text: str) -> str:
    """Return the label of a reference to a note, or "" if its text is not one."""
    match = _LABEL.fullmatch(text.strip())
    return match[1].replace(" ", "-") if match else ""


def _holder(link: Element, root: Element) -> Element | None:
    """Return the element of a note of which, as in Word, Google Docs and Substack, only the backlink has an id."""
    for around in link.ancestors:
        if not isinstance(around, Element) or around == root or around.tag in _HEADINGS:
            return None
        if around.tag in _HOLDERS:
            return around if around.text.lstrip().startswith(link.text.strip() or " ") else None
    return None


def is_backlink(link: Element) -> bool:
    """Whether a link inside a note only leads back to its reference, according to its text, class or role."""
    if (link.attr("role") or "") == "doc-backlink" or _BACK_CLASS.search(link.attr("class") or ""):
        return True
    text = link.text.strip()
    return bool(_NUMBER.fullmatch(text))


def is_back_reference(text: str) -> bool:
    """Whether a link's text is only the arrow of a backlink."""
    text = text.strip().rstrip("\ufe0e\ufe0f")
    return len(text) == 1 and text in _BACK


def is_permalink(link: Element, reference: str, *, in_heading: bool) -> bool:
    """Whether a link only exists to copy the URL of a heading.

    Args:
        link: The link.
        reference: Its address, as written; "" if it has none.
        in_heading: Whether it is in a heading.
    """
    classes = link.attr("class")
    if classes and ("link" in classes or "anchor" in classes) and _PERMALINK.search(classes):
        return link.text.strip() in _PERMALINK_TEXT
    if not reference or "#" not in reference:
        return False
    if in_heading:
        return link.text.strip() in _PERMALINK_TEXT
    return reference[0] == "#" and link.text == "\u00b6"  # RFCs have one after every paragraph


Close = Callable[[], None]
"""Ends what a handler has started."""


class Notes:
    """Opens blocks, including footnote definitions.

    Args:
        root: The element to serialize.
        writer: The output.
    """

    def __init__(self, root: Element, writer: MarkdownWriter) -> None:
        self.labels: dict[str, str] = footnotes(root)
        """The label of each footnote, by the id of the element that defines it."""
        self.depth: int = 0
        """The nesting depth of definitions."""
        self._writer = writer

    def block(self, element: Element) -> Close:
        """Start a block; return what ends it."""
        writer = self._writer
        writer.flush()
        if self.labels and (label := self.labels.get(element.attr("id") or "")):
            return self.define(label, writer.flush)
        return writer.flush

    def define(self, label: str, otherwise: Close) -> Close:
        """Open a footnote definition."""
        if not self._writer.open_container(f"[^{label}]: ", "    "):
            return otherwise
        self.depth += 1

        def close() -> None:
            self.depth -= 1
            self._writer.close_container()

        return close

    def inline(self) -> Close:
        """Open a note inside its text."""
        writer = self._writer
        writer.text(" ")
        writer.raw("(")
        return lambda: writer.raw(")")

    def element(self, _element: Element) -> Close:
        """Open an element that is such a note."""
        return self.inline()


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
        self._headed = False
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
        self._headed = next(element.iter_elements(tuple(_HEADINGS)), None) is not None
        marked = (
            not self._headed
            and element.find("code") is None
            and element.find("strong") is None
            and writer.open_mark("strong")
        )

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
        if self._headed or writer.in_cell or not (self._terms and self._terms[-1]) or not _is_line(element):
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
