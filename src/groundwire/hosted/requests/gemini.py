"""Gemini generateContent: the tool `googleSearch` beside lists of function declarations (google-genai SDK 3.6.1 types).

A request is the body of the REST API, or the arguments of the SDK's `generate_content`, whose tools are in `config`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from groundwire.hosted.planner import Plan
from groundwire.hosted.requests.request_body import GOOGLE_SEARCHES, Body, SearchTool, missing, tools_with
from groundwire.hosted.tool_definitions import DECLARATIONS, FunctionTool, declared, write

_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


def is_call(body: Mapping[str, Any]) -> bool:
    """Return whether a request is the arguments of the SDK's function, not a body of the REST API."""
    return isinstance(body.get("config"), Mapping)


def field_name(body: Mapping[str, Any], name: str) -> str:
    """Return a field's name as the request has it: the SDK's are in snake case."""
    return _CAPITAL.sub(r"_\1", name).lower() if is_call(body) else name


def _holder(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a request that has the tools."""
    holder: Mapping[str, Any] = body["config"] if is_call(body) else body
    return holder


def tools_of(body: Mapping[str, Any]) -> Any:
    """Return the tools of a request from either place."""
    return _holder(body).get("tools")


def to_native(body: Mapping[str, Any], search: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with Google Search, and with the flag that allows it beside functions."""
    word = partial(field_name, body)
    existing = next((search.tool[name] for name in GOOGLE_SEARCHES if name in search.tool), None)
    options: Body = dict(existing) if isinstance(existing, Mapping) else {}
    needs = plan.needs
    if needs.recent:
        start, end = needs.span(now)
        moments = (start or datetime(1970, 1, 1, tzinfo=UTC), end or now)  # one without the other is rejected
        names = (word("startTime"), word("endTime"))
        options[word("timeRangeFilter")] = dict(
            zip(names, (f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" for moment in moments), strict=True)
        )
    if needs.blocked_domains:
        options[word("excludeDomains")] = list(needs.blocked_domains)
    tool: Body = {word("googleSearch"): options}
    rest = _rest(search)
    tools = tools_with(search, *([{**rest[0], **tool}] if rest and search.kind == "native" else [tool, *rest]))
    flag = bool(plan.hosted and plan.hosted.function_flag and needs.functions)
    return with_tools(body, tools, _config(body, search.name, flag=flag))


def to_local(body: Mapping[str, Any], search: SearchTool, tools: Sequence[FunctionTool]) -> Body:
    """Return the body with function declarations in place of the search."""
    rest = _rest(search)
    written = {
        tool.name: {field_name(body, name): value for name, value in write(tool, "gemini").items()} for tool in tools
    }
    rows = [row for tool in (*search.others, *rest) if isinstance(tool, Mapping) for row in declared(tool)]
    named = [row for row in rows if isinstance(row, Mapping) and isinstance(row.get("name"), str)]
    new = missing(written, {row["name"]: row for row in named})
    if search.kind == "declared":
        key = next(name for name in DECLARATIONS if name in search.tool)
        old = search.tool[key]
        place = [row.get("name") if isinstance(row, Mapping) else None for row in old].index(search.name)
        merged = {**search.tool, key: [*old[:place], *new, *old[place + 1 :]]}
        return with_tools(body, tools_with(search, merged), tool_config(body))
    return with_tools(
        body, tools_with(search, {field_name(body, "functionDeclarations"): new}, *rest), tool_config(body)
    )


def _rest(search: SearchTool) -> list[Body]:
    """Return the rest of the tool that has the search, if there is any."""
    rest = dict(search.tool)
    if search.kind == "native":
        rest = {name: value for name, value in rest.items() if name not in GOOGLE_SEARCHES}
    elif search.kind == "declared":
        key = next(name for name in DECLARATIONS if name in rest)
        rest[key] = [row for row in rest[key] if not (isinstance(row, Mapping) and row.get("name") == search.name)]
        rest = rest if rest[key] else {name: value for name, value in rest.items() if name != key}
    else:
        rest = {}
    return [rest] if rest else []


def tool_config(body: Mapping[str, Any]) -> Any:
    """Return the configuration of a request's tools, if it has one."""
    return _holder(body).get(field_name(body, "toolConfig"))


def _config(body: Mapping[str, Any], name: str, *, flag: bool) -> Any:
    """Return the tool configuration with the flag, and without the name of the search function."""
    existing = tool_config(body)
    config: Body = dict(existing) if isinstance(existing, Mapping) else {}
    calling_key, names_key = field_name(body, "functionCallingConfig"), field_name(body, "allowedFunctionNames")
    calling = config.get(calling_key)
    if isinstance(calling, Mapping) and name in (calling.get(names_key) or ()):
        names = [function for function in calling[names_key] if function != name]
        if names:
            config[calling_key] = {**calling, names_key: names}
        else:
            del config[calling_key]
    if flag:
        config[field_name(body, "includeServerSideToolInvocations")] = True
    return config or None


def with_tools(body: Mapping[str, Any], tools: list[Any], tool_config: Any) -> Body:
    """Return a request with these tools and this configuration, without what is not there."""
    new = {"tools": tools or None, field_name(body, "toolConfig"): tool_config}
    holder = {name: value for name, value in {**_holder(body), **new}.items() if name not in new or value is not None}
    return {**body, "config": holder} if is_call(body) else holder


def without_search(body: Mapping[str, Any], search: SearchTool) -> Body:
    """Return a request without its search, keeping everything else in the same tool."""
    tools = tools_with(search, *_rest(search))
    return with_tools(body, tools, tool_config(body) if tools else None)
