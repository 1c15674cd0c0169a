"""The chosen part of a page as Markdown, in one pass over its tree and without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from turbohtml import Element, Node, Text

from groundwire.reading.code import (
    code_blocks,
    code_language,
    code_text,
    is_code_panel,
    is_code_part,
    is_code_table,
    is_gutter,
)
from groundwire.reading.escaping import fence, inline_code
from groundwire.reading.footnotes import footnotes, is_back_reference, is_backlink, note_label
from groundwire.reading.formulas import formula, image_formula, is_written_out, script_formula
from groundwire.reading.links import Links
from groundwire.reading.tables import Grid, is_layout
from groundwire.reading.tasks import task_state
from groundwire.reading.writer import Writer

__all__ = ["to_markdown"]

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
_PERMALINK: Final = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|heading-anchor|heading-link|anchor(?:js)?-?link|anchor|permalink|hash-link|direct-link)(?=\s|$)"
)
_PERMALINK_TEXT: Final = frozenset(
    {"", "#", "\u00b6", "\u00a7", "\u25c6", "\U0001f517", "\u200b", "Link", "link", "\ue157", "Anchor"}
)
_BULLETS: Final = frozenset("\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u00b7\u2013\u2014-*")
_INLINE_NOTE: Final = re.compile(r"(?:^|\s)(?:sidenote|marginnote|margin-note|ltx_note_outer)(?=\s|$)")
_MAX_NUMBER: Final = 999_999_999  # CommonMark takes nine digits
_SHORTCODE: Final = re.compile(r":[\w+-]{1,40}:")
_COPY: Final = frozenset({"copy", "copy code", "copied", "copied!", "copy to clipboard"})
_MAX_SEARCHES: Final = 20_000  # spans that are looked into for a formula
_MAX_TABLES: Final = 20  # tables in each other that are looked at

_Close = Callable[[], None]
_Open = Callable[[Element], "_Close | bool | None"]


def to_markdown(root: Element, base_url: str) -> str:
    """Return an element and what is in it as Markdown.

    Headings, lists, tables, code, links, quotes, definitions, footnotes and formulas keep their structure; images are
    left out. The text of the page is escaped where it would be taken for markup. Takes time linear in the size of the
    tree, however deep it is.

    Args:
        root: The element. What should not be seen or is not content is expected to be gone from it already.
        base_url: The address that its relative links are relative to (`Document.base_url`). Links that do not lead to
            an http or https address become their text.
    """
    renderer = _Renderer(root, base_url)
    try:
        return renderer.run()
    finally:
        renderer.forget()


class _Renderer:
    """Walks one tree.

    A handler opens an element and returns what closes it, None when nothing does, and False when what is in the
    element is not looked at.
    """

    def __init__(self, root: Element, base_url: str) -> None:
        self._root = root
        self._links = Links(base_url)
        self._notes = footnotes(root)
        self._writer = Writer()
        self._lists: list[int | None] = []
        self._steps: list[int] = []
        self._tasks: list[bool] = []
        self._item_filled = False
        self._grids: list[Grid | None] = []
        self._mark: Element | None = None
        self._in_note = 0
        self._in_code = False
        self._in_term = False
        self._terms: list[bool] = []
        self._searches = 0
        self._plain: set[str] = set()
        block = self._block
        self._handlers: dict[str, _Open] = dict.fromkeys(_BLOCKS, block)
        self._handlers |= dict.fromkeys(_SKIPPED, _skip)
        self._handlers |= dict.fromkeys(_HEADINGS, self._heading)
        self._handlers |= dict.fromkeys(("tbody", "tfoot", "thead"), self._group)
        self._handlers |= dict.fromkeys(("code", "tt", "samp", "kbd"), self._code)
        self._handlers |= dict.fromkeys(("strong", "b"), self._strong)
        self._handlers |= dict.fromkeys(("em", "i"), self._em)
        self._handlers |= dict.fromkeys(("del", "s", "strike"), self._del)
        self._handlers |= {
            "a": self._link, "blockquote": self._quote, "br": self._br, "button": self._button,
            "d-footnote": self._note_element, "dd": self._definition, "div": self._div, "dl": self._definitions,
            "dt": self._term, "hr": self._rule, "img": self._image, "input": self._input, "label": self._label,
            "li": self._item,
            "listing": self._pre, "math": self._math, "menu": self._list, "mjx-container": self._math, "ol": self._list,
            "plaintext": self._pre, "pre": self._pre, "q": self._quotation, "rt": self._ruby, "script": self._script,
            "span": self._span, "sub": self._sub, "summary": self._summary, "sup": self._sup, "table": self._table,
            "td": self._cell, "th": self._cell, "tr": self._row, "ul": self._list, "xmp": self._pre,
        }  # fmt: skip

    def run(self) -> str:
        text, line = self._writer.text, self._writer.line
        handlers = self._handlers
        top: Iterator[Node] = iter((self._root,))
        stack: list[tuple[Iterator[Node], _Close | None]] = [(top, None)]
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
                    handler = handlers.get(node.tag)
                    closing = handler(node) if handler is not None else self._unknown(node)
                    if closing is not False:
                        stack.append((iter(node), closing if callable(closing) else None))
                        break
            else:
                stack.pop()
                if close is not None:
                    close()
        return self._writer.result()

    def forget(self) -> None:
        """Let go of the handlers, which hold what they are methods of: else the tree stays until a collection."""
        self._handlers.clear()

    def _div(self, element: Element) -> _Close | bool:
        classes = element.attr("class")
        if classes and classes not in self._plain:
            if not is_code_part(classes):
                self._plain.add(classes)
            elif is_code_panel(element):
                return self._pre(element)
            elif is_gutter(element):
                return False
        return self._block(element)

    def _unknown(self, element: Element) -> _Close | None:
        """Open an element without a handler: one of a page's own, that no text stands beside, is no part of a word."""
        if "-" not in element.tag:
            return None
        around = element.parent
        if type(around) is Element and (around.tag in _BLOCKS or around.tag == "div" or "-" in around.tag):
            for beside in (element.previous_sibling, element.next_sibling):
                if type(beside) is Text and not beside.data.isspace():
                    return None
            self._writer.text(" ")
            return lambda: self._writer.text(" ")
        return None

    def _block(self, element: Element) -> _Close:
        writer = self._writer
        writer.flush()
        if self._notes and (label := self._notes.get(element.attr("id") or "")):
            return self._note(label, writer.flush)
        return writer.flush

    def _note(self, label: str, otherwise: _Close) -> _Close:
        """Open the definition of a footnote."""
        if not self._writer.open_container(f"[^{label}]: ", "    "):
            return otherwise
        self._in_note += 1

        def close() -> None:
            self._in_note -= 1
            self._writer.close_container()

        return close

    def _heading(self, element: Element) -> _Close:
        self._writer.open_heading(int(element.tag[1]))
        return self._writer.close_heading

    def _quote(self, _element: Element) -> _Close:
        return self._writer.close_container if self._writer.open_container("> ", "> ") else self._writer.flush

    def _rule(self, _element: Element) -> bool:
        self._writer.flush()
        if not self._writer.in_cell:
            self._writer.block("---")
        return False

    def _br(self, _element: Element) -> bool:
        self._writer.line_break()
        return False

    def _strong(self, _element: Element) -> _Close | None:
        return self._writer.close_mark if self._writer.open_mark("strong") else None

    def _em(self, _element: Element) -> _Close | None:
        return self._writer.close_mark if self._writer.open_mark("em") else None

    def _del(self, _element: Element) -> _Close | None:
        return self._writer.close_mark if self._writer.open_mark("del") else None

    def _sup(self, element: Element) -> _Close | bool | None:
        if (element.attr("class") or "") == "ltx_note_mark":
            return False  # the note itself follows
        self._searches += 1
        link = element.find("a") if self._searches <= _MAX_SEARCHES else None
        if link is not None:
            text = link.text.strip()
            if text.isdigit() and link.attr("href") and unquote((link.attr("href") or "")[1:]) not in self._notes:
                self._writer.raw(f"[{text}]")  # a reference to a note that is elsewhere
                return False
            return None
        return self._writer.close_mark if self._writer.open_mark("sup") else None

    def _sub(self, _element: Element) -> _Close | None:
        return self._writer.close_mark if self._writer.open_mark("sub") else None

    def _quotation(self, _element: Element) -> _Close:
        self._writer.text('"')
        return lambda: self._writer.text('"')

    def _ruby(self, _element: Element) -> _Close:
        self._writer.text("(")
        return lambda: self._writer.text(")")

    def _button(self, element: Element) -> _Close | bool:
        if element.text.strip().lower() in _COPY:
            return False
        self._writer.text(" ")
        return lambda: self._writer.text(" ")

    def _label(self, element: Element) -> None:
        """Open a label; a row of them, such as the tabs above some code, is no single word."""
        before = element.previous_sibling
        if type(before) is Element and before.tag in {"label", "button"}:
            self._writer.text(" ")

    def _summary(self, element: Element) -> _Close:
        writer = self._writer
        writer.flush()
        marked = next(element.iter_elements(_HEADINGS), None) is None and writer.open_mark("strong")

        def close() -> None:
            if marked:
                writer.close_mark()
            writer.flush()

        return close

    def _link(self, element: Element) -> _Close | bool | None:
        reference = element.attr("href")
        if not reference:
            return False if self._is_permalink(element, "") else None
        if reference[0] == "#":
            if self._is_permalink(element, reference):
                return False
            label = self._notes.get(unquote(reference[1:])) if self._notes else None
            if label and note_label(element.text) == label:
                self._writer.raw(f"[^{label}]")
                return False
            if is_back_reference(element.text[:20]) or (self._in_note and is_backlink(element)):
                return False
            text = element.text.strip()
            if text.isdigit() and len(text) < 4 and element.find("sup") is not None:
                self._writer.raw(f"[{text}]")  # a reference to a note that is elsewhere
                return False
            return None
        if self._is_permalink(element, reference):
            return False
        address = self._links.resolve(reference)
        return self._writer.close_mark if address and self._writer.open_mark("link", address) else None

    def _is_permalink(self, element: Element, reference: str) -> bool:
        """Whether a link only lets its reader copy the address of a heading."""
        classes = element.attr("class")
        if classes and ("link" in classes or "anchor" in classes) and _PERMALINK.search(classes):
            return element.text.strip() in _PERMALINK_TEXT
        if not reference or "#" not in reference:
            return False
        if self._writer.in_heading:
            return element.text.strip() in _PERMALINK_TEXT
        return reference[0] == "#" and element.text == "\u00b6"  # RFCs have one behind every paragraph

    def _code(self, element: Element) -> _Close | bool | None:
        if self._in_code:
            return None
        if any(child.attr("href") for child in element.iter_elements("a")):
            self._in_code = True  # its links say more than its face
            return self._leave_code
        laid_out = next(element.iter_elements(("br", "div", "ul", "ol")), None) is not None
        if laid_out and not self._writer.in_cell and not self._writer.in_heading:
            return self._pre(element)
        if image := element.find("img"):
            return None if image_formula(image) else self._ticks(element)
        return self._ticks(element)

    def _leave_code(self) -> None:
        self._in_code = False

    def _ticks(self, element: Element) -> bool:
        data = element.text.replace("\xad", "")
        code = inline_code(data)
        if not code:
            self._writer.text(" ")
            return False
        if data[0].isspace():
            self._writer.text(" ")
        if self._writer.last_char() == "`":
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
            writer.raw(" ".join(filter(None, map(inline_code, code.split("\n")))))  # a command a line
            writer.flush()
        else:
            writer.block(fence(code, code_language(element)))
        return False

    def _list(self, element: Element) -> _Close:
        writer = self._writer
        writer.flush()
        start: int | None = None
        step = 1
        if element.tag == "ol":
            step = -1 if element.attr("reversed") is not None else 1
            start = _number(element.attr("start"), 1 if step > 0 else sum(1 for _ in element.select(":scope > li")))
        nested = self._lists and isinstance(element.parent, Element) and element.parent.tag in {"ul", "ol", "menu"}
        indented = bool(nested) and writer.open_container("  ", "  ", tight=True)
        self._lists.append(start)
        self._steps.append(step)
        self._tasks.append("inline-task-list" in (element.attr("class") or ""))
        if len(self._lists) > 1 and (start is None or start == 1):
            writer.next_tight()

        def close() -> None:
            self._lists.pop()
            self._steps.pop()
            self._tasks.pop()
            if indented:
                writer.close_container()
            else:
                writer.flush()

        return close

    def _item(self, element: Element) -> _Close:
        writer = self._writer
        writer.flush()
        if self._notes and (label := self._notes.get(element.attr("id") or "")):
            return self._note(label, writer.flush)
        marker = "- "
        if self._lists:
            number = self._lists[-1]
            if number is not None:
                number = _number(element.attr("value"), number)
                marker = f"{number}. "
                self._lists[-1] = max(0, min(number + self._steps[-1], _MAX_NUMBER))
        if writer.in_cell:
            writer.bullet = "\u2022 " if marker == "- " else ""
            return writer.flush
        opened = writer.open_container(marker, " " * len(marker), tight=_follows_item(element))
        if self._tasks and self._tasks[-1]:
            writer.raw(f"{task_state(element)} ")
        self._mark = _written_mark(element, marker)
        return writer.close_container if opened else writer.flush

    def _definitions(self, element: Element) -> _Close:
        """Open a list of definitions; without terms, as wikis indent with it, it is none."""
        self._block(element)
        self._searches += 1
        self._terms.append(self._searches <= _MAX_SEARCHES and element.find("dt") is not None)

        def close() -> None:
            self._terms.pop()
            self._writer.flush()

        return close

    def _term(self, element: Element) -> _Close:
        writer = self._writer
        self._block(element)
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

    def _definition(self, element: Element) -> _Close:
        writer = self._writer
        writer.flush()
        if self._notes and (label := self._notes.get(element.attr("id") or "")):
            return self._note(label, writer.flush)
        if writer.in_cell or not (self._terms and self._terms[-1]) or not _is_line(element):
            return writer.flush
        writer.lead = ": "

        def close() -> None:
            writer.flush()
            writer.lead = ""

        return close

    def _input(self, element: Element) -> bool:
        if (element.attr("type") or "").lower() == "checkbox" and self._lists and not self._writer.last_char().strip():
            self._writer.raw("[x] " if element.attr("checked") is not None else "[ ] ")
        return False

    def _image(self, element: Element) -> bool:
        if tex := image_formula(element):
            self._formula(tex, block=False)
        else:
            alt = (element.attr("alt") or "").strip()
            if _SHORTCODE.fullmatch(alt) and "emoji" in (element.attr("class") or ""):
                self._writer.text(alt)
            if alt and len(alt) <= 16 and not alt.isascii() and not any(char.isalpha() for char in alt):
                self._writer.text(alt)  # an emoji that is drawn as an image
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
        if (found := script_formula(element)) and found[0]:
            self._formula(found[0], block=found[1])
        return False

    def _span(self, element: Element) -> _Close | bool | None:
        classes = element.attr("class")
        if not classes:
            return None
        if self._mark is not None and element == self._mark:
            return False
        if "ltx_tag_note" in classes:
            return False
        if "note" in classes and _INLINE_NOTE.search(classes):
            return self._inline_note()
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
        elif "checkbox-o" in classes or "chcklst-box" in classes:
            self._writer.raw(f"{task_state(element)} ")
        elif self._in_note and re.search(
            r"(?:^|\s)(?:label|fn-bracket|fn-backref|mw-cite-backlink|backrefs)(?=\s|$)", classes
        ):
            return False
        return None

    def _inline_note(self) -> _Close:
        """Open a note that stands in the text that it belongs to."""
        writer = self._writer
        writer.text(" ")
        writer.raw("(")
        return lambda: writer.raw(")")

    def _note_element(self, _element: Element) -> _Close:
        return self._inline_note()

    def _table(self, element: Element) -> _Close | bool:
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

    def _code_table(self, table: Element) -> None:
        blocks = code_blocks(table)
        for head in table.iter_elements(("caption", "th")):
            if name := head.text.strip():
                self._writer.text(name)  # the name of the file
                self._writer.flush()
        code = code_text(blocks[-1] if blocks else table)
        if code.strip():
            self._writer.block(fence(code, code_language(blocks[-1] if blocks else table)))

    def _group(self, element: Element) -> _Close:
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None and not self._writer.in_cell:
            grid.start_group(element.tag)
        return self._writer.flush

    def _row(self, _element: Element) -> _Close:
        self._writer.flush()
        if self._grids and (grid := self._grids[-1]) is not None:
            grid.start_row()
        return self._writer.flush

    def _cell(self, element: Element) -> _Close:
        writer = self._writer
        grid = self._grids[-1] if self._grids else None
        if grid is None or writer.in_cell:
            writer.flush()
            return writer.flush
        grid.start_cell(element)
        writer.open_cell()
        return lambda: grid.end_cell(writer.close_cell())


def _skip(_element: Element) -> bool:
    return False


def _written_mark(item: Element, marker: str) -> Element | None:
    """Return the element at the beginning of a list item that only holds the mark that the list shows already."""
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
    """Whether the element before this one is an item of the same list."""
    for node in element.previous_siblings:
        if type(node) is Element:
            return node.tag in {"li", "ul", "ol"}
    return False


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
