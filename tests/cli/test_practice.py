"""`groundwire demo --serve`: a web to practice on."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from cli.conftest import Terminal


@pytest.fixture
def learner(terminal: Terminal) -> Terminal:
    """A terminal whose variables lead nowhere."""
    for name in ("SEARCH_PROVIDERS", "PROVIDERS_SEARXNG_BASE_URL", "POLICY_ALLOWED_ORIGINS"):
        terminal.variables[f"GROUNDWIRE_{name}"] = ""
    return terminal


@dataclass
class Practice:
    """What is served."""

    model: str
    settings: Path


@contextmanager
def served(learner: Terminal) -> Iterator[Practice]:
    """Serve in the home folder, and stop."""
    process = learner.start("demo", "--serve", "--port", "0")
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith(b"groundwire.toml here points to a miniature web")
        address = process.stdout.readline().decode().split("for a model: ")[1].split(". ")[0]
        yield Practice(address, learner.home / "groundwire.toml")
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (143, b"Stopped.\n", b"")


def test_its_settings_lead_every_command_to_it_until_it_ends(learner: Terminal) -> None:
    with served(learner) as practice:
        found = learner.run("search", "reciprocal rank fusion", "--json")
        url = json.loads(found.stdout.splitlines()[0])["url"]
        assert "The usual choice is k = 60" in learner.run("open", url).stdout
        answered = learner.run("ask", "reciprocal rank fusion")
        assert (answered.returncode, "Sources\n" in answered.stdout) == (0, True)
    assert not practice.settings.exists()


def test_nothing_of_it_stays(learner: Terminal) -> None:
    with served(learner):
        url = json.loads(learner.run("search", "reciprocal rank fusion", "--json").stdout.splitlines()[0])["url"]
        assert learner.run("open", url).returncode == 0
        assert learner.run("archive", "list").returncode == 0
    assert learner.run("archive", "list").stderr.startswith("0 pages, 0 results")
    assert "searxng" not in learner.run("stats").stdout


def test_a_demo_that_was_killed_does_no_harm(learner: Terminal) -> None:
    process = learner.start("demo", "--serve", "--port", "0")
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    settings = learner.home / "groundwire.toml"
    assert settings.exists()
    shown = learner.run("config", "show")
    assert "was left behind by a demo that was killed; it is ignored" in shown.stderr
    assert str(settings) not in shown.stdout
    with served(learner):  # the next one takes its place
        assert learner.run("search", "reciprocal rank fusion").returncode == 0
    assert not settings.exists()


def test_settings_that_were_changed_stay(learner: Terminal) -> None:
    with served(learner) as practice, practice.settings.open("a") as file:
        file.write("# mine\n")
    left = practice.settings.read_text()
    assert left.startswith("[search]")  # no longer the demo's
    assert left.endswith("# mine\n")


def test_the_stand_in_searches_opens_and_quotes(learner: Terminal) -> None:
    with served(learner) as practice:
        tools = [{"type": "function", "function": {"name": name}} for name in ("web_search", "open_page")]
        question = {"role": "user", "content": "What is BM25?"}
        body = {"model": "stand-in", "messages": [question], "tools": tools}
        request = Request(f"{practice.model}/chat/completions", json.dumps(body).encode())
        answer = json.load(urlopen(request))
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "web_search", "arguments": '{"query": "What is BM25?"}'}


def test_a_file_of_settings_that_is_there_stays(learner: Terminal) -> None:
    (learner.home / "groundwire.toml").write_text("[search]\nlimit = 3\n")
    done = learner.run("demo", "--serve", "--port", "0")
    assert done.returncode == 2
    assert "was not changed" in done.stderr
    assert (learner.home / "groundwire.toml").read_text() == "[search]\nlimit = 3\n"


def test_ports_that_are_taken_are_named(learner: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = learner.run("demo", "--serve", "--port", port)
    assert done.returncode == 2
    assert f"The ports starting at {port} cannot be used (Address already in use)" in done.stderr
    assert not (learner.home / "groundwire.toml").exists()
