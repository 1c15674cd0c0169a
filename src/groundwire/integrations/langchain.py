"""Groundwire in LangChain and LangGraph.

    from langchain.agents import create_agent
    from groundwire.integrations.langchain import web_retriever, web_tools

    agent = create_agent("openai:gpt-6.1-sol", tools=web_tools())

A failure is a tool message with the status `error`; the structured result is the message's artifact.
"""

from __future__ import annotations

from typing import Any

from pydantic import PrivateAttr

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult, WebSearchToolResult
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["LangChainWebRetriever", "web_retriever", "web_tools"]

_tools = need("langchain", "langchain_core.tools")
_documents = need("langchain", "langchain_core.documents")
_BaseRetriever: Any = need("langchain", "langchain_core.retrievers").BaseRetriever


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as structured tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


def web_retriever(web: Web | SyncWeb | None = None, *, limit: int | None = None) -> Any:
    """Return a retriever that takes a query and returns a document per search result.

    It raises a `ToolException` if the search fails.

    Args:
        web: See `web_tools`.
        limit: Maximum documents; by default the setting `search.limit`.
    """
    retriever = LangChainWebRetriever(limit=limit)
    retriever._runner, _ = runners(web)
    return retriever


class LangChainWebRetriever(_BaseRetriever):
    """A retriever with the current settings; see `web_retriever`. Serialization keeps its limit.

    `load(dumpd(retriever), valid_namespaces=["groundwire"], allowed_objects=[LangChainWebRetriever])` of
    `langchain_core.load` loads one.
    """

    limit: int | None = None
    """Maximum documents; by default the setting `search.limit`."""

    _runner: Any = PrivateAttr(default=None)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return that it can be serialized."""
        return True

    def _get_relevant_documents(self, query: str, *, run_manager: Any = None) -> list[Any]:
        return _found(self._search().call({"query": query, "limit": self.limit}))

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any = None) -> list[Any]:
        return _found(await self._search().acall({"query": query, "limit": self.limit}))

    def _search(self) -> Runner:
        if self._runner is None:
            self._runner, _ = runners()
        runner: Runner = self._runner
        return runner


def _found(result: ToolResult) -> list[Any]:
    if failed(result) or not isinstance(result, WebSearchToolResult):
        raise _tools.ToolException(text_of(result))
    return [
        _documents.Document(
            page_content=row.snippet,
            metadata={
                "source": row.url,
                "title": row.title,
                "published": row.published,
                "citation_id": row.citation_id,
            },
        )
        for row in result.results
    ]


def _tool(runner: Runner) -> Any:
    def answer(result: ToolResult) -> tuple[str, ToolResult]:
        if failed(result):
            raise _tools.ToolException(text_of(result))
        return text_of(result), result

    def call(**arguments: Any) -> tuple[str, ToolResult]:
        return answer(runner.call(arguments))

    async def acall(**arguments: Any) -> tuple[str, ToolResult]:
        return answer(await runner.acall(arguments))

    return _tools.StructuredTool(
        name=runner.name,
        description=runner.description,
        args_schema=runner.schema,
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
