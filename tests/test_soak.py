"""Two thousand calls of `benchmarks/soak.py`: nothing grows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_two_thousand_calls_leave_nothing_behind() -> None:
    command = [sys.executable, str(_SCRIPT), "--calls", "2000", "--intervals", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "grown since the warm-up" in done.stdout
