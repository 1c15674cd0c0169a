"""The passages of several pages that answer a question best, for an answer without a model.

The pages are ranked as one document, so that a word counts by how rare it is on all of them together.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groundwire.reading.passages.bm25 import Matches, Ranked, score_passages
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import wrapped
from groundwire.reading.passages.reranking import reordered
from groundwire.reading.text.truncate import codes_in

_NO_TITLE: Final = "·"  # a heading divides the pages, and this one has no word
_PAGE_CHARACTERS: Final = 300_000  # characters of a page that are ranked
_SIZES: Final = (600, 300, 300)  # characters of each quote: a passage is a sentence or two, and has its neighbors
_MAX_TRIES: Final = 10  # passages of which the floor is asked, if the best one is above it
_RANK_DISCOUNT: Final = 0.8  # of a passage for each page above its own: a search puts the best page first
# The weights of a logistic regression on half of the articles of benchmarks/quotes.py, with the coverage as the unit.
_MARGIN_WEIGHT: Final = 0.15  # of the logarithm of how much better a passage is than the best one elsewhere
_MAX_MARGIN: Final = 2.0
_PAGE_DISCOUNT: Final = 0.12  # for each page above its own
_MIN_CERTAINTY: Final = 0.48  # see the table in benchmarks/NOTES.md


_HEADING: Final = re.compile(r"^#{1,6} .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Quote:
    """A part of a page."""

    page: int
    """The index of the page."""
    text: str
    """The part as Markdown, with the header of its table and without headings."""
    certainty: float
    """How much of the question it covers, more if it is much better than other parts, less on later pages."""


def best_quotes(pages: Sequence[tuple[str, str]], question: str, least: float = _MIN_CERTAINTY) -> list[Quote]:
    """Return up to three parts of pages that answer a question, the best first; none if that is not certain enough.

    Args:
        pages: The title and the Markdown of each page, in the order of the search; of each, 300,000 characters are
            ranked.
        question: The question.
        least: The certainty below which a part is not quoted, and no other if it is the best one.
    """
    starts, parts, size = list[int](), list[str](), 0
    for title, content in pages:
        starts.append(size)
        heading = " ".join(title.split()).strip("#") or _NO_TITLE
        parts.append(f"# {heading}\n\n{_closed(content[:_PAGE_CHARACTERS])}\n\n")
        size += len(parts[-1])
    document = Outline("".join(parts))
    ranked, matches = score_passages(document, question)
    ranked = reordered(document, ranked, matches)
    titles = [bisect_right(document.heading_starts, start) - 1 for start in starts]
    quotes, used_rows, tried = list[Quote](), set[int](), 0

    def page_of(row: Ranked) -> int:
        return bisect_right(starts, row.passage.end - 1) - 1

    def worth(row: Ranked) -> float:
        return row.score * _RANK_DISCOUNT ** page_of(row)

    order = sorted(ranked, key=lambda row: (-worth(row), row.number))
    for row in order:
        if len(quotes) == len(_SIZES) or tried == _MAX_TRIES or not row.score:
            break
        if row.number in used_rows:
            continue
        tried += 1
        page = page_of(row)
        first, last = _around(ranked, row.number, _SIZES[len(quotes)], used_rows)
        above = [matches.above[number] for number in {*row.passage.path, titles[page]} if number >= 0]
        near = [matches.hits[number] for number in range(first, last + 1)]
        coverage = _coverage(matches, [matches.hits[row.number]]) / 2 + _coverage(matches, near + above) / 2
        rival = next((worth(other) for other in order if not first <= other.number <= last), 0.0)
        margin = min(_MAX_MARGIN, math.log(worth(row) / rival)) if rival else _MAX_MARGIN
        certainty = coverage + _MARGIN_WEIGHT * margin - _PAGE_DISCOUNT * page
        if certainty < least:
            if not quotes:
                break
            continue
        used_rows.update(range(first, last + 1))
        piece = wrapped(document, ranked[first].passage.start, ranked[last].passage.end)
        if text := _HEADING.sub("", piece.content).strip():
            quotes.append(Quote(page, text, certainty))
    return quotes


def _closed(markdown: str) -> str:
    """Return a page whose last code block does not take in the next page."""
    codes = codes_in(markdown)
    return markdown + codes[-1].closing if codes and codes[-1].end is None else markdown


def _around(ranked: Sequence[Ranked], number: int, size: int, used_rows: Container[int]) -> tuple[int, int]:
    """Return the first and last passage of a part of one section, which grows on its better side while it fits."""
    first = last = number
    while True:
        fitting = [
            at
            for at in (first - 1, last + 1)
            if 0 <= at < len(ranked)
            and at not in used_rows
            and ranked[at].passage.path == ranked[number].passage.path
            and ranked[max(at, last)].passage.end - ranked[min(at, first)].passage.start <= size
        ]
        if not fitting:
            return first, last
        best = max(fitting, key=lambda at: ranked[at].score)
        first, last = min(first, best), max(last, best)


def _coverage(matches: Matches, near: Sequence[Mapping[str, float]]) -> float:
    """Return the share of a question's words that are in at least one of several texts, weighted by rarity."""
    mixed = [word for word in matches.weights if word.isalnum() and not word.isalpha() and not word.isdigit()]
    weights = {  # of "bm25", "bm" and "25" are words, too, for the ranking; here it counts once
        word: weight
        for word, weight in matches.weights.items()
        if not any(word in compound and word != compound for compound in mixed)
    }
    best: dict[str, float] = {}
    for hits in near:
        for word, times in hits.items():
            best[word] = max(best.get(word, 0.0), min(1.0, times))
    return sum(weight * best.get(word, 0.0) for word, weight in weights.items()) / (sum(weights.values()) or 1.0)
