"""Groundwire in LangChain and LangGraph.

    from langchain.agents import create_agent
    from groundwire.integrations.langchain import web_tools

    agent = create_agent("openai:gpt-6.1-sol", tools=web_tools())

A failure is a tool message with the status `error`; the structured result is the message's artifact.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_tools = need("langchain", "langchain_core.tools")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as structured tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


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
