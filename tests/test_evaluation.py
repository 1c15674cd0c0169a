"""Comparing providers by questions with known answers: the library, the rule for an answer, and the file's lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Settings, Web
from groundwire.errors import InvalidRequest
from groundwire.evaluation import EvaluationQuestion, Outcome, evaluate, has_answer, read_questions, score
from groundwire.testing import InjectedFault
from world import World

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "questions.jsonl"


def settings(world: World) -> Settings:
    return Settings.model_validate(
        {
            "search": {"providers": ["searxng"]},
            "providers": {"searxng": {"base_url": world.searxng.url}},
            "policy": {"allowed_origins": world.origins},
            "storage": {"url": "memory://"},
            "archive": {"enabled": False},
        }
    )


QUESTIONS = [
    EvaluationQuestion("row", "what is reciprocal rank fusion", ("merge several ranked lists",)),
    EvaluationQuestion("page", "which k is usual in reciprocal rank fusion", ("usual choice is k = 60",)),
    EvaluationQuestion("none", "reciprocal rank fusion", ("a brass trombone",)),
]


async def test_answers_are_found_in_results_and_in_pages(world: World) -> None:
    async with Web(settings(world)) as web:
        outcomes = await evaluate(web, QUESTIONS, concurrency=2)
        rows_only = await evaluate(web, QUESTIONS, pages=0)
    by_id = {outcome.id: (outcome.in_results, outcome.in_pages) for outcome in outcomes}
    assert by_id == {"row": (True, True), "page": (False, True), "none": (False, False)}
    assert [outcome.in_pages for outcome in rows_only] == [True, False, False]
    assert len(world.searxng.requests) == 6  # nothing is answered by the cache


async def test_a_failure_is_no_miss(world: World) -> None:
    world.searxng.fail(InjectedFault.status(500), times=None)
    async with Web(settings(world)) as web:
        outcomes = await evaluate(web, QUESTIONS[:1])
    total = score(outcomes, 0.0)
    assert (total.failed, total.in_results) == (1, 0.0)
    assert "searxng" in outcomes[0].error


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("It was finished in 1889.", "1889", True),
        ("It has 18890 rivets.", "1889", False),
        ("There are 1,776 of them", "1776", True),
        ("There are 1 776 of them", "1\u00a0776", False),  # a space alone divides two numbers
        ("a price of 2.50 dollars", "2.5", True),
        ("in 3.10 and later", "3.1", True),  # a value: versions are told apart by the words around them
        ("the São Paulo metro", "Sao Paulo", True),
        ("GEORGE\nELIOT wrote it", "George Eliot", True),
        ("George said that Eliot wrote it", "George Eliot", False),
        ("a golden rule", "gold", False),
        ("東京は日本の首都です", "東京", True),
    ],
)
def test_the_words_of_an_answer_stand_next_to_each_other(text: str, answer: str, expected: bool) -> None:
    assert has_answer(text, ["never there", answer]) is expected


@given(st.text(max_size=50), st.text(alphabet="abc 12.", min_size=1, max_size=8).filter(lambda one: one.strip(" .")))
def test_an_answer_is_found_in_itself(before: str, answer: str) -> None:
    assert has_answer(f"{before}\n{answer}\n{before}", [answer])


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["{"], "line 1 is not JSON"),
        (["", "[1]"], "line 2 is not a JSON object"),
        (['{"question": "q"}'], "line 1 has no answer"),
        (['{"question": "q", "answer": []}'], "line 1 has no answer"),
        (['{"question": "q", "answer": ["a", null]}'], "line 1 has no answer"),
        (['{"question": "q", "answer": "!?"}'], "line 1 has no answer"),
        (['{"answer": "a"}'], "line 1 has no question"),
        (['{"question": " ", "answer": "a"}'], "line 1 has a question that"),
        (['{"question": "q", "answer": "a", "id": 7}'] * 2, "line 2 has the id '7', as a line before it"),
        ([], "has no questions"),
    ],
)
def test_a_wrong_line_is_named(lines: list[str], problem: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^file") as caught:
        read_questions(lines)
    assert caught.value.problem.startswith(problem)
    assert caught.value.fix


def test_the_example_is_read() -> None:
    questions = read_questions(EXAMPLES.read_text("utf-8").splitlines())
    assert len(questions) > 20
    assert read_questions([json.dumps({"question": "q", "answers": 3.5})])[0].answers == ("3.5",)


def test_the_interval_is_wilsons() -> None:
    outcomes = [Outcome(str(one), in_results=one < 8, in_pages=one < 8, seconds=float(one)) for one in range(10)]
    total = score(outcomes, 0.02)
    assert (total.in_results, total.cost_usd) == (0.8, 0.02)
    assert total.in_results_interval == pytest.approx(
        (0.490, 0.943), abs=0.001
    )  # by hand: (0.8 + 0.192 ± 0.315) / 1.384
    assert (total.p50_seconds, total.p95_seconds) == (4.0, 9.0)
