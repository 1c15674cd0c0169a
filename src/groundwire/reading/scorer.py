"""Boosted trees over many blocks at once, in nothing but whole numbers.

A page's blocks are lanes of 16 bits in one large integer. A question such as "is feature 12 at most 40?" is then one
integer with a 1 in each lane that answers yes; following a branch of a tree is one `&` for all blocks, and what a
branch adds to the blocks that take it is one multiplication and one addition. The branches of all trees are followed
together, level by level, so that the interpreter is not asked for each of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp
from operator import and_, mul
from sys import byteorder
from typing import Final

from groundwire.reading.codes import picker

__all__ = ["Forest", "Level", "Step", "grow"]

Step = tuple[int, int, int]
"""Where a branch of a tree starts (0 is the root, n the n-th step), the number of its question, what it adds."""

_LANES: Final = 1024  # blocks that are scored together, so that the integers stay in the processor's cache
_YES: Final = tuple(
    (bytes(threshold + 1) + b"\x01" * (254 - threshold) + b"\x00", b"\x01" * (threshold + 1) + bytes(255 - threshold))
    for threshold in range(255)
)
"""For each threshold the answers of all codes, to "above it" and to "at most it"; 255 fills the lanes' upper half."""


@dataclass(frozen=True, slots=True)
class Level:
    """The branches of all trees that are equally far from the root."""

    starts: Callable[[Sequence[int]], Sequence[int]]
    """Picks for each branch, from the branches of the level above, the one that it starts from."""
    questions: Callable[[Sequence[int]], Sequence[int]]
    """Picks for each branch the question that is answered by yes on it."""
    values: tuple[int, ...]
    """For each branch, what it adds."""


@dataclass(frozen=True, slots=True)
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

    def totals(self, columns: Sequence[bytes]) -> array[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
        """
        count = len(columns[0]) if columns else 0
        if not count:
            return array("H")
        if count <= _LANES:
            return self._totals(columns, count)
        totals = array("H")
        for start in range(0, count, _LANES):
            part = [column[start : start + _LANES] for column in columns]
            totals.extend(self._totals(part, len(part[0])))
        return totals

    def _totals(self, columns: Sequence[bytes], count: int) -> array[int]:
        lanes: dict[int, bytes] = {}
        answers = []
        for feature, threshold, at_most in self.questions:
            lane = lanes.get(feature)
            if lane is None:
                spread = bytearray(b"\xff" * (2 * count))
                spread[::2] = columns[feature]
                lane = lanes[feature] = bytes(spread)
            answers.append(int.from_bytes(lane.translate(_YES[threshold][at_most]), "little"))
        every = int.from_bytes(b"\x01\x00" * count, "little")
        total = every * self.base
        branches = [every]
        for level in self.levels:
            branches = list(map(and_, level.starts(branches), level.questions(answers)))
            total += sum(map(mul, branches, level.values))
        totals = array("H", total.to_bytes(2 * count, "little"))
        if byteorder == "big":
            totals.byteswap()
        return totals

    def total_of(self, row: Sequence[int]) -> int:
        """Return the total of a single row of features."""
        answers = [(row[feature] <= threshold) == at_most for feature, threshold, at_most in self.questions]
        total, branches = self.base, [1]
        for level in self.levels:
            branches = list(map(and_, level.starts(branches), level.questions(answers)))
            total += sum(map(mul, branches, level.values))
        return total

    def chances(self, columns: Sequence[bytes]) -> list[int]:
        """Return how likely each block is, from 0 to 254."""
        zero, scale = self.zero, self.scale
        return [int(254 / (1 + exp(min(50.0, (zero - total) / scale))) + 0.5) for total in self.totals(columns)]


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
        grown.append(Level(picker(starts), picker(questions), values))
    return tuple(grown)
