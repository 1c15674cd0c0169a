"""Groundwire in Google's Agent Development Kit.

    from google.adk.agents import Agent
    from groundwire.integrations.google_adk import web_tools

    agent = Agent(name="researcher", model="gemini-3.8-flash", tools=web_tools())

A result is an object with `result`, a failure one with `error`.
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

_Base: Any = need("google-adk", "google.adk.tools").BaseTool
_types = need("google-adk", "google.genai.types")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_AdkTool(tool) for tool in tools_for(web, permission)]


class _AdkTool(_Base):
    """One tool."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> Any:
        return _types.FunctionDeclaration(
            name=self._tool.name,
            description=self._tool.description,
            parameters_json_schema=self._tool.definition()["parameters"],
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
        """Call it."""
        result = await self._tool.call(**args)
        return {"error" if result.status == "error" else "result": render_text(result)}
