"""`groundwire doctor` and `groundwire providers` as a person sees them: on a terminal, in a pipe, as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from groundwire.doctor import Fault
from groundwire.testing import InjectedFault as Wire

Terminal = Any  # see conftest.py


SECRET = "test-key"
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def clinic(terminal: Terminal) -> Terminal:
    """A terminal where Brave is set up, and Tavily is named without a key."""
    terminal.variables |= {
        "GROUNDWIRE_SEARCH_PROVIDERS": "brave,tavily",
        "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": terminal.world.service("brave").url,
        "GROUNDWIRE_PROVIDERS_TAVILY_BASE_URL": terminal.world.service("tavily").url,
        "GROUNDWIRE_STORAGE_URL": f"sqlite:///{terminal.home}/store.sqlite3",
        "GROUNDWIRE_ARCHIVE_ENABLED": "false",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "BRAVE_API_KEY": SECRET,
        "TAVILY_API_KEY": SECRET,
    }
    return terminal


def problems(shown: str) -> list[str]:
    found = json.loads(shown)
    findings = [finding for check in found["checks"] for finding in check["findings"]]
    return [finding["fault"] for finding in findings if finding["severity"] == "problem"]


@pytest.mark.req("B17")
def test_it_is_well(clinic: Terminal) -> None:
    done = clinic.run("doctor", "--json")
    found = json.loads(done.stdout)
    assert (problems(done.stdout), done.stderr) == ([], "")
    assert found["cost_usd"] == pytest.approx(0.013)
    assert SECRET not in done.stdout


@pytest.mark.req("B17")
def test_a_person_sees_what_why_and_the_fix(clinic: Terminal) -> None:
    shown, code = clinic.on_a_terminal("doctor", TAVILY_API_KEY="")
    plain = _STYLE.sub("", shown)
    assert code == 1
    assert "\x1b[" in shown
    assert "key-missing" in plain
    assert "Fix: groundwire setup --provider tavily" in plain
    assert [line for line in re.split(r"[\r\n]+", plain) if len(line) > 80 and str(clinic.home) not in line] == []
    piped = clinic.run("doctor", "--offline", TAVILY_API_KEY="")
    assert (piped.returncode, "\x1b" in piped.stdout, piped.stderr) == (1, False, "")
    assert clinic.world.service("brave").requests[-1].headers["X-Subscription-Token"] == SECRET


@pytest.mark.req("B17")
def test_many_faults_at_once_are_each_named(clinic: Terminal) -> None:
    config = clinic.home / ".config" / "groundwire"
    config.mkdir(parents=True)
    (config / "keys.env").write_text(f"EXA_API_KEY={SECRET}\n")
    (config / "keys.env").chmod(0o644)
    (clinic.home / "store.sqlite3").write_bytes(b"no database" * 1_000)
    clinic.world.service("brave").fail(Wire.status(402, "{}"), times=None)
    done = clinic.here("doctor", "--json", TAVILY_API_KEY="wrong-key", GROUNDWIRE_READ_RENDER_DOMAINS="example.com")
    assert done.exit_code == 1
    assert problems(done.stdout) == ["keys-file-open", "store-damaged", "settings-wrong", "quota-used-up", "key-wrong"]
    assert SECRET not in done.stdout


@pytest.mark.req("B17")
def test_wrong_settings_do_not_hide_the_rest(clinic: Terminal) -> None:
    (clinic.home / "groundwire.toml").write_text("[search]\n\nlimt = 3\n")
    done = clinic.here("doctor", "--json")
    assert problems(done.stdout) == ["settings-wrong"]
    text = clinic.here("doctor").output
    assert "groundwire.toml: 'search.limt' is not a setting" in " ".join(text.split())


def test_every_fault_is_in_the_guide() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "onboarding.md").read_text()
    assert [fault for fault in get_args(Fault) if f"`{fault}`" not in guide] == []


@pytest.mark.req("B17", "Y7")
def test_the_list_of_providers(clinic: Terminal) -> None:
    clinic.run("search", "reciprocal rank fusion")
    shown, code = clinic.on_a_terminal("providers", TAVILY_API_KEY="")
    plain = _STYLE.sub("", shown)
    assert code == 0
    lines = plain.splitlines()
    assert max(map(len, lines)) <= 80
    brave = next(number for number, line in enumerate(lines) if line.startswith("brave"))
    assert lines[brave].split()[:4] == ["brave", "search", "1", "ready"]
    assert "(environment)" in lines[brave]
    assert "$5.00" in lines[brave]
    assert "100% of 1" in lines[brave]
    tavily = next(line for line in lines if line.startswith("tavily"))
    assert "needs TAVILY_API_KEY" in tavily
    assert SECRET not in plain
    narrow, _ = clinic.on_a_terminal("providers", COLUMNS="40")
    assert "brave: use search 1, state ready" in _STYLE.sub("", narrow)


@pytest.mark.req("B17")
def test_a_keyring_that_answers_nobody_holds_nothing_up(clinic: Terminal) -> None:
    done = clinic.run(
        "doctor",
        "--json",
        PYTHON_KEYRING_BACKEND="components.stuck_keyring.StuckKeyring",
        PYTHONPATH=str(Path(__file__).resolve().parents[1]),
        TAVILY_API_KEY="",
    )
    assert problems(done.stdout) == ["keyring-locked", "key-missing"]
    assert clinic.world.service("brave").requests
