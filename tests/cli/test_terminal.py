"""Text that fits and does not steer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.cli.terminal_text import Flow, cells, clean, escaped, table, wrap


@pytest.mark.parametrize(
    ("text", "size"), [("abc", 3), ("茶馆", 4), ("e\u0301", 1), ("カ", 2), ("é", 1), ("a\u200bb", 2), ("", 0)]
)
def test_cells(text: str, size: int) -> None:
    assert cells(text) == size


def test_wide_signs_are_wrapped_by_their_width() -> None:
    text = "茶馆的清晨" * 8
    assert wrap(f"  {text}", 24).splitlines() == ["  " + text[i : i + 11] for i in range(0, 40, 11)]
    assert wrap(" 1. one two three four five six", 24) == " 1. one two three four\n    five six"
    assert wrap("  [12] one two three four five", 27) == "  [12] one two three four\n       five"
    assert (
        wrap("ok      Python  3.11.2 of a whole system", 30, 8) == "ok      Python  3.11.2 of a\n        whole system"
    )
    assert wrap("see https://example.org/a-long-address for more", 24) == (
        "see\nhttps://example.org/a-long-address\nfor more"
    )
    assert wrap("", 40) == ""


@given(st.text(), st.integers(-5, 120))
def test_no_line_of_several_words_is_too_wide_and_no_sign_is_lost(text: str, width: int) -> None:
    line = " ".join(text.split())
    rows = wrap(line, width).split("\n")
    assert all(cells(row) <= max(22, width) or len(row.split()) == 1 for row in rows)
    assert "".join("".join(rows).split()) == "".join(line.split())


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


def test_a_flow_of_pieces_breaks_no_word(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    flow = Flow()
    for piece in ("An ans", "wer that comes i", "n pieces, ", "word", " by word."):
        flow.add(piece)
    flow.add("\n", end=True)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "An answer that comes",
        "in pieces, word by",
        "word.",
    ]


def test_a_table_that_does_not_fit_is_read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("name", "state"), ("first", "ready now"), ("second", "-")]
    assert table(rows) == "name    state\nfirst   ready now\nsecond  -"
    monkeypatch.setenv("COLUMNS", "14")
    assert table(rows) == "first: state ready now\nsecond: state -"
