"""Each framework's own tools, in an environment with it: `shapes.py haystack`."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

QUERY = "reciprocal rank fusion"
PAGE = os.environ.get("SHAPES_PAGE", "")


def haystack() -> None:
    from haystack.tools import Tool

    from groundwire.integrations.haystack import web_tools

    search, page = web_tools()
    assert isinstance(search, Tool)
    assert "Reciprocal rank fusion" in search.invoke(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in page.invoke(url=PAGE)


def langchain() -> None:
    from langchain_core.tools import StructuredTool

    from groundwire.integrations.langchain import web_tools

    search, page = web_tools()
    assert isinstance(search, StructuredTool)
    assert "Reciprocal rank fusion" in search.invoke({"query": QUERY, "limit": 2})
    assert "Reciprocal rank fusion" in asyncio.run(page.ainvoke({"url": PAGE}))


def anthropic() -> None:
    from anthropic import Anthropic, beta_async_tool, beta_tool

    from groundwire.integrations.anthropic import async_web_tools, web_tools

    assert callable(Anthropic(api_key="k").beta.messages.tool_runner)
    kinds = [type(beta_tool(_documented)), type(beta_async_tool(_documented_async))]
    for tools, kind in zip((web_tools(), async_web_tools()), kinds, strict=True):
        assert [type(tool) for tool in tools] == [kind, kind]
        saved = json.loads(json.dumps([tool.to_dict() for tool in tools]))
        assert [tool["name"] for tool in saved] == ["web_search", "open_page"]
    assert "Reciprocal rank fusion" in web_tools()[0].call({"query": QUERY, "limit": 2})


def _documented(query: str) -> str:
    """Search."""
    return query


async def _documented_async(query: str) -> str:
    """Search."""
    return query


def autogen() -> None:
    from autogen_core import CancellationToken
    from autogen_core.tools import BaseTool

    from groundwire.integrations.autogen import web_tools

    for tool, arguments in zip(web_tools(), ({"query": QUERY, "limit": 2}, {"url": PAGE}), strict=True):
        assert isinstance(tool, BaseTool)
        text = asyncio.run(tool.run_json(arguments, CancellationToken()))
        assert "Reciprocal rank fusion" in text, text


def llamaindex() -> None:
    from groundwire.integrations.llamaindex import web_tools

    search, page = web_tools()
    assert len(search.call(query=QUERY, limit=2).raw_output.results) == 2
    assert "Reciprocal rank fusion" in asyncio.run(page.acall(url=PAGE)).content


def smolagents() -> None:
    from smolagents import Tool

    from groundwire.integrations.smolagents import web_tools

    search, page = web_tools()
    assert isinstance(search, Tool)
    assert "Reciprocal rank fusion" in search(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in page(url=PAGE)


def agno() -> None:
    from agno.tools.function import Function

    from groundwire.integrations.agno import web_tools

    search, page = web_tools()
    assert isinstance(search, Function)
    assert "Reciprocal rank fusion" in search.entrypoint(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in page.entrypoint(url=PAGE)


def dspy() -> None:
    import dspy

    from groundwire.integrations.dspy import web_tools

    search, page = web_tools()
    assert isinstance(search, dspy.Tool)
    assert "Reciprocal rank fusion" in search(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in asyncio.run(page.acall(url=PAGE))


def google_adk() -> None:
    from google.adk.tools import BaseTool

    from groundwire.integrations.google_adk import web_tools

    search, page = web_tools()
    assert isinstance(search, BaseTool)
    for tool, arguments in ((search, {"query": QUERY, "limit": 2}), (page, {"url": PAGE})):
        found = asyncio.run(tool.run_async(args=arguments, tool_context=None))
        assert "Reciprocal rank fusion" in found["result"]


def pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    from groundwire.integrations.pydantic_ai import web_tools

    said = Agent(TestModel(), tools=web_tools()).run_sync("?").output
    assert "web_search" in said
    assert "open_page" in said


def agent_framework() -> None:
    from agent_framework import FunctionTool

    from groundwire.integrations.agent_framework import web_tools

    for tool, arguments in zip(web_tools(), ({"query": QUERY, "limit": 2}, {"url": PAGE}), strict=True):
        assert isinstance(tool, FunctionTool)
        said = asyncio.run(tool.invoke(arguments=arguments))
        assert "Reciprocal rank fusion" in "".join(content.text for content in said)


def crewai() -> None:
    import copy

    from crewai.tools import BaseTool

    from groundwire.integrations.crewai import web_tools

    calls: tuple[dict[str, Any], ...] = ({"query": QUERY, "limit": 2}, {"url": PAGE})
    for tool, arguments in zip(web_tools(), calls, strict=True):
        assert isinstance(tool, BaseTool)
        assert "Reciprocal rank fusion" in tool.run(**arguments)
        assert "Reciprocal rank fusion" in copy.deepcopy(tool).run(**arguments)


def openai_agents() -> None:
    from agents import Agent, FunctionTool

    from groundwire.integrations.openai_agents import web_tools

    tools = web_tools()
    assert [isinstance(tool, FunctionTool) for tool in tools] == [True, True]
    assert [tool.name for tool in Agent(name="a", tools=tools).tools] == ["web_search", "open_page"]
    page = tools[1]
    text = asyncio.run(page.on_invoke_tool(None, json.dumps({"url": PAGE})))
    assert "Reciprocal rank fusion" in text, text
    assert "are no JSON object" in asyncio.run(page.on_invoke_tool(None, "[" * 100_000))


def strands() -> None:
    from strands import Agent
    from strands.experimental import config_to_agent
    from strands.models.openai import OpenAIModel

    from groundwire.integrations import strands as ours

    model: Any = OpenAIModel(client_args={"api_key": "k"}, model_id="m")
    config = json.loads(json.dumps({"name": "a", "tools": ["groundwire.integrations.strands:web_search"]}))
    loaded = config_to_agent(config, model=model)
    assert loaded.tool_names == ["web_search"]
    found: Any
    each = Agent(model=model, tools=[ours.duckduckgo_search, ours.brave_search, ours.tavily_search])
    for name, title in {"duckduckgo": "DuckDuckGo", "brave": "Brave", "tavily": "Tavily"}.items():
        found = getattr(each.tool, f"{name}_search")(query=QUERY, max_results=2)
        assert found["content"][0]["text"].startswith(f"Search results for: {QUERY}\n(Source: {title})\n\n1. "), found


def main() -> None:
    warnings.simplefilter("default", ResourceWarning)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, str(Path.cwd()))
        globals()[sys.argv[1].replace("-", "_")]()
        os.chdir("/")
    gc.collect()  # tells, too, what was not closed
    print("it works")


if __name__ == "__main__":
    main()
