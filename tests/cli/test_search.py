"""`groundwire search`, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from components.held import Held
from groundwire.cli.terminal_text import cells
from groundwire.models import SearchResult
from groundwire.testing import InjectedFault
from groundwire.tools import WebSearchToolResult

Terminal = Any  # see conftest.py
QUERY = "reciprocal rank fusion"


def test_a_list_for_people(terminal: Terminal) -> None:
    done = terminal.here("search", QUERY, "--limit", "2", COLUMNS="60")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == " 1. Reciprocal rank fusion"
    assert lines[1].startswith("    http://127.0.0.1:")
    assert lines[-2].startswith("    searxng (miniature) · 20")
    assert "T00:00:00" not in done.stdout
    assert all(cells(line) <= 60 for line in lines if "http://" not in line)
    assert "2 results from searxng in " in done.stderr


def test_the_options_reach_the_service(terminal: Terminal) -> None:
    done = terminal.here(
        "search", "a", "b", "-n", "3", "-t", "y", "-d", "wikipedia.org, a.org", "-x", "b.org", "--language", "de"
    )
    assert done.exit_code in {0, 1}
    asked = terminal.world.searxng.requests[0].query
    assert asked["q"].startswith("a b (site:wikipedia.org OR site:a.org)")
    assert (asked["time_range"], asked["language"]) == ("year", "de")


def test_safe_search_has_the_words_of_other_tools(terminal: Terminal) -> None:
    done = terminal.here("search", "a", "--safesearch", "on")  # as ddgs calls it
    assert done.exit_code in {0, 1}, done.stderr
    assert terminal.world.searxng.requests[0].query["safesearch"] == "2"


@pytest.mark.req("Y2", "Y11")
def test_json_is_the_tools_result_and_nothing_else(terminal: Terminal) -> None:
    done = terminal.here("search", QUERY, "--limit", "2", "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert set(found) == set(WebSearchToolResult.model_fields)
    result = WebSearchToolResult.model_validate_json(done.stdout)
    assert [row.citation_id for row in result.results] == [1, 2]
    assert result.status == "success"


@pytest.mark.parametrize("spelled", [["--json"], ["--format", "jsonl"], ["--format=jsonl"]])
def test_json_lines_are_the_results(terminal: Terminal, spelled: list[str]) -> None:
    done = terminal.here("search", QUERY, "--limit", "2", "--after", "2020-01-01", *spelled)
    rows = [TypeAdapter(SearchResult).validate_json(line) for line in done.stdout.splitlines()]
    assert (done.exit_code, [row.citation_id for row in rows]) == (0, [1, 2])
    assert "Note: published_after: " in done.stderr
    assert "2 results from searxng" in done.stderr
    nothing = terminal.here("search", "zzzyyyxxx", *spelled)
    assert (nothing.exit_code, nothing.stdout, nothing.stderr[:16]) == (1, "", "No results found")
    terminal.world.searxng.fail(InjectedFault.status(500), times=None)
    failed = terminal.here("search", "another question", *spelled)
    assert (failed.exit_code, failed.stdout) == (3, "")
    assert failed.stderr.startswith("Error: Web search unavailable: searxng: ")
    wrong = terminal.here("search", QUERY, "--limit", "0", *spelled)
    assert (wrong.exit_code, wrong.stdout) == (2, "")


@pytest.mark.req("B13")
@pytest.mark.parametrize("spoiled", ["x\n", None], ids=["nonsense", "a file in place of its folder"])
def test_an_archive_that_cannot_be_used_is_said(terminal: Terminal, tmp_path: Path, spoiled: str | None) -> None:
    path = tmp_path / "archive.db"
    if spoiled is None:
        path.write_text("a file")
        path /= "archive.db"
    else:
        path.write_text(spoiled)
    done = terminal.here("search", QUERY, GROUNDWIRE_ARCHIVE_ENABLED="true", GROUNDWIRE_ARCHIVE_PATH=str(path))
    assert done.exit_code == 0
    damaged = "the archive of earlier searches was damaged: it was moved aside and recreated"
    said = damaged if spoiled else f"The archive is disabled. {path.parent} is a file, not a folder."
    assert said in " ".join(done.stderr.split())
    again = terminal.here("search", QUERY, GROUNDWIRE_ARCHIVE_ENABLED="true", GROUNDWIRE_ARCHIVE_PATH=str(path))
    assert ("archive" in again.stderr) == (spoiled is None), "the next one works"


def test_nothing_found_is_exit_code_1(terminal: Terminal) -> None:
    done = terminal.here("search", "zzzyyyxxx")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "No results found for: zzzyyyxxx\n")
    done = terminal.here("search", "zzzyyyxxx", GROUNDWIRE_POLICY_ALLOWED_DOMAINS="example.com")
    assert done.exit_code == 1  # that the service works is not asked within the operator's domains
    done = terminal.here("search", "zzzyyyxxx", "--format", "json")
    result = WebSearchToolResult.model_validate_json(done.stdout)
    assert (done.exit_code, result.status, result.results) == (1, "success", ())


@pytest.mark.req("H2", "Y15")
@pytest.mark.parametrize(
    "fault",
    [InjectedFault.status(429), InjectedFault.status(500), InjectedFault.reset(), InjectedFault.status(200, "<p>no")],
)
def test_a_failed_search_is_exit_code_3(fault: InjectedFault, terminal: Terminal) -> None:
    terminal.world.searxng.fail(fault, times=None)
    done = terminal.here("search", QUERY)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("Error: Web search unavailable: searxng: ")
    assert done.stderr.count("\n") == 1
    done = terminal.here("search", QUERY, "--format", "json")
    result = WebSearchToolResult.model_validate_json(done.stdout)
    assert (done.exit_code, done.stderr, result.status) == (3, "", "error")
    assert result.attempts[0].provider == "searxng"


@pytest.mark.req("H2")
def test_a_provider_that_failed_before_another_helped_is_told(terminal: Terminal) -> None:
    terminal.world.searxng.fail(InjectedFault.status(429))
    second = terminal.world.add_searxng("second")
    (terminal.home / "groundwire.toml").write_text(f'[providers."searxng:second"]\nbase_url = "{second.url}"\n')
    done = terminal.here("search", QUERY, GROUNDWIRE_SEARCH_PROVIDERS="searxng,searxng:second")
    assert done.exit_code == 0
    assert "Note: searxng: too many requests (HTTP 429)" in done.stderr
    assert "from searxng:second in " in done.stderr


@pytest.mark.req("B37")
def test_a_provider_that_was_only_slower_than_another_is_not_told(terminal: Terminal) -> None:
    held = Held()
    terminal.world.searxng.fail(held.fault)
    second = terminal.world.add_searxng("second")
    (terminal.home / "groundwire.toml").write_text(f'[providers."searxng:second"]\nbase_url = "{second.url}"\n')
    done = terminal.here("search", QUERY, GROUNDWIRE_SEARCH_PROVIDERS="searxng,searxng:second")
    held.release()
    assert "from searxng:second in " in done.stderr
    assert "Note: searxng" not in done.stderr


WRONG: dict[str, tuple[list[str], str]] = {
    "empty query": (["  "], "The query is empty. Pass the words to look for."),
    "long query": (["a" * 2_001], "The query has 2,001 characters. Shorten it to at most 2,000 characters."),
    "limit 0": (["x", "--limit", "0"], "The limit is 0. Pass a whole number from 1 to 50."),
    "limit 10000": (["x", "--limit", "10000"], "The limit is 10000. Pass a whole number from 1 to 50."),
    "limit ten": (
        ["x", "--limit", "ten"],
        "Invalid value for '-n' / '--limit': 'ten' is not a valid integer.",
    ),
    "time range": (["x", "-t", "decade"], "cannot be 'decade'. Pass one of: day, week, month, year, all."),
    "domain": (["x", "-d", "http://a.org/"], "'http://a.org/', which is not a domain name. Pass bare names such as"),
    "any domain": (["x", "-d", "*"], "has '*', which is not a domain name."),
    "no domain": (["x", "-d", "a.org,"], "has '', which is not a domain name."),
    "language": (["x", "--language", "klingon!"], "language cannot be 'klingon!'. Pass a code such as en"),
    "region": (["x", "--region", "usa"], "The region cannot be 'usa'. Pass a code such as us or de"),
    "timeout": (["x", "--timeout", "0"], "The timeout is 0.0. Pass seconds, more than 0 and at most 600."),
    "not a number": (["x", "--timeout", "nan"], "The timeout is nan. Pass seconds"),
    "provider": (["x", "-p", "serxng"], "'serxng'"),
    "reader": (["x", "-p", "local"], "local cannot search; remove it from search.providers."),
    "no query": ([], "Missing argument 'QUERY...'."),
    "option": (["x", "--limti", "3"], "Did you mean"),
}
USAGE = ("limit ten", "no query", "option")
"""What no search was made of; the others are failures of a search."""


@pytest.mark.req("Y4")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_exit_code_2(case: str, terminal: Terminal) -> None:
    arguments, said = WRONG[case]
    done = terminal.here("search", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    done = terminal.here("search", *arguments, "--format", "json")
    assert done.exit_code == 2
    if case in USAGE:
        assert (done.stdout, said in done.stderr) == ("", True)
    else:
        result = WebSearchToolResult.model_validate_json(done.stdout)
        assert (done.stderr, result.status) == ("", "error")
        plain = said.removeprefix("The ").rstrip(".")
        assert plain in result.error or plain in result.error.replace(": ", " ", 1)
    assert terminal.world.searxng.requests == []


def test_the_message_names_the_option_where_the_field_has_another_name(terminal: Terminal) -> None:
    assert "Error: --time-range cannot be 'never'. " in terminal.here("search", "x", "-t", "never").stderr
    assert "Error: --domain has '?', which is not a domain name. " in terminal.here("search", "x", "-d", "?").stderr
    said = terminal.here("search", "x", "--after", "2026-02-01", "--before", "2026-01-01").stderr
    assert said == "Error: --before is before the first day. Swap the two days.\n"


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_words_are_read_from_a_pipe(arguments: list[str], terminal: Terminal) -> None:
    done = terminal.here("search", *arguments, typed="reciprocal rank\nfusion\n")
    assert done.exit_code == 0
    assert terminal.world.searxng.requests[0].query["q"].split() == ["reciprocal", "rank", "fusion"]


def test_words_after_two_dashes_are_words(terminal: Terminal) -> None:
    done = terminal.here("search", "--", "--json", "--zzzyyyxxx")
    assert done.exit_code in {0, 1}
    assert terminal.world.searxng.requests[0].query["q"] == "--json --zzzyyyxxx"


def test_a_provider_that_was_asked_for_but_cannot_be_used_is_told(terminal: Terminal) -> None:
    done = terminal.here("search", QUERY, "-p", "searxng:other", "-p", "searxng")
    assert done.exit_code == 0
    assert "Note: searxng:other is not configured: " in done.stderr
    done = terminal.here("search", QUERY, "-p", "searxng:other")
    assert done.exit_code == 2
    assert "searxng:other is not configured: " in done.stderr


def test_wrong_settings_are_exit_code_2(terminal: Terminal) -> None:
    done = terminal.here("search", "x", GROUNDWIRE_SEARCH_LIMIT="many")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "search.limit" in done.stderr
    done = terminal.here("search", "x", "--format", "json", GROUNDWIRE_SEARCH_LIMIT="many")
    assert (done.exit_code, done.stderr) == (2, "")
    assert "GROUNDWIRE_SEARCH_LIMIT" in WebSearchToolResult.model_validate_json(done.stdout).error


@pytest.mark.req("H3")
def test_a_bad_documents_variable_is_a_note_and_not_in_the_way(terminal: Terminal) -> None:
    done = terminal.here("search", QUERY, "--format", "json", WEB_SEARCH_SESSION_LIMIT="many")
    assert done.exit_code == 0
    assert done.stderr.startswith("Note: environment WEB_SEARCH_SESSION_LIMIT must be a whole number")
    assert WebSearchToolResult.model_validate_json(done.stdout).status == "success"


def test_nothing_from_a_service_steers_the_terminal(terminal: Terminal) -> None:
    base = {"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": terminal.corner.url}
    for arguments in (["search", "x"], ["search", "x", "--json"], ["-vv", "search", "\x1b[31mx"]):
        done = terminal.here(*arguments, **base)
        assert done.exit_code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout + done.stderr)
        assert "owned" in done.stdout


def test_the_log_is_written_only_when_it_is_asked_for(terminal: Terminal) -> None:
    assert "INFO" not in terminal.here("search", QUERY).stderr
    spoken = terminal.here("-v", "search", QUERY, "--refresh", "--format", "json")
    (line,) = spoken.stderr.splitlines()
    assert line.startswith("INFO groundwire.calls: Web search executed ")
    assert "results=3" in line
    assert "attempts=searxng:ok latency_ms=" in line
    debugged = terminal.here("-vv", "search", QUERY, "--refresh", "--format", "json")
    assert "DEBUG groundwire.cli.call_runner: Asking searxng\n" in debugged.stderr
    assert "searxng ok, HTTP 200 after " in debugged.stderr
    assert WebSearchToolResult.model_validate_json(spoken.stdout).results
    assert "INFO" not in terminal.here("search", QUERY).stderr


def test_what_became_of_filters_is_said(terminal: Terminal) -> None:
    done = terminal.here("search", QUERY, "--after", "2026-01-01")
    assert "Note: published_after: " in done.stderr
    done = terminal.here("search", QUERY, "-d", "nowhere.test")
    assert (done.exit_code, "allowed_domains: sent as part of the query" in done.stderr) == (1, True)


def test_the_log_has_the_facts_of_a_call(terminal: Terminal) -> None:
    (line,) = [one for one in terminal.here("-v", "search", QUERY).stderr.splitlines() if "groundwire.calls" in one]
    assert " provider=searxng " in line
    assert " attempts=searxng:ok " in line
    told = terminal.here("-v", "--log-format", "json", "search", QUERY).stderr
    (record,) = [
        one
        for one in map(json.loads, filter(lambda one: one.startswith("{"), told.splitlines()))
        if one["logger"] == "groundwire.calls"
    ]
    assert (record["provider"], record["level"]) == ("searxng", "INFO")


@pytest.mark.req("B33")
@pytest.mark.parametrize("folder", ["a file", "/proc/nowhere"])
def test_a_cache_folder_that_cannot_be_used_is_said_and_costs_no_answer(terminal: Terminal, folder: str) -> None:
    path = terminal.home / "cache" if folder == "a file" else Path(folder)
    if folder == "a file":
        path.write_text("")
    done = terminal.here("search", QUERY, XDG_CACHE_HOME=str(path))
    assert done.exit_code == 0
    assert "1. " in done.stdout
    why = f"{path} is a file, not a folder." if folder == "a file" else "No such file or directory"
    notes = [line for line in done.stderr.splitlines() if line.startswith("Note: ")]
    assert (len(notes), why in notes[0]) == (1 if folder == "a file" else 2, True), done.stderr


@pytest.mark.req("B33")
def test_a_bundle_without_certificates_is_named(terminal: Terminal, tmp_path: Path) -> None:
    bundle = tmp_path / "corporate.pem"
    bundle.write_text("nothing\n")
    said = terminal.here("search", QUERY, SSL_CERT_FILE=str(bundle))
    assert f"SSL_CERT_FILE names {bundle}, which holds no certificate in PEM format" in said.stderr


@pytest.mark.req("B33")
def test_a_wrong_key_is_told_with_what_replaces_it(terminal: Terminal) -> None:
    brave = terminal.world.service("brave")
    brave.fail(InjectedFault.status(401, "{}"), times=None)
    key = {"GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": brave.url, "BRAVE_API_KEY": "a-key-that-was-revoked"}
    said = terminal.here("search", QUERY, GROUNDWIRE_SEARCH_PROVIDERS="brave", **key)
    assert said.exit_code == 3
    assert "brave: the key is not accepted (HTTP 401). Check the key in BRAVE_API_KEY" in said.stderr
    assert "(HTTP 401). Check the key in BRAVE_API_KEY or BRAVE_SEARCH_API_KEY, or replace" in said.stderr
    assert "or replace it with groundwire setup" in said.stderr
    assert "revoked" not in said.output


@pytest.mark.req("B33")
def test_attempts_that_failed_alike_are_told_once(terminal: Terminal) -> None:
    keep = {"GROUNDWIRE_ARCHIVE_ENABLED": "true", "GROUNDWIRE_ARCHIVE_PATH": str(terminal.home / "archive.db")}
    assert terminal.here("search", QUERY, **keep).exit_code == 0
    dead = {"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "http://127.0.0.1:9", "GROUNDWIRE_STORAGE_URL": "memory://"}
    said = terminal.here("search", QUERY, **keep, **dead)
    assert (said.exit_code, "from archive" in said.stderr) == (0, True)
    assert said.stderr.count("refused the connection") == 1


@pytest.mark.req("B33")
def test_a_failing_command_says_what_else_is_wrong(terminal: Terminal) -> None:
    cache = terminal.home / "cache"
    cache.write_text("")
    said = terminal.here(
        "open",
        "http://nowhere.invalid/",
        "http://127.0.0.1:9/",
        XDG_CACHE_HOME=str(cache),
        SSL_CERT_FILE="/nowhere.pem",
        HTTP_PROXY="http://127.0.0.1:9",
        NO_PROXY="",
    )
    assert said.exit_code == 3
    for cause in (f"{cache} is a file, not a folder", "storage.url", "archive.path", "/nowhere.pem, which does"):
        assert cause in said.stderr
    assert "groundwire config set network.proxy" in said.stderr
    assert "policy.allowed_origins" in said.stderr
    assert "is a file, not a folder" in terminal.here("stats", XDG_CACHE_HOME=str(cache)).stderr
    assert "not a folder" in " ".join(terminal.here("doctor", XDG_CACHE_HOME=str(cache)).stdout.split())


def test_quiet_prints_errors_only(terminal: Terminal) -> None:
    loud = terminal.here("search", QUERY, "--after", "2020-01-01")
    assert "Note: published_after: " in loud.stderr
    assert " from searxng in " in loud.stderr
    done = terminal.here("search", QUERY, "--after", "2020-01-01", "--quiet")
    assert (done.exit_code, done.stderr, done.stdout) == (0, "", loud.stdout)
    failed = terminal.here("search", QUERY, "--quiet", "-d", "")
    assert (failed.exit_code, failed.stderr[:7]) == (2, "Error: ")


def test_papers(terminal: Terminal) -> None:
    catalogs = {f"GROUNDWIRE_PROVIDERS_{name}_BASE_URL": terminal.world.service(name.lower()).url for name in PAPERS}
    done = terminal.here("search", "bm25", "--sources", "papers", **catalogs)
    assert "Ada Ash, Bo Birch, Cy Cedar and 1 more" in done.stdout
    assert "from openalex in" in done.stderr
    assert "api.openalex.org" in done.stderr
    done = terminal.here("search", "bm25", "--sources", "papers", "--provider", "arxiv", "--json", **catalogs)
    assert '"source":"arxiv"' in done.stdout
    assert terminal.here("search", "bm25", "--sources", "images").exit_code == 2


PAPERS = ("OPENALEX", "ARXIV")


@pytest.mark.req("B39")
def test_a_folder_is_searched_in_place_of_the_web(terminal: Terminal, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    text = "# Ferry\n\nThe ferry runs daily.\n\n## Winter\n\nIn winter it leaves at 7:40.\n"
    (papers / "ferry.md").write_text(text, encoding="utf-8")
    (papers / ".env").write_text("KEY=ferry winter", encoding="utf-8")
    done = terminal.run("search", "--in", "papers", "when does the ferry leave in winter")
    assert (done.returncode, done.stdout.splitlines()[:2]) == (
        0,
        [" 1. Ferry > Winter", f"    {(papers / 'ferry.md').as_uri()}"],
    )
    assert "7:40" in done.stdout
    assert done.stderr.startswith("Read 1 new or changed file of 1.\n")
    again = terminal.run("search", "--in", "papers", "ferry winter", "--json")
    assert (json.loads(again.stdout)["source"], "Read" in again.stderr) == ("files", False)
    nothing = terminal.here("search", "--in", papers, "zebra crossings")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    for arguments, says in (
        (("--in", tmp_path / "none", "x"), "does not exist"),
        (("--in", papers / "ferry.md", "x"), "is a file"),
        (("--in", papers, "-p", "searxng", "x"), "--in searches files"),
        (("--in", papers, "--sources", "papers", "x"), "--in searches files"),
        (("--in", papers, "-d", "example.org", "x"), "which have no domains"),
    ):
        wrong = terminal.here("search", *arguments)
        assert (wrong.exit_code, wrong.stdout, says in wrong.stderr) == (2, "", True)
    assert terminal.world.searxng.requests == []
