"""A real SearXNG, searched through a `Web` and through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.searxng import SearXNG
from components.upstream import Row
from groundwire.errors import AllProvidersFailed
from groundwire.models import SearchResponse
from groundwire.settings import Settings
from groundwire.web import Web


def web(instance: SearXNG, **options: Any) -> Web:
    return Web(
        Settings.model_validate(
            {
                "search": {"providers": ("searxng",)},
                "providers": {"searxng": {"base_url": instance.url, **options}},
            }
        )
    )


async def failing(instance: SearXNG, query: str = "python", **options: Any) -> AllProvidersFailed:
    async with web(instance, **options) as asked:
        with pytest.raises(AllProvidersFailed) as caught:
            await asked.search(query)
    return caught.value


async def found(instance: SearXNG, query: str, **arguments: Any) -> SearchResponse:
    async with web(instance) as asked:
        return await asked.search(query, **arguments)


@pytest.mark.req("Y5", "S2")
async def test_it_is_searched(searxng: SearXNG) -> None:
    searxng.backend.rows = [Row("First &amp; best", "https://one.example/", "about <b>pythons</b>")]
    response = await found(searxng, "python", limit=3)
    assert response.results[0].citation_id == 1
    assert response.results[0].source.startswith("searxng (")
    titles = {row.title for row in response.results}
    assert "First & best" in titles
    assert response.attempts[0].outcome == "ok"
    assert response.attempts[0].status == 200


@pytest.mark.req("B1")
async def test_json_switched_off_is_its_own_outcome(searxng_json_off: SearXNG) -> None:
    error = await failing(searxng_json_off)
    assert error.attempts[0].outcome == "unsupported"
    assert error.attempts[0].status == 403
    assert "Add json to search.formats" in str(error)


@pytest.mark.req("B1")
async def test_its_limiter_is_its_own_outcome(searxng_limited: SearXNG) -> None:
    async with web(searxng_limited) as asked:
        outcomes = []
        for number in range(8):  # it lets four JSON requests an hour pass
            try:
                response = await asked.search(f"python {number}")
                outcomes.append(response.attempts[0].outcome)
            except AllProvidersFailed as error:
                outcomes.append(error.attempts[0].outcome)
    assert outcomes[0] == "ok", "our headers must pass its check for robots"
    assert outcomes[-1] == "rate_limited"


@pytest.mark.req("B1")
async def test_engines_that_all_fail_are_no_empty_answer(searxng: SearXNG) -> None:
    error = await failing(searxng, engines=(searxng.engine("e429"), searxng.engine("e403")))
    assert error.attempts[0].outcome == "unavailable"
    assert error.attempts[0].status == 200
    assert "too many requests" in str(error)
    assert "access denied" in str(error)


@pytest.mark.req("B1")
async def test_some_engines_that_fail_make_it_partial(searxng: SearXNG) -> None:
    async with web(searxng, engines=(searxng.engine("localjson"), searxng.engine("e500"))) as asked:
        response = await asked.search("python")
    assert response.attempts[0].outcome == "partial"
    assert "e500" in response.warnings[0]


@pytest.mark.req("B1")
async def test_nothing_found_is_believed_because_the_canary_sings(searxng: SearXNG) -> None:
    async with web(searxng, engines=(searxng.engine("localsql"),)) as asked:
        with pytest.raises(AllProvidersFailed, match="unproven"):
            await asked.search("zzzz")
    async with web(searxng, engines=(searxng.engine("localsql"),)) as asked:
        assert (await asked.search("python")).results


@pytest.mark.parametrize("query", ["!!w python", "!general python", ":fr python", "<3 python", "python !!w", "!!"])
async def test_a_query_is_no_command(searxng: SearXNG, query: str) -> None:
    response = await found(searxng, query)
    assert response.results
    asked = searxng.backend.log[-1].query
    assert "!" not in asked.get("q", "").replace('"!!"', "")


async def test_a_stopped_instance_is_a_network_failure(searxng: SearXNG) -> None:
    searxng.stop()
    error = await failing(searxng)
    assert error.attempts[0].outcome == "network"


async def test_a_service_that_is_no_searxng_is_named(searxng: SearXNG) -> None:
    async with Web(
        Settings.model_validate(
            {
                "search": {"providers": ("searxng",)},
                "providers": {"searxng": {"base_url": searxng.backend.url}},
            }
        )
    ) as asked:
        with pytest.raises(AllProvidersFailed, match="Check") as caught:
            await asked.search("python")
    assert caught.value.attempts[0].outcome == "invalid_response"


def test_the_command_line_searches_it(searxng: SearXNG, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": searxng.url,
    }
    command = [sys.executable, "-m", "groundwire", "search", "python", "--limit", "2", "--format", "json"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "success"
    assert len(result["results"]) == 2
    assert done.stderr == ""
