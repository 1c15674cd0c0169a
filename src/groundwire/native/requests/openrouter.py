"""OpenRouter: the server tool `openrouter:web_search` (openrouter SDK 1.3.84 types); off unless it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import (
    Body,
    Found,
    approximate,
    choice_without,
    lowest,
    own,
    replaced,
    with_tools,
)

__all__ = ["to_native"]


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the server tool in the search's place."""
    needs = plan.needs
    kept = own(found, plan)
    given = kept.get("parameters")
    parameters: Body = dict(given) if isinstance(given, Mapping) else {}
    limit = lowest(needs.max_uses, parameters.get("max_uses"))
    if limit is not None:
        parameters["max_uses"] = limit
    if needs.allowed_domains or needs.blocked_domains:
        for key in ("allowed_domains", "excluded_domains"):
            parameters.pop(key, None)
        key = "allowed_domains" if needs.allowed_domains else "excluded_domains"
        parameters[key] = list(needs.allowed_domains or needs.blocked_domains)
    if place := approximate(needs):
        parameters["user_location"] = place
    tool: Body = {**kept, "type": plan.tool, **({"parameters": parameters} if parameters else {})}
    changes = {"tool_choice": choice_without(body["tool_choice"], found)} if "tool_choice" in body else {}
    return with_tools(body, replaced(found, tool), **changes)
