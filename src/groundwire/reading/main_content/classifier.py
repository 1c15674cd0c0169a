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
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, repeat
from math import exp
from typing import Any, Final, TypeAlias

from groundwire.reading.main_content.quantize import MAX_CODE
from groundwire.reading.main_content.text_features import Lexicon

_LANES: Final = 1024  # blocks scored together, so that the integers stay in the processor's cache
_NINTH: Final = 8  # the position of the result bit
_CODES: Final = 1 << _NINTH
_TURNED: Final = bytes(reversed(range(_CODES)))

Node: TypeAlias = "Sequence[Any]"
"""The index of a condition, the branch up to its threshold, and the one above it; of a leaf the value, None, None."""


@dataclass(frozen=True, slots=True)
class Forest:
    """A sum of decision trees over byte columns.

    The total of a block is the sum of the leaves that it reaches, always from 0 to 65,535; `scale` units are one unit
    of the log odds, and `zero` is the total of even odds.
    """

    conditions: Sequence[tuple[int, int]]
    """Feature and threshold of each condition, which holds up to the threshold."""
    trees: Sequence[Node]
    """The trees; the lowest leaf of each is 0."""
    scale: float
    zero: int

    def totals(self, columns: Sequence[bytes]) -> list[int]:
        """Return the total of each block.

        Args:
            columns: The features, one byte from 0 to 254 a block.
        """
        totals = list[int]()
        for start in range(0, len(columns[0]) if columns else 0, _LANES):
            part = columns if len(columns[0]) <= _LANES else [column[start : start + _LANES] for column in columns]
            totals.extend(self._totals(part))
        return totals

    def _totals(self, columns: Sequence[bytes]) -> Sequence[int]:
        lanes: dict[int, int] = {}
        count = len(columns[0])
        ones = int.from_bytes(b"\x01\x00" * count, "little")
        every = ones << _NINTH
        marks = list(accumulate(repeat(ones, _CODES)))
        conditions = self.conditions
        answers: list[int | None] = [None] * len(conditions)
        certain = total = 0
        pending = [(root, every) for root in self.trees]
        while pending:
            node, blocks = pending.pop()
            while True:
                number, below, above = node
                if below is None:
                    break
                answer = answers[number]
                if answer is None:
                    feature, threshold = conditions[number]
                    codes = lanes[feature] = lanes[feature] if feature in lanes else _packed(columns[feature])
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
        return struct.unpack(f"<{count}H", (total >> _NINTH).to_bytes(2 * count, "little"))

    def total(self, row: Sequence[int]) -> int:
        """Return the total of a single block; for one, going down each tree takes a quarter of the time."""
        conditions, total = self.conditions, 0
        for number, below, above in self.trees:
            while below is not None:
                feature, threshold = conditions[number]
                number, below, above = below if row[feature] <= threshold else above
            total += number
        return total

    def chances(self, columns: Sequence[bytes]) -> list[int]:
        """Return the probability of each block, from 0 to 254; see `totals`."""
        totals = self.totals(columns)
        chances = {total: self._chance(total) for total in set(totals)}
        return [chances[total] for total in totals]

    def _chance(self, total: int) -> int:
        return int(MAX_CODE / (1 + exp(min(50.0, (self.zero - total) / self.scale))) + 0.5)


def _packed(column: bytes) -> int:
    """Return a feature in lanes, or, if all blocks have the same code, that code minus 256."""
    if column.count(column[0]) == len(column):
        return column[0] - _CODES
    spread = bytearray(2 * len(column))
    spread[::2] = column.translate(_TURNED)
    return int.from_bytes(spread, "little")


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
        blocks=Forest(**raw["blocks"]),
        kinds=tuple(Forest(**forest) for forest in raw["kinds"]),
        cuts=tuple(raw["cuts"]),
    )


@cache
def load_model() -> Model:
    """Return the built-in model, loaded once."""
    return read_model(files("groundwire.reading").joinpath("data", "blocks.json.gz").read_bytes())
