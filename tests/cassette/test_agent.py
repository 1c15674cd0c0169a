"""An agent's whole run, recorded once, then without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire import Settings, Web
from groundwire.cassette import Cassette
from groundwire.providers.searxng import SearXngSearchProvider
from groundwire.reading.local import LocalReadProvider
from groundwire.testing import InjectedFault
from groundwire.tools import OpenPageToolResult, WebSearchToolResult, web_tools
from groundwire.transport import Transport
from world import World

Make = Callable[..., Transport]


async def research(web: Web) -> list[dict[str, Any]]:
    """Do what a model would: search, read the best results, try an address of its own, answer with sources."""
    search, read = web_tools(web)
    seen: list[Any] = []
    for question in ("reciprocal rank fusion", "exponential backoff"):
        found = await search.call(query=question, limit=3)
        assert isinstance(found, WebSearchToolResult)
        seen.append(found)
        for row in found.results[:2]:
            page = await read.call(url=row.url, max_length=2_000)
            assert isinstance(page, OpenPageToolResult)
            seen.append(page)
    seen.append(await read.call(url=f"{seen[1].final_url}/no-such-page"))
    return [_without_times(one.model_dump()) for one in seen]


def _without_times(result: dict[str, Any]) -> dict[str, Any]:
    for attempt in result.get("attempts", ()):
        attempt["latency_ms"] = 0
    return result


@pytest.mark.req("B12")
async def test_a_replayed_run_is_the_recorded_run(
    world: World, settings: Callable[..., Settings], transport: Make, tmp_path: Path, offline: Any
) -> None:
    path = tmp_path / "agent.jsonl"
    first, second = world.searxng, world.add_searxng("second")
    used = settings()

    async def run(cassette: Cassette) -> list[dict[str, Any]]:
        client = transport(cassette)
        providers = [
            SearXngSearchProvider(client, base_url=one.url, name=f"searxng:{one.name}") for one in (first, second)
        ]
        readers = [LocalReadProvider(client)]
        async with Web(used, search_providers=providers, read_providers=readers) as web:
            return await research(web)

    first.fail(InjectedFault.status(503))
    recorded = await run(Cassette.record(path))
    assert recorded[0]["status"] == "success"
    assert recorded[0]["provider"] == "searxng:second"
    assert recorded[-1]["status"] == "error"
    world.stop()
    offline.cut = True
    for _ in range(2):
        cassette = Cassette.replay(path)
        assert await run(cassette) == recorded
        assert cassette.missing == ()
    assert offline.tried == []
