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

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_Base: Any = need("autogen", "autogen_core.tools").BaseTool


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_AutoGenTool(runner) for runner in runners(web, permission)]


class _AutoGenTool(_Base):
    """One tool."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(BaseModel, str, runner.name, runner.description)
        self._runner = runner

    @property
    def schema(self) -> dict[str, Any]:
        """The tool's definition, with the schema unchanged; the framework would otherwise derive it from a class."""
        return {"name": self._runner.name, "description": self._runner.description, "parameters": self._runner.schema}

    async def run(self, args: BaseModel, cancellation_token: Any) -> str:
        """Call it with parsed arguments."""
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(self, args: Mapping[str, Any], cancellation_token: Any, call_id: str | None = None) -> str:
        """Call it."""
        return text_of(await self._runner.acall(args))
