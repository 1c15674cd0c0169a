"""`groundwire session`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Terminal


@pytest.mark.req("H5")
def test_a_session_is_shown_and_begun_anew(terminal: Terminal) -> None:
    limited = {"GROUNDWIRE_SESSION_ID": "work", "GROUNDWIRE_SESSION_MAX_SEARCHES": "1"}
    found = terminal.here("search", "reciprocal rank fusion", **limited)
    assert found.exit_code == 0
    refused = terminal.here("search", "bm25", **limited)
    assert "groundwire session NAME --reset" in refused.stderr
    shown = terminal.here("session", "work", "--json", **limited)
    assert json.loads(shown.output) == {"session": "work", "searches": 1, "cost_usd": 0, "tokens": 0, "limit": 1}
    reset = terminal.here("session", "work", "--reset", **limited)
    assert reset.output == "work: 0 of 1 searches, 0.0000 US dollars, 0 tokens of pages\n"
    assert terminal.here("search", "bm25", **limited).exit_code == 0


def test_a_store_that_cannot_be_read_is_no_unused_session(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = terminal.here("session", "work", GROUNDWIRE_STORAGE_URL=f"sqlite:///{tmp_path}/file/store.sqlite3")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "The store cannot be read" in done.stderr


def test_a_session_without_a_name_is_refused(terminal: Terminal) -> None:
    done = terminal.here("session", " ", "--reset")
    assert (done.exit_code, done.stderr) == (2, "Error: NAME is empty. Pass the name of a session.\n")
