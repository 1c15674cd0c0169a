"""Several ranked lists as one: reciprocal rank fusion, with pages that are the same merged.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009: the score of a page is the sum of 1 / (60 + rank) over the lists that hold it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire.models import SearchResult
from groundwire.routing.normalise import canonical
from groundwire.safety.urls import parse_url

__all__ = ["fuse"]

_K = 60  # as in the paper
_SHINGLE = 3  # words
_SAME = 0.8  # share of shingles in common that makes two snippets of one title the same page
_LEAST = 8  # words; a shorter snippet says too little


def fuse(lists: Sequence[Sequence[SearchResult]]) -> list[SearchResult]:
    """Return one list, best first; a page that several found is named once, with all who found it in `source`.

    Args:
        lists: Cleaned rows of each provider, best first.
    """
    scores: dict[str, float] = {}
    kept: dict[str, SearchResult] = {}
    sources: dict[str, list[str]] = {}
    for rows in lists:
        seen: set[str] = set()
        for rank, row in enumerate(rows, start=1):
            key = _twin(row, kept) or canonical(parse_url(row.url))
            if key in seen:
                continue
            seen.add(key)
            scores[key] = scores.get(key, 0.0) + 1 / (_K + rank)
            kept[key] = _better(kept.get(key), row)
            if row.source not in sources.setdefault(key, []):
                sources[key].append(row.source)
    order = sorted(kept, key=lambda key: -scores[key])
    return [
        kept[key].model_copy(update={"source": "; ".join(sources[key]), "score": round(scores[key], 6)})
        for key in order
    ]


def _twin(row: SearchResult, kept: dict[str, SearchResult]) -> str | None:
    """Return the key of a page that is the same under another address: same title, nearly the same snippet."""
    words = _words(row.snippet)
    if len(words) < _LEAST:
        return None
    mine = _shingles(words)
    for key, other in kept.items():
        if other.title.casefold() == row.title.casefold():
            theirs = _shingles(_words(other.snippet))
            if theirs and len(mine & theirs) / len(mine | theirs) >= _SAME:
                return key
    return None


def _better(one: SearchResult | None, other: SearchResult) -> SearchResult:
    """Return the row that says more; what only the other knows is taken over."""
    if one is None:
        return other
    richer, poorer = (one, other) if len(one.snippet) >= len(other.snippet) else (other, one)
    if richer.published is None and poorer.published is not None:
        taken = {"published": poorer.published, "published_origin": poorer.published_origin}
        return richer.model_copy(update=taken)
    return richer


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}
