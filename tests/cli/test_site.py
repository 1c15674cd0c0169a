"""`groundwire map` and `groundwire read`."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from components.held import Held
from components.whole_site import WholeSite
from groundwire.testing import InjectedFault

Terminal = Any  # see conftest.py

pytestmark = pytest.mark.req("B40")


@pytest.fixture
def site(terminal: Terminal) -> WholeSite:
    made: WholeSite = terminal.world.add(WholeSite(pages=60))
    terminal.variables["GROUNDWIRE_POLICY_ALLOWED_ORIGINS"] = made.url
    return made


def test_a_map_is_read_by_the_next_command(terminal: Terminal, site: WholeSite) -> None:
    done = terminal.run("map", f"{site.url}/docs/", "--limit", "10", "--depth", "9")
    assert done.returncode == 0
    urls = done.stdout.splitlines()
    assert (len(urls), urls[0]) == (10, f"{site.url}/docs/")
    assert "Note: the map ends at 10 addresses, its limit; the site has more" in done.stderr

    rows = terminal.here("map", f"{site.url}/docs/", "--limit", "10", "--depth", "9", "--json")
    assert [json.loads(row)["url"] for row in rows.stdout.splitlines()] == urls
    read = terminal.here("read", "-", "-o", "docs", "--delay", "0", typed=rows.stdout)
    assert read.exit_code == 3
    assert f"Error: {site.url}/docs/news: There is no such page (HTTP 404)" in read.stderr
    assert "9 pages read, 1 failed" in read.stderr
    assert read.stderr.count("There is no such page") == 1
    assert len(list((terminal.home / "docs").rglob("*.md"))) == 9


def test_what_a_site_forbids_is_an_error(terminal: Terminal, site: WholeSite) -> None:
    site.rules = "User-agent: *\nDisallow: /\n"
    done = terminal.here("map", f"{site.url}/docs/")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "robots.txt disallows this page" in done.stderr


def test_bad_lines_are_named_and_the_others_read(terminal: Terminal, site: WholeSite) -> None:
    file = terminal.home / "urls.txt"
    file.write_text(f"# docs\n{site.url}/docs/page-1\n\nmailto:a@b.example\n{site.url}/docs/page-2\n{{broken\n")
    done = terminal.here("read", str(file), "--delay", "0")
    assert done.exit_code == 3
    assert {json.loads(row)["url"] for row in done.stdout.splitlines()} == {f"{site.url}/docs/page-{n}" for n in (1, 2)}
    assert f"{file}, line 4: The URL has the scheme mailto:" in done.stderr
    assert f"{file}, line 6: The URL " in done.stderr
    assert "lines that are not addresses: 2" in done.stderr

    missing = terminal.here("read", "missing.txt")
    assert missing.exit_code == 2
    assert "Error: 'missing.txt' is the name of a file that does not exist. Check the path." in missing.stderr
    (terminal.home / "paper").write_bytes(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n")
    (terminal.home / "mended.pdf").write_bytes(
        b"Warning: no such font\n%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"
    )
    assert "is a PDF document" in terminal.here("read", str(terminal.home / "mended.pdf")).stderr
    folder = terminal.here("read", str(terminal.home))
    assert (folder.exit_code, "is a folder and no list of addresses. To search its files" in folder.stderr) == (2, True)
    taken = terminal.here("read", f"{site.url}/docs/page-1", "-o", str(terminal.home / "paper"))
    assert (taken.exit_code, "paper is a file. Name a folder, or a file that ends" in taken.stderr) == (2, True)
    document = terminal.here("read", str(terminal.home / "paper"))
    assert (document.exit_code, document.stderr.count("\n")) == (2, 1)
    assert "is a PDF document and no list of addresses. To read the file itself: groundwire open" in document.stderr


@pytest.mark.parametrize("output", ["pages", "pages.jsonl"])
def test_a_killed_run_goes_on_without_loss_or_repetition(terminal: Terminal, site: WholeSite, output: str) -> None:
    terminal.python = sys.executable
    (terminal.home / "urls.txt").write_text("".join(f"{site.url}{path}\n" for path in site.articles))
    held = Held()
    site.fail(held.fault, times=None, when=lambda request: request.path in site.articles[40:])
    command = ("read", "urls.txt", "-o", output, "--delay", "0")
    process = terminal.start(*command)
    site.wait_for_requests(42)  # forty pages, and the two that are held
    process.send_signal(signal.SIGKILL)
    process.communicate()
    held.release()
    state = terminal.home / ("pages.jsonl.state" if output.endswith("l") else "pages/.groundwire-state.jsonl")
    before = [json.loads(line)["url"] for line in state.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert 30 <= len(before) <= 40
    site.forget()

    done = terminal.run(*command)
    assert done.returncode == 0, done.stderr
    assert f"{60 - len(before)} pages read, 0 failed" in done.stderr
    assert f"{len(before)} done before" in done.stderr
    urls = [f"{site.url}{path}" for path in site.articles]
    assert set(site.paths()).isdisjoint(url.removeprefix(site.url) for url in before)
    path = terminal.home / output
    if path.is_dir():
        pages = [json.loads(file.read_text().splitlines()[1].removeprefix("url: ")) for file in path.rglob("*.md")]
    else:
        pages = [json.loads(line)["url"] for line in path.read_text().splitlines()]
    assert sorted(pages) == sorted(urls)
    assert [file.name for file in terminal.home.rglob("*.part")] == []


def test_progress_says_how_long_it_takes(terminal: Terminal, site: WholeSite) -> None:
    site.articles = [f"/docs/page-{number}" for number in range(150)]
    (terminal.home / "urls.txt").write_text("".join(f"{site.url}{path}\n" for path in site.articles))
    done = terminal.here("read", "urls.txt", "-o", "out", "--delay", "0")
    first, last = done.stderr.splitlines()
    assert first.startswith("100 pages read, 0 failed, ")
    assert ", 50 to go, about " in first
    assert last.startswith("150 pages read, 0 failed, ")
    assert terminal.here("read", "urls.txt", "-o", "out", "--quiet").stderr == ""


def test_what_was_read_is_searched_by_site(terminal: Terminal, site: WholeSite) -> None:
    assert terminal.here("read", f"{site.url}/docs/page-7", "-o", "out").exit_code == 0
    found = terminal.here(
        "search", "--provider", "archive", "--site", "127.0.0.1", "lock keeper of that mile", "--json"
    )
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[0])["url"] == f"{site.url}/docs/page-7"


def test_a_refused_page_is_a_failure_that_names_its_cause(terminal: Terminal, site: WholeSite, tmp_path: Path) -> None:
    site.fail(InjectedFault.status(403), times=None)
    done = terminal.here("read", f"{site.url}/docs/page-1", f"{site.url}/docs/page-2", "-o", "out", "--delay", "0")
    assert done.exit_code == 3
    assert "2 not read: The site refuses access to the page (HTTP 403)." in done.stderr
    again = terminal.here("read", f"{site.url}/docs/page-1", f"{site.url}/docs/page-2", "-o", "out", "--delay", "0")
    assert again.exit_code == 3
    assert "2 could not be read in an earlier run" in again.stderr
    assert len(site.requests) == 2
