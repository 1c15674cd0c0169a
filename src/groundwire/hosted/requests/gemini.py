"""Gemini generateContent: the tool `googleSearch` beside lists of function declarations (google-genai SDK 3.6.1 types).

A request is the body of the REST API, or the arguments of the SDK's `generate_content`, whose tools are in `config`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.planner import Plan
from groundwire.hosted.requests.request_body import Body, SearchTool, kind_of, only_search, tools_with
from groundwire.hosted.tool_definitions import FunctionTool, read, write

__all__ = ["find", "has_functions", "is_call", "to_local", "to_native", "tools_of", "without_search"]

_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_SEARCHES = ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")


def is_call(body: Mapping[str, Any]) -> bool:
    """Return whether a request is the arguments of the SDK's function, not a body of the REST API."""
    return isinstance(body.get("config"), Mapping)


def _field_name(body: Mapping[str, Any], name: str) -> str:
    """Return a field's name as the request has it: the SDK's are in snake case."""
    return _CAPITAL.sub(r"_\1", name).lower() if is_call(body) else name


def _holder(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a request that has the tools."""
    holder: Mapping[str, Any] = body["config"] if is_call(body) else body
    return holder


def tools_of(body: Mapping[str, Any]) -> Any:
    """Return the tools of a request from either place."""
    return _holder(body).get("tools")


def find(tools: Sequence[Any], names: Collection[str]) -> SearchTool | None:
    """Return the search among some tools; see `request_body.find`."""
    searches: list[SearchTool] = []
    for index, tool in enumerate(tools):
        kind, function = kind_of(tool, names)
        if kind:
            searches.append(SearchTool(tuple(tools), index, kind, function))
        elif isinstance(tool, Mapping):
            if any(key in tool for key in _SEARCHES):
                searches.append(SearchTool(tuple(tools), index, "native"))
            for declaration in _declared(tool):
                definition = read({"type": "function", "function": _with_schema(declaration)})
                if definition is not None and definition.name in names:
                    searches.append(SearchTool(tuple(tools), index, "declared", definition))
    return only_search(searches)


def has_functions(search: SearchTool, names: Collection[str]) -> bool:
    """Return whether there are function tools beside the search."""
    declared = [entry for tool in search.tools if isinstance(tool, Mapping) for entry in _declared(tool)]
    others = [entry for entry in declared if not (isinstance(entry, Mapping) and entry.get("name") in names)]
    return bool(others) or any(read(tool) is not None for tool in search.others)


def to_native(body: Mapping[str, Any], search: SearchTool, plan: Plan, now: datetime) -> Body:
    """Return the body with Google Search, and with the flag that allows it beside functions."""
    word = partial(_field_name, body)
    existing = next((search.tool[name] for name in _SEARCHES if name in search.tool), None)
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
        tool = {**{name: value for name, value in search.tool.items() if name not in _SEARCHES}, **tool}
    tools = tools_with(search, tool, *_siblings(search))
    flag = bool(plan.hosted and plan.hosted.function_flag and needs.functions)
    return _with_tools(body, tools, _config(body, search.name, flag=flag))


def to_local(body: Mapping[str, Any], search: SearchTool, tools: Sequence[FunctionTool]) -> Body:
    """Return the body with function declarations in place of the search."""
    if search.kind == "declared" and not tools:
        return dict(body)
    new = [{_field_name(body, name): value for name, value in write(tool, "gemini").items()} for tool in tools]
    siblings = list(_siblings(search))
    declarations = [
        entry for tool in (*search.others, *siblings) if isinstance(tool, Mapping) for entry in _declared(tool)
    ]
    new = [entry for entry in new if not _is_declared(entry, declarations)]
    if search.kind == "declared":
        key = next(name for name in _DECLARATIONS if name in search.tool)
        old = search.tool[key]
        place = next(
            number for number, entry in enumerate(old) if isinstance(entry, Mapping) and entry["name"] == search.name
        )
        merged = {**search.tool, key: [*old[:place], *new, *old[place + 1 :]]}
        return _with_tools(body, tools_with(search, merged), _tool_config(body))
    other_fields = (
        {name: value for name, value in search.tool.items() if name not in _SEARCHES} if search.kind == "native" else {}
    )
    places = [{_field_name(body, "functionDeclarations"): new}, *([other_fields] if other_fields else [])]
    return _with_tools(body, tools_with(search, *places), _tool_config(body))


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


def _siblings(search: SearchTool) -> Iterator[Mapping[str, Any]]:
    """Yield the rest of the tool in which the search was declared."""
    if search.kind != "declared":
        return
    key = next(name for name in _DECLARATIONS if name in search.tool)
    others = [
        entry for entry in search.tool[key] if not (isinstance(entry, Mapping) and entry.get("name") == search.name)
    ]
    other_fields = {name: value for name, value in search.tool.items() if name != key}
    if others or other_fields:
        yield {**other_fields, key: others} if others else other_fields


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
    return _holder(body).get(_field_name(body, "toolConfig"))


def _config(body: Mapping[str, Any], name: str, *, flag: bool) -> Any:
    """Return the tool configuration with the flag, and without the name of the search function."""
    existing = _tool_config(body)
    config: Body = dict(existing) if isinstance(existing, Mapping) else {}
    calling_key, names_key = _field_name(body, "functionCallingConfig"), _field_name(body, "allowedFunctionNames")
    calling = config.get(calling_key)
    if isinstance(calling, Mapping) and name in (calling.get(names_key) or ()):
        names = [function for function in calling[names_key] if function != name]
        if names:
            config[calling_key] = {**calling, names_key: names}
        else:
            del config[calling_key]
    if flag:
        config[_field_name(body, "includeServerSideToolInvocations")] = True
    return config or None


def _with_tools(body: Mapping[str, Any], tools: list[Any], tool_config: Any) -> Body:
    """Return a request with these tools and this configuration, without what is not there."""
    new = {"tools": tools or None, _field_name(body, "toolConfig"): tool_config}
    holder = {name: value for name, value in {**_holder(body), **new}.items() if name not in new or value is not None}
    return {**body, "config": holder} if is_call(body) else holder


def without_search(body: Mapping[str, Any], search: SearchTool) -> Body:
    """Return a request without its search, keeping everything else in the same tool."""
    other_fields = {name: value for name, value in search.tool.items() if name not in _SEARCHES}
    remaining = [other_fields] if search.kind == "native" and other_fields else list(_siblings(search))
    tools = tools_with(search, *remaining)
    return _with_tools(body, tools, _tool_config(body) if tools else None)
