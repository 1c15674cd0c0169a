"""`groundwire eval`: chains side by side, for people and for machines."""

from __future__ import annotations

import json
from typing import Any

from groundwire.testing import InjectedFault

Terminal = Any  # see conftest.py
LINES = (
    '{"question": "what is reciprocal rank fusion", "answer": "merge several ranked lists"}\n'
    '{"question": "capital of Peru", "answer": ["Lima"], "id": "peru"}\n'
)


def test_chains_are_compared(terminal: Terminal) -> None:
    file = terminal.home / "questions.jsonl"
    file.write_text(LINES)
    done = terminal.here("eval", str(file), "-p", "searxng", "-p", "brave,searxng", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    first, second = said["contenders"]
    assert (said["questions"], first["providers"], second["providers"]) == (2, "searxng", "brave,searxng")
    assert (first["in_results"], first["failed"]) == (0.5, 0)
    assert [(one["id"], one["in_pages"]) for one in first["outcomes"]] == [("1", True), ("peru", False)]
    assert "brave needs a key" in done.stderr
    shown = terminal.here("eval", "-", typed=LINES)
    assert shown.exit_code == 0
    assert "settings" in shown.stdout
    assert "50%" in shown.stdout


def test_what_cannot_be_evaluated_is_said(terminal: Terminal) -> None:
    wrong = terminal.here("eval", "-", typed="{}\n")
    assert (wrong.exit_code, "line 1 has no answer. Write {" in wrong.stderr) == (2, True)
    assert terminal.here("eval", str(terminal.home / "nowhere")).exit_code == 2
    terminal.world.searxng.fail(InjectedFault.status(500), times=None)
    failed = terminal.here("eval", "-", "-p", "searxng", typed=LINES)
    assert failed.exit_code == 3
    assert "2 of 2" in failed.stdout
    assert "searxng" in failed.stderr
