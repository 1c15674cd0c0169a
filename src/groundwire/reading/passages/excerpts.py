"""Passages put together in the order of the page, as many as fit, each marked with where it stands.

Finding a text on a page as a person would: whatever its case, its blanks, its quotes and its emphasis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groundwire.errors import InvalidRequest
from groundwire.models import Excerpt, Match
from groundwire.reading.passages.bm25 import Ranked
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import cut_piece, wrapped
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.text.truncate import whole_character

__all__ = [
    "MAX_FIND",
    "Chosen",
    "ExcerptSpan",
    "assemble",
    "check_find",
    "choose",
    "excerpt_of",
    "find_all",
    "mark_of",
    "spans_around",
]

_WORTH: Final = 0.12  # of the best score; what has less is not worth its room
_SAME: Final = 0.8  # of the terms; passages that share more say the same
_TRIES: Final = 30  # passages that are tried when one does not fit
_PATH: Final = 90  # characters of the headings in a mark
_BESIDE: Final = 3  # of the best passages get their neighbors too


@dataclass(frozen=True, slots=True)
class ExcerptSpan:
    """A part of a page that is to be shown."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    score: float = 0.0
    """How well it answers."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is shown of a page."""

    content: str
    """The excerpts as Markdown, each after a mark that says where it stands."""
    excerpts: tuple[Excerpt, ...]
    """The same as data."""


def choose(document: Outline, ranked: Sequence[Ranked], room: TextBudget) -> Chosen:
    """Return the passages that answer best and fit, without those that say the same again.

    Args:
        document: The page.
        ranked: Its passages; at least one has a score.
        room: What may be filled, marks included.
    """
    best = sorted((row for row in ranked if row.score > 0), key=lambda row: (-row.score, row.number))
    worth = [row for row in best if row.score >= _WORTH * best[0].score]
    beside = [
        ranked[at]
        for row in best[:_BESIDE]
        for at in (row.number + 1, row.number - 1)
        if 0 <= at < len(ranked) and ranked[at].passage.path == row.passage.path
    ]
    taken: dict[int, Ranked] = {}
    left, missed = room, 0
    for row in (*worth, *beside):
        if row.number in taken or any(_same(row, other) for other in taken.values()):
            continue
        alone = row.number - 1 not in taken and row.number + 1 not in taken
        piece = wrapped(document, row.passage.start, row.passage.end)
        cost = f"{mark_of(document, row.passage.start, row.passage.end) if alone else ''}\n{piece.content}\n\n"
        if left.holds(cost):
            taken[row.number] = row
            left = left.less(cost)
        else:
            missed += 1
            if missed > _TRIES:
                break
    while taken:
        chosen = assemble(document, _joined(taken[number] for number in sorted(taken)))
        if room.holds(chosen.content):
            return chosen
        del taken[min(taken, key=lambda number: taken[number].score)]
    return _beginning_of(document, best[0], room)


def assemble(document: Outline, spans: Iterable[ExcerptSpan]) -> Chosen:
    """Return parts of a page, in their order, as text with marks and as data."""
    texts: list[str] = []
    excerpts: list[Excerpt] = []
    for span in spans:
        texts.append(f"{mark_of(document, span.start, span.end)}\n{wrapped(document, span.start, span.end).content}")
        excerpts.append(excerpt_of(document, span))
    return Chosen("\n\n".join(texts), tuple(excerpts))


def excerpt_of(document: Outline, span: ExcerptSpan) -> Excerpt:
    """Return a part of a page as data."""
    return Excerpt(
        start=span.start,
        end=span.end,
        heading=_heading(document, span.end),
        score=span.score,
        text=document.text[span.start : span.end],
    )


def mark_of(document: Outline, start: int, end: int) -> str:
    """Return the line that says where an excerpt stands: `[@5120-5660 Guide > Install]`."""
    heading = _heading(document, end)
    return f"[@{start}-{end}{' ' + heading if heading else ''}]"


def _joined(rows: Iterable[Ranked]) -> list[ExcerptSpan]:
    """Return passages that follow each other as one, unless the second begins another section."""
    spans: list[ExcerptSpan] = []
    last: Ranked | None = None
    for row in rows:
        if last is not None and row.number == last.number + 1 and row.passage.path == last.passage.path:
            spans[-1] = ExcerptSpan(spans[-1].start, row.passage.end, max(spans[-1].score, row.score))
        else:
            spans.append(ExcerptSpan(row.passage.start, row.passage.end, row.score))
        last = row
    return spans


def _beginning_of(document: Outline, row: Ranked, room: TextBudget) -> Chosen:
    """Return as much of a passage as fits, when not even one fits as a whole; without a mark where that is too much."""
    start, end, _ = row.passage
    mark = mark_of(document, start, end) + "\n"
    if not room.limited(room.characters // 2, room.tokens and room.tokens // 2).holds(mark):
        mark = ""
    piece = cut_piece(document, start, room.less(mark), end)
    excerpt = excerpt_of(document, ExcerptSpan(piece.start, piece.end, row.score))
    if mark:
        mark = mark_of(document, piece.start, piece.end) + "\n"
    return Chosen(mark + piece.content, (excerpt,))


def _same(row: Ranked, other: Ranked) -> bool:
    union = len(row.terms | other.terms)
    return union > 5 and len(row.terms & other.terms) / union > _SAME


def _heading(document: Outline, place: int) -> str:
    path = list(document.path(max(0, place - 1)))
    while len(path) > 1 and sum(map(len, path)) + 3 * len(path) > _PATH:
        del path[0]
    return " > ".join(path)


MAX_FIND = 500
"""The most characters of what is looked for."""

_MANY: Final = 10_000  # matches that are counted
_AROUND: Final = 160  # characters of context on each side
_ALIKE: Final = (
    "'\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4",
    '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb',
    "-\u2010\u2011\u2012\u2013\u2014\u2212",
)
_CLASSES: Final[Mapping[str, str]] = {character: f"[{re.escape(group)}]" for group in _ALIKE for character in group}
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


def spans_around(document: Outline, matches: Sequence[Match]) -> list[ExcerptSpan]:
    """Return the parts of a page around matches, each with some context, those that touch as one."""
    spans: list[ExcerptSpan] = []
    text = document.text
    for match in matches:
        start, end = _before(text, match.start), _after(text, match.end)
        if spans and start <= spans[-1].end:
            spans[-1] = ExcerptSpan(spans[-1].start, max(end, spans[-1].end))
        else:
            spans.append(ExcerptSpan(start, end))
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
