"""How many calls between files one call makes, and that no two files call each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

MOST_CALLS = {"search": 180, "open_page": 170}  # a few depend on what ends first
MOST_VISITS = 3  # of the search itself to one file


def test_a_call_goes_from_file_to_file_without_coming_back(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "walk.py", "--json"],
        cwd=BENCHMARKS,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        check=True,
        text=True,
    )
    walks = json.loads(done.stdout)
    for name, walk in walks.items():
        assert walk["calls"] <= MOST_CALLS[name], name
        assert walk["both_ways"] == [], name
        assert max(walk["visits"].values(), default=0) <= MOST_VISITS, name
    assert {"web/search.py", "routing/router.py", "routing/provider_call.py"} <= walks["search"]["visits"].keys()
