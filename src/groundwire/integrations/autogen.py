"""Groundwire in AutoGen.

    from autogen_agentchat.agents import AssistantAgent
    from groundwire.integrations.autogen import web_tools

    agent = AssistantAgent("researcher", model_client=client, tools=web_tools(), max_tool_iterations=6)

A failure is reported in the text of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from groundwire.integrations.framework_tools import tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_Base: Any = need("autogen", "autogen_core.tools").BaseTool


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_AutoGenTool(tool) for tool in tools_for(web, permission)]


class _AutoGenTool(_Base):
    """One tool."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(BaseModel, str, tool.name, tool.description)
        self._tool = tool

    @property
    def schema(self) -> dict[str, Any]:
        """The tool's definition, with the schema unchanged; the framework would otherwise derive it from a class."""
        return self._tool.definition()

    async def run(self, args: BaseModel, cancellation_token: Any) -> str:
        """Call it with parsed arguments."""
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(self, args: Mapping[str, Any], cancellation_token: Any, call_id: str | None = None) -> str:
        """Call it."""
        return render_text(await self._tool.call(**args))
