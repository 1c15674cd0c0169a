"""An event loop with virtual time: minutes pass in milliseconds, deterministically.

For code that waits on nothing but the loop itself (timers, tasks, queues). Code that waits for a socket or a thread on
such a loop never wakes.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class _Selector(selectors.DefaultSelector):
    """Advances the clock instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("Nothing will ever happen on this loop: all tasks wait for something outside it.")
        if not ready and timeout is not None:
            self.now += max(0.0, timeout)
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run_virtually(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on a loop with virtual time, as returned by `asyncio.get_running_loop().time`.

    Returns:
        What the coroutine returns.

    Raises:
        RuntimeError: every task waits for something outside the loop.
    """
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
