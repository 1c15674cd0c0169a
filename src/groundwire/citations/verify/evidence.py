"""The evidence for a sentence on the pages that it cites, and the probability that they support it.

The evidence is a handful of counts: how many words of the sentence, by rarity, are in the best passage and on the page,
how many follow one another as they do there, and how many of its numbers, dates and names are missing.
`benchmarks/learn_claims.py` learns from claims that people judged how much each count says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Any, Final

from groundwire.citations.verify.language_data import Language
from groundwire.citations.verify.passage_index import PageIndex, terms_in
from groundwire.citations.verify.values import ValueToken, same_value, tokens_of
from groundwire.reading.passages.terms import Terms, is_common

FEATURES: Final = (
    "rarity_sentence", "rarity_passage", "rarity_wide", "rarity_page", "local_sentence", "local_page", "plain_passage",
    "plain_page", "prefix_passage", "pairs_passage", "pairs_page", "order", "run", "gap", "rarest_missing",
    "values_missing", "values_elsewhere", "names_missing", "claim_size", "page_size", "sentence_size",
)  # fmt: skip
"""What is counted, in the order of the weights."""

_PASSAGE_SENTENCES: Final = 3  # sentences
_WIDE_SENTENCES: Final = 7
_PREFIX_CHARS: Final = 5  # letters that related words have in common
_NAME: Final = re.compile(r"(?<=\S )[^\W\d_a-z][^\W\d_]+")


class Claim:
    """What a sentence, or a part of one, says.

    Args:
        text: The sentence without markers and markup.
        terms: Extracts terms.
        tongue: The language of its page.
        start: Its first code point in the answer.
    """

    def __init__(self, text: str, terms: Terms, tongue: Language, start: int = 0) -> None:
        self.text = text
        self.start = start
        self.terms: list[str] = terms_in(text, terms, tongue)
        self.distinct: list[str] = list(dict.fromkeys(self.terms))
        self.content: list[str] = [term for term in self.distinct if not is_common(term)] or self.distinct
        self.weights: dict[str, float] = {term: _rarity(term) for term in self.content}
        self.names: list[str] = [term for name in _NAME.findall(text) for term in terms_in(name, terms, tongue)]
        self.tokens: list[ValueToken] = tokens_of(text, tongue)
        self.values: list[tuple[ValueToken, list[str]]] = [
            (token, terms(text[token.start : token.end])) for token in self.tokens if token.kind in {"number", "date"}
        ]


@dataclass(frozen=True, slots=True)
class PagePassage:
    """A passage of a page."""

    index: PageIndex
    """The page."""
    first: int
    """Its first sentence."""
    size: int
    """How many sentences it has."""

    @property
    def words(self) -> frozenset[str]:
        """Its terms."""
        return self.index.words(self.first, self.size)

    @property
    def tokens(self) -> list[ValueToken]:
        """Its words as they are compared."""
        return self.index.tokens(self.first, self.size)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a sentence on the pages that it cites."""

    counts: tuple[float, ...]
    """The counts, in the order of `FEATURES`."""
    passages: tuple[PagePassage, ...]
    """The best passage of each page that has one."""
    sentence: PagePassage | None
    """The best sentence."""


def _share(weights: Mapping[str, float], among: Container[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in among) / total if total else 0.0


def evidence(claim: Claim, pages: Sequence[PageIndex]) -> Evidence:
    """Return what speaks for a sentence on pages taken together."""
    weights = claim.weights
    plain = dict.fromkeys(weights, 1.0)
    passages: list[PagePassage] = []
    wide: frozenset[str] = frozenset()
    everything: frozenset[str] = frozenset()
    sentence, sentence_share, local_sentence_share, local_page = None, 0.0, 0.0, 0.0
    for index in pages:
        everything |= index.postings.keys() | index.title
        many = len(index.sets) + 1
        local = {term: math.log(1 + many / (len(index.postings.get(term, ())) + 0.5)) for term in weights}
        local_page = max(local_page, _share(local, index.postings.keys()))
        places = index.candidates(weights.items(), _PASSAGE_SENTENCES)
        if not places:
            continue
        candidates = (PagePassage(index, at, _PASSAGE_SENTENCES) for at in places)
        best = max(candidates, key=lambda passage: _share(weights, passage.words))
        passages.append(best)
        wide |= index.words(best.first - 2, _WIDE_SENTENCES)
        near = {at for place in places for at in range(place, min(place + _PASSAGE_SENTENCES, len(index.sets)))}
        for at in sorted(near):
            if (share := _share(weights, index.sets[at])) > sentence_share:
                sentence_share, sentence = share, PagePassage(index, at, 1)
            local_sentence_share = max(local_sentence_share, _share(local, index.sets[at]))
    words = frozenset[str]().union(*(passage.words for passage in passages))
    counts = _counts(claim, pages, passages, words, everything)
    shares = {
        "rarity_sentence": sentence_share,
        "rarity_passage": _share(weights, words),
        "rarity_wide": _share(weights, wide | words),
        "rarity_page": _share(weights, everything),
        "local_sentence": local_sentence_share,
        "local_page": local_page,
        "plain_passage": _share(plain, words),
        "plain_page": _share(plain, everything),
        "sentence_size": math.log(1 + len(sentence.index.terms[sentence.first])) if sentence else 0.0,
        **counts,
    }
    return Evidence(tuple(shares[name] for name in FEATURES), tuple(passages), sentence)


def _counts(
    claim: Claim,
    pages: Sequence[PageIndex],
    passages: Sequence[PagePassage],
    words: frozenset[str],
    everything: frozenset[str],
) -> dict[str, float]:
    weights = claim.weights
    missing = [term for term in claim.content if term not in words]
    beginnings = {word[:_PREFIX_CHARS] for word in words if len(word) >= _PREFIX_CHARS} if missing else set()
    like = sum(weights[term] for term in missing if len(term) >= _PREFIX_CHARS and term[:_PREFIX_CHARS] in beginnings)
    runs = (len(list(run)) for is_present, run in groupby(claim.content, words.__contains__) if not is_present)
    sequences = [passage.index.sequence(passage.first, passage.size) for passage in passages]
    pairs = set(pairwise(claim.terms))
    near = {pair for sequence in sequences for pair in pairwise(sequence)}
    far = [pair for pair in pairs - near if any(f" {pair[0]} {pair[1]} " in index.line for index in pages)]
    total = sum(weights.values()) or 1.0
    values = list(_missing_values(claim, passages, words, everything))
    return {
        "prefix_passage": _share(weights, words) + 0.8 * like / total,
        "pairs_passage": len(pairs & near) / len(pairs) if pairs else 0.0,
        "pairs_page": (len(pairs & near) + len(far)) / len(pairs) if pairs else 0.0,
        "order": max((_in_order(claim.terms, terms) for terms in sequences), default=0.0),
        "run": min(12, max((_longest_run(claim.terms, terms) for terms in sequences), default=0)),
        "gap": max(runs, default=0),
        "rarest_missing": max((weights[term] for term in missing), default=0.0) / _model()["rarest"],
        "values_missing": sum(not is_present for is_present, _ in values) / len(values) if values else 0.0,
        "values_elsewhere": sum(not near for _, near in values) / len(values) if values else 0.0,
        "names_missing": sum(term not in everything for term in claim.names) / max(1, len(claim.names)),
        "claim_size": math.log(1 + len(claim.content)),
        "page_size": math.log(1 + sum(len(index.content) for index in pages)),
    }


def _missing_values(
    claim: Claim, passages: Sequence[PagePassage], words: frozenset[str], everything: frozenset[str]
) -> Iterator[tuple[bool, bool]]:
    """Yield for each number and date of a sentence whether the page has it, and whether its passage does."""
    for token, terms in claim.values:
        here = all(term in words for term in terms)
        if not here:
            here = any(same_value(token, other, rounded=True) for passage in passages for other in passage.tokens)
        yield here or all(term in everything for term in terms), here


def _in_order(claim: Sequence[str], passage: Sequence[str]) -> float:
    """Return the share of a sentence's terms that a passage has in the same order, by the bits of a number."""
    places: dict[str, int] = {}
    for at, term in enumerate(claim):
        places[term] = places.get(term, 0) | 1 << at
    every = (1 << len(claim)) - 1
    row = every
    for term in passage:
        if (match := places.get(term)) is not None:
            both = row & match
            row = (row + both | row - both) & every
    return (len(claim) - row.bit_count()) / len(claim) if claim else 0.0


def _longest_run(claim: Sequence[str], passage: Sequence[str]) -> int:
    """Return how many terms follow one another in both."""
    places: dict[str, list[int]] = {}
    for at, term in enumerate(claim):
        places.setdefault(term, []).append(at)
    best, before = 0, dict[int, int]()
    for term in passage:
        before = {at: before.get(at - 1, 0) + 1 for at in places.get(term, ())[:8]}
        best = max(best, *before.values()) if before else best
    return best


@cache
def _model() -> Mapping[str, Any]:
    text = files("groundwire.citations.verify").joinpath("evidence.json").read_text("utf-8")
    return MappingProxyType(json.loads(text))


@cache
def _common() -> Mapping[str, float]:
    """Return how rare common words are, by word."""
    levels = _model()["common_words"].items()
    return MappingProxyType({word: float(level) for level, words in levels for word in words.split()})


def _rarity(term: str) -> float:
    """Return how rare a term is; one that no table has is rarer the longer it is."""
    rarest: float = _model()["rarest"]
    lettered = term.isascii() and term.isalpha()
    return _common().get(term, rarest * (min(1.0, 0.4 + 0.12 * len(term)) if lettered else 1.0))


def probability(counts: Iterable[float]) -> float:
    """Return the probability that pages support a sentence, if half of such sentences are supported."""
    model = _model()
    values, edges, total = list(counts), model["edges"], model["start"]
    for tree in model["trees"]:
        while isinstance(tree, list):
            feature, edge, low, high = tree
            tree = low if values[feature] <= edges[feature][edge] else high
        total += tree / 1_000
    return 1.0 / (1.0 + math.exp(-total))
