"""The contract of all stores: one suite for each store, and one for several processes sharing a store."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.storage import Count, Entry, Store, StoreError, rules, sqlite, valkey
from groundwire.storage.base import (
    Add,
    Answer,
    AssignNumbers,
    Get,
    Lease,
    Numbers,
    Operation,
    Register,
    Release,
    Set,
)

_WORKER = Path(__file__).with_name("store_worker.py")

ODD_KEYS = ["", "plain", "with space", "k\0k", "é中🙂", "\ud800 alone", "a*b?c[d]e\\f-g", "x" * 3_000]

STEPS = st.lists(
    st.tuples(st.integers(-30, 30), st.one_of(st.none(), st.integers(-5, 60))),
    max_size=20,
)


class Stage(Protocol):
    """One store's data, and its time."""

    unit: float
    """Seconds that are long enough to do something and short enough to wait for."""

    def open(self) -> Store:
        """Return another store on the same data; it is closed at the end."""
        ...

    async def wait(self, seconds: float) -> None:
        """Advance the time."""
        ...

    def now(self) -> float:
        """The time that entries are told in."""
        ...


class StoreSuite:
    """The contract of a store; a subclass needs a fixture `stage`."""

    clean_up = 0.0
    """Seconds until it looks for what is too much."""

    async def test_what_is_not_there(self, stage: Stage) -> None:
        store = stage.open()
        assert await store.get("nothing") is None
        assert await store.count("nothing", 0) == Count(True, 0)
        await store.delete("nothing")
        await store.release("nothing", owner="me")

    @pytest.mark.parametrize("key", ODD_KEYS)
    @pytest.mark.parametrize("value", [b"", bytes(range(256)), b"x" * 100_000], ids=["empty", "any", "long"])
    async def test_bytes_come_back_under_any_key(self, stage: Stage, key: str, value: bytes) -> None:
        await stage.open().set(key, value, fresh=60)
        found = await stage.open().get(key)
        assert found is not None
        assert found.value == value

    async def test_an_entry_tells_how_long_it_is_good(self, stage: Stage) -> None:
        store = stage.open()
        await store.set("k", b"v", fresh=100, stale=1_000)
        found = await store.get("k")
        assert found is not None
        assert found.fresh_until == pytest.approx(stage.now() + 100, abs=30)
        assert found.stale_until == pytest.approx(stage.now() + 1_100, abs=30)

    @pytest.mark.req("B19")
    async def test_a_stale_entry_is_there_and_an_expired_one_is_not(self, stage: Stage) -> None:
        store = stage.open()
        await store.set("short", b"v", fresh=stage.unit)
        await store.set("long", b"v", fresh=stage.unit, stale=1_000)
        await stage.wait(1.5 * stage.unit)
        assert await store.get("short") is None
        stale = await store.get("long")
        assert stale is not None
        assert stale.fresh_until < stage.now() < stale.stale_until

    async def test_the_last_value_counts_and_no_time_forgets_it(self, stage: Stage) -> None:
        store = stage.open()
        await store.set("k", b"long", fresh=1_000, stale=1_000)
        await store.set("k", b"new", fresh=1, stale=10)
        found = await store.get("k")
        assert found is not None
        assert found.value == b"new"
        assert found.stale_until < stage.now() + 100
        await store.set("k", b"newest", fresh=0)
        assert await store.get("k") is None

    @pytest.mark.req("H4")
    async def test_a_counter_meets_its_limit_and_never_passes_it(self, stage: Stage) -> None:
        store = stage.open()
        assert await store.count("c", 2, limit=3) == Count(True, 2)
        assert await store.count("c", 2, limit=3) == Count(False, 2)
        assert await store.count("c", 1, limit=3) == Count(True, 3)
        assert await store.count("c", 0.5, limit=3) == Count(False, 3)
        assert await store.count("c", -1, limit=1) == Count(True, 2)  # giving back is always allowed
        assert await store.count("c", -10) == Count(True, 0)
        assert await store.count("c", 4, limit=3) == Count(False, 0)
        assert await store.count("c", 0.25) == Count(True, 0.25)
        assert await stage.open().count("c", 0, limit=0) == Count(True, 0.25)

    @pytest.mark.req("H4")
    @settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(steps=STEPS)
    async def test_a_counter_is_what_arithmetic_says(self, stage: Stage, steps: list[tuple[int, int | None]]) -> None:
        store, key, total = stage.open(), uuid.uuid4().hex, 0
        for amount, limit in steps:
            granted = amount <= 0 or limit is None or total + amount <= limit
            total = max(0, total + amount) if granted else total
            assert await store.count(key, amount, limit=limit) == Count(granted, total)
            assert limit is None or amount <= 0 or not granted or total <= limit

    async def test_a_counter_ends_when_it_was_said_at_its_creation(self, stage: Stage) -> None:
        store = stage.open()
        await store.count("c", 5, ttl=stage.unit)
        assert await store.count("c", 1, ttl=1_000) == Count(True, 6)
        assert await store.count("c", -1) == Count(True, 5)
        await stage.wait(1.5 * stage.unit)
        assert await store.count("c", 0) == Count(True, 0)
        assert await store.count("c", -1) == Count(True, 0)
        assert await store.count("c", 1, limit=1, ttl=1_000) == Count(True, 1)
        assert await store.count("c", 1, limit=1) == Count(False, 1)

    @pytest.mark.req("B20")
    async def test_a_pace_hands_out_slots_one_interval_apart(self, stage: Stage) -> None:
        one, other = stage.open(), stage.open()
        waits = [(await store.pace("p", interval=100)).wait for store in (one, other, one, other)]
        assert waits == pytest.approx([0, 100, 200, 300], abs=40)
        assert (await one.pace("elsewhere", interval=10)).wait == 0

    async def test_a_burst_goes_at_once(self, stage: Stage) -> None:
        store = stage.open()
        waits = [(await store.pace("p", interval=100, burst=3)).wait for _ in range(5)]
        assert waits == pytest.approx([0, 0, 0, 100, 200], abs=40)

    async def test_a_slot_too_far_ahead_is_not_reserved(self, stage: Stage) -> None:
        store = stage.open()
        assert (await store.pace("p", interval=100, max_wait=0)).granted
        for _ in range(3):
            refused = await store.pace("p", interval=100, max_wait=50)
            assert not refused.granted
            assert refused.wait == pytest.approx(100, abs=40)
        reserved = await store.pace("p", interval=100, max_wait=100)
        assert reserved.granted
        assert reserved.wait == pytest.approx(100, abs=40)

    async def test_silence_gives_the_pace_back(self, stage: Stage) -> None:
        store = stage.open()
        await store.pace("p", interval=stage.unit)
        await stage.wait(1.5 * stage.unit)
        assert (await store.pace("p", interval=stage.unit)).wait == 0
        assert all([(await store.pace("none", interval=0)).wait == 0 for _ in range(3)])

    @pytest.mark.req("B19")
    async def test_a_lease_has_one_owner(self, stage: Stage) -> None:
        one, other = stage.open(), stage.open()
        assert await one.lease("l", owner="one", ttl=1_000)
        assert not await other.lease("l", owner="other", ttl=1_000)
        assert await one.lease("l", owner="one", ttl=1_000)
        await other.release("l", owner="other")
        assert not await other.lease("l", owner="other", ttl=1_000)
        await one.release("l", owner="one")
        assert await other.lease("l", owner="other", ttl=1_000)

    @pytest.mark.req("B19")
    async def test_a_lease_runs_out_unless_it_is_renewed(self, stage: Stage) -> None:
        store = stage.open()
        assert await store.lease("renewed", owner="one", ttl=stage.unit)
        assert await store.lease("renewed", owner="one", ttl=1_000)
        assert await store.lease("left", owner="one", ttl=stage.unit)
        await stage.wait(1.5 * stage.unit)
        assert not await store.lease("renewed", owner="other", ttl=1)
        assert await store.lease("left", owner="other", ttl=1_000)
        assert not await store.lease("left", owner="one", ttl=1)

    async def test_the_kinds_live_apart_and_a_lease_is_not_deleted(self, stage: Stage) -> None:
        store = stage.open()
        await store.set("k", b"v", fresh=60)
        await store.count("k", 7)
        await store.pace("k", interval=100)
        assert await store.lease("k", owner="one", ttl=60)
        assert (await store.count("k", 0)).total == 7
        await store.delete("k")
        assert await store.get("k") is None
        assert (await store.count("k", 0)).total == 0
        assert (await store.pace("k", interval=100)).wait == 0
        assert not await store.lease("k", owner="other", ttl=60)

    @pytest.mark.req("H4")
    async def test_tasks_share_a_limit_exactly(self, stage: Stage) -> None:
        stores = [stage.open(), stage.open()]
        answers = await asyncio.gather(*(stores[number % 2].count("c", 1, limit=100) for number in range(300)))
        assert sum(answer.granted for answer in answers) == 100
        assert sorted(answer.total for answer in answers if answer.granted) == list(range(1, 101))

    @pytest.mark.req("B20")
    async def test_tasks_get_slots_of_their_own(self, stage: Stage) -> None:
        stores = [stage.open(), stage.open()]
        paces = await asyncio.gather(*(stores[number % 2].pace("p", interval=40) for number in range(20)))
        assert sorted(pace.wait for pace in paces) == pytest.approx([40 * number for number in range(20)], abs=16)

    async def test_one_task_of_many_gets_the_lease(self, stage: Stage) -> None:
        store = stage.open()
        won = await asyncio.gather(*(store.lease("l", owner=f"task {number}", ttl=60) for number in range(50)))
        assert sum(won) == 1

    async def test_a_batch_answers_in_order(self, stage: Stage) -> None:
        store = stage.open()
        answers = await store.batch(
            (
                Set("k", b"v" * 2_000, 60, 30),
                Get("k"),
                Get("none"),
                Add("c", 2, 5, 60),
                Lease("l", "me", 60),
                Release("l", "me"),
            )
        )
        entry = answers[1]
        assert isinstance(entry, Entry)
        assert entry.value == b"v" * 2_000
        assert entry.stale_until - entry.fresh_until == pytest.approx(30, abs=0.01)
        assert [*answers[2:]] == [None, Count(True, 2), True, None]
        assert await stage.open().lease("l", owner="other", ttl=60)
        assert await store.count("c", 0) == Count(True, 2)

    @pytest.mark.parametrize(
        "first",
        [Get("k", ends=True), Add("c", 5, 4), Lease("l", "other", 60)],
        ids=["found", "limit reached", "lease held"],
    )
    async def test_an_operation_that_ends_its_batch(self, stage: Stage, first: Operation) -> None:
        store = stage.open()
        await store.batch((Set("k", b"v", 60), Lease("l", "me", 60)))
        answers = await store.batch((first, Set("after", b"", 60)))
        assert len(answers) == 1
        assert await store.get("after") is None
        assert len(await store.batch((Get("none", ends=True), Set("after", b"", 60)))) == 2
        assert await store.get("after") is not None

    async def test_a_register_numbers_each_name_once(self, stage: Stage) -> None:
        one, other = stage.open(), stage.open()

        async def number(store: Store, *groups: tuple[bytes, ...], note: bytes = b"n") -> Answer:
            (answer,) = await store.batch((AssignNumbers("r", groups, note, 60),))
            return answer

        assert await number(one, (b"a",), (b"b",)) == Numbers((1, 2), True)
        assert await number(other, (b"b",), (b"c",), note=b"m") == Numbers((2, 3), True)
        assert await number(one, (b"d", b"a"), (b"e", b"f"), (b"f",)) == Numbers((1, 4, 4), False)
        assert await one.register("r") == Register({b"a": 1, b"b": 2, b"c": 3, b"d": 1, b"e": 4, b"f": 4}, (b"m", b"n"))
        assert await one.batch((AssignNumbers("r", ((b"z",),), b"n", 60, floor=9),)) == [Numbers((10,), False)]
        await other.delete("r")
        assert await one.register("r") == Register({})
        assert await number(one, (b"z",)) == Numbers((1,), True)

    async def test_a_register_ends_when_it_was_not_used(self, stage: Stage) -> None:
        store = stage.open()
        for _ in range(3):
            await store.batch((AssignNumbers("r", ((b"a",),), b"", stage.unit),))
            await stage.wait(0.6 * stage.unit)
        assert (await store.register("r")).numbers == {b"a": 1}
        await stage.wait(0.6 * stage.unit)
        assert await store.register("r") == Register({})
        assert await store.batch((AssignNumbers("r", ((b"b",),), b"", stage.unit),)) == [Numbers((1,), True)]

    async def test_a_register_that_goes_on_forgets_its_oldest_names_and_gives_no_number_again(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (rules, sqlite, valkey):
            monkeypatch.setattr(module, "MOST_KEPT", 20)
        store, given = stage.open(), dict[int, bytes]()
        for turn in range(300):
            if turn % 100 == 99:
                await stage.wait(self.clean_up)
            name = b"%d" % turn
            (answer,) = await store.batch((AssignNumbers("r", ((name,),), b"note " + name, 3_600),))
            assert answer == Numbers((turn + 1,), True)
            given[turn + 1] = name
        numbers, notes = await store.register("r")
        assert len(numbers) <= 60
        assert len(notes) <= 60
        assert {name: number for number, name in [*given.items()][-10:]}.items() <= numbers.items()
        assert notes[-10:] == tuple(b"note %d" % turn for turn in range(290, 300))
        assert all(given[number] == name for name, number in numbers.items())
        answers = await store.batch((AssignNumbers("r", ((b"0",), (b"299",), (b"new",)), b"note 299", 3_600),))
        assert answers == [Numbers((301, 300, 302), False)] or b"0" in numbers

    async def test_tasks_are_given_no_number_twice(self, stage: Stage) -> None:
        stores = [stage.open() for _ in range(4)]
        names = [b"%d" % (number % 30) for number in range(120)]
        answers = await asyncio.gather(
            *(stores[at % 4].batch((AssignNumbers("r", ((name,),), b"", 600),)) for at, name in enumerate(names))
        )
        given: dict[bytes, set[int]] = {}
        for name, (answer,) in zip(names, answers, strict=True):
            assert isinstance(answer, Numbers)
            given.setdefault(name, set()).update(answer.numbers)
        assert sorted(number for numbers in given.values() for number in numbers) == [*range(1, 31)]

    async def test_a_cancelled_call_does_no_harm(self, stage: Stage) -> None:
        store = stage.open()
        await store.count("c", 0)
        calls = [asyncio.ensure_future(store.count("c", 1)) for _ in range(20)]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        answered = sum(isinstance(answer, Count) for answer in answers)
        assert answered <= (await store.count("c", 0)).total <= 20

    async def test_a_call_that_is_cancelled_in_any_turn_of_the_loop_ends_as_cancelled(self, stage: Stage) -> None:
        store = stage.open()
        await store.count("c", 0)
        cancelled = 0
        for turns in range(60):
            call = asyncio.ensure_future(store.count("c", 1))
            for _ in range(turns):
                await asyncio.sleep(0)
            asked = call.cancel()  # no if it was done
            await asyncio.wait({call})
            assert call.cancelled() == asked
            cancelled += asked
        assert cancelled

    async def test_after_closing_there_is_no_answer(self, stage: Stage) -> None:
        store = stage.open()
        await store.set("k", b"v", fresh=60)
        await store.aclose()
        await store.aclose()
        with pytest.raises(StoreError):
            await store.get("k")
        with pytest.raises(StoreError):
            await store.count("k", 1)


class FleetSuite:
    """The contract of a store shared by processes; a subclass needs a fixture `url`."""

    @pytest.mark.req("H4", "B20")
    def test_eight_processes_share_one_limit(self, url: str, warm_python: Path) -> None:
        with _workers([["count", url, "100", "40"]] * 8, warm_python) as outputs:
            granted = [json.loads(output.readline()) for output in outputs]
        assert sum(granted) == 100

    @pytest.mark.req("B5", "B20", "H4")
    def test_eight_processes_share_one_session_of_100_searches(self, url: str, warm_python: Path) -> None:
        with _workers([["session", url, "100", "40"]] * 8, warm_python) as outputs:
            granted = [json.loads(output.readline()) for output in outputs]
        assert sum(granted) == 100

    @pytest.mark.req("B20")
    def test_processes_share_one_pace(self, url: str, warm_python: Path) -> None:
        with _workers([["pace", url, "100", "10"]] * 4, warm_python) as outputs:
            waits = sorted(wait for output in outputs for wait in json.loads(output.readline()))
        gaps = [later - earlier for earlier, later in pairwise(waits)]
        assert gaps == pytest.approx([100] * 39, abs=20)  # the waits count from each call's own moment

    @pytest.mark.req("B9", "B20")
    def test_eight_processes_number_one_session(self, url: str, warm_python: Path) -> None:
        with _workers([["number", url, "50", "20"]] * 8, warm_python) as outputs:
            told = [json.loads(output.readline()) for output in outputs]
        numbers: dict[str, set[int]] = {}
        for shown in told:
            for name, found in shown.items():
                numbers.setdefault(name, set()).update(found)
        assert sorted(number for found in numbers.values() for number in found) == [*range(1, len(numbers) + 1)]
        assert all(len(found) == 1 for found in numbers.values())

    @pytest.mark.req("B19")
    def test_one_process_gets_the_lease(self, url: str, warm_python: Path) -> None:
        with _workers([["lease", url, f"process {number}", "60"] for number in range(4)], warm_python) as outputs:
            held = [json.loads(output.readline()) for output in outputs]
        assert sorted(held) == [False, False, False, True]


@contextmanager
def worker(*arguments: str, python: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process that uses a store; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        [str(python or sys.executable), str(_WORKER), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


@contextmanager
def _workers(commands: list[list[str]], python: Path) -> Iterator[list[IO[str]]]:
    """Processes that start together, and their output."""
    with ExitStack() as stack:
        processes = [stack.enter_context(worker(*command, python=python)) for command in commands]
        outputs = [process.stdout for process in processes if process.stdout is not None]
        assert [output.readline() for output in outputs] == ["ready\n"] * len(commands)
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        yield outputs
