"""Which earlier questions are asked again, in other words' order and inflection, and which are others.

`questions_again.tsv` has 100: language, what was asked first, the same again, and another that shares about half of its
words. The lines with even numbers, from 0, were looked at while the comparison was made; the others were not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from components.archiving import add
from groundwire.models import Page, SearchResponse, SearchResult
from groundwire.safety.tenancy import LOCAL
from groundwire.storage.archive.questions import Question
from groundwire.storage.archive.store import Archive


class Asked(NamedTuple):
    """A line of the file."""

    language: str
    stored: str
    again: str
    other: str


LINES = Path(__file__).with_name("questions_again.tsv").read_text("utf-8").splitlines()
ASKED = [Asked(*line.split("\t")) for line in LINES]


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    made = Archive(tmp_path / "archive.db")
    yield made
    await made.aclose()


async def keep(archive: Archive, query: str, *snippets: str, host: str = "a.example") -> None:
    rows = [
        SearchResult(title=f"Answer {place}", url=f"https://{host}/{place}", snippet=snippet, source="searxng")
        for place, snippet in enumerate(snippets)
    ]
    await add(archive, SearchResponse(query=query, results=tuple(rows), provider="searxng"), owner=LOCAL)


async def answer(archive: Archive, query: str) -> set[str]:
    return {hit.url.split("/")[2] for hit in await archive.search(query, viewer=LOCAL, answers=True)}


@pytest.mark.req("B13", "B38")
async def test_questions_asked_again_are_answered_and_others_are_not(archive: Archive) -> None:
    for place, asked in enumerate(ASKED):
        await keep(archive, asked.stored, f"{asked.stored}: this.", f"On {asked.stored}.", host=f"q{place}.example")
    right = [await answer(archive, asked.again) == {f"q{place}.example"} for place, asked in enumerate(ASKED)]
    missed = [asked for asked, is_right in zip(ASKED, right, strict=True) if not is_right]
    assert sum(right) >= 90, missed
    assert len({asked.language for asked in ASKED}) >= 6
    assert [asked for asked in ASKED if await answer(archive, asked.other)] == []


@pytest.mark.req("B38")
@pytest.mark.parametrize("asked", ASKED[5::10], ids=lambda asked: asked.stored)
async def test_an_archive_of_a_single_search_has_no_statistics_and_needs_none(archive: Archive, asked: Asked) -> None:
    await keep(archive, asked.stored, f"{asked.stored}: this.")
    assert await answer(archive, asked.again) == {"a.example"}
    assert await answer(archive, asked.other) == set()


@pytest.mark.req("B38")
@pytest.mark.parametrize(
    ("stored", "other"),
    [
        ("vitamin a dose", "dose of vitamin e"),
        ("flights from Paris to Rome", "flights from Rome to Paris"),
        ("trenes de Madrid a Sevilla", "trenes de Sevilla a Madrid"),
        ("从北京到上海的火车", "从上海到北京的火车"),
        ("東京から大阪まで", "大阪から東京まで"),
        ("who invented the telephone", "when was the telephone invented"),
        ("is Mars bigger than Venus", "is Venus bigger than Mars"),
        ("population of Nigeria", "population of Niger"),
        ("prednisone dose", "prednisolone dose"),
        ("javascript arrays", "java arrays"),
        ("iphone 15 pro weight", "iphone 15 weight"),
        ("can't I drive with a cast", "can I drive with a cast"),
        ("foods not to eat with diabetes", "foods to eat with diabetes"),
        ("sorting in c#", "sorting in c"),
        ("食べてはいけないもの", "食べていいもの"),
        ("서울의 인구는 얼마", "부산의 인구는 얼마"),
        ("weather in the city", "prices in the city"),
    ],
)
async def test_other_questions(archive: Archive, stored: str, other: str) -> None:
    await keep(archive, stored, f"{stored}: this.")
    assert await answer(archive, stored) == {"a.example"}
    assert await answer(archive, other) == set()


@pytest.mark.req("B13", "B38")
async def test_a_page_answers_by_one_passage_and_its_title(archive: Archive) -> None:
    near = "The population of Paris was 2.1 million in 2024. " + "It has many bridges. " * 100
    far = (
        "Paris. " + "It has many bridges. " * 200 + "Rome has a population. " + "It is old. " * 200 + "That is of 2024."
    )
    await add(archive, Page(url="https://near.example/", title="A city", content=near, reader="x"), owner=LOCAL)
    await add(archive, Page(url="https://far.example/", title="Cities", content=far, reader="x"), owner=LOCAL)
    assert await answer(archive, "population of Paris 2024") == {"near.example"}
    whole = await archive.search("population of Paris 2024", viewer=LOCAL)
    assert {hit.url for hit in whole} == {"https://near.example/", "https://far.example/"}, "somebody looks for a page"


@pytest.mark.req("B38")
def test_a_question_of_frequent_words_only_is_one_of_these_words() -> None:
    question = Question.parse("who is who")
    assert question is not None
    assert question.compare("WHO is who") is True
    assert question.compare("to be or not to be") is None


@pytest.mark.req("B38")
@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.stored)
def test_each_question_asks_for_itself(asked: Asked) -> None:
    for text in (asked.stored, asked.again, asked.other):
        question = Question.parse(text)
        assert question is not None
        assert question.compare(text.upper() if text.isascii() else text) is True
