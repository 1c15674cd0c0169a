"""Features of each block derived from the first scores of its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from groundwire.reading.main_content.element_features import innermost, within
from groundwire.reading.main_content.features import ElementFacts
from groundwire.reading.main_content.quantize import MAX_CODE, Picker, log, logs, picker, ratio, shift, steps, take

__all__ = ["SECOND", "second_look"]

_STEPS: Final = (-3, -2, -1, 1, 2, 3)
_NEAR: Final = 200  # characters
_SURE_SCORE: Final = 178  # a score of 0.7

SECOND: Final[tuple[str, ...]] = (
    "score",
    *(f"score{step:+d}" for step in _STEPS),
    "before", "after",
    *(f"score@{level}" for level in (0, 1, 2, 3, 4, 5)),
    "score_kind", "score_brothers@0", "score_brothers@1", "score_brothers@2", "score_section",
    "since_first_sure", "until_last_sure", "sure_before", "sure_after", "rank",
    "in_main", "below_main", "main_precision", "main_share", "in_most", "below_most", "most_precision",
    "page_expected", "page_expected_share", "page_sure", "page_sure_share", "page_doubt",
)  # fmt: skip
"""The column names. "Main" is the innermost element with 90 % of the apparent content, "most" with 60 %."""


def second_look(facts: ElementFacts, scores: Sequence[int]) -> list[bytes]:
    """Return the columns of `SECOND`.

    Args:
        facts: The features of the page.
        scores: The first score of each block, 0 to 254.
    """
    sizes = facts.sizes
    mass = [size * score for size, score in zip(sizes, scores, strict=True)]
    column = bytes(scores)
    back_sizes, back_scores = sizes[::-1], scores[::-1]
    columns = [column, *(shift(column, step) for step in _STEPS)]
    columns += [_trail(sizes, scores), _trail(back_sizes, back_scores)[::-1]]
    sums, mass_sums = _sum_up(facts, mass)
    columns += _group_columns(facts, mass, sums, mass_sums)
    columns.append(_section_column(facts, mass))
    columns += _sure_columns(sizes, scores)
    columns += _main_columns(facts, sums, mass_sums)
    count, total = len(scores), sum(sizes)
    sure = sum(size for size, score in zip(sizes, scores, strict=True) if score >= _SURE_SCORE)
    doubt = sum(size for size, score in zip(sizes, scores, strict=True) if 50 < score < 200)
    page = (log(sum(mass) // MAX_CODE), sum(mass) // total, log(sure), ratio(sure, total), ratio(doubt, total))
    columns.extend(bytes((value,)) * count for value in page)
    return columns


def _sum_up(facts: ElementFacts, mass: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the characters in each element, and the same weighted by score."""
    parents = facts.parents
    sums, mass_sums = [0] * len(parents), [0] * len(parents)
    for owner, size, part in zip(facts.owners, facts.sizes, mass, strict=True):
        sums[owner] += size
        mass_sums[owner] += part
    for element in range(len(parents) - 1, 0, -1):
        if sums[element]:
            sums[parents[element]] += sums[element]
            mass_sums[parents[element]] += mass_sums[element]
    return sums, mass_sums


def _trail(sizes: Sequence[int], scores: Sequence[int]) -> bytes:
    """Return the mean score of the blocks before each block, with weights that decay in units of `_NEAR`."""
    mean = 0.0
    trail = [
        mean := mean + (score - mean) * (size + 10) / (size + 10 + _NEAR)
        for size, score in zip(sizes, scores, strict=True)
    ]
    return bytes((0, *map(int, trail[:-1])))


def _means(masses: Sequence[int], sizes: Sequence[int]) -> bytes:
    return bytes([mass // size if size else 0 for mass, size in zip(masses, sizes, strict=True)])


def _group_columns(facts: ElementFacts, mass: Sequence[int], sums: list[int], mass_sums: list[int]) -> list[bytes]:
    means = _means(mass_sums, sums)
    columns = [take(means, facts.around[level]) for level in range(6)]
    shape: Picker = picker(facts.kinds)
    shapes = max(facts.kinds) + 1
    shape_held, shape_mass = [0] * shapes, [0] * shapes
    for kind, size, part in zip(facts.kinds, facts.sizes, mass, strict=True):
        shape_held[kind] += size
        shape_mass[kind] += part
    columns.append(take(_means(shape_mass, shape_held), shape))
    groups = max(facts.siblings) + 1
    group_held, group_mass = [0] * groups, [0] * groups
    for group, size, part in zip(facts.siblings, sums, mass_sums, strict=True):
        group_held[group] += size
        group_mass[group] += part
    sibling: Picker = picker(facts.siblings)
    brothers = take(_means(group_mass, group_held), sibling)
    columns.extend(take(brothers, facts.around[level]) for level in range(3))
    return columns


def _section_column(facts: ElementFacts, mass: Sequence[int]) -> bytes:
    """Return the mean score of the blocks after each block up to the next heading."""
    section = bytearray(len(mass))
    size_sum = mass_sum = 0
    for block in range(len(mass) - 1, -1, -1):
        section[block] = mass_sum // size_sum if size_sum else 0
        if facts.headings[block]:
            size_sum = mass_sum = 0
        else:
            size_sum += facts.sizes[block]
            mass_sum += mass[block]
    return bytes(section)


def _sure_columns(sizes: Sequence[int], scores: Sequence[int]) -> list[bytes]:
    """Return the position of each block among those that are certainly content, and its rank by score."""
    count = len(scores)
    sure = [block for block, score in enumerate(scores) if score >= _SURE_SCORE]
    first, last = (sure[0], sure[-1]) if sure else (count, -1)
    before = list(accumulate([size if score >= _SURE_SCORE else 0 for size, score in zip(sizes, scores, strict=True)]))
    so_far = before.pop()
    before.insert(0, 0)
    above: dict[int, int] = {}
    for size, score in zip(sizes, scores, strict=True):
        above[score] = above.get(score, 0) + size
    total, running, ranks = sum(sizes), 0, bytearray(256)
    for score in sorted(above, reverse=True):
        ranks[score] = 200 * running // total
        running += above[score]
    return [
        steps(100 - first, count),
        steps(last + 101 - count, count)[::-1],
        logs(before),
        logs([so_far - size for size in before]),
        bytes(scores).translate(bytes(ranks)),
    ]


def _main_columns(facts: ElementFacts, sums: list[int], mass_sums: list[int]) -> list[bytes]:
    depths, ends, count = facts.depths, facts.ends, len(facts.owners)
    columns: list[bytes] = []
    for share in (0.9, 0.6):
        place = innermost(mass_sums, depths, share) if mass_sums[0] else innermost(sums, depths, 1.0)
        columns += within(facts.around[0], depths, place, ends[place])
        columns.append(bytes((mass_sums[place] // sums[place],)) * count)
        if share > 0.8:
            columns.append(bytes((ratio(sums[place], sums[0]),)) * count)
    return columns
