"""Groundwire in Google's Agent Development Kit.

    from google.adk.agents import Agent
    from groundwire.integrations.google_adk import web_tools

    agent = Agent(name="researcher", model="gemini-3.8-flash", tools=web_tools())

A result is an object with `result`, a failure one with `error`.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_tools"]

_Base: Any = need("google-adk", "google.adk.tools").BaseTool
_types = need("google-adk", "google.genai.types")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_AdkTool(runner) for runner in runners(web, permission)]


class _AdkTool(_Base):
    """One tool."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(name=runner.name, description=runner.description)
        self._runner = runner

    def _get_declaration(self) -> Any:
        return _types.FunctionDeclaration(
            name=self._runner.name,
            description=self._runner.description,
            parameters_json_schema=self._runner.schema,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
        """Call it."""
        result = await self._runner.acall(args)
        return {"error" if failed(result) else "result": text_of(result)}
