"""A whole page as Markdown, without choosing: what is left when there is no main content to find, or no time to.

One pass over the tokens, so it is linear in the size of the page and knows no depth. Headings, lists, tables, code
blocks and links stay; what is never on the screen (scripts, templates, form fields) goes.
"""

from __future__ import annotations

import re
from typing import Final

from groundwire.reading.markup import Token, attribute, tokens, unescape, web_address

__all__ = ["MAX_CONTENT", "whole_body"]

MAX_CONTENT: Final = 2_000_000  # characters; a short relative link may become a long absolute one

_HIDDEN: Final = frozenset(
    {
        "noscript",
        "template",
        "svg",
        "math",
        "object",
        "audio",
        "video",
        "canvas",
        "select",
        "datalist",
        "dialog",
    }
)
_AROUND: Final = frozenset({"nav", "footer"})
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div",
        "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "html", "legend", "main", "nav",
        "option", "p", "section", "summary",
    }
)  # fmt: skip
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_SPACE = re.compile(r"\s+")
_QUOTED = re.compile(r""""[^"]*+"|'[^']*+'""")
_TICKS = re.compile(r"`{3,}")
_MAX_INDENT: Final = 6  # levels of lists that are shown as such


class _Full(Exception):
    """The output has reached its limit."""


class _Writer:
    """Turns tokens into Markdown; one per page."""

    def __init__(self, url: str, skipped: frozenset[str]) -> None:
        self._url = url
        self._skipped = skipped
        self._skipping = ""
        self._skip_depth = 0
        self._blocks: list[str] = []
        self._length = 0
        self._line: list[str] = []
        self._prefix = ""
        self._lists: list[int] = []
        self._item = ""
        self._link: tuple[str, int] | None = None
        self._pre: list[str] | None = None
        self._rows: list[int] = []
        self._cells: list[str] | None = None
        self.title = ""
        self.first_heading = ""

    def write(self, token: Token) -> None:
        if token.kind == "raw":
            if token.name == "title" and not self.title and not self._skipping:
                self.title = _SPACE.sub(" ", unescape(token.text)).strip()
        elif token.name == "base" and token.kind == "start":
            self._url = web_address(self._url, attribute(token.text, "href") or "") or self._url
        elif self._skipping:
            self._skip(token)
        elif token.kind == "text":
            self._text(token.text)
        elif token.kind == "start":
            if token.name in self._skipped or (token.name not in _VOID and _is_hidden(token.text)):
                self._skipping, self._skip_depth = token.name, 1
            else:
                self._start(token)
        else:
            self._end(token.name)

    def result(self) -> str:
        self._close_code()
        self._end("tr")
        self._flush()
        return self.so_far()

    def so_far(self) -> str:
        return "".join(self._blocks).strip("\n")

    def _skip(self, token: Token) -> None:
        if self._skipping == "p" and token.kind == "start" and (token.name in _BLOCKS or token.name in _HEADINGS):
            self._skipping = ""  # a paragraph ends where the next block begins
            self.write(token)
        elif token.name == self._skipping:
            self._skip_depth += {"start": 1, "end": -1}.get(token.kind, 0)
            if self._skip_depth == 0:
                self._skipping = ""

    def _text(self, raw: str) -> None:
        text = unescape(raw)
        if self._pre is not None:
            self._pre.append(text)
        elif text.strip():
            self._line.append(_SPACE.sub(" ", text))
        elif self._line:
            self._line.append(" ")

    def _start(self, token: Token) -> None:
        name = token.name
        if self._pre is not None:
            if name == "br":
                self._pre.append("\n")
            return
        if name in _BLOCKS:
            self._flush()
        elif name in _HEADINGS:
            self._flush()
            self._prefix = _HEADINGS[name]
        elif name == "br":
            self._line.append("\n" if self._cells is None else " ")
        elif name == "a":
            self._end("a")
            if href := attribute(token.text, "href"):
                self._link = (href, len(self._line))
        elif name in {"ul", "ol", "menu"}:
            self._flush()
            self._lists.append(1 if name == "ol" else 0)
        elif name == "li":
            self._flush()
            self._item = self._bullet()
        elif name == "pre":
            self._flush()
            self._pre = []
        elif name in {"table", "tr", "td", "th", "hr"}:
            self._start_table(name)

    def _start_table(self, name: str) -> None:
        if name == "table":
            if self._cells is not None:  # a table that holds tables is there for the layout
                self._flush()
                cells, self._cells = self._cells, None
                for cell in cells:
                    self._put(f"{cell}\n\n" if cell else "")
                self._rows[-1] = -1
            self._flush()
            self._rows.append(0)
        elif name == "tr":
            self._end("tr")
            if self._rows and self._rows[-1] >= 0:
                self._flush()
                self._cells = []
        elif name in {"td", "th"} and self._cells is not None:
            self._flush()
            self._cells.append("")
        else:
            self._flush()

    def _end(self, name: str) -> None:
        if name == "pre":
            self._close_code()
        elif self._pre is not None:
            return
        elif name in _BLOCKS or name == "li":
            self._flush()
        elif name in _HEADINGS:
            self._flush()
            self._prefix = ""
        elif name == "a" and self._link is not None:
            (href, since), self._link = self._link, None
            label = _SPACE.sub(" ", "".join(self._line[since:]))
            if label.strip() and (target := web_address(self._url, href)):
                self._line[since:] = [f"[{label.strip()}]({target})" + (" " if label.endswith(" ") else "")]
                if label.startswith(" "):
                    self._line.insert(since, " ")
        elif name in {"ul", "ol", "menu"}:
            self._flush()
            if self._lists:
                self._lists.pop()
            self._item = ""
        elif name in {"tr", "table"}:
            self._end_table(name)

    def _end_table(self, name: str) -> None:
        self._flush()
        if self._cells is not None:
            cells, self._cells = self._cells, None
            if any(cells) and self._rows[-1] == 0 and len(cells) == 1:
                self._put(f"{cells[0]}\n\n")
            elif any(cells):
                self._put("| " + " | ".join(cells) + " |\n")
                if self._rows[-1] == 0:
                    self._put("|" + " --- |" * len(cells) + "\n")
                self._rows[-1] += 1
        if name == "table" and self._rows and self._rows.pop() > 0:
            self._put("\n")

    def _bullet(self) -> str:
        indent = "  " * (min(len(self._lists), _MAX_INDENT) - 1) if self._lists else ""
        if not self._lists or not self._lists[-1]:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _flush(self) -> None:
        self._link = None
        if not self._line:
            return
        text = "\n".join(filter(None, (line.strip() for line in "".join(self._line).split("\n"))))
        text = text.replace("  ", " ")
        self._line = []
        if not text:
            return
        if self._cells is not None:
            if self._cells:
                cell = text.replace("|", "\\|").replace("\n", " ")
                self._cells[-1] = (
                    f"{self._cells[-1]} {cell}".strip() if len(self._cells[-1]) < 100_000 else self._cells[-1]
                )
            return
        if self._prefix == "# " and not self.first_heading:
            self.first_heading = text
        if self._prefix:
            text = text.replace("\n", " ")
        if self._item:
            self._put(f"{self._item}{text}\n")
            self._item = ""
        elif self._lists:
            self._put(f"{'  ' * min(len(self._lists), _MAX_INDENT)}{text}\n")
        else:
            gap = "" if not self._blocks or self._blocks[-1].endswith("\n\n") else "\n"
            self._put(f"{gap}{self._prefix}{text}\n\n")

    def _close_code(self) -> None:
        if self._pre is None:
            return
        code, self._pre = "".join(self._pre).strip("\n"), None
        if not code.strip():
            return
        if self._cells is not None:
            self._line.append(_SPACE.sub(" ", code))
            return
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
        gap = "" if not self._blocks or self._blocks[-1].endswith("\n\n") else "\n"
        self._put(f"{gap}{fence}\n{code}\n{fence}\n\n")

    def _put(self, text: str) -> None:
        room = MAX_CONTENT - self._length
        self._blocks.append(text[:room])
        self._length += len(text)
        if len(text) > room:
            raise _Full


def _is_hidden(attributes: str) -> bool:
    if "hidden" not in attributes:
        return False
    return re.search(r"(?:^|\s)hidden(?=[\s=/]|$)", _QUOTED.sub("", attributes), re.IGNORECASE) is not None


def whole_body(markup: str, url: str) -> tuple[str, str, bool]:
    """Return a page's text as Markdown, its title, and whether the text was cut at 2,000,000 characters.

    The navigation and the footer are left out unless there is hardly anything else.

    Args:
        markup: The page's HTML; any text is taken.
        url: The page's address, for its relative links.
    """
    best = ("", "", False)
    for skipped in (_HIDDEN | _AROUND, _HIDDEN):
        writer, full = _Writer(url, skipped), False
        try:
            for token in tokens(markup):
                writer.write(token)
            text = writer.result()
        except _Full:
            text, full = writer.so_far(), True
        if len(text) > 2 * len(best[0]):
            best = (text, writer.title or writer.first_heading, full)
        if len(best[0]) >= 250:
            break
    return best
