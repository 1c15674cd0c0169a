"""Work counted instead of timed: the lines of Python that a call executes are the same on every machine."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

__all__ = ["growth", "lines", "memory"]

_T = TypeVar("_T")


def lines(call: Callable[[], object]) -> int:
    """Return how many lines of Python a call executes in this thread, libraries included.

    What C code does within one line, a regular expression for instance, counts as that line. Whoever tests that such
    code ends makes the input so large that it would not end within the time limit of a test.
    """
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def growth(call: Callable[[_T], object], small: _T, large: _T) -> float:
    """Return how many times as many lines a call executes for a large argument as for a small one.

    Imports, compiled patterns and other things that are made once are not counted: the small argument comes twice.
    """
    call(small)
    return lines(lambda: call(large)) / lines(lambda: call(small))


def memory(call: Callable[[], object]) -> int:
    """Return the most bytes that a call holds at one moment, as far as Python allocates them."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
