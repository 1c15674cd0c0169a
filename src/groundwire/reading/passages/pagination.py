"""Splitting a long page into pieces that are complete Markdown, at natural boundaries, and the cursors to them.

A cursor is a position with a number of the words there; people can also write a section, or a position alone.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from groundwire.errors import InvalidRequest
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.text.truncate import LINE, codes_in, truncate, whole_blocks, whole_character

MAX_FIND: Final = 500
"""The largest number of characters of a text to find."""

_BLANK: Final = re.compile(r"\s*")
_ROW: Final = re.compile(r"[ \t>]*\|")
_MIN_ADDITION: Final = 40  # characters that are worth adding to a piece
_ONLY_HEADINGS: Final = re.compile(r"(?:\s*#{1,6}[ \t][^\n]*(?:\n|$))+\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page's Markdown."""

    start: int
    """Its start, in code points of the page."""
    end: int
    """Its end."""
    before: str
    """Text to prepend so that it is complete: the first line of a code block, the header of a table."""
    text: str
    """The text from `start` to `end`."""
    after: str
    """Text to append: the last line of a code block."""

    @property
    def content(self) -> str:
        """The piece as complete Markdown."""
        return self.before + self.text + self.after


def wrapped(document: Outline, start: int, end: int) -> Piece:
    """Return a part of a page with the necessary context.

    Args:
        document: The page.
        start: The start of the part.
        end: Its end.
    """
    text = document.text[start:end]
    code = document.code_at(end)
    after = "" if code is None or end <= code.opened else code.closing
    if after and text.endswith("\n"):
        after = after[1:]
    return Piece(start, end, _opening(document, start), text, after)


def cut_piece(document: Outline, start: int, room: TextBudget, stop: int | None = None) -> Piece:
    """Return the piece of a page that begins at `start` and fits.

    It ends between blocks. A block that is too long ends after a sentence, a line or a word; a code block or a table
    that continues is closed, and reopened in the next piece. Consecutive pieces together are the whole page.

    Args:
        document: The page.
        start: The start position.
        room: The budget of the piece, including the added context.
        stop: The latest end; by default the end of the page.

    Raises:
        InvalidRequest: the budget is too small for a single word.
    """
    stop = len(document.text) if stop is None else stop
    full_piece = wrapped(document, start, stop) if stop - start <= room.characters else None
    if full_piece is not None and room.holds(full_piece.content):
        return full_piece
    before = _opening(document, start)
    if before and not room.limited(room.characters // 3, room.tokens and room.tokens // 3).holds(before):
        before = ""
    remaining = room.less(before)
    size = min(remaining.reach(document.text, start), stop) - start
    while size > 0:
        piece = _piece(document, start, stop, before, size)
        if room.holds(piece.content):
            return piece
        before = before if size > _MIN_ADDITION else ""
        size -= 1 + size // 12
    raise InvalidRequest(
        "max_length" if room.tokens is None else "max_tokens", "is too little for a single word", "Pass more."
    )


def _piece(document: Outline, start: int, stop: int, before: str, size: int) -> Piece:
    """Return a piece of at most `size` characters, including its closing text."""
    end, after = _cut(document.text, before, start, stop, size)
    filled = end - start
    if not after and filled < size // 2:
        end, after = _filled(document.text, start, stop, size, end)
    if not after:
        further = _after_blank(document.text, end, stop)
        end = further if further - start <= size else end
    return Piece(start, end, before, document.text[start:end], after)


def _cut(text: str, before: str, start: int, stop: int, size: int) -> tuple[int, str]:
    """Return the end of a non-empty piece of at most `size` characters, and its closing text."""
    window = before + text[start : min(stop, start + size + LINE)]
    cut = truncate(window, len(before) + size)
    after = ""
    if not window.startswith(cut):
        body, line_end, closing = cut.rpartition("\n")
        cut, after = body, line_end + closing
    if cut[len(before) :].strip():
        return start + len(cut) - len(before), after
    return max(whole_character(text, start + size), start + 1), ""


def _after_blank(text: str, start: int, stop: int) -> int:
    """Return the end of the white space at a position."""
    blank = _BLANK.match(text, start, stop)
    return blank.end() if blank else start


def _filled(text: str, start: int, stop: int, size: int, end: int) -> tuple[int, str]:
    """Return the end of a piece with the beginning of a block that is too long for any piece."""
    begin = _after_blank(text, end, stop)
    space = size - (begin - start)
    window = text[begin : min(stop, begin + size + LINE)]
    if space <= _MIN_ADDITION or len(window) <= size or whole_blocks(window, size, codes_in(window)):
        return end, ""
    further, after = _cut(text, "", begin, stop, space)
    if _ONLY_HEADINGS.fullmatch(text, begin, further):
        return end, ""
    return further, after


def _opening(document: Outline, start: int) -> str:
    """Return the text to prepend at `start`, so that the following text is complete."""
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
    return document.table_head(start)


_SIGN_CHARACTERS: Final = 24  # characters after a position that identify it
_CHECK_NUMBERS: Final = 1_000_000
_CHANGED: Final = "the page has changed since the cursor was given"
_FORMS: Final = "Pass a next_cursor unchanged, #2 for the second section, @5120 for a position, or no cursor."
_AGAIN: Final = "Open the page without a cursor, or with query or find."
_NUMBER: Final = re.compile(r"([#@])\s*([0-9]{1,9})")
_CURSOR: Final = re.compile(r"@([0-9]{1,9})-([0-9]{6})(?:-(.+))?")


def cursor_at(document: Outline, place: int, find: str = "") -> str:
    """Return the cursor for a position on a page: `@5120-482137`, and then the text to find from there, if any.

    Args:
        document: The page.
        place: Where to continue.
        find: The text to find.
    """
    return f"@{place}-{_check(document.text, place)}" + (f"-{quote(find, safe='')}" if find else "")


@dataclass(frozen=True, slots=True)
class Place:
    """The resolved position of a cursor."""

    start: int
    """The first character."""
    stop: int | None = None
    """The latest end; None means the end of the page."""
    find: str = ""
    """The text to find from there."""
    warnings: tuple[str, ...] = ()
    """A warning for the reader."""


def resolve(cursor: str, document: Outline) -> Place:
    """Resolve a cursor on the current version of a page.

    Args:
        cursor: A `next_cursor`, or `#2` for the second section, or `@5120` for a position.
        document: The page.

    Raises:
        InvalidRequest: it is invalid, or its position no longer exists.
    """
    if number := _NUMBER.fullmatch(cursor):
        return _section(document, int(number[2])) if number[1] == "#" else _position(document, int(number[2]))
    match = _CURSOR.fullmatch(cursor)
    find = unquote(match[3] or "").encode("utf-8", "replace").decode() if match is not None else ""
    if match is None or len(find) > MAX_FIND:
        raise InvalidRequest("cursor", "is not one that was given here", _FORMS)
    place, check = int(match[1]), match[2]
    if place <= len(document.text) and _check(document.text, place) == check:
        return Place(place, find=find)
    if find:
        warning = f"{_CHANGED}; matches may be missing here"
        return Place(min(place, len(document.text)), find=find, warnings=(warning,))
    return _moved(document, place, check)


def _moved(document: Outline, place: int, check: str) -> Place:
    """Return the start of a word or line nearest to the old position that has the same words, with a warning.

    Raises:
        InvalidRequest: there is none.
    """
    best: int | None = None
    for line in re.finditer(r"^|(?<=\s)(?=\S)", document.text, re.MULTILINE):
        start = line.start()
        if best is not None and start - place > abs(best - place):
            break
        if _check(document.text, start) == check and (best is None or abs(start - place) < abs(best - place)):
            best = start
    if best is None:
        raise InvalidRequest("cursor", f"is no longer valid: {_CHANGED}, and its position is gone", _AGAIN)
    return Place(best, warnings=(f"{_CHANGED}; this continues at the same words in its new version",))


def _section(document: Outline, number: int) -> Place:
    sections = document.sections
    if not 1 <= number <= len(sections):
        there = f"has sections #1 to #{len(sections)}" if sections else "has no sections"
        raise InvalidRequest("cursor", f"asks for section {number}, but the page {there}", _AGAIN)
    section = sections[number - 1]
    return Place(section.start, section.start + section.length)


def _position(document: Outline, place: int) -> Place:
    """Return the position, moved to the start of its word."""
    if place >= len(document.text):
        raise InvalidRequest("cursor", f"is beyond the page's {len(document.text):,} characters", _AGAIN)
    word = re.search(r"\S{0,60}\Z", document.text[max(0, place - 60) : place])
    return Place(place - len(word[0]) if word and not document.text[place].isspace() else place)


def _check(text: str, place: int) -> str:
    """Return a number of six digits for the words at a position."""
    words = " ".join(text[place : place + 2 * _SIGN_CHARACTERS].split())[:_SIGN_CHARACTERS]
    return f"{zlib.crc32(words.encode('utf-8', 'surrogatepass')) % _CHECK_NUMBERS:06}"
