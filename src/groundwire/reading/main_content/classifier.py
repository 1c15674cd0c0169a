"""Gradient-boosted trees, evaluated for many blocks at once in integer arithmetic, and the trained model.

A page's blocks are 16-bit lanes of one large integer, with a code from 0 to 254 in the lower half of each. Comparing
all of them with a threshold is one addition: 255 - t plus a code reaches the ninth bit if the code is above t, and 256
+ t minus the code if it is at most t. Following a tree's branch is one `&` for all blocks (only the ninth bits matter),
and adding its value is one multiplication and one addition. The branches of all trees are followed together, level by
level, to reduce the interpreter's overhead.

Of the two branches of a split only one is followed: the other applies to the remaining blocks, and its value is added
to their parent branch and subtracted from the first.

The model (word meanings, trees, thresholds) is loaded from the package's data.
"""

from __future__ import annotations

import gzip
import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise, repeat
from math import exp
from operator import add, and_, mul, neg, xor
from sys import byteorder
from typing import Any, Final, TypeAlias

from groundwire.reading.main_content.quantize import MAX_CODE, picker
from groundwire.reading.main_content.text_features import Lexicon

__all__ = ["KINDS", "Forest", "Lanes", "Model", "Step", "load_model", "read_model"]

Step = tuple[int, int, int]
"""A branch: its parent (0 is the root, n the n-th step), the index of its condition, its value."""

_LANES: Final = 1024  # blocks scored together, so that the integers stay in the processor's cache
_NINTH: Final = 8  # the position of the result bit
_TOTALS: Final = 1 << 16

Lanes: TypeAlias = dict[int, dict[int, int]]
"""For the first block of each part of a page: the features already packed in lanes."""

_Pick: TypeAlias = Callable[[Sequence[int]], Sequence[int]]
_Split: TypeAlias = "tuple[int, int, int, tuple[_Split, ...], int, tuple[_Split, ...]]"
"""Feature and threshold; value and continuation for a code up to it; the same for a code above it."""


@dataclass(slots=True)
class _Branch:
    """A branch of a tree while it is parsed."""

    question: int
    value: int
    further: list[_Branch] = field(default_factory=list)
    other: _Branch | None = None
    """The opposite branch, if it has any effect."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The branches of all trees at one depth: those that are followed, then the remaining ones."""

    starts: _Pick
    """Selects the parent of each followed branch from the level above."""
    questions: _Pick
    """Selects the condition of each."""
    values: tuple[int, ...]
    """The value of each, without trailing zeros."""
    around: _Pick
    """Selects the parent of each remaining branch."""
    taken: _Pick
    """Selects the opposite branch of each."""


@dataclass(slots=True)
class Forest:
    """A sum of decision trees over byte columns.

    The total of a block is `base` plus the values of the branches, always from 0 to 65,535; `scale` units are one unit
    of the log odds, and `zero` is the total of even odds.
    """

    questions: tuple[tuple[int, int, bool], ...]
    """Feature, threshold, and whether the condition holds up to the threshold (or above it)."""
    trees: tuple[tuple[Step, ...], ...]
    """The steps of each tree; a step follows its parent."""
    base: int
    scale: float
    zero: int
    _levels: tuple[_Level, ...] = field(init=False, repr=False)
    _sure: int = field(init=False, repr=False)
    """Constants shared by all blocks."""
    _features: tuple[int, ...] = field(init=False, repr=False)
    """The features used."""
    _marks: tuple[int, ...] = field(init=False, repr=False)
    """The thresholds."""
    _compared: _Pick = field(init=False, repr=False)
    """Selects the codes for each condition, from those of all features and their negatives."""
    _with: _Pick = field(init=False, repr=False)
    """Selects one of the thresholds for each condition, in all lanes."""
    _chances: bytes = field(init=False, repr=False)
    """The probability of a block, for each total."""
    _roots: tuple[_Split, ...] = field(init=False, repr=False)
    """The trees in the form for a single row."""

    def __post_init__(self) -> None:
        roots = [self._read(tree) for tree in self.trees]
        self._roots = tuple(split for root in roots for split in self._splits(root))
        for root in roots:
            _settle(root)
        self._sure = self.base + sum(root.value for root in roots)
        asked = sorted({branch.question for root in roots for branch in _all(root)})
        self._levels = _grow(roots, {question: place for place, question in enumerate(asked)})
        questions = [self.questions[question] for question in asked]
        self._features = tuple(sorted({feature for feature, _, _ in questions}))
        rows = {feature: row for row, feature in enumerate(self._features)}
        marks = [256 + threshold if at_most else 255 - threshold for _, threshold, at_most in questions]
        self._marks = tuple(sorted(set(marks)))
        places = {mark: place for place, mark in enumerate(self._marks)}
        self._compared = picker([rows[feature] + at_most * len(rows) for feature, _, at_most in questions])
        self._with = picker([places[mark] for mark in marks])
        starts = [bisect_left(range(_TOTALS), code, key=self._chance) for code in range(MAX_CODE + 2)]
        lengths = [after - start for start, after in pairwise(starts)]
        self._chances = b"".join(map(mul, (bytes((code,)) for code in range(MAX_CODE + 1)), lengths))

    def totals(self, columns: Sequence[bytes], lanes: Lanes | None = None) -> array[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
            lanes: The packed columns from another forest; further ones may follow.
        """
        lanes = {} if lanes is None else lanes
        count = len(columns[0]) if columns else 0
        if not count:
            return array("H")
        if count <= _LANES:
            return self._totals(columns, count, lanes.setdefault(0, {}))
        totals = array("H")
        for start in range(0, count, _LANES):
            part = [column[start : start + _LANES] for column in columns]
            totals.extend(self._totals(part, len(part[0]), lanes.setdefault(start, {})))
        return totals

    def _totals(self, columns: Sequence[bytes], count: int, known: dict[int, int]) -> array[int]:
        ones = int.from_bytes(b"\x01\x00" * count, "little")
        every = ones << _NINTH
        spread = bytearray(2 * count)
        for feature in self._features:
            if feature not in known:
                spread[::2] = columns[feature]
                known[feature] = int.from_bytes(spread, "little")
        codes = [known[feature] for feature in self._features]
        codes.extend(list(map(neg, codes)))
        marks = list(map(mul, repeat(ones), self._marks))
        answers = list(map(add, self._with(marks), self._compared(codes)))
        total = every * self._sure
        branches = [every]
        for level in self._levels:
            followed = list(map(and_, level.starts(branches), level.questions(answers)))
            total += sum(map(mul, followed, level.values))
            left_over = map(xor, level.around(branches), level.taken(followed))
            branches = [*followed, *left_over]
        totals = array("H", (total >> _NINTH).to_bytes(2 * count, "little"))
        if byteorder == "big":
            totals.byteswap()
        return totals

    def total_of(self, row: Sequence[int]) -> int:
        """Return the total of a single row of features."""
        total, rest = self.base, [self._roots]
        while rest:
            for feature, threshold, low, below, high, above in rest.pop():
                if row[feature] <= threshold:
                    total += low
                    if below:
                        rest.append(below)
                else:
                    total += high
                    if above:
                        rest.append(above)
        return total

    def chances(self, columns: Sequence[bytes], lanes: Lanes | None = None) -> list[int]:
        """Return the probability of each block, from 0 to 254; see `totals`."""
        return list(map(self._chances.__getitem__, self.totals(columns, lanes)))

    def _chance(self, total: int) -> int:
        return int(MAX_CODE / (1 + exp(min(50.0, (self.zero - total) / self.scale))) + 0.5)

    def _read(self, tree: Iterable[Step]) -> _Branch:
        """Return the root of a tree."""
        branches = [_Branch(-1, 0)]
        for start, question, value in tree:
            branch = _Branch(question, value)
            branches.append(branch)
            feature, threshold, at_most = self.questions[question]
            for first in branches[start].further:
                if first.other is None and self.questions[first.question] == (feature, threshold, not at_most):
                    first.other = branch
                    break
            else:
                branches[start].further.append(branch)
        return branches[0]

    def _splits(self, around: _Branch) -> tuple[_Split, ...]:
        """Return the splits of a branch."""
        splits: list[_Split] = []
        for branch in around.further:
            feature, threshold, at_most = self.questions[branch.question]
            other = branch.other or _Branch(-1, 0)
            low, high = (branch, other) if at_most else (other, branch)
            splits.append((feature, threshold, low.value, self._splits(low), high.value, self._splits(high)))
        return tuple(splits)


def _all(around: _Branch) -> Iterable[_Branch]:
    """Yield all followed branches below one."""
    for branch in around.further:
        yield branch
        yield from _all(branch)
        if branch.other is not None:
            yield from _all(branch.other)


def _settle(around: _Branch) -> None:
    """Move values to followed branches only, and drop branches without effect."""
    for branch in around.further:
        _settle(branch)
        if branch.other is not None:
            _settle(branch.other)
            around.value += branch.other.value
            branch.value -= branch.other.value
            if not branch.other.further:
                branch.other = None
    around.further = [branch for branch in around.further if branch.value or branch.further or branch.other]


def _grow(roots: Sequence[_Branch], places: Mapping[int, int]) -> tuple[_Level, ...]:
    """Return the levels of some trees, with the index of each condition among the results."""
    levels = []
    above = [(0, root) for root in roots]
    while found := [(start, branch) for start, around in above for branch in around.further]:
        found.sort(key=lambda pair: not pair[1].value)
        others = [(start, place, branch.other) for place, (start, branch) in enumerate(found) if branch.other]
        levels.append(
            _Level(
                starts=picker([start for start, _ in found]),
                questions=picker([places[branch.question] for _, branch in found]),
                values=tuple(branch.value for _, branch in found if branch.value),
                around=picker([start for start, _, _ in others]),
                taken=picker([place for _, place, _ in others]),
            )
        )
        above = [(place, branch) for place, (_, branch) in enumerate(found)]
        above += [(len(found) + place, other) for place, (_, _, other) in enumerate(others)]
    return tuple(levels)


KINDS: Final = ("article", "documentation", "forum", "product", "listing", "collection", "service")
"""The kinds of pages."""


@dataclass(frozen=True, slots=True)
class Model:
    """The trained model for selecting the main content."""

    lexicon: Lexicon
    first: Forest
    """Scores a block from its own features and position."""
    kinds: tuple[Forest, ...]
    """One for each of `KINDS`; scores a page."""
    second: Forest
    """Scores a block from its neighbors' first scores, too."""
    cuts: tuple[float, ...]
    """The score from which a block is content, for each of `KINDS`; 0 to 254."""


def read_model(data: bytes) -> Model:
    """Load the model written by `benchmarks/extraction/train.py`."""
    raw = json.loads(gzip.decompress(data))
    return Model(
        lexicon=Lexicon(**raw["lexicon"]),
        first=_forest(raw["first"]),
        kinds=tuple(_forest(forest) for forest in raw["kinds"]),
        second=_forest(raw["second"]),
        cuts=tuple(raw["cuts"]),
    )


def _forest(raw: Mapping[str, Any]) -> Forest:
    return Forest(
        questions=tuple((feature, threshold, bool(at_most)) for feature, threshold, at_most in raw["questions"]),
        trees=tuple(
            tuple((tree[at], tree[at + 1], tree[at + 2]) for at in range(0, len(tree), 3)) for tree in raw["trees"]
        ),
        base=raw["base"],
        scale=raw["scale"],
        zero=raw["zero"],
    )


@cache
def load_model() -> Model:
    """Return the built-in model, loaded once."""
    return read_model(files("groundwire.reading").joinpath("data", "blocks.json.gz").read_bytes())
