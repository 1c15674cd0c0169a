"""Footnotes and margin notes as Markdown, with the references whose note is on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from turbohtml import Element

from groundwire.reading.markdown.writer import MarkdownWriter

__all__ = ["Close", "Notes", "footnotes", "is_back_reference", "is_backlink", "note_label"]

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
