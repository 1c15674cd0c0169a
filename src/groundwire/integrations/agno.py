"""Groundwire in Agno.

    from agno.agent import Agent
    from groundwire.integrations.agno import web_tools

    agent = Agent(model=model, tools=web_tools())

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

_function = need("agno", "agno.tools.function")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as functions; see `framework_tools.tools_for`."""
    return [_tool(tool) for tool in tools_for(web, permission)]


def _tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> str:
        return render_text(call_blocking(tool, arguments))

    return _function.Function(
        name=tool.name,
        description=tool.description,
        parameters=tool.definition()["parameters"],
        entrypoint=call,
        skip_entrypoint_processing=True,  # the schema is given, and the tool itself validates the arguments
    )
