"""Trees over lanes of integers say what trees say one block at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.main_content.classifier import Forest, Step

_QUESTIONS = ((0, 10, True), (0, 10, False), (1, 100, True), (1, 253, False), (2, 0, True))
_TREES: tuple[tuple[Step, ...], ...] = (
    ((0, 0, 30), (0, 1, -5), (2, 2, 7), (3, 4, 900)),
    ((0, 3, -12),),
    ((0, 2, 1), (1, 4, 2), (2, 1, 3)),
    (),
)
_FOREST = Forest(_QUESTIONS, _TREES, base=40, scale=100.0, zero=50)


def _by_hand(row: tuple[int, ...]) -> int:
    total = _FOREST.base
    for tree in _TREES:
        taken = [True]
        for start, question, value in tree:
            feature, threshold, at_most = _QUESTIONS[question]
            taken.append(taken[start] and (row[feature] <= threshold) == at_most)
            total += value * taken[-1]
    return total


_CODE = st.integers(0, 254)
_ROWS = st.lists(st.tuples(_CODE, _CODE, _CODE), min_size=1, max_size=40)


@given(_ROWS, st.sampled_from([1, 60]))
def test_totals_are_those_of_the_trees(rows: list[tuple[int, int, int]], times: int) -> None:
    rows = rows * times  # more than are scored together, too
    columns = [bytes(column) for column in zip(*rows, strict=True)]
    expected = [_by_hand(row) for row in rows]
    assert list(_FOREST.totals(columns)) == expected
    assert list(map(_FOREST.total, rows)) == expected


@given(_ROWS)
def test_chances_grow_with_totals(rows: list[tuple[int, int, int]]) -> None:
    columns = [bytes(column) for column in zip(*rows, strict=True)]
    by_total = sorted(zip(_FOREST.totals(columns), _FOREST.chances(columns), strict=True))
    chances = [chance for _, chance in by_total]
    assert chances == sorted(chances)
    assert all(0 <= chance <= 254 for chance in chances)


def test_no_columns_no_totals() -> None:
    assert list(_FOREST.totals([])) == []
