"""Several processes with one Valkey as their store take turns at a provider that says how slow it is."""

from __future__ import annotations

import pytest

from components.fleet import queue_at_a_slow_provider
from components.valkey import Valkey
from world import World


@pytest.mark.req("B6", "B20")
async def test_three_processes_queue_through_one_server(world: World, valkey_server: Valkey) -> None:
    valkey_server.flush()
    await queue_at_a_slow_provider(world, valkey_server.url, processes=3)
