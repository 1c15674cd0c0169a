"""Groundwire in Haystack.

    from haystack.components.agents import Agent
    from groundwire.integrations.haystack import web_tools

    agent = Agent(chat_generator=generator, tools=web_tools())

A failure is reported in the text of the result.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission

__all__ = ["web_tools"]

_tools = need("haystack", "haystack.tools")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`."""
    return [_tool(runner) for runner in runners(web, permission)]


def _tool(runner: Runner) -> Any:
    def call(**arguments: Any) -> str:
        return text_of(runner.call(arguments))

    async def acall(**arguments: Any) -> str:
        return text_of(await runner.acall(arguments))

    return _tools.Tool(
        name=runner.name,
        description=runner.description,
        parameters=runner.schema,
        function=call,
        async_function=acall,
    )
