"""`kill -9` in mid-write, a few rounds of `benchmarks/crash.py`: nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[1] / "benchmarks" / "crash.py"


@pytest.mark.req("H4", "B5", "B13")
@pytest.mark.parametrize("rounds", [2, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", [(), ("--one-file",)], ids=["two files", "one file"])
def test_kills_in_the_middle_of_writing_lose_nothing_acknowledged(where: tuple[str, ...], rounds: int) -> None:
    command = [sys.executable, str(_SCRIPT), "--rounds", str(rounds), *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["kills"], told["faults"]) == (rounds, 0)
    assert told["torn"] > 0, "no kill came in the middle of a write"
    assert told["searches"] > rounds
    assert told["pages"] > 0
