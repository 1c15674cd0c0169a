"""Groundwire in the OpenAI Agents SDK.

    from agents import Agent
    from groundwire.integrations.openai_agents import web_tools

    agent = Agent(name="researcher", tools=web_tools())

The SDK passes a result through `str()` and hides the text of an exception, so every result is text, and a failure is
reported in it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from groundwire.integrations.framework_tools import tools_for
from groundwire.integrations.framework_versions import need
from groundwire.json_text import json_or_none
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["function_tool", "web_tools"]

_agents = need("openai-agents", "agents")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as function tools; see `framework_tools.tools_for`."""
    return [_tool(tool) for tool in tools_for(web, permission)]


def function_tool(
    name: str,
    description: str,
    schema: Mapping[str, Any],
    call: Callable[[Mapping[str, Any]], Awaitable[Any]],
) -> Any:
    """Return a function tool whose defaults stay defaults: strict mode would require every argument from the model.

    Args:
        name: The tool's name.
        description: What it does.
        schema: The arguments as a JSON schema.
        call: Takes the arguments.
    """

    async def invoke(_: Any, arguments: str) -> Any:
        values = json_or_none(arguments) if arguments and arguments.strip() else {}
        if not isinstance(values, dict):
            example = json.dumps(dict.fromkeys(schema.get("required", schema["properties"]), "..."))
            return f"The arguments of {name} are no JSON object. Call it again with, for example, {example}."
        return await call(values)

    return _agents.FunctionTool(
        name=name,
        description=description,
        params_json_schema=json.loads(json.dumps(schema, default=dict)),
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _tool(tool: Tool) -> Any:
    async def call(arguments: Mapping[str, Any]) -> str:
        return render_text(await tool.call(**arguments))

    return function_tool(tool.name, tool.description, tool.definition()["parameters"], call)
