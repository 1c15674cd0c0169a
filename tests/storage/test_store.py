"""Memory and SQLite do what every store does, alone and in many processes; Valkey's turn is in `tests/real`."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.store_suite import FleetSuite, Stage, StoreSuite


class TestMemory(StoreSuite):
    @pytest.fixture
    def stage(self, memory_stage: Stage) -> Stage:
        return memory_stage


class TestSqlite(StoreSuite):
    @pytest.fixture
    def stage(self, sqlite_stage: Stage) -> Stage:
        return sqlite_stage


class TestSqliteProcesses(FleetSuite):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/store.sqlite3"
