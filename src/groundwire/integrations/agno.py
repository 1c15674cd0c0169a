"""Groundwire in Agno.

    from agno.agent import Agent
    from groundwire.integrations.agno import web_tools

    agent = Agent(model=model, tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_function = need("agno", "agno.tools.function")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as functions; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


def _tool(runner: Runner) -> Any:
    def call(**arguments: Any) -> str:
        return text_of(runner.call(arguments))

    return _function.Function(
        name=runner.name,
        description=runner.description,
        parameters=runner.schema,
        entrypoint=call,
        skip_entrypoint_processing=True,  # the schema is given, and the tool itself validates the arguments
    )
