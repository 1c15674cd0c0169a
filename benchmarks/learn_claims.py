"""Learns how much the evidence on a page says about a claim, from claims that people judged.

The claims are those of AttributionBench and WiCE that `claims.py` reads. Learned are boosted decision trees of three
levels; more of a sentence's words on the page never lowers the probability, more missing ones never raise it. Each set
counts as if half of its claims were supported. Counted is also how often each word is on the claims' pages, which tells
common words from rare ones on a page of three sentences. Needs NumPy (`pip install numpy`). Run from the root of the
repository:

    python -m benchmarks.learn_claims FOLDER

It writes `evidence.json`; `--words` counts the words first. `benchmarks/claims.py` measures.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.claims import FOLDS, LabeledClaim, counts_of, plain_counts, read_claims
from groundwire.citations.verify.evidence import FEATURES
from groundwire.reading.passages.terms import Terms

MODEL: Final = Path(__file__).parents[1] / "src/groundwire/citations/verify/evidence.json"
_LESS: Final = {"gap", "rarest_missing", "values_missing", "values_elsewhere", "names_missing"}
_EITHER: Final = {"claim_size", "page_size", "sentence_size"}
_DEPTH: Final = 3
_BINS: Final = 24
_CALM: Final = 0.9  # of the log odds: trees are surer of claims that they have seen
Tree = Any


class Trees:
    """Gradient-boosted trees with monotone features.

    Args:
        rows: The counts of each claim.
        labels: Whether it is supported.
        weights: How much it counts.
        trees: How many there are.
        rate: How much each changes.
        seed: Of the samples of claims and features that each tree sees.
    """

    def __init__(
        self,
        rows: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        trees: int = 160,
        rate: float = 0.06,
        seed: int = 0,
    ) -> None:
        chance = np.random.default_rng(seed)
        cuts = np.linspace(0, 1, _BINS + 1)[1:-1]
        self.edges = [np.unique(np.round(np.quantile(column, cuts), 4)) for column in rows.T]
        self._bins = np.stack([np.searchsorted(at, column) for at, column in zip(self.edges, rows.T, strict=True)], 1)
        self.start = float(np.log((weights * labels).sum() / (weights * (1 - labels)).sum()))
        self.trees: list[Tree] = []
        self._rate = rate
        told = np.full(len(rows), self.start)
        for _ in range(trees):
            sure = 1 / (1 + np.exp(-told))
            self._slope, self._bend = weights * (sure - labels), weights * sure * (1 - sure)
            self._features = np.flatnonzero(chance.random(rows.shape[1]) < 0.4)
            tree = self._grown(chance.random(len(rows)) < 0.6, _DEPTH, -9.0, 9.0)
            self.trees.append(tree)
            told += self._of(tree, self._bins)
        self.start *= _CALM
        self.trees = [_scaled(tree) for tree in self.trees]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        bins = np.stack([np.searchsorted(at, column) for at, column in zip(self.edges, rows.T, strict=True)], 1)
        return self.start + sum((self._of(tree, bins) for tree in self.trees), np.zeros(len(rows)))

    def _of(self, tree: Tree, bins: np.ndarray) -> np.ndarray:
        if not isinstance(tree, list):
            return np.full(len(bins), tree / 1_000)
        feature, edge, low, high = tree
        return np.where(bins[:, feature] <= edge, self._of(low, bins), self._of(high, bins))

    def _grown(self, among: np.ndarray, depth: int, least: float, most: float, penalty: float = 10.0) -> Tree:
        slope, bend, count = self._slope[among].sum(), self._bend[among].sum(), among.sum()
        leaf = round(1_000 * self._rate * min(most, max(least, -slope / (bend + penalty))))
        best, split = 1e-3, None
        for feature in self._features if depth else ():
            size = len(self.edges[feature]) + 1
            bins = self._bins[among, feature]
            slopes = np.bincount(bins, self._slope[among], size).cumsum()[:-1]
            bends = np.bincount(bins, self._bend[among], size).cumsum()[:-1]
            below = np.bincount(bins, minlength=size).cumsum()[:-1]
            low = np.clip(-slopes / (bends + penalty), least, most)
            high = np.clip(-(slope - slopes) / (bend - bends + penalty), least, most)
            allowed = (below >= 20) & (count - below >= 20)
            if (way := _way(FEATURES[feature])) != 0:
                allowed &= (high - low) * way >= 0
            gain = slopes**2 / (bends + penalty) + (slope - slopes) ** 2 / (bend - bends + penalty)
            gain = np.where(allowed, gain - slope**2 / (bend + penalty), 0.0)
            if len(gain) and gain.max() > best:
                at = int(gain.argmax())
                best, split = gain[at], (int(feature), at, (low[at] + high[at]) / 2)
        if split is None:
            return leaf
        feature, at, middle = split
        below = self._bins[:, feature] <= at
        way = _way(FEATURES[feature])
        lows = (least, middle) if way > 0 else (middle, most) if way < 0 else (least, most)
        highs = (middle, most) if way > 0 else (least, middle) if way < 0 else (least, most)
        return [
            feature,
            at,
            self._grown(among & below, depth - 1, *lows),
            self._grown(among & ~below, depth - 1, *highs),
        ]


def _scaled(tree: Tree) -> Tree:
    return [*tree[:2], *map(_scaled, tree[2:])] if isinstance(tree, list) else round(_CALM * tree)


def _way(feature: str) -> int:
    return -1 if feature in _LESS else 0 if feature in _EITHER else 1


def balanced(claims: Sequence[LabeledClaim]) -> np.ndarray:
    """Return weights by which each set has as many supported claims as others."""
    counts = Counter((claim.name, claim.supported) for claim in claims)
    sizes = Counter(claim.name for claim in claims)
    return np.array([sizes[claim.name] / 2 / counts[claim.name, claim.supported] for claim in claims])


def common_words(claims: Sequence[LabeledClaim], least: float = 0.02) -> dict[str, Any]:
    """Return the words that at least two in a hundred pages have, by rarity, and the rarity of others."""
    terms = Terms()
    pages = {claim.page for claim in claims}
    often = Counter(term for page in pages for term in set(terms(page)))
    rarity = {
        term: math.log((len(pages) + 1) / (count + 0.5))
        for term, count in often.items()
        if count >= least * len(pages) and term.isalpha() and term.isascii()
    }
    levels: dict[str, list[str]] = {}
    for term, value in sorted(rarity.items()):
        levels.setdefault(f"{round(value * 2) / 2:g}", []).append(term)
    return {"rarest": 4.0, "common_words": {level: " ".join(levels[level]) for level in sorted(levels, key=float)}}


def cross_validated(claims: Sequence[LabeledClaim], seed: str = "", **options: Any) -> list[float]:
    """Return the probability of each claim by trees that have not seen its page.

    Args:
        claims: The claims.
        seed: Another seed divides the pages otherwise.
        options: Those of `Trees`.
    """
    rows = np.array([counts_of(claim) for claim in claims])
    labels, weights = _labels(claims), balanced(claims)
    odds = np.zeros(len(claims))
    for seen in _parts(claims, seed):
        odds[~seen] = Trees(rows[seen], labels[seen], weights[seen], **options)(rows[~seen])
    return list(1 / (1 + np.exp(-odds)))


def baseline_odds(claims: Sequence[LabeledClaim], seed: str = "", penalty: float = 1.0) -> list[float]:
    """Return the probability of each claim by the baseline, a logistic regression of nine counts for each set alone."""
    rows, labels = np.array([plain_counts(claim) for claim in claims]), _labels(claims)
    names = np.array([claim.name for claim in claims])
    sure = np.zeros(len(claims))
    for seen in _parts(claims, seed):
        for name in set(names):
            own, other = seen & (names == name), ~seen & (names == name)
            mean, spread = rows[own].mean(0), rows[own].std(0) + 1e-6
            known = np.c_[(rows[own] - mean) / spread, np.ones(own.sum())]
            weights = np.zeros(known.shape[1])
            for _ in range(20):
                told = 1 / (1 + np.exp(-known @ weights))
                bend = (known * (told * (1 - told))[:, None]).T @ known + penalty * np.eye(len(weights))
                weights -= np.linalg.solve(bend, known.T @ (told - labels[own]) + penalty * weights)
            sure[other] = 1 / (1 + np.exp(-np.c_[(rows[other] - mean) / spread, np.ones(other.sum())] @ weights))
    return list(sure)


def _labels(claims: Sequence[LabeledClaim]) -> np.ndarray:
    return np.array([float(claim.supported) for claim in claims])


def _parts(claims: Sequence[LabeledClaim], seed: str) -> Iterator[np.ndarray]:
    """Yield for each part which claims are not in it."""
    folds = np.array([claim.fold(seed) for claim in claims])
    for fold in range(FOLDS):
        yield folds != fold


def main() -> None:
    """Learn and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--words", action="store_true", help="count the common words of the pages first")
    arguments = parser.parse_args()
    claims = read_claims(arguments.data)
    if arguments.words or not MODEL.exists():
        empty = {"start": 0.0, "edges": [], "trees": []}
        MODEL.write_text(json.dumps(common_words(claims) | empty, ensure_ascii=False, indent=1), "utf-8")
    rows = np.array([counts_of(claim) for claim in claims])
    learned = Trees(rows, _labels(claims), balanced(claims))
    data = json.loads(MODEL.read_text("utf-8"))
    lines = [
        f' "{name}": {json.dumps(data[name], ensure_ascii=False, indent=1)}' for name in ("rarest", "common_words")
    ]
    lines.append(f' "start": {round(learned.start, 4)}')
    lines.append(' "edges": [\n' + ",\n".join(json.dumps(list(at)) for at in learned.edges) + "\n ]")
    trees = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in learned.trees)
    lines.append(f' "trees": [\n{trees}\n ]')
    MODEL.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
