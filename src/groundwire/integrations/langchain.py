"""Groundwire in LangChain and LangGraph.

    from langchain.agents import create_agent
    from groundwire.integrations.langchain import web_tools

    agent = create_agent("openai:gpt-6.1-sol", tools=web_tools())

A failure is a tool message with the status `error`; the structured result is the message's artifact.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, ToolResult, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_tools = need("langchain", "langchain_core.tools")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as structured tools; see `framework_tools.tools_for`."""
    return [_tool(tool) for tool in tools_for(web, permission)]


def _tool(tool: Tool) -> Any:
    def answer(result: ToolResult) -> tuple[str, ToolResult]:
        if result.status == "error":
            raise _tools.ToolException(render_text(result))
        return render_text(result), result

    def call(**arguments: Any) -> tuple[str, ToolResult]:
        return answer(call_blocking(tool, arguments))

    async def acall(**arguments: Any) -> tuple[str, ToolResult]:
        return answer(await tool.call(**arguments))

    return _tools.StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.definition()["parameters"],
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
