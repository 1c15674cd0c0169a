"""Memory and SQLite do what every store does, alone and in many processes; Valkey's turn is in `tests/real`."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.store_suite import FleetSuite, Stage, StoreSuite
from groundwire.storage import open_store


class TestMemory(StoreSuite):
    @pytest.fixture
    def stage(self, memory_stage: Stage) -> Stage:
        return memory_stage


class TestSqlite(StoreSuite):
    clean_up = 60.0

    @pytest.fixture
    def stage(self, sqlite_stage: Stage) -> Stage:
        return sqlite_stage


@pytest.mark.parametrize("back", [1_000.0, 86_400.0])
@pytest.mark.parametrize("kind", ["memory://", "sqlite:///{}/store.sqlite3"])
async def test_a_clock_that_is_set_back_stops_no_pace(kind: str, back: float, tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    store = open_store(kind.format(tmp_path), timeout=60, clock=lambda: now[0])
    for _ in range(3):
        await store.pace("p", interval=10)
    now[0] -= back
    assert (await store.pace("p", interval=10, max_wait=0)).granted
    assert not (await store.pace("p", interval=10, max_wait=5)).granted
    assert (await store.pace("p", interval=10, max_wait=600)).wait == pytest.approx(10)
    await store.aclose()


class TestSqliteProcesses(FleetSuite):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/store.sqlite3"
