"""Several processes with one file as their store take turns at a provider that says how slow it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.fleet import queue_at_a_slow_provider
from world import World


@pytest.mark.req("B6", "B20")
async def test_three_processes_queue_through_one_file(world: World, tmp_path: Path) -> None:
    await queue_at_a_slow_provider(world, f"sqlite:///{tmp_path}/store.db", processes=3)
