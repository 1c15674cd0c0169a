"""Groundwire in LangChain and LangGraph.

    from langchain.agents import create_agent
    from groundwire.integrations.langchain import web_retriever, web_tools

    agent = create_agent("openai:gpt-5", tools=web_tools())

A failure is a tool message with the status `error`; the structured result is the message's artifact.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult, WebSearchToolResult
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_retriever", "web_tools"]

_tools = need("langchain", "langchain_core.tools")
_runnables = need("langchain", "langchain_core.runnables")
_documents = need("langchain", "langchain_core.documents")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as structured tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


def web_retriever(web: Web | SyncWeb | None = None, *, limit: int | None = None) -> Any:
    """Return a runnable that takes a query and returns documents, a result of the search each.

    It raises a `ToolException` when the web could not be searched.

    Args:
        web: See `web_tools`.
        limit: The most documents; by default the setting `search.limit`.
    """
    search, _ = runners(web)

    def retrieve(query: str) -> list[Any]:
        return _found(search.call({"query": query, "limit": limit}))

    async def aretrieve(query: str) -> list[Any]:
        return _found(await search.acall({"query": query, "limit": limit}))

    return _runnables.RunnableLambda(retrieve, aretrieve, name="web_search")


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
