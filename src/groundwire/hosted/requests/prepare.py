"""Prepares a request with a search in it for any API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypedDict, Unpack

from groundwire.errors import InvalidRequest, NativeUnsupported
from groundwire.hosted.api_capabilities import Api, Wire, load_matrix
from groundwire.hosted.planner import Mode, Plan, plan, refusals
from groundwire.hosted.requests import gemini, hosted_tools
from groundwire.hosted.requests.request_body import (
    SEARCH,
    Body,
    Builder,
    SearchTool,
    choice_without,
    find,
    local_tools,
    with_tools,
)
from groundwire.hosted.requirements import NO_NEEDS, Needs
from groundwire.hosted.tool_definitions import (
    HOSTED_TYPE,
    WEB_SEARCH,
    FunctionTool,
    functions_of,
    hosted_definition,
    read,
)
from groundwire.settings import Settings

_logger = logging.getLogger(__name__)

_OWN_NAMES = ("web_search", "search")  # the tool of convergio and codelia
_BLOCKED_FIELDS = ("blocked_domains", "excluded_domains", "exclude_domains", "excludeDomains")  # the APIs' names for it
_STATE_FIELDS = ("previous_response_id", "conversation", "prompt")  # with one, a Responses request needs no input


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The parts of a request that matter for a plan."""

    search: SearchTool | None
    """The search among its tools."""
    functions: bool
    """Whether there are function tools beside it."""
    effort: str | None
    """The requested reasoning effort."""
    parameters: tuple[str, ...]
    """The names of its parameters."""


def api_of(body: object, api: str | Api) -> Api:
    """Return the API of a request, after checking that the request has its format."""
    if not isinstance(body, Mapping):
        raise InvalidRequest(
            "body", f"must be an object, not {type(body).__name__}", "Pass the request as a dictionary."
        )
    row = api if isinstance(api, Api) else load_matrix().api(api, body)
    talk = body.get(row.body)
    if not talk and not (row.wire == "responses" and any(body.get(key) for key in _STATE_FIELDS)):
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
    search = find(tools, names)
    functions = search is not None and any(
        function.name not in names for tool in tools for function in functions_of(tool)
    )
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, Mapping) else body.get("reasoning_effort")
    parameters = tuple(key for key, value in body.items() if value is not None)
    return RequestFacts(search, functions, effort if isinstance(effort, str) else None, parameters)


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
    existing = body.get(key)
    return {**body, key: {**(existing if isinstance(existing, Mapping) else {}), "tools": list(tools)}}


def needs_in(search: SearchTool | None) -> Needs:
    """Return the requirements that an API's own hosted tool states in a body.

    Raises:
        InvalidRequest: a `hosted_definition()` has another field.
    """
    if search is not None and search.kind == "hosted" and (unknown := search.tool.keys() - hosted_definition().keys()):
        raise InvalidRequest(HOSTED_TYPE, f"has no field {min(unknown)!r}", "Pass the requirements as needs.")
    if search is None or search.kind != "native":
        return NO_NEEDS
    tool = search.tool
    options: dict[str, Any] = {}
    for part in (tool, *(tool.get(key) for key in ("filters", "parameters", "googleSearch", "google_search"))):
        if isinstance(part, Mapping):
            options |= {key: value for key, value in part.items() if value}
    blocked = [options[key] for key in _BLOCKED_FIELDS if key in options]
    return Needs(
        max_uses=options.get("max_uses"),
        allowed_domains=options.get("allowed_domains", ()),
        blocked_domains=blocked[0] if blocked else (),
    )


_BUILDERS: Mapping[Wire, Builder] = MappingProxyType(
    {
        "gemini": gemini.to_native,
        **dict.fromkeys(("anthropic", "interactions", "mistral", "responses"), hosted_tools.to_tool),
    }
)
_OTHER_BUILDERS: Mapping[str, Builder] = MappingProxyType(
    {
        "openai_chat": hosted_tools.to_openai_chat,
        "openrouter": hosted_tools.to_tool,
    }
)
"""The builders of APIs that differ from others of their wire, but for those that are rows of data."""


class PlanOptions(TypedDict, total=False):
    """How the search of a request is planned; see `plan`."""

    mode: Mode | None
    cloud: str
    settings: Settings | None
    tool: str | None
    """Another version of the hosted tool; by default the one in the body, if it is one."""
    calls_tools: bool | None
    switch_model: bool
    now: datetime | None


class RequestOptions(PlanOptions, total=False):
    """The same, with what the request may lack; see `plan_for`."""

    model: str | None
    needs: Needs | None


def plan_for(
    body: Mapping[str, Any],
    api: str | Api,
    *,
    model: str | None = None,
    needs: Needs | None = None,
    tools: Sequence[FunctionTool] = (),
    **options: Unpack[PlanOptions],
) -> Plan:
    """Plan the search of one request.

    Args:
        body: The request: its model, its reasoning effort, and the tools beside the search are considered.
        api: The model API's or provider's name.
        model: The model, if the body does not name it (Gemini has it in the URL).
        needs: Requirements for the search in addition to those in the body.
        tools: The local tools, whose names are then recognized.
        options: See `PlanOptions`.

    Raises:
        InvalidRequest: the body is not in this API's format, or an argument is invalid. NativeUnsupported: see `plan`.
    """
    row = api_of(body, api)
    facts = facts_of(body, row, tools)
    requirements = (needs or NO_NEEDS).also(needs_in(facts.search))
    if options.get("tool") is None and facts.search is not None and facts.search.kind == "native":
        written = facts.search.tool.get("type")
        options["tool"] = written if written in [version.tool for version in row.versions] else None
    named = model or body.get("model")
    if not isinstance(named, str) or not named.strip():
        raise InvalidRequest("model", "is not given, neither in the body nor as an argument", "Pass the model's name.")
    return plan(
        row,
        named,
        needs=replace(requirements, functions=facts.functions or requirements.functions),
        effort=facts.effort,
        parameters=facts.parameters,
        **options,
    )


def prepare(
    body: Mapping[str, Any],
    how: Plan | Api | str,
    *,
    tools: Sequence[FunctionTool] = (),
    add: bool = False,
    on_plan: Callable[[Plan], None] | None = None,
    **options: Unpack[RequestOptions],
) -> Body:
    """Return the request to send, with hosted search or the local tool in place of its search, otherwise unchanged.

    The search is a function tool named `web_search`, a `hosted_definition()`, or the API's own hosted tool. A body
    without one is returned unchanged. The body itself is never modified, its other tools are the same objects in the
    same order, and the function is idempotent.

    Args:
        body: The request, as JSON for the API.
        how: A plan, or the model API or its name, for which a plan is made for this body.
        tools: The local function tools, such as `web_tools(web)`, for a model that searches with them; by default the
            one in the body.
        add: Whether to add a search to a body without one.
        on_plan: Called with the plan if one is made here; by default its warnings are logged.
        options: See `RequestOptions`; with a plan, only `now` is used.

    Raises:
        InvalidRequest: the body is not in this API's format (for example without messages), has two searches, or the
            caller's own tool has the name of a Groundwire tool. NativeUnsupported: hosted search is required and cannot
            be used.
    """
    if unknown := options.keys() - RequestOptions.__optional_keys__:
        raise TypeError(f"prepare() got an unexpected keyword argument {min(unknown)!r}")
    row = api_of(body, how.api if isinstance(how, Plan) else how)
    if add:
        body = with_search(body, row, tools=tools)
    facts = facts_of(body, row, tools)
    if facts.search is None:
        return dict(body)
    if isinstance(how, Plan):
        chosen = _check_plan(how, body, facts)
    else:
        chosen = plan_for(body, row, tools=tools, **options)
        (on_plan or _log_warnings)(chosen)
    if chosen.path == "local":
        return _local(body, facts.search, row, tools)
    as_data = chosen.hosted is not None and bool(chosen.hosted.request)
    build = hosted_tools.to_data if as_data else _OTHER_BUILDERS.get(row.name) or _BUILDERS[row.wire]
    return build(body, facts.search, chosen, options.get("now") or datetime.now(UTC))


def _log_warnings(chosen: Plan) -> None:
    for warning in chosen.warnings:
        _logger.warning("%s", warning)


def with_search(body: Mapping[str, Any], api: str | Api, *, tools: Sequence[FunctionTool] = ()) -> Body:
    """Return a request with a search among its tools: its own, or else a `hosted_definition()`.

    Args:
        body: The request.
        api: The model API's or provider's name.
        tools: The local tools, whose names are then recognized.

    Raises:
        InvalidRequest: see `prepare`.
    """
    row = api_of(body, api)
    if facts_of(body, row, tools).search is not None:
        return dict(body)
    return put_tools(body, row, [*tools_of(body, row), hosted_definition()])


def without_search(body: Mapping[str, Any], api: str | Api) -> Body:
    """Return a request without its search, with all other tools unchanged.

    Args:
        body: The request.
        api: The model API's or provider's name.

    Raises:
        InvalidRequest: see `prepare`.
    """
    row = api_of(body, api)
    search = facts_of(body, row, ()).search
    if search is None:
        return dict(body)
    if row.wire == "gemini":
        return gemini.without_search(body, search)
    if row.wire == "bedrock":
        return put_tools(body, row, list(search.others))
    changes = {"tool_choice": choice_without(body["tool_choice"], search)} if "tool_choice" in body else {}
    return with_tools(body, list(search.others), **changes)


def _local(body: Mapping[str, Any], search: SearchTool, row: Api, tools: Sequence[FunctionTool]) -> Body:
    has_own_form = search.kind == "declared" or (search.function is not None and read(search.tool, row.wire))
    if not tools and has_own_form:
        return dict(body)
    ours = tools or (search.function or WEB_SEARCH,)
    if row.wire == "gemini":
        return gemini.to_local(body, search, ours)
    changed = put_tools(body, row, local_tools(search, ours, row.wire))
    choice = body.get("tool_choice")
    if search.kind == "native" and isinstance(choice, Mapping) and choice.get("type") == search.tool.get("type"):
        changed["tool_choice"] = {"type": "function", "name": ours[0].name}
    return changed


def _check_plan(chosen: Plan, body: Mapping[str, Any], facts: RequestFacts) -> Plan:
    """Return the plan if it fits this body, or raise an error that explains why not."""
    both = chosen.needs.also(needs_in(facts.search))
    limit = both.max_uses
    if replace(both, max_uses=None, functions=False) != replace(chosen.needs, max_uses=None, functions=False):
        raise InvalidRequest("tools", "ask for a search that differs from the plan", "Make the plan with plan_for.")
    chosen = replace(chosen, needs=replace(chosen.needs, max_uses=limit))
    hosted = chosen.hosted
    switched = hosted.switch_to if hosted else ""
    if body.get("model") not in (None, chosen.model, switched):
        raise InvalidRequest(
            "model", f"is {str(body['model'])[:80]!r} in the body and {chosen.model!r} in the plan", "Make a new plan."
        )
    if hosted is None:
        return chosen
    for text, fix in refusals(chosen.api, hosted, facts.effort, facts.parameters, functions=facts.functions):
        raise NativeUnsupported(chosen.api.provider, text, fix)
    return replace(chosen, needs=replace(chosen.needs, functions=facts.functions))
