"""Stores and their time."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from components.needs import needed
from components.postgres import Postgres
from groundwire.storage import MemoryStore, Store
from groundwire.storage.sqlite import SqliteStore


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


class FakeStage:
    """Stores that a test opens, with a clock of their own."""

    unit = 10.0

    def __init__(self, clock: Clock, make: Callable[[], Store]) -> None:
        self._clock = clock
        self._make = make
        self.opened: list[Store] = []

    def open(self) -> Store:
        self.opened.append(self._make())
        return self.opened[-1]

    async def wait(self, seconds: float) -> None:
        self._clock.time += seconds

    def now(self) -> float:
        return self._clock()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def memory_stage(clock: Clock) -> AsyncIterator[FakeStage]:
    one = MemoryStore(clock=clock)
    yield FakeStage(clock, lambda: one)
    await one.aclose()


@pytest.fixture
async def sqlite_stage(clock: Clock, tmp_path: Path) -> AsyncIterator[FakeStage]:
    stage = FakeStage(clock, lambda: SqliteStore(tmp_path / "folder" / "store.sqlite3", max_wait=3, clock=clock))
    yield stage
    for store in stage.opened:
        await store.aclose()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # one that another user can reach
        Path(folder).chmod(0o755)
        server = needed(lambda: Postgres(Path(folder)))
        yield server
        server.stop()
