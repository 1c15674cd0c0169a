"""The tool `search` of codelia: its fields, its backends, and errors that say their cause."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from groundwire import Settings, Web
from groundwire.hosted import Location, Needs, plan
from groundwire.integrations.hosts.codelia_search import local_search_tool
from groundwire.settings import load
from groundwire.testing import InjectedFault
from groundwire.tools import (
    LocalSearchToolResult,
    render_text,
    web_search_tool,
    web_tools,
)
from world import World, wire_faults

MakeSettings = Callable[..., Settings]


@pytest.fixture
def local(settings: MakeSettings, world: World) -> MakeSettings:
    """Settings with a DuckDuckGo and a Brave of the world."""

    def make(**sections: Any) -> Settings:
        providers = {name: {"base_url": world.service(name).url} for name in ("duckduckgo_lite", "brave")} | {
            "searxng": {"base_url": world.searxng.url}
        }
        base = settings(**{"providers": providers, **sections})
        return base.model_copy(
            update={"search": base.search.model_copy(update={"providers": ("searxng", "duckduckgo_lite")})}
        )

    return make


@pytest.mark.req("K4", "C3")
async def test_the_fields_are_those_of_the_document(local: MakeSettings, world: World) -> None:
    async with Web(local()) as web:
        tool = local_search_tool(web)
        assert tool.name == "search"
        assert list(tool.parameters["properties"]) == ["query", "max_results", "backend", "allowed_domains"]
        assert tool.parameters["required"] == ["query"]
        result = await tool.call(query="reciprocal rank fusion", max_results=2.0)
    whole = json.loads(result.model_dump_json())
    assert list(whole) == ["query", "backend", "results"]
    assert (whole["query"], whole["backend"]) == ("reciprocal rank fusion", "ddg")
    assert 1 <= len(whole["results"]) <= 2
    assert all(list(row) == ["title", "url", "snippet", "source"] for row in whole["results"])
    assert whole["results"][0]["source"] == "duckduckgo_lite"
    assert "URL: http" in render_text(result)
    assert world.searxng.requests == []


@pytest.mark.req("K4")
@pytest.mark.parametrize("variable", ["BRAVE_SEARCH_API_KEY", "MY_OWN_VARIABLE"])
async def test_brave_takes_its_key_from_the_configured_variable(
    local: MakeSettings, world: World, variable: str
) -> None:
    made = local(search={"local": {"brave_api_key_env": variable}}, keys={variable: SecretStr("test-key")})
    async with Web(made) as web:
        result = await local_search_tool(web).call(query="rank fusion", backend="brave")
        again = await local_search_tool(web).call(query="rank fusion")
    assert isinstance(result, LocalSearchToolResult)
    assert (result.status, result.backend, again.status) == ("success", "brave", "success"), result
    assert isinstance(again, LocalSearchToolResult)
    assert again.backend == "ddg"
    assert {row.source.split()[0] for row in result.results} == {"brave"}


def test_a_variable_of_any_name_is_read(tmp_path: Any) -> None:
    environment = {"GROUNDWIRE_SEARCH_LOCAL_BRAVE_API_KEY_ENV": "MY_OWN_VARIABLE", "MY_OWN_VARIABLE": "canary"}
    made = load(environment=environment, folder=tmp_path, user_folder=tmp_path)
    found = made.secret("MY_OWN_VARIABLE")
    assert found
    assert found.get_secret_value() == "canary"
    assert "canary" not in repr(made)
    kept = made.with_key("BRAVE_API_KEY", found).secret("BRAVE_API_KEY")
    assert kept == found


@pytest.mark.req("K7")
@pytest.mark.parametrize("variable", ["BRAVE_SEARCH_API_KEY", "MY_OWN_VARIABLE"])
async def test_a_missing_key_names_its_variable(local: MakeSettings, variable: str) -> None:
    async with Web(local(search={"local": {"brave_api_key_env": variable, "backend": "brave"}})) as web:
        result = await local_search_tool(web).call(query="rank fusion")
    assert json.loads(result.model_dump_json()) == {
        "query": "rank fusion",
        "backend": "brave",
        "results": [],
        "status": "error",
        "error": f"brave needs a key: set {variable} in the environment or in a .env file, or run groundwire setup.",
    }


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (InjectedFault.status(503), "HTTP 503"),
        (InjectedFault.status(429), "rate_limited"),
        (wire_faults.garbage(), "duckduckgo_lite"),
    ],
)
async def test_failures_name_their_cause(local: MakeSettings, world: World, fault: InjectedFault, cause: str) -> None:
    world.service("duckduckgo_lite").fail(fault, times=None)
    async with Web(local()) as web:
        result = await local_search_tool(web).call(query="rank fusion")
    assert result.status == "error"
    assert cause in result.error
    assert "does not mean that nothing exists" in result.error
    assert render_text(result).startswith("Search failed: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "query: is required"),
        ({"query": "x", "max_results": 0}, "max_results"),
        ({"query": "x", "backend": "google"}, "backend: input should be 'ddg' or 'brave'"),
        ({"query": "x", "engine": 3}, "The arguments are: query, max_results, backend, allowed_domains."),
        ({"query": " "}, "query: is empty"),
        ({"query": "x", "allowed_domains": ["https://x/"]}, "not a domain name"),
        ({"query": "x", "allowed_domains": ["*"]}, "not a domain name"),
    ],
)
async def test_bad_arguments(local: MakeSettings, arguments: dict[str, Any], said: str) -> None:
    async with Web(local()) as web:
        result = await local_search_tool(web).call(**arguments)
    assert result.status == "error"
    assert said in result.error


@pytest.mark.req("K4", "B5")
async def test_it_shares_the_budget_of_its_web(local: MakeSettings) -> None:
    async with Web(local(session={"max_searches": 2})) as web:
        tool = local_search_tool(web)
        assert (await tool.call(query="rank fusion")).status == "success"
        await web.search("rank fusion")
        assert web.budget
        assert web.budget.spent == 2
        refused = await tool.call(query="rank fusion", allowed_domains=["docs.test"])
    assert refused.status == "error"
    assert "2" in refused.error


async def test_allowed_domains_hold(local: MakeSettings, world: World) -> None:
    async with Web(local()) as web:
        result = await local_search_tool(web).call(query="rank fusion", allowed_domains=["nowhere.example"])
    assert isinstance(result, LocalSearchToolResult)
    assert result.results == ()


@pytest.mark.req("B7")
async def test_what_made_the_plan_local_holds_for_our_own_searches(settings: MakeSettings, world: World) -> None:
    needs = Needs(time_range="w", blocked_domains=("blocked.test",), location=Location(country="DE"))
    chosen = plan("anthropic", "claude-sonnet-5", needs=needs)
    assert chosen.path == "local"
    async with Web(settings()) as web:
        search, _ = web_tools(web, chosen.needs)
        for asked in ({}, {"time_range": "d"}, {"time_range": "y"}):
            await search.call(query="rank fusion", **asked)
    ranges = [request.params["time_range"] for request in world.searxng.requests]
    assert set(ranges) == {"week", "day"}
    assert all("-site:blocked.test" in request.params["q"] for request in world.searxng.requests)
    narrow = Needs(allowed_domains=("a.org",))
    async with Web(settings()) as web:
        refused = await web_search_tool(web, narrow).call(query="x", allowed_domains=["b.org"])
    assert refused.status == "error"
    assert "Pass some of: a.org" in refused.error
    assert narrow.within(["docs.a.org"])["allowed_domains"] == ("docs.a.org",)
