"""The real components do what the tests that use them rely on."""

from __future__ import annotations

import os
import select
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ddgs import DDGS
from ddgs.exceptions import DDGSException, TimeoutException

from components.engine_pages import HTML
from components.environment import Environment, prepare
from components.processes import Program, Unavailable
from components.searxng import SearXNG
from components.upstream import Row
from components.valkey import Valkey
from components.wire import Answer, Wire, WireRequest


def test_searxng_answers_in_json(searxng: SearXNG) -> None:
    reply = searxng.get("/search", q="python", format="json")

    assert reply.status == 200
    assert reply.headers["content-type"].startswith("application/json")
    found = reply.json()
    assert found["unresponsive_engines"] == []
    assert {engine for row in found["results"] for engine in row["engines"]} == {"localjson", "localxpath"}
    assert {request.path for request in searxng.backend.log} == {"/json", "/html"}


def test_searxng_shows_the_rows_of_a_test(searxng: SearXNG) -> None:
    searxng.backend.rows = [Row("A title", "https://one.example/", "a <b>snippet</b>")]

    found = searxng.get("/search", q="x", format="json", engines=searxng.engine("localjson")).json()["results"]

    assert [(row["title"], row["url"], row["content"]) for row in found] == [
        ("A title", "https://one.example/", "a snippet")
    ]


@pytest.mark.parametrize(
    ("engine", "problem"),
    [
        ("slow", "timeout"),
        ("e403", "access denied"),
        ("e429", "too many requests"),
        ("e500", "HTTP error"),
        ("recaptcha", "CAPTCHA"),
        ("badjson", "parsing error"),
        ("refused", "HTTP connection error"),
    ],
)
def test_searxng_names_the_engines_that_fail(searxng: SearXNG, engine: str, problem: str) -> None:
    for _ in range(2):  # the second answer is the same: nothing is suspended
        reply = searxng.get("/search", q="x", format="json", engines=searxng.engine(engine))

        assert reply.status == 200
        assert reply.json()["results"] == []
        failures = {tuple(failure) for failure in reply.json()["unresponsive_engines"]}
        assert failures == {(engine, problem)}  # a busy SearXNG may list a timeout twice


def test_searxng_suspends_an_engine(searxng: SearXNG) -> None:
    answers = [searxng.get("/search", q="x", format="json", engines=searxng.engine("banned")).json() for _ in range(2)]

    assert answers[1]["unresponsive_engines"] == [["banned", "Suspended: access denied"]]


def test_searxng_knows_an_engine_that_finds_nothing(searxng: SearXNG) -> None:
    found = searxng.get("/search", q="x", format="json", engines=searxng.engine("empty")).json()

    assert (found["results"], found["unresponsive_engines"]) == ([], [])


def test_searxng_searches_without_a_network(searxng: SearXNG) -> None:
    found = searxng.get("/search", q="python", format="json", engines=searxng.engine("localsql")).json()

    assert found["results"]
    assert searxng.backend.log == []


def test_a_wrong_engine_is_not_let_through() -> None:
    with pytest.raises(KeyError, match="no such engine"):
        SearXNG.engine("localjson", "googol")


def test_searxng_as_it_comes_refuses_json(searxng_json_off: SearXNG) -> None:
    assert searxng_json_off.get("/search", q="x", format="json").status == 403
    assert searxng_json_off.get("/search", q="x").status == 200


@pytest.mark.parametrize("_round", [1, 2])
def test_searxng_limits_the_rate_of_each_test_anew(searxng_limited: SearXNG, _round: int) -> None:
    statuses = [searxng_limited.get("/search", q="x", format="json").status for _ in range(6)]

    assert statuses == [200, 200, 200, 200, 429, 429]


def test_searxng_can_be_stopped_and_comes_back(searxng_json_off: SearXNG) -> None:
    searxng_json_off.stop()
    with pytest.raises(ConnectionRefusedError):
        searxng_json_off.get("/healthz")

    searxng_json_off.reset()

    assert searxng_json_off.get("/healthz").body == b"OK"


def test_valkey_answers(valkey_server: Valkey, valkey: str) -> None:
    assert valkey == f"redis://127.0.0.1:{valkey_server.port}/0"
    assert valkey_server.command("PING") == "+PONG"
    assert valkey_server.command("SET", "test:components", "é") == "+OK"


def test_valkey_can_be_restarted_and_is_empty_then(valkey_server: Valkey) -> None:
    valkey_server.command("SET", "test:components", "1")
    valkey_server.stop()
    with pytest.raises(ConnectionRefusedError):
        valkey_server.command("PING")

    valkey_server.restart()

    assert valkey_server.command("EXISTS", "test:components") == ":0"


def client(wire: Wire, *, timeout: int = 2) -> DDGS:
    return DDGS(proxy=wire.url, verify=wire.ca_file, timeout=timeout)


@pytest.mark.parametrize("backend", ["duckduckgo", "brave", "mojeek", "yahoo", "startpage"])
def test_ddgs_finds_the_rows(ddgs_wire: Wire, backend: str) -> None:
    ddgs_wire.rows = [Row("A & B", "https://one.example/?a=1&b=2", "1 < 2"), Row("Two", "https://two.example/", "2")]

    found = client(ddgs_wire).text("query", backend=backend, max_results=5)

    assert sorted((row["title"], row["href"], row["body"]) for row in found) == sorted(ddgs_wire.rows)
    assert len(ddgs_wire.log) == (2 if backend == "startpage" else 1)


def test_ddgs_finds_one_row_in_wikipedia(ddgs_wire: Wire) -> None:
    ddgs_wire.rows = [Row("Query", "https://en.wikipedia.org/wiki/Query", "A query is a question.")]

    assert client(ddgs_wire).text("query", backend="wikipedia")[0]["body"] == "A query is a question."


def test_the_wire_shows_what_was_asked(ddgs_wire: Wire) -> None:
    client(ddgs_wire).text("two words", backend="duckduckgo", region="de-de", timelimit="w", max_results=5)

    (request,) = ddgs_wire.log
    assert (request.host, request.method, request.path) == ("html.duckduckgo.com", "POST", "/html/")
    assert request.form == {"q": "two words", "b": "", "l": "de-de", "df": "w"}
    assert request.headers["host"] == "html.duckduckgo.com"


@pytest.mark.parametrize(
    ("status", "body"),
    [(429, b"slow down"), (202, b"<html>are you human?</html>"), (403, b""), (500, b""), (200, b"<html></html>")],
)
def test_ddgs_says_no_results_to_every_refusal(ddgs_wire: Wire, status: int, body: bytes) -> None:
    ddgs_wire.answer_with(status, HTML, body)

    with pytest.raises(DDGSException, match=r"^No results found\.$"):
        client(ddgs_wire).text("query", backend="duckduckgo", max_results=5)


def test_ddgs_says_no_results_to_an_empty_list(ddgs_wire: Wire) -> None:
    ddgs_wire.rows = []

    with pytest.raises(DDGSException, match=r"^No results found\.$"):
        client(ddgs_wire).text("query", backend="duckduckgo", max_results=5)


@pytest.mark.parametrize("silence", ["hold", "delay", "trickle"])
def test_ddgs_gives_up_on_silence(ddgs_wire: Wire, silence: str) -> None:
    match silence:
        case "hold":
            ddgs_wire.hold()
        case "delay":
            ddgs_wire.delay(30)
        case _:
            ddgs_wire.trickle(0.05)

    with pytest.raises(TimeoutException):
        client(ddgs_wire, timeout=1).text("query", backend="duckduckgo", max_results=5)


def test_ddgs_says_that_a_connection_was_cut(ddgs_wire: Wire) -> None:
    ddgs_wire.drop()

    with pytest.raises(DDGSException, match="RequestError"):
        client(ddgs_wire).text("query", backend="duckduckgo", max_results=5)


def test_ddgs_does_not_trust_our_authority_by_itself(ddgs_wire: Wire) -> None:
    with pytest.raises(DDGSException, match="certificate"):
        DDGS(proxy=ddgs_wire.url, timeout=60).text("query", backend="duckduckgo", max_results=5)

    assert ddgs_wire.log == []


def test_the_wire_notes_what_a_handler_raises(ddgs_wire: Wire) -> None:
    def broken(request: WireRequest) -> Answer:
        raise LookupError(request.host)

    ddgs_wire.handler = broken
    with pytest.raises(DDGSException):
        client(ddgs_wire).text("query", backend="duckduckgo", max_results=5)

    ddgs_wire.close()
    assert isinstance(ddgs_wire.faults.pop(), LookupError)


def test_the_environment_is_installed_once(installed: Environment) -> None:
    said: list[str] = []

    assert prepare(installed.root.parent, said.append) == installed
    assert said == []


def test_a_program_that_does_not_start_says_why(tmp_path: Path) -> None:
    program = Program("sh", ["/bin/sh", "-c", "echo no luck; exit 3"], env={}, log=tmp_path / "log")

    with pytest.raises(Unavailable, match="sh ended with code 3: no luck"):
        program.wait_until(lambda: False, 60)


def test_a_program_that_is_never_ready_is_ended_with_its_children(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 60 & echo $!; wait"
    program = Program("sh", ["/bin/sh", "-c", script], env={"PATH": os.defpath}, log=tmp_path / "log")

    program.wait_until(lambda: (tmp_path / "log").read_text("utf-8").endswith("\n"), 60)
    with pytest.raises(Unavailable, match=r"sh was not ready after 0\.2 s"):
        program.wait_until(lambda: False, 0.2)

    child = int((tmp_path / "log").read_text("utf-8"))
    try:
        end = os.pidfd_open(child)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([end], [], [], 60)  # a killed process takes a moment to be gone on a busy machine
        assert ready
    finally:
        os.close(end)


def test_what_is_held_is_let_go(ddgs_wire: Wire) -> None:
    ddgs_wire.hold()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(client(ddgs_wire, timeout=60).text, "query", backend="duckduckgo", max_results=3)
        assert ddgs_wire.wait_until_asked()
        assert not search.done()
        ddgs_wire.release()

        assert len(search.result()) == 3


def test_closing_the_wire_ends_what_hangs(ddgs_wire: Wire) -> None:
    ddgs_wire.hold()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(client(ddgs_wire, timeout=60).text, "query", backend="duckduckgo")
        assert ddgs_wire.wait_until_asked()

        ddgs_wire.close()

        assert isinstance(search.exception(timeout=60), DDGSException)
    assert not [thread for thread in threading.enumerate() if thread.name == "wire"]
