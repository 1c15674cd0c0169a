"""Document S: the adapter by its structure."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groundwire.integrations.hosts.tool_port import WebSearchTool
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from world import World

HOST_MODELS = """
from dataclasses import dataclass

@dataclass
class ToolResult:
    tool_call_id: str
    content: str
    is_error: bool = False

@dataclass
class ToolDefinition:
    name: str
    description: str
    parameters: dict
"""


class Fixed(EmulatedServer):
    """A SearXNG that gives one answer."""

    def __init__(self, name: str, answer: EmulatedResponse) -> None:
        super().__init__(name)
        self._answer = answer

    def handle(self, request: Recorded) -> EmulatedResponse:
        return self._answer


@dataclass
class Config:
    provider: str
    url: str = ""
    api_key: str | None = None


@pytest.fixture
def tool(surroundings: World) -> WebSearchTool:
    return WebSearchTool(Config("searxng", surroundings.searxng.url, "bearer-key"))


@pytest.mark.req("S1")
def test_it_has_the_ports_shape(tool: WebSearchTool) -> None:
    assert tool.name == "web_search"
    assert tool.description == "Search the web. Returns titles, URLs, and snippets for each result."
    assert tool.parameters["required"] == ["query"]
    assert set(tool.parameters["properties"]) == {"query", "max_results"}
    assert tool.to_definition().to_openai_dict()["function"]["name"] == "web_search"


@pytest.mark.req("S1")
async def test_in_the_host_results_are_of_its_own_class(
    surroundings: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = tmp_path / "squidbot" / "core"
    core.mkdir(parents=True)
    for folder in (core.parent, core):
        (folder / "__init__.py").touch()
    (core / "models.py").write_text(HOST_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        tool = WebSearchTool(Config("searxng", surroundings.searxng.url))
        models = importlib.import_module("squidbot.core.models")
        for query in ("reciprocal rank fusion", "xylophone zeppelin quux", " "):
            assert type(await tool.execute(query=query)) is models.ToolResult
        assert type(tool.to_definition()) is models.ToolDefinition
        await tool.aclose()
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "squidbot"]:
            del sys.modules[name]


@pytest.mark.req("S3")
async def test_a_row_is_a_number_a_title_an_address_and_an_indented_snippet(surroundings: World) -> None:
    rows = [
        {"title": "Page  Title", "url": "https://example.com/page", "content": "A short\nsnippet."},
        {"title": "Another Result", "url": "https://other.com/", "content": ""},
    ]
    answer = EmulatedResponse.json({"query": "x", "results": rows})
    fixed = surroundings.add(Fixed("fixed", answer))
    tool = WebSearchTool({"provider": "searxng", "url": fixed.url})
    text = (await tool.execute(query="x")).content
    assert text == (
        "1. Page Title — https://example.com/page\n   A short snippet.\n\n2. Another Result — https://other.com/"
    )
    await tool.aclose()


@pytest.mark.req("S2", "S3")
async def test_results_are_numbered_lines(tool: WebSearchTool, surroundings: World) -> None:
    result = await tool.execute(query="reciprocal rank fusion", max_results=2)
    assert not result.is_error
    first, second = result.content.split("\n\n")
    assert re.fullmatch(r"1\. \S.* — http://\S+\n   \S.*", first)
    assert second.startswith("2. ")
    request = surroundings.searxng.requests[-1]
    assert request.headers["authorization"] == "Bearer bearer-key"
    assert (request.query["format"], request.query["categories"]) == ("json", "general")


@pytest.mark.req("S1")
async def test_five_results_are_usual(tool: WebSearchTool) -> None:
    result = await tool.execute(query="search engine page")
    assert len(re.findall(r"^\d+\. ", result.content, re.MULTILINE)) == 5


@pytest.mark.req("S4")
async def test_failures_are_error_results(tool: WebSearchTool, surroundings: World) -> None:
    surroundings.searxng.fail(InjectedFault.status(503), times=99)
    result = await tool.execute(query="fusion")
    assert result.is_error
    assert result.content.startswith("Search failed: HTTP 503")
    empty = await tool.execute(query=" ")
    assert (empty.is_error, empty.content) == (
        True,
        "Search failed: query: is empty. Pass the words to look for.",
    )


@pytest.mark.req("S4")
async def test_nothing_found_is_no_error(tool: WebSearchTool) -> None:
    result = await tool.execute(query="xylophone zeppelin quux")
    assert (result.is_error, result.content) == (False, "No results found for: xylophone zeppelin quux")


@pytest.mark.req("S2")
async def test_brave_gets_its_key(surroundings: World) -> None:
    tool = WebSearchTool(Config("brave", api_key="test-key"))
    assert not (await tool.execute(query="fusion")).is_error
    assert surroundings.service("brave").requests[-1].headers["x-subscription-token"] == "test-key"
    await tool.aclose()


@pytest.mark.req("S2")
async def test_duckduckgo_needs_no_key_and_no_package(surroundings: World) -> None:
    tool = WebSearchTool(Config("duckduckgo"))
    assert not (await tool.execute(query="fusion")).is_error
    assert surroundings.service("duckduckgo_lite").requests[-1].body == b"q=fusion&kl=&df="
    await tool.aclose()


@pytest.mark.req("S5")
@pytest.mark.parametrize(
    ("config", "text"),
    [
        (Config("altavista"), "Known providers: brave, duckduckgo, searxng"),
        (Config("brave"), "api_key"),
        (Config("brave", api_key=" "), "api_key"),
        (Config("searxng"), "url"),
        ({"provider": "searxng", "url": "ftp://x"}, "base_url"),
    ],
)
@pytest.mark.usefixtures("surroundings")
def test_what_is_wrong_is_a_value_error_at_once(config: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        WebSearchTool(config)


def test_one_tool_works_in_one_event_loop_after_the_other(tool: WebSearchTool) -> None:
    for _ in range(2):
        assert not asyncio.run(tool.execute(query="fusion")).is_error
