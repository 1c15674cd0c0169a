"""Searches for papers, on every way in: the library, the tool, and what other tools call it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from groundwire import AllProvidersFailed, InvalidRequest, Settings, Web
from groundwire.errors import PermissionDenied
from groundwire.testing import InjectedFault
from groundwire.tools import render_text, web_tools
from groundwire.tools.definitions import web_tool_definitions
from world import World


def settings(world: World, **sections: Any) -> Settings:
    """Return the settings of a machine whose web is SearXNG's, and whose papers are those of the world."""
    served = {name: {"base_url": world.service(name).url, "delay": 0} for name in ("openalex", "arxiv")}
    return Settings.model_validate(
        {
            "policy": {"allowed_origins": world.origins},
            "providers": {"searxng": {"base_url": world.searxng.url}, **served},
            "storage": {"url": "memory://"},
            "archive": {"enabled": False},
            **sections,
        }
        | {"search": {"providers": ("searxng",), **sections.get("search", {})}}
    )


async def test_only_papers_are_asked_for_papers(world: World) -> None:
    async with Web(settings(world)) as web:
        papers = await web.search("bm25", sources=["papers"], time_range="y", region="at")
        pages = await web.search("bm25")
        assert (papers.provider, pages.provider) == ("openalex", "searxng")
        assert papers.results[0].snippet.startswith("Ada Ash, Bo Birch, Cy Cedar and 1 more; Journal of ")
        assert {receipt.filter: receipt.applied for receipt in papers.filters} == {
            "time_range": "native",
            "region": "not_possible",
        }
        assert (await web.search("bm25", sources=["papers"], time_range="y", region="at")).cached
        assert (await papers.results[0].open()).title
    assert [len(world.service(name).requests) for name in ("openalex", "arxiv")] == [1, 0]


@pytest.mark.parametrize(
    "fault",
    [InjectedFault.status(429), InjectedFault.status(500), InjectedFault.html_for_json(), InjectedFault.reset()],
)
async def test_the_next_catalog_answers_and_no_failure_is_an_empty_result(world: World, fault: InjectedFault) -> None:
    world.service("openalex").fail(fault, times=None)
    async with Web(settings(world)) as web:
        papers = await web.search("bm25", sources=["papers"])
        assert papers.provider == "arxiv"
        assert papers.attempts[0].outcome != "empty"
        world.service("arxiv").fail(fault, times=None)
        with pytest.raises(AllProvidersFailed, match=r"openalex.*arxiv"):
            await web.search("tf-idf", sources=["papers"])
    assert world.searxng.requests == []


async def test_who_sees_queries_is_said_and_can_be_turned_off(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async with Web(settings(world)) as web:
        await web.search("bm25", sources=["papers"])
    assert "openalex (api.openalex.org), arxiv (export.arxiv.org)" in caplog.text
    for off in ({"keyless": False}, {"paper_providers": ()}):
        async with Web(settings(world, search=off)) as web:
            with pytest.raises(InvalidRequest, match="sources: has papers"):
                await web.search("tf-idf", sources=["papers"])
    assert len(world.service("openalex").requests) == 1
    caplog.clear()
    keys = {"OPENALEX_API_KEY": SecretStr("test-key")}
    async with Web(settings(world, search={"keyless": False}, keys=keys)) as web:
        paid = await web.search("tf-idf", sources=["papers"])
    assert paid.attempts[0].cost_usd == 0.001
    assert "without a key" not in caplog.text


async def test_a_key_that_may_not_use_them_does_not(world: World) -> None:
    async with Web(settings(world)) as web:
        with pytest.raises(PermissionDenied):
            await web.restricted(providers=["searxng"]).search("bm25", sources=["papers"])
        only = web.restricted(providers=["arxiv"])
        assert (await only.search("bm25", sources=["papers"])).provider == "arxiv"
    assert world.service("openalex").requests == []


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        (["pages"], "cannot be"),
        (["web", "papers"], "more than one"),
        (3, "must be a list"),
        ([["web"]], "cannot be"),
    ],
)
async def test_what_there_is_no_source_for(world: World, sources: Any, reason: str) -> None:
    async with Web(settings(world)) as web:
        with pytest.raises(InvalidRequest, match=reason):
            await web.search("bm25", sources=sources)
        assert (await web.search("bm25", sources=())).provider == "searxng"


@pytest.mark.req("B32")
@pytest.mark.parametrize(
    "arguments",
    [
        {"sources": ["papers"]},
        {"sources": "papers"},
        {"sources": '["papers"]'},
        {"sources": [{"type": "Research"}]},
        {"category": "research paper"},
        {"categories": ["research"]},
        {"search_mode": "academic"},
        {"categories": "science"},
    ],
)
async def test_models_ask_for_papers_in_many_ways(world: World, arguments: dict[str, Any]) -> None:
    async with Web(settings(world)) as web:
        result = await web_tools(web)[0].call(query="bm25", **arguments)
        text = render_text(result)
    assert result.status == "success"
    assert "Ada Ash, Bo Birch" in text
    assert len(world.service("openalex").requests) == 1


@pytest.mark.parametrize("arguments", [{"sources": ["web"]}, {"sources": [{"type": "text"}]}, {"sources": ["news"]}])
async def test_the_web_is_searched_otherwise(world: World, arguments: dict[str, Any]) -> None:
    async with Web(settings(world)) as web:
        result = await web_tools(web)[0].call(query="bm25", **arguments)
        wrong = await web_tools(web)[0].call(query="bm25", sources=["images"])
    assert result.status == "success"
    assert "cannot be 'images'. Pass one of: web, papers, files." in (wrong.error or "")
    assert world.service("openalex").requests == []


def test_the_tool_offers_papers_unless_they_are_turned_off() -> None:
    for names in (("arxiv",), ()):
        one = Settings.model_validate({"search": {"paper_providers": names}})
        properties = web_tool_definitions(one)[0].parameters["properties"]
        assert properties.get("sources", {}).get("items", {}).get("enum") == (["web", "papers"] if names else None)
