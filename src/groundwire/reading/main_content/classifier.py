"""Gradient-boosted trees, evaluated for many blocks at once in integer arithmetic, and the trained model.

A page's blocks are 16-bit lanes of one large integer, with 255 minus a code from 0 to 254 in the lower half of each.
Comparing all of them with a threshold is one addition: it reaches the ninth bit of each lane whose code is at most the
threshold. The blocks that reach a branch are ninth bits, too, so one `&` tells which of them go on to the left, and
adding the value of a leaf is one multiplication and one addition.

Two of five conditions that the blocks of a page meet have one answer for all of them, for many are about the page. So a
branch that no block reaches is not followed, a condition is evaluated when it is first met, and a column with a single
code has no lanes.

The model (word meanings, trees, thresholds) is loaded from the package's data.
"""

from __future__ import annotations

import gzip
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise, repeat
from math import exp
from operator import mul, or_
from sys import byteorder
from typing import Any, Final, TypeAlias

from groundwire.reading.main_content.quantize import MAX_CODE
from groundwire.reading.main_content.text_features import Lexicon

__all__ = ["KINDS", "Forest", "Lanes", "Model", "RowScorer", "Step", "load_model", "read_model"]

Step = tuple[int, int, int]
"""A branch: its parent (0 is the root, n the n-th step), the index of its condition, its value."""

_LANES: Final = 1024  # blocks scored together, so that the integers stay in the processor's cache
_NINTH: Final = 8  # the position of the result bit
_CODES: Final = 1 << _NINTH
_TOTALS: Final = 1 << 16
_LEAVES: Final = 8  # of a tree of `RowScorer`, which has a byte for them
_PLACES: Final = bytes(max(code.bit_length() - 1, 0) for code in range(_CODES))
"""The number of a leaf by its bit."""
_TURNED: Final = bytes(reversed(range(_CODES)))

Lanes: TypeAlias = dict[int, dict[int, int]]
"""For the first block of each part of a page: the features already packed in lanes; of a feature with the same code in
all blocks, that code minus 256."""

_Node: TypeAlias = "tuple[int, _Node | None, Any]"
"""The index of a condition, the branch up to its threshold, and the one above it; of a leaf the value, None, None."""


@dataclass(slots=True)
class Forest:
    """A sum of decision trees over byte columns.

    The total of a block is `base` plus the values of the branches, always from 0 to 65,535; `scale` units are one unit
    of the log odds, and `zero` is the total of even odds.
    """

    questions: tuple[tuple[int, int, bool], ...]
    """Feature, threshold, and whether the condition holds up to the threshold (or above it)."""
    trees: tuple[tuple[Step, ...], ...]
    """The steps of each tree. A step follows its parent, which has at most one other, of the opposite condition."""
    base: int
    scale: float
    zero: int
    _least: int = field(init=False, repr=False)
    """The lowest total."""
    _roots: tuple[_Node, ...] = field(init=False, repr=False)
    """The trees; the lowest leaf of each is 0."""
    _conditions: tuple[tuple[int, int], ...] = field(init=False, repr=False)
    """Feature and threshold of each condition."""
    _features: frozenset[int] = field(init=False, repr=False)
    """The features used."""
    _chances: bytes = field(init=False, repr=False)
    """The probability of a block, for each total."""

    def __post_init__(self) -> None:
        self._conditions = tuple(dict.fromkeys((feature, threshold) for feature, threshold, _ in self.questions))
        self._features = frozenset(feature for feature, _ in self._conditions)
        places = {condition: place for place, condition in enumerate(self._conditions)}
        grown = [_grow(tree, self.questions, places) for tree in self.trees]
        self._least = self.base + sum(least for least, _ in grown)
        self._roots = tuple(root for _, root in grown)
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
        totals = array("H")
        for start in range(0, len(columns[0]) if columns else 0, _LANES):
            part = columns if len(columns[0]) <= _LANES else [column[start : start + _LANES] for column in columns]
            totals.extend(self._totals(part, lanes.setdefault(start, {})))
        return totals

    def _totals(self, columns: Sequence[bytes], lanes: dict[int, int]) -> array[int]:
        for feature in self._features.difference(lanes):
            lanes[feature] = _packed(columns[feature])
        count = len(columns[0])
        ones = int.from_bytes(b"\x01\x00" * count, "little")
        every = ones << _NINTH
        marks = list(accumulate(repeat(ones, _CODES)))
        conditions = self._conditions
        answers: list[int | None] = [None] * len(conditions)
        certain, total = self._least, 0
        pending = [(root, every) for root in self._roots]
        while pending:
            node, blocks = pending.pop()
            while True:
                number, below, above = node
                if below is None:
                    break
                answer = answers[number]
                if answer is None:
                    feature, threshold = conditions[number]
                    codes = lanes[feature]
                    answer = codes + marks[threshold]
                    if codes < 0:
                        answer = every if codes + _CODES <= threshold else 0
                    answers[number] = answer
                if answer is every:
                    node = below
                elif not answer or not (some := blocks & answer):
                    node = above
                elif some == blocks:
                    node = below
                else:
                    pending.append((above, blocks ^ some))
                    node, blocks = below, some
            if blocks is every:
                certain += number
            elif number:
                total += blocks * number
        total += every * certain
        totals = array("H", (total >> _NINTH).to_bytes(2 * count, "little"))
        if byteorder == "big":
            totals.byteswap()
        return totals

    def leaves(self) -> Iterator[tuple[list[int], list[tuple[int, int, int]]]]:
        """Yield for each tree its leaves from left to right, and what removes some of them.

        The latter are conditions (feature and threshold), and the leaves of the left branch, as bits, which no row
        reaches for which the condition does not hold. The total of a row is `least` plus the first leaves left.
        """
        for root in self._roots:
            leaves: list[int] = []
            removals: list[tuple[int, int, int]] = []
            _number(root, self._conditions, leaves, removals)
            yield leaves, removals

    @property
    def least(self) -> int:
        """The lowest total."""
        return self._least

    def chances(self, columns: Sequence[bytes], lanes: Lanes | None = None) -> list[int]:
        """Return the probability of each block, from 0 to 254; see `totals`."""
        return list(map(self._chances.__getitem__, self.totals(columns, lanes)))

    def _chance(self, total: int) -> int:
        return int(MAX_CODE / (1 + exp(min(50.0, (self.zero - total) / self.scale))) + 0.5)


def _packed(column: bytes) -> int:
    """Return a feature in lanes, or its only code minus 256; see `Lanes`."""
    if column.count(column[0]) == len(column):
        return column[0] - _CODES
    spread = bytearray(2 * len(column))
    spread[::2] = column.translate(_TURNED)
    return int.from_bytes(spread, "little")


def _grow(
    tree: Sequence[Step], questions: Sequence[tuple[int, int, bool]], places: Mapping[tuple[int, int], int]
) -> tuple[int, _Node]:
    """Return the lowest value of a tree, and its root, with the values relative to that."""
    numbers, sums = [0], [0]
    splits: list[dict[bool, int]] = [{}]  # for both outcomes, the branch, if it has a value or continues
    for start, question, value in tree:
        feature, threshold, at_most = questions[question]
        numbers[start] = places[feature, threshold]
        splits[start][at_most] = len(sums)
        numbers.append(0)
        splits.append({})
        sums.append(sums[start] + value)
    least = min(total for total, split in zip(sums, splits, strict=True) if len(split) < 2)
    nodes: list[_Node] = [(total - least, None, None) for total in sums]
    for branch in range(len(nodes) - 1, -1, -1):
        if split := splits[branch]:
            nodes[branch] = numbers[branch], nodes[split.get(True, branch)], nodes[split.get(False, branch)]
    return least, nodes[0]


def _number(
    node: _Node, conditions: Sequence[tuple[int, int]], leaves: list[int], removals: list[tuple[int, int, int]]
) -> None:
    """Append the leaves below a branch, and what removes some of them; see `Forest.leaves`."""
    number, below, above = node
    if below is None:
        leaves.append(number)
        return
    first = len(leaves)
    _number(below, conditions, leaves, removals)
    removals.append((*conditions[number], (1 << len(leaves)) - (1 << first)))
    _number(above, conditions, leaves, removals)


class RowScorer:
    """Evaluates several forests for a single row, without following their trees.

    All leaves of all trees are the bits of one large integer. For each feature, one `&` removes the leaves that its
    code rules out; of what is left, the first leaf of each tree counts. Source: Lucchese et al., QuickScorer, SIGIR
    2015 (https://doi.org/10.1145/2766462.2767733).

    Args:
        forests: Trees of at most eight leaves each; a larger one raises `ValueError`.
    """

    def __init__(self, forests: Sequence[Forest]) -> None:
        self._values: list[tuple[int, int, list[list[int]]]] = []
        removals: dict[int, dict[int, int]] = {}
        count = 0
        for forest in forests:
            start, values = count, list[list[int]]()
            for leaves, removed in forest.leaves():
                if len(leaves) > _LEAVES:
                    raise ValueError(f"a tree has {len(leaves)} leaves, which are more than {_LEAVES}")
                for feature, threshold, bits in removed:
                    above = removals.setdefault(feature, {})
                    above[threshold] = above.get(threshold, 0) | bits << (_LEAVES * count)
                values.append(leaves)
                count += 1
            self._values.append((forest.least, start, values))
        self._count = count
        self._every = (1 << (_LEAVES * count)) - 1
        self._ones = self._every // ((1 << _LEAVES) - 1)
        self._filters: list[tuple[int, list[int], list[int]]] = []
        for feature, above in sorted(removals.items()):
            thresholds = sorted(above)
            ruled_out = accumulate((above[threshold] for threshold in thresholds), or_, initial=0)
            self._filters.append((feature, thresholds, [self._every ^ bits for bits in ruled_out]))

    def totals(self, row: Sequence[int]) -> list[int]:
        """Return the total of each forest for a row of features."""
        leaves_left = self._every
        for feature, thresholds, masks in self._filters:
            leaves_left &= masks[bisect_left(thresholds, row[feature])]
        first = leaves_left & ~(leaves_left - self._ones)
        places = first.to_bytes(self._count, "little").translate(_PLACES)
        return [
            least + sum([leaves[place] for leaves, place in zip(values, places[start:], strict=False)])
            for least, start, values in self._values
        ]


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
    _kinds: RowScorer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kinds", RowScorer(self.kinds))

    def powers(self, row: Sequence[int]) -> list[float]:
        """Return for each kind, in the order of `KINDS`, the odds of a page with these features."""
        totals = zip(self._kinds.totals(row), self.kinds, strict=True)
        return [exp((total - forest.zero) / forest.scale) for total, forest in totals]


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
