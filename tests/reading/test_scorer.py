"""Trees over lanes of integers say what trees say one block at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.main_content.classifier import Forest, Node

_CONDITIONS = ((0, 10), (1, 100), (1, 253), (2, 0))


def _leaf(value: int) -> Node:
    return (value, None, None)


_TREES: tuple[Node, ...] = (
    (0, (1, _leaf(42), (3, _leaf(900), _leaf(35))), _leaf(0)),
    (2, _leaf(12), _leaf(0)),
    (1, (3, _leaf(3), _leaf(1)), (0, _leaf(0), _leaf(7))),
    _leaf(5),
)
_FOREST = Forest(_CONDITIONS, _TREES, scale=100.0, zero=50)


def _by_hand(row: tuple[int, ...]) -> int:
    total = 0
    for node in _TREES:
        while node[1] is not None:
            feature, threshold = _CONDITIONS[node[0]]
            node = node[1] if row[feature] <= threshold else node[2]
        total += node[0]
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
