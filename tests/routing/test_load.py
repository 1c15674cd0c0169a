"""A starved event loop is noticed, and new calls are refused instead of dying at their deadlines."""

from __future__ import annotations

import asyncio
import time

import pytest

from groundwire.errors import Overloaded
from groundwire.routing.load_monitor import LoadMonitor, cpu_demand
from world.virtual_time import run_virtually


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
        "something else blocks the loop",
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


class Queue:
    """Calls of many steps on one virtual processor, which come at a constant rate whether or not it can carry them."""

    STEPS, STEP, ADMISSION, DEADLINE = 15, 0.002, 0.002, 10.0
    CAPACITY = 1 / (STEPS * STEP + ADMISSION)  # calls per second

    def __init__(self) -> None:
        self.selector = vars(asyncio.get_running_loop())["_virtual"]
        self.monitor = LoadMonitor(lambda: self.selector.now)
        self.refused = 0
        self.late: list[float] = []

    async def call(self, due: float) -> None:
        """Make one call when it is due."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, due - loop.time()))
        self.selector.now += self.ADMISSION
        try:
            self.monitor.admit(self.DEADLINE)
        except Overloaded:
            self.refused += 1
            return
        for _ in range(self.STEPS):
            self.selector.now += self.STEP
            await asyncio.sleep(0.005)
        self.late.append(loop.time() - due - self.DEADLINE)

    async def offer(self, load: float, seconds: float) -> None:
        """Let calls come for some seconds, at so many times the capacity."""
        rate = load * self.CAPACITY
        await asyncio.gather(*(self.call(number / rate) for number in range(int(rate * seconds))))
        self.monitor.close()


@pytest.mark.req("B29")
@pytest.mark.parametrize(("load", "fewest"), [(0.6, 1.0), (1.0, 0.9), (2.0, 0.4)])
def test_no_call_outlives_its_deadline_at_any_load_and_what_the_machine_carries_is_answered(
    load: float, fewest: float
) -> None:
    async def run() -> None:
        queue = Queue()
        await queue.offer(load, 12.0)
        assert max(queue.late) <= 0.25
        assert len(queue.late) >= fewest * (len(queue.late) + queue.refused)

    run_virtually(run())


def test_time_in_which_the_thread_is_ready_to_run_counts() -> None:
    assert time.thread_time() * 0.5 <= cpu_demand() < 1e8


@pytest.mark.req("B29")
def test_what_was_late_before_a_pause_is_forgotten() -> None:
    async def run() -> None:
        starved = Starved(0.3)
        await starved.turns(30)
        assert starved.refused > 0
        starved.refused = 0
        await asyncio.sleep(1.5)
        starved.lag = 0.0
        await starved.turns(1)
        assert starved.refused == 0
        starved.monitor.close()

    run_virtually(run())


@pytest.mark.req("B29")
def test_ten_calls_in_a_second_or_longer_are_few() -> None:
    async def run(calls: int) -> int:
        starved = Starved(0.25, calls)
        loop = asyncio.get_running_loop()
        for turn in range(40):
            for _ in range(calls):
                try:
                    starved.monitor.admit()
                except Overloaded:
                    starved.refused += 1
            starved.selector.now = (turn + 1) / 4
            await asyncio.sleep(0)
            assert loop.time() == (turn + 1) / 4
        starved.monitor.close()
        return starved.refused

    assert run_virtually(run(2)) == 0
    assert run_virtually(run(3)) > 0


@pytest.mark.req("B29")
def test_it_is_measured_while_calls_come_and_for_a_second_after_the_last() -> None:
    async def run() -> list[float]:
        loop = asyncio.get_running_loop()
        looks: list[float] = []

        def cpu() -> float:
            looks.append(loop.time())
            return 0.0

        monitor = LoadMonitor(cpu)
        monitor.admit()
        await asyncio.sleep(0.9)
        monitor.admit()
        await asyncio.sleep(5.0)
        return looks

    looks = run_virtually(run())
    assert looks[0] == 0.0
    assert looks[-1] == pytest.approx(1.95, abs=0.06)
    assert len(looks) == pytest.approx(40, abs=2)


@pytest.mark.req("B29")
def test_a_thread_is_judged_by_what_it_used_since_the_first_call() -> None:
    async def run() -> int:
        await asyncio.sleep(1_000.0)
        starved = Starved(0.3)
        starved.monitor = LoadMonitor(lambda: starved.selector.now - 1_000.0)
        await starved.turns(3)
        assert starved.refused == 0
        await starved.turns(1)
        starved.monitor.close()
        return starved.refused

    assert run_virtually(run()) > 0


class Turns:
    """Turns of the loop after each of which one measurement is taken and one call is made."""

    def __init__(self, seconds: float | None = None, share: float = 1.0) -> None:
        self.selector = vars(asyncio.get_running_loop())["_virtual"]
        self.looks: list[float] = []
        self._measured = asyncio.Event()
        self._share = share
        self._call = {} if seconds is None else {"seconds": seconds}
        self.monitor = LoadMonitor(self._cpu)

    def _cpu(self) -> float:
        self.looks.append(self.selector.now)
        self._measured.set()
        return float(self.selector.now * self._share)

    async def take(self, *lags: float) -> None:
        """Let measurements be so late, one after the other."""
        self.admitted(1)
        for lag in lags:
            self._measured.clear()
            if lag:
                self.selector.now = self.looks[-1] + 0.05 + lag
            await self._measured.wait()
            self.admitted(1)

    def admitted(self, most: int) -> int:
        """Make calls, and return how many were admitted before one was refused."""
        for number in range(most):
            try:
                self.monitor.admit(**self._call)
            except Overloaded:
                return number
        return most


@pytest.mark.req("B29")
@pytest.mark.parametrize(
    ("turns", "refuses"),
    [("L", False), ("LL", False), ("LLL", True), ("LooLL", True), ("LLooL", True), ("LoooLL", False), ("LoLoo", False)],
)
def test_three_late_turns_of_the_last_five_are_an_overload(turns: str, refuses: bool) -> None:
    async def run() -> bool:
        measured = Turns()
        await measured.take(*(0.25 if turn == "L" else 0.0 for turn in turns))
        admitted = measured.admitted(10)
        measured.monitor.close()
        return admitted < 10

    assert run_virtually(run()) is refuses


@pytest.mark.req("B29")
@pytest.mark.parametrize(
    ("seconds", "lag", "refuses"),
    [
        (None, 0.165, False),
        (None, 0.168, True),
        (12.0, 0.199, False),
        (12.0, 0.201, True),
        (60.0, 0.99, False),
        (1.0, 0.099, False),
        (1.0, 0.101, True),
    ],
)
def test_a_turn_is_late_after_a_sixtieth_of_a_calls_time_and_a_tenth_of_a_second(
    seconds: float | None, lag: float, refuses: bool
) -> None:
    async def run() -> bool:
        measured = Turns(seconds)
        await measured.take(lag, lag, lag)
        admitted = measured.admitted(20)
        measured.monitor.close()
        return admitted < 20

    assert run_virtually(run()) is refuses


@pytest.mark.req("B29")
def test_the_tenth_call_within_a_second_is_one_too_many() -> None:
    async def run() -> int:
        measured = Turns()
        await measured.take(0.3, 0.3, 0.3)  # with calls at 0, 0.35, 0.7 and 1.05 s
        admitted = measured.admitted(20)
        measured.monitor.close()
        return admitted

    assert run_virtually(run()) == 6


@pytest.mark.req("B29")
@pytest.mark.parametrize(("share", "refuses"), [(0.5, True), (0.49, False)])
def test_half_of_the_time_must_be_this_threads_own(share: float, refuses: bool) -> None:
    async def run() -> bool:
        measured = Turns(share=share)
        await measured.take(0.25, 0.25, 0.25)
        admitted = measured.admitted(20)
        measured.monitor.close()
        return admitted < 20

    assert run_virtually(run()) is refuses


@pytest.mark.req("B29")
def test_the_first_turn_is_measured_like_every_other_and_none_after_closing() -> None:
    async def run() -> None:
        measured = Turns(1.0)
        await measured.take(0.0, 0.25, 0.25)
        assert measured.looks[:2] == [0.0, 0.05]
        assert measured.admitted(20) == 20, "the first one was in time"
        measured.monitor.close()
        looks = len(measured.looks)
        await asyncio.sleep(1.0)
        assert len(measured.looks) == looks
        measured.admitted(1)
        await asyncio.sleep(0.5)
        assert len(measured.looks) > looks + 5
        measured.monitor.close()
        measured.monitor.close()

    run_virtually(run())
