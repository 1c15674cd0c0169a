from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth, memory
from groundwire.reading.text.truncate import truncate

pytestmark = pytest.mark.req("Y17")

words = st.text(alphabet="abcdefg é漢字.!?", min_size=1, max_size=60).map(str.strip).filter(bool)
blocks = st.one_of(
    words,
    words.map("# {}".format),
    words.map("- {}".format),
    words.map("[{}](https://library.example/a/long/path)".format),
    st.lists(words, min_size=1, max_size=4).map(lambda rows: "\n".join(f"- {row}" for row in rows)),
    st.lists(words, min_size=1, max_size=4).map(lambda rows: "| h |\n| --- |\n" + "\n".join(f"| {r} |" for r in rows)),
    st.lists(words, max_size=6).map(lambda lines: "```python\n" + "\n".join([*lines, ""]) + "```"),
    words.map("~~~~\n```\n{}\n~~~~".format),
    words.map("- item\n\n  ```\n  {}\n  ```".format),
)
documents = st.lists(blocks, max_size=8).map("\n\n".join)


def fences_are_balanced(markdown: str) -> bool:
    mark = ""
    for line in markdown.split("\n"):
        fence = re.match(r"[ \t>]*(?:[-*+] +)?(`{3,}(?=[^`]*$)|~{3,})(.*)$", line)
        if fence and not mark:
            mark = fence[1]
        elif fence and fence[1].startswith(mark) and not fence[2].strip():
            mark = ""
    return not mark


@given(documents, st.integers(min_value=1, max_value=300))
def test_what_comes_back_fits_and_is_a_prefix_with_balanced_fences(text: str, max_length: int) -> None:
    cut = truncate(text, max_length)
    assert len(cut) <= max_length
    if len(text) <= max_length:
        assert cut == text
    assert text.startswith((cut, cut.rpartition("\n")[0]))
    assert fences_are_balanced(cut)
    assert truncate(cut, max_length) == cut


@given(st.text(alphabet="`~#-|>[]() \n\tab1.\u0301\u200d\ud83d", max_size=200), st.integers(min_value=1, max_value=220))
def test_any_text_is_taken(text: str, max_length: int) -> None:
    cut = truncate(text, max_length)
    assert len(cut) <= max_length
    assert fences_are_balanced(cut) or not fences_are_balanced(text) or cut == text


@given(st.lists(words.filter(lambda w: "#" not in w), min_size=2, max_size=6), st.integers(min_value=1, max_value=400))
def test_paragraphs_stay_whole_when_the_first_one_fits(paragraphs: list[str], max_length: int) -> None:
    text = "\n\n".join(paragraphs)
    if len(paragraphs[0]) <= max_length < len(text):
        kept = 1
        while len("\n\n".join(paragraphs[: kept + 1])) <= max_length:
            kept += 1
        assert truncate(text, max_length) == "\n\n".join(paragraphs[:kept])


@pytest.mark.parametrize(
    ("text", "max_length", "expected"),
    [
        ("one\n\ntwo\n\nthree", 8, "one\n\ntwo"),
        ("one\n\ntwo\n\nthree", 7, "one"),
        ("- one\n- two\n- three", 12, "- one\n- two"),
        ("1. one\n2. two\n3. three", 14, "1. one\n2. two"),
        ("one\n\n## Two\n\nthree three three", 15, "one"),
        ("one\n\n# A\n\n## B\n\nthree three three", 18, "one"),
        ("one\n\nTwo\n---\n\nthree three three", 14, "one"),
        ("one\n\n| a |\n| --- |\n| b |\n| c |", 27, "one\n\n| a |\n| --- |\n| b |"),
        ("one\n\n| a |\n| --- |\n| b |\n| c |", 20, "one"),
        ("one\n\n```\ncode\ncode\n```\n\ntwo", 20, "one"),
        ("one\n\n```\ncode\ncode\n```\n\ntwo", 24, "one\n\n```\ncode\ncode\n```"),
        ("```py\naaaa\nbbbb\ncccc\n```", 21, "```py\naaaa\nbbbb\n```"),
        ("````\n```\naaaa\nbbbb\n````", 20, "````\n```\naaaa\n````"),
        ("```py\n" + "a" * 50 + "\n```", 20, "```py\n" + "a" * 10 + "\n```"),
        ("```\n```" + "x" * 50 + "\n```", 11, "```\n```"),
        ("First one here. Second one is here. Third", 38, "First one here. Second one is here."),
        ("no sentence ends in here at all", 15, "no sentence"),
        ("aaaaaaaaaaaaaaaaaaaa", 7, "aaaaaaa"),
        ("これは長い文です。そして次の文も長い。", 12, "これは長い文です。"),
        ("see [the page](https://x.example/page) now", 30, "see"),
        ("# Title\n\nA first sentence. And a second that is long.", 30, "# Title\n\nA first sentence."),
    ],
)
def test_where_it_cuts(text: str, max_length: int, expected: str) -> None:
    assert truncate(text, max_length) == expected


@pytest.mark.parametrize(
    "text", ["aaaae\u0301\u0302bbbb", "aaaa\U0001f469\u200d\U0001f4bbbbb", "aaaa\U0001f44d\U0001f3fdbb"]
)
def test_a_character_keeps_its_marks(text: str) -> None:
    whole = [truncate(text, length) for length in range(1, len(text))]
    assert all(not re.search("[e\u0301\u200d\U0001f469\U0001f44d]$", cut) for cut in whole)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 2_000_000,
        "line\n" * 2_000_000,
        "# h\n" * 2_500_000,
        "```\n" * 2_500_001,
        "[a](" * 2_500_000,
        "\n" * 10_000_000,
    ],
    ids=["words", "lines", "headings", "fences", "links", "newlines"],
)
def test_the_cost_is_that_of_what_is_kept(text: str) -> None:
    def cut(text: str) -> None:
        assert len(truncate(text, 1_000)) <= 1_000

    assert growth(cut, text[:10_000], text) < 1.1
    assert memory(lambda: cut(text)) < 100_000


@pytest.mark.parametrize("unit", ["line\n", "# h\n", "```\n", "[a](", "\n", "| - |\n", "e\u0301"])
def test_a_large_limit_stays_linear(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    truncate(text, 900_000)
    assert growth(lambda beginning: truncate(beginning, len(beginning) - 1_000), text[:25_000], text[:100_000]) < 5


def test_a_link_is_not_cut_in_its_label() -> None:
    text = "See what [the masons of the harbour](https://a.example/x) wrote about it, and more of their words."
    assert truncate(text, 25) == "See what"
    assert truncate("one [two three four five six seven eight", 25) == "one [two three four five"
