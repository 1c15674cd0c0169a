"""Groundwire in Microsoft Agent Framework.

    from agent_framework import Agent
    from groundwire.integrations.agent_framework import web_tools

    agent = Agent(client=client, tools=web_tools())

A failure is reported in the text of the result. A tool saved with `to_dict` is loaded with
`AgentFrameworkTool.from_dict`, and then uses the current settings.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runner_named, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["AgentFrameworkTool", "web_tools"]

_Base: Any = need("agent-framework", "agent_framework").FunctionTool


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as function tools; see `groundwire.integrations.tool_runner.runners`."""
    return [AgentFrameworkTool(runner) for runner in runners(web, permission)]


class AgentFrameworkTool(_Base):
    """One tool.

    Args:
        runner: The tool that it calls.
    """

    def __init__(self, runner: Runner) -> None:
        async def call(**arguments: Any) -> str:
            return text_of(await runner.acall(arguments))

        super().__init__(name=runner.name, description=runner.description, func=call, input_model=runner.schema)

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """Return the serialized form: the name of the tool."""
        return {"type": "function_tool", "name": self.name}

    @classmethod
    def from_dict(cls, value: MutableMapping[str, Any], /, **_: Any) -> Any:
        """Load a serialized tool."""
        return cls(runner_named(value["name"]))
