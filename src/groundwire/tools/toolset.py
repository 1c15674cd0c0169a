"""The tools `web_search` and `open_page` over a `Web`, for any framework."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from groundwire.errors import Closed
from groundwire.hints import tool_hint
from groundwire.tools.argument_coercion import positional
from groundwire.tools.calls import open_page_result, web_search_result
from groundwire.tools.conversions import refused
from groundwire.tools.definitions import ToolDefinition, open_page_definition, web_search_definition
from groundwire.tools.results import OpenPageToolResult, ToolResult, WebSearchToolResult

if TYPE_CHECKING:
    from groundwire.hosted.requirements import Needs
    from groundwire.sync import SyncWeb
    from groundwire.web import Web


@dataclass(frozen=True, slots=True)
class Tool(ToolDefinition):
    """One tool, ready for any framework."""

    call: Callable[..., Awaitable[ToolResult]]
    """Takes the arguments by keyword, as a mapping or JSON text, or the first as text; raises only on cancellation."""
    web: Web | SyncWeb | None = None
    """The web that it searches and reads with, if it is a tool of one."""
    blocks: bool = False
    """Whether the web is a `SyncWeb`, in whose thread it runs: calling it blocks, and `call` suits any event loop."""

    def wait(self, *values: object, **arguments: Any) -> ToolResult:
        """Call a tool that blocks, and return its result."""
        web: Any = self.web
        try:
            result: ToolResult = web.run(lambda _: self.call(*values, **arguments))
        except Closed as error:
            return refused(self.name, positional(self.name, values, arguments), error)
        return result

    if TYPE_CHECKING:  # the tool of a `Web` is the usual one

        async def __call__(self, *values: object, **arguments: Any) -> ToolResult:
            """Call the tool, as `call` does; one that blocks returns the result."""

    else:  # to a type checker a wrong name stays wrong

        def __call__(self, *values: object, **arguments: Any) -> Any:
            """Call the tool; one that blocks returns the result."""
            return self.wait(*values, **arguments) if self.blocks else self.call(*values, **arguments)

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else tool_hint(name)
            raise AttributeError(f"'Tool' has no attribute {name!r}{hint}")


def web_tools(web: Web | SyncWeb, needs: Needs | None = None) -> Tools:
    """Return `web_search` and `open_page` over a `Web`, which the caller closes.

    Args:
        web: The web to search and read with. The tools of a `SyncWeb` block when they are called.
        needs: What every search must honor, such as the needs of a plan with local search.

    Raises:
        TypeError: `web` is neither.
    """
    from groundwire.sync import SyncWeb  # loaded by then; a server that only lists its tools needs no web
    from groundwire.web import Web

    if isinstance(web, Web):
        return Tools((web_search_tool(web, needs), open_page_tool(web)))
    if not isinstance(web, SyncWeb):
        raise TypeError("web_tools() takes a Web or a SyncWeb; for an API, as in web_tools(SyncWeb()).to_openai()")
    return Tools((in_thread_of(web, web_search_tool(web.inner, needs)), in_thread_of(web, open_page_tool(web.inner))))


def in_thread_of(web: SyncWeb, tool: Tool) -> Tool:
    """Return a tool that runs in the thread of a `SyncWeb`, in any thread or event loop that calls it.

    Args:
        web: The `SyncWeb`.
        tool: A tool of its `Web`.
    """

    async def call(*values: object, **arguments: Any) -> ToolResult:
        async def run(_: Web) -> ToolResult:
            return await tool.call(*values, **arguments)

        try:
            future = web.submit(run)
        except Closed as error:
            return refused(tool.name, positional(tool.name, values, arguments), error)
        return await asyncio.wrap_future(future)

    return replace(tool, call=call, web=web, blocks=True)


class Tools(tuple[Tool, Tool]):
    """Both tools, in order; each also by its name. Formats of one, such as `to_openai()`, give a list here."""

    __slots__ = ()

    @overload
    def __getitem__(self, key: str | SupportsIndex, /) -> Tool: ...
    @overload
    def __getitem__(self, key: slice, /) -> tuple[Tool, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice, /) -> Tool | tuple[Tool, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for tool in self:
            if tool.name == key:
                return tool
        raise KeyError(f"there is no tool {key!r}: the tools are {' and '.join(tool.name for tool in self)}")

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        """Call a tool by its name, with the arguments that a model wrote.

        Args:
            name: The tool's name.
            arguments: A mapping or JSON text.

        Raises:
            KeyError: there is no such tool.
        """
        return await self[name].call(arguments)

    def to_openai(self, *, api: Literal["chat", "responses"] = "chat") -> list[dict[str, Any]]:
        """Return both tools as `Tool.to_openai` does."""
        return [tool.to_openai(api=api) for tool in self]

    def to_anthropic(self) -> list[dict[str, Any]]:
        """Return both tools as `Tool.to_anthropic` does."""
        return [tool.to_anthropic() for tool in self]

    def to_gemini(self) -> list[dict[str, Any]]:
        """Return both tools as `Tool.to_gemini` does."""
        return [tool.to_gemini() for tool in self]

    if not TYPE_CHECKING:  # to a type checker a wrong name stays wrong

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else tool_hint(name)
            raise AttributeError(f"'Tools' has no attribute {name!r}{hint}")


def web_search_tool(web: Web, needs: Needs | None = None) -> Tool:
    """Return the tool `web_search`; see `web_tools`."""

    async def call(*values: object, **arguments: Any) -> WebSearchToolResult:
        return await web_search_result(web, positional("web_search", values, arguments), needs)

    return tool_of(web_search_definition(web.settings, files=bool(web.folders)), call, web)


def open_page_tool(web: Web) -> Tool:
    """Return the tool `open_page`."""

    async def call(*values: object, **arguments: Any) -> OpenPageToolResult:
        return await open_page_result(web, positional("open_page", values, arguments))

    return tool_of(open_page_definition(web.settings), call, web)


def tool_of(definition: ToolDefinition, call: Callable[..., Awaitable[ToolResult]], web: Web) -> Tool:
    """Return a tool of a definition.

    Args:
        definition: What models and frameworks see of it.
        call: What it does.
        web: What it searches or reads with.
    """
    return Tool(**{part.name: getattr(definition, part.name) for part in fields(definition)}, call=call, web=web)
