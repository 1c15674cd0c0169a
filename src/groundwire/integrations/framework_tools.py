"""The two tools for any framework: called from one event loop, several in turn, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, ToolResult, refused, web_tools
from groundwire.tools.permissions import Permission, guarded
from groundwire.web import Web

__all__ = ["call_blocking", "tools_for"]


def tools_for(web: Web | SyncWeb | None = None, permission: Permission | None = None) -> tuple[Tool, ...]:
    """Return `web_search` and `open_page`, ready to be called from a framework.

    Args:
        web: Does the searching and reading; the caller closes it. A `SyncWeb` may be used from any thread and any event
            loop, a `Web` in one event loop. If None, a `SyncWeb` with the current settings is created, and closed when
            its tools are garbage-collected.
        permission: Decides whether a call is made; by default every call is.
    """
    if web is None:
        web = SyncWeb()
        web.close_with_program()
    return tuple(guarded(tool, permission) if permission else tool for tool in web_tools(web))


def call_blocking(tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
    """Call a tool and return its result, for callers without `async`."""
    if tool.blocks:
        return tool.wait(**arguments)
    error = InvalidRequest(
        "web", "is a Web, which needs an event loop, and it was called without", "Pass a SyncWeb, or nothing."
    )
    return refused(tool.name, arguments, error)
