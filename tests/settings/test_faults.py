"""What is wrong is said with its place, its key and the nearest right one; several faults at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import pytest

from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from groundwire.settings.sources import from_variables


class _Desk(Protocol):
    folder: Path
    user_folder: Path

    def write(self, *, project: str | bytes = "", user: str | bytes = "", dotenv: str | bytes = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


def _fault(desk: _Desk, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigurationError) as raised:
        desk.load(environment)
    return str(raised.value)


IN_A_FILE: dict[str, tuple[str | bytes, str]] = {
    "key": ("[search]\nlimti = 3", "'search.limti' is not a setting; did you mean 'search.limit'?"),
    "key of a section without likeness": (
        "[session]\ncolor = 3",
        "known here: session.id, session.idle_timeout, session.max_cost_usd, session.max_searches",
    ),
    "section": ("[serch]\nlimit = 3", "[serch] is not a section; did you mean 'search'?"),
    "no section": ("limit = 3", "'limit' is outside any section; put it under [search]"),
    "section as value": ("search = 3", "'search' must be a section, written as [search] on a line of its own"),
    "nothing alike": (
        "wholly_different = 3",
        "known here: answer, archive, cache, mcp, network, permission, policy, providers, read, search, "
        "server, session",
    ),
    "provider": (
        '[providers.serxng]\nbase_url = "x"',
        "'serxng' is not an installed provider; did you mean 'searxng'?",
    ),
    "provider as value": ("[providers]\nsearxng = 3", 'write its options under [providers."searxng"]'),
    "option": (
        '[providers.duckduckgo]\nca_fil = "x"',
        "providers.duckduckgo.ca_fil: is not an option of duckduckgo; did you mean 'ca_file'?",
    ),
    "type of an option": ('[providers.duckduckgo]\ndelay = "many"', "providers.duckduckgo.delay: input"),
    "key of a provider": (
        '[providers.brave]\napi_key = "canary"',
        "api_key: is not an option of brave; API keys do not belong in settings",
    ),
    "type": ('[search]\nlimit = "many"', "search.limit: input should be a valid integer"),
    "bounds": ("[search]\nlimit = 51", "search.limit: input should be less than or equal to 50"),
    "choice": ('[search]\nsafesearch = "some"', "search.safesearch: input should be 'off', 'moderate' or 'strict'"),
    "item": ("[search]\nproviders = [1]", "search.providers.0: input should be a valid string"),
    "address as domain": (
        '[policy]\nblocked_domains = ["https://example.com/"]',
        "policy.blocked_domains: has 'https://example.com/', which is not a domain name. Pass bare names",
    ),
    "keys": ('[keys]\nBRAVE_API_KEY = "canary"', "keys do not belong in this file"),
    "no TOML": ("[search", "is not TOML"),
    "deep": ("a = " + "[" * 20_000, "is nested too deeply"),
    "not UTF-8": (b"# \xff", "is not UTF-8 (byte 2)"),
}


@pytest.mark.parametrize("fault", IN_A_FILE)
def test_a_fault_in_a_file(fault: str, desk: _Desk) -> None:
    text, said = IN_A_FILE[fault]
    desk.write(project=text)
    message = _fault(desk)
    assert message.startswith(str(desk.folder / "groundwire.toml"))
    assert said in message
    assert "canary" not in message


IN_A_VARIABLE = {
    "GROUNDWIRE_SEARCH_LIMTI": "did you mean 'GROUNDWIRE_SEARCH_LIMIT'?",
    "GROUNDWIRE_SERCH_LIMIT": "did you mean 'GROUNDWIRE_SEARCH_LIMIT'?",
    "GROUNDWIRE_SESSION_COLOR": "known here: GROUNDWIRE_SESSION_ID",
    "GROUNDWIRE_BRAVE_API_KEY": "did you mean 'BRAVE_API_KEY'?",
    "GROUNDWIRE_CONFIGS": "did you mean 'GROUNDWIRE_CONFIG'?",
    "GROUNDWIRE_PROVIDERS_SERXNG_BASE_URL": "did you mean 'GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL'?",
    "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_ULR": "did you mean 'base_url'?",
    "GROUNDWIRE_PROVIDERS_SEARXNG": "is not an option of an installed provider",
    "GROUNDWIRE_X": "GROUNDWIRE_X is not a setting",
}


@pytest.mark.req("B33")
@pytest.mark.parametrize("place", ["environment", ".env"])
@pytest.mark.parametrize("name", IN_A_VARIABLE)
def test_an_unknown_variable_is_a_warning(name: str, place: str, desk: _Desk) -> None:
    if place == ".env":
        desk.write(dotenv=f"{name}=canary\n")
    (message,) = desk.load({name: "canary"} if place == "environment" else {}).warnings
    assert message.startswith(place)
    assert name in message
    assert IN_A_VARIABLE[name] in message
    assert "canary" not in message


@pytest.mark.parametrize("name", ["GROUNDWIRE_URL", "GROUNDWIRE_KEY", "GROUNDWIRE_RECORD", "GROUNDWIRE_LOG"])
def test_the_variables_of_clients_and_servers_are_no_fault(name: str) -> None:
    warnings: list[str] = []
    assert from_variables({name: "x"}, "environment", warnings) == {}
    assert warnings == []


def test_a_wrong_value_in_a_variable_names_the_variable_and_the_key(desk: _Desk) -> None:
    message = _fault(desk, {"GROUNDWIRE_SEARCH_LIMIT": "many"})
    assert message.startswith("environment GROUNDWIRE_SEARCH_LIMIT: search.limit: input should be a valid integer")


def test_all_faults_are_named_together(desk: _Desk) -> None:
    desk.write(
        project="[search]\nlimit = 0\n[providers.duckduckgo]\ndelay = -1\n",
        user="[rad]\nx = 1\n",
        dotenv="GROUNDWIRE_READ_TIMEOUT=soon\n",
    )
    lines = _fault(desk, {"GROUNDWIRE_SESSION_MAX_SEARCHES": "-1", "GROUNDWIRE_ARCHIVE_ENABLED": "?"}).splitlines()
    assert lines[0] == "The settings are wrong:"
    found = "\n".join(lines[1:])
    assert len(lines) == 7, found
    for words in ("search.limit", "delay", "[rad]", "read.timeout", "max_searches", "archive.enabled"):
        assert words in found


def test_an_argument_with_an_unknown_key(desk: _Desk) -> None:
    with pytest.raises(ConfigurationError, match=r"argument: 'search\.limti' is not a setting; did you mean"):
        desk.load({}, search_limti=3)


@pytest.mark.parametrize("name", ["missing.toml", "x" * 5_000, "a\x00b", "~nobody-of-this-name/x"])
def test_a_named_file_that_is_not_there(name: str, desk: _Desk) -> None:
    message = _fault(desk, {"GROUNDWIRE_CONFIG": name})
    assert message.startswith("GROUNDWIRE_CONFIG names")
    assert len(message) < 500


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read everything")
def test_a_file_that_may_not_be_read(desk: _Desk) -> None:
    desk.write(project="[search]\nlimit = 3\n", dotenv="A=1\n")
    for name in ("groundwire.toml", ".env"):
        (desk.folder / name).chmod(0)
    message = _fault(desk)
    assert message.count("cannot be read: Permission denied") == 2


def test_a_file_that_cannot_be_read(desk: _Desk) -> None:
    unreadable = Path("/proc/self/mem")  # a file whose first byte cannot be read, not even by the superuser
    if not unreadable.is_file():
        pytest.skip("there is no such file here")
    assert "/proc/self/mem: cannot be read: " in _fault(desk, {"GROUNDWIRE_CONFIG": str(unreadable)})


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigurationError, match="working folder no longer exists"):
        load(environment={})


def test_a_byte_order_mark_is_no_fault(desk: _Desk) -> None:
    desk.write(project="\ufeff[search]\nlimit = 3\n", dotenv="\ufeffGROUNDWIRE_SEARCH_TIMEOUT=4\n")
    settings = desk.load()
    assert (settings.search.limit, settings.search.timeout) == (3, 4)


@pytest.mark.req("H3")
@pytest.mark.parametrize("value", ["many", "-1", "1.5", "9" * 5_000, "²", "1 2"])
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_bad_value_of_a_documents_variable_survives_with_a_warning(value: str, place: str, desk: _Desk) -> None:
    desk.write(project="[session]\nmax_searches = 3\n")
    if place == ".env":
        desk.write(dotenv=f"WEB_SEARCH_SESSION_LIMIT={value}\n")
    settings = desk.load({"WEB_SEARCH_SESSION_LIMIT": value} if place == "environment" else {})
    assert settings.session.max_searches == 3
    assert settings.warnings == (
        f"{place} WEB_SEARCH_SESSION_LIMIT must be a whole number of 0 or more; it is ignored "
        "(session.max_searches stays).",
    )


@pytest.mark.req("H3")
def test_the_documents_variables(desk: _Desk) -> None:
    default = desk.load().session
    assert (default.max_searches, default.warning_threshold) == (0, 15)
    settings = desk.load({"WEB_SEARCH_SESSION_LIMIT": " 7 ", "WEB_SEARCH_WARNING_THRESHOLD": "0"})
    assert (settings.session.max_searches, settings.session.warning_threshold) == (7, 0)
    assert settings.origin("session.max_searches") == "environment WEB_SEARCH_SESSION_LIMIT"
    assert not desk.load({"WEB_SEARCH_SESSION_LIMIT": ""}).warnings
