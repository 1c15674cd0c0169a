"""`groundwire config show`, in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundwire.settings.schema import known_keys

Terminal = Any  # see conftest.py
CANARY = "c4n4ry-key"


@pytest.mark.req("Y4", "Y7")
def test_every_setting_its_value_and_its_origin(terminal: Terminal) -> None:
    (terminal.home / "groundwire.toml").write_text("[search]\nlimit = 7\n", encoding="utf-8")
    mine = {"BRAVE_API_KEY": CANARY, "GROUNDWIRE_NETWORK_PROXY": f"http://me:{CANARY}@h:1"}
    few = terminal.here("config", **mine).stdout
    assert ("limit" in few, "BRAVE_API_KEY" in few, "ca_file" in few) == (True, True, False)
    done = terminal.here("config", "show", "--all", **mine)
    assert done.exit_code == 0
    assert CANARY not in done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["limit", "7", str(terminal.home / "groundwire.toml")] in lines
    assert ["timeout", "10.0", "default"] in lines
    assert ["delay", "0.0", "default"] in lines
    assert ["BRAVE_API_KEY", "********", "environment", "BRAVE_API_KEY"] in lines
    for key in known_keys():
        section, _, name = key.rpartition(".")
        assert [f"[{section}]"] in lines
        assert name in [line[0] for line in lines if line]


@pytest.mark.req("Y4")
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"GROUNDWIRE_SEARCH_PROVIDERS": "searxng,serxng"}, "'serxng'"),
        ({"GROUNDWIRE_SEARCH_PROVIDERS": "searxng:other"}, "searxng:other is not configured"),
        ({"GROUNDWIRE_SEARCH_LIMIT": "many"}, "environment GROUNDWIRE_SEARCH_LIMIT: search.limit"),
        ({"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": "nonsense"}, "providers.searxng.base_url"),
    ],
)
def test_settings_that_cannot_be_used_are_exit_code_2(variables: dict[str, str], said: str, terminal: Terminal) -> None:
    done = terminal.here("search", "x", **variables)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.startswith("Error: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("config", "show"),
        ("config", "path"),
        ("config", "set", "search.timeout", "5"),
        ("session", "research"),
        ("ask", "what"),
        ("open", "https://a.test/"),
        ("search", "x"),
        ("stats",),
        ("providers",),
        ("archive", "list"),
        ("mcp",),
        ("setup", "--provider", "searxng"),
        ("verify", "answer.md", "--session", "research"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("wrong", [b"[search]\nlimit = 'many'\n", b"\xff\xfe"], ids=["value", "bytes"])
def test_every_command_says_in_a_line_what_is_wrong_with_the_settings(
    arguments: tuple[str, ...], wrong: bytes, terminal: Terminal
) -> None:
    (terminal.home / "groundwire.toml").write_bytes(wrong)
    (terminal.home / "answer.md").write_text("It is so [1].", "utf-8")
    done = terminal.here(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {terminal.home / 'groundwire.toml'}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.req("Y7")
def test_json(terminal: Terminal) -> None:
    done = terminal.here("config", "show", "--json", BRAVE_API_KEY=CANARY, WEB_SEARCH_SESSION_LIMIT="many")
    assert done.exit_code == 0
    assert CANARY not in done.stdout
    rows = {row["key"]: row for row in json.loads(done.stdout)}
    assert set(known_keys()) <= set(rows)
    assert rows["keys.BRAVE_API_KEY"] == {
        "key": "keys.BRAVE_API_KEY",
        "value": "********",
        "origin": "environment BRAVE_API_KEY",
    }
    assert rows["providers.searxng.categories"]["value"] == "general"
    assert done.stderr.startswith("Note: environment WEB_SEARCH_SESSION_LIMIT")


def test_a_setting_is_changed_in_the_users_file(terminal: Terminal) -> None:
    done = terminal.here("config", "set", "search.limit", "7")
    assert (done.exit_code, done.stdout.startswith("search.limit = 7")) == (0, True)
    assert terminal.here("config", "set", "search.blocked_domains", "a.test, b.test").exit_code in {0, 2}
    assert "limit" in terminal.here("config", "show").stdout
    rows = {row["key"]: row["value"] for row in json.loads(terminal.here("config", "show", "--json").stdout)}
    assert rows["search.limit"] == "7"
    assert terminal.here("config", "set", "search.limit=9").exit_code == 0  # as other command lines have it
    assert terminal.here("config", "get", "search.limit").stdout == "9\n"
    removed = terminal.here("config", "unset", "search.limit")
    assert (removed.exit_code, removed.stdout.startswith("search.limit is not set")) == (0, True)
    assert terminal.here("config", "get", "search.limit").stdout == "5\n"
    assert "did you mean 'search.limit'" in terminal.here("config", "unset", "search.limti").stderr
    done = terminal.here("config", "set", "network.proxy", "http://me:secret@proxy.test:3128")
    assert (done.exit_code, "secret" in done.stdout, "@proxy.test:3128" in done.stdout) == (0, False, True)
    missing = terminal.here("config", "set", "search.limit")
    assert (missing.exit_code, "groundwire config unset KEY" in missing.stderr) == (2, True)


def test_a_folder_that_does_not_exist_is_said(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.here("config", "set", "policy.files", f"{tmp_path},{tmp_path / 'gone'}")
    assert (done.exit_code, done.stderr) == (0, f"Note: {tmp_path / 'gone'} is no folder on this machine.\n")


def test_a_variable_that_takes_precedence_is_named(terminal: Terminal) -> None:
    done = terminal.here("config", "set", "search.limit", "7", GROUNDWIRE_SEARCH_LIMIT="3")
    assert done.exit_code == 0
    assert done.stderr == "Note: environment GROUNDWIRE_SEARCH_LIMIT takes precedence: search.limit is 3.\n"


def test_a_projects_file_that_takes_precedence_is_named(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "groundwire.toml").write_text("[search]\nlimit = 3\n")
    monkeypatch.chdir(tmp_path)
    done = terminal.here("config", "set", "search.limit", "7")
    assert done.stderr == f"Note: {tmp_path / 'groundwire.toml'} takes precedence: search.limit is 3.\n"
    assert terminal.here("config", "unset", "search.limit").stderr != ""


def test_the_settings_of_a_section_are_named(terminal: Terminal) -> None:
    done = terminal.here("config", "get", "session")
    assert (done.exit_code, "session is a section; its settings are: session.max_searches, " in done.stderr) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("search.limti", "3", "did you mean"),
        ("search.limit", "many", "search.limit"),
        ("limits", "3", "is not a setting"),
        ("BRAVE_API_KEY", "x", "groundwire setup"),
        ("search.providers", "serxng", "Unknown provider 'serxng'"),
        ("read.providers", "local,lokal", "Unknown provider 'lokal'"),
        ("policy.allowed_origins", "localhost", "policy.allowed_origins: 'localhost' is not an origin"),
        ("answer.base_url", "nope", "answer.base_url = 'nope': url: has no scheme"),
        ("providers.searxng.base_url", "nope", "providers.searxng.base_url = 'nope': url: has no scheme"),
    ],
)
def test_what_cannot_be_set_is_said_and_nothing_is_written(terminal: Terminal, key: str, value: str, said: str) -> None:
    before = terminal.here("config", "path").stdout
    done = terminal.here("config", "set", key, value, GROUNDWIRE_POLICY_ALLOWED_ORIGINS="")
    assert (done.exit_code, said in done.stderr) == (2, True)
    assert terminal.here("config", "path").stdout == before


def test_where_the_files_are(terminal: Terminal) -> None:
    done = terminal.here("config", "path")
    assert done.exit_code == 0
    assert [line.split("  ")[0].strip() for line in done.stdout.splitlines()] == [
        "your settings",
        "project",
        "keys",
        "store",
        "archive",
    ]
    assert "(does not exist)" in done.stdout
