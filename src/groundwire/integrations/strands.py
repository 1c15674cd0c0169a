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

from groundwire.integrations.framework_versions import need
from groundwire.integrations.hosts import fallback_chain
from groundwire.integrations.hosts.fallback_chain import get_session_stats, reset_session_counter
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
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
    """Return `web_search` and `open_page` as Strands tools; see `groundwire.integrations.tool_runner.runners`.

    A failure has the status `error`, so that Strands and the model's API recognize it.
    """
    return [_tool(runner) for runner in runners(web, permission)]


def _tool(runner: Runner) -> Any:
    spec = {"name": runner.name, "description": runner.description, "inputSchema": {"json": runner.schema}}

    async def call(use: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        result = await runner.acall(use["input"])
        return {
            "toolUseId": use["toolUseId"],
            "status": "error" if failed(result) else "success",
            "content": [{"text": text_of(result)}],
        }

    return _tools.PythonAgentTool(runner.name, spec, call)
