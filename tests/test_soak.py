"""Hundreds of calls, or two thousand, of `benchmarks/soak.py`: nothing grows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("calls", [400, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_many_calls_leave_nothing_behind(calls: int) -> None:
    command = [sys.executable, str(_SCRIPT), "--calls", str(calls), "--intervals", str(min(8, calls // 100))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "grown since the warm-up" in done.stdout
