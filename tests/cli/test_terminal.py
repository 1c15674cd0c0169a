"""Text that fits and does not steer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.cli.terminal_text import cells, clamped, clean, escaped, wrap


@pytest.mark.parametrize(
    ("text", "size"), [("abc", 3), ("茶馆", 4), ("e\u0301", 1), ("カ", 2), ("é", 1), ("a\u200bb", 2), ("", 0)]
)
def test_cells(text: str, size: int) -> None:
    assert cells(text) == size


def test_wide_signs_are_wrapped_by_their_width() -> None:
    assert wrap("茶馆的清晨" * 8, 24, "  ").splitlines() == [
        "  " + ("茶馆的清晨" * 8)[i : i + 11] for i in range(0, 40, 11)
    ]
    assert wrap("one two three four five six", 24, "    ", " 1. ") == " 1. one two three four\n    five six"
    assert wrap("", 40, "  ") == "  "


@given(st.text(), st.integers(-5, 120))
def test_no_line_is_too_wide_and_no_sign_is_lost(text: str, width: int) -> None:
    wrapped = wrap(text, width, "  ")
    assert all(cells(line) <= max(22, width) for line in wrapped.split("\n"))
    assert "".join(wrapped.split()) == "".join(text.split())


@given(st.text())
def test_clean_text_steers_nothing(text: str) -> None:
    cleaned = clean(text)
    assert not any((ord(sign) < 32 and sign not in "\t\n") or 0x7F <= ord(sign) <= 0x9F for sign in cleaned)
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_json_means_the_same(text: str) -> None:
    shown = escaped(json.dumps([text], ensure_ascii=False))
    assert json.loads(shown) == [text]
    assert shown.isprintable() or clean(shown) == shown


def test_a_long_title_is_cut_after_two_rows() -> None:
    assert clamped("one\ntwo", 2) == "one\ntwo"
    assert clamped("one\ntwo\nthree", 2) == "one\ntw…"
