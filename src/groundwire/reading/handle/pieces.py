"""A long page in pieces: each ends where a reader would pause, and stands by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groundwire.errors import InvalidRequest
from groundwire.reading.handle.document import Document
from groundwire.reading.handle.room import Room
from groundwire.reading.truncate import LINE, codes_in, is_rule, truncate, whole_blocks, whole_character

__all__ = ["Piece", "cut_piece", "wrapped"]

_BLANK: Final = re.compile(r"\s*")
_ROW: Final = re.compile(r"[ \t>]*\|")
_MANY_ROWS: Final = 20_000  # rows of a table between a place in it and its head
_LEAST: Final = 40  # characters that are worth adding to a piece
_ONLY_HEADINGS: Final = re.compile(r"(?:\s*#{1,6}[ \t][^\n]*(?:\n|$))+\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page's Markdown."""

    start: int
    """Where it begins, in code points of the page."""
    end: int
    """Where it ends."""
    before: str
    """What is put before it, so that it means the same alone: the first line of a code block, the head of a table."""
    text: str
    """What stands from `start` to `end`."""
    after: str
    """What is put after it: the last line of a code block."""

    @property
    def content(self) -> str:
        """The piece as Markdown that stands by itself."""
        return self.before + self.text + self.after


def wrapped(document: Document, start: int, end: int) -> Piece:
    """Return a part of a page with what it needs around it.

    Args:
        document: The page.
        start: Where the part begins.
        end: Where it ends.
    """
    text = document.text[start:end]
    code = document.code_at(end)
    after = "" if code is None or end <= code.opened else code.closing
    if after and text.endswith("\n"):
        after = after[1:]
    return Piece(start, end, _opening(document, start), text, after)


def cut_piece(document: Document, start: int, room: Room, stop: int | None = None) -> Piece:
    """Return the piece of a page that begins at `start` and fits.

    It ends between blocks. A block that is too long itself ends after a sentence, a line or a word; a code block or a
    table that goes on is closed, and opened again in the next piece. Pieces that begin where the one before ended
    are the whole page together.

    Args:
        document: The page.
        start: Where to begin.
        room: What the piece may fill, what is put around it included.
        stop: Where it ends at the latest; by default the end of the page.

    Raises:
        InvalidRequest: there is no room for a single word.
    """
    stop = len(document.text) if stop is None else stop
    whole = wrapped(document, start, stop) if stop - start <= room.characters else None
    if whole is not None and room.holds(whole.content):
        return whole
    before = _opening(document, start)
    if before and not room.limited(room.characters // 3, room.tokens and room.tokens // 3).holds(before):
        before = ""
    left = room.less(before)
    size = min(left.reach(document.text, start), stop) - start
    while size > 0:
        piece = _piece(document, start, stop, before, size)
        if room.holds(piece.content):
            return piece
        before = before if size > _LEAST else ""
        size -= 1 + size // 12
    raise InvalidRequest(
        "max_length" if room.tokens is None else "max_tokens", "is too little for a single word", "Pass more."
    )


def _piece(document: Document, start: int, stop: int, before: str, size: int) -> Piece:
    """Return a piece of at most `size` characters, what closes it included."""
    end, after = _cut(document.text, before, start, stop, size)
    filled = end - start
    if not after and filled < size // 2 and size - filled > _LEAST:
        end, after = _filled(document.text, start, stop, size, end)
    if not after:
        blank = _BLANK.match(document.text, end, stop)
        further = blank.end() if blank else end
        end = further if further - start <= size else end
    elif document.text.startswith(after, end):
        end, after = end + len(after), ""  # what would be added is what comes next anyway
    return Piece(start, end, before, document.text[start:end], after)


def _cut(text: str, before: str, start: int, stop: int, size: int) -> tuple[int, str]:
    """Return where a piece ends that is not longer than `size`, and what closes it; it is never empty."""
    window = before + text[start : min(stop, start + size + LINE)]
    if start + size >= stop:
        return stop, ""
    cut = truncate(window, len(before) + size)
    after = ""
    if not window.startswith(cut):
        kept, line_end, closing = cut.rpartition("\n")
        cut, after = kept, line_end + closing
    if len(cut) > len(before) and cut[len(before) :].strip():
        return start + len(cut) - len(before), after
    blank = _BLANK.match(text, start, stop)
    begin = blank.end() if blank else start
    if begin >= start + size:
        return start + size, ""
    return max(whole_character(text, start + size), start + 1), ""


def _filled(text: str, start: int, stop: int, size: int, end: int) -> tuple[int, str]:
    """Return where a piece ends that takes the beginning of a block which no piece could take as a whole."""
    blank = _BLANK.match(text, end, stop)
    begin = blank.end() if blank else end
    left = size - (begin - start)
    window = text[begin : min(stop, begin + size + LINE)]
    if left <= _LEAST or len(window) <= size or whole_blocks(window, size, codes_in(window)):
        return end, ""
    further, after = _cut(text, "", begin, stop, left)
    if _ONLY_HEADINGS.fullmatch(text, begin, further):
        return end, ""
    return further, after


def _opening(document: Document, start: int) -> str:
    """Return what has to stand before `start`, so that what follows means the same alone."""
    text = document.text
    code = document.code_at(start)
    if code is not None:
        if start < code.opened or text.startswith(code.closing[1:], start):
            return ""
        mark = code.closing[1:]
        information = text[code.start : code.opened].partition(mark.strip(" >"))[2]
        ends_line = text[start] == "\n" and text[start - 1] != "\n"
        return f"{mark}{information}" + ("" if ends_line else "\n")
    if start == 0 or text[start - 1] != "\n" or not _ROW.match(text, start):
        return ""
    rows: list[int] = [start]
    while rows[-1] and len(rows) < _MANY_ROWS:
        above = text.rfind("\n", 0, rows[-1] - 1) + 1
        if not _ROW.match(text, above):
            break
        rows.append(above)
    if len(rows) < 3:
        return ""
    head, body = rows[-1], rows[-3]
    rule = text[rows[-2] : body].rstrip("\n")
    return text[head:body] if is_rule(rule.lstrip(" \t>")) else ""
