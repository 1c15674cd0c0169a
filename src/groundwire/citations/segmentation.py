"""The sentences of Markdown, with positions, and those of an answer with the numbers that they cite."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple

from groundwire.citations.marker_parser import FORMULA, Mark, placed_pieces, plain_marks, without_sources

_QUOTES: Final = re.compile(
    r"“([^”\n]{2,1000})”|«([^»\n]{2,1000})»|„([^“”\n]{2,1000})[“”]|(?<!\w)\"([^\"\n]{2,1000})\"(?!\w)|「([^」\n]{2,1000})」|『([^』\n]{2,1000})』"
)
_MIN_QUOTED_WORDS: Final = 3  # fewer are a title or a term
_MIN_QUOTED_SIGNS: Final = 6  # the same in a script without spaces


DENSE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""The characters of scripts without spaces between words, as a class of a regular expression."""

_ABBREVIATION_LIST: Final = (
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf al no nos vol fig p pp ed eds approx ca inc ltd co corp bros "
    "dept est gen gov sen rep rev capt lt col sgt mt ft jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k "
    "u.n a.m p.m ph.d z.b bzw ggf usw nr bd mio mrd tsd млн млрд тыс руб им ул mme mlle sra"
)
_ABBREVIATIONS: Final = frozenset(_ABBREVIATION_LIST.split())
_GERMAN: Final = "januar februar märz april mai juni juli august september oktober november dezember"
_MONTHS: Final = frozenset(_GERMAN.split())  # 31. März


class TextSpan(NamedTuple):
    """A stretch of a text."""

    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


MAX_SENTENCE: Final = 4_000
"""Characters of a sentence that are compared; in a text without full stops, the start of each block is."""
_NEW_BLOCK: Final = re.compile(
    r"\n(?=[ \t]*(?:\n|#{1,6}[ \t]|>|[-*+][ \t]|\d{1,3}[.)][ \t]|\||```|~~~|[-=*_]{3,}[ \t]*(?:\n|$)))"
)
_FENCE: Final = re.compile(r"(?ms)^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_END: Final = re.compile(
    r"[.!?…。！？｡।؟۔](?:"  # one class, so that other characters are skipped
    r"(?<=[.!?…])(?<![.!?…]{2})[.!?…]*[\"'”’»)\]*_]*(?=\s|$|\[\d|[【［])|(?<=[。！？｡])[\"”’»）」』]*"
    r"|(?<=[।؟۔])(?<![।؟۔]{2})[।؟۔]*(?=\s|$|\[\d|[【［]))",  # at the first of a run, or each would start a match
)
_MARKS_AFTER: Final = re.compile(r"(?:[ \t]*(?:\[[\d ,;\-–—]{1,40}\]|【[^】\n]{1,40}】|［[^］\n]{1,40}］)){1,50}")
_DAY: Final = re.compile(r"(?<!\d)\d{1,2}\.$")
_ORDINAL_PHRASE: Final = re.compile(
    r"(?<!\bI )\b(?:d(?:e[rmns]|ie|as)|[aio]m|ins|zu[mr]|vom|beim|(?:ihr|sein|jed)e[mnrs]?)\s\d+\.$"
)
_MONTH: Final = re.compile(r"\s+([^\W\d_]+)")
_LAST_WORD: Final = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]\.){0,6}[^\W\d_]+$")  # in 12 characters, 6 pairs at most
_NUMBERED: Final = re.compile(r"[ \t]*\d{1,3}")
_POSSESSIVE: Final = re.compile(r"\.['’]$")
_SINGLE: Final = re.compile(r"(?<!\w)['‘]\w")
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[*_]*([^\s])")


def sentences(text: str) -> Iterator[TextSpan]:
    """Yield the sentences of a Markdown text, in order, without code.

    A heading, a list item and a table row are separate sentences. Citation markers after a full stop belong to the
    sentence before them.
    """
    for block in blocks(text):
        yield from _of_block(text, block.start, block.end)


def table_heads(text: str) -> list[TextSpan]:
    """Return the header rows of the tables in a Markdown text, with their delimiter rows."""
    heads: list[TextSpan] = []
    start, before = 0, ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if "|" in before and "-" in bare and not bare.strip("|:- \t") and "|" in bare:
            heads.append(TextSpan(start - len(before), start + len(line)))
        start, before = start + len(line), line
    return heads


def blocks(text: str) -> Iterator[TextSpan]:
    """Yield the paragraphs, headings, items and rows of a Markdown text, in order, without code."""
    place = 0
    if "```" in text or "~~~" in text:
        for code in _FENCE.finditer(text):
            yield from _of_part(text, place, code.start())
            place = code.end()
    yield from _of_part(text, place, len(text))


def _of_part(text: str, start: int, end: int) -> Iterator[TextSpan]:
    for separator in _NEW_BLOCK.finditer(text, start, end):
        if separator.start() > start:
            yield TextSpan(start, separator.start())
        start = separator.end()
    if end > start:
        yield TextSpan(start, end)


def _of_block(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the sentences of a block, in order."""
    begin = start
    for stop in _END.finditer(text, start, end):
        after = stop.end()
        if after <= begin:  # within the markers after the previous one
            continue
        if marks := _MARKS_AFTER.match(text, after, end):
            after = marks.end()
        if _NUMBERED.fullmatch(text, begin, stop.start()):
            continue
        if _POSSESSIVE.fullmatch(stop[0]) and not _SINGLE.search(text, max(begin, stop.start() - 400), stop.start()):
            continue  # Warner Bros.' 2020
        if stop[0][0] in ".…" and not _is_end(text, stop.start(), after, end, marked=after > stop.end()):
            continue
        yield from _trimmed(text, begin, after)
        begin = after
    yield from _trimmed(text, begin, end)


def _is_end(text: str, dot: int, after: int, end: int, *, marked: bool) -> bool:
    following = _NEXT.match(text, after, end)
    if following is None:
        return True
    if following[1].islower():
        return False
    if not marked and _ORDINAL_PHRASE.search(text, max(0, dot - 12), dot + 1):
        return False  # im 21. Jahrhundert
    if _DAY.search(text, dot - 2, dot + 1) and (month := _MONTH.match(text, after, end)):
        return month[1].lower() not in _MONTHS
    word = _LAST_WORD.search(text, max(0, dot - 12), dot)
    return marked or word is None or not (len(word[0]) == 1 or word[0].lower() in _ABBREVIATIONS)


def _trimmed(text: str, start: int, end: int) -> Iterator[TextSpan]:
    piece = text[start:end]
    if stripped := piece.strip():
        begin = start + len(piece) - len(piece.lstrip())
        yield TextSpan(begin, begin + len(stripped))


_SQUEEZED: Final = re.compile(r"[^\W_]+")
_MARKUP: Final = re.compile(  # each group begins with what it may start with, so that other characters are skipped
    r"(?m:^(?=[ \t#>*+:|\d-])(?:[ \t]*(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+|(?=[ \t:-]*\|)[ \t:|-]+$))"
    r"|(?=[!\[\]<h*_`|\\])(?:"
    r"!?\[(?=[^\]\n]{0,500}\]\()"  # the start of a link or image
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ ]\"[^\"\n]*\")?\)"  # its destination
    r"|<https?://[^>\s]*>|https?://[^\s)>\]]+"
    r"|[*_`|\\]+)"
)


def blank_markup(text: str) -> str:
    """Replace Markdown syntax and link destinations with spaces; every character keeps its position."""
    return _MARKUP.sub(lambda match: " " * len(match[0]), text)


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in lower case, with one space between words."""
    return " ".join(_SQUEEZED.findall(text.casefold()))


_WORDS: Final = re.compile(rf"[{DENSE}]{{2}}|[^\W_{DENSE}]+(?:[.,'’][^\W_]+)*")


_MAX_TRAILING_WORDS: Final = 7  # words after the last marker from which they form a part of their own
_MIN_CLAUSE_WORDS: Final = 3  # words and numbers of a clause that is verified on its own
_AND: Final = r"(?:and|but|und|aber|et|mais|y|pero|e|mas|и|а|но|و)(?=\s)"
_JOINED: Final = re.compile(rf"^[\s,;，、；،]*(?:{_AND})?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A part of a sentence, and the numbers it cites."""

    text: str
    """Its text, without markers and markup."""
    numbers: tuple[int, ...]
    """The numbers it cites."""
    start: int
    """Its first code point in the answer."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer."""

    start: int
    """Its first code point in the answer."""
    end: int
    """The code point after its last."""
    text: str
    """The sentence with its markers."""
    plain: str
    """Its text, without markers and markup."""
    parts: tuple[Part, ...]
    """The same in parts with separate citations; one part if the markers are together."""

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """All numbers it cites."""
        return tuple(dict.fromkeys(number for part in self.parts for number in part.numbers))


def sentences_of(answer: str) -> list[CitedSentence]:
    """Return an answer's sentences with their cited numbers; a line of only markers belongs to the one before."""
    marked = without_sources(plain_marks(answer))
    clean, cited = list[str](), list[tuple[int, Mark]]()
    formulas = {at for formula in FORMULA.finditer(marked) for at in range(*formula.span())}
    for place, written, mark in placed_pieces(marked):
        if mark and place not in formulas:
            cited.append((place, mark))
            written = " " * len(written)
        clean.append(written)
    places = [place for place, _ in cited]
    plain = blank_markup("".join(clean))
    heads = table_heads(marked)
    rows: list[tuple[TextSpan, Sequence[tuple[int, Mark]], dict[int, None], int]] = []
    for span in sentences(marked):
        head = bisect_right(heads, span.start, key=attrgetter("start")) - 1
        if head >= 0 and span.start < heads[head].end:
            continue
        marks = cited[bisect_left(places, span.start) : bisect_left(places, span.end)]
        if squeezed(plain[span.start : span.end]):
            rows.append((span, marks, {}, span.end))
        elif marks and rows:
            first, own, more, _ = rows[-1]
            more.update(dict.fromkeys(number for _, mark in marks for number in mark.numbers))
            rows[-1] = (first, own, more, span.end)
    return [_cited_sentence(answer, plain, *row) for row in rows]


def _cited_sentence(
    answer: str, plain: str, span: TextSpan, marks: Sequence[tuple[int, Mark]], more: dict[int, None], end: int
) -> CitedSentence:
    """Return a sentence whose text ends at `end`, extended by the lines of markers after it, which cite `more`."""
    text = plain[span.start : min(span.end, span.start + MAX_SENTENCE)]
    parts = _parts(plain, span, marks)
    if more or len(text) < span.end - span.start:
        numbers = dict.fromkeys(number for _, mark in marks for number in mark.numbers) | more
        parts = (Part(text, tuple(numbers), span.start),)
    return CitedSentence(span.start, end, answer[span.start : end], text, parts)


def _parts(plain: str, span: TextSpan, marks: Sequence[tuple[int, Mark]]) -> tuple[Part, ...]:
    """Split a sentence before its markers; keep it whole if a part is too short."""
    groups: list[tuple[int, list[int]]] = []
    after = span.start
    for at, mark in marks:
        if groups and not squeezed(plain[after:at]):
            groups[-1][1].extend(mark.numbers)
        else:
            groups.append((at, list(mark.numbers)))
        after = at + len(mark.text)
    everything = tuple(dict.fromkeys(number for _, numbers in groups for number in numbers))
    undivided = (Part(plain[span.start : span.end], everything, span.start),)
    if not groups or (len(groups) == 1 and len(_WORDS.findall(plain[after : span.end])) <= _MAX_TRAILING_WORDS):
        return undivided
    parts, begin = [], span.start
    for at, numbers in groups:
        text = _JOINED.sub("", plain[begin:at], count=1)
        parts.append(Part(text, tuple(dict.fromkeys(numbers)), at - len(text)))
        begin = at
    if squeezed(tail := plain[begin : span.end]):
        parts.append(Part(tail, everything, begin))
    return tuple(parts) if all(len(_WORDS.findall(part.text)) >= _MIN_CLAUSE_WORDS for part in parts) else undivided


def quotes_of(text: str) -> list[TextSpan]:
    """Return the positions of quotations in a sentence, without the marks; one or two words are not a quotation."""
    spans = []
    for match in _QUOTES.finditer(text):
        group = match.lastindex or 0
        words = match[group].split()
        if len(words) >= _MIN_QUOTED_WORDS or (
            not match[group].isascii() and len(words) == 1 and len(match[group]) >= _MIN_QUOTED_SIGNS
        ):
            spans.append(TextSpan(*match.span(group)))
    return spans
