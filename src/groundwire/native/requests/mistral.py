"""Mistral Conversations: the connectors `web_search` and `web_search_premium` (mistralai SDK 3.7.0 types)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, own, replaced, with_tools

__all__ = ["to_native"]


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the connector in the search's place; it has no options that we know of."""
    tool: Body = {**own(found, plan), "type": plan.tool}
    return with_tools(body, replaced(found, tool))
