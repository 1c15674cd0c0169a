"""Groq: compound systems that search by themselves, and `browser_search` for gpt-oss (groq SDK 1.7.0 types)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, choice_without, replaced, with_tools
from groundwire.providers.query_mapping import country_name

__all__ = ["to_native"]


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with `search_settings`, or with the hosted tool, and without the function."""
    choice: Body = {"tool_choice": choice_without(body["tool_choice"], found)} if "tool_choice" in body else {}
    if plan.tool == "browser_search":
        return with_tools(body, replaced(found, {"type": plan.tool}), **choice)
    needs = plan.needs
    given = body.get("search_settings")
    settings: Body = dict(given) if isinstance(given, Mapping) else {}
    if needs.allowed_domains:
        settings["include_domains"] = list(needs.allowed_domains)
    if needs.blocked_domains:
        settings["exclude_domains"] = list(needs.blocked_domains)
    if needs.location and needs.location.country and (name := country_name(needs.location.country)):
        settings["country"] = name
    changes: Body = {**choice, **({"search_settings": settings} if settings else {})}
    return with_tools(body, replaced(found), **changes, **_enabled(body))


def _enabled(body: Mapping[str, Any]) -> Body:
    """Return `compound_custom` with the search among the enabled tools, if the request chooses them."""
    custom = body.get("compound_custom")
    tools = custom.get("tools") if isinstance(custom, Mapping) else None
    enabled = tools.get("enabled_tools") if isinstance(tools, Mapping) else None
    if not isinstance(custom, Mapping) or not isinstance(tools, Mapping) or not isinstance(enabled, list):
        return {}
    if "web_search" in enabled:
        return {}
    return {"compound_custom": {**custom, "tools": {**tools, "enabled_tools": [*enabled, "web_search"]}}}
