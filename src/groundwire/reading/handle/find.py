"""Finding a text on a page as a person would: whatever its case, its blanks, its quotes and its emphasis."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from groundwire.errors import InvalidRequest
from groundwire.models import Match
from groundwire.reading.handle.document import Document
from groundwire.reading.handle.excerpts import Span
from groundwire.reading.truncate import whole_character

__all__ = ["MAX_FIND", "check_find", "find_all", "spans_around"]

MAX_FIND = 500
"""The most characters of what is looked for."""

_MANY: Final = 10_000  # matches that are counted
_AROUND: Final = 160  # characters of context on each side
_ALIKE: Final = (
    "'\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4",
    '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb',
    "-\u2010\u2011\u2012\u2013\u2014\u2212",
)
_CLASSES: Final = {character: f"[{re.escape(group)}]" for group in _ALIKE for character in group}
# Every repetition is bounded, but for the blanks: nothing else can match them, so there is nothing to go back to.
_GAP: Final = r"[*_~`\]]{0,6}(?:\([^()\s]{0,2000}\))?[*_~`]{0,6}\s+(?:>[ \t]{0,4}){0,12}[*_~`\[]{0,6}"
_EDGE: Final = re.compile(r"\s")


def check_find(text: object) -> str:
    """Return what is to be found, its blanks made one space each.

    Raises:
        InvalidRequest: it is no text, empty, or too long.
    """
    if not isinstance(text, str):
        raise InvalidRequest("find", f"must be text, not {type(text).__name__}", "Pass the words to find.")
    clean = " ".join(text.encode("utf-8", "replace").decode().split())
    if not clean:
        raise InvalidRequest("find", "is empty", "Pass the words to find.")
    if len(clean) > MAX_FIND:
        raise InvalidRequest("find", f"has {len(clean):,} characters", f"Pass at most {MAX_FIND:,}.")
    return clean


def find_all(text: str, wanted: str, start: int = 0) -> list[Match]:
    """Return where a text stands, from `start` on, at most 10,000 times; nothing that overlaps.

    Case, the number and kind of blanks, typographic quotes and dashes, and composed or decomposed letters do not
    matter, nor does emphasis, code or a link that begins or ends between two words.

    Args:
        text: The page's Markdown.
        wanted: What to find.
        start: Where to begin.
    """
    found: list[Match] = []
    for match in _pattern(wanted).finditer(text, start):
        found.append(Match(start=match.start(), end=match.end()))
        if len(found) >= _MANY:
            break
    return found


def _pattern(wanted: str) -> re.Pattern[str]:
    words = unicodedata.normalize("NFC", wanted).split()
    return re.compile(_GAP.join("".join(map(_one, word)) for word in words), re.IGNORECASE)


def _one(character: str) -> str:
    """Return what matches one character in any of its forms."""
    if character in _CLASSES:
        return r"\\?" + _CLASSES[character] if ord(character) < 128 else _CLASSES[character]
    if character.isascii():
        return re.escape(character) if character.isalnum() else r"\\?" + re.escape(character)
    forms = {character, unicodedata.normalize("NFD", character), character.casefold(), character.upper()}
    if len(forms) == 1:
        return re.escape(character)
    return f"(?:{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})"


def spans_around(document: Document, matches: Sequence[Match]) -> list[Span]:
    """Return the parts of a page around matches, each with some context, those that touch as one."""
    spans: list[Span] = []
    text = document.text
    for match in matches:
        start, end = _before(text, match.start), _after(text, match.end)
        if spans and start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
        else:
            spans.append(Span(start, end))
    return spans


def _before(text: str, place: int) -> int:
    """Return where the context before a match begins: its paragraph, or some words."""
    low = max(0, place - _AROUND)
    line = text.rfind("\n", low, place)
    if line >= 0:
        return line + 1
    if low == 0:
        return 0
    space = _EDGE.search(text, low, place)
    return space.end() if space else whole_character(text, low)


def _after(text: str, place: int) -> int:
    """Return where the context behind a match ends."""
    high = min(len(text), place + _AROUND)
    line = text.find("\n", place, high)
    if line >= 0:
        return line
    if high == len(text):
        return high
    at = max(text.rfind(" ", place, high), text.rfind("\t", place, high))
    return at if at >= 0 else whole_character(text, high)
