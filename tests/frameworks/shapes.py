"""Each framework's own shape, saved and loaded by the framework, in an environment with it: `shapes.py haystack`."""

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
    from haystack import Pipeline
    from haystack.core.serialization_security import allow_deserialization_module
    from haystack.tools.serde_utils import deserialize_tools_or_toolset_inplace, serialize_tools_or_toolset

    from groundwire.integrations.haystack import WebPageFetcher, WebSearch, web_tools

    allow_deserialization_module("groundwire.*")
    pipeline = Pipeline()
    pipeline.add_component("search", WebSearch(top_k=2))
    pipeline.add_component("fetch", WebPageFetcher(max_length=500))
    pipeline.connect("search.links", "fetch.urls")
    saved = pipeline.dumps()
    loaded = Pipeline.loads(saved)
    assert loaded.dumps() == saved
    found = loaded.run({"search": {"query": QUERY}}, include_outputs_from={"search"})
    assert len(found["search"]["documents"]) == len(found["fetch"]["documents"]) == 2
    assert asyncio.run(loaded.run_async({"search": {"query": QUERY}}))["fetch"]["documents"]
    data = {"tools": json.loads(json.dumps(serialize_tools_or_toolset(web_tools())))}
    deserialize_tools_or_toolset_inplace(data)
    assert [tool.name for tool in data["tools"]] == ["web_search", "open_page"]
    assert "Search results for" in data["tools"][0].invoke(query=QUERY, limit=2)


def langchain() -> None:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.load import dumpd, load
    from langchain_core.retrievers import BaseRetriever

    from groundwire.integrations.langchain import LangChainWebRetriever, WebPageLoader, web_retriever

    retriever = web_retriever(limit=2)
    assert isinstance(retriever, BaseRetriever)
    saved = json.loads(json.dumps(dumpd(retriever)))
    loaded = load(saved, valid_namespaces=["groundwire"], allowed_objects=[LangChainWebRetriever])
    assert loaded.limit == 2
    found = loaded.invoke(QUERY)
    assert [document.metadata["citation_id"] for document in found] == [1, 2]
    assert len(asyncio.run(retriever.ainvoke(QUERY))) == 2
    loader: Any = WebPageLoader([PAGE], max_length=500)
    assert isinstance(loader, BaseLoader)
    (document,) = loader.load()
    assert document.metadata["source"] == PAGE
    (again,) = asyncio.run(loader.aload())
    assert again.page_content == document.page_content
    assert WebPageLoader("http://169.254.169.254/", continue_on_failure=True).load() == []


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
        saved = json.loads(tool.dump_component().model_dump_json())
        loaded: Any = BaseTool.load_component(saved)
        assert loaded.schema == tool.schema
        text = asyncio.run(loaded.run_json(arguments, CancellationToken()))
        assert "Reciprocal rank fusion" in text, text


def llamaindex() -> None:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.readers.base import BasePydanticReader
    from llama_index.core.tools.tool_spec.base import BaseToolSpec

    from groundwire.integrations.llamaindex import LlamaIndexWebRetriever, WebPageReader, WebToolSpec

    spec: Any = WebToolSpec()
    assert isinstance(spec, BaseToolSpec)
    search, read = spec.to_tool_list()
    assert (search.metadata.name, read.metadata.name) == ("web_search", "open_page")
    assert len(search.call(query=QUERY, limit=2).raw_output.results) == 2
    retriever: Any = LlamaIndexWebRetriever(limit=2)
    assert isinstance(retriever, BaseRetriever)
    assert [node.metadata["citation_id"] for node in retriever.retrieve(QUERY)] == [1, 2]
    assert len(asyncio.run(retriever.aretrieve(QUERY))) == 2
    reader: Any = WebPageReader(max_length=500)
    assert isinstance(reader, BasePydanticReader)
    loaded: Any = WebPageReader.from_dict(json.loads(reader.to_json()))
    assert loaded.max_length == 500
    (document,) = loaded.load_data([PAGE])
    assert document.metadata["url"] == PAGE
    assert asyncio.run(reader.aload_data([PAGE]))[0].text == document.text


def smolagents() -> None:
    from smolagents import Tool

    from groundwire.integrations.smolagents import SmolagentsOpenPage, SmolagentsWebSearch

    for made, arguments in (
        (SmolagentsWebSearch(), {"query": QUERY, "limit": 2}),
        (SmolagentsOpenPage(), {"url": PAGE}),
    ):
        made.save(made.name, make_gradio_app=False)
        assert "groundwire" in made.to_dict()["requirements"]
        loaded = Tool.from_code(Path(made.name, "tool.py").read_text())
        assert (loaded.name, loaded.inputs) == (made.name, made.inputs)
        assert "Reciprocal rank fusion" in loaded(**arguments)


def agent_framework() -> None:
    from agent_framework import FunctionTool

    from groundwire.integrations.agent_framework import AgentFrameworkTool, web_tools

    for tool, arguments in zip(web_tools(), ({"query": QUERY, "limit": 2}, {"url": PAGE}), strict=True):
        assert isinstance(tool, FunctionTool)
        loaded: Any = AgentFrameworkTool.from_dict(json.loads(json.dumps(tool.to_dict())))
        assert loaded.parameters() == tool.parameters()
        said = asyncio.run(loaded.invoke(arguments=arguments))
        assert "Reciprocal rank fusion" in "".join(content.text for content in said)


def agno() -> None:
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat
    from agno.registry import Registry
    from agno.tools import Toolkit

    from groundwire.integrations.agno import WebToolkit

    toolkit = WebToolkit()
    assert isinstance(toolkit, Toolkit)
    saved = json.loads(json.dumps(Agent(model=OpenAIChat(id="m", api_key="k"), tools=[toolkit]).to_dict()))
    loaded: Any = Agent.from_dict(saved, registry=Registry(tools=[WebToolkit()]), strict=True)
    search, page = loaded.tools
    assert (search.name, page.name) == ("web_search", "open_page")
    assert "Reciprocal rank fusion" in search.entrypoint(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in page.entrypoint(url=PAGE)
    assert list(WebToolkit(include_tools=["open_page"]).functions) == ["open_page"]


def crewai() -> None:
    import copy

    from crewai.tools import BaseTool
    from pydantic import TypeAdapter

    from groundwire.integrations.crewai import web_tools

    calls: tuple[dict[str, Any], ...] = ({"query": QUERY, "limit": 2}, {"url": PAGE})
    for tool, arguments in zip(web_tools(), calls, strict=True):
        assert isinstance(tool, BaseTool)
        saved = TypeAdapter(list[BaseTool]).dump_json([tool])
        (loaded,) = TypeAdapter(list[BaseTool]).validate_python(json.loads(saved))
        assert TypeAdapter(list[BaseTool]).dump_json([loaded]) == saved
        assert "Reciprocal rank fusion" in loaded.run(**arguments)
        assert "Reciprocal rank fusion" in copy.deepcopy(tool).run(**arguments)


def dspy() -> None:
    import dspy

    from groundwire.integrations.dspy import DspyWebRetriever

    class Program(dspy.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.retrieve = DspyWebRetriever(k=5)

        def forward(self, question: str) -> Any:
            return self.retrieve(question)

    program = Program()
    program.retrieve.k = 2
    program.save("program.json")
    loaded = Program()
    loaded.load("program.json")
    assert len(loaded(QUERY).passages) == len(program.deepcopy()(QUERY).urls) == 2
    assert "ank" in asyncio.run(loaded.retrieve.acall(QUERY, k=1)).titles[0]
    assert isinstance(loaded.retrieve, dspy.Retrieve)


def google_adk() -> None:
    from google.adk.agents.config_agent_utils import from_config
    from google.adk.tools.base_toolset import BaseToolset

    from groundwire.integrations.google_adk import WebToolset

    Path("agent.yaml").write_text(
        "agent_class: LlmAgent\nname: a\nmodel: m\ninstruction: i\n"
        "tools:\n  - name: groundwire.integrations.google_adk.WebToolset\n    args: {tool_filter: [web_search]}\n"
    )
    agent: Any = from_config("agent.yaml")
    (toolset,) = agent.tools
    assert isinstance(toolset, WebToolset)
    assert isinstance(toolset, BaseToolset)

    async def use() -> str:
        (search,) = await toolset.get_tools_with_prefix()
        found = await search.run_async(args={"query": QUERY, "limit": 2}, tool_context=None)
        await toolset.close()
        return str(found["result"])

    assert "Reciprocal rank fusion" in asyncio.run(use())


def openai_agents() -> None:
    from agents import Agent, FunctionTool, WebSearchTool

    from groundwire.errors import NativeUnsupported
    from groundwire.integrations.openai_agents import hosted_web_tools, web_tools

    assert [isinstance(tool, FunctionTool) for tool in web_tools()] == [True, True]
    os.environ["GROUNDWIRE_POLICY_ALLOWED_DOMAINS"] = "example.com,127.0.0.1"
    search, page = hosted_web_tools("gpt-6.1-sol", search_context_size="low")
    assert isinstance(search, WebSearchTool)
    assert search.filters is not None
    assert set(search.filters.allowed_domains or ()) == {"example.com", "127.0.0.1"}
    assert [tool.name for tool in Agent(name="a", tools=[search, page]).tools] == ["web_search", "open_page"]
    text = asyncio.run(page.on_invoke_tool(None, json.dumps({"url": PAGE})))
    assert "Reciprocal rank fusion" in text, text
    assert "are no JSON object" in asyncio.run(page.on_invoke_tool(None, "[" * 100_000))
    said = ""
    try:
        hosted_web_tools("gpt-oss-120b")
    except NativeUnsupported as error:
        said = str(error)
    assert "no web search" in said


def pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.toolsets import AbstractToolset

    from groundwire.integrations.pydantic_ai import GroundwireTools, web_toolset

    toolset = web_toolset()
    assert isinstance(toolset, AbstractToolset)
    one = toolset.filtered(lambda _, tool: tool.name == "web_search").prefixed("my")
    model = TestModel()
    Agent(model, toolsets=[one]).run_sync("?")
    assert model.last_model_request_parameters is not None
    assert [tool.name for tool in model.last_model_request_parameters.function_tools] == ["my_web_search"]
    spec = json.loads(json.dumps({"model": "test", "capabilities": ["GroundwireTools"]}))
    loaded: Any = Agent.from_spec(spec, custom_capability_types=[GroundwireTools])
    said = loaded.run_sync("?", model=TestModel()).output
    assert "web_search" in said
    assert "open_page" in said


def strands() -> None:
    from strands import Agent
    from strands.experimental import config_to_agent
    from strands.models.openai import OpenAIModel

    try:
        from strands.tools import ToolProvider
    except ImportError:  # until 1.23
        from strands.experimental.tools import ToolProvider

    from groundwire.integrations import strands as ours

    model: Any = OpenAIModel(client_args={"api_key": "k"}, model_id="m")
    provider = ours.WebToolProvider()
    assert isinstance(provider, ToolProvider)
    agent = Agent(model=model, tools=[provider])
    assert sorted(agent.tool_names) == ["open_page", "web_search"]
    found: Any = agent.tool.web_search(query=QUERY, limit=2)
    assert "Reciprocal rank fusion" in found["content"][0]["text"]
    agent.cleanup()
    config = json.loads(json.dumps({"name": "a", "tools": ["groundwire.integrations.strands:web_search"]}))
    loaded = config_to_agent(config, model=model)
    assert loaded.tool_names == ["web_search"]
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
    print("saved and loaded")


if __name__ == "__main__":
    main()
