"""Groundwire in the tool runner of the Anthropic SDK.

    from anthropic import Anthropic
    from groundwire.integrations.anthropic import web_tools

    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5", max_tokens=1024, tools=web_tools(), messages=[{"role": "user", "content": "..."}]
    )
    print(runner.until_done().content)

A failure is a tool result with `is_error`.
"""

from __future__ import annotations

from typing import Any

from groundwire.integrations.framework_versions import need
from groundwire.integrations.tool_runner import Runner, failed, runners, text_of
from groundwire.sync import SyncWeb
from groundwire.tools import ToolResult
from groundwire.tools.permissions import Permission
from groundwire.web import Web

__all__ = ["async_web_tools", "web_tools"]

_anthropic = need("anthropic", "anthropic")
_tools = need("anthropic", "anthropic.lib.tools")


def web_tools(web: SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return `web_search` and `open_page` for `Anthropic`; see `groundwire.integrations.tool_runner.runners`."""
    return [_sync_tool(runner) for runner in runners(web, permission)]


def async_web_tools(web: Web | SyncWeb | None = None, *, permission: Permission | None = None) -> list[Any]:
    """Return the same for `AsyncAnthropic`."""
    return [_async_tool(runner) for runner in runners(web, permission)]


def _sync_tool(runner: Runner) -> Any:
    def call(**arguments: Any) -> str:
        return _text(runner.call(arguments))

    return _anthropic.beta_tool(call, **_about(runner))


def _async_tool(runner: Runner) -> Any:
    async def call(**arguments: Any) -> str:
        return _text(await runner.acall(arguments))

    return _anthropic.beta_async_tool(call, **_about(runner))


def _about(runner: Runner) -> dict[str, Any]:
    return {"name": runner.name, "description": runner.description, "input_schema": runner.schema}


def _text(result: ToolResult) -> str:
    if failed(result):
        raise _tools.ToolError(text_of(result))
    return text_of(result)
