"""`groundwire stats`, in this process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from groundwire.cli import group
from groundwire.cli.stats import card_of
from groundwire.storage import MemoryStore, ResilientStore, StoreError, open_store
from groundwire.telemetry.daily_counters import Scores

Make = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command with a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Result:
        return CliRunner().invoke(group, ["stats", *arguments])

    return command


def record(*calls: Any) -> None:
    async def whole() -> None:
        store = open_store()
        scores = Scores(store)
        for call in calls:
            scores.search_done(call)
        await scores.aclose()
        await store.aclose()

    asyncio.run(whole())


@pytest.mark.req("H9", "B18")
def test_targets_met_and_missed_and_every_provider(run: Callable[..., Result], searched: Make, attempt: Make) -> None:
    tries = (attempt("duckduckgo", "rate_limited", status=429), attempt("brave", latency_ms=1_250, cost_usd=0.003))
    record(*[searched(attempts=tries, seconds=1.3)] * 2, searched(attempts=(attempt("brave", latency_ms=60_000),)))
    done = run()
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "Last 7 days: 3 searches, 0 pages"
    assert not any("success rate" in line for line in lines)
    assert "brave search 3 100% 20.83 s ≥ 10 s 0 $0.0060" in lines
    assert "duckduckgo search 2 0% - - 0 -" in lines
    lines = [" ".join(line.split()) for line in run("--targets").stdout.splitlines()]
    assert "success rate 100.0% > 95% met" in lines
    assert "answered after a fallback 66.7% < 20% missed" in lines
    assert "mean latency 950 ms < 5 s met" in lines
    assert "calls that failed with 403 0 0 met" in lines
    assert "\x1b" not in done.stdout


def test_json(run: Callable[..., Result], searched: Make) -> None:
    record(searched())
    done = run("--days", "1", "--json")
    assert done.exit_code == 0
    card = json.loads(done.stdout)
    assert card["days"] == 1
    assert card["searches"]["calls"] == 1
    assert card["searches"]["success_rate"] == 1.0
    assert [target["met"] for target in card["targets"]] == [True, True, True, True]
    assert card["providers"][0]["provider"] == "brave"


def test_nothing_recorded_yet(run: Callable[..., Result]) -> None:
    done = run()
    assert done.exit_code == 1
    assert done.stdout == "Nothing recorded in the last 7 days: make a search first.\n"
    assert json.loads(run("--json").stdout)["providers"] == []


def test_the_store_is_that_of_the_settings(
    run: Callable[..., Result], searched: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record(searched())
    assert run().exit_code == 0
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", f"sqlite:///{tmp_path / 'another.sqlite3'}")
    assert run().exit_code == 1
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "nonsense://")
    assert run().exit_code == 2


@pytest.mark.parametrize("arguments", [("--days", "0"), ("--days", "36"), ("--days", "many"), ("more",)])
def test_wrong_use(arguments: tuple[str, ...], run: Callable[..., Result]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_wrong_setting(run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_LIMIT", "many")
    done = run()
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")


def test_a_store_that_is_not_there_is_not_an_empty_one(run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    done = run()
    assert done.exit_code == 3
    assert "The store cannot be read" in done.stderr
    assert done.stdout == ""


async def test_the_store_is_closed_whatever_happens() -> None:
    inner = MemoryStore()
    await inner.aclose()
    with pytest.raises(StoreError, match="cannot be read"):
        await card_of(ResilientStore(inner), 7)
    good = MemoryStore()
    await card_of(good, 7)
    with pytest.raises(StoreError, match="closed"):
        await good.get("anything")


@pytest.mark.parametrize(
    ("term", "styled", "columns"), [("xterm", True, "120"), ("xterm", True, "40"), ("dumb", False, "120")]
)
def test_a_terminal_gets_a_table(
    term: str,
    styled: bool,
    columns: str,
    searched: Make,
    attempt: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name = "p[red]x\x1b[2J"
    record(searched(provider=name, attempts=(attempt(name),)))
    primary, secondary = os.openpty()
    with os.fdopen(primary, "rb", buffering=0) as screen:
        done = subprocess.run(
            [sys.executable, "-c", "from groundwire.cli.stats import stats; stats(['--targets'])"],
            env={**os.environ, "TERM": term, "COLUMNS": columns},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=secondary,
            timeout=100,
            check=False,
        )
        os.close(secondary)
        shown = screen.read(65_536).decode()
    assert done.returncode == 0
    assert "p[red]x" in shown
    assert "\x1b[2J" not in shown
    assert "success rate" in shown
    heads = re.sub(r"\x1b\[[0-9;]*m", "", shown).split()
    assert ({"provider", "success"} if columns == "120" else {"role", "success"}) <= set(
        heads
    )  # no word is broken, however narrow it is
    assert ("\x1b[" in shown) is styled
