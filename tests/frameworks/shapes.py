"""Each framework's own shape, saved and loaded by the framework, in an environment with it: `shapes.py haystack`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, str(Path.cwd()))
        shapes = (agent_framework, haystack, langchain, autogen, llamaindex, smolagents)
        {shape.__name__: shape for shape in shapes}[sys.argv[1].replace("-", "_")]()
        os.chdir("/")
    print("saved and loaded")


if __name__ == "__main__":
    main()
