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

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["web_capability", "web_tools"]

_pydantic_ai = need("pydantic-ai", "pydantic_ai")
_capabilities = need("pydantic-ai", "pydantic_ai.capabilities")


def web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` as tools; see `groundwire.integrations.tool_runner.runners`.

    The structured result is the metadata of the tool's return.
    """
    return [_tool(runner) for runner in runners(web, permission)]


def web_capability(web: Web | SyncWeb | None = None, *, permission: Permission | None = None, **native: Any) -> Any:
    """Return the search capability: the model's hosted search if there is one, else `web_search`.

    Args:
        web: See `web_tools`.
        permission: See `web_tools`; hosted searches are not subject to it.
        native: The requirements for hosted search, such as `search_context_size`; as for `WebSearch`.
    """
    search, _ = web_tools(web, permission=permission)
    return _capabilities.WebSearch(local=search, **native)


def _tool(runner: Runner) -> Any:
    async def call(**arguments: Any) -> Any:
        result = await runner.acall(arguments)
        if failed(result):
            raise _pydantic_ai.ToolFailed(text_of(result))
        return _pydantic_ai.ToolReturn(text_of(result), metadata=result)

    return _pydantic_ai.Tool.from_schema(call, runner.name, runner.description, runner.schema)
