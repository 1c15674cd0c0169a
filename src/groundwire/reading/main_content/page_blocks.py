"""A page while its main content is selected: its blocks, what the model says of them, and which are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.text_features import NameIndex

_MIN_LIKELIHOOD: Final = 0.5
SHARE_OF_BEST: Final = 0.6
"""A block with this share of the best score is content, however low all scores are; without it, mixed pages have
.0010 less word F1, and forums .0106."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The model's scores of a page."""

    scores: list[int]
    """The probability of each block being main content, 0 to 254."""
    kinds: tuple[float, ...]
    """The probability of each of `KINDS`; their sum is 1."""
    cut: float
    """The score from which a block is content."""
    names: Sequence[str] = ()
    """The names of each element with text."""

    def least_score(self) -> float:
        """Return the score from which a block is content, in view of the best."""
        return min(self.cut, SHARE_OF_BEST * max(self.scores))


@dataclass(slots=True)
class PageBlocks:
    """A page, and which of its blocks are kept so far."""

    layout: Layout
    """Its blocks."""
    verdict: Verdict
    """What the model says of them."""
    keep: list[bool]
    """Whether each block is kept."""
    parts: Mapping[str, bool] = field(default_factory=dict)
    """The parts that the caller wants kept, or left out, on every kind of page."""
    index: NameIndex = field(init=False)
    """The names of the elements, to be searched for parts of them."""
    stated: frozenset[int] = frozenset()
    """The blocks whose text structured data state, once they have been looked for."""
    writers: list[int] | None = None
    """The blocks that name the writer of a post, once they have been looked for."""
    boxes: Mapping[int, list[int]] | None = None
    """The blocks of each box with a note, by the number of its element, once they have been looked for."""

    def __post_init__(self) -> None:
        self.index = NameIndex(self.verdict.names)

    def is_likely(self, kinds: Collection[str]) -> bool:
        """Return whether the page is more likely than not of one of some kinds, and the likeliest kind is among them.

        Args:
            kinds: Some of `KINDS`.
        """
        chances = self.verdict.kinds
        if KINDS[chances.index(max(chances))] not in kinds:
            return False
        return sum(chance for kind, chance in zip(KINDS, chances, strict=True) if kind in kinds) > _MIN_LIKELIHOOD


def sums_of(layout: Layout, values: Iterable[int]) -> list[int]:
    """Return for each element the sum of the values of the blocks in it."""
    sums = [0] * len(layout.parents)
    for owner, value in zip(layout.owners, values, strict=True):
        sums[owner] += value
    for element in range(len(sums) - 1, 0, -1):
        sums[layout.parents[element]] += sums[element]
    return sums


def blocks_in(layout: Layout, groups: Sequence[int]) -> dict[int, list[int]]:
    """Return the blocks of each group of elements; 0 stands for no group."""
    inside: dict[int, list[int]] = {}
    for number, owner in enumerate(layout.owners):
        if groups[owner]:
            inside.setdefault(groups[owner], []).append(number)
    return inside
