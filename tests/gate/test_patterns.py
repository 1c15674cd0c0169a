"""No regular expression grows faster than the text that it looks at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pattern_growth import growth

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
        r"\[(?:[^\]\"]|\"[^\"]*\")*\]",
        r"# (?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$",
    ],
)
def test_what_grows_is_found(pattern: str) -> None:
    assert growth(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"[a-z]+",
        r"(?<!\s)\s+x",
        r"(?<![.!?])[.!?]+[)]*(?=\s|$)",
        r"(?m)^(?=[ \t:-]*\|)[ \t:|-]+$",
        r"(?s)/\*.*?(?:\*/|\Z)",
        r"\A(?=.*(?:aa|bb|cc))(?=.*(?:dd|ee|ff)).+",
    ],
)
def test_what_does_not_is_left_alone(pattern: str) -> None:
    assert not growth(pattern)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.req("B23")
def test_no_pattern_of_the_package_grows() -> None:
    made = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    assert made.stdout == ""
