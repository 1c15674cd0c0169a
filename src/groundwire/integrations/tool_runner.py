"""Calls the asynchronous tools from any framework: from one event loop, several in turn, or none."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.sync import SyncWeb
from groundwire.tools import Tool, ToolResult, refused, render_text, web_tools
from groundwire.tools.permissions import Permission, guarded
from groundwire.tools.toolset import in_thread_of
from groundwire.web import Web

__all__ = ["Runner", "closed_with", "failed", "runners", "text_of"]


class _Owner:
    """What the runners of one web have in common: the web is closed when it is garbage-collected, after them."""


class Runner:
    """One tool, for callers with and without `async`.

    Args:
        tool: The tool, of a `SyncWeb` in whose thread it runs, or of a `Web` for the caller's own event loop.
        owner: An object that lives as long as the runner.
    """

    def __init__(self, tool: Tool, owner: object = None) -> None:
        self.tool = tool
        self._owner = owner

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    @property
    def description(self) -> str:
        """When and how to use the tool."""
        return self.tool.description

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments as a JSON schema, as a copy."""
        schema: dict[str, Any] = self.tool.definition()["parameters"]
        return schema

    async def acall(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Call the tool and return its result; raises only on cancellation."""
        return await self.tool.call(**_given(arguments))

    def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Call the tool and return its result, for callers without `async`."""
        values = _given(arguments)

        async def run(_: Web) -> ToolResult:
            return await self.tool.call(**values)

        if isinstance(self.tool.web, SyncWeb):
            return self.tool.web.submit(run).result()
        error = InvalidRequest(
            "web", "is a Web, which needs an event loop, and it was called without", "Pass a SyncWeb, or nothing."
        )
        return refused(self.name, values, error)


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}


def runners(web: Web | SyncWeb | None = None, permission: Permission | None = None) -> tuple[Runner, Runner]:
    """Return `web_search` and `open_page`, ready to be called from a framework.

    Args:
        web: Does the searching and reading; the caller closes it. A `SyncWeb` may be used from any thread and any event
            loop, a `Web` in one event loop. If None, a `SyncWeb` with the current settings is created, and closed when
            its tools are garbage-collected.
        permission: Decides whether a call is made; by default every call is.
    """
    web_argument: object = web
    if web_argument is not None and not isinstance(web_argument, (Web, SyncWeb)):
        raise InvalidRequest("web", f"is of type {type(web_argument).__name__}", "Pass a Web, a SyncWeb or nothing.")
    # The tools are not a local variable: an exception raised while creating a web would keep this frame, and so the
    # tools.
    return _made(web, permission) if web is not None else _owned(SyncWeb(), permission)


def failed(result: ToolResult) -> bool:
    """Return whether a tool call failed."""
    return result.status == "error"


def text_of(result: ToolResult) -> str:
    """Return a result as text for the model; content from the web is between markers that it is not instructions."""
    return render_text(result)


def closed_with(owner: object, close: Callable[[], None]) -> None:
    """Close something when its owner is garbage-collected, or when the process ends.

    Args:
        owner: The object that holds a reference to it.
        close: Closes it; it must not reference the owner.
    """
    finalizer = weakref.finalize(owner, close)
    finalizer.atexit = False  # too late: threads take no more work, so pending writes would fail
    register = getattr(threading, "_register_atexit", None)  # used by concurrent.futures too, and called before its own
    if register is not None:
        with suppress(RuntimeError):  # the process is already ending
            register(finalizer)


def _made(web: Web | SyncWeb, permission: Permission | None, owner: object = None) -> tuple[Runner, Runner]:
    tools = web_tools(web.inner if isinstance(web, SyncWeb) else web)
    search, page = (guarded(tool, permission) if permission else tool for tool in tools)
    if isinstance(web, SyncWeb):
        search, page = in_thread_of(web, search), in_thread_of(web, page)
    return Runner(search, owner), Runner(page, owner)


def _owned(home: SyncWeb, permission: Permission | None) -> tuple[Runner, Runner]:
    """Return the runners of a web that is closed when the last of them is garbage-collected."""
    owner = _Owner()
    closed_with(owner, home.close)
    return _made(home, permission, owner)
