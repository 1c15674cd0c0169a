"""Groundwire in PydanticAI.

    from pydantic_ai import Agent
    from groundwire.integrations.pydantic_ai import web_capability, web_tools

    agent = Agent("openai:gpt-6.1-sol", tools=web_tools())
    agent = Agent("anthropic:claude-sonnet-5", capabilities=[web_capability()])

The second uses the model's hosted search if there is one. An exception would end the whole run, so a failure is
returned to the model as a failed call.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_tools import tools_for
from groundwire.integrations.framework_versions import need
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, render_text
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_capability", "web_tools"]

_pydantic_ai = need("pydantic-ai", "pydantic_ai")
_capabilities = need("pydantic-ai", "pydantic_ai.capabilities")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `framework_tools.tools_for`.

    The structured result is the metadata of the tool's return.
    """
    return [_tool(tool) for tool in tools_for(web, permission)]


def web_capability(web: Web | SyncWeb | None = None, *, permission: Permission | None = None, **native: Any) -> Any:
    """Return the search capability: the model's hosted search if there is one, else `web_search`.

    Args:
        web: See `web_tools`.
        permission: See `web_tools`; hosted searches are not subject to it.
        native: The requirements for hosted search, such as `search_context_size`; as for `WebSearch`.
    """
    search, _ = web_tools(web, permission=permission)
    return _capabilities.WebSearch(local=search, **native)


def _tool(tool: Tool) -> Any:
    async def call(**arguments: Any) -> Any:
        result = await tool.call(**arguments)
        if result.status == "error":
            raise _pydantic_ai.ToolFailed(render_text(result))
        return _pydantic_ai.ToolReturn(render_text(result), metadata=result)

    return _pydantic_ai.Tool.from_schema(call, tool.name, tool.description, tool.definition()["parameters"])
