"""The sentences of Markdown, with positions, and those of an answer with the numbers that they cite."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from groundwire.citations.marker_parser import FORMULA, Mark, find_marks, plain_marks, without_sources

__all__ = [
    "DENSE",
    "MAX_SENTENCE",
    "CitedSentence",
    "Part",
    "TextSpan",
    "blank_markup",
    "blocks",
    "quotes_of",
    "sentences",
    "sentences_of",
    "squeezed",
    "table_heads",
]

_QUOTES: Final = re.compile(
    r"“([^”\n]{2,1000})”|«([^»\n]{2,1000})»|„([^“”\n]{2,1000})[“”]|(?<!\w)\"([^\"\n]{2,1000})\"(?!\w)|「([^」\n]{2,1000})」|『([^』\n]{2,1000})』"
)
_QUOTED_WORDS: Final = 3  # fewer are a title or a term
_QUOTED_SIGNS: Final = 6  # the same in a script without spaces


DENSE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""The characters of scripts without spaces between words, as a class of a regular expression."""

_SHORTENED: Final = (
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf al no nos vol fig p pp ed eds approx ca inc ltd co corp bros "
    "dept est gen gov sen rep rev capt lt col sgt mt ft jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k "
    "u.n a.m p.m ph.d z.b bzw ggf usw nr bd mio mrd tsd млн млрд тыс руб им ул mme mlle sra"
)
_ABBREVIATIONS: Final = frozenset(_SHORTENED.split())
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
_COUNTED: Final = re.compile(
    r"(?<!\bI )\b(?:d(?:e[rmns]|ie|as)|[aio]m|ins|zu[mr]|vom|beim|(?:ihr|sein|jed)e[mnrs]?)\s\d+\.$"
)
_MONTH: Final = re.compile(r"\s+([^\W\d_]+)")
_LAST_WORD: Final = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]\.)*[^\W\d_]+$")
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
        yield from sentences_of_block(text, block)


def table_heads(text: str) -> list[TextSpan]:
    """Return the header rows of the tables in a Markdown text, with their delimiter rows."""
    found: list[TextSpan] = []
    begin, before = 0, ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if "|" in before and "-" in bare and not bare.strip("|:- \t") and "|" in bare:
            found.append(TextSpan(begin - len(before), begin + len(line)))
        begin, before = begin + len(line), line
    return found


def blocks(text: str) -> Iterator[TextSpan]:
    """Yield the paragraphs, headings, items and rows of a Markdown text, in order, without code."""
    place = 0
    if "```" in text or "~~~" in text:
        for code in _FENCE.finditer(text):
            yield from _of_part(text, place, code.start())
            place = code.end()
    yield from _of_part(text, place, len(text))


def _of_part(text: str, start: int, end: int) -> Iterator[TextSpan]:
    for found in _NEW_BLOCK.finditer(text, start, end):
        if found.start() > start:
            yield TextSpan(start, found.start())
        start = found.end()
    if end > start:
        yield TextSpan(start, end)


def sentences_of_block(text: str, block: TextSpan) -> Iterator[TextSpan]:
    """Yield the sentences of a block, in order."""
    return _of_block(text, block.start, block.end)


def _of_block(text: str, start: int, end: int) -> Iterator[TextSpan]:
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
    if not marked and _COUNTED.search(text, max(0, dot - 12), dot + 1):
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
    return _MARKUP.sub(lambda found: " " * len(found[0]), text)


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in lower case, with one space between words."""
    return " ".join(_SQUEEZED.findall(text.casefold()))


_WORDS: Final = re.compile(rf"[{DENSE}]{{2}}|[^\W_{DENSE}]+(?:[.,'’][^\W_]+)*")


def _words(text: str) -> list[str]:
    return _WORDS.findall(text)


_SHORT: Final = 7  # words after the last marker from which they form a part of their own
_CLAUSE: Final = 3  # words and numbers of a clause that is verified on its own
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
    clean, cited, places = [], list[tuple[int, Mark]](), list[int]()
    place = 0
    formulas = {at for found in FORMULA.finditer(marked) for at in range(*found.span())}
    for piece in find_marks(marked):
        text = piece.text if isinstance(piece, Mark) else piece
        if isinstance(piece, Mark) and place not in formulas:
            cited.append((place, piece))
            places.append(place)
            text = " " * len(text)
        clean.append(text)
        place += len(text)
    plain = blank_markup("".join(clean))
    heads = table_heads(marked)
    found: list[tuple[TextSpan, Sequence[tuple[int, Mark]], dict[int, None], int]] = []
    for span in sentences(marked):
        head = bisect_right(heads, span.start, key=_start) - 1
        if head >= 0 and span.start < heads[head].end:
            continue
        marks = cited[bisect_left(places, span.start) : bisect_left(places, span.end)]
        if squeezed(plain[span.start : span.end]):
            found.append((span, marks, {}, span.end))
        elif marks and found:
            first, own, more, _ = found[-1]
            more.update(dict.fromkeys(number for _, mark in marks for number in mark.numbers))
            found[-1] = (first, own, more, span.end)
    return [_cited_sentence(answer, plain, *one) for one in found]


def _cited_sentence(
    answer: str, plain: str, span: TextSpan, marks: Sequence[tuple[int, Mark]], more: dict[int, None], end: int
) -> CitedSentence:
    """Return a sentence whose text ends at `end`, extended by the lines of markers after it, which cite `more`."""
    said = plain[span.start : min(span.end, span.start + MAX_SENTENCE)]
    parts = _parts(plain, span, marks)
    if more or len(said) < span.end - span.start:
        numbers = dict.fromkeys(number for _, mark in marks for number in mark.numbers) | more
        parts = (Part(said, tuple(numbers), span.start),)
    return CitedSentence(span.start, end, answer[span.start : end], said, parts)


def _start(span: TextSpan) -> int:
    return span.start


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
    whole = (Part(plain[span.start : span.end], everything, span.start),)
    if not groups or (len(groups) == 1 and len(_words(plain[after : span.end])) <= _SHORT):
        return whole
    parts, begin = [], span.start
    for at, numbers in groups:
        said = _JOINED.sub("", plain[begin:at], count=1)
        parts.append(Part(said, tuple(dict.fromkeys(numbers)), at - len(said)))
        begin = at
    if squeezed(rest := plain[begin : span.end]):
        parts.append(Part(rest, everything, begin))
    return tuple(parts) if all(len(_words(part.text)) >= _CLAUSE for part in parts) else whole


def quotes_of(text: str) -> list[TextSpan]:
    """Return the positions of quotations in a sentence, without the marks; one or two words are not a quotation."""
    spans = []
    for found in _QUOTES.finditer(text):
        group = found.lastindex or 0
        words = found[group].split()
        if len(words) >= _QUOTED_WORDS or (
            not found[group].isascii() and len(words) == 1 and len(found[group]) >= _QUOTED_SIGNS
        ):
            spans.append(TextSpan(*found.span(group)))
    return spans
