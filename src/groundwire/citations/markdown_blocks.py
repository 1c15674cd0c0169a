"""Conversion of an answer's Markdown to a channel's markup, block by block: bold, lists, tables, code and links.

The answer is split into blocks as it arrives, so that a channel gets the same output while the answer is being written
as at the end. Blocks are parsed with markdown-it, a maintained CommonMark parser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from groundwire.citations.dialects import Channel
from groundwire.citations.link_filter import LinkFilter
from groundwire.citations.marker_parser import FORMULA, Mark, placed_pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PLACEHOLDER: Final = re.compile("\ue000(\\d{1,6})\ue001")
_PLACEHOLDER_SIGNS: Final = str.maketrans({"\ue000": "\ufffd", "\ue001": "\ufffd"})
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_MAX_BLOCK_CHARS: Final = 100_000  # characters of a block; a longer one is split at a line break


class BlockSplitter:
    """Splits Markdown that arrives in chunks into blocks, at blank lines outside of code and lists."""

    def __init__(self) -> None:
        self._line = ""
        self._lines: list[str] = []
        self._size = 0
        self._fence = ""
        self._blank = False

    @property
    def pending(self) -> str:
        """The beginning of the block that is not complete yet."""
        return "".join(self._lines) + self._line

    def feed(self, chunk: str) -> Iterator[str]:
        """Take the next chunk and yield the complete blocks."""
        *lines, tail = (self._line + chunk).split("\n")
        self._line = tail
        for line in lines:
            yield from self._take(f"{line}\n")
        begins = self._blank and not self._fence and tail[:1].strip()
        if begins and self._lines and not _ITEM.match(self._lines[0]):  # no need to wait for the whole line
            yield "".join(self._lines)
            self._lines, self._size, self._blank = [], 0, False

    def close(self) -> Iterator[str]:
        """End the text and yield the rest."""
        if self._line:
            yield from self._take(self._line)
            self._line = ""
        if self._lines:
            yield "".join(self._lines)
            self._lines = []

    def _take(self, line: str) -> Iterator[str]:
        begins = self._blank and not self._fence and bool(line.strip()) and not line.startswith((" ", "\t"))
        goes_on = _ITEM.match(line) and self._lines and _ITEM.match(self._lines[0])
        if (begins and not goes_on) or self._size > _MAX_BLOCK_CHARS:
            yield "".join(self._lines)
            self._lines, self._size = [], 0
        self._lines.append(line)
        self._size += len(line)
        self._blank = not line.strip()
        fence = _FENCE.match(line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # loaded on first use

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render_block(text: str, channel: Channel, mark: Callable[[Mark], str], links: LinkFilter) -> str:
    """Convert one block of Markdown to the markup of a channel.

    Args:
        text: The block.
        channel: The channel.
        mark: Writes a citation marker.
        links: Which images, links and URLs are kept; the others are reduced to their text.
    """
    writer = _Writer(channel, links)
    text = text.translate(_PLACEHOLDER_SIGNS)
    formulas = [match.span() for match in FORMULA.finditer(text)]
    out: list[str] = []
    for at, written, marker in placed_pieces(text):
        if marker and not any(start <= at and at + len(written) <= end for start, end in formulas):
            written = writer.hold(written, mark(marker))
        out.append(written)
    source = FORMULA.sub(lambda match: writer.hold_formula(match[0]), "".join(out))
    return writer.blocks(_parser().parse(source)) or writer.text(source.strip())  # definitions for other blocks


class _Writer:
    """Writes the parsed tokens of a block."""

    def __init__(self, channel: Channel, links: LinkFilter) -> None:
        self._channel = channel
        self._links = links
        self._replacements: list[tuple[str, str]] = []  # original and converted text
        self._bold = False  # whether everything is already bold, as in a heading

    def hold(self, raw: str, written: str) -> str:
        """Replace text that the parser must not see with a placeholder, and return the placeholder."""
        self._replacements.append((raw, written))
        return f"\ue000{len(self._replacements) - 1}\ue001"

    def hold_formula(self, text: str) -> str:
        """Replace a formula with a placeholder."""
        raw = self._raw(text)
        return self.hold(raw, self._plain(raw, goes_on=True))

    def _raw(self, text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: self._replacements[int(match[1])][0], text)

    def text(self, text: str, *, goes_on: bool = False) -> str:
        """Write plain text and restore its placeholders.

        Args:
            text: The text.
            goes_on: Whether the text shown after it could extend a URL at its end.
        """
        parts = _PLACEHOLDER.split(text)
        last = len(parts) - 1
        return "".join(
            self._replacements[int(part)][1] if at % 2 else self._plain(part, goes_on=goes_on or at < last)
            for at, part in enumerate(parts)
        )

    def _plain(self, text: str, *, goes_on: bool = False) -> str:
        return self._channel.text(self._links.in_text(text, goes_on=goes_on))

    def blocks(self, tokens: Sequence[Token]) -> str:
        """Write consecutive blocks."""
        written = []
        at = 0
        while at < len(tokens):
            end = _closing(tokens, at)
            written.append(self._block(tokens[at], tokens[at + 1 : end]))
            at = end + 1
        return ("\n" if self._channel.html else "\n\n").join(filter(None, written))

    def _block(self, token: Token, inner: Sequence[Token]) -> str:
        channel = self._channel
        match token.type:
            case "paragraph_open":
                body = self._inline(inner)
                return f"<p>{body}</p>" if channel.html and not token.hidden else body
            case "heading_open":
                self._bold = not channel.html
                body = self._inline(inner)
                self._bold = False
                if channel.html:
                    return f"<{token.tag}>{body}</{token.tag}>"
                return channel.strong[0] + body + channel.strong[1] if body else ""
            case "fence" | "code_block":
                return channel.block(self._raw(token.content), token.info.split()[0] if token.info.split() else "")
            case "blockquote_open":
                return channel.quote(self.blocks(inner))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, inner)
            case "table_open":
                return self._table(inner)
            case "hr":
                return "<hr>" if channel.html else channel.text("———")
            case "inline":
                return self._inline([token])
            case _:
                return self.text(token.content)

    def _list(self, token: Token, inner: Sequence[Token]) -> str:
        channel, items = self._channel, list[str]()
        number = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
        at = 0
        while at < len(inner):
            end = _closing(inner, at)
            body = self.blocks(inner[at + 1 : end])
            if channel.html:
                items.append(f"<li>{body}</li>")
            else:
                sign = channel.text("• " if number is None else f"{number}. ")
                lines = re.sub(r"\n{2,}", "\n", body).split("\n")
                items.append(sign + "\n".join([lines[0], *(f"  {line}" for line in lines[1:])]))
                number = None if number is None else number + 1
            at = end + 1
        if channel.html:
            start = f' start="{number}"' if number is not None and number != 1 else ""
            return f"<{token.tag}{start}>{''.join(items)}</{token.tag}>"
        return "\n".join(items)

    def _table(self, inner: Sequence[Token]) -> str:
        rows: list[list[tuple[str, str, str]]] = []
        for at, token in enumerate(inner):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                cell = inner[at + 1 : at + 2]
                rows[-1].append((token.tag, self._inline(cell), self._raw(_visible_text(cell))))
        if self._channel.html:
            lines = ("".join(f"<{tag}>{body}</{tag}>" for tag, body, _ in row) for row in rows)
            return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        marks = any(body != self._channel.text(visible) for row in rows for _, body, visible in row)
        if marks:  # a code block cannot contain links or bold text
            return "\n".join(self._channel.text(" | ").join(body for _, body, _ in row) for row in rows)
        widths = [
            max(_width(row[at][2]) for row in rows if at < len(row)) for at in range(max(map(len, rows), default=0))
        ]
        lines_ = [
            "  ".join(cell[2] + " " * (widths[at] - _width(cell[2])) for at, cell in enumerate(row)) for row in rows
        ]
        return self._channel.block("\n".join(line.rstrip() for line in lines_) + "\n", "")

    def _inline(self, tokens: Sequence[Token]) -> str:
        out: list[str] = []
        links: list[tuple[str, int]] = []
        channel = self._channel
        pairs = {"strong": channel.strong, "em": channel.emphasis, "s": channel.struck}
        children = [child for token_with_children in tokens for child in token_with_children.children or ()]
        for at, token in enumerate(children):
            name, _, side = token.type.rpartition("_")
            if name == "strong" and self._bold:
                continue
            if name in pairs:
                out.append(pairs[name][side == "close"])
            elif token.type == "link_open":
                links.append((self._raw(str(token.attrs.get("href", ""))), len(out)))
            elif token.type == "link_close" and links:
                url, begin = links.pop()
                label = "".join(out[begin:])
                out[begin:] = [channel.link(label, url) if self._links.keeps_link(url) else label]
            elif token.type == "code_inline":
                out.append(channel.code(self._raw(token.content)))
            elif token.type == "image":  # a person decides whether to load it
                url = self._raw(str(token.attrs.get("src", "")))
                label = self.text(token.content, goes_on=True) or self._plain(url, goes_on=True)
                is_kept = self._links.keeps_image(url) and self._links.keeps_link(url)
                out.append(channel.link(label, url) if is_kept else label)
            elif token.type in {"softbreak", "hardbreak"}:
                out.append("<br>\n" if channel.html and token.type == "hardbreak" else "\n")
            else:
                linked = any(self._links.keeps_link(url) for url, _ in links)  # a link cannot contain a link
                content = self._raw(token.content) if linked else token.content
                out.append(self.text(content, goes_on=self._goes_on(children[at + 1 : at + 2], links)))
        return "".join(out)

    def _goes_on(self, following: Sequence[Token], links: Sequence[tuple[str, int]]) -> bool:
        """Return whether the following text could extend a URL: neither a line break nor the end of a link."""
        if following and following[0].type == "link_close":
            return not links or not self._links.keeps_link(links[-1][0])
        return bool(following) and following[0].type not in {"softbreak", "hardbreak"}


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the token that closes a token; its own index if it is self-contained."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth <= 0:
            return place
    return len(tokens) - 1


def _visible_text(tokens: Sequence[Token]) -> str:
    return "".join(child.content for token in tokens for child in token.children or ())


def _width(text: str) -> int:
    """Return the display width of a text, in columns."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
