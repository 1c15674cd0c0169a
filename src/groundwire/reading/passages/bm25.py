"""Which passages answer a query: BM25 over the passages of one page, with the headings above them.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; a term's frequency in the
headings counts as a part of its frequency in the passage (BM25F, simplified).

A page as a row of passages: as short as may be, as long as makes sense, in the order of the page.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.terms import Terms, is_common

__all__ = ["Passage", "Ranked", "passages_of", "rank"]

_LONG: Final = 600  # characters; a block that is longer is parted
_SHORT: Final = 200  # characters; what is shorter stays with its neighbor
_EMPTY_LINE: Final = re.compile(r"\n[ \t>]*\n\s*")
_ITEM: Final = re.compile(r"\n(?=[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\|))")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"""[.!?\u2026]["')\]\u2019\u201d\u00bb*_]{0,3}\s+|[\u3002\uff01\uff1f\u0964\u06d4]\s*""")
_SPACE: Final = re.compile(r"\s+")
_IN_TEXT: Final = (_ITEM, _SENTENCE, _LINE, _SPACE)
_IN_CODE: Final = (_EMPTY_LINE, _LINE)


class Passage(NamedTuple):
    """A part of a page."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends, without the blanks behind it."""
    path: tuple[int, ...]
    """The headings above it, by their numbers from 0."""


def passages_of(document: Outline) -> list[Passage]:
    """Return the passages of a page. A heading belongs to the passage that follows it."""
    found: list[Passage] = []
    headings: int | None = None  # where the headings begin that nothing has followed yet
    for start, end, is_heading in _spans(document):
        if is_heading:
            headings = start if headings is None else headings
            continue
        last = found[-1] if found else None
        if last and headings is None and last.end - last.start < _SHORT and end - last.start <= _LONG:
            found[-1] = Passage(last.start, end, last.path)
            continue
        found.append(Passage(start if headings is None else headings, end, document.heading_path(start)))
        headings = None
    if headings is not None:
        end = len(document.text.rstrip())
        found.append(Passage(headings, end, document.heading_path(end)))
    return found


def _spans(document: Outline) -> Iterator[tuple[int, int, bool]]:
    """Yield the blocks of a page, parted where they are long, and whether each is a heading."""
    text = document.text
    fixed = [(heading.start, heading.end, True) for heading in document.headings]
    fixed += [(code.start, len(text) if code.end is None else code.end, False) for code in document.codes]
    place = 0
    for start, end, is_heading in sorted(fixed):
        if start < place:
            continue
        yield from _blocks(text, place, start)
        if is_heading:
            yield start, end, True
        else:
            yield from ((begin, stop, False) for begin, stop in _divided(text, start, end, _IN_CODE))
        place = end
    yield from _blocks(text, place, len(text))


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    begin = start
    for stop, further in (*((m.start(), m.end()) for m in _EMPTY_LINE.finditer(text, start, end)), (end, end)):
        for first, last in _divided(text, begin, stop, _IN_TEXT):
            block = text[first:last]
            first += len(block) - len(block.lstrip())
            last -= len(block) - len(block.rstrip())
            if first < last:
                yield first, last, False
        begin = further


def _divided(text: str, start: int, end: int, patterns: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, int]]:
    """Yield parts of a block that are not too long, cut by the first pattern that cuts it short enough."""
    if end - start <= _LONG:
        yield start, end
        return
    if not patterns:
        yield from ((begin, min(begin + _LONG, end)) for begin in range(start, end, _LONG))
        return
    begin = last = start
    for cut in (*(match.end() for match in patterns[0].finditer(text, start, end)), end):
        if cut - begin > _LONG and last > begin:
            yield from _divided(text, begin, last, patterns[1:])
            begin = last
        last = cut
    yield from _divided(text, begin, end, patterns[1:])


_K1: Final = 1.2
_B: Final = 0.4  # passages are of like length; a short one is not much better for being short
_OWN, _ABOVE = 0.8, 0.3  # what a term in the nearest heading counts, and in the others
_COMMON: Final = 0.1  # what a word that stands everywhere counts
_COVERED: Final = 0.7  # the part of the score that depends on how much of the query is there
_NEXT: Final = 0.12  # what the score of each neighbor adds
_TOGETHER: Final = 0.3  # what two words count for standing together as in the query
_KIN: Final = 0.6  # what a word counts that begins like one of the query that is not on the page
_ALIKE: Final = 4  # letters that kin have in common at least


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage and how well it answers."""

    number: int
    """Its place among the passages of the page, from 0."""
    passage: Passage
    """The passage."""
    score: float
    """Higher is better."""
    terms: frozenset[str]
    """The terms in it."""


def rank(document: Outline, query: str) -> list[Ranked]:
    """Return the passages of a page in their order; those that share nothing with the query have a score of 0."""
    terms_of = Terms()
    asked = list(dict.fromkeys(terms_of(query)))
    passages = passages_of(document)
    rows = [terms_of(document.text[passage.start : passage.end]) for passage in passages]
    if not asked or not rows:
        return [Ranked(at, passage, 0.0, frozenset()) for at, passage in enumerate(passages)]
    heads = [Counter(terms_of(heading.title)) for heading in document.headings]
    sets = [frozenset(row) for row in rows]
    spread = Counter(term for terms in sets for term in terms)
    weights = _weights(asked, spread, len(rows), set().union(*heads) if heads else set())
    together = {pair for pair in pairwise(terms_of(query)) if not any(map(is_common, pair))}
    total = sum(weight for term, weight in weights.items() if term in asked) or 1.0
    mean = sum(map(len, rows)) / len(rows) or 1.0
    scores = [
        _score(row, passage, weights, heads, mean=mean, total=total, together=together)
        for row, passage in zip(rows, passages, strict=True)
    ]
    return [
        Ranked(at, passage, round(_with_neighbors(scores, passages, at), 4), sets[at])
        for at, passage in enumerate(passages)
    ]


def _weights(asked: list[str], spread: Counter[str], count: int, in_headings: set[str]) -> dict[str, float]:
    """Return what each term counts; words on the page that begin alike stand in for those that are not there."""
    weights: dict[str, float] = {}
    for term in asked:
        rarity = math.log(1 + (count - spread[term] + 0.5) / (spread[term] + 0.5))
        weights[term] = rarity * (_COMMON if is_common(term) else 1.0)
        if spread[term] or term in in_headings or is_common(term) or not term.isalpha():
            continue
        for kin in _kin(term, spread):
            rarity = math.log(1 + (count - spread[kin] + 0.5) / (spread[kin] + 0.5))
            weights[kin] = max(weights.get(kin, 0.0), _KIN * rarity)
    return weights


def _kin(term: str, spread: Counter[str]) -> list[str]:
    least = max(_ALIKE, math.ceil(0.7 * len(term)))
    beginning = term[:least]
    if len(beginning) < least:
        return []
    return [other for other in spread if other.startswith(beginning) and len(other) <= len(term) + _ALIKE]


def _score(
    row: list[str],
    passage: Passage,
    weights: dict[str, float],
    heads: list[Counter[str]],
    *,
    mean: float,
    total: float,
    together: set[tuple[str, str]],
) -> float:
    found = Counter(term for term in row if term in weights)
    path = passage.path
    score = covered = 0.0
    for term, weight in weights.items():
        often = float(found[term])
        if path:
            often += _OWN * (heads[path[-1]][term] > 0)
            often += _ABOVE * any(heads[at][term] for at in path[:-1])
        if often:
            score += weight * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * len(row) / mean))
            covered += weight
    if score and together:
        score += _TOGETHER * sum(weights[pair[0]] + weights[pair[1]] for pair in together.intersection(pairwise(row)))
    return score * (1 - _COVERED + _COVERED * min(1.0, covered / total))


def _with_neighbors(scores: list[float], passages: list[Passage], at: int) -> float:
    """Return a score with a part of those beside it in the same section."""
    score = scores[at]
    for beside in (at - 1, at + 1):
        if 0 <= beside < len(scores) and passages[beside].path == passages[at].path:
            score += _NEXT * scores[beside]
    return score
