"""Ranking of passages for a query: BM25 over the sentences, rows and lines of one page.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. A sentence alone has little
context, so its headings and the sentences around it count too: a word of the query there adds to the same word in the
sentence itself, with diminishing returns (section 3.6 on fields). So do words that share most of their letters with one
of the query, and a number or a date if the query asks for one.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.terms import Terms, expected, is_common, related
from groundwire.reading.text.truncate import is_rule

_MAX_LENGTH: Final = 260  # characters; a longer sentence is split
_MIN_LENGTH: Final = 40  # characters; a shorter part stays with the next one
_EMPTY_LINE: Final = re.compile(r"\n[ \t>]*\n\s*")
_ROW: Final = re.compile(r"[ \t>]*\|")
_CELL: Final = re.compile(r"(?<!\\)\|(?=[ \t])")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(
    # not after an initial or a day, nor before a small letter: "J. Smith", "7. Mai", "approx. ten"
    r"""(?:(?<![\s(.]\w)(?<!\s\d\d)\.|[!?\u2026])["')\]\u2019\u201d\u00bb*_]{0,3}\s+(?![a-z\u00df-\u00ff])"""
    r"|[\u3002\uff01\uff1f\u0964\u06d4]\s*"
    r"|\n(?=[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]))"
)
_CLAUSE: Final = re.compile(r"[;:,\u2013\u2014\u061b\u060c]\s+|[\uff0c\u3001\uff1b]")
_SPACE: Final = re.compile(r"\s+")
_ANY_TEXT: Final = re.compile(f".{{{_MAX_LENGTH}}}", re.DOTALL)
_IN_TEXT: Final = (_LINE, _CLAUSE, _SPACE, _ANY_TEXT)
_IN_CODE: Final = (_EMPTY_LINE, _LINE, _ANY_TEXT)
_IN_ROW: Final = (_CELL, _ANY_TEXT)
LINK: Final = re.compile(
    r"!?\[((?:[^\[\]]|!?\[[^\[\]]{0,400}\](?:\([^()\s]{0,2000}\))?){0,600})\]"
    r"\((?:[^()\s]|\([^()\s]{0,400}\)){0,2000}(?:\s\"[^\"\n]{0,300}\")?\)"
)
"""A link or an image, with its label."""
_UNIT: Final = re.compile(rf"{LINK.pattern}|`[^`\n]{{1,200}}`|<https?://[^>\s]{{1,2000}}>")
_HEADING: Final = -2


class Passage(NamedTuple):
    """A part of a page."""

    start: int
    """Its start."""
    end: int
    """Its end, without trailing white space."""
    path: tuple[int, ...]
    """The headings above it, by index."""
    head: int = -1
    """The start of its table; -1 if it is not a row."""


def passages_of(document: Outline) -> list[Passage]:
    """Split a page into passages. A heading belongs to the passage that follows it."""
    passages: list[Passage] = []
    headings: int | None = None  # the start of headings without following text
    label = False  # whether the last passage is short enough to be a label of the next
    for start, end, head in _spans(document):
        if head == _HEADING:
            headings = start if headings is None else headings
            continue
        if label and headings is None and head < 0 and end - passages[-1].start <= _MAX_LENGTH:
            passages[-1] = passages[-1]._replace(end=end)
        else:
            begin = start if headings is None else headings
            passages.append(Passage(begin, end, document.heading_path(start), head))
        label, headings = head < 0 and end - passages[-1].start < _MIN_LENGTH, None
    if headings is not None:
        end = len(document.text.rstrip())
        passages.append(Passage(headings, end, document.heading_path(end)))
    return passages


def _spans(document: Outline) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of a page with the start of their table, or `_HEADING`."""
    text = document.text
    fixed = [(heading.start, heading.end, True) for heading in document.headings]
    fixed += [(code.start, len(text) if code.end is None else code.end, False) for code in document.codes]
    place = 0
    for start, end, is_heading in (*sorted(fixed), (len(text), len(text), True)):
        if start < place:
            continue
        begin = place
        for gap in (*_EMPTY_LINE.finditer(text, place, start), None):
            stop = start if gap is None else gap.start()
            for first, last, head in _parts(text, begin, stop):
                block = text[first:last]
                first += len(block) - len(block.lstrip())
                last -= len(block) - len(block.rstrip())
                if first < last:
                    yield first, last, head
            begin = stop if gap is None else gap.end()
        if not is_heading:
            yield from ((begin, stop, -1) for begin, stop in _divided(text, start, end, _IN_CODE, ()))
        elif start < end:
            yield start, end, _HEADING
        place = end


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of a block: sentences, then table rows, the first with its delimiter row."""
    line = start
    while line < end and not _ROW.match(text, line):
        line = text.find("\n", line, end) + 1 or end
    fixed = [unit.span() for unit in _UNIT.finditer(text, start, end)]
    last = start
    for cut in (
        *(match.end() for match in _SENTENCE.finditer(text, start, line) if not _inside(match.end(), fixed)),
        line,
    ):
        if last < cut and (cut == line or cut - last >= _MIN_LENGTH):
            yield from ((first, stop, -1) for first, stop in _divided(text, last, cut, _IN_TEXT, fixed))
            last = cut
    head = line
    while line < end:
        stop = text.find("\n", line, end) + 1 or end
        rule = text.find("\n", stop, end) + 1 or end
        if line == head and is_rule(text[stop:rule].strip(" \t>\n")[:2_000]):
            stop = rule
        if stop - line > 2 * _MAX_LENGTH and line != head:
            yield from ((first, cut, head) for first, cut in _divided(text, line, stop, _IN_ROW, fixed))
        else:
            yield line, stop, head
        line = stop


def _divided(
    text: str, start: int, end: int, patterns: tuple[re.Pattern[str], ...], fixed: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, int]]:
    """Split parts that are too long with the first suitable pattern, never inside a link."""
    if end - start <= _MAX_LENGTH or not patterns:
        yield start, end
        return
    begin = last = start
    cuts = (match.end() for match in patterns[0].finditer(text, start, end))
    for cut in (*(cut for cut in cuts if not _inside(cut, fixed)), end):
        if last > begin and cut - begin > _MAX_LENGTH:
            yield from _divided(text, begin, last, patterns[1:], fixed)
            begin = last
        last = cut
    yield from _divided(text, begin, end, patterns[1:], fixed)


def _inside(place: int, fixed: Sequence[tuple[int, ...]]) -> bool:
    at = bisect_left(fixed, (place,)) - 1
    return at >= 0 and place < fixed[at][1]


_K1: Final = 2.0
_B: Final = 0.5
_ABOVE: Final = 0.8  # weight of a term in a heading
_COMMON: Final = 0.1  # weight of a word that occurs everywhere
_COVERED: Final = 0.6  # part of the score that depends on the coverage of the query
_AROUND: Final = (0.42, 0.35, 0.28, 0.21, 0.14)  # weights of a term in the passages around, by distance
_EXPECTED: Final = 3.0  # bonus for a number where one is asked for
_MATCHES: Final = 20  # places of a passage that may be what is asked for
_ANY: Final = 0.8  # share of the highest score for any number where one is asked for
_ALIKE: Final = 0.4  # minimum share of common letters of related words
_INSIDE: Final = 0.8  # share of the letters of a word inside another, as in a compound
_KIN: Final = 0.6  # weight of a word related to one of the query
_RELATED: Final = 0.8  # weight of a word that says one of the query in other words
_GRAM: Final = 3  # letters
_LONGEST: Final = 40  # letters of a word that are compared
_ROOT: Final = 5  # letters that identify a word
_NONE: Final[Mapping[str, float]] = {}
_WORDS: Final = 20_000  # words of a page that are compared for relatedness


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage and its score."""

    number: int
    """Its index among the passages of the page."""
    passage: Passage
    """The passage."""
    score: float
    """Higher is better."""
    terms: frozenset[str]
    """The terms in it."""
    focus: int = 0
    """The position of its most relevant part on the page."""


class Matches(NamedTuple):
    """Where the words of a query are on a page."""

    weights: Mapping[str, float]
    """The words, and how much each counts: the rarer, the more."""
    texts: Sequence[str]
    """The passages without link targets."""
    hits: Sequence[Mapping[str, float]]
    """How often each has each word of the query, or words related to it, which count less."""
    above: Sequence[Mapping[str, float]]
    """The same for the headings."""


def text_of(document: Outline, passage: Passage) -> str:
    """Return the text of a passage without link targets."""
    text = document.text[passage.start : passage.end]
    return LINK.sub(r"\1", text) if "](" in text else text


def score_passages(document: Outline, query: str) -> tuple[list[Ranked], Matches]:
    """Score the passages of a page, in page order; those without any term of the query have a score of 0.

    Args:
        document: The page.
        query: The query.
    """
    terms_of = Terms()
    words = terms_of(query)
    text, passages = document.text, passages_of(document)
    texts = [text_of(document, passage) for passage in passages]
    rows = [terms_of(words_of) for words_of in texts]
    if not words or not rows:
        unmatched = [Ranked(at, passage, 0.0, frozenset()) for at, passage in enumerate(passages)]
        return unmatched, Matches({}, texts, [{}] * len(rows), [])
    headings = [frozenset(terms_of(heading.title)) for heading in document.headings]
    sets = [frozenset(row) for row in rows]
    kin = _kin(words, set().union(*sets, *headings))
    hits = [_hits(row, kin) for row in rows]
    above = [_hits(heading, kin) for heading in headings]
    weights = _weights(words, Counter(term for hit in hits for term in hit), len(rows))
    total = sum(weights.values()) or 1.0
    mean = sum(map(len, rows)) / len(rows) or 1.0
    scores = []
    for number, (row, hit, passage) in enumerate(zip(rows, hits, passages, strict=True)):
        near = [(above[heading], _ABOVE) for heading in passage.path]
        often = _with_context(hit, near + [(hits[beside], counts) for beside, counts in _around(passages, number)])
        score = covered = 0.0
        for term, times in often.items():
            score += weights[term] * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * len(row) / mean))
            covered += weights[term] * min(1.0, times)
        scores.append(score * (1 - _COVERED + _COVERED * covered / total))
    answer, highest = expected(query), max(scores)
    ranked = []
    for at, passage in enumerate(passages):
        score, focus = scores[at], passage.start
        best = ""
        if hits[at]:
            candidates = ((word, times, term) for term in sets[at] for word, times in kin.get(term, _NONE).items())
            best = max((weights[word] * times, term) for word, times, term in candidates)[1][:_ROOT]
        matches = islice(answer.finditer(texts[at]), _MATCHES) if highest and answer is not None else ()
        place = max(0, texts[at].casefold().find(best))
        if (match := min(matches, key=lambda occurrence: abs(occurrence.start() - place), default=None)) is not None:
            score = score * (1 + _EXPECTED) + _ANY * highest
            focus = max(focus, text.find(match[0], passage.start + match.start(), passage.end))
        elif best:
            focus += max(0, text[passage.start : passage.end].casefold().find(best))
        ranked.append(Ranked(at, passage, round(score, 4), sets[at], focus))
    return ranked, Matches(weights, texts, hits, above)


def _kin(words: Iterable[str], vocabulary: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the words of the query that each word of a page equals or is related to, with weights."""
    kin: dict[str, dict[str, float]] = {word: {word: 1.0} for word in words}
    targets = [(word, _grams(word), *related(word)) for word in kin if not is_common(word)]
    for other in islice(vocabulary, _WORDS) if targets else ():
        theirs = _grams(other)
        for word, own, terms, beginnings in targets:
            if other == word:
                continue
            if other in terms or other.startswith(beginnings):
                kin.setdefault(other, {})[word] = _RELATED
            elif not own.isdisjoint(theirs) and (alike := _likeness(own, theirs)):
                kin.setdefault(other, {})[word] = _KIN * alike
    return kin


def _likeness(own: frozenset[str], theirs: frozenset[str]) -> float:
    """Return the share of the letters that two words have in common; 0 if they are not related."""
    shared, least = len(own & theirs), min(len(own), len(theirs))
    alike = 2 * shared / (len(own) + len(theirs) or 1)
    if shared >= _INSIDE * least and least > _GRAM:
        alike = max(alike, _INSIDE)
    return alike if alike >= _ALIKE else 0.0


def _grams(word: str) -> frozenset[str]:
    """Return the groups of letters by which a word is compared; none for short words and numbers."""
    if len(word) <= _GRAM or not word.isalpha():
        return frozenset()
    word = f"^{word[:_LONGEST]}"
    return frozenset(word[at : at + _GRAM] for at in range(len(word) - _GRAM + 1))


def _hits(terms: Iterable[str], kin: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the frequencies of the query's words among terms."""
    hits: dict[str, float] = {}
    for term in terms:
        for word, counts in kin.get(term, _NONE).items():
            hits[word] = hits.get(word, 0.0) + counts
    return hits


def _with_context(hits: dict[str, float], near: Sequence[tuple[dict[str, float], float]]) -> dict[str, float]:
    often = dict(hits)
    for others, counts in near:
        for word in others:
            often[word] = often.get(word, 0.0) + counts * min(1.0, others[word])
    return often


def _weights(words: Iterable[str], spread: Counter[str], count: int) -> dict[str, float]:
    """Return the weight of each word of the query: the rarer, the higher."""
    return {
        word: math.log(1 + (count - spread[word] + 0.5) / (spread[word] + 0.5)) * (_COMMON if is_common(word) else 1.0)
        for word in words
    }


def _around(passages: Sequence[Passage], at: int) -> Iterator[tuple[int, float]]:
    """Yield the passages around one in the same section, with the weights of a term in them."""
    for step, counts in enumerate(_AROUND, start=1):
        for beside in (at - step, at + step):
            if 0 <= beside < len(passages) and passages[beside].path == passages[at].path:
                yield beside, counts
