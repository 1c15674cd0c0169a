"""Everybody else: our own function tools, in the form of the API at hand (document C, tier 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.native.definitions import FunctionTool, read, write
from groundwire.native.matrix import Wire
from groundwire.native.requests.common import Body, Found, replaced

__all__ = ["local_tools", "to_local"]


def to_local(body: Mapping[str, Any], found: Found, tools: Sequence[FunctionTool], wire: Wire) -> Body:
    """Return the body with function tools in the search's place.

    Args:
        body: The request.
        found: Where the search is.
        tools: Our tools.
        wire: The form in which the API takes them.

    Raises:
        InvalidRequest: the caller has a tool of the same name.
    """
    changed = {**body, "tools": local_tools(found, tools, wire)}
    choice = body.get("tool_choice")
    if found.kind == "native" and isinstance(choice, Mapping) and choice.get("type") == found.tool.get("type"):
        changed["tool_choice"] = {"type": "function", "name": tools[0].name}
    return changed


def local_tools(found: Found, tools: Sequence[FunctionTool], wire: Wire) -> list[Any]:
    """Return a request's tools with ours in the search's place; one that is there already, as we write it, stays."""
    new: list[Mapping[str, Any]] = []
    others = {function.name: tool for tool in found.others if (function := read(tool)) is not None}
    for tool in tools:
        written = write(tool, wire)
        there = others.get(tool.name)
        if there is None:
            new.append(found.tool if found.kind == "function" and found.tool == written else written)
        elif there != written:
            raise InvalidRequest("tools", f"has a function of your own that is named {tool.name}", "Rename it.")
    return replaced(found, *new)
