"""Inspection of a request before it is changed: its API, its tools, and the search among them with its requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.api_capabilities import Api, ApiCapabilities, load_matrix
from groundwire.hosted.requests import gemini
from groundwire.hosted.requests.request_body import SEARCH, Body, SearchTool, find
from groundwire.hosted.requirements import NO_NEEDS, Needs
from groundwire.hosted.tool_definitions import FunctionTool, needs_of, read

__all__ = ["RequestFacts", "api_of", "asked_by", "facts_of", "put_tools", "tools_of"]

_OWN_NAMES = ("web_search", "search")  # the tool of convergio and codelia
_BLOCKED = ("blocked_domains", "excluded_domains", "exclude_domains", "excludeDomains")  # the APIs' names for it
_STATE = ("previous_response_id", "conversation", "prompt")  # fields with which a Responses request needs no input


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The parts of a request that matter for a plan."""

    found: SearchTool | None
    """The search among its tools."""
    functions: bool
    """Whether there are function tools beside it."""
    effort: str | None
    """The requested reasoning effort."""
    parameters: tuple[str, ...]
    """The names of its parameters."""


def api_of(body: object, api: str | Api, matrix: ApiCapabilities | None) -> Api:
    """Return the API of a request, after checking that the request has its format."""
    if not isinstance(body, Mapping):
        raise InvalidRequest(
            "body", f"must be an object, not {type(body).__name__}", "Pass the request as a dictionary."
        )
    row = api if isinstance(api, Api) else (matrix or load_matrix()).api(api, body)
    talk = body.get(row.body)
    if not talk and not (row.wire == "responses" and any(body.get(key) for key in _STATE)):
        what = "is empty" if row.body in body else "is missing"
        raise InvalidRequest(
            row.body, f"{what} in the body of a request to {row.title}", "Pass the conversation there."
        )
    return row


def facts_of(body: Mapping[str, Any], row: Api, ours: Sequence[FunctionTool]) -> RequestFacts:
    """Return the parts of a request that matter for a plan.

    Args:
        body: The request.
        row: Its API.
        ours: The local tools; one named as a search is the search.

    Raises:
        InvalidRequest: there are two searches, or a function of the caller has the name of a local tool.
    """
    names = {SEARCH, *(tool.name for tool in ours if tool.name in _OWN_NAMES)}
    tools = tools_of(body, row)
    found = gemini.find(tools, names) if row.wire == "gemini" else find(tools, names)
    if found is None:
        functions = False
    elif row.wire == "gemini":
        functions = gemini.has_functions(found, names)
    else:
        functions = any(read(tool) is not None for tool in found.others)
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, Mapping) else body.get("reasoning_effort")
    parameters = tuple(key for key, value in body.items() if value is not None)
    return RequestFacts(found, functions, effort if isinstance(effort, str) else None, parameters)


def tools_of(body: Mapping[str, Any], row: Api) -> Sequence[Any]:
    """Return a request's tools from where its API has them.

    Raises:
        InvalidRequest: they are not a list.
    """
    if row.wire == "bedrock":
        config = body.get("toolConfig")
        tools = config.get("tools") if isinstance(config, Mapping) else None
    else:
        tools = gemini.tools_of(body) if row.wire == "gemini" else body.get("tools")
    if tools is None:
        return ()
    if not isinstance(tools, (list, tuple)):
        raise InvalidRequest("tools", f"must be a list, not {type(tools).__name__}", "Pass a list of tools.")
    return tools


def put_tools(body: Mapping[str, Any], row: Api, tools: Sequence[Any]) -> Body:
    """Return a body with other tools in the right place for its API."""
    key = "toolConfig" if row.wire == "bedrock" else "config" if row.wire == "gemini" and gemini.is_call(body) else ""
    if not key:
        return {**body, "tools": list(tools)}
    given = body.get(key)
    return {**body, key: {**(given if isinstance(given, Mapping) else {}), "tools": list(tools)}}


def asked_by(found: SearchTool | None) -> Needs:
    """Return the requirements of the search in a body, for the local tool or for any API's hosted tool."""
    if found is None or found.kind not in ("hosted", "native"):
        return NO_NEEDS
    tool = found.tool
    if found.kind == "hosted":
        return needs_of(tool)
    options: dict[str, Any] = {}
    for part in (tool, *(tool.get(key) for key in ("filters", "parameters", "googleSearch", "google_search"))):
        if isinstance(part, Mapping):
            options |= {key: value for key, value in part.items() if value}
    blocked = [options[key] for key in _BLOCKED if key in options]
    return Needs(
        max_uses=options.get("max_uses"),
        allowed_domains=options.get("allowed_domains", ()),
        blocked_domains=blocked[0] if blocked else (),
    )
