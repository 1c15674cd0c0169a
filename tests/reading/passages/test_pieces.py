"""Pieces: together they are the page, each fits, and each can be read alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groundwire.errors import InvalidRequest
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import Piece, cut_piece
from groundwire.reading.passages.token_budget import TextBudget

pytestmark = pytest.mark.req("B8", "Y17")

words = st.text(alphabet="abcdefg é漢字.!?", min_size=1, max_size=60).map(str.strip).filter(bool)
blocks = st.one_of(
    words,
    words.map("# {}".format),
    words.map("[{}](https://library.example/a/long/path)".format),
    st.lists(words, min_size=1, max_size=6).map(lambda rows: "\n".join(f"- {row}" for row in rows)),
    st.lists(words, min_size=1, max_size=6).map(lambda rows: "| h |\n| --- |\n" + "\n".join(f"| {r} |" for r in rows)),
    st.lists(words, max_size=8).map(lambda lines: "```python\n" + "\n".join([*lines, ""]) + "```"),
    words.map("~~~~\n```\n{}\n~~~~".format),
    words.map("- item\n\n  ```\n  {}\n  ```".format),
)
documents = st.lists(blocks, min_size=1, max_size=8).map("\n\n".join)


def cut_up(text: str, room: TextBudget) -> list[Piece]:
    document, pieces, place = Outline(text), [], 0
    while place < len(text):
        pieces.append(cut_piece(document, place, room))
        assert pieces[-1].start == place < pieces[-1].end
        place = pieces[-1].end
    return pieces


@given(documents, st.integers(min_value=1, max_value=400))
def test_together_they_are_the_page_and_each_fits(text: str, room: int) -> None:
    pieces = cut_up(text, TextBudget(characters=room))
    assert "".join(piece.text for piece in pieces) == text
    assert all(len(piece.content) <= room for piece in pieces)
    assert all(piece.text == text[piece.start : piece.end] for piece in pieces)
    if len(text) <= room:
        assert len(pieces) == 1


@given(st.lists(blocks, min_size=2, max_size=8), st.data())
def test_blocks_that_fit_exactly_are_not_cut(parts: list[str], data: st.DataObject) -> None:
    kept = "\n\n".join(parts[: data.draw(st.integers(1, len(parts) - 1))])
    text = "\n\n".join(parts)
    last = kept.rsplit("\n", 1)[-1]
    if last.startswith("#"):
        return  # a heading goes to what follows it
    piece = cut_piece(Outline(text), 0, TextBudget(characters=len(kept)))
    assert piece.text == kept


@given(st.text(alphabet="`~#-|>[]() \n\tab1.\u0301\u200d漢", min_size=1, max_size=200), st.integers(1, 220))
def test_any_text_is_cut_up(text: str, room: int) -> None:
    pieces = cut_up(text, TextBudget(characters=room))
    assert "".join(piece.text for piece in pieces) == text
    assert all(len(piece.content) <= room for piece in pieces)


@given(documents, st.integers(min_value=12, max_value=200))
def test_tokens_are_kept_to(real: Callable[[str], int], text: str, room: int) -> None:
    pieces = cut_up(text, TextBudget(characters=10_000, tokens=room))
    assert "".join(piece.text for piece in pieces) == text
    assert all(real(piece.content) <= room for piece in pieces)


@given(documents, st.integers(min_value=150, max_value=400))
def test_code_links_and_rows_stay_whole(text: str, room: int) -> None:
    for piece in cut_up(text, TextBudget(characters=room)):
        tokens = MarkdownIt("commonmark").parse(piece.content)
        for token in tokens:
            if token.type == "fence" and token.map and (token.level == 0):
                assert piece.content.split("\n")[token.map[1] - 1].strip().startswith(token.markup[:3])
        assert len(re.findall(r"\]\(", piece.content)) == len(re.findall(r"\]\(https://\S+\)", piece.content))
        for line in piece.content.split("\n"):
            assert not line.startswith("|") or line.endswith("|")


def test_a_long_code_block_is_closed_and_opened_again() -> None:
    lines = [f"line_{number:03} = {number}" for number in range(60)]
    text = "Intro.\n\n```python\n" + "\n".join(lines) + "\n```\n\nThe end."
    pieces = cut_up(text, TextBudget(characters=300))
    seen: list[str] = []
    for piece in pieces:
        for token in MarkdownIt("commonmark").parse(piece.content):
            if token.type == "fence":
                assert token.info == "python"
                seen += token.content.splitlines()
    assert seen == lines
    assert pieces[0].content.startswith("Intro.")
    assert len(pieces[0].content) > 150
    assert pieces[-1].content.endswith("The end.")


def test_a_long_table_has_its_head_in_each_piece() -> None:
    rows = [f"| {number} | value {number} |" for number in range(80)]
    text = "| n | v |\n| --- | --- |\n" + "\n".join(rows)
    pieces = cut_up(text, TextBudget(characters=300))
    assert len(pieces) > 3
    assert all(piece.content.startswith("| n | v |\n| --- | --- |\n") for piece in pieces)
    assert [row for piece in pieces for row in piece.content.rstrip("\n").split("\n")[2:]] == rows


def test_a_piece_has_as_many_whole_blocks_as_fit() -> None:
    blocks = [f"Paragraph {number} {'w' * (number * 7 % 23)}." for number in range(30)]
    for room in range(70, 190):
        place = 0
        for piece in cut_up("\n\n".join(blocks), TextBudget(characters=room)):
            whole = piece.text.strip().split("\n\n")
            assert whole == blocks[place : place + len(whole)]
            place += len(whole)
            more = len("\n\n".join([*whole, *blocks[place : place + 1]]))
            assert place == len(blocks) or more + len("\n\n") > room  # a block comes with the empty line after it
        assert place == len(blocks)


def test_a_heading_stays_with_what_follows() -> None:
    text = "\n\n".join(f"## Part {number}\n\n" + "A sentence of some length stands here. " * 6 for number in range(9))
    for piece in cut_up(text.strip(), TextBudget(characters=500)):
        assert not piece.content.rstrip().split("\n")[-1].startswith("#")


def test_no_room_for_a_single_word_is_said() -> None:
    with pytest.raises(InvalidRequest, match="max_tokens: is too little"):
        cut_piece(Outline("\U0001f9ff\U0001f9ff\U0001f9ff"), 0, TextBudget(characters=100, tokens=1))


@pytest.mark.parametrize(
    "text", ["word " * 400_000, "```\n" + "x = 1\n" * 200_000, "| a |\n| - |\n" + "| b |\n" * 200_000]
)
def test_the_cost_is_bounded(text: str) -> None:
    document = Outline(text)
    middle = len(text) // 2
    assert cut_piece(document, middle, TextBudget(characters=5_000, tokens=1_000)).end > middle
