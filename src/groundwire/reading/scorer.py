"""Boosted trees over many blocks at once, in nothing but whole numbers.

A page's blocks are lanes of 16 bits in one large integer. A question such as "is feature 12 at most 40?" is then one
integer with a 1 in each lane that answers yes; following a branch of a tree is one `&` for all blocks, and a leaf's
value is added to the blocks that reach it by one multiplication and one addition. So a page costs a few integer
operations a split however many blocks it has, and the interpreter's cost is not paid a block.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from sys import byteorder
from typing import Final

__all__ = ["Forest", "Step"]

Step = tuple[int, int, int]
"""Number of the branch that a branch starts from (0 is the root), number of its question, what it adds."""

_LANES: Final = 2048  # blocks that are scored together, so that the integers stay in the processor's cache
_YES: Final = tuple(
    tuple(bytes(int((code <= threshold) == at_most and code < 255) for code in range(256)) for at_most in (False, True))
    for threshold in range(255)
)


@dataclass(frozen=True, slots=True)
class Forest:
    """A sum of decision trees over columns of bytes.

    The total of a block is its trees' leaves plus `base`, always from 0 to 65,535; `scale` units make one unit of the
    logarithm of the odds, and `zero` is the total of even odds.
    """

    questions: tuple[tuple[int, int, bool], ...]
    """Feature, threshold, and whether the answer is yes up to the threshold (or above it)."""
    trees: tuple[tuple[Step, ...], ...]
    base: int
    scale: float
    zero: int

    def totals(self, columns: Sequence[bytes]) -> array[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
        """
        count = len(columns[0]) if columns else 0
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
        for tree in self.trees:
            branches = [every]
            for start, question, value in tree:
                branch = branches[start] & answers[question]
                branches.append(branch)
                if value:
                    total += branch * value
        totals = array("H", total.to_bytes(2 * count, "little"))
        if byteorder == "big":
            totals.byteswap()
        return totals

    def chances(self, columns: Sequence[bytes]) -> list[int]:
        """Return how likely each block is, from 0 to 254."""
        zero, scale = self.zero, self.scale
        return [int(254 / (1 + exp(min(50.0, (zero - total) / scale))) + 0.5) for total in self.totals(columns)]
