"""`kill -9` in mid-write, a few rounds of `benchmarks/crash.py`: nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[1] / "benchmarks" / "crash.py"
_ROUNDS = 6


@pytest.mark.req("H4", "B5", "B13")
@pytest.mark.parametrize("where", [(), ("--one-file",)], ids=["two files", "one file"])
def test_kills_in_the_middle_of_writing_lose_nothing_acknowledged(where: tuple[str, ...]) -> None:
    command = [sys.executable, str(_SCRIPT), "--rounds", str(_ROUNDS), *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["kills"], told["faults"]) == (_ROUNDS, 0)
    assert told["torn"] > 0, "no kill came in the middle of a write"
    assert told["searches"] > _ROUNDS
    assert told["pages"] > 0
