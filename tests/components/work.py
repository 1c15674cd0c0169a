"""Work counted instead of timed: the number of executed Python lines is the same on every machine."""

from __future__ import annotations

import asyncio
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from types import FrameType
from typing import Any, TypeVar

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
    """Return the ratio of lines executed for a large argument to those for a small one; see `growths`."""
    return growths(call, small, large)[0]


def growths(call: Callable[[_T], object], *arguments: _T) -> list[float]:
    """Return the ratio of lines executed for each argument to those for the previous one.

    Imports, compiled patterns and other things that are made once are not counted: each argument comes twice.
    """
    for argument in arguments:
        call(argument)
    counts = [lines(partial(call, argument)) for argument in arguments]
    return [more / less for less, more in pairwise(counts)]


async def longest_step(work: Awaitable[object]) -> int:
    """Return the maximum number of Python lines between two turns of the event loop while some work is done.

    Whoever else waits for the loop waits for so long; what threads and other processes do meanwhile is not counted.
    """
    loop = asyncio.get_running_loop()
    count = last = longest = 0
    working = True

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    def turn() -> None:
        nonlocal last, longest
        longest, last = max(longest, count - last), count
        if working:
            loop.call_soon(turn)

    loop.call_soon(turn)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        await work
    finally:
        sys.settrace(before)
        working = False
    return longest


def memory(call: Callable[[], object]) -> int:
    """Return the peak memory of a call, as far as Python allocates it."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
