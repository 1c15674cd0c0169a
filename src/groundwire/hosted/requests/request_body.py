"""Finds the search in a request, and replaces it without changing the rest.

Any API without hosted search gets the local function tools, in its own format (convergio, tier 3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.api_capabilities import Wire
from groundwire.hosted.planner import Plan
from groundwire.hosted.tool_definitions import HOSTED_TYPE, Definition, FunctionTool, functions_of, read, write

Body = dict[str, Any]
"""A request's body as JSON."""

Builder = Callable[[Mapping[str, Any], "SearchTool", Plan, datetime], Body]
"""Returns the body with hosted search: takes the body, the position of the search, the plan, and the current time."""

SEARCH = "web_search"
"""The name of the search in every request (convergio and codelia)."""

_NATIVE_TYPES = ("web_search", "openrouter:web_search", "google_search", "browser_search")

GOOGLE_SEARCHES = ("googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval")
"""The keys of Gemini's own search in a tool."""


@dataclass(frozen=True, slots=True)
class SearchTool:
    """The search among a request's tools."""

    tools: tuple[Any, ...]
    """All tools of the request."""
    index: int
    """The index of the search."""
    kind: str
    """`function`, `declared` (a function in a tool of Gemini), `hosted` (Groundwire's hosted definition) or `native`
    (the API's own tool)."""
    function: Definition | None = None
    """The function tool, if it is one."""

    @property
    def tool(self) -> Mapping[str, Any]:
        """The search definition in the request."""
        tool: Mapping[str, Any] = self.tools[self.index]
        return tool

    @property
    def name(self) -> str:
        """The name under which the model calls it."""
        return self.function.name if self.function else SEARCH

    @property
    def others(self) -> tuple[Any, ...]:
        """The other tools."""
        return self.tools[: self.index] + self.tools[self.index + 1 :]


def find(tools: Sequence[Any], names: Collection[str] = (SEARCH,)) -> SearchTool | None:
    """Return the search among some tools, or None.

    Args:
        tools: The tools of a request.
        names: The names that a function tool for searching may have.

    Raises:
        InvalidRequest: there are two, or the function of that name is a different tool.
    """
    searches = [
        SearchTool(tuple(tools), index, kind, function)
        for index, tool in enumerate(tools)
        for kind, function in kinds_of(tool, names)
    ]
    if len(searches) > 1:
        numbers = ", ".join(str(search.index) for search in searches)
        raise InvalidRequest(
            "tools",
            f"has {len(searches)} tools that search the web (numbers {numbers})",
            f"Leave one; a tool of your own must not be named {SEARCH}.",
        )
    if searches and searches[0].function is not None and not is_search(searches[0].function):
        raise InvalidRequest(
            "tools",
            f"has a function of your own that is named {searches[0].name}: its schema does not take a query alone",
            "Rename it, so that it cannot be mistaken for the search of the web.",
        )
    return searches[0] if searches else None


def is_search(function: Definition) -> bool:
    """Return whether a function named `web_search` is a web search: it takes a query and requires nothing else."""
    properties, required = function.parameters.get("properties"), function.parameters.get("required") or []
    return isinstance(properties, Mapping) and "query" in properties and set(required) <= {"query"}


def kinds_of(tool: object, names: Collection[str]) -> Iterator[tuple[str, Definition | None]]:
    """Yield the kinds of search in a tool (see `SearchTool.kind`), each with its function if it is one."""
    if not isinstance(tool, Mapping):
        return
    is_function = read(tool) is not None
    for function in functions_of(tool):
        if function.name in names:
            yield "function" if is_function else "declared", function
    kind = tool.get("type")
    if is_function:
        return
    if kind == HOSTED_TYPE:
        yield "hosted", None
    elif str(kind).startswith(f"{SEARCH}_") or kind in _NATIVE_TYPES or not tool.keys().isdisjoint(GOOGLE_SEARCHES):
        yield "native", None


def tools_with(search: SearchTool, *new: Mapping[str, Any]) -> list[Any]:
    """Return the tools with others in place of the search; the rest are the same objects in the same order."""
    return [*search.tools[: search.index], *new, *search.tools[search.index + 1 :]]


def native_options(search: SearchTool, plan: Plan) -> Mapping[str, Any]:
    """Return the search definition in the request if it is this API's hosted tool, and nothing otherwise."""
    default = plan.api.hosted.tool if plan.api.hosted else ""
    kind = str(search.tool.get("type"))
    is_own = kind in (plan.tool, default, *(version.tool for version in plan.api.versions))
    return search.tool if search.kind == "native" and (is_own or kind.startswith("web_search_preview")) else {}


def with_tools(body: Mapping[str, Any], tools: list[Any], **more: Any) -> Body:
    """Return a body with other tools; if none are left, `tools` and the fields that depend on it are removed.

    Args:
        body: The request, which is not modified.
        tools: The new tools.
        more: Other keys to change; None removes a key.
    """
    new = {**body, "tools": tools, **more}
    if not tools:
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            new.pop(key, None)
    return {key: value for key, value in new.items() if not (key in more and more[key] is None)}


def choice_without(choice: object, search: SearchTool) -> Any:
    """Return a chat request's `tool_choice` without the search; None to remove it."""
    if isinstance(choice, Mapping):
        function = choice.get("function")
        if isinstance(function, Mapping) and function.get("name") == search.name:
            return None
    return choice


def min_limit(*limits: object) -> int | None:
    """Return the smallest of the limits that are set."""
    return min((limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool)), default=None)


def local_tools(search: SearchTool, tools: Sequence[FunctionTool], wire: Wire) -> list[Any]:
    """Return a request's tools with function tools in place of the search.

    Args:
        search: The search in the request.
        tools: The local tools.
        wire: The format of the API's tools.

    Raises:
        InvalidRequest: see `missing`.
    """
    others = {function.name: tool for tool in search.others if (function := read(tool)) is not None}
    return tools_with(search, *missing({tool.name: write(tool, wire) for tool in tools}, others))


def missing(tools: Mapping[str, Body], existing: Mapping[str, Any]) -> list[Body]:
    """Return the tools that a request does not have yet.

    Args:
        tools: The tools, by name.
        existing: Those of the request.

    Raises:
        InvalidRequest: it has a different tool of the same name.
    """
    for name, tool in tools.items():
        if existing.get(name, tool) != tool:
            raise InvalidRequest("tools", f"has a function of your own that is named {name}", "Rename it.")
    return [tool for name, tool in tools.items() if name not in existing]
