"""The command as a process: streams, signals, pipes, terminals, and what it says without a traceback."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from groundwire import __version__
from groundwire.tools import WebSearchToolResult

Terminal = Any  # see conftest.py
QUERY = "reciprocal rank fusion"


def test_exit_codes_and_streams(terminal: Terminal) -> None:
    warm, terminal.python = terminal.python, sys.executable
    found = terminal.run("search", QUERY, "--limit", "1")
    terminal.python = warm
    assert (found.returncode, found.stdout.splitlines()[0]) == (0, " 1. Reciprocal rank fusion")
    assert "\x1b" not in found.stdout + found.stderr
    nothing = terminal.run("search", "zzzyyyxxx", "--json")
    assert (nothing.returncode, nothing.stdout, nothing.stderr[:16]) == (1, "", "No results found")
    wrong = terminal.run("search", "--limit", "0", "--format", "json", b"not UTF-8: \xff")
    assert (wrong.returncode, wrong.stderr) == (2, "")
    assert WebSearchToolResult.model_validate_json(wrong.stdout).error.startswith("limit: is 0.")
    nothing_kept = {"GROUNDWIRE_ARCHIVE_ENABLED": "false", "GROUNDWIRE_CACHE_ENABLED": "false"}
    closed = {"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": terminal.world.closed_url}
    failed = terminal.run("search", QUERY, **closed, **nothing_kept)
    assert (failed.returncode, failed.stdout) == (3, "")
    assert failed.stderr.startswith("Error: Web search unavailable: searxng: 127.0.0.1:")
    assert "Traceback" not in failed.stderr


def test_what_a_command_did_not_close_is_told_where_warnings_are_shown(terminal: Terminal) -> None:
    script = (
        "import asyncio, sys, aiohttp\n"
        "from groundwire import cli\n"
        "async def leave_open():\n"
        "    held = [aiohttp.ClientSession()]\n"
        "    held.append(held)  # as most are: only a search for garbage finds it\n"
        "cli.group = lambda prog_name: (asyncio.run(leave_open()), sys.exit())\n"
        "cli.main()\n"
    )
    for python in (terminal.python, sys.executable):
        command = [python, "-c", script]
        done = subprocess.run(command, env=terminal.environment, capture_output=True, text=True, check=True)
        assert "Unclosed client session" in done.stderr


def test_the_group(terminal: Terminal) -> None:
    assert terminal.run("--version").stdout == f"groundwire, version {__version__}\n"
    bare = terminal.run()
    assert bare.returncode == 2
    assert bare.stderr == terminal.run("--help").stdout  # once, and not as an error
    unknown = terminal.here("serch", "x")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "No such command 'serch'. Did you mean 'search'?" in unknown.stderr
    assert "No such command 'bm25'. To search the web: groundwire search QUERY." in terminal.here("bm25", "x").stderr
    assert "Did you mean 'search, with the variable GROUNDWIRE_RECORD'?" in terminal.here("record", "x.py").stderr
    assert terminal.here("--nonsense").exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["search"],
        ["open"],
        ["demo"],
        ["config"],
        ["config", "show"],
        ["mcp"],
        ["mcp", "install"],
        ["setup"],
        ["doctor"],
        ["providers"],
    ],
)
def test_help(command: list[str], terminal: Terminal) -> None:
    long, short = terminal.here(*command, "--help"), terminal.here(*command, "-h")
    assert long.exit_code == 0
    assert long.stdout == short.stdout
    assert long.stdout.startswith("Usage: groundwire")
    assert max(map(len, long.stdout.splitlines())) <= 80


def test_a_reader_that_goes_away_ends_it_quietly(terminal: Terminal) -> None:
    terminal.python = sys.executable
    with terminal.start("open", f"{terminal.corner.url}/long", "--max-length", "9000000") as process:
        assert process.stdout.read(10)
        process.stdout.close()
        error = process.stderr.read()
        assert (process.wait(100), error) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")  # noqa: PTH110
def test_a_full_disk_is_said(terminal: Terminal) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with terminal.start("search", QUERY, stdout=full) as process:
            error = process.stderr.read()
    finally:
        os.close(full)
    assert (process.returncode, error) == (
        3,
        b"Error: the output: No space left on device. Free space on its disk, or write to another one.\n",
    )


def test_control_c_ends_it_at_once(terminal: Terminal) -> None:
    terminal.python = sys.executable
    slow = terminal.world.site("slow")
    with terminal.start("open", slow.page("hang")) as process:
        slow.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=100)
    assert (process.returncode, output, error) == (130, b"", b"Interrupted.\n")


def test_a_thread_that_cannot_be_stopped_does_not_hold_up_the_end(terminal: Terminal) -> None:
    terminal.python = sys.executable
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with terminal.start(
            "search", "x", "-p", "duckduckgo", "--timeout", "600", GROUNDWIRE_NETWORK_PROXY=proxy
        ) as process:
            asking, _ = silent.accept()  # from now on ddgs waits for an answer that never comes
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=100)
            asking.close()
    assert (process.returncode, error) == (130, b"Interrupted.\n")


def test_an_encoding_without_the_signs_of_the_page(terminal: Terminal) -> None:
    terminal.python = sys.executable
    url = terminal.world.site("legacy").page("gbk-header")
    done = terminal.run("open", url, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "# ?????" in done.stdout


def test_a_fault_of_our_own_is_said_without_a_traceback(terminal: Terminal) -> None:
    script = (
        "import click, groundwire.cli as cli\n"
        "@cli.group.command()\n"
        "def broken(): raise RuntimeError('secret')\n"
        "cli.main()\n"
    )
    for before in ([], ["-v"]):
        done = subprocess.run(
            [terminal.python, "-c", script, *before, "broken"],
            env=terminal.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert "Error: Internal error (RuntimeError). Run groundwire -v ... for details." in done.stderr
        assert ("Traceback" in done.stderr) is bool(before)


def _on_a_terminal(terminal: Terminal, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run with a pseudo terminal as standard output and standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [terminal.python, "-m", "groundwire", *arguments],
        env=terminal.environment | {"TERM": "xterm-256color", "COLUMNS": "80"} | variables,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=terminal.home,
    )
    os.close(theirs)
    seen = b""
    try:
        while select.select([ours], [], [], 100)[0]:
            try:
                seen += os.read(ours, 65_536)
            except OSError:  # the last writer has gone
                break
    finally:
        os.close(ours)
    return process.wait(100), seen.decode()


def test_a_spinner_and_colors_on_a_terminal_only(terminal: Terminal) -> None:
    code, seen = _on_a_terminal(terminal, "search", QUERY, "--limit", "1")
    assert code == 0
    assert "Searching" in seen
    assert "\x1b[1mReciprocal rank fusion\x1b[0m" in seen
    assert re.search(r"\x1b\]8;;(http://[^\x1b]+)\x1b\\\x1b\[34m\1\x1b\[0m\x1b\]8;;\x1b\\", seen)
    assert seen.rindex("\x1b[?25h") < seen.index("Reciprocal rank fusion")  # the cursor is back before the list

    pages = [terminal.world.site("articles").page(name) for name in ("bm25", "reciprocal-rank-fusion")]
    code, seen = _on_a_terminal(terminal, "open", *pages)
    assert (code, "Opening 2 pages" in seen) == (0, True)

    code, seen = _on_a_terminal(terminal, "search", QUERY, "--limit", "1", NO_COLOR="1")
    assert code == 0
    assert "[1m" not in seen
    assert "]8;;" not in seen
    assert "[32m" not in seen

    code, seen = _on_a_terminal(terminal, "search", QUERY, "--limit", "1", TERM="dumb")
    assert (code, "\x1b" in seen) == (0, False)


@pytest.mark.req("Y11", "H2")
def test_the_demo_needs_nothing(terminal: Terminal) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "groundwire", "demo"], env={}, capture_output=True, timeout=100, check=False
    )
    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    steps = ["World", "Search", "searxng:first: rate_limited (HTTP 429)", "ok   searxng:second", "Open", "ok   local"]
    places = [shown.index(step) for step in (*steps, "Cite", "[1].", "Sources", "(opened)", "groundwire search")]
    assert places == sorted(places)


@pytest.mark.req("B33")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_are_no_fault(terminal: Terminal, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m groundwire config path {closed}', sys.executable],
        env=terminal.environment,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert b"failed" not in done.stderr


@pytest.mark.req("B33")
def test_a_file_that_cannot_be_written_is_named_with_the_remedy(terminal: Terminal) -> None:
    missing = terminal.home / "none" / "page.md"
    taken = terminal.home / "taken"
    taken.write_text("a file, not a folder")
    done = terminal.here("read", terminal.world.site("articles").url, "--output", taken / "pages.jsonl")
    assert (done.exit_code, done.stderr) == (3, f"Error: {taken}: File exists. Check the path.\n")
    settings = terminal.home / "groundwire.toml"
    settings.symlink_to(missing)
    done = terminal.here("demo", "--serve", "--port", "0")
    assert done.exit_code == 2
    assert f"Error: {settings} cannot be written: No such file or directory. Run this in an empty" in done.stderr
