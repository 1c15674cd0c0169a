"""Quotes from several pages: the best first, none below the floor, each within one section."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.passages.quotes import best_quotes

BAKING = "# Bread\n\nA loaf bakes for forty minutes.\n\n# Cakes\n\nA sponge bakes for twenty minutes at 180 degrees."
SAILING = "Ships sail with the wind. A loaf is also a kind of round hill."
TABLE = "| Bread | Minutes |\n| --- | --- |\n| rye loaf | 70 |\n| wheat loaf | 40 |\n\nAll of them rest afterwards."


def test_the_best_part_of_all_pages_comes_first() -> None:
    first = best_quotes([("Sailing", SAILING), ("Baking", BAKING)], "How long does a sponge bake?")[0]
    assert (first.page, first.text) == (1, "A sponge bakes for twenty minutes at 180 degrees.")


def test_a_row_has_the_header_of_its_table() -> None:
    first = best_quotes([("Baking", TABLE)], "minutes of a rye loaf")[0]
    assert first.text.startswith("| Bread | Minutes |\n| --- | --- |\n")
    assert "| rye loaf | 70 |" in first.text


def test_nothing_is_quoted_below_the_floor() -> None:
    pages = [("Baking", BAKING), ("Sailing", SAILING)]
    assert best_quotes(pages, "Which volcano erupted near the loaf in 1883?") == []
    assert best_quotes(pages, "Which volcano erupted near the loaf in 1883?", 0.05)


def test_a_part_that_stands_out_is_more_certain_and_one_of_a_later_page_less() -> None:
    question = "How long does a sponge bake?"
    alone, twice = best_quotes([("A", BAKING)], question), best_quotes([("A", BAKING), ("B", BAKING)], question)
    assert alone[0].text == twice[0].text
    assert alone[0].certainty > twice[0].certainty > twice[1].certainty
    later = best_quotes([("Sailing", SAILING), ("A", BAKING)], question)
    assert alone[0].certainty > later[0].certainty
    assert best_quotes([("A", BAKING), ("B", BAKING)], question, alone[0].certainty) == []


def test_where_the_best_part_is_not_certain_no_other_is_quoted() -> None:
    """The other one has all words of the question, but no number, which it asks for."""
    parts = (
        "The island of Sule has 12 keepers of bees.",
        "Some keepers live on the island of Sule with their families.",
    )
    weather, trade = "Rain falls on the island. Sule is windy. People live by fishing.", "The families trade."
    rows = zip(("History", "People", "Weather", "Trade"), (*parts, weather, trade), strict=True)
    page = ("Islands", "\n\n".join(f"# {title}\n\n{text}" for title, text in rows))
    question = "How many keepers live with their families on the island of Sule?"
    first, second, *_ = best_quotes([page], question, -1.0)
    assert (first.text, second.text) == parts
    assert second.certainty > 0.5 > first.certainty
    assert best_quotes([page], question, 0.5) == []


def test_a_word_with_digits_counts_once() -> None:
    page = ("Ranking", "BM25 is a formula of ranking.")
    assert best_quotes([page], "Who invented BM25?") == []  # of five words, "bm" and "25" would be three with it


def test_of_equal_parts_that_of_the_earlier_page_is_first() -> None:
    pages = [("A", BAKING), ("B", BAKING)]
    assert [quote.page for quote in best_quotes(pages, "How long does a sponge bake?")] == [0, 1]


def test_an_open_code_block_does_not_take_in_the_next_page() -> None:
    pages = [("Code", "A program of ours:\n\n```python\nprint(1)"), ("Baking", BAKING)]
    assert [quote.page for quote in best_quotes(pages, "How long does a sponge bake?")] == [1]


def test_quotes_do_not_overlap() -> None:
    text = " ".join(f"The loaf number {number} bakes for {number} minutes." for number in range(100))
    quotes = best_quotes([("Bread", text)], "loaf bakes minutes")
    assert len(quotes) == 3
    assert not {*quotes[0].text.split(". ")} & {*quotes[1].text.split(". ")}
    assert all(len(quote.text) <= size for quote, size in zip(quotes, (600, 300, 300), strict=True))


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=300)), max_size=4), st.text(min_size=1, max_size=50))
def test_each_quote_stands_on_its_page(pages: list[tuple[str, str]], question: str) -> None:
    for quote in best_quotes(pages, question, 0.0):
        assert all(line.strip() in pages[quote.page][1] for line in quote.text.splitlines())
