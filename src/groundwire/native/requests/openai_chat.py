"""OpenAI Chat Completions: another model that always searches, and `web_search_options` (document C, tier 2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, choice_without, replaced, with_tools

__all__ = ["to_native"]

_CONTEXT_SIZE = "medium"  # document C


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the model that searches, its options, and without the search among the tools."""
    given = body.get("web_search_options")
    options: Body = {"search_context_size": _CONTEXT_SIZE, **(given if isinstance(given, Mapping) else {})}
    if plan.needs.location:
        options["user_location"] = {"type": "approximate", "approximate": plan.needs.location.parts()}
    changes: Body = {"web_search_options": options}
    if plan.hosted and plan.hosted.switch_to:
        changes["model"] = plan.hosted.switch_to
    if "tool_choice" in body:
        changes["tool_choice"] = choice_without(body["tool_choice"], found)
    return with_tools(body, replaced(found), **changes)
