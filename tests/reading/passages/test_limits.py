"""Where passages, pieces and excerpts begin and end, and what their scores are: the exact values at each limit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import InvalidRequest
from groundwire.models import MAX_QUERY, Excerpt, Match, Page
from groundwire.reading.passages.bm25 import passages_of, score_passages
from groundwire.reading.passages.excerpts import (
    ExcerptSpan,
    assemble,
    choose,
    excerpt_text,
    find_all,
    spans_around,
    wants_links,
)
from groundwire.reading.passages.outline import Outline, plain, version_of
from groundwire.reading.passages.pagination import Place, cursor_at, cut_piece, resolve, wrapped
from groundwire.reading.passages.reranking import rank
from groundwire.reading.passages.terms import Terms, expected, is_common, readable_run
from groundwire.reading.passages.token_budget import TextBudget, TokenBound, load_token_bound
from groundwire.reading.passages.view import check_ask, pack_view, unpack_view, view, view_in_worker

pytestmark = pytest.mark.req("B8", "B9")

URL = "https://library.example/guide"


def parts(text: str) -> list[str]:
    return [text[passage.start : passage.end] for passage in passages_of(Outline(text))]


class TestPassages:
    def test_260_characters_are_one_passage_and_more_are_several(self) -> None:
        assert parts("a" * 260) == ["a" * 260]
        assert parts("a" * 261) == ["a" * 260, "a"]
        assert parts("a" * 600) == ["a" * 260, "a" * 260, "a" * 80]
        assert parts("x" + "a" * 520) == ["x" + "a" * 259, "a" * 260, "a"]

    def test_a_long_sentence_is_divided_at_lines_then_clauses_then_words(self) -> None:
        word, clause = "word " * 20, "clause, "
        assert parts(f"{word.strip()}\n{'two ' * 60}".strip()) == [word.strip(), ("two " * 60).strip()]
        assert parts((clause * 40).strip()) == [(clause * 32).strip(), (clause * 8).strip()]
        assert all(len(part) <= 260 for part in parts(f"{'word ' * 80}, {clause * 10}{'word ' * 80}, {clause * 60}"))
        lines = f"{'one two, ' * 40}\n{'six ten, ' * 40}".strip()
        assert parts(lines) == [
            ("one two, " * 28).strip(),
            ("one two, " * 12).strip(),
            ("six ten, " * 28).strip(),
            ("six ten, " * 12).strip(),
        ]
        assert parts(("word " * 53).strip()) == [("word " * 52).strip(), "word"]

    def test_a_short_sentence_stays_with_the_next(self) -> None:
        more = "And then more is said of it at the end of the day."
        assert parts(f"{'x' * 39}. {more}") == [f"{'x' * 39}.", more]
        assert parts(f"{'x' * 38}. {more}") == [f"{'x' * 38}. {more}"]
        clauses = "Clause, " * 30 + "and more of it, and more"
        assert parts(f"{'x' * 38}. {clauses}")[0] == f"{'x' * 38}."
        assert parts(f"{'x' * 37}. {clauses}")[0] == f"{'x' * 37}. " + ("Clause, " * 27).strip()

    def test_a_short_paragraph_stays_with_the_next_if_both_fit(self) -> None:
        for size, together in ((252, True), (253, False)):
            text = f"Label:\n\n{'x' * size}"
            assert parts(text) == ([text] if together else ["Label:", "x" * size])
        assert len(parts(f"{'x' * 39}\n\nThe paragraph.")) == 1
        assert len(parts(f"{'x' * 40}\n\nThe paragraph.")) == 2
        first = f"This is the first paragraph of all, and it is long enough to stand alone. {'z' * 150}"
        assert parts(f"{first}\n\nLabel:\n\n{'x' * 100}")[-1] == f"Label:\n\n{'x' * 100}"
        link = f"[{'a' * 238}](https://a.example/)"
        assert len(link) == 260
        assert parts(link + "x" * 100) == [link, "x" * 100]
        assert parts("One.\n\n# H\n\nTwo.") == ["One.", "# H\n\nTwo."]
        assert parts("One.\n\n| a | b |\n| - | - |\n| 1 | 2 |")[0] == "One."
        assert parts("| a | b |\n| - | - |\n| 1 | 2 |\n\nOne.")[1:] == ["| 1 | 2 |", "One."]

    def test_headings_belong_to_the_passage_that_follows(self) -> None:
        text = "# T\n\n## S\n\nText is here.\n\n# End\n\n## Last\n"
        assert parts(text) == ["# T\n\n## S\n\nText is here.", "# End\n\n## Last"]
        assert [passage.path for passage in passages_of(Outline(text))] == [(0, 1), (2, 3)]
        assert [passage.head for passage in passages_of(Outline(text))] == [-1, -1]

    def test_rows_are_passages_that_know_their_table(self) -> None:
        text = "Intro is here.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\nAfter it all."
        assert parts(text) == ["Intro is here.", "| a | b |\n| --- | --- |", "| 1 | 2 |", "| 3 | 4 |", "After it all."]
        assert [passage.head for passage in passages_of(Outline(text))] == [-1, 16, 16, 16, -1]
        assert parts("| a | b |\n| 1 | 2 |\n| 3 | 4 |") == ["| a | b |", "| 1 | 2 |", "| 3 | 4 |"]
        assert parts("| a |\n\nOne more.") == ["| a |", "One more."]
        assert parts("> | a | b |\n> | --- | --- |\n> | 1 | 2 |")[0] == "> | a | b |\n> | --- | --- |"

    def test_a_row_beyond_520_characters_is_divided_at_its_cells(self) -> None:
        head = "| a | b |\n| - | - |\n"
        cell = "x" * 99
        fits = f"{head}| {cell} | {'y' * 255} | {'z' * 155} |"
        assert len(fits) - len(head) == 519
        assert len(parts(fits)) == 2
        assert len(parts(f"{fits}\nmore")) == 3
        rows = parts(f"{head}| {cell} | {cell} | {cell} | {cell} | {cell} | {cell} |")
        assert [row.count("x") for row in rows[1:]] == [198, 198, 198]
        assert all(row.startswith(("|", "x")) for row in rows)
        wide = f"| {cell} | {cell} | {cell} | {cell} | {cell} | {cell} |\n| - | - | - | - | - | - |\n| 1 | 2 |"
        assert parts(wide)[0].count("x") == 594  # a header stays whole

    def test_code_is_divided_at_empty_lines_then_lines(self) -> None:
        block = "x = 1\n" * 20
        assert parts(f"```\n{block}```") == [f"```\n{block}```"]
        assert parts(f"```\n{block}\n{block}\n{block}```") == [f"```\n{block}\n{block}\n", f"{block}```"]
        lines = parts("```\n" + "x = 1\n" * 60 + "```")
        assert [len(part) for part in lines] == [256, 111]

    def test_sentences_end_at_full_stops_of_all_scripts(self) -> None:
        one = "這是一個相當長的句子它沒有空格可是它說了很多話而且還沒有說完所以還要繼續說下去直到最後。"
        assert parts(one + one) == [one, one]
        two = "This sentence asks whether it is long enough to stand alone?"
        assert parts(f"{two} {two}") == [two, two]
        assert parts(f"{two[:-1]}.) {two}") == [f"{two[:-1]}.)", two]
        assert parts(f"- {two[:-1]}\n- {two}") == [f"- {two[:-1]}", f"- {two}"]


def scores(text: str, query: str) -> list[float]:
    return [row.score for row in score_passages(Outline(text), query)[0]]


def bm25(counts: Sequence[dict[str, float]], sizes: Sequence[int], weights: dict[str, float]) -> list[float]:
    """Return the scores of passages by the published formula with k1 = 2 and b = 0.5.

    Four tenths of a score are given anyway, six by the covered part of the query's weight.
    """
    mean = sum(sizes) / len(sizes)
    found = []
    for row, size in zip(counts, sizes, strict=True):
        score = sum(weights[word] * times * 3 / (times + 2 * (0.5 + 0.5 * size / mean)) for word, times in row.items())
        covered = sum(weights[word] * min(1.0, times) for word, times in row.items())
        found.append(score * (0.4 + 0.6 * covered / sum(weights.values())))
    return found


def rarity(passages: int, having: int) -> float:
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def beside(counts: Sequence[dict[str, float]], above: Sequence[dict[str, float]] = ()) -> list[dict[str, float]]:
    """Return the counts of passages of one section with those of their headings and of the passages around them."""
    found = []
    for at, row in enumerate(counts):
        total = dict(row)
        near = [above[at]] if above else []
        for other, words in enumerate(counts):
            if 0 < abs(at - other) <= len(SHARES):
                near.append({word: SHARES[abs(at - other) - 1] * min(1.0, times) for word, times in words.items()})
        for word, times in (pair for words in near for pair in words.items()):
            total[word] = total.get(word, 0.0) + times
        found.append(total)
    return found


def rounded(found: Sequence[float]) -> list[float]:
    return [round(one, 4) for one in found]


SHARES = (0.42, 0.35, 0.28, 0.21, 0.14)  # of a word, by the distance of its passage
BLANK = "nobody knew what lay beyond those distant quiet hills"  # nine terms, none like those of the queries


class TestScores:
    def test_they_are_those_of_bm25(self) -> None:
        text = (
            f"ferry now takes them over to some island where nobody lives\n\n{BLANK}\n\nferry ferry again and {BLANK}"
        )
        found = bm25(beside([{"ferry": 1}, {}, {"ferry": 2}]), [11, 9, 13], {"ferry": rarity(3, 2)})
        assert scores(text, "ferry") == rounded(found)

    def test_words_around_a_passage_count_to_a_distance_of_five_within_a_section(self) -> None:
        names = ("one", "two", "four", "five", "seven", "eight")
        rows = [f"ferry well {BLANK}", *(f"{BLANK} number {word}" for word in names)]
        expected_scores = rounded(bm25(beside([{"ferry": 1}, *([{}] * 6)]), [11] * 7, {"ferry": rarity(7, 1)}))
        assert scores("\n\n".join(rows), "ferry") == expected_scores
        assert expected_scores[5] > expected_scores[6] == 0
        assert scores("\n\n".join(reversed(rows)), "ferry") == expected_scores[::-1]
        assert scores(f"# First\n\n{rows[0]}\n\n# Second\n\n{rows[1]}", "ferry")[1] == 0

    def test_what_covers_more_of_the_query_scores_higher(self) -> None:
        rows = [f"ferry {BLANK} yes", f"harbour ferry {BLANK}", f"really {BLANK} well"]
        counts = [{"ferry": 1.0}, {"ferry": 1.0, "harbour": 1.0}, {}]
        weights = {"ferry": rarity(3, 2), "harbour": rarity(3, 1)}
        found = scores("\n\n".join(rows), "harbour ferry")
        assert found == rounded(bm25(beside(counts), [11] * 3, weights))
        assert found[1] > found[0]

    def test_a_word_that_occurs_everywhere_has_a_tenth_of_the_weight(self) -> None:
        rows = [f"ferry {BLANK} yes", f"the {BLANK} yes", f"really {BLANK} well"]
        weights = {"ferry": rarity(3, 1), "the": rarity(3, 1) * 0.1}
        found = bm25(beside([{"ferry": 1}, {"the": 1}, {}]), [11] * 3, weights)
        assert scores("\n\n".join(rows), "the ferry") == rounded(found)
        weights = {"ferry": rarity(3, 1)} | dict.fromkeys(Terms()("where does"), rarity(3, 0) * 0.1)
        found = bm25(beside([{"ferry": 1}, {}, {}]), [11] * 3, weights)
        assert scores("\n\n".join(rows), "where does ferry") == rounded(found)  # recognized without their endings

    def test_headings_count(self) -> None:
        text = f"# Ferry\n\n{BLANK}\n\n## Harbour\n\n{BLANK} yes"
        weights = {"ferry": rarity(2, 1), "harbour": rarity(2, 1)}
        counts = [{"ferry": 1.8}, {"ferry": 0.8, "harbour": 1.8}]
        assert scores(text, "ferry harbour") == rounded(bm25(counts, [10, 11], weights))
        text = f"# Ferry ferry\n\n{BLANK}\n\n{BLANK} yes well"
        counts = beside([{"ferry": 2.0}, {}], [{"ferry": 0.8}] * 2)
        assert scores(text, "ferry") == rounded(bm25(counts, [11, 11], {"ferry": rarity(2, 1)}))

    def test_a_number_where_one_is_asked_for_counts_fourfold_and_more(self) -> None:
        text = f"seats: 412 in all and {BLANK}\n\n{BLANK} so seats and all the rest of it"
        plain_scores = scores(text, "seats")
        counts = beside([{"seat": 1}, {"seat": 1}])
        assert plain_scores == rounded(bm25(counts, [14, 17], {"seat": rarity(2, 2)}))
        words = {"seat": rarity(2, 2), "how": rarity(2, 0) * 0.1, "many": rarity(2, 0) * 0.1}
        first, second = base = bm25(counts, [14, 17], words)
        assert scores(text, "how many seats") == [round(4 * first + 0.8 * max(base), 4), round(second, 4)]

    def test_related_words_count_less(self) -> None:
        rows = [f"the harbourmaster {BLANK}", f"really so {BLANK}"]
        found = bm25(beside([{"harbour": 0.6 * 0.8}, {}]), [11, 11], {"harbour": rarity(2, 1)})
        assert scores("\n\n".join(rows), "harbour") == rounded(found)
        # "^volcan" has five groups of three letters, "^volcani" one more: ten of eleven are common to both.
        # Of long words, 40 letters are compared: 38 of their 39 groups.
        long = "abcdefghijklmnopqrstuvwxyzacegikmoqsuwy"
        rows = [f"the {long}vkj {BLANK}", f"really so {BLANK}"]
        found = bm25(beside([{"x": 0.6 * 38 / 39}, {}]), [11, 11], {"x": rarity(2, 1)})
        assert scores("\n\n".join(rows), f"{long}qzx") == rounded(found)
        # The table of related words knows a ferry as a boat.
        rows = [f"the boat {BLANK}", f"really so {BLANK}"]
        found = bm25(beside([{"ferry": 0.8}, {}]), [11, 11], {"ferry": rarity(2, 1)})
        assert scores("\n\n".join(rows), "ferry") == rounded(found)
        rows = [f"the volcani {BLANK}", f"really so {BLANK}"]
        found = bm25(beside([{"volcan": 0.6 * 10 / 11}, {}]), [11, 11], {"volcan": rarity(2, 1)})
        assert scores("\n\n".join(rows), "volcan") == rounded(found)

    @pytest.mark.parametrize(
        ("word", "other", "related"),
        [
            ("harbour", "harbours", True),
            ("hafen", "hafengebiet", True),  # the compound has all letters of the word
            ("cat", "category", False),  # three letters are in too many words
            ("cat", "catt", False),
            ("market", "marker", True),  # four of five groups of three
            ("ferry", "merit", False),
            ("ferry", "berry", True),
            ("12345", "12346", False),  # numbers are not related
            ("ferry", "boat", True),  # in other words
            ("boat", "ferry", True),
            ("chef", "geschäftsführerin", True),  # any ending
            ("chefs", "direktoren", True),
            ("chefredakteurinnen", "direktoren", False),  # too little of the word is known
            ("12345", "123450", False),
            ("abc", "abcd", False),
            ("which", "whichever", False),  # a word that occurs everywhere has no relatives
        ],
    )
    def test_which_words_are_related(self, word: str, other: str, related: bool) -> None:
        found = scores(f"the {other} {BLANK}\n\nreally so {BLANK}", word)
        assert (found[0] > 0) is related

    def test_the_focus_is_the_rarest_word_or_what_is_asked_for(self) -> None:
        text = f"The boat is red, and then the ferry is blue.\n\nThe boat is here and {BLANK}."
        first, second = rank(Outline(text), "boat ferry")
        assert (first.focus, second.focus) == (text.index("ferry"), text.index("boat", 50))
        text = f"Nobody in town has a vessel today, nor tomorrow, but the boat is here.\n\n{BLANK}"
        assert rank(Outline(text), "ferry")[0].focus == text.index("boat")  # in other words
        assert rank(Outline(f"Ferry boats are here.\n\n{BLANK}"), "ferry")[0].focus == 0
        text = f"There are some seats, and of them 412 are taken.\n\n{BLANK}"
        first, second = rank(Outline(text), "how many seats")
        assert (first.focus, second.focus) == (text.index("412"), second.passage.start)

    def test_passages_say_what_they_are(self) -> None:
        first, second = rank(Outline(f"Ferries [leave](https://a.example/now) here often.\n\n{BLANK}"), "ferry")
        assert (first.number, second.number) == (0, 1)
        assert first.terms == {"ferry", "leav", "her", "often"}
        unasked = rank(Outline("Text."), "?!")[0]
        assert (unasked.score, unasked.focus, unasked.terms) == (0.0, 0, frozenset())
        assert rank(Outline(""), "ferry") == []


class TestOutline:
    @pytest.mark.parametrize(
        ("text", "headings"),
        [
            ("# One\n\n### Two\n###### Six\n####### no", [(0, 5, 1, "One"), (7, 14, 3, "Two"), (15, 25, 6, "Six")]),
            ("Over\n====\n\nUnder\n-----\n", [(0, 9, 1, "Over"), (11, 22, 2, "Under")]),
            ("   # Indented", [(0, 13, 1, "Indented")]),
            ("Over\n=\n\nUnder\n-", [(0, 6, 1, "Over"), (8, 15, 2, "Under")]),
            ("    # Code", []),
            ("#no\n\n#\n\n# #\n\n- item\n---", []),
            ("# A `b` *c* [d](https://e.example/) ##", [(0, 38, 1, "A b c d")]),
            ("# C#", [(0, 4, 1, "C#")]),
            ("# C #", [(0, 5, 1, "C")]),
            ("```\n# no\n```\n# Yes", [(13, 18, 1, "Yes")]),
            ("| a |\n---", []),
        ],
    )
    def test_headings(self, text: str, headings: list[tuple[int, int, int, str]]) -> None:
        assert [tuple(heading) for heading in Outline(text).headings] == headings
        assert Outline(text).heading_starts == [start for start, *_ in headings]

    def test_a_title_has_at_most_100_characters(self) -> None:
        assert plain("x" * 100) == "x" * 100
        assert plain("x" * 101) == "x" * 97 + "..."
        assert plain("x" * 96 + "  yy zz") == "x" * 96 + "..."
        assert plain(r"a \* b ![pic](https://p.example/) `c`") == "a * b pic c"

    def test_the_path_has_the_nearest_heading_of_each_level(self) -> None:
        text = "# A\n\n### B\n\n## C\n\n### D\n\ntext\n\n# E\n\n## F\n"
        document = Outline(text)
        assert document.path(text.index("text")) == ("A", "C", "D")
        assert document.heading_path(text.index("## C")) == (0, 2)
        assert document.heading_path(text.index("## C") - 1) == (0, 1)
        assert document.path(len(text)) == ("E", "F")
        assert Outline("text\n\n# A").path(3) == ()
        assert Outline("## B\n\n# A\n\ntext").path(12) == ("A",)

    def test_sections_reach_to_the_next_of_their_level(self) -> None:
        text = "intro\n\n# A\n\n## B\n\ntext\n\n## C\n\n# D\nend"
        assert [(one.level, one.title, text[one.start : one.start + one.length]) for one in Outline(text).sections] == [
            (1, "A", "# A\n\n## B\n\ntext\n\n## C\n\n"),
            (2, "B", "## B\n\ntext\n\n"),
            (2, "C", "## C\n\n"),
            (1, "D", "# D\nend"),
        ]

    @pytest.mark.parametrize(("parts", "subs", "listed"), [(50, 1, 100), (50, 0, 50), (51, 1, 51), (101, 0, 100)])
    def test_at_most_100_sections_are_listed(self, parts: int, subs: int, listed: int) -> None:
        text = "".join(f"# Part {number}\n\n" + "## Sub\n\n" * subs for number in range(parts))
        sections = Outline(text).sections
        assert len(sections) == listed
        assert sum(one.length for one in sections if one.level == 1) == len(text) - (
            len("# Part 100\n\n") if parts > 100 else 0
        )

    def test_deep_sections_are_left_out_first(self) -> None:
        text = "# T\n\n" + "## S\n\n" * 60 + "### U\n\n" * 60
        assert [one.level for one in Outline(text).sections] == [1] + [2] * 60
        text = "# T\n\n" + "##### S\n\n" * 60 + "###### U\n\n" * 60
        assert len(Outline(text).sections) == 61
        text = "# T\n\n" + "##### S\n\n" * 60 + "###### U\n\n" * 39
        assert len(Outline(text).sections) == 100

    def test_only_the_deepest_sections_that_are_too_many_are_left_out(self) -> None:
        levels = [1] * 60 + [5] * 40 + [6]
        text = "".join(f"{'#' * level} Part {number}\n" for number, level in enumerate(levels))
        assert [section.level for section in Outline(text).sections] == levels[:100]

    def test_code_is_found_with_its_fences(self) -> None:
        text = "a\n\n```\nx\n```\n\nb"
        document = Outline(text)
        inside = [place for place in range(len(text)) if document.code_at(place) is not None]
        assert (inside[0], inside[-1]) == (4, text.index("```", 5) + 2)
        assert Outline("a").code_at(0) is None
        assert Outline("```\nx").code_at(5) is not None

    def test_rows_know_the_header_of_their_table(self) -> None:
        text = "a\n\n| a |\n| - |\n| 1 |\n| 2 |\n\n| b |\n| c |\n| d |\n\nend"
        document = Outline(text)
        assert document.table_head(text.index("| 1")) == "| a |\n| - |\n"
        assert document.table_head(text.index("| 2")) == "| a |\n| - |\n"
        for place in (0, text.index("| a"), text.index("| -"), text.index("| d"), text.index("end")):
            assert document.table_head(place) == ""
        assert Outline("> | a |\n> | - |\n> | 1 |").table_head(16) == "> | a |\n> | - |\n"
        assert Outline("| a\n|-\n| 1").table_head(7) == "| a\n|-\n"

    def test_the_version_is_of_the_text(self) -> None:
        assert Outline("text").version == version_of("text") == "982d9e3eb996f559"


class TestPieces:
    def test_a_page_that_fits_is_one_piece(self) -> None:
        text = "One.\n\nTwo."
        assert cut_piece(Outline(text), 0, TextBudget(characters=10)).content == text
        assert cut_piece(Outline(text), 0, TextBudget(characters=9)).content == "One.\n\n"
        assert cut_piece(Outline(text), 2, TextBudget(characters=99)).content == "e.\n\nTwo."
        assert cut_piece(Outline(text), 2, TextBudget(characters=8), 5).content == "e.\n"

    def test_the_context_of_a_piece(self) -> None:
        text = "a\n\n```python\nx = 1\ny = 2\n```\n\n| a |\n| - |\n| 1 |\n"
        document = Outline(text)
        piece = wrapped(document, text.index("x ="), text.index("y ="))
        assert (piece.before, piece.text, piece.after) == ("```python\n", "x = 1\n", "```")
        piece = wrapped(document, text.index("= 1"), text.index("\ny"))
        assert (piece.before, piece.text, piece.after) == ("```python\n", "= 1", "\n```")
        piece = wrapped(document, text.index("| 1"), len(text))
        assert (piece.before, piece.after) == ("| a |\n| - |\n", "")
        piece = wrapped(document, 0, text.index("python"))
        assert (piece.before, piece.after) == ("", "")
        piece = wrapped(document, text.index("```\n\n"), len(text))
        assert (piece.before, piece.after) == ("", "")
        piece = wrapped(document, text.index("| 1") + 2, len(text))
        assert piece.before == ""
        piece = wrapped(document, text.index("| 1") + 4, len(text))
        assert piece.before == ""
        piece = wrapped(document, text.index("\nx ="), text.index("y ="))
        assert piece.before == "```python"
        piece = wrapped(document, 0, text.index("\nx ="))
        assert (piece.before, piece.after) == ("", "")  # no line of code is in it
        piece = wrapped(document, 0, text.index("x ="))
        assert (piece.before, piece.after) == ("", "```")

    def test_a_piece_without_room_for_its_context_has_none(self) -> None:
        rows = "".join(f"| {number:04} |\n" for number in range(40))
        text = "| depot |\n| ----- |\n" + rows
        for room, headed in ((62, True), (59, False)):
            piece = cut_piece(Outline(text), 20 + 9 * 4, TextBudget(characters=room))
            assert piece.before == ("| depot |\n| ----- |\n" if headed else "")
            assert len(piece.content) <= room

        bound = load_token_bound()
        head = "| depot |\n| ----- |\n"
        for tokens, headed in ((3 * bound(head), True), (3 * bound(head) - 1, False)):
            piece = cut_piece(Outline(text), 20 + 9 * 4, TextBudget(characters=10_000, tokens=tokens))
            assert piece.before == (head if headed else "")

    def test_a_long_block_is_begun_when_most_of_the_room_is_left(self) -> None:
        words = "word " * 200
        piece = cut_piece(Outline(f"Short.\n\n{words}"), 0, TextBudget(characters=200))
        assert 180 < len(piece.content) <= 200
        paragraph = "word " * 30
        piece = cut_piece(Outline(f"Short.\n\n{paragraph}\n\n{words}"), 0, TextBudget(characters=120))
        assert 100 < len(piece.content) <= 120
        half = "Filled to the middle of it all, " * 4
        piece = cut_piece(Outline(f"{half}\n\n{words}"), 0, TextBudget(characters=200))
        assert piece.content.strip() == half.strip()
        fits = "word " * 32
        piece = cut_piece(Outline(f"Short.\n\n{fits}\n\nmore"), 0, TextBudget(characters=162))
        assert piece.content.strip() == "Short."  # the next one has it whole

    def test_a_heading_is_not_left_behind(self) -> None:
        text = "Short.\n\n## Heading of the chapter that follows below\n\n" + "word" * 100
        piece = cut_piece(Outline(text), 0, TextBudget(characters=110))
        assert piece.content.strip() == "Short." or "word" in piece.content

    def test_of_headings_alone_nothing_is_begun(self) -> None:
        headings = "# One that is as long as a heading may well be\n\n## And another of its kind\n\n"
        text = f"Short.\n\n{headings}" + "word" * 100
        for size in range(len(headings) + 10, 200):
            piece = cut_piece(Outline(text), 0, TextBudget(characters=size))
            assert piece.content.strip() == "Short." or "word" in piece.content
        assert cut_piece(Outline(text), 0, TextBudget(characters=85)).content == "Short.\n\n"

    def test_a_piece_may_be_white_space(self) -> None:
        piece = cut_piece(Outline("\n" * 50 + "word"), 0, TextBudget(characters=10))
        assert (piece.start, piece.end, piece.content) == (0, 10, "\n" * 10)

    def test_a_single_word_may_be_too_much(self) -> None:
        with pytest.raises(InvalidRequest, match="max_tokens: is too little for a single word"):
            cut_piece(Outline("antidisestablishmentarianism"), 0, TextBudget(characters=100, tokens=1))
        with pytest.raises(InvalidRequest, match="max_length: is too little for a single word"):
            cut_piece(Outline("a"), 0, TextBudget(characters=0))

    def test_backticks_in_code_do_not_close_it(self) -> None:
        text = "a\n\n```python\nx = 1\n``y\n```\n\nb"
        at = text.index("``y")
        piece = wrapped(Outline(text), at, at + 4)
        assert (piece.before, piece.text, piece.after) == ("```python\n", "``y\n", "```")

    def test_code_is_opened_again_where_it_begins(self) -> None:
        text = "```sh\n\na\n\nb\n```"
        opened = [wrapped(Outline(text), at, len(text)).before for at in range(5, 12)]
        #          the end of the fence, an empty line, "a", its end, an empty line, "b", its end
        assert opened == ["```sh", "```sh\n", "```sh\n", "```sh", "```sh\n", "```sh\n", "```sh"]

    def test_white_space_belongs_to_the_piece_before_it(self) -> None:
        text = "First one.\n\n\n\nSecond one."
        assert cut_piece(Outline(text), 0, TextBudget(characters=14)).text == "First one.\n\n\n\n"
        assert cut_piece(Outline(text), 0, TextBudget(characters=13)).text == "First one."

    def test_a_character_is_never_divided(self) -> None:
        text = "e\u0301" * 50
        piece = cut_piece(Outline(text), 0, TextBudget(characters=51))
        assert piece.text == "e\u0301" * 25

    def test_a_cursor_is_a_position_and_a_number_of_its_words(self) -> None:
        document = Outline("text and more")
        cursor = cursor_at(document, 5)
        assert re.fullmatch("@5-[0-9]{6}", cursor)
        assert resolve(cursor, document) == Place(5)
        searching = cursor_at(document, 5, "more 'than' that")
        assert searching == f"{cursor}-more%20%27than%27%20that"
        assert resolve(searching, document) == Place(5, find="more 'than' that")
        most = cursor_at(document, 5, "x" * 500)
        assert resolve(most, document).find == "x" * 500
        assert resolve(f"{cursor}-b\ud800", document).find == "b?"
        others = (cursor[:-1], cursor + "0", f"{cursor}!!!!", f"{cursor}-", "A" * 3_001, "", "\u00e9" * 22)
        for other in (*others, most + "x"):
            with pytest.raises(InvalidRequest, match="is not one that was given here"):
                resolve(other, document)

    @pytest.mark.parametrize(
        ("cursor", "start"), [("@0", 0), ("@5", 4), ("@4", 4), ("@3", 3), ("@ 7", 4), ("@8", 8), ("@9", 9), ("@12", 9)]
    )
    def test_a_position_begins_at_its_word(self, cursor: str, start: int) -> None:
        assert resolve(cursor, Outline("one four more")).start == start

    def test_a_very_long_word_is_not_gone_back_to(self) -> None:
        assert resolve("@60", Outline("x" * 100)).start == 0
        assert resolve("@90", Outline("x" * 100)).start == 30

    def test_what_a_position_or_section_must_be(self) -> None:
        document = Outline("# A\n\ntext\n\n# B\n")
        assert resolve("#2", document) == resolve("# 2", document)
        assert (resolve("#1", document).start, resolve("#1", document).stop) == (0, 11)
        for cursor, says in (
            ("#0", "asks for section 0, but the page has sections #1 to #2"),
            ("#3", "asks for section 3, but the page has sections #1 to #2"),
            (f"@{len(document.text)}", "is beyond the page's 15 characters"),
            ("@1234567890", "is not one that was given here"),
            ("x", "is not one that was given here"),
        ):
            with pytest.raises(InvalidRequest, match=re.escape(says)):
                resolve(cursor, document)
        with pytest.raises(InvalidRequest, match="but the page has no sections"):
            resolve("#1", Outline("text"))

    def test_a_cursor_finds_its_words_again_at_the_nearest_place(self) -> None:
        words = "these are the words it stood at"
        old = "x " * 40 + words
        cursor = cursor_at(Outline(old), 80)
        near, far = "y " * 35 + words, " z" * 40 + " " + words
        found = resolve(cursor, Outline(near + far))
        assert found.start == 70
        assert "continues at the same words" in found.warnings[0]
        assert resolve(cursor, Outline(words + "\n" + "y " * 20 + words)).start == 72
        assert resolve(cursor, Outline(words + "\n" + "y " * 90 + words)).start == 0
        with pytest.raises(InvalidRequest, match="its position is gone"):
            resolve(cursor, Outline("x " * 40 + "these are other words"))
        again = "0123456789abcdefghi "
        cursor = cursor_at(Outline("x " * 40 + again * 2), 80)
        assert resolve(cursor, Outline("y " * 35 + again * 3)).start == 70  # 90 is no nearer
        cursor = cursor_at(Outline("a" + " " * 60 + "b"), 0)
        assert resolve(cursor, Outline("y a" + " " * 60 + "c")).start == 2  # 48 characters are looked at
        searching = cursor_at(Outline(old), 80, "words")
        place = resolve(searching, Outline("short words"))
        assert (place.start, place.find) == (11, "words")
        assert "matches may be missing" in place.warnings[0]
        assert resolve(searching, Outline(old)).warnings == ()


def room(characters: int) -> TextBudget:
    return TextBudget(characters=characters)


class TestExcerpts:
    def test_the_best_passages_come_in_page_order_each_with_its_position(self) -> None:
        text = f"# A\n\nThe ferry leaves {BLANK}.\n\n# B\n\n{BLANK}.\n\n# C\n\nOne ferry ferry {BLANK}."
        document = Outline(text)
        ranked = rank(document, "ferry")
        found = choose(document, ranked, room(400))
        assert [excerpt.heading for excerpt in found.excerpts] == ["A", "C"]
        assert [(excerpt.start, excerpt.end, excerpt.score) for excerpt in found.excerpts] == [
            (ranked[0].passage.start, ranked[0].passage.end, ranked[0].score),
            (ranked[2].passage.start, ranked[2].passage.end, ranked[2].score),
        ]
        first, second = (text[one.start : one.end] for one in found.excerpts)
        last = found.excerpts[1]
        assert found.content == f"[@0-{found.excerpts[0].end} A]\n{first}\n\n[@{last.start}-{last.end} C]\n{second}"
        exact = len(found.content)
        without = exact - sum(len(f"-{one.end} {one.heading}") for one in found.excerpts)
        assert choose(document, ranked, room(without)).content.count("[@") == 2
        only = choose(document, ranked, room(without - 1))
        assert "C" in only.excerpts[-1].heading
        assert len(only.content) <= without - 1

    def test_adjacent_passages_of_a_section_are_one_excerpt(self) -> None:
        rows = [f"The ferry number {at} {BLANK}." for at in ("one", "two", "three")]
        document = Outline("# A\n\n" + "\n\n".join(rows[:2]) + "\n\n# B\n\n" + rows[2])
        found = choose(document, rank(document, "ferry"), room(600))
        assert [one.text.count("ferry") for one in found.excerpts] == [2, 1]
        ranked = rank(document, "ferry")
        assert found.excerpts[0].score == max(ranked[0].score, ranked[1].score)

    def test_what_scores_below_three_hundredths_of_the_best_is_left_out(self) -> None:
        filler = "\n\n".join(f"{BLANK} {at}" for at in range(9))
        text = f"Ferry harbour pier toll {BLANK}\n\n{filler}\n\n# B\n\n{filler}\n\nthe {BLANK}"
        document = Outline(text)
        ranked = rank(document, "ferry harbour pier toll the")
        best = max(row.score for row in ranked)
        least = min(row.score for row in ranked if row.score)
        assert 0 < least < 0.03 * best
        found = choose(document, ranked, room(5_000))
        assert {excerpt.score for excerpt in found.excerpts} == {best}

    def test_markers_have_headings_in_a_budget_of_over_2_000_tokens(self) -> None:
        more = "and nobody who has waited there for hours would say that it is ever late or ever early " * 2
        rows = [f"The ferry {chr(97 + at % 26) * (3 + at // 26)} leaves the pier at noon, {more}." for at in range(60)]
        document = Outline("".join(f"## Part {at:02}\n\n{row}\n\n" for at, row in enumerate(rows)))
        ranked = rank(document, "ferry")
        bare, named = (choose(document, ranked, room(size)) for size in (8_003, 8_004))
        assert " Part" not in bare.content.partition("\n")[0]
        assert " Part" in named.content.partition("\n")[0]
        assert all(len(found.content) > 7_000 for found in (bare, named))

    def test_a_part_around_the_match_grows_evenly_to_both_sides(self) -> None:
        words = " ".join(f"w{at:02}" for at in range(20)) + " ferry " + " ".join(f"v{at:02}" for at in range(20))
        document = Outline(words)
        ranked = rank(document, "ferry")
        for size, shown_words in ((4, 0), (20, 2), (24, 3), (28, 4)):
            found = choose(document, ranked, room(len("[@80]\n\n") + 5 + size))
            (excerpt,) = found.excerpts
            assert len(excerpt.text.split()) - 1 in {size // 4, size // 4 - shown_words % 1}
            before, _, after = excerpt.text.partition("ferry")
            assert len(after.split()) - len(before.split()) in {0, 1}

    def test_a_word_too_long_for_a_marker_stands_alone(self) -> None:
        document = Outline("ferry " + "x" * 300)
        found = choose(document, rank(document, "ferry"), room(6))
        assert found.content == "ferry"
        assert found.excerpts[0].start == 0

    def test_links_lose_their_targets_except_in_code(self) -> None:
        link = "[old mill](https://mill.example/a)"
        document = Outline(f"the {link}\n\n```\n{link}\n```\n")
        code = document.codes[0]
        assert excerpt_text(document, 0, 4 + len(link)) == "the old mill"
        assert excerpt_text(document, 0, 4 + len(link), links=True) == f"the {link}"
        assert excerpt_text(document, code.start, code.end or 0) == f"```\n{link}\n```"
        assert excerpt_text(document, code.opened + 1, code.opened + 1 + len(link)) == link
        assert excerpt_text(document, 0, code.opened + 5) == document.text[: code.opened + 5]
        ends = ((code.start + 1, False), (code.start + 2, True), (code.end or 0, True), ((code.end or 0) + 1, False))
        assert [excerpt_text(document, 0, end) == document.text[:end] for end, _ in ends] == [kept for _, kept in ends]
        after = Outline(f"```\n{link}\n```\n\nthe {link}")
        for start in (0, 1, 5):
            assert excerpt_text(after, start, len(after.text)) == after.text[start:]
        assert excerpt_text(after, (after.codes[0].end or 0), len(after.text)).strip() == "the old mill"

    def test_other_forms_of_a_character_are_found(self) -> None:
        rows = (
            ("a", "\u1e00"),
            ("!", "\uff01"),
            ("\u25cb", "\uffee"),
            ("e", "\u00c9"),
            ("\u00e9", "E"),
            ("-", "\u2013"),
        )
        assert [bool(find_all(text, wanted)) for wanted, text in rows] == [True] * len(rows)

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [("link to the ferry", True), ("URLs of mills", True), ("https://a.example", True), ("blinking", False)],
    )
    def test_who_asks_for_links(self, query: str, wanted: bool) -> None:
        assert wants_links(query) is wanted

    def test_headings_in_a_marker_are_shortened_from_the_left(self) -> None:
        for size, heading in ((41, f"{'a' * 41} > {'b' * 43}"), (42, "b" * 43)):
            text = f"# {'a' * size}\n\n## {'b' * 43}\n\ntext"
            (excerpt,) = assemble(Outline(text), [ExcerptSpan(len(text) - 4, len(text))]).excerpts
            assert excerpt.heading == heading
        text = f"# {'a' * 95}\n\ntext"
        assert assemble(Outline(text), [ExcerptSpan(0, len(text))]).excerpts[0].heading == "a" * 95

    def test_rows_of_one_table_follow_each_other_under_one_marker(self) -> None:
        text = "| a |\n| - |\n| 1 |\n| 2 |\n| 3 |\n\ntext\n\n| b |\n| - |\n| 4 |"
        spans = [ExcerptSpan(text.index(f"| {at}"), text.index(f"| {at}") + 5) for at in (1, 3, 4)]
        found = assemble(Outline(text), spans)
        assert found.content == "[@12-17]\n| a |\n| - |\n| 1 |\n| 3 |\n\n[@49-54]\n| b |\n| - |\n| 4 |"
        assert [(one.start, one.score) for one in found.excerpts] == [(12, 0.0), (24, 0.0), (49, 0.0)]
        assert assemble(Outline("text"), [ExcerptSpan(0, 4)], headed=False).content == "[@0]\ntext"

    def test_matches_are_shown_with_their_line_or_160_characters_on_each_side(self) -> None:
        text = f"{'a ' * 100}MATCH{' b' * 100}"
        (span,) = spans_around(Outline(text), [Match(start=200, end=205)])
        assert (200 - span.start, span.end - 205) == (158, 158)  # whole words
        text = f"before\n{'a' * 159}\nMATCH\n{'b' * 20}"
        (span,) = spans_around(Outline(text), [Match(start=167, end=172)])
        assert text[span.start : span.end] == "MATCH"
        text = f"{'a' * 300}MATCH{'b' * 300}"
        (span,) = spans_around(Outline(text), [Match(start=300, end=305)])
        assert (span.start, span.end) == (140, 465)
        text = "a MATCH b"
        (span,) = spans_around(Outline(text), [Match(start=2, end=7)])
        assert (span.start, span.end) == (0, 9)
        text = f"{'x' * 155} MATCH {'y' * 155}\tzzzzzzz"
        (span,) = spans_around(Outline(text), [Match(start=156, end=161)])
        assert (span.start, span.end) == (0, 317)

    def test_contexts_that_touch_are_one(self) -> None:
        text = "one MATCH two\nMATCH three\nfour\nMATCH"
        matches = find_all(text, "match")
        assert [text[one.start : one.end] for one in spans_around(Outline(text), matches)] == [
            "one MATCH two", "MATCH three", "MATCH"]  # fmt: skip
        text = "MATCH one\n\nMATCH two MATCH three\n\nfour"
        assert [text[one.start : one.end] for one in spans_around(Outline(text), find_all(text, "match"))] == [
            "MATCH one", "MATCH two MATCH three"]  # fmt: skip
        text = "MATCH one MATCH"
        assert [(one.start, one.end) for one in spans_around(Outline(text), find_all(text, "match"))] == [(0, 15)]

    def test_at_most_10_000_matches_are_counted(self) -> None:
        assert len(find_all("a " * 10_001, "a")) == 10_000

    @pytest.mark.parametrize("tokens", range(5, 24))
    def test_the_smallest_budget_shows_words_of_the_match_and_cuts_no_link(self, tokens: int) -> None:
        label = "The keeper of the lighthouse saw a zeppelin over the harbor last night"
        link = f"[{label}](https://harbour.example/news/2026/keeper-{'x' * 30}#article)"
        filler = "\n\n".join(f"Paragraph {number} tells of other things." for number in range(60))
        for part in (link, f"## News of the day\n\n{label}."):
            asked = check_ask(query="zeppelin harbor", max_tokens=tokens, default_length=9)
            found = view(Page(url=URL, content=f"{filler}\n\n{part}\n\n{filler}"), asked)
            words = re.sub(r"\[@\d+\]\n", "", found.content)
            assert words.removeprefix("## News of the day\n\n").strip(".\n") in label
            assert words.startswith(label[:3]) or "zeppelin" in words or "harbor" in words
            assert found.excerpts[0].text == link or found.excerpts[0].text in part

    def test_what_can_be_searched_for(self) -> None:
        assert check_ask(find=" two \n words ", default_length=9).find == "two words"
        assert check_ask(find="x" * 500, default_length=9).find == "x" * 500
        for wanted, says in (("x" * 501, "has 501 characters"), ("  ", "is empty"), (5, "must be text, not int")):
            with pytest.raises(InvalidRequest, match=says):
                check_ask(find=wanted, default_length=9)


class TestTerms:
    @pytest.mark.parametrize(
        ("word", "term"),
        [
            ("ferries", "ferry"), ("ties", "tie"), ("buses", "bus"), ("boxes", "box"), ("glasses", "glass"),
            ("churches", "church"), ("dishes", "dish"), ("quizzes", "quizz"), ("boats", "boat"), ("glass", "glass"),
            ("bus", "bus"), ("running", "run"), ("falling", "fall"), ("passing", "pass"), ("buzzing", "buzz"),
            ("hoping", "hop"), ("hope", "hop"), ("string", "string"), ("sing", "sing"), ("king", "king"),
            ("quickly", "quick"), ("repeatedly", "repeat"), ("planned", "plan"), ("need", "need"), ("bed", "bed"),
            ("used", "used"), ("seeing", "see"), ("the", "the"), ("tree", "tre"), ("naïve", "naiv"), ("größe", "gross"),
            ("Größe", "gross"),
            ("flies", "fly"), ("freeing", "fre"), ("free", "fre"), ("agreeing", "agr"), ("eased", "eas"),
        ],
    )  # fmt: skip
    def test_endings(self, word: str, term: str) -> None:
        assert Terms()(word) == [term]

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("getFerryTimes", ["getferrytim", "get", "ferry", "tim"]),
            ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
            ("snake_case", ["snake_case", "snak", "cas"]),
            ("__init__", ["init"]),
            ("Ferry FERRY", ["ferry", "ferry"]),
            ("1,250 1'250 12", ["1250", "1250", "12"]),
            ("1,25", ["1,25", "1", "25"]),
            ("漢", ["漢"]),
            ("漢字に", ["漢字", "字に"]),
            ("ﬁsh", ["fish"]),
            ("x" * 70, ["x" * 60]),
        ],
    )
    def test_terms_of_identifiers_numbers_and_other_scripts(self, text: str, found: list[str]) -> None:
        assert Terms()(text) == found

    def test_what_a_text_without_terms_is(self) -> None:
        assert not readable_run(" ?! ...")
        assert readable_run("…漢")
        assert all(is_common(word) and is_common(*Terms()(word)) for word in ("the", "where", "does", "was", "quelle"))
        assert not is_common("ferry")
        assert expected("the ferry") is None

    def test_terms_do_not_depend_on_what_was_read_before(self) -> None:
        terms = Terms()
        terms._terms_by_run.update((f"w{at}", (f"w{at}", "w", f"{at}")) for at in range(100_002))
        text = "w1 ferries w100001 boats"
        assert terms(text) == terms(text) == Terms()(text)
        assert len(terms._terms_by_run) <= 100_001


WORDS = frozenset({"a", "b", "c", "ab", "abc", " a", " ab", "foo", "bar", "Foo", "Bar", "x"})
SMALL = TokenBound(WORDS, frozenset({"()", " (", "::\n"}), frozenset("é漢"), frozenset({0x4E00 // 64, 0x3040 // 64}))


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "tokens"),
        [
            ("", 0), ("a", 1), ("ab", 1), ("abc", 1), ("foo", 1), (" ab", 1),
            ("ba", 2), ("cab", 2), ("abab", 3), ("FooBar", 6), ("fooBar", 6),
            ("1", 1), ("123", 1), ("1234", 2), ("1234567", 3),
            ("(", 1), ("()", 1), (" (", 1), ("((", 2), (" ((", 2), (" )", 1),
            ("\n", 1), ("\n\n", 1), ("\n\n\n", 2),
            (" ", 1), (" " * 15, 1), (" " * 16, 2), (" " * 32, 3), ("\t", 1), ("\t\t", 2), (" \t", 2),
            ("ab漢", 3), ("漢ab", 3), ("x" * 20, 20), ("x" * 21, 22), ("x" * 400, 420), ("x" * 401, 401),
            ("ñ" * 10, 10), ("ñ" * 11, 12), ("Àß", 2), ("À" * 10, 10), ("\u07ff", 2), ("\uffff", 3), ("\U00010000", 4),
            ("\x00", 1), ("\x00\x01", 2), ("漢", 1), ("丁", 2), ("あ", 2), ("힣", 3), ("😀", 4), ("\u0301", 2),
            ("\x80", 2), ("ÿ", 1), ("aÉ", 3), ("\u0800" * 401, 1_203),
        ],
    )  # fmt: skip
    def test_a_bound_with_a_small_vocabulary(self, text: str, tokens: int) -> None:
        assert SMALL(text) == tokens

    def test_a_single_mark_may_be_joined_with_the_word_after_it(self) -> None:
        for text in ("(ab", "a(ab", "\tab", "1_ab"):
            assert SMALL(text) >= 2
        assert SMALL("-ab") > SMALL(" ab")
        joins = TokenBound(frozenset({"(ab", "ab", "\tab", "x"}), frozenset(), frozenset(), frozenset())
        texts = {"(ab": 1, "((ab": 3, "x(ab": 2, " (ab": 2, "\t(ab": 2, "\tab": 1, "\nab": 2}
        assert {text: joins(text) for text in texts} == texts
        assert SMALL("a b") == 3 - (" b" in WORDS)

    def test_a_vocabulary_may_split_a_word_before_a_capital_letter(self) -> None:
        joined = TokenBound(frozenset({"bC", "bc"}), frozenset(), frozenset(), frozenset())
        assert (joined("abcd"), joined("abCD")) == (3, 4)
        known = TokenBound(frozenset({"ab", "abC"}), frozenset(), frozenset(), frozenset())
        assert known("abCDE") == 4  # "ab" is one

    def test_no_two_tokens_side_by_side_are_one_together(self) -> None:
        joined = TokenBound(frozenset({"ab", "abx"}), frozenset(), frozenset(), frozenset())
        assert (joined("aby"), joined("abxy")) == (2, 2)  # not "a", "b", "y", nor "ab", "x", "y"
        joined = TokenBound(frozenset({"\xc3\xa9a"}), frozenset(), frozenset(), frozenset())
        assert joined("éab") == 2

    def test_the_limit_is_reached_at_a_boundary(self) -> None:
        text = "ab ab ab ab"
        assert [SMALL.reach(text, 0, limit) for limit in range(6)] == [0, 2, 5, 8, 11, 11]
        assert SMALL.reach(text, 3, 1) == 5
        assert SMALL.reach("x" * 401, 0, 1_000) == 401
        assert SMALL.reach("x" * 1_000, 0, 100) < 100
        assert SMALL.reach("", 0, 5) == 0
        assert [SMALL.reach("12" + "x" * 400, 0, limit) for limit in (1_000, 50)] == [402, 2]
        assert [SMALL.reach("x" * 401 + " ab", 0, limit) for limit in (400, 401, 402)] == [380, 401, 404]
        long = "x" * 100  # 105 tokens at once, and one more for every twenty of them that are looked at alone
        assert [SMALL.reach(long, 0, limit) for limit in (105, 104, 50, 1)] == [100, 99, 45, 0]
        assert [SMALL.reach(f"ab {long}", 0, limit) for limit in (1, 50, SMALL(f" {long}"))] == [2, 2, 2]
        assert SMALL.reach(f"ab {long}", 0, SMALL(f"ab {long}")) == 103

    @given(st.text(alphabet="abcx ()\n1é漢あ😀", max_size=120), st.integers(0, 60))
    def test_what_is_reached_holds_and_little_more_does(self, text: str, limit: int) -> None:
        end = SMALL.reach(text, 0, limit)
        assert SMALL(text[:end]) <= limit
        assert (end == len(text)) is (SMALL(text) <= limit) or end == len(text)

    def test_a_budget_of_characters(self) -> None:
        budget = room(5)
        assert (budget.holds("12345"), budget.holds("123456")) == (True, False)
        assert (budget.reach("123456789", 2), budget.reach("123", 1)) == (7, 3)
        assert (budget.tokens_of("many words"), budget.less("12").characters, budget.less("1234567").characters) == (
            0,
            3,
            0,
        )
        assert budget.limited(-1, -1) == TextBudget(characters=0, tokens=0)

    def test_a_budget_of_tokens(self) -> None:
        bound = load_token_bound()
        budget = TextBudget(characters=100, tokens=3)
        assert budget.tokens_of("one two") == bound("one two") == 2
        assert (budget.holds("one two three"), budget.holds("one two three four")) == (True, False)
        assert not TextBudget(characters=5, tokens=3).holds("one two")
        assert not TextBudget(characters=5, tokens=1).holds("a b c")
        assert budget.reach("one two three four", 0) == len("one two three")
        assert TextBudget(characters=5, tokens=3).reach("one two three", 0) == 5
        assert budget.less("one two").tokens == 1

    def test_the_words_that_are_kept_are_50_000(self) -> None:
        for kept, left in ((50_000, 50_001), (50_001, 1)):
            bound = TokenBound(WORDS, frozenset(), frozenset(), frozenset())
            bound._rows.update((str(number), 1) for number in range(kept))
            assert bound("abab") == 3
            assert len(bound._rows) == left
            bound._rows = {str(number): 1 for number in range(kept)}
            assert bound.reach("abab", 0, 3) == 4
            assert len(bound._rows) == left
        bound._rows.clear()
        bound._rows.update((str(number), 1) for number in range(70_000))
        assert bound._row("abab") == 3
        bound._rows = {str(number): 1 for number in range(70_001)}
        assert bound._row("cabab") == 5  # letter by letter


class TestViews:
    def opened(self, text: str, **asked: Any) -> Page:
        return view(Page(url=URL, content=text), check_ask(default_length=15_000, **asked))

    def test_the_usual_limit_is_4_000_characters_for_excerpts(self) -> None:
        assert check_ask(default_length=9_000).room.characters == 9_000
        assert check_ask(default_length=9_000, query="a").room.characters == 4_000
        assert check_ask(default_length=9_000, find="a").room.characters == 4_000
        assert check_ask(default_length=3_000, find="a").room.characters == 3_000
        assert check_ask(default_length=9_000, cursor="#1").room.characters == 9_000
        assert check_ask(default_length=9_000, query="a", max_length=7_000).room.characters == 7_000
        asked = check_ask(default_length=9_000, query="a", max_tokens=5)
        assert (asked.room.characters, asked.room.tokens) == (10_000_000, 5)
        asked = check_ask(default_length=9_000, max_length=7, max_tokens=5)
        assert (asked.room.characters, asked.room.tokens) == (7, 5)

    @pytest.mark.parametrize(
        ("asked", "valid"),
        [
            ({"max_length": 10_000_000}, True), ({"max_length": 10_000_001}, False),
            ({"max_tokens": 2_500_000}, True), ({"max_tokens": 2_500_001}, False), ({"max_tokens": 1}, True),
            ({"max_length": 1}, True), ({"cursor": "x" * 6_100}, True), ({"cursor": "x" * 6_101}, False),
            ({"query": "x" * MAX_QUERY}, True), ({"query": "x" * (MAX_QUERY + 1)}, False),
            ({"cursor": 5}, False), ({"cursor": "  "}, False), ({"find": "x" * 500}, True),
        ],
    )  # fmt: skip
    def test_limits_of_arguments(self, asked: dict[str, Any], valid: bool) -> None:
        if valid:
            check_ask(default_length=100, **asked)
        else:
            with pytest.raises(InvalidRequest):
                check_ask(default_length=100, **asked)

    def test_a_whole_page_lists_its_three_best_passages(self) -> None:
        rows = [f"The ferry {'ferry ' * at}{BLANK}." for at in range(5)]
        page = self.opened("\n\n".join(rows), query="ferry")
        assert not page.truncated
        assert page.next_cursor is None
        best = sorted(page.excerpts, key=lambda one: one.start)
        assert list(page.excerpts) == best
        assert len(best) == 3
        assert page.content_length == len(page.content) == page.original_length

    def test_what_is_shown_of_a_page_without_an_answer(self) -> None:
        text = "Some words are here. " * 400
        page = self.opened(text, query="zeppelin")
        assert 1_400 < len(page.content) <= 1_500
        assert self.opened("x" * 2_000, query="zeppelin").content == "x" * 1_500
        assert page.match_count is None
        page = self.opened(text, find="zeppelin", max_length=600)
        assert 500 < len(page.content) <= 600
        assert (page.match_count, page.truncated, page.start) == (0, True, 0)
        cursor = cursor_at(Outline(text), len(text), "words")
        page = self.opened(text, cursor=cursor)
        assert page.warnings == ("'words' is not on this page from there on; this is the page's beginning",)
        assert page.match_count == 400
        page = self.opened("text", find="x" * 81)
        assert repr("x" * 77 + "...") in page.warnings[0]
        assert repr("x" * 80) in self.opened("text", find="x" * 80).warnings[0]

    def test_a_match_without_room_for_its_marker_is_cut(self) -> None:
        text = "before it\nMATCH and MATCH again\nafter it"
        page = self.opened(text, find="match", max_length=9)
        assert page.content.startswith("MATCH")
        assert (page.match_count, [one.start for one in page.matches]) == (2, [10])
        again = self.opened(text, cursor=page.next_cursor, max_length=9)
        assert [one.start for one in again.matches] == [20]
        assert again.next_cursor is None
        page = self.opened("a a bcdefghi", find="a", max_length=4)
        assert (page.content, [one.start for one in page.matches]) == ("a a ", [0])
        assert self.opened("ab cd efgh", find="ab", max_length=2).matches == (Match(start=0, end=2),)
        page = self.opened(text, find="match", max_length=4)
        assert (page.content, page.matches) == (text[10:14], ())
        again = self.opened(text, cursor=page.next_cursor, max_length=4)
        assert (again.start, again.matches, again.next_cursor) == (20, (), None)

    def test_as_many_matches_are_shown_as_fit(self) -> None:
        lines = [f"MATCH {'x' * at}" for at in (5, 30, 5, 50, 5, 5, 70)]
        text = "\n\n".join(lines)
        document, matches = Outline(text), find_all(text, "match")
        sizes = [len(assemble(document, spans_around(document, matches[:at])).content) for at in range(1, 8)]
        for number, size in enumerate(sizes, start=1):
            for limit, expected_number in ((size, number), (size - 1, number - 1)):
                page = self.opened(text, find="match", max_length=limit)
                assert len(page.matches) == max(1, expected_number)
                assert page.match_count == 7

    def test_pieces_say_whether_something_follows(self) -> None:
        page = self.opened("word " * 100, max_length=100)
        assert (page.truncated, page.start, page.end) == (True, 0, 100)
        assert page.next_cursor is not None
        page = self.opened("word.\n\n \n", max_length=5)
        assert page.next_cursor is None  # only white space follows
        last = self.opened("one two", cursor="@4")
        assert (last.content, last.truncated, last.next_cursor) == ("two", True, None)
        assert not self.opened("one two").truncated
        assert self.opened("a b", cursor="@1").truncated
        empty = self.opened("")
        assert (empty.content, empty.content_length, empty.original_length, empty.truncated) == ("", 0, 0, False)

    def test_the_text_around_counts(self) -> None:
        framed: list[Page] = []

        def around(page: Page) -> str:
            framed.append(page)
            return "frame " * 19 + "frame"

        text = "word " * 300
        bare = self.opened(text, max_tokens=100)
        page = self.opened(text, max_tokens=100, around=around)
        assert len(bare.content) - len(page.content) == 100
        assert (framed[0].content, framed[0].content_length, framed[0].original_length) == ("x", 0, len(text))
        assert resolve(framed[0].next_cursor or "", Outline(text)).start == len(text)
        framed.clear()
        self.opened(text, query="word", max_tokens=100, around=around)
        assert framed[0].excerpts == (Excerpt(start=0, end=0, text=""),)
        framed.clear()
        with pytest.raises(InvalidRequest, match=re.escape("Pass at least 120.")):
            self.opened(text, max_tokens=20, around=around)
        assert len(self.opened(text, max_length=100, around=around).content) == 100

    def test_what_is_said_of_a_page_that_is_cut_need_not_fit_with_a_whole_one(self) -> None:
        def around(page: Page) -> str:
            return "cut " * 30 if page.truncated or page.next_cursor else "whole"

        text = "The ferry leaves. " * 4
        page = self.opened(text, query="ferry", max_tokens=160, around=around)
        assert (page.content, page.truncated, page.next_cursor) == (text, False, None)

        def around_whole(page: Page) -> str:
            return "cut " * 200 if page.truncated and not page.excerpts else "whole"

        page = self.opened(text, query="ferry", max_tokens=160, around=around_whole)
        assert (page.content, page.truncated, page.next_cursor) == (text, False, None)

    def test_another_process_gives_the_same(self) -> None:
        page = Page(url=URL, content="The ferry leaves.\n\n" + "Other words. " * 400)
        for asked in ({"query": "ferry"}, {"find": "ferry"}, {"cursor": "@5"}, {"max_tokens": 50}, {"max_length": 70}):
            ask = check_ask(default_length=2_000, **asked)
            packed = pack_view(page, ask)
            assert packed is not None
            assert unpack_view(*view_in_worker(*packed)) == view(page, ask)
        packed = pack_view(page, check_ask(default_length=2_000, cursor="#3"))
        assert packed is not None
        with pytest.raises(InvalidRequest, match="the page has no sections"):
            unpack_view(*view_in_worker(*packed))
        assert pack_view(page, check_ask(default_length=2_000, around=lambda page: "")) is None

    @pytest.mark.parametrize(
        ("module", "name", "found"),
        [
            ("groundwire.web.client", "context", True),
            ("groundwire.web.client", "f.<locals>.context", False),
            ("elsewhere", "context", False),
        ],
    )
    def test_another_process_can_import_functions_of_the_package(self, module: str, name: str, found: bool) -> None:
        def around(page: Page) -> str:
            return ""

        around.__module__, around.__qualname__ = module, name
        assert (
            pack_view(Page(url=URL, content="text"), check_ask(default_length=9, around=around)) is not None
        ) is found


def test_a_part_of_code_is_whole_lines_also_at_its_beginning() -> None:
    text = f"```\nferry one two\nthree four five\n```\n\n{BLANK}"
    ranked = rank(Outline(text), "ferry")
    found = [choose(Outline(text), ranked, TextBudget(characters=size)).content for size in (25, 27, 41, 42)]
    line = "```\nferry one two\n```"
    assert found == [line, f"[@4]\n{line}", f"[@4-17]\n{line}", "[@0]\n```\nferry one two\nthree four five\n```"]


def test_the_line_around_a_match_may_follow_an_empty_one() -> None:
    text = "\nThe ferry is slow."
    assert [span.start for span in spans_around(Outline(text), [Match(start=5, end=10)])] == [1]


@pytest.mark.parametrize("tokens", range(20, 80, 3))
def test_code_after_a_label_is_cut_between_its_lines_around_what_is_asked_for(tokens: int) -> None:
    lines = ["sudo apt update", "sudo apt install lantern", "  lantern --light red --range 4", "  lantern --stop"]
    code = "\n".join(("```bash", *lines, "```"))
    filler = "\n\n".join(f"Paragraph {number} tells of other things." for number in range(60))
    text = f"# Use\n\nInstall it first.\n\n{code}\n\n{filler}"
    found = view(
        Page(url=URL, content=text), check_ask(query="how do I stop lantern", max_tokens=tokens, default_length=9)
    )
    assert "lantern --stop" in found.content
    block = found.content[found.content.index("```") :].split("\n")
    assert set(block[1 : block.index("```", 1)]) <= set(lines)
