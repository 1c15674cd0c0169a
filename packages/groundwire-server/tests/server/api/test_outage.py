"""When no provider answers: what was asked before is answered from the archive and says so; nothing else is."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groundwire.testing import InjectedFault
from world import World

QUERY, AGAIN, OTHER = "reciprocal rank fusion", "fusion of reciprocal ranks", "fusion of nuclear ranks"


@pytest.fixture
async def client(gateway: Any, world: World, tmp_path: Path) -> Any:
    """A client of a gateway that has searched once, and whose only provider then fails."""
    served = await gateway(archive={"enabled": True, "path": str(tmp_path / "archive.db")})
    made = await served.client()
    async with made.post("/v1/search", json={"query": QUERY}) as response:
        body = await response.json()
        assert (response.status, body["stale"], body["warnings"]) == (200, False, [])
    world.searxng.fail(InjectedFault.status(403), times=None)
    return made


def said(text: str) -> bool:
    day = datetime.now(UTC).date()
    return f"from an earlier search, seen on {day}; it may be out of date" in text


TEXT = {"Accept": "text/plain"}


async def ask(client: Any, query: str) -> tuple[tuple[int, str], ...]:
    """Search by every face at once, as each waits a while for the provider; return each status and text."""

    async def read(method: str, path: str, **sent: Any) -> tuple[int, str]:
        async with client.request(method, path, **sent) as response:
            return response.status, await response.text()

    return await asyncio.gather(
        read("POST", "/v1/search", json={"query": query}),
        read("GET", "/search", params={"q": query, "format": "json"}),
        read("POST", "/search", json={"query": query, "max_tokens": 1_000}),
        read("POST", "/v1/tools/web_search", json={"query": query}, headers=TEXT),
        read("POST", "/v1/tools/web_search", json={"query": query}),
        read("GET", "/", params={"q": query}),
    )


@pytest.mark.req("B13", "B38")
async def test_every_face_says_that_it_is_of_an_earlier_search(client: Any) -> None:
    answers = await ask(client, AGAIN)
    assert {status for status, _ in answers} == {200}
    plain, searxng, perplexity, text, tool, page = (body for _, body in answers)
    own = json.loads(plain)
    assert (own["provider"], own["stale"], said(own["warnings"][0])) == ("archive", True, True)
    its = json.loads(searxng)
    assert [said(row["content"]) for row in its["results"]] == [True] * len(own["results"])
    assert {row["engine"] for row in its["results"]} == {"archive"}
    assert [name for name, _ in its["unresponsive_engines"]] == ["searxng"]
    its = json.loads(perplexity)
    assert said(its["warnings"][0])
    assert all(said(row["snippet"]) for row in its["results"])
    first, second, *_ = text.splitlines()
    assert first.startswith("Note: ")
    assert said(first)
    assert second == f"Search results for: {AGAIN}"
    result = json.loads(tool)
    assert (said(result["notice"]), said(result["message"])) == (True, False)
    assert "From an earlier search: no provider answered now." in page
    assert said(page)


@pytest.mark.req("B38")
async def test_another_question_is_a_failure(client: Any) -> None:
    *apis, text, tool, page = await ask(client, OTHER)
    for status, body in apis:
        assert status in {502, 504}
        assert "results" not in json.loads(body)
    assert text[1].startswith("Search failed: ")
    assert json.loads(tool[1])["status"] == "error"
    assert "The search failed" in page[1]
