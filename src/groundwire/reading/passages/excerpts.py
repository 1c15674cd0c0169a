"""Assembly of passages in page order, within a budget, each marked with its position; and literal search on a page.

Literal search ignores case, white space, quotation marks and emphasis.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from groundwire.models import Excerpt, Match
from groundwire.reading.passages.bm25 import LINK, Ranked
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import cut_piece, wrapped
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.text.truncate import whole_character

_MIN_SCORE_SHARE: Final = 0.03  # share of the best score; lower ones are not worth their space
_MAX_HEADING_CHARACTERS: Final = 90  # characters of the headings in a marker
_MIN_TOKENS_WITH_HEADINGS: Final = 2_000  # tokens of excerpts from which their markers include headings
_PARTS: Final = 8  # of a budget, by which it is reduced
_CHARACTERS_PER_TOKEN: Final = 4  # characters, if tokens are not limited
_ATOM: Final = re.compile(rf"(?:{LINK.pattern}|`[^`\n]{{1,200}}`|\S)+")
_CELL: Final = re.compile(r"[^|\n]{0,4000}\|")
_WANTS_LINKS: Final = re.compile(r"https?:|\b(?:links?|urls?|href|hyperlinks?|enlaces?|liens?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExcerptSpan:
    """A part of a page to be shown."""

    start: int
    """Its start."""
    end: int
    """Its end."""
    score: float = 0.0
    """Its score."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selected parts of a page."""

    content: str
    """The excerpts as Markdown, each after a marker with its position."""
    excerpts: tuple[Excerpt, ...]
    """The same as data."""


def choose(document: Outline, ranked: Sequence[Ranked], room: TextBudget, *, links: bool = False) -> Chosen:
    """Return the best passages in page order, without repetitions.

    They are taken in order of score as long as all fit; of the next one, the part around its match is used.

    Args:
        document: The page.
        ranked: Its passages; at least one has a positive score.
        room: The budget, including markers.
        links: Whether links keep their targets.
    """
    best = _distinct(sorted(ranked, key=lambda row: (-row.score, row.number)))
    limit = room.characters // _CHARACTERS_PER_TOKEN if room.tokens is None else room.tokens
    headed = limit > _MIN_TOKENS_WITH_HEADINGS

    def shown(count: int, part: ExcerptSpan | None = None, *, headed: bool = headed) -> Chosen:
        spans = _joined(sorted(best[:count], key=lambda row: row.number))
        spans = sorted([*spans, part] if part else spans, key=lambda span: span.start)
        return assemble(document, spans, links=links, headed=headed)

    count = most_that_fit(len(best), lambda size: room.holds(shown(size).content))
    part = None
    if count < len(best):
        row = best[count]
        start, end = row.passage.start, row.passage.end
        mark = mark_of(document, start, end) if headed else _mark(start)
        remaining = room.less(f"{shown(count).content}\n\n{mark}\n".lstrip())
        for parts in range(_PARTS, 0, -1):  # what is cut may take more than was counted
            less = remaining.limited(
                remaining.characters * parts // _PARTS, remaining.tokens and remaining.tokens * parts // _PARTS
            )
            part = _around_match(document, row, less, links=links)
            if part is None or room.holds(shown(count, part).content):
                break
        else:
            part = None
    if not count and part is None:
        return _bare(document, best[0], room, links=links)
    with_headings = shown(count, part, headed=True)
    return with_headings if room.holds(with_headings.content) else shown(count, part, headed=False)


def _distinct(rows: Sequence[Ranked]) -> list[Ranked]:
    """Return the passages that are worth their space, without those that have the words of a better one."""
    by_terms: dict[frozenset[str], Ranked] = {}
    for row in takewhile(lambda row: row.score >= _MIN_SCORE_SHARE * rows[0].score, rows):
        by_terms.setdefault(row.terms, row)
    return list(by_terms.values())


def most_that_fit(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit for which something fits, looked for by doubling and halving."""
    low, high = 0, min(limit, 1)
    while high > low and fits(high):
        low, high = high, min(limit, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def wants_links(query: str) -> bool:
    """Whether a query asks for URLs."""
    return _WANTS_LINKS.search(query) is not None


def excerpt_text(document: Outline, start: int, end: int, *, links: bool = False) -> str:
    """Return a part of a page without link targets, except in code.

    Args:
        document: The page.
        start: Its start.
        end: Its end.
        links: Whether links keep their targets.
    """
    text = document.text[start:end]
    if links or "](" not in text or document.code_at(start + 1) or document.code_at(end - 1):
        return text
    return LINK.sub(r"\1", text)


def _around_match(document: Outline, row: Ranked, room: TextBudget, *, links: bool) -> ExcerptSpan | None:
    """Return the part of a passage around its match that fits, in whole words, links, cells or code lines.

    Args:
        document: The page.
        row: The passage.
        room: The budget without the marker.
        links: Whether links keep their targets.
    """
    atoms = _atoms(document, row)
    if not atoms:
        return None
    focus = first = last = max(0, bisect_right(atoms, (row.focus, row.passage.end)) - 1)
    largest: ExcerptSpan | None = None
    while True:
        span = ExcerptSpan(atoms[first][0], atoms[last][1], row.score)
        piece, text = wrapped(document, span.start, span.end), excerpt_text(document, span.start, span.end, links=links)
        if not room.holds(piece.before + text + piece.after):
            return largest
        largest = span
        if first == 0 and last == len(atoms) - 1:
            return largest
        if last < len(atoms) - 1 and (first == 0 or last - focus <= focus - first):
            last += 1
        else:
            first -= 1


def _atoms(document: Outline, row: Ranked) -> list[tuple[int, int]]:
    """Return the parts of a passage that are not cut: words and links, the cells of a row, lines of code."""
    start, end, _, head = row.passage
    pattern, place = _CELL if head >= 0 else _ATOM, start
    atoms: list[tuple[int, int]] = []
    while match := pattern.search(document.text, place, end):
        first, last = match.span()
        if document.code_at(last):
            first = document.text.rfind("\n", place, first) + 1 or place
            stop = document.text.find("\n", last, end)
            last = end if stop < 0 else stop
        atoms.append((first, last))
        place = last
    return atoms


def assemble(document: Outline, spans: Iterable[ExcerptSpan], *, links: bool = True, headed: bool = True) -> Chosen:
    """Return parts of a page, in order, as text with markers and as data.

    Args:
        document: The page.
        spans: The parts.
        links: Whether links keep their targets.
        headed: Whether the markers include the headings and the end of a part.
    """
    texts: list[str] = []
    excerpts: list[Excerpt] = []
    table = ""  # the header of the table in which the last part ends
    for span in spans:
        piece = wrapped(document, span.start, span.end)
        text = excerpt_text(document, span.start, span.end, links=links)
        if table and piece.before == table:
            texts[-1] += f"\n{text}"
        else:
            mark = mark_of(document, span.start, span.end) if headed else _mark(span.start)
            texts.append(f"{mark}\n{piece.before}{text}{piece.after}")
        table = _table_after(document, span.start, span.end)
        excerpts.append(excerpt_of(document, span))
    return Chosen("\n\n".join(texts), tuple(excerpts))


def _table_after(document: Outline, start: int, end: int) -> str:
    """Return the header of the table in which a part of a page ends; "" if the part does not consist of whole lines."""
    text = document.text
    if text[start - 1 : start].strip("\n") or text[end : end + 1].strip("\n"):
        return ""
    return document.table_head(end + 1) or document.table_head(start)


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
    """Return the marker of an excerpt: `[@5120-5660 Guide > Install]`."""
    heading = _heading(document, end)
    return f"[@{start}-{end}{' ' + heading if heading else ''}]"


def _mark(start: int) -> str:
    return f"[@{start}]"


def _joined(rows: Iterable[Ranked]) -> list[ExcerptSpan]:
    """Merge consecutive passages, unless the second starts another section."""
    spans: list[ExcerptSpan] = []
    last: Ranked | None = None
    for row in rows:
        if last is not None and row.number == last.number + 1 and row.passage.path == last.passage.path:
            spans[-1] = ExcerptSpan(spans[-1].start, row.passage.end, max(spans[-1].score, row.score))
        else:
            spans.append(ExcerptSpan(row.passage.start, row.passage.end, row.score))
        last = row
    return spans


def _bare(document: Outline, row: Ranked, room: TextBudget, *, links: bool) -> Chosen:
    """Return the word, link, cell or line that matches, without a marker, or as much of it as fits."""
    atoms = _atoms(document, row)
    start, end = atoms[max(0, bisect_right(atoms, (row.focus, row.passage.end)) - 1)]
    piece, text = wrapped(document, start, end), excerpt_text(document, start, end, links=links)
    content = piece.before + text + piece.after
    if text != document.text[start:end] and not room.holds(content):  # of a link, its label is cut
        content = cut_piece(Outline(text), 0, room).content
    elif not room.holds(content):
        cut = cut_piece(document, start, room, end)
        content, end = cut.content, cut.end
    return Chosen(content, (excerpt_of(document, ExcerptSpan(start, end, row.score)),))


def _heading(document: Outline, place: int) -> str:
    path = list(document.path(max(0, place - 1)))
    while len(path) > 1 and sum(map(len, path)) + 3 * len(path) > _MAX_HEADING_CHARACTERS:
        del path[0]
    return " > ".join(path)


_MAX_MATCHES: Final = 10_000  # matches that are counted
_CONTEXT_CHARACTERS: Final = 160  # characters of context on each side
_FOLDED: Final[Mapping[str, str]] = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bb\u02bc\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
}
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
# Every repetition is bounded, except for white space: nothing else can match it, so there is no backtracking.
_GAP: Final = r"[*_~`\]]{0,6}(?:\([^()\s]{0,2000}\))?[*_~`]{0,6}\s+(?:>[ \t]{0,4}){0,12}[*_~`\[]{0,6}"
_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-`{-~]")
_EDGE: Final = re.compile(r"\s")


def find_all(text: str, phrase: str) -> list[Match]:
    """Return the positions of a text, without overlaps and at most 10,000.

    Case, accents, width, white space, typographic quotation marks and dashes are ignored, as are emphasis, code and
    links that begin or end between two words.

    Args:
        text: The page's Markdown.
        phrase: The text to find.
    """
    table = {ord(letter): folded for letter in set(text) if (folded := _folded(letter)) != letter}
    words = "".join(map(_folded, unicodedata.normalize("NFC", phrase))).split()
    if not words:
        return []
    pattern = re.compile(_GAP.join(_PUNCTUATION.sub(r"\\\\?\\\g<0>", word) for word in words))
    matches = islice(pattern.finditer(text.translate(table)), _MAX_MATCHES)
    return [Match(start=match.start(), end=match.end()) for match in matches]


def _folded(character: str) -> str:
    """Normalize accent, case, width and form of a character, if one character is left."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", character)).casefold()
    if len(plain) != 1:
        return character
    return " " if plain.isspace() else _FOLDED.get(plain, plain)


def spans_around(document: Outline, matches: Sequence[Match]) -> list[ExcerptSpan]:
    """Return the parts of a page around matches with some context, merging adjacent ones."""
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
    """Return the start of the context of a match: its paragraph, or some words."""
    low = max(0, place - _CONTEXT_CHARACTERS)
    line = text.rfind("\n", low, place)
    if line >= 0 or low == 0:
        return line + 1
    space = _EDGE.search(text, low, place)
    return space.end() if space else whole_character(text, low)


def _after(text: str, place: int) -> int:
    """Return the end of the context of a match."""
    high = min(len(text), place + _CONTEXT_CHARACTERS)
    line = text.find("\n", place, high)
    if line >= 0:
        return line
    if high == len(text):
        return high
    at = max(text.rfind(" ", place, high), text.rfind("\t", place, high))
    return at if at >= 0 else whole_character(text, high)
