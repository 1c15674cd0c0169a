"""No test asserts how long something took: that fails on a busy machine and passes where the work grows unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.durations import asserted_durations

ROOT = Path(__file__).resolve().parents[2]


def lines_of(body: str, head: str = "import time") -> list[int]:
    """Return the offending lines of a test with this body, counted from its first."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    return [line - 2 for line in asserted_durations(f"{head}\ndef test():\n{indented}\n")]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("start = time.monotonic()\nwork()\nassert time.monotonic() - start < 3", 3),
        ("start = time.perf_counter()\ntook = time.perf_counter() - start\nassert 0 < took < 3", 3),
        ("start = time.process_time_ns()\nassert (time.process_time_ns() - start) / 1e9 < 3, 'slow'", 2),
        ("end = time.time() + 5\nwork()\nassert time.time() < end", 3),
        ("start = time.monotonic()\nassert time.monotonic() < start + 1", 2),
        (
            "held = 0\nfor _ in work():\n  s = time.time()\n  held = max(held, time.time() - s)\nassert held < 1",
            5,
        ),
        ("before, start = 1, time.monotonic()\ntook = time.monotonic() - start\nassert before and took < 1", 3),
        ("start: float = time.monotonic()\ntotal = 0.0\ntotal += time.monotonic() - start\nassert total <= 1", 4),
        ("start = time.monotonic()\ndef inner():\n  assert time.monotonic() - start < 1", 3),
        ("start = time.monotonic()\nassert all(time.monotonic() - start < 1 for _ in work())", 2),
    ],
)
def test_an_asserted_duration_is_found(body: str, line: int) -> None:
    assert lines_of(body) == [line]


def test_other_names_of_a_clock() -> None:
    assert lines_of("start = now()\nassert now() - start < 1", "from time import monotonic as now") == [2]
    assert lines_of("start = t.time()\nassert t.time() - start < 1", "import time as t") == [2]


def test_a_function_that_measures() -> None:
    source = """
import time
def took():
    start = time.monotonic()
    work()
    return time.monotonic() - start
def longest():
    return max(took(), took())
def test():
    assert longest() < 1
"""
    assert asserted_durations(source) == [10]
    assert lines_of("def took():\n  s = time.time()\n  return time.time() - s\nassert took() < 1") == [4]


@pytest.mark.parametrize(
    "body",
    [
        "start = time.monotonic()\nassert work() == 3\nprint(time.monotonic() - start)",
        "before = time.monotonic()\nat = work()\nassert before <= at <= time.monotonic()",
        "end = time.monotonic() + 5\nwhile time.monotonic() < end:\n  work()\nassert done",
        "loop = asyncio.get_running_loop()\nstart = loop.time()\nassert loop.time() - start == 3",
        "took = 3\nassert took < 4",
    ],
    ids=["printed", "an order", "a bound of waiting", "the clock of a loop", "no clock"],
)
def test_what_is_no_asserted_duration(body: str) -> None:
    assert lines_of(body) == []


def test_the_durations_of_one_test_are_not_those_of_another() -> None:
    source = "import time\ndef a():\n    took = time.time() - 3\ndef b():\n    took = work()\n    assert took < 3\n"
    assert asserted_durations(source) == []


def test_no_test_asserts_a_duration() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("tests", "packages/groundwire-server/tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in asserted_durations(path.read_text("utf-8"))
    ]
    listed = "\n".join(found)
    assert not found, f"Count the work, or use events and the fake clock, instead of asserting a duration:\n{listed}"
