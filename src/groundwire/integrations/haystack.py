"""Groundwire in Haystack.

    from haystack.components.agents import Agent
    from groundwire.integrations.haystack import web_tools

    agent = Agent(chat_generator=generator, tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_tools = need("haystack", "haystack.tools")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_tool(tool) for tool in tools_for(web, permission)]


def _tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> str:
        return render_text(call_blocking(tool, arguments))

    async def acall(**arguments: Any) -> str:
        return render_text(await tool.call(**arguments))

    return _tools.Tool(**tool.definition(), function=call, async_function=acall)
