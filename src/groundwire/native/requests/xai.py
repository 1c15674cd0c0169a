"""xAI Responses: the hosted tool `web_search`, with domains under `filters` (xai-sdk 1.21.0 for their bounds)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, approximate, own, replaced, with_tools
from groundwire.native.requests.openai_responses import hosted_choice

__all__ = ["to_native"]


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the hosted tool in the search's place."""
    needs = plan.needs
    tool: Body = {**own(found, plan), "type": plan.tool}
    if needs.allowed_domains:
        tool["filters"] = {"allowed_domains": list(needs.allowed_domains)}
    elif needs.blocked_domains:
        tool["filters"] = {"excluded_domains": list(needs.blocked_domains)}
    if place := approximate(needs):
        tool["user_location"] = place
    changes = (
        {"tool_choice": hosted_choice(body["tool_choice"], found.name, plan.tool)} if "tool_choice" in body else {}
    )
    return with_tools(body, replaced(found, tool), **changes)
