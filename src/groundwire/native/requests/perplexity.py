"""Perplexity Sonar: it always searches; filters are keys of the body (perplexityai SDK 0.46.1 types)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.native.planner import Plan
from groundwire.native.requests.common import Body, Found, choice_without, replaced, with_tools

__all__ = ["to_native"]

_RECENCY = {"d": "day", "w": "week", "m": "month", "y": "year"}


def to_native(body: Mapping[str, Any], found: Found, plan: Plan, now: datetime) -> Body:
    """Return the body with the filters, and without the function: the model searches anyway."""
    needs = plan.needs
    changes: Body = {}
    if needs.allowed_domains:
        changes["search_domain_filter"] = list(needs.allowed_domains)
    elif needs.blocked_domains:
        changes["search_domain_filter"] = [f"-{domain}" for domain in needs.blocked_domains]
    if needs.published_after or needs.published_before:  # dates and search_recency_filter exclude each other
        start, end = needs.span(now)
        changes["search_recency_filter"] = None
        for key, moment in (("search_after_date_filter", start), ("search_before_date_filter", end)):
            changes[key] = f"{moment.month}/{moment.day}/{moment.year}" if moment else None
    elif needs.time_range in _RECENCY:
        changes["search_recency_filter"] = _RECENCY[needs.time_range]
    if needs.location:
        given = body.get("web_search_options")
        place = needs.location.parts()
        changes["web_search_options"] = {**(given if isinstance(given, Mapping) else {}), "user_location": place}
    if "tool_choice" in body:
        changes["tool_choice"] = choice_without(body["tool_choice"], found)
    return with_tools(body, replaced(found), **changes)
