"""Finding the search in a request, and putting something else in its place without touching the rest.

Every other API gets our own function tools, in its own form (convergio, tier 3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from groundwire.errors import InvalidRequest
from groundwire.hosted.api_capabilities import Wire
from groundwire.hosted.planner import Plan
from groundwire.hosted.requirements import Needs
from groundwire.hosted.tool_definitions import HOSTED_TYPE, Definition, FunctionTool, read, write

__all__ = [
    "SEARCH",
    "Body",
    "Builder",
    "SearchTool",
    "approximate",
    "choice_without",
    "find",
    "is_search",
    "kind_of",
    "local_tools",
    "lowest",
    "own",
    "replaced",
    "the_one",
    "to_local",
    "with_tools",
]

Body = dict[str, Any]
"""A request's body as JSON has it."""

Builder = Callable[[Mapping[str, Any], "SearchTool", Plan, datetime], Body]
"""Returns the body with hosted search in it: takes the body, where the search is, the plan, and the present moment."""

SEARCH = "web_search"
"""The name of the search in every request (convergio and codelia)."""

_NATIVE_TYPES = ("web_search", "openrouter:web_search", "google_search", "browser_search")


@dataclass(frozen=True, slots=True)
class SearchTool:
    """The one search among a request's tools."""

    tools: tuple[Any, ...]
    """All tools of the request."""
    index: int
    """Which of them it is."""
    kind: str
    """`function`, `hosted` (our own hosted definition) or `native` (the API's own tool)."""
    function: Definition | None = None
    """The function tool, if it is one."""

    @property
    def tool(self) -> Mapping[str, Any]:
        """The search definition in the request."""
        found: Mapping[str, Any] = self.tools[self.index]
        return found

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self.function.name if self.function else SEARCH

    @property
    def others(self) -> tuple[Any, ...]:
        """The other tools."""
        return self.tools[: self.index] + self.tools[self.index + 1 :]


def find(tools: Sequence[Any], names: Collection[str] = (SEARCH,)) -> SearchTool | None:
    """Return the search among some tools, None if there is none.

    Args:
        tools: The tools of a request.
        names: What a function tool may be named that is the search.

    Raises:
        InvalidRequest: there are two, or the function of that name is another tool.
    """
    found: list[SearchTool] = []
    for index, tool in enumerate(tools):
        kind, function = kind_of(tool, names)
        if kind:
            found.append(SearchTool(tuple(tools), index, kind, function))
    return the_one(found)


def the_one(found: Sequence[SearchTool]) -> SearchTool | None:
    """Return the only search that was found, None if there is none.

    Raises:
        InvalidRequest: there are two, or the function of that name is another tool.
    """
    if len(found) > 1:
        raise InvalidRequest(
            "tools",
            f"has {len(found)} tools that search the web (numbers {', '.join(str(one.index) for one in found)})",
            f"Leave one; a tool of your own must not be named {SEARCH}.",
        )
    if found and found[0].function is not None and not is_search(found[0].function):
        raise InvalidRequest(
            "tools",
            f"has a function of your own that is named {found[0].name}: its schema does not take a query alone",
            "Rename it, so that it cannot be mistaken for the search of the web.",
        )
    return found[0] if found else None


def is_search(function: Definition) -> bool:
    """Tell whether a function named `web_search` is a search of the web: it takes a query and needs nothing else."""
    properties, required = function.parameters.get("properties"), function.parameters.get("required") or []
    return isinstance(properties, Mapping) and "query" in properties and set(required) <= {"query"}


def kind_of(tool: object, names: Collection[str]) -> tuple[str, Definition | None]:
    """Return which kind of search a tool is (see `Found.kind`), empty if it is none, and the function if it is one."""
    if not isinstance(tool, Mapping):
        return "", None
    function = read(tool)
    if function is not None:
        return ("function", function) if function.name in names else ("", None)
    kind = tool.get("type")
    if kind == HOSTED_TYPE:
        return "hosted", None
    if isinstance(kind, str) and (kind in _NATIVE_TYPES or kind.startswith(f"{SEARCH}_")):
        return "native", None
    return "", None


def replaced(found: SearchTool, *new: Mapping[str, Any]) -> list[Any]:
    """Return the tools with others in the search's place; all the rest are the same objects in the same order."""
    return [*found.tools[: found.index], *new, *found.tools[found.index + 1 :]]


def own(found: SearchTool, plan: Plan) -> Mapping[str, Any]:
    """Return the search definition in the request if it is this API's hosted tool, and nothing otherwise."""
    usual = plan.api.hosted.tool if plan.api.hosted else ""
    kind = str(found.tool.get("type"))
    known = kind in (plan.tool, usual, *(version.tool for version in plan.api.versions))
    return found.tool if found.kind == "native" and (known or kind.startswith("web_search_preview")) else {}


def with_tools(body: Mapping[str, Any], tools: list[Any], **more: Any) -> Body:
    """Return a body with other tools; without any left, `tools` and what speaks of tools goes too.

    Args:
        body: The request, which stays as it is.
        tools: The new tools.
        more: Other keys that change; None takes one out.
    """
    new = {**body, "tools": tools, **more}
    if not tools:
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            new.pop(key, None)
    return {key: value for key, value in new.items() if not (key in more and more[key] is None)}


def choice_without(choice: object, found: SearchTool) -> Any:
    """Return a chat request's `tool_choice` that does not name the search any more; None for one that is to go."""
    if isinstance(choice, Mapping):
        function = choice.get("function")
        if isinstance(function, Mapping) and function.get("name") == found.name:
            return None
    return choice


def approximate(needs: Needs) -> dict[str, str] | None:
    """Return the user's place as most APIs take it, None if it is not known."""
    return {"type": "approximate", **needs.location.parts()} if needs.location else None


def lowest(*limits: object) -> int | None:
    """Return the smallest of the limits that are numbers."""
    return min((one for one in limits if isinstance(one, int) and not isinstance(one, bool)), default=None)


def to_local(body: Mapping[str, Any], found: SearchTool, tools: Sequence[FunctionTool], wire: Wire) -> Body:
    """Return the body with function tools in the search's place.

    Args:
        body: The request.
        found: Where the search is.
        tools: Our tools.
        wire: The form in which the API takes them.

    Raises:
        InvalidRequest: the caller has a tool of the same name.
    """
    changed = {**body, "tools": local_tools(found, tools, wire)}
    choice = body.get("tool_choice")
    if found.kind == "native" and isinstance(choice, Mapping) and choice.get("type") == found.tool.get("type"):
        changed["tool_choice"] = {"type": "function", "name": tools[0].name}
    return changed


def local_tools(found: SearchTool, tools: Sequence[FunctionTool], wire: Wire) -> list[Any]:
    """Return a request's tools with ours in the search's place; one that is there already, as we write it, stays."""
    new: list[Mapping[str, Any]] = []
    others = {function.name: tool for tool in found.others if (function := read(tool)) is not None}
    for tool in tools:
        written = write(tool, wire)
        there = others.get(tool.name)
        if there is None:
            new.append(found.tool if found.kind == "function" and found.tool == written else written)
        elif there != written:
            raise InvalidRequest("tools", f"has a function of your own that is named {tool.name}", "Rename it.")
    return replaced(found, *new)
