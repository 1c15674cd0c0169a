"""Columns that are ranges are what a loop over the blocks makes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.main_content.quantize import steps, stretch

_COUNT = st.integers(0, 600)


@given(st.integers(-700, 700), _COUNT, st.integers(1, 254))
def test_steps_go_up_by_one_within_their_bounds(first: int, count: int, top: int) -> None:
    assert list(steps(first, count, top)) == [max(0, min(top, first + place)) for place in range(count)]


@given(st.integers(0, 599), st.integers(1, 600), st.integers(1, 600))
def test_a_stretch_is_50_at_its_beginning_and_150_at_its_end(start: int, length: int, count: int) -> None:
    start = min(start, count - 1)
    length = min(length, count - start)
    places = [50 + 100 * (block - start) // length for block in range(count)]
    assert list(stretch(start, length, count)) == [max(0, min(250, place)) for place in places]
