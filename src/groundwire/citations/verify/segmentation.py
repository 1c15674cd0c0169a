"""Sentence segmentation with positions, and the normal form in which words are compared."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from groundwire.citations.marker_parser import FORMULA, Mark, find_marks, plain_marks, without_sources
from groundwire.citations.verify.language_packs import DENSE, Language, fold, language, months_of_all

__all__ = [
    "CONTENT_WORD",
    "JOINS",
    "MAX_SENTENCE",
    "NEW_CLAUSE",
    "CitedSentence",
    "Part",
    "TextSpan",
    "blank_markup",
    "blocks",
    "most_like",
    "other_first_names",
    "pieces_of",
    "quotes_of",
    "sentences",
    "sentences_of",
    "sentences_of_block",
    "spelled_words",
    "squeezed",
    "table_heads",
    "unjoined",
    "words_of",
]

_INITIALS: Final = re.compile(r"(?<!\w)(?P<initials>(?:[^\W\d_]\.[ \u00a0-]?){1,3})(?P<last>[^\W\d_]{3,40})(?!\w)")
_NAMES: Final = 8  # names with initials in a sentence that are looked for on the page
_BEARERS: Final = 400  # occurrences of a last name that are looked at
_FIRST_NAMES: Final = 40  # characters before a last name in which first names are looked for
_QUOTES: Final = re.compile(
    r"“([^”\n]{2,1000})”|«([^»\n]{2,1000})»|„([^“”\n]{2,1000})[“”]|(?<!\w)\"([^\"\n]{2,1000})\"(?!\w)|「([^」\n]{2,1000})」|『([^』\n]{2,1000})』"
)
_QUOTED_WORDS: Final = 3  # fewer are a title or a term
_QUOTED_SIGNS: Final = 6  # the same in a script without spaces


@dataclass(frozen=True, slots=True)
class TextSpan:
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
    r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*(?=\s|$|\[\d|[【［])|[。！？｡][\"”’»）」』]*"
    r"|(?<![।؟۔])[।؟۔]+(?=\s|$|\[\d|[【［])",  # anchored at the first of a run, or each would start a match
)
_MARKS_AFTER: Final = re.compile(r"(?:[ \t]*(?:\[[\d ,;\-–—]{1,40}\]|【[^】\n]{1,40}】|［[^］\n]{1,40}］)){1,50}")
_DAY: Final = re.compile(r"(?<!\d)\d{1,2}\.$")
_COUNTED: Final = re.compile(
    r"(?<!\bI )\b(?:d(?:e[rmns]|ie|as)|[aio]m|ins|zu[mr]|vom|beim|(?:ihr|sein|jed)e[mnrs]?)\s\d+\.$"
)
_MONTH: Final = re.compile(r"\s+([^\W\d_]+)")
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[*_]*([^\s])")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|e\.g|i\.e|cf|al|no|nos|vol|fig|pp?|ed|eds|approx|ca|inc|ltd|co|corp|dept|est|gen|gov|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|u\.s|u\.k|u\.n|a\.m|p\.m|ph\.d|z\.b|bzw|ggf|usw|nr|bd|ca|mio|mrd|tsd|млн|млрд|тыс|руб|им|ул|mme|mlle|sra)|\b[A-Za-zÀ-Þ])\.$",
    re.IGNORECASE,
)


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
        return month[1].lower() not in months_of_all()  # 31. März
    return marked or not _ABBREVIATION.search(text, dot - 12, dot + 1)


def _trimmed(text: str, start: int, end: int) -> Iterator[TextSpan]:
    piece = text[start:end]
    if stripped := piece.strip():
        begin = start + len(piece) - len(piece.lstrip())
        yield TextSpan(begin, begin + len(stripped))


CONTENT_WORD: Final = re.compile(rf"[{DENSE}]+|[^\W\d_{DENSE}]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
"""Yield the words, numbers and runs of a script without spaces."""

_IS_DENSE: Final = re.compile(rf"[{DENSE}]")
_SQUEEZE: Final = re.compile(r"[\W_]+")
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


def words_of(text: str, tongue: Language | None = None) -> list[str]:
    """Return the words of a text without function words, in normal form."""
    return [form for form, _ in spelled_words(text, tongue)]


def spelled_words(text: str, tongue: Language | None = None) -> list[tuple[str, str]]:
    """Return the words of a text without function words, in normal form and as spelled.

    Args:
        text: The text.
        tongue: Its language; English when none is given.
    """
    tongue = tongue or language("en")
    found: list[tuple[str, str]] = []
    for word in CONTENT_WORD.findall(text):
        if not word.isascii() and _IS_DENSE.match(word):
            found += [(word[place : place + 2],) * 2 for place in range(max(1, len(word) - 1))]
        elif word[0].isdecimal():
            found.append((word, word))
        elif not tongue.is_function(word):
            found.append((tongue.normal_form(word), word))
    return found


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in lower case, with one space between words."""
    return _SQUEEZE.sub(" ", text.casefold()).strip()


_SHORT: Final = 4  # words after the last marker from which they form a part of their own
_CLAUSE: Final = 2  # words and numbers of a clause that is verified on its own
JOINS: Final = re.compile(
    r"[;；]|[,，、،](?=\s|[^\x00-\x7f])|\s(?=(?:and|but|while|whereas|und|während|aber|et|tandis|mais|y|mientras|pero|e|enquanto|mas|и|а|но|بينما)\s)"
    r"|\s(?=و[^\W\d_]{3})",
    re.IGNORECASE,
)
_AND: Final = r"(?:and|but|und|aber|et|mais|y|pero|e|mas|и|а|но|و)(?=\s)"
_JOINED: Final = re.compile(rf"^[\s,;，、；،]*(?:{_AND})?\s*", re.IGNORECASE)
NEW_CLAUSE: Final = re.compile(rf"\s*(?:[;；]|[,，、،]\s*{_AND})", re.IGNORECASE)
"""Matches a semicolon, or a comma and a conjunction, at the beginning of a part of a sentence."""


@dataclass(frozen=True)
class Part:
    """A part of a sentence, and the numbers it cites."""

    text: str
    """Its text, without markers and markup."""
    numbers: tuple[int, ...]
    """The numbers it cites."""


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
        parts = (Part(said, tuple(numbers)),)
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
    whole = (Part(plain[span.start : span.end], everything),)
    if not groups or (len(groups) == 1 and len(words_of(plain[after : span.end])) <= _SHORT):
        return whole
    parts, begin = [], span.start
    for at, numbers in groups:
        parts.append(Part(unjoined(plain[begin:at]), tuple(dict.fromkeys(numbers))))
        begin = at
    if squeezed(rest := plain[begin : span.end]):
        parts.append(Part(rest, everything))
    return tuple(parts) if all(len(words_of(part.text)) >= _CLAUSE for part in parts) else whole


def unjoined(text: str) -> str:
    """Return a part of a sentence without the comma and the conjunction by which it follows another."""
    return _JOINED.sub("", text, count=1)


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


def pieces_of(quote: str) -> list[str]:
    """Split a quotation at its ellipses."""
    return quote.replace("[…]", "…").replace("[...]", "…").replace("...", "…").strip(" .,;").split("…")


def most_like(quote: str, stated: str, tongue: Language) -> str:
    """Return the part of a passage most similar to a quotation."""
    words, wanted = stated.split(), [tongue.normal_form(word.strip(".,;:\"“”'")) for word in quote.split()]
    given = [tongue.normal_form(word.strip(".,;:\"“”'")) for word in words]
    blocks = SequenceMatcher(None, given, wanted, autojunk=False).get_matching_blocks()[:-1]  # the last is empty
    if not blocks:
        return stated
    first = max(0, blocks[0].a - blocks[0].b)
    last = blocks[-1].a + blocks[-1].size + (len(wanted) - blocks[-1].b - blocks[-1].size)
    return " ".join(words[first:last])


def other_first_names(text: str, near: str, page: str, tongue: Language) -> list[tuple[str, str]]:
    """Return the names with initials that a page contradicts, with the page's: A. Miller, Peter Miller.

    Args:
        text: The sentence.
        near: The passage.
        page: The whole page, on which another bearer of the name may have the initial.
        tongue: Its language. Where nouns are capitalized, the word before a name may be one, and nothing is returned.
    """
    found: list[tuple[str, str]] = []
    for name in itertools.islice(_INITIALS.finditer(text), 0 if tongue.nouns else _NAMES):
        initials = {letter for letter in fold(name["initials"]) if letter.isalpha()}
        here = next(_first_names(name["last"], near, tongue), []) if name["initials"].isupper() else []
        if here and initials.isdisjoint(word[0] for one in _first_names(name["last"], page, tongue) for word in one):
            found.append((name[0], f"{' '.join(here)} {name['last']}".title()))
    return found


def _first_names(last: str, text: str, tongue: Language) -> Iterator[list[str]]:
    """Yield what precedes a last name in a text: first names and initials, folded, unless it is a title."""
    bearers = re.finditer(rf"(?<!\w){re.escape(last)}(?!\w)", text)
    for match in itertools.islice(bearers, _BEARERS if last.istitle() else 0):
        words: list[str] = []
        for word in reversed(text[max(0, match.start() - _FIRST_NAMES) : match.start()].split()[-3:]):
            plain = word.rstrip(".")
            if not plain.istitle() or not plain.isalpha() or (len(plain) > 1 and tongue.is_function(plain)):
                break
            words.insert(0, fold(plain))
        if words and tongue.titles.isdisjoint(words) and tongue.not_names.isdisjoint(words):
            yield words
