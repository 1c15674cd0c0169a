"""Anthropic Messages: a server tool named `web_search` (anthropic SDK 2.14.0 types; convergio, tier 1).

Mistral Conversations: the connectors `web_search` and `web_search_premium` (mistralai SDK 3.7.0 types).

Gemini Interactions: the hosted tool `google_search` (recorded with gemini-3-flash-preview).

OpenAI Chat Completions: another model that always searches, and `web_search_options` (convergio, tier 2).

OpenAI Responses: the hosted tool `web_search` (openai SDK 3.57.0 types; codelia).

OpenRouter: the server tool `openrouter:web_search` (openrouter SDK 1.3.84 types); off by default.

Groq, Perplexity's Agent API, Nova, Kimi, Qwen, Venice and Z.ai: rows of data.

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
    choice_without,
    min_limit,
    native_options,
    tools_with,
    with_tools,
)
from groundwire.providers.query_mapping import country_name

_SHARED_FIELDS = ("cache_control", "defer_loading")  # fields that function tools and Anthropic's server tools share


def to_tool(body: Mapping[str, Any], search: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the hosted tool in place of the search.

    A limit of searches that the tool itself does not have becomes `max_tool_calls`, which counts all hosted calls.
    """
    needs, wire = plan.needs, plan.api.wire
    names: Mapping[str, str] = plan.hosted.options if plan.hosted else {}
    inside, outside, limited = names.get("inside", ""), names.get("lists", ""), names.get("limit", "")
    own = native_options(search, plan)
    base: Body = {"type": plan.tool, **own}
    if wire == "anthropic":
        shared = () if own else _SHARED_FIELDS
        base |= {"name": "web_search", **{key: search.tool[key] for key in shared if key in search.tool}}
    existing = base.get(inside) if inside else base
    options: Body = dict(existing) if isinstance(existing, Mapping) else {}
    if limited and (limit := min_limit(needs.max_uses, options.get(limited))) is not None:
        options[limited] = limit
    if needs.allowed_domains or needs.blocked_domains:
        lists = {
            "allowed_domains": needs.allowed_domains,
            names.get("blocked", "blocked_domains"): needs.blocked_domains,
        }
        old = options.get(outside) if outside else options
        others = {name: value for name, value in old.items() if name not in lists} if isinstance(old, Mapping) else {}
        new = others | {name: list(value) for name, value in lists.items() if value}
        options = {**options, outside: new} if outside else new
    if needs.location:
        options["user_location"] = {"type": "approximate", **needs.location.parts()}
    if plan.direct_only:
        options["allowed_callers"] = ["direct"]
    tool = options
    if inside:
        tool = {**base, inside: options} if options else dict(base)
    changes: Body = {}
    if needs.max_uses is not None and not limited:
        changes["max_tool_calls"] = min_limit(needs.max_uses, body.get("max_tool_calls"))
    if "tool_choice" in body and wire == "responses":
        changes["tool_choice"] = hosted_choice(body["tool_choice"], search.name, plan.tool)
    elif "tool_choice" in body and wire == "chat":
        changes["tool_choice"] = choice_without(body["tool_choice"], search)
    return with_tools(body, tools_with(search, {**tool, "type": plan.tool}), **changes)


_CONTEXT_SIZE = "medium"  # convergio


def to_openai_chat(body: Mapping[str, Any], search: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with the search model and its options, without the search among the tools."""
    existing = body.get("web_search_options")
    options: Body = {"search_context_size": _CONTEXT_SIZE, **(existing if isinstance(existing, Mapping) else {})}
    if plan.needs.location:
        options["user_location"] = {"type": "approximate", "approximate": plan.needs.location.parts()}
    changes: Body = {"web_search_options": options}
    if plan.hosted and plan.hosted.switch_to:
        changes["model"] = plan.hosted.switch_to
    if "tool_choice" in body:
        changes["tool_choice"] = choice_without(body["tool_choice"], search)
    return with_tools(body, tools_with(search), **changes)


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
        return {**choice, "tools": [hosted_choice(entry, name, tool) for entry in choice["tools"]]}
    return choice


def to_data(body: Mapping[str, Any], search: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body as the API's row of data describes: with a tool in place of the search, extra fields, or both."""
    row: Mapping[str, Any] = plan.hosted.request if plan.hosted else {}
    needs, tool = plan.needs, copy.deepcopy(row.get("tool"))
    allowed, blocked = list(needs.allowed_domains), list(needs.blocked_domains)
    domains: Any = allowed[0] if allowed and row.get("single") else allowed
    if "blocked" not in row:
        domains = domains or [f"-{domain}" for domain in blocked]
    place = needs.location.parts() if needs.location else {}
    dated = bool(needs.published_after or needs.published_before)  # such APIs accept dates or a time range, not both
    span = [f"{day.month}/{day.day}/{day.year}" if day else "" for day in (needs.span(now) if dated else ())]
    changes: Body = {}
    for key, value in row.get("body", {}).items():
        existing, new = body.get(key), copy.deepcopy(value)
        changes[key] = {**existing, **new} if isinstance(existing, Mapping) and isinstance(new, Mapping) else new
    for name, value in (
        ("domains", domains),
        ("blocked", blocked),
        ("recency", None if dated else row.get("words", {}).get(needs.time_range)),
        *zip(("after", "before"), span, strict=False),
        ("location", place),
        ("country", country_name(place.get("country", ""))),
    ):
        if value and name in row:
            *path, last = row[name].split(".")
            holder = changes if tool is None else tool
            for key in path:
                holder = holder.setdefault(key, {})
            holder[last] = value
    changes = {key: value for key, value in changes.items() if value != {}}
    tools = tools_with(search, *([tool] if tool is not None else []))
    if plan.api.wire == "bedrock":
        return {**body, "toolConfig": {**body["toolConfig"], "tools": tools}}
    if "tool_choice" in body:
        changes["tool_choice"] = choice_without(body["tool_choice"], search)
    return with_tools(body, tools, **changes)
