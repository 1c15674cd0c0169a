"""Groundwire in Strands Agents.

    from strands import Agent
    from groundwire.integrations.strands import web_tools

    agent = Agent(tools=web_tools())

`web_search` of this module is haytham's drop-in as a Strands tool, with the session counter; `duckduckgo_search`,
`brave_search` and `tavily_search` use one provider of the same chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.integrations.framework_tools import tools_for
from groundwire.integrations.framework_versions import need
from groundwire.integrations.hosts import fallback_chain
from groundwire.integrations.hosts.fallback_chain import get_session_stats, reset_session_counter
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = [
    "brave_search",
    "duckduckgo_search",
    "get_session_stats",
    "reset_session_counter",
    "tavily_search",
    "web_search",
    "web_tools",
]

_strands = need("strands", "strands")
_tools = need("strands", "strands.tools")

web_search: Any = _strands.tool(fallback_chain.web_search)
"""The tool of haytham: `web_search(query, max_results, include_domains, search_depth)`; it is also callable."""

duckduckgo_search: Any = _strands.tool(fallback_chain.duckduckgo_search)
"""`duckduckgo_search(query, max_results)`, within the limit of the same session."""

brave_search: Any = _strands.tool(fallback_chain.brave_search)
"""`brave_search(query, max_results)`, within the limit of the same session."""

tavily_search: Any = _strands.tool(fallback_chain.tavily_search)
"""`tavily_search(query, max_results)`, within the limit of the same session."""


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as Strands tools; see `framework_tools.tools_for`.

    A failure has the status `error`, so that Strands and the model's API recognize it.
    """
    return [_tool(tool) for tool in tools_for(web, permission)]


def _tool(tool: Tool) -> Any:
    schema = tool.definition()["parameters"]
    spec = {"name": tool.name, "description": tool.description, "inputSchema": {"json": schema}}

    async def call(use: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        result = await tool.call(**use["input"])
        return {
            "toolUseId": use["toolUseId"],
            "status": "error" if result.status == "error" else "success",
            "content": [{"text": render_text(result)}],
        }

    return _tools.PythonAgentTool(tool.name, spec, call)
