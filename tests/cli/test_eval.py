"""`groundwire.evaluation` and `groundwire eval`, against services on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.services import api_class
from groundwire import Settings, Web
from groundwire.errors import InvalidRequest
from groundwire.evaluation import EvalAnswer, EvalQuestion, Evaluation, Place, comparable, evaluate, read_questions
from groundwire.testing import InjectedFault
from world import World

ROOT = Path(__file__).resolve().parents[2]
FUSION = "reciprocal rank fusion"


def question(answer: str, text: str = FUSION, name: str = "1") -> EvalQuestion:
    return EvalQuestion(id=name, text=text, answers=(answer,))


def settings(world: World, *names: str) -> Settings:
    return Settings.model_validate(
        {
            "search": {"providers": names, "timeout": 10.0, "strategy": "fallback"},
            "policy": {"allowed_origins": world.origins},
            "providers": {name: {"base_url": world.service(name).url} for name in names},
            "keys": {api_class(name).key_variables[0]: "test-key" for name in names},
        }
    )


@pytest.mark.parametrize(
    ("answer", "text", "is_in"),
    [
        ("Lúcio  Costa", "(LUCIO\n*costa*)", True),
        ("Strasse", "die Straße", True),
        ("cat", "concatenate", False),
        ("12", "vitamin B12", False),
        ("8,848.86 m", "8848.86m high", True),
        ("1000", "1\u202f000", True),
        ("1000000", "1.000.000 people", True),
        ("3,5", "3.50", True),
        ("-273.15", "\u2212273.15 °C", True),
        ("40", "-40 °C", False),
        ("40", "30-40", True),
        ("2", "1,2,3", True),
        ("07", "7", True),
        ("3.11.10", "3.11.1", False),
        ("1 2", "12", False),
        ("東京", "首都は東京です", True),
    ],
)
def test_answers_match_by_words_and_values(answer: str, text: str, is_in: bool) -> None:
    assert (comparable(answer) in comparable(text)) is is_in


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 3: is not a JSON object"),
        ("[" * 100_000, "line 3: is not a JSON object"),
        ("[]", "line 3: is not a JSON object"),
        ('{"answer": "x"}', 'line 3: its "question" must be text'),
        ('{"question": " ", "answer": "x"}', 'line 3: its "question" is empty'),
        ('{"question": "q"}', 'line 3: its "answer" is neither'),
        ('{"question": "q", "answer": []}', 'line 3: its "answer" is neither'),
        ('{"question": "q", "answer": ["x", "?!"]}', "line 3: the answer '\\?!' has neither letters nor digits"),
        ('{"question": "q", "answers": ["x"]}', "line 3: has the unknown members 'answers'"),
        ('{"question": "q", "answer": "x", "id": "a"}', "line 3: its \"id\" 'a' is already in use"),
        ('{"question": "q", "answer": "x", "id": []}', 'line 3: its "id" is neither'),
    ],
)
def test_a_bad_line_is_named_with_its_remedy(line: str, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why) as caught:
        read_questions(['{"id": "a", "question": "q", "answer": "x"}', "", line], "file.jsonl")
    assert caught.value.fix
    with pytest.raises(InvalidRequest, match="has no questions"):
        read_questions([""])


def test_our_own_questions_can_be_read() -> None:
    with (ROOT / "benchmarks" / "questions.jsonl").open(encoding="utf-8") as lines:
        assert 20 <= len(read_questions(lines)) <= 30


def test_the_interval_is_wilsons() -> None:
    def of(**counts: int) -> Evaluation:
        places: list[Place] = [place for place in ("rows", "missed") for _ in range(counts.get(place, 0))]
        answers = tuple(EvalAnswer(id=str(at), place=place, seconds=at) for at, place in enumerate(places, start=1))
        return Evaluation(providers=("a",), strategy="fallback", answers=answers)

    assert of(rows=8, missed=2).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert of(missed=10).interval == pytest.approx((0, 0.2775), abs=1e-4)
    assert of(rows=10).interval == pytest.approx((0.7225, 1), abs=1e-4)
    assert (of(rows=20).seconds(0.5), of(rows=20).seconds(0.95), of(rows=1).seconds(0.95)) == (10, 19, 1)


async def test_rows_pages_misses_and_failures_are_counted_apart(world: World) -> None:
    world.service("brave").fail(InjectedFault.status(500), times=None)
    questions = [
        question("Reciprocal Rank Fusion!", name="title"),
        question("zero results bug", name="miss"),
        question("lists whose scores have nothing in common", name="page"),
    ]
    async with Web(settings(world, "tavily", "brave")) as web:
        known: list[EvalAnswer] = []
        chain = web.with_providers("tavily")
        evaluation = await evaluate(chain, questions, open_pages=2, concurrency=1, listener=known.append)
        assert [one.place for one in evaluation.answers] == ["rows", "missed", "pages"]
        assert tuple(known) == evaluation.answers
        assert evaluation.answers[2].url.endswith("/wiki/reciprocal-rank-fusion")
        assert len(world.service("tavily").requests) == 3
        again = await evaluate(chain, questions[2:])
        assert len(world.service("tavily").requests) == 4, "the cache is off"
        assert again.count("missed") == 1
        assert [one.cost_usd for one in evaluation.answers] == [again.cost_usd] * 3 == [pytest.approx(0.008)] * 3
        assert await web.usage() == {"searches": 0, "cost_usd": 0, "tokens": 0}
        failed = await evaluate(web.with_providers("brave"), questions)
        assert (failed.count("failed"), failed.share, failed.seconds(0.5)) == (3, 0, None)
        assert "brave" in failed.answers[0].error
        world.site("articles").fail(InjectedFault.status(500), times=None)
        unread = await evaluate(chain, questions[2:], limit=1, open_pages=1)
        assert (unread.count("failed"), unread.answers[0].pages_failed) == (1, 1)
        with pytest.raises(InvalidRequest, match="limit"):
            await evaluate(chain, questions, limit=99)


LINES = [
    {"question": FUSION, "answer": ["nothing of this", "Reciprocal Rank Fusion"]},
    {"question": FUSION, "answer": "nowhere in here", "id": "missed"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return tmp_path / "questions.jsonl"


def test_the_command_prints_a_table_and_json(terminal: Any, file: Path) -> None:
    done = terminal.run("eval", str(file), "-p", "searxng", "--strategy", "fallback", "--strategy", "fuse")
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split()[:3] == ["providers", "strategy", "share"]
    assert [row.split()[:3] for row in rows] == [["searxng", "fallback", "50%"], ["searxng", "fuse", "50%"]]
    assert "9% to 91%" in rows[0]
    assert "$0.0000" in rows[0]
    done = terminal.run("eval", str(file), "--json", "--open", "1", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    [evaluation] = json.loads(done.stdout)
    assert {one["id"]: one["place"] for one in evaluation["answers"]} == {"1": "rows", "missed": "missed"}
    assert evaluation["interval"] == pytest.approx([0.0945, 0.9055], abs=1e-4)


def test_the_command_says_what_is_wrong_before_it_pays(terminal: Any, world: World, file: Path) -> None:
    wrong = terminal.here("eval", file, "-p", "searxng", "-p", "searxng,exa")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "exa needs a key: set EXA_API_KEY" in wrong.stderr
    assert "Did you mean '--limit'?" in terminal.here("eval", file, "--max-results", "3").stderr
    file.write_text("no JSON\n")
    bad = terminal.here("eval", file)
    assert (bad.exit_code, bad.stdout) == (2, "")
    assert "questions.jsonl, line 1 is not a JSON object. Write {" in bad.stderr
    assert not world.searxng.requests


def test_a_search_that_fails_is_no_miss(terminal: Any, world: World, file: Path) -> None:
    world.searxng.fail(InjectedFault.status(403), times=None)
    done = terminal.here("eval", file)
    assert done.exit_code == 3
    assert done.stdout.splitlines()[1].split()[-5:-3] == ["0", "2"]
    assert "searxng: 2 failed: " in done.stderr
