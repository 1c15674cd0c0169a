"""Serialization of the selected part of a page to Markdown, in a single pass without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from turbohtml import Element, Node, Text

from groundwire.reading.html.math import formula, is_written_out, script_formula
from groundwire.reading.html.semantics import boxes_of, is_labeled, is_source
from groundwire.reading.markdown.escaping import (
    code_language,
    code_text,
    fence,
    inline_code,
    is_code_panel,
    web_url,
)
from groundwire.reading.markdown.lists import (
    HOLDERS,
    Close,
    Lists,
    Notes,
    is_back_reference,
    is_backlink,
    is_permalink,
    note_label,
)
from groundwire.reading.markdown.tables import Tables
from groundwire.reading.markdown.writer import MarkdownWriter

_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "body", "caption", "center", "details", "dialog", "dir",
        "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "legend", "main", "nav",
        "optgroup", "option", "p", "search", "section", "colgroup",
    }
)  # fmt: skip
_SKIPPED: Final = frozenset(
    {
        "head", "style", "template", "noscript", "svg", "audio", "video", "canvas", "iframe", "object", "embed",
        "select", "datalist", "textarea", "title", "rp", "map", "noframes", "col", "param", "source", "track", "wbr",
        "link", "meta", "base", "area", "progress", "meter",
    }
)  # fmt: skip
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_INLINE_NOTE: Final = re.compile(
    r"(?:^|\s)(?:sidenote|marginnote|margin-note|ltx_note_outer|footnote-?(?:content|text|body))(?=\s|$)", re.IGNORECASE
)
_CALLOUT: Final = re.compile(r"(?:^|[\s_-])(?:admonition|callout|alert)-?_?(?:title|heading)(?=\s|$)", re.IGNORECASE)
"""The label of a note or a warning, which is one word in a line of its own."""
_SHORTCODE: Final = re.compile(r":[\w+-]{1,40}:")
_COPY_LABELS: Final = frozenset({"copy", "copy code", "copied", "copied!", "copy to clipboard"})
_LAYOUT_TAGS: Final = ("div", "ul", "ol", "pre", "table")
_MAX_SEARCHES: Final = 20_000  # spans that are searched for a formula

_Open = Callable[[Element], "Close | bool | None"]


def to_markdown(root: Element, base_url: str) -> str:
    """Convert an element and its content to Markdown.

    Headings, lists, tables, code, links, quotations, definitions, footnotes and formulas keep their structure; images
    are omitted. Text that would be parsed as markup is escaped. Takes time linear in the size of the tree, however deep
    it is.

    Args:
        root: The element, without invisible and irrelevant parts.
        base_url: The base of relative links (`Document.base_url`). Links to anything but an http or https URL are
            reduced to their text.
    """
    renderer = _Renderer(root, base_url)
    try:
        return renderer.run()
    finally:
        renderer.forget()


class _Renderer:
    """Walker of one tree.

    A handler opens an element and returns a function that closes it, None if there is nothing to close, and False to
    skip the content.
    """

    def __init__(self, root: Element, base_url: str) -> None:
        self._root = root
        self._base_url = base_url
        self._writer = MarkdownWriter()
        self._notes = Notes(root, self._writer)
        self._lists = Lists(self._writer)
        self._in_code = False
        self._searches = 0
        self._plain: set[str] = set()
        lists, tables = self._lists, Tables(self._writer)
        self._handlers: dict[str, _Open] = dict.fromkeys(_BLOCKS, self._block)
        self._handlers |= dict.fromkeys(_SKIPPED, _skip)
        self._handlers |= dict.fromkeys(_HEADINGS, self._heading)
        self._handlers |= dict.fromkeys(("tbody", "tfoot", "thead"), tables.group)
        self._handlers |= dict.fromkeys(("code", "tt", "samp", "kbd"), self._code)
        self._handlers |= dict.fromkeys(("strong", "b"), self._mark("strong"))
        self._handlers |= dict.fromkeys(("em", "i"), self._mark("em"))
        self._handlers |= dict.fromkeys(("del", "s", "strike"), self._mark("del"))
        self._handlers |= {
            "a": self._link, "blockquote": self._quote, "br": self._br, "button": self._apart, "cite": self._cite,
            "dd": lists.definition, "div": self._div, "dl": lists.definitions,
            "dt": lists.term, "hr": self._rule, "img": self._image, "input": self._input, "label": self._apart,
            "li": lists.item, "listing": self._pre, "math": self._math, "menu": lists.list_,
            "mjx-container": self._math, "ol": lists.list_, "p": self._paragraph, "plaintext": self._pre,
            "pre": self._pre, "q": self._between('"', '"'), "rt": self._between("(", ")"), "script": self._script,
            "span": self._span, "sub": self._sub, "summary": self._summary, "sup": self._sup,
            "table": tables.table, "td": tables.cell, "th": tables.cell, "time": self._apart, "tr": tables.row,
            "ul": lists.list_, "xmp": self._pre,
        }  # fmt: skip

    def run(self) -> str:
        text, line, boxes = self._writer.text, self._writer.line, boxes_of(self._root)
        handlers, labels = self._handlers, self._notes.labels
        top: Iterator[Node] = iter((self._root,))
        stack: list[tuple[Iterator[Node], Close | None]] = [(top, None)]
        while stack:
            nodes, close = stack[-1]
            for node in nodes:
                if type(node) is Text:
                    data = node.data
                    if not data.isspace():
                        text(data)
                    elif line:
                        line.append(" ")
                elif type(node) is Element:
                    label = labels.get(node.attr("id") or "") if labels and node.tag in HOLDERS else None
                    if label is not None:
                        closing: Close | bool | None = self._notes.define(label)
                    else:
                        handler = handlers.get(node.tag)
                        closing = handler(node) if handler is not None else None
                    if closing is not False:
                        children = self._writer.each_apart(node) if boxes and node in boxes else iter(node)
                        stack.append((children, closing if callable(closing) else None))
                        break
            else:
                stack.pop()
                if close is not None:
                    close()
        return self._writer.result()

    def forget(self) -> None:
        """Break the reference cycle with the handlers: otherwise the tree would stay until a garbage collection."""
        self._handlers.clear()

    def _apart(self, element: Element) -> Close | bool:
        """Open a time, a button, or a label; it is never a part of a word in the element before or after it."""
        if element.tag == "button" and element.text.strip().lower() in _COPY_LABELS:
            return False
        self._set_apart()
        return self._set_apart

    def _set_apart(self) -> None:
        self._writer.apart = True

    def _block(self, _element: Element) -> Close:
        self._writer.flush()
        return self._writer.flush

    def _div(self, element: Element) -> Close | bool:
        classes = element.attr("class")
        if classes and classes not in self._plain:
            if _CALLOUT.search(classes) is not None:
                return self._summary(element)
            if is_code_panel(element):
                return self._pre(element)
            self._plain.add(classes)
        return self._block(element)

    def _paragraph(self, element: Element) -> Close | bool:
        classes = element.attr("class")
        if classes and _CALLOUT.search(classes) is not None:
            return self._summary(element)
        return self._block(element)

    def _heading(self, element: Element) -> Close:
        self._writer.open_heading(int(element.tag[1]))
        return self._writer.close_heading

    def _quote(self, _element: Element) -> Close:
        return self._writer.close_container if self._writer.open_container("> ", "> ") else self._writer.flush

    def _rule(self, _element: Element) -> bool:
        self._writer.flush()
        if not self._writer.in_cell:
            self._writer.block("***" if self._lists.inside else "---")  # "- ---" is a rule, and no item
        return False

    def _br(self, _element: Element) -> bool:
        self._writer.line_break()
        return False

    def _mark(self, name: str) -> _Open:
        """Return the handler of an inline element that is written with marks."""
        return lambda _element: self._writer.close_mark if self._writer.open_mark(name) else None

    def _sup(self, element: Element) -> Close | bool | None:
        if (element.attr("class") or "") == "ltx_note_mark":
            return False  # the note itself follows
        self._searches += 1
        link = element.find("a") if self._searches <= _MAX_SEARCHES else None
        if link is not None:
            text, target = link.text.strip(), link.attr("href") or ""
            is_defined = unquote(target.partition("#")[2]) in self._notes.labels
            if text.isdigit() and target and not is_defined and not self._notes.depth:
                self._writer.raw(f"[{text}]")  # a reference to a note that is elsewhere
                return False
            return None
        return self._writer.close_mark if self._writer.open_mark("sup") else None

    def _sub(self, element: Element) -> Close | None:
        """Open a subscript; digits that are followed by others, as in a logarithm, need a mark."""
        after = element.next_sibling
        if type(after) is Text and after.data[:1].isdigit() and element.text.strip().isdigit():
            self._writer.raw("_")
            return lambda: self._writer.raw(" ")
        return self._writer.close_mark if self._writer.open_mark("sub") else None

    def _between(self, before: str, after: str) -> _Open:
        """Return the handler of an element that is written between two signs."""

        def open_(_element: Element) -> Close:
            self._writer.text(before)
            return lambda: self._writer.text(after)

        return open_

    def _cite(self, element: Element) -> Close | bool | None:
        return self._block(element) if is_source(element) else None

    def _summary(self, element: Element) -> Close:
        writer = self._writer
        writer.flush()
        marked = next(element.iter_elements(_HEADINGS), None) is None and writer.open_mark("strong")

        def close() -> None:
            if marked:
                writer.close_mark()
            writer.flush()

        return close

    def _link(self, element: Element) -> Close | bool | None:
        writer, notes, reference = self._writer, self._notes, element.attr("href") or ""
        before = element.previous_sibling
        if type(before) is Element and before.tag == "a":  # two links with one target may be one word
            writer.apart = before.attr("href") != element.attr("href") or not element.text[:1].islower()
        if is_permalink(element, reference, in_heading=writer.in_heading):
            return False
        is_local = reference[:1] == "#"
        target = unquote(reference[1:]) if is_local and notes.labels else ""
        label, text = notes.labels.get(target), element.text.strip() if is_local else ""
        if label and note_label(text) == notes.texts[target]:
            writer.raw(f"[^{label}]")
            return False
        if is_back_reference(text) or (notes.depth and "#" in reference and is_backlink(element)):
            return False
        if text.isdigit() and len(text) < 4 and element.find("sup") is not None:
            writer.raw(f"[{text}]")  # a reference to a note that is elsewhere
            return False
        address = "" if is_local or not reference else web_url(reference, self._base_url)
        return writer.close_mark if address and writer.open_mark("link", address) else None

    def _code(self, element: Element) -> Close | bool | None:
        if self._in_code:
            return None
        if any(child.attr("href") for child in element.iter_elements("a")):
            self._in_code = True  # its links matter more than its font
            return self._end_code
        laid_out = next(element.iter_elements(_LAYOUT_TAGS), None) is not None or (
            element.find("br") is not None and not _has_text_beside(element)
        )
        if laid_out and not self._writer.in_cell and not self._writer.in_heading:
            return self._pre(element)
        return self._ticks(element)

    def _end_code(self) -> None:
        self._in_code = False

    def _ticks(self, element: Element) -> bool:
        data = "".join(_strings_of(element)).replace("\xad", "")
        code = inline_code(data)
        if not code:
            self._writer.text(" ")
            return False
        if data[0].isspace() or self._writer.last_char() == "`":
            self._writer.text(" ")
        self._writer.raw(code)
        if data[-1].isspace():
            self._writer.text(" ")
        return False

    def _pre(self, element: Element) -> bool:
        writer = self._writer
        writer.flush()
        code = code_text(element)
        if not code.strip():
            return False
        if writer.in_cell:
            writer.raw(" ".join(filter(None, map(inline_code, code.split("\n")))))  # a command per line
            writer.flush()
        else:
            writer.block(fence(code, code_language(element)))
        return False

    def _input(self, element: Element) -> bool:
        is_checkbox = (element.attr("type") or "").lower() == "checkbox"
        if is_checkbox and self._lists.inside and not self._writer.last_char().strip():
            self._writer.raw("[x] " if element.attr("checked") is not None else "[ ] ")
        return False

    def _image(self, element: Element) -> bool:
        alt = (element.attr("alt") or "").strip()
        named = _SHORTCODE.fullmatch(alt) is not None and "emoji" in (element.attr("class") or "")
        if named or (len(alt) <= 16 and not alt.isascii() and not any(char.isalpha() for char in alt)):
            self._writer.text(alt)  # an emoji as an image
        return False

    def _formula(self, tex: str, *, block: bool) -> None:
        writer = self._writer
        if block and not writer.in_cell and not writer.in_heading:
            writer.flush()
            writer.block(f"$$\n{tex}\n$$")
        else:
            writer.raw(f"${tex}$")

    def _math(self, element: Element) -> bool:
        tex, block = formula(element)
        if tex:
            self._formula(tex, block=block)
        else:
            self._writer.text(element.text)
        return False

    def _script(self, element: Element) -> bool:
        tex, block = script_formula(element) or ("", False)
        if tex:
            self._formula(tex, block=block)
        return False

    def _span(self, element: Element) -> Close | bool | None:
        classes = element.attr("class")
        if not classes:
            return None
        if is_labeled(element, classes):
            self._writer.apart = True
        if "ltx_tag_note" in classes or self._lists.repeats_marker(element):
            return False
        if "note" in classes.lower() and _INLINE_NOTE.search(classes):
            return self._between(" (", ")")(element)
        if "katex" in classes or "mwe-math" in classes:
            self._searches += 1
            if "mwe-math-element" in classes or (
                self._searches <= _MAX_SEARCHES and element.find("annotation") is not None
            ):
                return self._math(element)
        elif "mw-editsection" in classes:
            return False
        elif "MathJax" in classes:
            return not is_written_out(element) and element.find("math") is not None and self._math(element)
        elif self._notes.depth and re.search(
            r"(?:^|\s)(?:label|fn-bracket|fn-backref|mw-cite-backlink|backrefs)(?=\s|$)", classes
        ):
            return False
        return None


def _strings_of(code: Element) -> Iterator[str]:
    """Yield the texts of code in a line, with a space for each line break."""
    for node in code.descendants:
        if type(node) is Text:
            yield node.data
        elif type(node) is Element and node.tag == "br":
            yield " "


def _has_text_beside(element: Element) -> bool:
    """Return whether there is text right beside an element."""
    beside = (element.previous_sibling, element.next_sibling)
    return any(type(node) is Text and not node.data.isspace() for node in beside)


def _skip(_element: Element) -> bool:
    return False
