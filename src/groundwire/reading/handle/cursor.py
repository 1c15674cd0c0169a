"""Where to read on: an opaque word that knows the page, its version and the place; and what a person may write."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from dataclasses import dataclass
from typing import Final

from groundwire.errors import InvalidRequest
from groundwire.reading.handle.document import Document

__all__ = ["Cursor", "Place", "read_cursor", "resolve"]

_KNOWN: Final = 11  # bytes: page 3, version 4, what stands there 4; a check of 3 and a size of 1 go before
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
    """What stands at the place."""
    place: int
    """In code points of the whole Markdown."""
    find: str = ""
    """What is looked for from there on; empty to read on."""

    @classmethod
    def of(cls, address: str, document: Document, place: int, find: str = "") -> Cursor:
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


def resolve(cursor: str, address: str, document: Document) -> Place:
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


def _section(document: Document, number: int) -> Place:
    sections = document.sections
    if not 1 <= number <= len(sections):
        there = f"has sections #1 to #{len(sections)}" if sections else "has no sections"
        raise InvalidRequest("cursor", f"asks for section {number}, but the page {there}", _AGAIN)
    section = sections[number - 1]
    return Place(section.start, section.start + section.length)


def _position(document: Document, place: int) -> Place:
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
