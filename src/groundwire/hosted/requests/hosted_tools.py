"""Anthropic Messages: a server tool named `web_search` (anthropic SDK 2.12.0 types; convergio, tier 1).

Groq: compound systems with built-in search, and `browser_search` for gpt-oss (groq SDK 1.7.0 types).

Mistral Conversations: the connectors `web_search` and `web_search_premium` (mistralai SDK 3.7.0 types).

Gemini Interactions: the hosted tool `google_search` (recorded with gemini-3-flash-preview).

OpenAI Chat Completions: another model that always searches, and `web_search_options` (convergio, tier 2).

OpenAI Responses: the hosted tool `web_search` (openai SDK 3.54.0 types; codelia).

OpenRouter: the server tool `openrouter:web_search` (openrouter SDK 1.3.84 types); off by default.

Perplexity's Agent API, Nova, Kimi, Qwen, Venice and Z.ai: rows of data.

xAI Responses: the hosted tool `web_search`, with domains under `filters` (xai-sdk 1.21.0 for their limits).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from groundwire.hosted.planner import Plan
from groundwire.hosted.requests.request_body import (
    Body,
    SearchTool,
    approximate,
    choice_without,
    lowest,
    own,
    replaced,
    with_tools,
)
from groundwire.providers.query_mapping import country_name

__all__ = [
    "hosted_choice",
    "to_anthropic",
    "to_data",
    "to_groq",
    "to_mistral",
    "to_openai_chat",
    "to_openai_responses",
    "to_openrouter",
    "to_xai",
]

_KEPT = ("cache_control", "defer_loading")  # fields that function tools and server tools share


def to_anthropic(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the server tool in place of the search."""
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


def to_groq(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
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
    """Return `compound_custom` with the search among the enabled tools, if the request lists them."""
    custom = body.get("compound_custom")
    tools = custom.get("tools") if isinstance(custom, Mapping) else None
    enabled = tools.get("enabled_tools") if isinstance(tools, Mapping) else None
    if not isinstance(custom, Mapping) or not isinstance(tools, Mapping) or not isinstance(enabled, list):
        return {}
    if "web_search" in enabled:
        return {}
    return {"compound_custom": {**custom, "tools": {**tools, "enabled_tools": [*enabled, "web_search"]}}}


def to_mistral(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the connector in place of the search; it has no known options."""
    tool: Body = {**own(found, plan), "type": plan.tool}
    return with_tools(body, replaced(found, tool))


_CONTEXT_SIZE = "medium"  # convergio


def to_openai_chat(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the search model and its options, without the search among the tools."""
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


def to_openai_responses(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the hosted tool in place of the search.

    A limit of searches becomes `max_tool_calls`, which counts all hosted calls together.
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


def to_openrouter(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the server tool in place of the search."""
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


def to_data(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body as the API's row of data describes: with a tool in place of the search, extra fields, or both."""
    row: Mapping[str, Any] = plan.hosted.request if plan.hosted else {}
    needs, tool = plan.needs, copy.deepcopy(row.get("tool"))
    allowed, blocked = list(needs.allowed_domains), [f"-{domain}" for domain in needs.blocked_domains]
    domains = allowed[0] if allowed and row.get("single") else allowed or blocked
    place = needs.location.parts() if needs.location else None
    dated = bool(needs.published_after or needs.published_before)  # such APIs accept dates or a time range, not both
    span = [f"{one.month}/{one.day}/{one.year}" if one else "" for one in (needs.span(now) if dated else ())]
    changes: Body = {}
    for key, value in row.get("body", {}).items():
        given, new = body.get(key), copy.deepcopy(value)
        changes[key] = {**given, **new} if isinstance(given, Mapping) and isinstance(new, Mapping) else new
    for name, value in (
        ("domains", domains),
        ("recency", None if dated else row.get("words", {}).get(needs.time_range)),
        *zip(("after", "before"), span, strict=False),
        ("location", place),
    ):
        if value and name in row:
            *path, last = row[name].split(".")
            holder = changes if tool is None else tool
            for key in path:
                holder = holder.setdefault(key, {})
            holder[last] = value
    tools = replaced(found, *([tool] if tool is not None else []))
    if plan.api.wire == "bedrock":
        return {**body, "toolConfig": {**body["toolConfig"], "tools": tools}}
    if "tool_choice" in body:
        changes["tool_choice"] = choice_without(body["tool_choice"], found)
    return with_tools(body, tools, **changes)


def to_xai(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the hosted tool in place of the search."""
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
