"""Groundwire in the tool runner of the Anthropic SDK.

    from anthropic import Anthropic
    from groundwire.integrations.anthropic import web_tools

    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5", max_tokens=1024, tools=web_tools(), messages=[{"role": "user", "content": "..."}]
    )
    print(runner.until_done().content)

A failure is a tool result with `is_error`.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, ToolResult, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["async_web_tools", "web_tools"]

_anthropic = need("anthropic", "anthropic")
_tools = need("anthropic", "anthropic.lib.tools")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` for `Anthropic`; see `framework_tools.tools_for`."""
    return [_sync_tool(tool) for tool in tools_for(web, permission)]


def async_web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return the same for `AsyncAnthropic`."""
    return [_async_tool(tool) for tool in tools_for(web, permission)]


def _sync_tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> str:
        return _text(call_blocking(tool, arguments))

    return _anthropic.beta_tool(call, **_about(tool))


def _async_tool(tool: Tool) -> Any:
    async def call(**arguments: Any) -> str:
        return _text(await tool.call(**arguments))

    return _anthropic.beta_async_tool(call, **_about(tool))


def _about(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.definition()["parameters"]}


def _text(result: ToolResult) -> str:
    if result.status == "error":
        raise _tools.ToolError(render_text(result))
    return render_text(result)
