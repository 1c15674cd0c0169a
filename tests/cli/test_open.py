"""`groundwire open`, in this process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from groundwire.cli import group
from groundwire.tools import OpenPageToolResult

Terminal = Any  # see conftest.py


def _article(terminal: Terminal) -> str:
    site = terminal.world.site("articles")
    return str(site.page(next(iter(site.pages))))


@pytest.mark.req("Y17")
def test_a_page_as_markdown(terminal: Terminal) -> None:
    url = _article(terminal)
    done = terminal.here("open", url)
    assert (done.exit_code, done.stderr) == (0, "")
    head, _, content = done.stdout.partition("\n\n")
    assert head.splitlines()[0].startswith("# ")
    assert f"URL: {url}" in head
    assert "characters, the whole page" in head
    assert len(content) > 500

    cut = terminal.here("open", url, "--max-length", "300")
    assert cut.exit_code == 0
    assert "characters, cut" in cut.stdout.partition("\n\n")[0]
    assert len(cut.stdout.partition("\n\n")[2].rstrip("\n")) <= 300


@pytest.mark.req("Y3", "Y17")
def test_json_is_the_tools_result_and_nothing_else(terminal: Terminal) -> None:
    done = terminal.here("open", _article(terminal), "--max-length", "300", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)) == set(OpenPageToolResult.model_fields)
    page = OpenPageToolResult.model_validate_json(done.stdout)
    assert (page.status, page.truncated, page.content_length) == ("success", True, len(page.content))


WRONG = {
    "file": ("file://elsewhere/etc/passwd", "The URL names no file on this machine. Write file:///"),
    "no scheme": ("example", "The URL has no scheme. Add https:// in front"),
    "no scheme, in German": (
        "bücher.example/a",
        "The URL has no scheme. Add https:// in front: https://bücher.example/a",
    ),
    "space": ("https://exa mple.org/", "The URL has a space. Percent-encode it"),
    "long": ("https://example.org/" + "a" * 9_980, "The URL has 10,000 characters. "),
    "Windows path": (
        r"C:\Users\me\nope.pdf",
        "The URL is a path without a host. Pass https://, the host, and the path;",
    ),
    "empty": ("", "The URL is empty"),
}


@pytest.mark.req("Y13")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_exit_code_2(case: str, terminal: Terminal) -> None:
    url, said = WRONG[case]
    done = terminal.here("open", url)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    done = terminal.here("open", url, "--json")
    page = OpenPageToolResult.model_validate_json(done.stdout)
    assert (done.exit_code, done.stderr, page.status) == (2, "", "error")
    assert said.removeprefix("The URL ") in page.error


def test_a_name_that_may_be_meant_as_a_file_is_named_as_one(terminal: Terminal) -> None:
    done = terminal.here("open", "notes.nosuchending")
    assert (
        done.exit_code,
        "There is no file notes.nosuchending here, so it was taken for an address." in done.stderr,
    ) == (3, True)
    assert "There is no file" not in terminal.here("open", "https://notes.nosuchending/").stderr
    piped = terminal.here("open", "-", typed="https://notes.nosuchending/")
    assert (piped.exit_code, "There is no file" in piped.stderr) == (3, False)


@pytest.mark.req("B39")
def test_a_file_is_read_by_every_way_to_name_it(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nThe harbor freezes in February.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("notes.md", "./notes.md", str(path), path.as_uri()):
        done = terminal.here("open", name)
        assert (done.exit_code, done.stdout.splitlines()[:2]) == (0, ["# Notes", f"URL: {path.as_uri()}"])
    done = terminal.run("open", "notes.md", "--json", "-q", "when does it freeze")
    assert OpenPageToolResult.model_validate_json(done.stdout).title == "Notes"
    os.mkfifo("pipe")
    for name, says in (
        ("./none.md", "There is no file"),
        ("none/none.md", "There is no file"),
        ("pipe", "is a device or a pipe, not a file"),
        (str(tmp_path), "is a folder. Search its files with `groundwire search --in FOLDER"),
        ("/dev/null", "is a device or a pipe, not a file"),
    ):
        done = terminal.here("open", name)
        assert (done.exit_code, done.stdout, says in done.stderr, done.stderr.count("\n")) == (3, "", True, 1)


@pytest.mark.req("B39")
def test_standard_input_names_no_file(terminal: Terminal, tmp_path: Path) -> None:
    """The lines may come from a page or a model."""
    (tmp_path / "notes.md").write_text("The harbor freezes.", encoding="utf-8")
    done = terminal.here("open", "-", typed=(tmp_path / "notes.md").as_uri())
    assert (done.exit_code, "no folder is allowed" in done.stderr, "freezes" in done.stdout) == (3, True, False)
    typed = (tmp_path / "notes.md").as_uri()
    done = terminal.here("open", "-", typed=typed, GROUNDWIRE_POLICY_FILES=str(tmp_path))
    assert (done.exit_code, "freezes" in done.stdout) == (0, True)


def test_wrong_options(terminal: Terminal) -> None:
    done = terminal.here("open", "https://example.org/", "--max-length", "0")
    assert done.exit_code == 2
    assert "Error: --max-length is 0. Pass a whole number from 1 to" in done.stderr
    done = terminal.here("open", "https://example.org/", "--max-length", "all", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Invalid value for '-m' / '--max-length': 'all' is not a valid integer." in done.stderr
    assert terminal.here("open").exit_code == 2
    assert terminal.here("open", "https://a.example/", "https://b.example/", "--cursor", "#2").exit_code == 2


FAILING = {
    "no name": ("http://nowhere.invalid/", "nowhere.invalid"),
    "204": ("{corner}/204", "no content (HTTP 204)."),
    "image": ("{corner}/image", "an image, which cannot be read as text."),
    "empty body": ("{corner}/empty", "empty (HTTP 200, no body)."),
    "404": ("{corner}/nowhere", "no such page (HTTP 404). Check the URL."),
    "private": ("http://10.0.0.1/", "not allowed"),
    "no port": ("{closed}/", "not allowed"),
    "never begins": ("{hang}", "in time"),
    "never ends": ("{endless}", ""),
}


@pytest.mark.req("Y15")
@pytest.mark.parametrize("case", FAILING)
def test_a_page_that_cannot_be_had_is_exit_code_3(case: str, terminal: Terminal) -> None:
    slow = terminal.world.site("slow")
    address, said = FAILING[case]
    url = address.format(
        corner=terminal.corner.url,
        closed=terminal.world.closed_url,
        hang=slow.page("hang"),
        endless=slow.page("endless"),
    )
    done = terminal.here("open", url, "--timeout", "1" if case.startswith("never") else "60")
    assert (done.exit_code, done.stdout) == (3, "")
    assert said in done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    if case == "never ends":
        return
    done = terminal.here("open", url, "--timeout", "1", "--json")
    page = OpenPageToolResult.model_validate_json(done.stdout)
    assert (done.exit_code, done.stderr, page.status, page.url) == (3, "", "error", url)
    assert page.error.partition(": ")[2] in said or said.partition(" ")[2].partition(" ")[2] in page.error


def test_nothing_on_a_page_steers_the_terminal(terminal: Terminal) -> None:
    for arguments in (["open"], ["open", "--json"]):
        done = terminal.here(*arguments, f"{terminal.corner.url}/steering")
        assert done.exit_code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout)
        assert "More text." in done.stdout


@pytest.mark.req("B8")
def test_a_part_of_a_page(terminal: Terminal) -> None:
    url = _article(terminal)
    outline = terminal.here("open", url, "--sections")
    assert (outline.exit_code, outline.stderr) == (0, "")
    assert outline.stdout.splitlines()[0].startswith("   #1 ")
    listed = json.loads(terminal.here("open", url, "--sections", "--json").stdout)
    assert (listed["url"], len(listed["sections"])) == (url, len(outline.stdout.splitlines()))
    links = json.loads(terminal.here("open", url, "--links", "--json").stdout)
    assert links == {"url": url, "links": terminal.here("open", url, "--links").stdout.splitlines()}
    second = outline.stdout.splitlines()[1].split(maxsplit=1)[1].rpartition(" (")[0]
    section = terminal.here("open", url, "--cursor", "#2").stdout.partition("\n\n")[2]
    assert section.lstrip("# ").startswith(second)
    cut = json.loads(terminal.here("open", url, "--max-tokens", "60", "--json").stdout)
    assert cut["truncated"]
    following = json.loads(terminal.here("open", url, "--cursor", cut["next_cursor"], "--json").stdout)
    assert following["start"] == cut["end"]
    asked = terminal.here("open", url, "--query", "keyword index formula", "--max-length", "500")
    assert "\n[@" in asked.stdout
    assert "Found: " in terminal.here("open", url, "--find", "bm25").stdout


def test_two_ways_to_ask_at_once_are_refused(terminal: Terminal) -> None:
    done = terminal.here("open", _article(terminal), "--query", "a", "--find", "b")
    assert done.exit_code == 2
    assert "find cannot be given together with query" in done.stderr


def test_several_pages_at_once(terminal: Terminal) -> None:
    site = terminal.world.site("articles")
    first, second = (str(site.page(path)) for path in list(site.pages)[:2])
    done = terminal.here("open", first, second)
    assert (done.exit_code, done.stdout.count("URL: http")) == (0, 2)
    gone = f"{site.url}/gone"
    done = terminal.here("open", first, gone, "--json")
    rows = [OpenPageToolResult.model_validate_json(line) for line in done.stdout.splitlines()]
    assert (done.exit_code, [row.status for row in rows]) == (3, ["success", "error"])
    done = terminal.here("open", first, gone)
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {gone}: ")
    done = terminal.here("open", first, second, "--cursor", "#2")
    assert (done.exit_code, "give one URL" in done.stderr) == (2, True)


def test_urls_come_from_standard_input(terminal: Terminal) -> None:
    urls = [terminal.world.site("articles").page(name) for name in ("bm25", "reciprocal-rank-fusion")]
    runner = CliRunner(env=terminal.environment)
    done = runner.invoke(group, ["open", "-", "--json"], input="\n".join(urls), prog_name="groundwire")
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == urls
    empty = runner.invoke(group, ["open", "-"], input="", prog_name="groundwire")
    assert (empty.exit_code, "Standard input has no URL." in empty.stderr) == (2, True)


@pytest.mark.req("B33")
def test_a_local_address_names_the_setting_that_allows_it(terminal: Terminal) -> None:
    done = terminal.here("open", "http://localhost:8000/")
    assert done.exit_code == 3
    assert "policy.allowed_origins" in done.stderr
