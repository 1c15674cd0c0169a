"""Searching and reading through the gateway, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from groundwire.testing import World

pytestmark = pytest.mark.timeout(30)


async def test_searching(serve: Any) -> None:
    _, client = await serve()
    async with client.post("/v1/search", json={"query": "reciprocal rank fusion"}) as response:
        assert response.status == 200
        body = await response.json()
    assert body["provider"] == "searxng"
    assert [row["citation_id"] for row in body["results"]] == list(range(1, len(body["results"]) + 1))
    assert body["attempts"][0]["outcome"] == "ok"


async def test_reading(serve: Any, world: World) -> None:
    _, client = await serve()
    url = world.site("papers").url + "/"
    async with client.post("/v1/pages", json={"url": url}) as response:
        assert response.status == 200, await response.text()
        [page] = (await response.json())["pages"]
    assert page["status"] == "success"
    assert page["content"]


async def test_health(serve: Any) -> None:
    gateway, client = await serve()
    for path in ("/healthz", "/readyz"):
        async with client.get(path) as response:
            assert response.status == 200
    gateway.drain()
    async with client.get("/healthz") as response:
        assert response.status == 200
    async with client.get("/readyz") as response:
        assert response.status == 503
    async with client.post("/v1/search", json={"query": "x"}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (503, "draining")
        assert response.headers["Retry-After"]
