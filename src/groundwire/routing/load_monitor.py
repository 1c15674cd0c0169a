"""Load of the event loop: new calls are rejected before running ones miss their deadlines."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from groundwire.errors import Overloaded

__all__ = ["LoadMonitor", "cpu_demand"]

_TICK = 0.05  # seconds between two measurements
_MEASURED, _LATE = 5, 3  # measurements, and how many of them must be late; a pause or two are not an overload
_LAG_SHARE, _LEAST_LAG = 1 / 60, 0.1  # of a call's time, and seconds; a call takes dozens of turns of the loop
_OWN = 0.5  # share of the time in which this thread itself must have used the CPU, or waited for it
_BUSY = 10  # calls started per second; fewer cannot starve the loop
_SCHEDULED = Path("/proc/thread-self/schedstat")  # nanoseconds on the CPU, and ready to run but waiting for it


def cpu_demand() -> float:
    """Return the seconds for which this thread has used the CPU or, on Linux, was ready to run."""
    try:
        ran, waited, _ = _SCHEDULED.read_bytes().split()
    except (OSError, ValueError):
        return time.thread_time()
    return (int(ran) + int(waited)) / 1e9


class LoadMonitor:
    """Detects a starved event loop, and rejects new calls before running ones miss their deadlines.

    The lag of the loop is measured with a timer while calls arrive. It counts only while this thread itself has work to
    do for most of the time: rejecting calls does not help against anything else that blocks it. A call with more time
    tolerates more lag.

    Args:
        cpu: Returns the seconds of CPU time used or wanted by the thread.
    """

    def __init__(self, cpu: Callable[[], float] = cpu_demand) -> None:
        self._cpu = cpu
        self._measured: tuple[float, float]  # set when the timer starts
        self._begun: deque[float] = deque(maxlen=_BUSY)
        self._lags: deque[float] = deque(maxlen=_MEASURED)
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, seconds: float = 10.0) -> None:
        """Count a call that is about to start.

        Args:
            seconds: How long it may take.

        Raises:
            Overloaded: the event loop has been late repeatedly, and many calls arrive.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._begun.append(now)
        if self._timer is None:
            self._measured = now, self._cpu()
            self._timer = loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        late = max(_LEAST_LAG, _LAG_SHARE * seconds)
        if sum(lag >= late for lag in self._lags) >= _LATE and now - self._begun[0] < 1.0 and len(self._begun) == _BUSY:
            raise Overloaded("Too many calls at the moment. Try again in a second.")

    def close(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _measure(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now, used = loop.time(), self._cpu()
        since, used_before = self._measured
        self._measured = now, used
        self._lags.append(now - due if used - used_before >= _OWN * (now - since) else 0.0)
        idle = now - self._begun[-1] > 1.0
        self._timer = None if idle else loop.call_at(now + _TICK, self._measure, loop, now + _TICK)
        if idle:
            self._lags.clear()
