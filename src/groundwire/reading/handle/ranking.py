"""Which passages answer a query: BM25 over the passages of one page, with the headings they stand under.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; how often a term stands in the
headings counts as a part of how often it stands in the passage (BM25F, simplified).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from groundwire.reading.handle.document import Document
from groundwire.reading.handle.passages import Passage, passages_of
from groundwire.reading.handle.words import Terms, is_common

__all__ = ["Ranked", "rank"]

_K1: Final = 1.2
_B: Final = 0.4  # passages are of like length; a short one is not much better for being short
_OWN, _ABOVE = 0.8, 0.3  # what a term in the nearest heading counts, and in the others
_COMMON: Final = 0.1  # what a word that stands everywhere counts
_COVERED: Final = 0.7  # the part of the score that depends on how much of the query is there
_NEXT: Final = 0.12  # what the score of each neighbour adds
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
    """What stands in it."""


def rank(document: Document, query: str) -> list[Ranked]:
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
        Ranked(at, passage, round(_with_neighbours(scores, passages, at), 4), sets[at])
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


def _with_neighbours(scores: list[float], passages: list[Passage], at: int) -> float:
    """Return a score with a part of those beside it in the same section."""
    score = scores[at]
    for beside in (at - 1, at + 1):
        if 0 <= beside < len(scores) and passages[beside].path == passages[at].path:
            score += _NEXT * scores[beside]
    return score
