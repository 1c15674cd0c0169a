"""Every command, in terminals of three widths: no word and no address is broken."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator
from typing import Any

import click
import pytest

from groundwire.cli import group
from groundwire.cli.terminal_text import cells
from groundwire.testing import InjectedFault

Terminal = Any  # see conftest.py
QUERY = "reciprocal rank fusion"
WIDTHS = (60, 80, 120)
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;;[^\x1b]*\x1b\\\\")
_SEPARATE = re.compile(r"[\s,:]+")  # a table that does not fit is written as a list


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None
                yield from _commands(child, (*path, name))


COMMANDS = tuple(_commands(group))
OUTPUTS = {
    "demo": ["demo"],
    "search": ["search", QUERY],
    "nothing found": ["search", "zzzyyyxxx"],
    "filters": ["search", QUERY, "--after", "2020-01-01", "--region", "de"],
    "page": ["open", "{page}"],
    "sections": ["open", "{page}", "--sections"],
    "links": ["open", "{page}", "--links"],
    "quotes": ["ask", "--quote", "Which constant is usual in reciprocal rank fusion?"],
    "archive search": ["archive", "search", "rank"],
    "archive list": ["archive", "list"],
    "archive import": ["archive", "import", "{answer}"],
    "verify": ["verify", "{answer}", "{answer}"],
    "doctor": ["doctor", "--offline"],
    "providers": ["providers"],
    "stats": ["stats", "--targets"],
    "session": ["session", "research"],
    "config": ["config"],
    "all settings": ["config", "show", "--all"],
    "paths": ["config", "path"],
    "set": ["config", "set", "search.limit", "4"],
    "mcp install": ["mcp", "install", "cursor", "--print"],
    "extension": ["export", "extension", "{home}/extension"],
    "skill": ["export", "skill", "{home}/skills"],
    "keys": ["keys", "list"],
}
ERRORS = {
    "no such command": ["serch"],
    "no such option": ["search", QUERY, "--maximum-results", "3"],
    "no argument": ["search"],
    "an option of another program": ["search", QUERY, "--engine", "google"],
    "too many": ["search", QUERY, "--limit", "900"],
    "no page": ["open", "{page}-that-is-not-there"],
    "no address": ["open", "ftp://example.org/a-file-of-another-time.txt"],
    "blocked": ["open", "http://10.0.0.1/a-private-page-that-nobody-may-open"],
    "no setting": ["config", "set", "search.limmit", "4"],
    "no provider": ["search", QUERY, "--provider", "serxng"],
    "no key": ["search", QUERY, "--provider", "brave"],
    "no file": ["verify", "{home}/a-file-that-is-not-there.md", "--session", "research"],
    "no sources": ["verify", "{answer}"],
    "no terminal": ["setup"],
    "no model": ["ask", "What?", "--base-url", "http://127.0.0.1:9/v1", "--model", "a-model"],
    "no client": ["mcp", "install", "a-client-nobody-knows"],
    "no extra words": ["keys", "revoke", "a-key-nobody-made"],
}


def _plain(text: str) -> str:
    return re.sub(r"\d+", "0", _STYLE.sub("", text))


def _whole(shown: str, unwrapped: str, columns: int) -> None:
    """Fail if a word of several lines is broken, or if a line of several words is wider than the terminal."""
    broken = set(_SEPARATE.split(_plain(shown))) - set(_SEPARATE.split(_plain(unwrapped)))
    assert not broken
    lines = [line.rstrip() for line in _STYLE.sub("", shown).splitlines()]
    assert [line for line in lines if cells(line) > columns and len(line.split()) > 1 and not _bar(line)] == []


def _bar(line: str) -> bool:
    """Return whether a line is a quoted one, whose mark stays before the word that is too long."""
    return len(line.lstrip(" |>-*0123456789.[]").split()) == 1


@pytest.fixture
def prepared(terminal: Terminal) -> Terminal:
    terminal.variables["GROUNDWIRE_STORAGE_TIMEOUT"] = "60"  # a busy disk adds a note to one of the outputs compared
    terminal.here("search", QUERY)
    (terminal.home / "answer.md").write_text("The usual constant is 60 [1]. It was found by chance in 2019 [1].\n")
    return terminal


def _filled(terminal: Terminal, arguments: list[str]) -> list[str]:
    values = {
        "page": terminal.world.site("articles").page("reciprocal-rank-fusion"),
        "answer": str(terminal.home / "answer.md"),
        "searxng": terminal.world.searxng.url,
        "home": str(terminal.home),
    }
    return [argument.format(**values) for argument in arguments]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help(command: tuple[str, ...], columns: int, terminal: Terminal) -> None:
    done = terminal.here(*command, "--help", COLUMNS=str(columns))
    assert done.exit_code == 0
    _whole(done.stdout, terminal.here(*command, "--help", COLUMNS="100").stdout, columns)


@pytest.mark.req("Y4")
@pytest.mark.parametrize("name", [*OUTPUTS, *ERRORS])
def test_output_and_errors(name: str, prepared: Terminal) -> None:
    arguments = _filled(prepared, (OUTPUTS | ERRORS)[name])
    prepared.here(*arguments)  # what a first run writes, a second one finds
    unwrapped = prepared.here(*arguments)
    assert (unwrapped.exit_code == 0) is (name in OUTPUTS and name not in {"nothing found", "archive import"})
    for columns in WIDTHS:
        shown = prepared.here(*arguments, COLUMNS=str(columns))
        _whole(shown.output, unwrapped.output, columns)


def test_seven_commands_are_first(terminal: Terminal) -> None:
    text = terminal.here("--help").stdout
    first, _, more = text.partition("Commands:\n")[2].partition("More commands:\n")
    assert len(first.strip().splitlines()) == 7
    assert {"  config ", "  stats "} <= {line[:9] if line[2] == "c" else line[:8] for line in more.splitlines() if line}


def _on_a_terminal(terminal: Terminal, columns: int, *arguments: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [terminal.python, "-m", "groundwire", *arguments],
        env=terminal.environment | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=terminal.home,
    )
    os.close(theirs)
    seen = b""
    with os.fdopen(ours, "rb", buffering=0) as screen:
        try:
            while piece := screen.read(65_536):
                seen += piece
        except OSError:  # the last writer has gone
            pass
    process.wait(100)
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(
    "arguments", [["demo"], ["open", "{page}", "--quiet"], ["archive", "list"], ["serch"]], ids=" ".join
)
def test_on_a_real_terminal(arguments: list[str], columns: int, prepared: Terminal) -> None:
    filled = _filled(prepared, arguments)
    shown = _on_a_terminal(prepared, columns, *filled)
    _whole(shown, prepared.here(*filled).output, columns)


@pytest.mark.req("H2")
def test_a_failure_is_a_sentence_and_a_remedy(terminal: Terminal) -> None:
    terminal.world.searxng.fail(InjectedFault.reset(), times=None)
    second = terminal.world.add_searxng("second")
    second.fail(InjectedFault.reset(), times=None)
    (terminal.home / "groundwire.toml").write_text(f'[providers."searxng:second"]\nbase_url = "{second.url}"\n')
    both = {"GROUNDWIRE_SEARCH_PROVIDERS": "searxng,searxng:second"}
    said = terminal.here("search", QUERY, **both).stderr
    assert said == (
        "Error: Web search unavailable: searxng and searxng:second could not be reached. "
        "Check that this machine is online; groundwire doctor finds the cause.\n"
    )
    detailed = terminal.here("-v", "search", QUERY, **both).stderr
    assert said in detailed
    assert f"127.0.0.1:{second.url.rpartition(':')[2]} closed the connection" in detailed
