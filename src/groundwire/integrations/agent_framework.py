"""Groundwire in Microsoft Agent Framework.

    from agent_framework import Agent
    from groundwire.integrations.agent_framework import web_tools

    agent = Agent(client=client, tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_framework = need("agent-framework", "agent_framework")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as function tools; see `framework_tools.tools_for`."""
    return [_tool(tool) for tool in tools_for(web, permission)]


def _tool(tool: Tool) -> Any:
    async def call(**arguments: Any) -> str:
        return render_text(await tool.call(**arguments))

    return _framework.FunctionTool(
        name=tool.name, description=tool.description, func=call, input_model=tool.definition()["parameters"]
    )
