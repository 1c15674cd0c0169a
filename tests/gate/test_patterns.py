"""No regular expression grows faster than the text that it looks at, but for those that are known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pattern_growth import growth

KNOWN = Path(__file__).with_name("growing_patterns.txt")
"""Where a pattern grows: what it looks at is short, or it is read in a process with limits. No new one belongs here."""
SCRIPT = Path(__file__).parents[2] / "scripts" / "pattern_growth.py"


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"\s+x",
        r"[.!?]+[)]*(?=\s|$)",
        r"(?m)^[ \t]*\|?[ \t:|-]*\|[ \t:|-]*$",
        r"(?:a|ab)*c|a+b",
        r"\d+\.\d+$",
    ],
)
def test_what_grows_is_found(pattern: str) -> None:
    assert growth(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"[a-z]+", r"(?<!\s)\s+x", r"(?<![.!?])[.!?]+[)]*(?=\s|$)", r"(?m)^(?=[ \t:-]*\|)[ \t:|-]+$"],
)
def test_what_does_not_is_left_alone(pattern: str) -> None:
    assert not growth(pattern)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_pattern_of_the_package_grows_that_is_not_known() -> None:
    made = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    growing = {line.rsplit(" on ", 1)[0] for line in made.stdout.splitlines()}
    assert growing <= set(KNOWN.read_text("utf-8").splitlines())
