"""The sentences of answers as people and models write them, and the sources that each cites."""

from __future__ import annotations

import pytest

from groundwire.citations.segmentation import blank_markup, quotes_of, sentences, sentences_of, table_heads
from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Warner Bros.' 2020 film was long. It failed.", ["Warner Bros.' 2020 film was long.", "It failed."]),
        ("Warner Bros.’ 2020 film was long.", ["Warner Bros.’ 2020 film was long."]),
        ("He said 'It is over.' Then he left.", ["He said 'It is over.'", "Then he left."]),
        ("He works for Mills Inc. Boston. It rains.", ["He works for Mills Inc. Boston.", "It rains."]),
        ("Dr. A. B. Berg came at 5 p.m. Monday.", ["Dr. A. B. Berg came at 5 p.m. Monday."]),
        ("Am 31. März 1889 im 21. Jahrhundert. Ja.", ["Am 31. März 1889 im 21. Jahrhundert.", "Ja."]),
        ("It costs 3.5 million. e.g. ships.", ["It costs 3.5 million. e.g. ships."]),
        ("Is it? Yes! Good… Then go.", ["Is it?", "Yes!", "Good…", "Then go."]),
        ("塔は高い。橋は古い。", ["塔は高い。", "橋は古い。"]),
        ("यह लंबा है। वह छोटा है।", ["यह लंबा है।", "वह छोटा है।"]),
        (
            "# Ships\n\nThey sail.\n- One item\n- Two items\n1. Third",
            ["# Ships", "They sail.", "- One item", "- Two items", "1. Third"],
        ),
        ("Ships sail.\n\n```\ncode. More code.\n```\n\nBoats too.", ["Ships sail.", "Boats too."]),
        ("One [1]. Two.[2][3] Three 【4】. Four.", ["One [1].", "Two.[2][3]", "Three 【4】.", "Four."]),
    ],
)
def test_where_a_sentence_ends(text: str, expected: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences(text)] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ships sail [1]. Boats row.", [("Ships sail [1].", (1,)), ("Boats row.", ())]),
        ("Ships sail. [1] Boats row. [2]", [("Ships sail. [1]", (1,)), ("Boats row. [2]", (2,))]),
        ("Ships sail [1][2], [3].", [("Ships sail [1][2], [3].", (1, 2, 3))]),
        ("Ships sail [1-3].", [("Ships sail [1-3].", (1, 2, 3))]),
        ("Ships sail [[1]](https://a.example/).", [("Ships sail [[1]](https://a.example/).", (1,))]),
        ("Ships sail [\\[1\\]](https://a.example/).", [("Ships sail [\\[1\\]](https://a.example/).", (1,))]),
        ("Ships sail[^1].\n\n[^1]: https://a.example/", [("Ships sail[^1].", (1,))]),
        ("- **Ships** sail [1]\n- Boats row [2]", [("- **Ships** sail [1]", (1,)), ("- Boats row [2]", (2,))]),
        ("Ships sail.\n\n[1][2]\n\nBoats row.", [("Ships sail.\n\n[1][2]", (1, 2)), ("Boats row.", ())]),
        ("Ships sail [1].\n\nSources:\n[1] Title - https://a.example/", [("Ships sail [1].", (1,))]),
        ("| Land | People |\n| --- | --- |\n| Spain | 48 [1] |", [("| Spain | 48 [1] |", (1,))]),
        ("Use `list[1]` or $a[2]$.", [("Use `list[1]` or $a[2]$.", ())]),
    ],
)
def test_what_a_sentence_cites(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    told = sentences_of(answer)
    assert [(one.text, one.numbers) for one in told] == expected
    assert all(answer[one.start : one.end] == one.text for one in told)


def test_the_parts_of_a_sentence_cite_their_own_pages() -> None:
    answer = "Well: ships sail across the lake [1], and boats row on the river [2]."
    (sentence,) = sentences_of(answer)
    assert [(part.text.strip(" ."), part.numbers) for part in sentence.parts] == [
        ("Well: ships sail across the lake", (1,)),
        ("boats row on the river", (2,)),
    ]
    assert [answer[part.start :].startswith(part.text.strip(" .")) for part in sentence.parts] == [True, True]
    (short,) = sentences_of("Ships sail across the lake [1] in June.")
    assert [part.numbers for part in short.parts] == [(1,)]


def test_markup_leaves_every_character_in_its_place() -> None:
    text = "## A **bold** [link](https://a.example/b(c)) and `code`"
    plain = blank_markup(text)
    assert len(plain) == len(text)
    assert plain.split() == ["A", "bold", "link", "and", "code"]
    assert [plain.index(word) == text.index(word) for word in ("bold", "link", "code")] == [True] * 3


def test_the_head_of_a_table_is_no_statement_but_gives_its_rows_their_words() -> None:
    table = "| Land | People |\n| --- | --- |\n| Spain | 48 million |\n| Italy | 59 million |\n\nMore text."
    assert [table[head.start : head.end] for head in table_heads(table)] == ["| Land | People |\n| --- | --- |\n"]
    page = CitedPage(number=1, url="", content=table)
    (finding,) = verify_answer("Spain has 48 million people [1].", [page]).findings
    assert (finding.verdict, finding.passage) == ("supported", "| Spain | 48 million |")


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('He said "this is good work" and left.', ["this is good work"]),
        ("Er sagte: „Das ist sehr gut.“ Und «c’est très bien» auch.", ["Das ist sehr gut.", "c’est très bien"]),
        ("彼は「とても美しいものだ」と書いた。", ["とても美しいものだ"]),
        ('The "big ship" is 5" long.', []),
    ],
)
def test_quotations(text: str, quotes: list[str]) -> None:
    assert [text[span.start : span.end] for span in quotes_of(text)] == quotes
