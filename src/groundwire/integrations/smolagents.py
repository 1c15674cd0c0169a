"""Groundwire in smolagents.

    from smolagents import ToolCallingAgent
    from groundwire.integrations.smolagents import web_tools

    agent = ToolCallingAgent(tools=web_tools(), model=model)

The framework is synchronous and ends a step with an exception's text, so a failure is reported in the result's text.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import call_blocking, tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_Base: Any = need("smolagents", "smolagents").Tool


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`."""
    return [_SmolagentsTool(tool) for tool in tools_for(web, permission)]


class _SmolagentsTool(_Base):
    """One tool."""

    skip_forward_signature_validation = True  # the arguments are those of the schema, and validated by the tool itself

    def __init__(self, tool: Tool) -> None:
        schema = tool.definition()["parameters"]
        self.name = tool.name
        self.description = tool.description
        self.inputs = {
            key: {**value, "nullable": key not in schema["required"]} for key, value in schema["properties"].items()
        }
        self.output_type = "string"
        self._tool = tool
        super().__init__()

    def forward(self, **arguments: Any) -> str:
        """Call it."""
        return render_text(call_blocking(self._tool, arguments))
