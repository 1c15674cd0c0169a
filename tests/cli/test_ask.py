"""`groundwire ask`: with a model, with one that is found on this machine, and with none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.model_bodies import ENDED
from groundwire.testing import InjectedFault
from groundwire.testing.model_apis import quoting
from world.model_apis import ModelServer

pytestmark = pytest.mark.req("B34")

Terminal = Any  # see conftest.py
QUESTION = "reciprocal rank fusion"


@pytest.fixture
def model(terminal: Terminal) -> ModelServer:
    made: ModelServer = terminal.world.add(ModelServer(quoting, listed=("text-embedding-m", "miniature")))
    return made


def test_without_a_model_passages_are_quoted(terminal: Terminal) -> None:
    done = terminal.here("ask", QUESTION, "--quote", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (said["model"], said["searches"]) == ("", 1)
    cited = [row["verdict"] for row in said["report"]["findings"] if row["sources"]]
    assert set(cited) == {"supported"}
    assert len(cited) >= len(said["sources"]) > 0
    assert all(f"[{source['citation_id']}]" in said["text"] for source in said["sources"])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What values of k1 are common in BM25?", "Values from 1.2 to 2.0 are common"),  # in a list of definitions
        ("When should a server send 429?", "When a server answers 429 or 503 with a Retry-After header"),  # in a list
        ("What does the directive no-store mean?", "| no-store | Must not be kept at all. |"),  # in a table
        ("Which value of the constant k is usual in reciprocal rank fusion?", "The usual choice is k = 60"),
    ],
)
def test_the_first_quote_answers(terminal: Terminal, question: str, answer: str) -> None:
    done = terminal.here("ask", question, "--quote", "--json")
    text = json.loads(done.stdout)["text"]
    assert answer in text.split(" [")[0].split("\n\n[")[0]
    assert "\n#" not in f"\n{text}"


@pytest.mark.parametrize("question", ["Who invented BM25?", "How do whales rank their documents at sea?"])
def test_a_question_that_no_page_answers_is_not_answered_beside_the_point(terminal: Terminal, question: str) -> None:
    done = terminal.here("ask", question, "--quote")
    assert (done.exit_code, "Nothing was found in " in done.stdout) == (1, True)
    assert "[1]" not in done.stdout


def test_a_model_answers_and_is_checked(terminal: Terminal, model: ModelServer) -> None:
    done = terminal.here("ask", QUESTION, "--model", "m", "--base-url", f"{model.url}/v1")
    assert done.exit_code == 0, done.stderr
    assert "Sources" in done.stdout
    assert "[1]" in done.stdout
    assert "m; 1 search" in done.stderr


@pytest.mark.parametrize(("api", "path"), [("openai_chat", "/v1"), ("anthropic", ""), ("gemini", "")])
def test_models_of_three_apis_answer(terminal: Terminal, model: ModelServer, api: str, path: str) -> None:
    done = terminal.here(
        "ask", QUESTION, "--json", "--model", "m", "--base-url", model.url + path, GROUNDWIRE_ANSWER_API=api
    )
    said = json.loads(done.stdout)
    assert (done.exit_code, said["model"]) == (0, "m")
    assert said["sources"]


def test_a_model_on_this_machine_is_found(terminal: Terminal, model: ModelServer) -> None:
    done = terminal.here("ask", QUESTION, "--json", GROUNDWIRE_ANSWER_LOCAL_SERVERS=f"{model.url}/v1")
    assert json.loads(done.stdout)["model"] == "miniature"


@pytest.mark.parametrize("name", ["google/small", "openai/small"])
def test_a_model_on_this_machine_may_have_its_makers_name(terminal: Terminal, name: str) -> None:
    model = terminal.world.add(ModelServer(quoting, listed=("miniature", name)))
    local = {"GROUNDWIRE_ANSWER_LOCAL_SERVERS": f"{model.url}/v1"}
    done = terminal.here("ask", QUESTION, "--json", "--model", name, **local)
    assert (done.exit_code, json.loads(done.stdout or "{}").get("model")) == (0, name), done.stderr


def test_what_stands_in_the_way_is_said(terminal: Terminal, model: ModelServer) -> None:
    done = terminal.here("ask", QUESTION, "--model", "m")
    assert (done.exit_code, "OPENAI_API_KEY" in done.stderr) == (2, True)
    done = terminal.here("ask", QUESTION, "--model", "m", "--base-url", "127.0.0.1:11434")
    assert (done.exit_code, "answer.base_url = '127.0.0.1:11434'" in done.stderr) == (2, True)
    model.fail(InjectedFault.status(401, '{"error": {"message": "no such key"}}'), times=None)
    done = terminal.here("ask", QUESTION, "--model", "m", "--base-url", f"{model.url}/v1")
    assert (done.exit_code, "no such key" in done.stderr) == (3, True)
    terminal.world.searxng.fail(InjectedFault.status(500), times=None)
    done = terminal.here("ask", QUESTION, "--quote")
    assert done.exit_code == 3
    assert done.stdout == ""


@pytest.mark.req("B44")
def test_a_model_past_its_end_is_a_warning(terminal: Terminal, model: ModelServer) -> None:
    done = terminal.here("ask", QUESTION, "--model", ENDED, "--base-url", f"{model.url}/v1")
    assert done.exit_code == 0, done.stderr
    assert f"The maker of {ENDED} ended it on" in done.stderr


def test_nothing_found_is_said(terminal: Terminal) -> None:
    done = terminal.here("ask", "zzzyyyxxx", "--quote")
    assert (done.exit_code, "Nothing was found" in done.stdout) == (1, True)
    assert done.stderr.strip() == "quoting passages; 1 search"  # as was asked for, whatever model there is
    assert "no model is set up, so these are quotes; name one with --model" in terminal.here("ask", "zzzyyyxxx").stderr
    assert terminal.here("ask", "zzzyyyxxx", "--quote", "--quiet").stderr == ""


@pytest.mark.parametrize("seconds", ["0", "nan", "inf", "601"])
def test_a_timeout_is_checked_before_anything_is_asked(terminal: Terminal, model: ModelServer, seconds: str) -> None:
    done = terminal.here("ask", QUESTION, "--model", "m", "--base-url", f"{model.url}/v1", "--timeout", seconds)
    assert (done.exit_code, "Pass seconds, more than 0 and at most 600." in done.stderr) == (2, True)
    assert not model.requests


def test_a_terminal_sees_the_answer_while_it_is_written(terminal: Terminal, model: ModelServer) -> None:
    done = terminal.here("ask", QUESTION, "--json", "--model", "m", "--base-url", f"{model.url}/v1")
    answer = json.loads(done.stdout)
    streamed = terminal.here("ask", QUESTION, "--stream", "--model", "m", "--base-url", f"{model.url}/v1")
    assert streamed.stdout.startswith(answer["text"] + "\n\n")
    assert streamed.stdout.count(answer["text"]) == 1
    assert streamed.exit_code == 0
