"""A starved event loop is noticed, and new calls are refused instead of dying at their deadlines."""

from __future__ import annotations

import asyncio

import pytest

from groundwire.errors import Overloaded
from groundwire.routing.calls import LoadMonitor
from groundwire.server.api.error_body import failure_of
from groundwire.testing.virtual_time import run_virtually


class Starved:
    """Makes calls come, on a loop whose clock moves on while somebody else has it."""

    def __init__(self, lag: float, calls: int = 20, share: float = 1.0) -> None:
        self.selector = vars(asyncio.get_running_loop())["_virtual"]
        self.monitor = LoadMonitor(lambda: self.selector.now * share)
        self.lag = lag
        self.calls = calls
        self.refused = 0

    async def turns(self, count: int) -> None:
        """Let calls come so many times, and hold the loop up each time."""
        for _ in range(count):
            for _ in range(self.calls):
                try:
                    self.monitor.admit()
                except Overloaded:
                    self.refused += 1
            self.selector.now += self.lag  # what a callback that takes long does to the clock
            await asyncio.sleep(0.01)


@pytest.mark.req("B29")
@pytest.mark.parametrize(
    ("lag", "calls", "ticks", "share", "refuses"),
    [
        (0.3, 20, 30, 1.0, True),
        (0.01, 20, 30, 1.0, False),
        (0.3, 20, 3, 1.0, False),
        (0.3, 1, 30, 1.0, False),
        (0.15, 1, 200, 1.0, False),
        (0.3, 20, 30, 0.3, False),
    ],
    ids=[
        "starved",
        "busy",
        "a short pause",
        "few calls",
        "almost ten calls a second",
        "other programs have the processor",
    ],
)
def test_calls_are_refused_only_when_many_come_and_the_loop_is_late_time_after_time(
    lag: float, calls: int, ticks: int, share: float, refuses: bool
) -> None:
    async def run() -> None:
        starved = Starved(lag, calls, share)
        await starved.turns(ticks)
        starved.monitor.close()
        assert (starved.refused > 0) is refuses

    run_virtually(run())


@pytest.mark.req("B29")
def test_calls_are_taken_again_when_the_loop_is_in_time() -> None:
    async def run() -> None:
        starved = Starved(0.3)
        await starved.turns(30)
        starved.lag = 0.0
        await starved.turns(20)
        refused = starved.refused
        await starved.turns(20)
        assert 0 < starved.refused == refused
        starved.monitor.close()

    run_virtually(run())


def test_it_is_said_over_http_with_the_time_to_try_again() -> None:
    failed = failure_of(Overloaded("too much"))
    assert (failed.status, failed.problem.code, failed.problem.retry_after) == (503, "overloaded", 1.0)
    assert failed.response().headers["Retry-After"] == "1"
