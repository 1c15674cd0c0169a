"""`groundwire keys`: a key is shown once, what is listed tells nobody anything, and a revoked one is dead."""

from __future__ import annotations

import json
import stat
from typing import Any

import pytest

from groundwire_server.auth.keys import KeyFile, id_of, is_key_of


@pytest.fixture
def file(terminal: Any) -> KeyFile:
    path = terminal.home / "keys" / "keys.json"
    terminal.variables["GROUNDWIRE_SERVER_KEY_FILE"] = str(path)
    return KeyFile(path)


def test_from_its_making_to_its_end(terminal: Any, file: KeyFile) -> None:
    made = terminal.here("keys", "create", "ci")
    assert made.exit_code == 0
    key = made.stdout.strip()
    assert made.stdout == f"{key}\n"  # nothing else, so that it can be piped
    assert key not in made.stderr
    (record,) = file.records()
    assert is_key_of(record, key)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    listed = terminal.here("keys", "list")
    assert f"...{key[-4:]}" in listed.stdout
    assert "valid" in listed.stdout
    revoked = terminal.here("keys", "revoke", "ci")
    assert (revoked.exit_code, "is revoked" in revoked.stdout) == (0, True)
    assert "revoked" in terminal.here("keys", "list").stdout
    for said in (listed, revoked, terminal.here("keys", "list", "--json")):
        assert key.rpartition("_")[2] not in said.stdout + said.stderr
        assert record.digest not in said.stdout + said.stderr


def test_limits_are_kept(terminal: Any, file: KeyFile) -> None:
    options = {
        "--rate": "60",
        "--burst": "7",
        "--calls-per-day": "100",
        "--usd-per-day": "2.5",
        "--provider": "searxng,local",
        "--allow-domain": "python.org,example.com",
        "--block-domain": "evil.example",
        "--tenant": "team",
        "--expires": "90d",
        "--files": "/srv/papers",
    }
    words = [word for option in options.items() for word in option]
    created = terminal.here("keys", "create", "ci", "--operator", *words)
    assert "Note: /srv/papers is no folder on this machine." in created.stderr
    key = created.stdout.strip()
    (row,) = json.loads(terminal.here("keys", "list", "--json").stdout)
    assert id_of(key) == row["id"]
    assert row["limits"] == {
        "rate": 60,
        "burst": 7,
        "calls_per_day": 100,
        "usd_per_day": 2.5,
        "providers": ["searxng", "local"],
        "allowed_domains": ["python.org", "example.com"],
        "blocked_domains": ["evil.example"],
        "files": ["/srv/papers"],
        "keep": True,
    }
    (record,) = file.records()
    assert (record.tenant, record.operator, record.limits.rate) == ("team", True, 60)
    assert record.expires is not None
    assert (record.expires - record.created).days == 90
    assert "key" not in row
    assert "digest" not in row
    assert row["state"] == "valid"
    table = terminal.here("keys", "list").stdout
    assert "rate=60, burst=7, calls_per_day=100, usd_per_day=2.5" in table


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["create", "a", "--files", "papers"], "'papers' is not a whole path"),
        (["create", "a b"], "letters, digits"),
        (["create", "a", "--tenant", "a:b"], "letters, digits"),
        (["create", "a", "--provider", "brve"], "did you mean 'brave'"),
        (["create", "a", "--allow-domain", "http://a"], "not a domain name"),
        (["create", "a", "--expires", "soon"], "90d"),
        (["create", "a", "--expires", "2020-01-01"], "is in the past"),
        (["create", "a", "--burst", "3"], "--burst requires --rate"),
        (["create", "a", "--rate", "0"], "--rate"),
        (["create", "a", "--usd-per-day", "nan"], "usd_per_day"),
        (["revoke", "nobody"], "keys list"),
    ],
)
def test_what_is_wrong_is_said(terminal: Any, file: KeyFile, arguments: list[str], says: str) -> None:
    done = terminal.here("keys", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert not file.path.exists()


def test_a_name_twice(terminal: Any, file: KeyFile) -> None:
    terminal.here("keys", "create", "ci")
    again = terminal.here("keys", "create", "ci")
    assert (again.exit_code, "is taken" in again.stderr) == (2, True)


def test_no_keys_and_a_damaged_file(terminal: Any, file: KeyFile) -> None:
    assert "Create one" in terminal.here("keys", "list").stderr
    assert terminal.here("keys", "list", "--json").stdout.strip() == "[]"
    file.path.parent.mkdir()
    file.path.write_text("{")
    broken = terminal.here("keys", "list")
    assert (broken.exit_code, "cannot be used" in broken.stderr) == (2, True)
