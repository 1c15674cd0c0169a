"""Gemini generateContent: the tool `googleSearch` beside lists of function declarations (google-genai SDK 3.6.1 types).

A request is the body of the REST API, or the arguments of the SDK's `generate_content`, whose tools are in `config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.planner import Plan
from groundwire.hosted.requests.request_body import GOOGLE_SEARCHES, Body, SearchTool, tools_with
from groundwire.hosted.tool_definitions import DECLARATIONS, FunctionTool, declared, write

__all__ = ["field_name", "is_call", "to_local", "to_native", "tool_config", "tools_of", "with_tools", "without_search"]

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
    if search.kind == "native":
        tool = {**_other_fields(search), **tool}
    tools = tools_with(search, tool, *_siblings(search))
    flag = bool(plan.hosted and plan.hosted.function_flag and needs.functions)
    return with_tools(body, tools, _config(body, search.name, flag=flag))


def to_local(body: Mapping[str, Any], search: SearchTool, tools: Sequence[FunctionTool]) -> Body:
    """Return the body with function declarations in place of the search."""
    if search.kind == "declared" and not tools:
        return dict(body)
    new = [{field_name(body, name): value for name, value in write(tool, "gemini").items()} for tool in tools]
    siblings = list(_siblings(search))
    declarations = [
        entry for tool in (*search.others, *siblings) if isinstance(tool, Mapping) for entry in declared(tool)
    ]
    new = [entry for entry in new if not _is_declared(entry, declarations)]
    if search.kind == "declared":
        key = next(name for name in DECLARATIONS if name in search.tool)
        old = search.tool[key]
        place = next(
            number for number, entry in enumerate(old) if isinstance(entry, Mapping) and entry["name"] == search.name
        )
        merged = {**search.tool, key: [*old[:place], *new, *old[place + 1 :]]}
        return with_tools(body, tools_with(search, merged), tool_config(body))
    other_fields = _other_fields(search) if search.kind == "native" else {}
    places = [{field_name(body, "functionDeclarations"): new}, *([other_fields] if other_fields else [])]
    return with_tools(body, tools_with(search, *places), tool_config(body))


def _is_declared(new: Mapping[str, Any], declarations: Sequence[Any]) -> bool:
    """Return whether an identical declaration is already there.

    Raises:
        InvalidRequest: a different one has its name.
    """
    for declaration in declarations:
        if isinstance(declaration, Mapping) and declaration.get("name") == new["name"]:
            if declaration == new:
                return True
            raise InvalidRequest("tools", f"has a function of your own that is named {new['name']}", "Rename it.")
    return False


def _other_fields(search: SearchTool) -> Body:
    """Return the rest of the tool that has Google's search."""
    return {name: value for name, value in search.tool.items() if name not in GOOGLE_SEARCHES}


def _siblings(search: SearchTool) -> Iterator[Mapping[str, Any]]:
    """Yield the rest of the tool in which the search was declared."""
    if search.kind != "declared":
        return
    key = next(name for name in DECLARATIONS if name in search.tool)
    others = [
        entry for entry in search.tool[key] if not (isinstance(entry, Mapping) and entry.get("name") == search.name)
    ]
    other_fields = {name: value for name, value in search.tool.items() if name != key}
    if others or other_fields:
        yield {**other_fields, key: others} if others else other_fields


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
    other_fields = _other_fields(search) if search.kind == "native" else {}
    remaining = [other_fields] if other_fields else list(_siblings(search))
    tools = tools_with(search, *remaining)
    return with_tools(body, tools, tool_config(body) if tools else None)
