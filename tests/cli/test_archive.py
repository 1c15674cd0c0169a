"""`groundwire archive`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from components.archiving import add
from groundwire.cli import group
from groundwire.models import Page, SearchResponse, SearchResult
from groundwire.safety.tenancy import LOCAL
from groundwire.storage.archive.store import Archive

Terminal = Any  # see conftest.py
SEEN = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def file(terminal: Terminal) -> Path:
    """An archive's file with a page and a result in it; the terminal's settings name it."""
    path: Path = terminal.home / "kept" / "archive.db"
    terminal.variables["GROUNDWIRE_ARCHIVE_PATH"] = str(path)
    terminal.variables["GROUNDWIRE_ARCHIVE_MAX_AGE_DAYS"] = "36500"

    async def fill() -> None:
        archive = Archive(path, clock=SEEN.timestamp)
        await add(
            archive, Page(url="https://a.example/one", title="A page", content="Whales \x1b[31msing."), owner=LOCAL
        )
        row = SearchResult(title="A row", url="https://b.example/", snippet="Dolphins.", published="2026-11-01")
        await add(archive, SearchResponse(query="swimmers", results=(row,), provider="searxng"), owner=LOCAL)
        await archive.aclose()

    asyncio.run(fill())
    return path


def answered(terminal: Terminal, typed: str | bytes, *arguments: str, **variables: str) -> Result:
    """Run in this process, with something on standard input."""
    runner = CliRunner(env=terminal.environment | variables)
    return runner.invoke(group, ["archive", *arguments], input=typed, prog_name="groundwire")


@pytest.mark.req("B13")
@pytest.mark.usefixtures("file")
def test_search(terminal: Terminal) -> None:
    done = terminal.here("archive", "search", "whales")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == " 1. A page\n    https://a.example/one\n    Whales �[31msing.\n    read 2026-11-20\n\n"
    done = terminal.here("archive", "search", "dolphins")
    assert "    published 2026-11-01 · seen 2026-11-20\n" in done.stdout
    done = terminal.here("archive", "search", "sharks")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "No archived pages or results match: sharks\n")


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search"], "QUERY"),
        (["search", "x", "--limit", "0"], "The limit is 0"),
        (["search", "  "], "The query is empty"),
        (["list", "--limit", "0"], "limit"),
        (["forget"], "Specify what to delete"),
        (["forget", "https://a.example/one", "--all", "--yes"], "Specify what to delete"),
        (["forget", "nonsense"], "The URL "),
        (["forget", "--domain", "a.example", "--before", "2026-11-20"], "by one of these: a URL, --domain"),
        (["forget", "--domain", "a b"], "Error: --domain has 'a b'"),
        (["forget", "--before", "soon"], "soon"),
    ],
)
def test_wrong_use(terminal: Terminal, arguments: list[str], said: str) -> None:
    done = terminal.here("archive", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert terminal.here("archive", "list").stdout.count("\n") == 2


@pytest.mark.req("B13")
@pytest.mark.usefixtures("file")
def test_list(terminal: Terminal) -> None:
    done = terminal.here("archive", "list")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "2026-11-20 12:00  result  https://b.example/  A row",
        "2026-11-20 12:00  page    https://a.example/one  A page",
    ]
    assert done.stderr == "1 page, 1 result, about 0.0 MB\n"
    assert terminal.here("archive", "list", "-n", "1").stdout.splitlines() == done.stdout.splitlines()[:1]
    assert terminal.here("archive", "list", "--offset", "2").exit_code == 1


@pytest.mark.req("B13")
@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("selector", "count"),
    [
        (["https://a.example/one"], 1),
        (["--domain", "b.example"], 1),
        (["--before", "2026-11-21"], 2),
        (["--before", "2026-11-20"], 0),
        (["--all", "--yes"], 2),
    ],
)
def test_forget(terminal: Terminal, selector: list[str], count: int) -> None:
    done = terminal.here("archive", "forget", *selector)
    assert done.exit_code == (0 if count else 1)
    assert done.stdout == f"Forgot {count} {'entry' if count == 1 else 'entries'}.\n"
    assert terminal.here("archive", "list").stdout.count("\n") == 2 - count
    done = terminal.here("archive", "forget", *selector)
    assert (done.exit_code, done.stdout) == (1, "Forgot 0 entries.\n")


@pytest.mark.usefixtures("file")
def test_forgetting_everything_is_asked_about(terminal: Terminal) -> None:
    done = terminal.here("archive", "forget", "--all")
    assert done.exit_code == 2
    assert "Pass --yes" in done.stderr
    for answer, left in (("n\n", 2), ("y\n", 0)):
        done = answered(terminal, answer, "forget", "--all")
        assert "Delete all archived pages and results? [y/N]" in done.stderr
        assert terminal.here("archive", "list").stdout.count("\n") == left


COMMANDS: list[Callable[[Terminal], list[str]]] = [
    lambda terminal: ["search", "x"],
    lambda terminal: ["list"],
    lambda terminal: ["forget", "--all", "--yes"],
]


@pytest.mark.req("B13")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_archive_that_cannot_be_used(terminal: Terminal, command: Callable[[Terminal], list[str]]) -> None:
    broken = terminal.home / "broken.db"
    broken.write_bytes(b"no database at all " * 1_000)
    done = terminal.here("archive", *command(terminal), GROUNDWIRE_ARCHIVE_PATH=str(broken))
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("Error: ")
    assert "broken.db" in done.stderr
    assert done.stderr.count("\n") == 1
    (aside,) = terminal.home.glob("broken.db.corrupt-*Z")
    assert str(aside) in done.stderr
    assert aside.read_bytes() == b"no database at all " * 1_000
    assert terminal.here("archive", "list", GROUNDWIRE_ARCHIVE_PATH=str(broken)).exit_code == 1, "a new one was begun"
    done = terminal.here("archive", *command(terminal), GROUNDWIRE_ARCHIVE_ENABLED="false")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "set archive.enabled = true" in done.stderr


@pytest.mark.usefixtures("file")
def test_as_a_process(terminal: Terminal) -> None:
    done = terminal.run("archive", "search", "whales")
    assert (done.returncode, done.stderr) == (0, "")
    assert "https://a.example/one" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("command", [[], ["search"], ["list"], ["forget"]])
def test_help(command: list[str], terminal: Terminal) -> None:
    done = terminal.here("archive", *command, "--help")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.req("B13")
def test_yesterdays_research_answers_when_there_is_no_network(terminal: Terminal) -> None:
    page = terminal.world.site("articles").page("reciprocal-rank-fusion")
    kept = {
        "GROUNDWIRE_ARCHIVE_PATH": str(terminal.home / "kept.db"),
        "GROUNDWIRE_STORAGE_URL": "memory://",  # no cache helps: only the archive outlives the process
    }
    assert terminal.run("search", "reciprocal rank fusion", **kept).returncode == 0
    read = terminal.run("open", page, **kept)
    assert read.returncode == 0
    terminal.world.stop()
    found = terminal.run("search", "lists that are merged by their ranks", **kept)
    assert found.returncode == 0
    assert "Reciprocal rank fusion" in found.stdout
    assert "archive" in found.stdout
    assert "Note: from an earlier search, seen on 20" in found.stderr
    again = terminal.run("open", page, **kept)
    assert again.returncode == 0
    assert "archive" in again.stdout + again.stderr
    assert read.stdout.splitlines()[-1] in again.stdout
    searched = terminal.here("archive", "search", "merged ranks", **kept)
    assert searched.exit_code == 0
    assert "Reciprocal rank fusion" in searched.stdout
    assert "T00:00:00" not in searched.stdout
    assert terminal.run("search", "zebra xylophone", **kept).returncode == 3, "what was never seen is no answer"
    assert terminal.run("open", f"{page}-unread", **kept).returncode == 3
