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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise, repeat
from math import exp
from operator import mul
from sys import byteorder
from typing import Any, Final, TypeAlias

from groundwire.reading.main_content.quantize import MAX_CODE
from groundwire.reading.main_content.text_features import Lexicon

__all__ = ["KINDS", "Forest", "Model", "Step", "load_model", "read_model"]

Step = tuple[int, int, int]
"""A branch: its parent (0 is the root, n the n-th step), the index of its condition, its value."""

_LANES: Final = 1024  # blocks scored together, so that the integers stay in the processor's cache
_NINTH: Final = 8  # the position of the result bit
_CODES: Final = 1 << _NINTH
_TOTALS: Final = 1 << 16
_TURNED: Final = bytes(reversed(range(_CODES)))

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

    def totals(self, columns: Sequence[bytes]) -> array[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
        """
        totals = array("H")
        for start in range(0, len(columns[0]) if columns else 0, _LANES):
            part = columns if len(columns[0]) <= _LANES else [column[start : start + _LANES] for column in columns]
            totals.extend(self._totals(part))
        return totals

    def _totals(self, columns: Sequence[bytes]) -> array[int]:
        lanes = {feature: _packed(columns[feature]) for feature in self._features}
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

    def total(self, row: Sequence[int]) -> int:
        """Return the total of a single block; for one, going down each tree takes a quarter of the time."""
        conditions, total = self._conditions, self._least
        for number, below, above in self._roots:
            while below is not None:
                feature, threshold = conditions[number]
                number, below, above = below if row[feature] <= threshold else above
            total += number
        return total

    def chances(self, columns: Sequence[bytes]) -> list[int]:
        """Return the probability of each block, from 0 to 254; see `totals`."""
        return list(map(self._chances.__getitem__, self.totals(columns)))

    def _chance(self, total: int) -> int:
        return int(MAX_CODE / (1 + exp(min(50.0, (self.zero - total) / self.scale))) + 0.5)


def _packed(column: bytes) -> int:
    """Return a feature in lanes, or, if all blocks have the same code, that code minus 256."""
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


KINDS: Final = ("article", "documentation", "forum", "product", "listing", "collection", "service")
"""The kinds of pages."""


@dataclass(frozen=True, slots=True)
class Model:
    """The trained model for selecting the main content."""

    lexicon: Lexicon
    blocks: Forest
    """Scores a block."""
    kinds: tuple[Forest, ...]
    """One for each of `KINDS`; scores a page."""
    cuts: tuple[float, ...]
    """The score from which a block is content, for each of `KINDS`; 0 to 254."""

    def powers(self, row: Sequence[int]) -> list[float]:
        """Return for each kind, in the order of `KINDS`, the odds of a page with these features."""
        return [exp((forest.total(row) - forest.zero) / forest.scale) for forest in self.kinds]


def read_model(data: bytes) -> Model:
    """Load the model written by `benchmarks/extraction/train.py`."""
    raw = json.loads(gzip.decompress(data))
    return Model(
        lexicon=Lexicon(**raw["lexicon"]),
        blocks=_forest(raw["blocks"]),
        kinds=tuple(_forest(forest) for forest in raw["kinds"]),
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
