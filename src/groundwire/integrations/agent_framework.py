"""Groundwire in Microsoft Agent Framework.

    from agent_framework import Agent
    from groundwire.integrations.agent_framework import web_tools

    agent = Agent(client=client, tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_framework = need("agent-framework", "agent_framework")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as function tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


def _tool(runner: Runner) -> Any:
    async def call(**arguments: Any) -> str:
        return text_of(await runner.acall(arguments))

    return _framework.FunctionTool(
        name=runner.name, description=runner.description, func=call, input_model=runner.schema
    )
