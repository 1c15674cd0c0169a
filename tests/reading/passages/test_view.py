"""What of a page is shown: passages, matches, sections, places."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.errors import InvalidRequest
from groundwire.models import Page
from groundwire.reading.passages.bm25 import passages_of
from groundwire.reading.passages.excerpts import find_all
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import Place, cursor_at, resolve
from groundwire.reading.passages.reranking import rank
from groundwire.reading.passages.terms import Terms, readable_run
from groundwire.reading.passages.view import check_ask, view

pytestmark = pytest.mark.req("B8", "B9")

URL = "https://library.example/guide"
TOPICS = ("harbours", "glaciers", "looms", "orchards", "railways", "volcanoes", "lanterns", "beehives")


def manual(paragraphs: int = 6) -> str:
    parts = ["# The manual", "What follows is about many things, each in a chapter of its own."]
    for topic in TOPICS:
        parts.append(f"## About {topic}")
        parts += [
            f"Paragraph {number} tells of {topic} at length, with remarks that nobody asked for. " * 3
            for number in range(paragraphs)
        ]
    parts.insert(40, "The **ferry** to Ostholm leaves at 07:45 from pier 12, costs 4.50 euros, and takes “no” dogs.")
    return "\n\n".join(part.strip() for part in parts)


def opened(text: str, **asked: Any) -> Page:
    return view(Page(url=URL, title="The manual", content=text), check_ask(default_length=15_000, **asked))


class TestQuery:
    @pytest.mark.parametrize("query", ["When does the ferry to Ostholm leave?", "ferry price euros", "OSTHOLM FERRIES"])
    def test_the_passage_that_answers_is_there_and_says_where_it_stands(self, query: str) -> None:
        text = manual()
        page = opened(text, query=query, max_tokens=400)
        assert "leaves at 07:45" in page.content
        assert page.truncated
        assert page.version
        assert page.excerpts
        for excerpt in page.excerpts:
            assert excerpt.text == text[excerpt.start : excerpt.end]
            assert excerpt.text in page.content
            assert f"[@{excerpt.start}-{excerpt.end} " in page.content
        best = max(page.excerpts, key=lambda excerpt: excerpt.score)
        assert "07:45" in best.text
        assert best.heading.startswith("The manual > About ")
        assert all(first.end <= second.start for first, second in pairwise(page.excerpts))
        assert (page.start, page.end) == (page.excerpts[0].start, page.excerpts[-1].end)

    def test_a_heading_answers_for_what_stands_under_it(self) -> None:
        page = opened(manual(), query="volcano", max_length=1_500)
        assert all("About volcanoes" in excerpt.heading for excerpt in page.excerpts)

    def test_a_page_that_fits_comes_whole(self) -> None:
        page = opened("# A\n\nThe ferry leaves at 07:45.\n\n# B\n\nSomething else.", query="ferry")
        assert not page.truncated
        assert page.content.startswith("# A")
        assert "07:45" in page.excerpts[0].text

    def test_nothing_that_matches_is_said_and_the_beginning_is_there(self) -> None:
        page = opened(manual(), query="zeppelin", max_length=2_000)
        assert "nothing on this page matches the query" in page.warnings[-1]
        assert page.content.startswith("# The manual")
        assert len(page.content) <= 2_000
        assert page.excerpts == ()
        assert len(page.sections) == 1 + len(TOPICS)
        assert page.next_cursor

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("渡船每天早上七点四十五分从十二号码头出发。", "渡船几点出发"),
            ("フェリーは毎朝7時45分に出発します。", "フェリー 出発"),
            ("연락선은 매일 아침 일곱 시에 떠납니다.", "연락선 출발 시간"),
            ("Паром отходит в 7:45 от двенадцатого причала.", "паром причал"),
            ("تغادر العبّارة الرصيف في السابعة صباحًا.", "العبارة الرصيف"),
            ("नौका हर सुबह सात बजे बारहवें घाट से चलती है।", "नौका घाट"),
            ("เรือเฟอร์รีออกจากท่าเรือเวลาเจ็ดโมงเช้าทุกวัน", "เรือเฟอร์รี"),
            ("Die Fähre legt täglich um 7:45 Uhr ab, über Öland.", "fähre öland"),
            ("Call `getFerryTimes(pier_number)` to list departures.", "ferry times"),
            ("The toll was raised to 1,250 crowns in 1987.", "1250 crowns"),
        ],
    )
    def test_any_script(self, text: str, query: str) -> None:
        page = opened(f"{manual()}\n\n## More\n\n{text}\n\n{manual()}", query=query, max_length=1_500)
        assert text in max(page.excerpts, key=lambda excerpt: excerpt.score).text

    def test_what_says_the_same_again_is_left_out(self) -> None:
        text = (
            manual()
            + "\n\n"
            + "\n\n".join("# Again\n\nThe ferry runs whenever there is wind enough to go." for _ in range(9))
        )
        page = opened(text, query="ferry wind", max_length=3_000)
        assert page.content.count("whenever there is wind") == 1

    def test_code_and_tables_can_be_read_alone(self) -> None:
        rows = "\n".join(f"| ferry {number} | pier {number} |" for number in range(90))
        code = "\n".join(f"ferry_{number} = {number}" for number in range(90))
        text = f"{manual()}\n\n| name | place |\n| --- | --- |\n{rows}\n\n```python\n{code}\n```"
        page = opened(text, query="ferry 77 pier", max_length=1_200)
        assert "| ferry 77 | pier 77 |" in page.content
        assert "| name | place |\n| --- | --- |\n| ferry" in page.content
        page = opened(text, query="ferry_77", max_length=1_200)
        assert "```python\nferry_" in page.content
        assert page.content.count("```") % 2 == 0

    @given(st.text(max_size=600), st.text(min_size=1, max_size=60), st.integers(60, 900))
    def test_any_text_and_any_query(self, text: str, query: str, room: int) -> None:
        if not readable_run(query):
            return
        page = opened(text, query=query, max_length=room)
        assert len(page.content) <= room
        assert all(excerpt.text == text[excerpt.start : excerpt.end] for excerpt in page.excerpts)

    @settings(max_examples=examples(40))
    @given(st.integers(30, 700), st.sampled_from(["ferry Ostholm", "orchards remarks", "loom"]))
    def test_the_budget_is_kept(self, real: Callable[[str], int], tokens: int, query: str) -> None:
        page = opened(manual(), query=query, max_tokens=tokens)
        assert 0 < real(page.content) <= tokens


class TestFind:
    def test_offsets_are_those_of_the_page(self) -> None:
        text = manual()
        page = opened(text, find="the FERRY  to ostholm")
        (match,) = page.matches
        assert text[match.start : match.end] == "The **ferry** to Ostholm"
        assert page.match_count == 1
        assert page.next_cursor is None
        assert page.excerpts[0].start <= match.start < match.end <= page.excerpts[0].end
        assert page.excerpts[0].text in page.content

    def test_quotes_and_blanks_do_not_matter(self) -> None:
        assert opened(manual(), find='takes "no"\u00a0dogs').match_count == 1
        assert find_all("caf\u00e9 au lait", "CAFE\u0301 au\nlait")
        assert find_all("a snake\\_case name", "snake_case")
        assert find_all("> one\n> two", "one two")
        assert find_all("see [the old mill](https://x.example/a) today", "old mill today")
        assert not find_all("the oldmill", "old mill")

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("Caf\u00e9-Besuch", "cafe-besuch"),
            ("cafe besuch", "CAF\u00c9 Besuch"),
            ("\uff27\uff30\uff34\uff0d\uff15 \uff08\u65b0\uff09", "GPT\uff0d5 (\u65b0)"),
            ("GPT 5", "\uff27\uff30\uff34 \uff15"),
            ("\uff76\uff92\uff97", "\u30ab\u30e1\u30e9"),
            ("\u0415\u0449\u0451 \u0440\u0430\u0437", "\u0435\u0449\u0435 \u0440\u0430\u0437"),
            ("\u1f08\u03b8\u1fc6\u03bd\u03b1\u03b9", "\u0391\u03b8\u03b7\u03bd\u03b1\u03b9"),
        ],
    )
    def test_accents_and_width_do_not_matter(self, text: str, wanted: str) -> None:
        (match,) = find_all(f"x {text} y", wanted)
        assert (match.start, match.end) == (2, 2 + len(text))

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("H\u2082O", "h2o"),
            ("10\u202f000", "10 000"),
            ("\u03a3\u03cc\u03c4", "\u03c3\u03bf\u03c4"),
            ("a\u2011b\u2013c", "a-b-c"),
        ],
    )
    def test_forms_of_characters_do_not_matter(self, text: str, wanted: str) -> None:
        for there, looked_for in ((text, wanted), (wanted, text)):
            (match,) = find_all(f"x {there} y", looked_for)
            assert (match.start, match.end) == (2, 2 + len(there))

    def test_other_letters_do_matter(self) -> None:
        assert not find_all("the cafh", "caf\u00e9")
        assert not find_all("\ud55c\uae00", "\ud558")
        assert not find_all("\u0915\u093f", "\u0915\u0940")
        assert not find_all("\u304c", "\u304b")

    def test_every_match_is_reached(self) -> None:
        text = manual()
        expected = [match.start() for match in re.finditer("Paragraph 3", text)]
        seen: list[int] = []
        page = opened(text, find="paragraph 3", max_length=900)
        while True:
            assert len(page.content) <= 900
            assert page.match_count == len(expected)
            seen += [match.start for match in page.matches]
            if page.next_cursor is None:
                break
            page = opened(text, cursor=page.next_cursor, max_length=900)
        assert seen == expected

    def test_what_is_not_there_is_said(self) -> None:
        page = opened(manual(), find="zeppelin")
        assert page.match_count == 0
        assert "'zeppelin' is not on this page" in page.warnings[-1]
        assert page.content.startswith("# The manual")

    @given(st.text(alphabet="abAB ß'\"*_`[]()\\-é\n", max_size=200), st.data())
    def test_what_is_cut_out_of_a_page_is_found_there(self, text: str, data: st.DataObject) -> None:
        start = data.draw(st.integers(0, len(text)))
        wanted = " ".join(text[start : start + data.draw(st.integers(0, 30))].split())
        if wanted:
            assert any(match.start <= start + 31 for match in find_all(text, wanted))

    def test_long_runs_take_no_time(self) -> None:
        for text in ("a" + "*" * 500_000, "a " * 300_000, "a\n> " * 100_000, "a](" * 100_000):
            assert find_all(text, "a b") == []


class TestPlaces:
    def test_pieces_follow_each_other(self) -> None:
        text = manual()
        page = opened(text, max_length=1_000)
        parts = [page.content]
        while page.next_cursor:
            page = opened(text, cursor=page.next_cursor, max_length=1_000)
            assert page.truncated
            assert text[page.start : page.end] == page.content
            parts.append(page.content)
        assert "".join(parts) == text
        assert page.original_length == len(text)

    def test_a_section_is_read_by_its_number(self) -> None:
        text = manual()
        listed = opened(text, max_length=500).sections
        assert [section.title for section in listed] == ["The manual", *(f"About {topic}" for topic in TOPICS)]
        for number, section in enumerate(listed[1:], start=2):
            page = opened(text, cursor=f"#{number}")
            assert page.content.strip() == text[section.start : section.start + section.length].strip()
            assert page.content.startswith(f"## {section.title}")
        assert page.next_cursor is None
        assert opened(text, cursor="#2").next_cursor is not None
        with pytest.raises(InvalidRequest, match="has sections #1 to #9"):
            opened(text, cursor="#10")

    def test_a_place_is_read_by_its_number(self) -> None:
        text = manual()
        place = text.index("leaves at 07:45") + 3
        page = opened(text, cursor=f"@{place}", max_length=300)
        assert page.content.startswith("leaves at 07:45")
        with pytest.raises(InvalidRequest, match="is beyond the page"):
            opened(text, cursor="@9999999")

    def test_a_page_that_changed_goes_on_at_the_same_words(self) -> None:
        old = manual()
        cursor = opened(old, max_length=2_000).next_cursor
        new = "# News\n\nSomething was put in front.\n\n" + old
        page = opened(new, cursor=cursor, max_length=2_000)
        assert page.content.strip() == opened(old, cursor=cursor, max_length=2_000).content.strip()
        assert "the page has changed since" in page.warnings[-1]
        with pytest.raises(InvalidRequest, match=r"its position is gone\. Open the page without a cursor"):
            opened("# Another page\n\nwith other words.", cursor=cursor)

    def test_foreign_and_forged_cursors_are_refused(self) -> None:
        text = manual()
        cursor = opened(text, max_length=2_000).next_cursor
        assert cursor
        foreign = cursor_at(Outline("Words of another page. " * 200), 2_000)
        with pytest.raises(InvalidRequest, match="its position is gone"):
            opened(text, cursor=foreign)
        for forged in (cursor[:-2] + "zz", cursor[1:], "next", "\u00e9", "A" * 24, "#", "@-1", "#0"):
            with pytest.raises(InvalidRequest, match="cursor: "):
                opened(text, cursor=forged)

    @given(st.text(max_size=60), st.integers(0, 60), st.text(max_size=500))
    def test_a_cursor_is_what_it_was(self, text: str, place: int, wanted: str) -> None:
        clean = wanted.encode("utf-8", "replace").decode()
        document, place = Outline(text), min(place, len(text))
        assert resolve(cursor_at(document, place, clean), document) == Place(place, find=clean)

    @given(st.text(max_size=60))
    def test_any_word_may_be_given_as_a_cursor(self, word: str) -> None:
        with suppress(InvalidRequest):
            opened("# A\n\ntext", cursor=word)

    def test_sections_are_bounded_and_headings_in_code_are_none(self) -> None:
        text = "\n\n".join(f"# Part {n}\n\n## Sub\n\n```\n# no heading\n```" for n in range(90))
        listed = opened(text).sections
        assert len(listed) == 90
        assert {section.level for section in listed} == {1}
        assert all(text.startswith("# Part", section.start) for section in listed)


class TestArguments:
    @pytest.mark.parametrize(
        ("asked", "says"),
        [
            ({"query": "a", "find": "b"}, "find: cannot be given together with query"),
            ({"query": "a", "cursor": "#1"}, "cursor: cannot be given together with query"),
            ({"query": " ?! "}, "query: has no words"),
            ({"query": 3}, "query: must be text"),
            ({"query": "w " * 2_000}, "query: has"),
            ({"find": " "}, "find: is empty"),
            ({"find": "x" * 501}, "find: has 501"),
            ({"cursor": ""}, "cursor: is not a cursor"),
            ({"max_tokens": 0}, "max_tokens: is 0"),
            ({"max_tokens": "many"}, "max_tokens: must be a whole number"),
            ({"max_length": 0}, "max_length: is 0"),
        ],
    )
    def test_what_is_wrong_is_named(self, asked: dict[str, Any], says: str) -> None:
        with pytest.raises(InvalidRequest, match=re.escape(says)):
            opened("text", **asked)


def test_passages_are_the_page() -> None:
    text = manual() + "\n\n```\n" + "code = 1\n" * 200 + "```\n\n" + "No stop in this one " * 200
    document = Outline(text)
    passages = passages_of(document)
    assert all(first.end <= second.start for first, second in pairwise(passages))
    assert all(0 < passage.end - passage.start <= 1_300 for passage in passages)
    starts = [passage.start for passage in passages]
    for place in range(0, len(text), 37):
        at = bisect.bisect_right(starts, place) - 1
        assert not text[place].strip() or passages[at].end > place


def test_terms() -> None:
    terms = Terms()
    assert terms("Ferries, ferry; the FERRY's") == ["ferry", "ferry", "the", "ferry", "s"]
    assert terms("1,250 and 1250") == ["1250", "and", "1250"]
    assert set(terms("getFerryTimes")) >= {"ferry", "get"}
    assert terms("caf\u00e9") == terms("cafe\u0301") == terms("CAF\u00c9")
    assert terms("渡船出发") == ["渡船", "船出", "出发"]
    assert [row.score for row in rank(Outline("one\n\ntwo"), "three")] == [0.0]
