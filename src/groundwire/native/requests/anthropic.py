"""Anthropic Messages: a server tool named `web_search` (anthropic SDK 2.12.0 types; document C, tier 1)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, approximate, lowest, own, replaced, with_tools

__all__ = ["to_native"]

_KEPT = ("cache_control", "defer_loading")  # what a function tool and a server tool both have


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the server tool in the search's place."""
    kept = own(found, plan) or {key: found.tool[key] for key in _KEPT if key in found.tool}
    tool: Body = {**kept, "type": plan.tool, "name": "web_search"}
    needs = plan.needs
    limit = lowest(needs.max_uses, tool.get("max_uses"))
    if limit is not None:
        tool["max_uses"] = limit
    if needs.allowed_domains or needs.blocked_domains:
        for name in ("allowed_domains", "blocked_domains"):
            tool.pop(name, None)
            if domains := getattr(needs, name):
                tool[name] = list(domains)
    if place := approximate(needs):
        tool["user_location"] = place
    if plan.direct_only:
        tool["allowed_callers"] = ["direct"]
    return with_tools(body, replaced(found, tool))
