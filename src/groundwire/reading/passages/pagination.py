"""A long page in pieces: each ends where a reader would pause, and stands by itself.

Where to read on: an opaque word that knows the page, its version and the place; and what a person may write.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from dataclasses import dataclass
from typing import Final

from groundwire.errors import InvalidRequest
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.text.truncate import LINE, codes_in, is_rule, truncate, whole_blocks, whole_character

__all__ = ["Cursor", "Piece", "Place", "cut_piece", "read_cursor", "resolve", "wrapped"]

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
        """The piece as complete Markdown."""
        return self.before + self.text + self.after


def wrapped(document: Outline, start: int, end: int) -> Piece:
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


def cut_piece(document: Outline, start: int, room: TextBudget, stop: int | None = None) -> Piece:
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


def _piece(document: Outline, start: int, stop: int, before: str, size: int) -> Piece:
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


def _opening(document: Outline, start: int) -> str:
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


_KNOWN: Final = 11  # bytes: page 3, version 4, the text there 4; a check of 3 and a size of 1 go before
_WITH_FIND: Final = 0x80
_LONGEST: Final = 3_000  # characters of a cursor
_SIGN: Final = 24  # characters from a place on by which it is found again
_AGAIN: Final = "Open the page without a cursor, or with query or find."
_NUMBER: Final = re.compile(r"([#@])\s*([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place on a page to read on from, or a search on it to go on with."""

    page: bytes
    """What tells the page from other pages."""
    version: bytes
    """What tells this state of the page from others."""
    sign: bytes
    """A digest of the text there."""
    place: int
    """In code points of the whole Markdown."""
    find: str = ""
    """What is looked for from there on; empty to read on."""

    @classmethod
    def of(cls, address: str, document: Outline, place: int, find: str = "") -> Cursor:
        """Return the cursor for a place on a page.

        Args:
            address: The page's address.
            document: Its text.
            place: Where to read on.
            find: What to look for.
        """
        version = bytes.fromhex(document.version)[:4]
        return cls(_page(address), version, _sign(document.text, place), place, find)

    def __str__(self) -> str:
        place = self.place.to_bytes(4, "big").lstrip(b"\0")
        size = len(place) | (_WITH_FIND if self.find else 0)
        words = zlib.compress(self.find.encode(), 9) if self.find else b""
        body = b"".join((bytes((size,)), self.page, self.version, self.sign, place, words))
        return base64.urlsafe_b64encode(_check(body) + body).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Place:
    """Where to read, as a cursor says it."""

    start: int
    """The first character."""
    stop: int | None = None
    """Where to end at the latest; None is the end of the page."""
    find: str = ""
    """What to look for from there on."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about it."""


def read_cursor(text: str) -> Cursor | None:
    """Return the cursor that a word stands for, or None when it is none."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
        if len(text) > _LONGEST or len(raw) < _KNOWN + 4 or raw[:3] != _check(raw[3:]):
            return None
        size, body = raw[3] & ~_WITH_FIND, raw[4:]
        find = ""
        if raw[3] & _WITH_FIND:
            find = zlib.decompressobj().decompress(body[_KNOWN + size :], _LONGEST).decode()
        place = int.from_bytes(body[_KNOWN : _KNOWN + size], "big")
        return Cursor(body[:3], body[3:7], body[7:_KNOWN], place, find)
    except (ValueError, binascii.Error, zlib.error):
        return None


def resolve(cursor: str, address: str, document: Outline) -> Place:
    """Return where a cursor leads on a page as it is now.

    Args:
        cursor: A `next_cursor`, or `#2` for the second section, or `@5120` for a place.
        address: The page's address.
        document: Its text.

    Raises:
        InvalidRequest: it is no cursor, one of another page, or of a state in which the place is not any more.
    """
    if short := _NUMBER.fullmatch(cursor):
        return _section(document, int(short[2])) if short[1] == "#" else _position(document, int(short[2]))
    read = read_cursor(cursor)
    if read is None:
        raise InvalidRequest(
            "cursor", "is not one that was given here", f"Pass next_cursor as it came, #2 for a section, or: {_AGAIN}"
        )
    if read.page != _page(address):
        raise InvalidRequest("cursor", "belongs to another page", f"Pass it with the address it came with. {_AGAIN}")
    if read.version == bytes.fromhex(document.version)[:4]:
        return Place(min(read.place, len(document.text)), find=read.find)
    changed = "the page has changed since the cursor was given"
    if read.find:
        return Place(
            min(read.place, len(document.text)), find=read.find, warnings=(f"{changed}; matches may be missing here",)
        )
    found = _find_again(document.text, read)
    if found is None:
        raise InvalidRequest("cursor", f"leads nowhere: {changed}, and the place is gone", _AGAIN)
    return Place(found, warnings=(f"{changed}; this goes on at the same words in the page as it is now",))


def _section(document: Outline, number: int) -> Place:
    sections = document.sections
    if not 1 <= number <= len(sections):
        there = f"has sections #1 to #{len(sections)}" if sections else "has no sections"
        raise InvalidRequest("cursor", f"asks for section {number}, but the page {there}", _AGAIN)
    section = sections[number - 1]
    return Place(section.start, section.start + section.length)


def _position(document: Outline, place: int) -> Place:
    """Return the place, moved to the beginning of its word."""
    if place >= len(document.text):
        raise InvalidRequest("cursor", f"is beyond the page's {len(document.text):,} characters", _AGAIN)
    word = re.search(r"\S{0,60}\Z", document.text[max(0, place - 60) : place])
    return Place(place - len(word[0]) if word and not document.text[place].isspace() else place)


def _find_again(text: str, cursor: Cursor) -> int | None:
    """Return the place nearest to where it was at which the same words stand."""
    best: int | None = None
    for line in re.finditer(r"^|(?<=\s)(?=\S)", text, re.MULTILINE):
        place = line.start()
        if best is not None and place - cursor.place > abs(best - cursor.place):
            break
        if _sign(text, place) == cursor.sign and (best is None or abs(place - cursor.place) < abs(best - cursor.place)):
            best = place
    return best


def _sign(text: str, place: int) -> bytes:
    words = text[place : place + 2 * _SIGN].split()
    return zlib.crc32(" ".join(words)[:_SIGN].encode("utf-8", "surrogatepass")).to_bytes(4, "big")


def _page(address: str) -> bytes:
    return hashlib.sha256(address.partition("#")[0].encode("utf-8", "surrogatepass")).digest()[:3]


def _check(body: bytes) -> bytes:
    return hashlib.sha256(b"groundwire cursor" + body).digest()[:3]
