"""Boosted trees over many blocks at once, in nothing but whole numbers.

A page's blocks are lanes of 16 bits in one large integer, a code from 0 to 254 in the lower half of each. Comparing all
of them with a threshold is one addition: 255 - t more than a code reaches the ninth bit when the code is above t, and
256 + t less the code does when it is at most t. Following a branch of a tree is one `&` for all blocks (only the ninth
bits matter), and what a branch adds to the blocks that take it is one multiplication and one addition. The branches of
all trees are followed together, level by level, so that the interpreter is not asked for each of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from math import exp
from operator import add, and_, mul, neg
from sys import byteorder
from typing import Final, TypeAlias

from groundwire.reading.codes import TOP, picker

__all__ = ["Forest", "Lanes", "Level", "Step", "grow"]

Step = tuple[int, int, int]
"""Where a branch of a tree starts (0 is the root, n the n-th step), the number of its question, what it adds."""

_LANES: Final = 1024  # blocks that are scored together, so that the integers stay in the processor's cache
_NINTH: Final = 8  # the place of the bit that answers
_TOTALS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Level:
    """The branches of all trees that are equally far from the root."""

    starts: Callable[[Sequence[int]], Sequence[int]]
    """Picks for each branch, from the branches of the level above, the one that it starts from."""
    questions: Callable[[Sequence[int]], Sequence[int]]
    """Picks for each branch the question that is answered by yes on it."""
    values: tuple[int, ...]
    """For each branch, what it adds."""
    steps: tuple[tuple[int, int], ...]
    """For each branch the number of the one that it starts from, and of its question."""


Lanes: TypeAlias = dict[int, dict[int, int]]
"""For the first block of each part of a page: the features that are in lanes already."""

_Branch: TypeAlias = "tuple[int, int, bool, int, tuple[_Branch, ...]]"
"""Feature, threshold, the answer on it, what it adds, and the branches that start from it."""


@dataclass(slots=True)
class Forest:
    """A sum of decision trees over columns of bytes.

    The total of a block is `base` and what the branches add, always from 0 to 65,535; `scale` units make one unit of
    the logarithm of the odds, and `zero` is the total of even odds.
    """

    questions: tuple[tuple[int, int, bool], ...]
    """Feature, threshold, and whether the answer is yes up to the threshold (or above it)."""
    levels: tuple[Level, ...]
    base: int
    scale: float
    zero: int
    _features: tuple[int, ...] = field(init=False, repr=False)
    """The features that are asked for."""
    _marks: tuple[int, ...] = field(init=False, repr=False)
    """The numbers that codes are compared with."""
    _compared: Callable[[Sequence[int]], Sequence[int]] = field(init=False, repr=False)
    """Picks for each question its codes, from those of all features and the same less than zero."""
    _with: Callable[[Sequence[int]], Sequence[int]] = field(init=False, repr=False)
    """Picks for each question one of the marks, in all lanes."""
    _chances: bytes = field(init=False, repr=False)
    """How likely a block is, for each total."""

    _roots: tuple[_Branch, ...] = field(init=False, repr=False)
    """The trees as they are followed for a single row."""

    def __post_init__(self) -> None:
        self._features = tuple(sorted({feature for feature, _, _ in self.questions}))
        rows = {feature: row for row, feature in enumerate(self._features)}
        marks = [256 + threshold if at_most else 255 - threshold for _, threshold, at_most in self.questions]
        self._marks = tuple(sorted(set(marks)))
        places = {mark: place for place, mark in enumerate(self._marks)}
        self._compared = picker([rows[feature] + at_most * len(rows) for feature, _, at_most in self.questions])
        self._with = picker([places[mark] for mark in marks])
        self._roots = self._nested()
        starts = [bisect_left(range(_TOTALS), code, key=self._chance) for code in range(TOP + 2)]
        lengths = [after - start for start, after in pairwise(starts)]
        self._chances = b"".join(map(mul, (bytes((code,)) for code in range(TOP + 1)), lengths))

    def totals(self, columns: Sequence[bytes], lanes: Lanes | None = None) -> array[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
            lanes: What is known of the same columns from another forest; more may follow them.
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
        total = every * self.base
        branches = [every]
        for level in self.levels:
            branches = list(map(and_, level.starts(branches), level.questions(answers)))
            total += sum(map(mul, branches, level.values))
        totals = array("H", (total >> _NINTH).to_bytes(2 * count, "little"))
        if byteorder == "big":
            totals.byteswap()
        return totals

    def total_of(self, row: Sequence[int]) -> int:
        """Return the total of a single row of features."""
        total, rest = self.base, [self._roots]
        while rest:
            for feature, threshold, at_most, value, further in rest.pop():
                if (row[feature] <= threshold) == at_most:
                    total += value
                    if further:
                        rest.append(further)
        return total

    def _nested(self) -> tuple[_Branch, ...]:
        """Return the branches at the roots, each with those that start from it."""
        below: dict[int, list[_Branch]] = {}
        for level in reversed(self.levels):
            here: dict[int, list[_Branch]] = {}
            for number, ((start, question), value) in enumerate(zip(level.steps, level.values, strict=True)):
                here.setdefault(start, []).append((*self.questions[question], value, tuple(below.get(number, ()))))
            below = here
        return tuple(below.get(0, ()))

    def chances(self, columns: Sequence[bytes], lanes: Lanes | None = None) -> list[int]:
        """Return how likely each block is, from 0 to 254; see `totals`."""
        return list(map(self._chances.__getitem__, self.totals(columns, lanes)))

    def _chance(self, total: int) -> int:
        return int(TOP / (1 + exp(min(50.0, (self.zero - total) / self.scale))) + 0.5)


def grow(trees: Iterable[Sequence[Step]]) -> tuple[Level, ...]:
    """Return the levels of some trees, each given by its steps; a step comes after the one that it starts from."""
    levels: list[list[Step]] = []
    for tree in trees:
        places = [(-1, 0)]  # level and place in it, of the root and of each step
        for start, question, value in tree:
            above, place = places[start]
            if above + 1 == len(levels):
                levels.append([])
            level = levels[above + 1]
            places.append((above + 1, len(level)))
            level.append((place, question, value))
    grown = []
    for level in levels:
        starts, questions, values = zip(*level, strict=True)
        steps = tuple(zip(starts, questions, strict=True))
        grown.append(Level(picker(starts), picker(questions), values, steps))
    return tuple(grown)
