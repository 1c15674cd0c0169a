"""Gemini generateContent: the tool `googleSearch` beside lists of function declarations (google-genai SDK 3.4.0 types).

A request is the body of the REST API, or the arguments of the SDK's `generate_content`, whose tools are in `config`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.planner import Plan
from groundwire.hosted.requests.request_body import Body, SearchTool, kind_of, the_one
from groundwire.hosted.tool_definitions import FunctionTool, read, write

__all__ = ["find", "has_functions", "is_call", "to_local", "to_native", "tools_of", "without"]

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_SEARCHES = ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")


def is_call(body: Mapping[str, Any]) -> bool:
    """Return whether a request is the arguments of the SDK's function, not a body of the REST API."""
    return isinstance(body.get("config"), Mapping)


def tools_of(body: Mapping[str, Any]) -> Any:
    """Return the tools of a request from either place."""
    return body["config"].get("tools") if is_call(body) else body.get("tools")


def find(tools: Sequence[Any], names: Collection[str]) -> SearchTool | None:
    """Return the search among some tools; see `common.find`."""
    found: list[SearchTool] = []
    for index, tool in enumerate(tools):
        kind, function = kind_of(tool, names)
        if kind:
            found.append(SearchTool(tuple(tools), index, kind, function))
        elif isinstance(tool, Mapping):
            if any(key in tool for key in _SEARCHES):
                found.append(SearchTool(tuple(tools), index, "native"))
            for one in _declared(tool):
                definition = read({"type": "function", "function": _with_schema(one)})
                if definition is not None and definition.name in names:
                    found.append(SearchTool(tuple(tools), index, "declared", definition))
    return the_one(found)


def has_functions(found: SearchTool, names: Collection[str]) -> bool:
    """Return whether there are function tools beside the search."""
    declared = [one for tool in found.tools if isinstance(tool, Mapping) for one in _declared(tool)]
    others = [one for one in declared if not (isinstance(one, Mapping) and one.get("name") in names)]
    return bool(others) or any(read(tool) is not None for tool in found.others)


def to_native(body: Mapping[str, Any], found: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with Google Search, and with the flag that allows it beside functions."""
    snake = is_call(body)
    key = "google_search" if snake else "googleSearch"
    given = next((found.tool[name] for name in _SEARCHES if name in found.tool), None)
    search: Body = dict(given) if isinstance(given, Mapping) else {}
    needs = plan.needs
    if needs.recent:
        start, end = needs.span(now)
        moments = (start or datetime(1970, 1, 1, tzinfo=UTC), end or now)  # one without the other is rejected
        names = ("start_time", "end_time") if snake else ("startTime", "endTime")
        search["time_range_filter" if snake else "timeRangeFilter"] = dict(
            zip(names, (f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" for moment in moments), strict=True)
        )
    if needs.blocked_domains:
        search["exclude_domains" if snake else "excludeDomains"] = list(needs.blocked_domains)
    tool: Body = {key: search}
    if found.kind == "native":
        tool = {**{name: value for name, value in found.tool.items() if name not in _SEARCHES}, **tool}
    tools = [*found.tools[: found.index], tool, *_left(found), *found.tools[found.index + 1 :]]
    flag = bool(plan.hosted and plan.hosted.function_flag and needs.functions)
    return _with(body, tools, _config(_tool_config(body), found.name, flag=flag, snake=snake))


def to_local(body: Mapping[str, Any], found: SearchTool, tools: Sequence[FunctionTool]) -> Body:
    """Return the body with function declarations in place of the search."""
    if found.kind == "declared" and not tools:
        return dict(body)
    key = _DECLARATIONS[is_call(body)]
    schema = "parameters_json_schema" if is_call(body) else "parametersJsonSchema"
    new = [write(tool, "gemini") for tool in tools]
    new = [{schema if name == "parametersJsonSchema" else name: value for name, value in one.items()} for one in new]
    left = list(_left(found))
    taken = [one for tool in (*found.others, *left) if isinstance(tool, Mapping) for one in _declared(tool)]
    new = [one for one in new if not _same(one, taken)]
    if found.kind == "declared":
        here = next(name for name in _DECLARATIONS if name in found.tool)
        old = found.tool[here]
        place = next(number for number, one in enumerate(old) if isinstance(one, Mapping) and one["name"] == found.name)
        merged = {**found.tool, here: [*old[:place], *new, *old[place + 1 :]]}
        return _with(body, [*found.tools[: found.index], merged, *found.tools[found.index + 1 :]], _tool_config(body))
    rest = (
        {name: value for name, value in found.tool.items() if name not in _SEARCHES} if found.kind == "native" else {}
    )
    replaced = [{key: new}, *([rest] if rest else [])]
    return _with(body, [*found.tools[: found.index], *replaced, *found.tools[found.index + 1 :]], _tool_config(body))


def without(found: SearchTool) -> list[Any]:
    """Return the tools without the search, keeping everything else in the same tool."""
    rest = {name: value for name, value in found.tool.items() if name not in _SEARCHES}
    left = [rest] if found.kind == "native" and rest else list(_left(found))
    return [*found.tools[: found.index], *left, *found.tools[found.index + 1 :]]


def _same(new: Mapping[str, Any], taken: Sequence[Any]) -> bool:
    """Return whether an identical declaration is already there.

    Raises:
        InvalidRequest: a different one has its name.
    """
    for one in taken:
        if isinstance(one, Mapping) and one.get("name") == new["name"]:
            if one == new:
                return True
            raise InvalidRequest("tools", f"has a function of your own that is named {new['name']}", "Rename it.")
    return False


def _left(found: SearchTool) -> Iterator[Mapping[str, Any]]:
    """Yield the rest of the tool in which the search was declared."""
    if found.kind != "declared":
        return
    key = next(name for name in _DECLARATIONS if name in found.tool)
    others = [one for one in found.tool[key] if not (isinstance(one, Mapping) and one.get("name") == found.name)]
    rest = {name: value for name, value in found.tool.items() if name != key}
    if others or rest:
        yield {**rest, key: others} if others else rest


def _declared(tool: Mapping[str, Any]) -> Sequence[Any]:
    for key in _DECLARATIONS:
        if isinstance(tool.get(key), (list, tuple)):
            declared: Sequence[Any] = tool[key]
            return declared
    return ()


def _with_schema(declaration: object) -> object:
    """Return a declaration with its schema under `parameters`, whichever key it had."""
    if not isinstance(declaration, Mapping):
        return declaration
    schema = next(
        (declaration[key] for key in ("parametersJsonSchema", "parameters_json_schema") if key in declaration), None
    )
    return {**declaration, "parameters": schema} if schema is not None else declaration


def _tool_config(body: Mapping[str, Any]) -> Any:
    return body["config"].get("tool_config") if is_call(body) else body.get("toolConfig")


def _config(given: Any, name: str, *, flag: bool, snake: bool) -> Any:
    """Return the tool configuration with the flag, and without the name of the search function."""
    config: Body = dict(given) if isinstance(given, Mapping) else {}
    calling_key, names_key = (
        ("function_calling_config", "allowed_function_names")
        if snake
        else ("functionCallingConfig", "allowedFunctionNames")
    )
    calling = config.get(calling_key)
    if isinstance(calling, Mapping) and name in (calling.get(names_key) or ()):
        names = [one for one in calling[names_key] if one != name]
        if names:
            config[calling_key] = {**calling, names_key: names}
        else:
            del config[calling_key]
    if flag:
        config["include_server_side_tool_invocations" if snake else "includeServerSideToolInvocations"] = True
    return config or None


def _with(body: Mapping[str, Any], tools: list[Any], tool_config: Any) -> Body:
    if is_call(body):
        config = {**body["config"], "tools": tools, "tool_config": tool_config}
        return {**body, "config": _without_none(config, "tool_config")}
    return _without_none({**body, "tools": tools, "toolConfig": tool_config}, "toolConfig")


def _without_none(values: Body, key: str) -> Body:
    return {name: value for name, value in values.items() if name != key or value is not None}
