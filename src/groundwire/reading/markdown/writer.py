"""Block-by-block Markdown output: the prefixes of open containers precede each line of a block.

Every list and quotation costs a prefix, every emphasis or link a mark; both are limited, so that the time is linear in
the text however deeply a page is nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from turbohtml import Node

from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.text.sanitize import strip_invisible

BREAK: Final = "\x0b"  # an explicit line break; other line breaks are spaces
_MAX_CONTAINERS: Final = 12  # nested lists and quotations that are still shown as such
_MAX_MARKS: Final = 12
_SPACES: Final = re.compile("  +")
_EAST_ASIAN: Final = "\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003fffd"
_EAST_ASIAN_BREAK: Final = re.compile(
    f"[ \\t\\n](?<=[{_EAST_ASIAN}][ \\t\\n])(?:(?<=\\n)|[ \\t]*\\n)[ \\t\\n]*(?=[{_EAST_ASIAN}])"
)
"""A line break between Chinese or Japanese characters, which are written without spaces
(https://www.w3.org/TR/css-text-3/#line-break-transform). Begins with white space and looks back only afterwards, which
passes other text several times as fast."""
_BREAKS: Final = re.compile(r"(?<! ) *\x0b[ \x0b]*")
_EMPTY_LINE: Final = re.compile(r"\x0b\s*\x0b")
_CLOSING_HASHES: Final = re.compile(r"(?:^|(?<=\s))#(?=#*$)")
_BLANKS: Final = " \t\n\r\f" + BREAK
_EDGES: Final = " \u00a0\u3000" + BREAK  # characters that pages use to indent paragraphs
_OPENING: Final = frozenset("([{#@\u00ab\u201c\u20ac$\u00a3+\u2212")
_CLOSING: Final = frozenset(".:;!?%)]}*`\u00bb\u201d")
"""What a word in a box may begin with after a letter, and end with before one."""
_DELIMITERS: Final[Mapping[str, str]] = {"strong": "**", "em": "*", "del": "~~"}


@dataclass(slots=True)
class _Container:
    first: str
    """The prefix of its first line."""
    others: str
    """The prefix of its other lines."""
    used: bool = False


@dataclass(slots=True)
class _Mark:
    kind: str
    start: int
    address: str = ""


class MarkdownWriter:
    """Takes text, marks and blocks in document order; `result` is the Markdown."""

    def __init__(self) -> None:
        self.line: list[str] = []
        """The pieces of the open line; always the same list, so that callers may append white space directly."""
        self._out: list[str] = []
        self._marks: list[_Mark] = []
        self._fragile: str | None = None
        self._fragile_at = 0
        self._closed: list[tuple[int, str]] = []
        self._containers: list[_Container] = []
        self._cell: list[str] | None = None
        self._tight = False
        self._heading = ""
        self.bullet: str = ""
        """The prefix of the next text of a cell."""
        self.lead: str = ""
        """The prefix of the next block, if it is a paragraph."""
        self.apart: bool = False
        """Whether the next text is in a box of its own, so that it is no part of the word before it."""

    @property
    def in_cell(self) -> bool:
        """Whether the text goes into a table cell, which has no blocks."""
        return self._cell is not None

    @property
    def in_heading(self) -> bool:
        """Whether a heading is open."""
        return bool(self._heading)

    def text(self, data: str) -> None:
        """Add the text of a node."""
        line = self.line
        if not data or data.isspace():
            if data and line:
                line.append(" ")
            return
        if self.apart:
            self.apart = False
            last = line[-1][-1:] if line else ""
            if ((last.isalnum() or last == "~") and (data[0].isalnum() or data[0] in _OPENING)) or (
                last in _CLOSING and (data[0].isalpha() or (last == "*" and data[0].isdigit()))
            ):
                self.raw(" ")
        if line:
            if data[0] in "([:" and line[-1][-1:] == "]":
                data = data[0] + escape_text(data[1:], in_label=self._in_link())
                line.append("\\" + data)
                return
            if self._fragile is not None:
                if data[0].isalnum() and self._fragile_at == len(line):
                    line[-1] = self._fragile  # a closing mark between a full stop and a letter has no effect
                    self._closed.clear()
                self._fragile = None
            if data[0] == "~" and data[1:2] != "~" and line[-1][-1:] == "~":
                line.append("\\")
        line.append(escape_text(data, in_label=bool(self._marks) and self._in_link()))

    def each_apart(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield nodes, the text of each of which is apart."""
        for node in nodes:
            self.apart = True
            yield node

    def raw(self, markdown: str) -> None:
        """Add inline Markdown."""
        self._fragile = None
        if markdown:
            self.line.append(markdown)

    def last_char(self) -> str:
        """Return the last character of the open line, or ""."""
        return self.line[-1][-1:] if self.line else ""

    def line_break(self) -> None:
        """Break the line here."""
        self._fragile = None
        self.line.append(BREAK)

    def _in_link(self) -> bool:
        return bool([mark for mark in self._marks if mark.address])

    def open_mark(self, kind: str, address: str = "") -> bool:
        """Start an emphasis or a link; False if it is already open or has no effect here."""
        if len(self._marks) >= _MAX_MARKS or (kind in {"strong", "em"} and self._heading):
            return False
        if self._marks and kind in [mark.kind for mark in self._marks]:
            return False
        self._marks.append(_Mark(kind, len(self.line), address))
        return True

    def close_mark(self) -> None:
        """End the innermost emphasis or link."""
        self._apply(self._marks.pop())

    def _apply(self, mark: _Mark) -> bool:
        """Wrap the Markdown of a mark around the text since its start; False if there is none."""
        line = self.line
        content = "".join(line[mark.start :])
        inner = plain = content.strip(_BLANKS)
        if self._fragile is not None and self._fragile_at == len(line) > mark.start:
            plain = ("".join(line[mark.start : -1]) + self._fragile).strip(_BLANKS)
        self._fragile = None
        if not inner or (mark.kind == "link" and not inner.isascii() and _is_blank(inner)):
            return False
        if mark.kind == "link" and not mark.address:
            return True
        lead = content[0] if content[0] in " \n\t" + BREAK else ""
        trail = content[-1] if content[-1] in " \n\t" + BREAK else ""
        del line[mark.start :]
        if lead:
            line.append(lead)
        if mark.kind == "link":
            label = _single_spaced(inner.replace(BREAK, " "))
            if line and line[-1].endswith("!") and not line[-1].endswith("\\!"):
                line[-1] = line[-1][:-1] + "\\!"
            line.append(_link(label, mark.address))
        elif mark.kind in _DELIMITERS:
            self._delimit(inner, _DELIMITERS[mark.kind], plain)
        else:
            line.append(_script(mark.kind, inner, self.last_char()))
        if trail:
            self._fragile = None
            line.append(trail)
        return True

    def _delimit(self, inner: str, delimiter: str, plain: str) -> None:
        """Write an emphasis, or only its content where Markdown cannot express it.

        Args:
            inner: The content.
            delimiter: The delimiter on both sides.
            plain: The content without the mark at its end, for when a following letter would prevent it from closing.
        """
        line, size, sign = self.line, len(delimiter), delimiter[0]
        before = self.last_char()
        if BREAK in inner:
            parts = [part.strip() for part in inner.split(BREAK)]
            line.append(BREAK.join(f"{delimiter}{part}{delimiter}" if part else "" for part in parts))
            return
        if sign == "~" and before.isalnum() and not inner[0].isalnum():
            line.append(" ")  # between two prices
            before = " "
        while self._closed and self._closed[-1][0] > len(line):
            self._closed.pop()
        beside = self._closed[-1][1] if self._closed and self._closed[-1][0] == len(line) and before == sign else ""
        begins = bool(self._marks) and self._marks[-1].start == len(line)  # the preceding text is outside of that mark
        is_stuck = before.isalnum() and not inner[0].isalnum()  # an opening mark there has no effect
        if beside == delimiter and not begins:  # merge adjacent marks of the same kind
            piece = line.pop()
            if inner[0] == "`" == piece[-size - 1]:
                inner, plain = f" {inner}", f" {plain}"
            elif inner[0] == "(" and piece[-size - 1] == "]":  # would be a link
                inner, plain = f"\\{inner}", f"\\{plain}"
            inner, plain = piece[size:-size] + inner, piece[size:-size] + plain
        elif beside or is_stuck or (sign == "~" and "~" in {before, inner[0], inner[-1]}):
            line.append(inner)
            if plain != inner:
                self._fragile, self._fragile_at = plain, len(line)
            return
        line.append(f"{delimiter}{inner}{delimiter}")
        self._closed.append((len(line), delimiter))
        if not inner[-1].isalnum():
            self._fragile, self._fragile_at = plain, len(line)

    def open_heading(self, level: int) -> None:
        """Start a heading of level 1 to 6."""
        self.flush()
        self._heading = "#" * level + " "

    def close_heading(self) -> None:
        """End the heading."""
        self.flush()
        self._heading = ""

    def open_container(self, first: str, others: str, *, tight: bool = False) -> bool:
        """Start a list item or a quotation; False if it is nested too deeply.

        Args:
            first: The prefix of its first line.
            others: The prefix of the others.
            tight: Whether it needs no empty line before it.
        """
        self.flush()
        if self._cell is not None or len(self._containers) >= _MAX_CONTAINERS:
            return False
        self._containers.append(_Container(first, others))
        self._tight = self._tight or tight
        return True

    def close_container(self) -> None:
        """End the innermost list item or quotation."""
        self.flush()
        self._containers.pop()
        self._tight = False

    def next_tight(self) -> None:
        """Place the next block directly below the last one of its container, if there is one."""
        self._tight = self._tight or (self._cell is None and bool(self._containers) and self._containers[-1].used)

    def flush(self) -> None:
        """End the current block of text, if any."""
        if not self.line:
            return
        for mark in reversed(self._marks):
            if self._apply(mark):
                mark.address = ""
        for mark in self._marks:
            mark.start = 0
        self._fragile = None
        text = "".join(self.line)
        if "\n" in text and not text.isascii():
            text = _EAST_ASIAN_BREAK.sub("", text)
        text = _single_spaced(text).strip(_EDGES)
        self.line.clear()
        self._closed.clear()
        if not text:
            return
        if self._cell is not None:
            self._cell.append(self.bullet + _on_one_line(text))
            self.bullet = ""
        elif self._heading:
            text = _on_one_line(text)
            self.block(self._heading + (_CLOSING_HASHES.sub(r"\\#", text) if text[-1] == "#" else text))
        elif BREAK in text:
            self._lines(text)
        else:
            self.block(self._led(escape_line(text)))

    def _led(self, line: str) -> str:
        """Return a paragraph's first line with its prefix, and place it directly below the last block."""
        lead, self.lead = self.lead, ""
        self._tight = self._tight or bool(lead)
        return lead + line

    def _lines(self, text: str) -> None:
        """Write a text with line breaks; two consecutive ones end a paragraph."""
        for paragraph in _EMPTY_LINE.split(text):
            if lines := [self._led(escape_line(line)) for piece in paragraph.split(BREAK) if (line := piece.strip())]:
                self.block("\n".join(lines))

    def block(self, markdown: str) -> None:
        """Write a block of Markdown."""
        self.lead = ""
        containers = self._containers
        out = self._out
        if not containers:
            if out:
                out.append("\n" if self._tight else "\n\n")
            self._tight = False
            out.append(markdown)
            return
        if out:
            out.append("\n")
            if not self._tight:
                out.append("".join(box.others for box in containers if box.used).rstrip() + "\n")
        self._tight = False
        out.append("".join(box.others if box.used else box.first for box in containers))
        for box in containers:
            box.used = True
        if "\n" in markdown:
            prefix = "".join(box.others for box in containers)
            bare = prefix.rstrip()
            markdown = "\n".join(
                line if index == 0 else (prefix + line if line else bare)
                for index, line in enumerate(markdown.split("\n"))
            )
        out.append(markdown)

    def open_cell(self) -> None:
        """Redirect the following text to a cell."""
        self.flush()
        self._cell = []

    def separate(self, sign: str) -> None:
        """End a cell or a row of a table in the open cell."""
        self.flush()
        if self._cell:
            self._cell[-1] = self._cell[-1].rstrip(",;") + sign

    def close_cell(self) -> str:
        """End the cell and return its text on one line."""
        self.flush()
        cell, self._cell = self._cell or [], None
        return " ".join(cell).replace("|", "\\|")

    def result(self) -> str:
        """Return what has been written."""
        self.flush()
        return "".join(self._out)


def _single_spaced(text: str) -> str:
    """Return a text whose white space, but for breaks of lines that are marked, is single spaces."""
    for sign in "\n\t\f\r":
        text = text.replace(sign, " ")
    return _SPACES.sub(" ", text) if "  " in text else text


def _on_one_line(text: str) -> str:
    return _BREAKS.sub(" ", text) if BREAK in text else text


def _is_blank(label: str) -> bool:
    """Return whether a link has no visible label, so that its URL is hidden text."""
    return not strip_invisible(label)[0].replace("\u2800", "").strip()


def _link(label: str, address: str) -> str:
    if label == address and not re.search(r"[\\<>\s]", address):
        return f"<{address}>"
    return f"[{label}]({address})"


_SUM: Final = re.compile(r"(?=.{3,30}$)[\w.]+(?:\s*[+\u2212/-]\s*[\w.]+)+")
"""What a bare sign would not keep together as one exponent or index."""
_NOTES: Final = re.compile(r"\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4}){0,9}")
_WORD_SCRIPT: Final = re.compile(r"[\w+\u2212-]{1,12}")


def _script(kind: str, inner: str, before: str) -> str:
    """Return a superscript after ^ and a subscript after _, where they belong to a formula rather than to a word."""
    if inner.startswith(("[", "^")):
        return inner
    if kind == "sup" and before and before in ".,;:!?%\"')\u201d\u2019\u00bb" and _NOTES.fullmatch(inner):
        return f"^{inner}"
    if not (before.isalnum() or before in {")", "\u2212"}):
        return inner
    if _SUM.fullmatch(inner):
        return f"\\_({inner})" if kind == "sub" else f"^({inner})"
    if kind == "sub":
        if inner.isdigit() and before.isdigit():
            return f"_{inner}"  # of a base
        return inner if inner.isdigit() or not _WORD_SCRIPT.fullmatch(inner) else f"\\_{inner}"
    if _NOTES.fullmatch(inner):
        return f"^{inner}"
    if not _WORD_SCRIPT.fullmatch(inner):
        return inner
    if inner.isalpha() and len(inner) > 1:
        return inner
    return f"^{inner}"
