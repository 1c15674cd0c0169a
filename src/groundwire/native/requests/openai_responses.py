"""OpenAI Responses: the hosted tool `web_search` (openai SDK 3.54.0 types; document K, section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, approximate, lowest, own, replaced, with_tools

__all__ = ["hosted_choice", "to_native"]


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the hosted tool in the search's place.

    A limit of searches becomes `max_tool_calls`, which counts the calls of all hosted tools together.
    """
    needs = plan.needs
    tool: Body = {**own(found, plan), "type": plan.tool}
    if needs.allowed_domains or needs.blocked_domains:
        filters = {key: list(getattr(needs, key)) for key in ("allowed_domains", "blocked_domains")}
        given = tool.get("filters")
        new = {key: value for key, value in filters.items() if value}
        tool["filters"] = {**(given if isinstance(given, Mapping) else {}), **new}
    if place := approximate(needs):
        tool["user_location"] = place
    changes: Body = {}
    if needs.max_uses is not None:
        changes["max_tool_calls"] = lowest(needs.max_uses, body.get("max_tool_calls"))
    if "tool_choice" in body:
        changes["tool_choice"] = hosted_choice(body["tool_choice"], found.name, plan.tool)
    return with_tools(body, replaced(found, tool), **changes)


def hosted_choice(choice: Any, name: str, tool: str) -> Any:
    """Return a `tool_choice` that names the hosted tool where it named the function.

    Args:
        choice: The request's `tool_choice`.
        name: The function's name.
        tool: The hosted tool's type.
    """
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("type") == "function" and choice.get("name") == name:
        return {"type": tool}
    if choice.get("type") == "allowed_tools" and isinstance(choice.get("tools"), list):
        return {**choice, "tools": [hosted_choice(one, name, tool) for one in choice["tools"]]}
    return choice
