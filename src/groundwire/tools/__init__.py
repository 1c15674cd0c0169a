"""The two tools, for any framework: their definitions, their calls, their results, and the results as text."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, ParamSpec, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.errors import GroundwireError, MissingKey
from groundwire.models import MAX_LIMIT, Page
from groundwire.models.aliases import framework_of, noted, tool_method
from groundwire.tools.argument_coercion import (
    OpenArguments,
    SearchArguments,
    bad_arguments,
    positional,
    understood,
    unwrapped,
)
from groundwire.tools.definitions import (
    ToolDefinition,
    local_search_definition,
    open_page_definition,
    web_search_definition,
    web_tool_definitions,
)
from groundwire.tools.rendering import length_note, render_json, render_text
from groundwire.tools.results import (
    BRIEF,
    MAX_CITATION,
    ExcerptItem,
    LocalSearchItem,
    LocalSearchToolResult,
    OpenPageToolResult,
    SearchResultItem,
    ToolResult,
    WebSearchToolResult,
    for_model,
    nothing_found,
    open_failed,
    opened,
    refused,
    search_failed,
    searched,
    shown,
)

if TYPE_CHECKING:
    from groundwire.hosted.requirements import Needs
    from groundwire.sync import SyncWeb
    from groundwire.web import Web

__all__ = [
    "ExcerptItem",
    "LocalSearchItem",
    "LocalSearchToolResult",
    "OpenPageToolResult",
    "SearchResultItem",
    "Tool",
    "ToolDefinition",
    "ToolResult",
    "Tools",
    "WebSearchToolResult",
    "length_note",
    "local_search_lacks",
    "local_search_tool",
    "open_failed",
    "open_page_result",
    "open_page_tool",
    "opened",
    "refused",
    "render_json",
    "render_text",
    "search_failed",
    "searched",
    "web_search_result",
    "web_search_tool",
    "web_tool_definitions",
    "web_tools",
]

_P = ParamSpec("_P")
_logger = logging.getLogger(__name__)

_INTERNAL = "The tool itself failed; the operator finds the reason in the log. Go on without it."


@dataclass(frozen=True, slots=True)
class Tool(ToolDefinition):
    """One tool, ready for any framework."""

    call: Callable[..., Awaitable[ToolResult]]
    """Takes the arguments by keyword, as a mapping or JSON text, or the first as text; raises only on cancellation."""
    web: Web | SyncWeb | None = None
    """The web that it searches and reads with, if it is a tool of one."""

    async def __call__(self, *given: object, **arguments: Any) -> ToolResult:
        """Call the tool, as `call` does."""
        return await self.call(*given, **arguments)

    if not TYPE_CHECKING:  # to a type checker a wrong name stays wrong

        def __getattr__(self, name: str) -> Any:
            if name in ("acall", "ainvoke", "arun", "aexecute", "coroutine"):
                return self.call
            if name in ("func", "function", "fn", "invoke", "run", "execute", "forward"):
                if isinstance(self, _BlockingTool):
                    return self
                raise AttributeError(f"'Tool' has no attribute {name!r}; did you mean 'await tool.call(...)'?")
            if name in ("schema", "args_schema", "input_schema", "inputSchema", "args", "json_schema"):
                return self.definition()["parameters"]
            if name in ("to_dict", "to_json_schema", "model_dump", "to_function"):
                return self.definition
            if (framework := framework_of(name)) and self.web is not None:
                return partial(_adapted, framework, self)
            hint = f"; did you mean {framework!r}?" if framework else ""
            raise AttributeError(f"'Tool' has no attribute {name!r}{hint}")


class _BlockingTool(Tool):
    """A tool of a `SyncWeb`, in whose thread it runs: calling it blocks, and `call` suits any event loop."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __call__(self, *given: object, **arguments: Any) -> ToolResult:
            """Call the tool, and return its result."""
            return self.web.submit(lambda _: self.call(*given, **arguments)).result()


def _of_a_web(make: Callable[_P, Tools]) -> Callable[_P, Tools]:
    @wraps(make)
    def checked(*given: _P.args, **options: _P.kwargs) -> Tools:
        web = options.get("web", next(iter(given), None))
        if not hasattr(web, "open_page") or not options.keys() <= {"web", "needs"}:
            raise TypeError("web_tools() takes a Web or a SyncWeb; for an API, as in web_tools(SyncWeb()).to_openai()")
        return make(*given, **options)

    return checked


@_of_a_web
def web_tools(web: Web | SyncWeb, needs: Needs | None = None) -> Tools:
    """Return `web_search` and `open_page` over a `Web`, which the caller closes.

    Args:
        web: The web to search and read with. The tools of a `SyncWeb` block when they are called.
        needs: What every search must honor, such as the needs of a plan with local search.
    """
    given: Any = web
    inner: Web = getattr(given, "inner", given)
    search, read = web_search_tool(inner, needs), open_page_tool(inner)
    return Tools((search, read) if inner is given else (_in_thread_of(given, search), _in_thread_of(given, read)))


def _in_thread_of(web: Any, tool: Tool) -> Tool:
    async def call(*given: object, **arguments: Any) -> ToolResult:
        return await asyncio.wrap_future(web.submit(lambda _: tool.call(*given, **arguments)))

    fields = {field: getattr(tool, field) for field in tool.__dataclass_fields__}
    return _BlockingTool(**{**fields, "call": call, "web": web})


def _adapted(framework: str, tool: Tool, **options: Any) -> Any:
    made = import_module(f"groundwire.integrations.{framework}").web_tools(tool.web, **options)  # it builds on this
    return made[0 if tool.name == "web_search" else 1]


class Tools(tuple[Tool, Tool]):
    """Both tools. Formats of one, such as `to_openai()`, give a list here."""

    __slots__ = ()

    def __call__(self) -> Self:
        """Return itself: `web.tools` and `web.tools()` are the same."""
        return self

    if not TYPE_CHECKING:  # to a type checker a wrong name stays wrong

        def __getitem__(self, key: Any) -> Any:
            """Return a tool by its place or its name."""
            if not isinstance(key, str):
                return super().__getitem__(key)
            for tool in self:
                if tool.name in (key, tool_method(key), f"web_{tool_method(key)}"):
                    return tool
            raise KeyError(f"there is no tool {key!r}: the tools are {' and '.join(tool.name for tool in self)}")

        def call(self, name: str, arguments: Any = None, **more: Any) -> Any:
            """Call a tool by its name, with the arguments that a model wrote."""
            return self[name]({} if arguments is None else arguments, **more)

        def __getattr__(self, name: str) -> Any:
            ways = [getattr(tool, name) for tool in self]
            return lambda *given, **options: [way(*given, **options) for way in ways]


def web_search_tool(web: Web, needs: Needs | None = None) -> Tool:
    """Return the tool `web_search`; see `web_tools`."""

    async def call(*given: object, **arguments: Any) -> WebSearchToolResult:
        return await web_search_result(web, positional("query", given, arguments), needs)

    return _with_call(web_search_definition(web.settings), call, web)


def open_page_tool(web: Web) -> Tool:
    """Return the tool `open_page`."""

    async def call(*given: object, **arguments: Any) -> OpenPageToolResult:
        return await open_page_result(web, positional("url", given, arguments))

    return _with_call(open_page_definition(web.settings), call, web)


def _with_call(definition: ToolDefinition, call: Callable[..., Awaitable[ToolResult]], web: Web) -> Tool:
    return Tool(
        name=definition.name,
        description=definition.description,
        parameters=definition.parameters,
        output_schema=definition.output_schema,
        annotations=definition.annotations,
        call=call,
        web=web,
    )


async def web_search_result(web: Web, arguments: Mapping[str, Any], needs: Needs | None = None) -> WebSearchToolResult:
    """Search with a model's arguments; every failure becomes a result with `status` error."""
    plain = understood("web_search", arguments)
    echo = shown(plain.get("query", ""))
    try:
        asked = SearchArguments.model_validate(plain)
        filters = _filters(asked, needs)
        response = await web.search(asked.query, limit=asked.limit, **filters)
    except ValidationError as error:
        return WebSearchToolResult(query=echo, status="error", error=bad_arguments(error, SearchArguments))
    except GroundwireError as error:
        return search_failed(echo, error)
    except Exception:  # the agent must never see a traceback; the log has it for the operator
        _logger.exception("web_search failed")
        return WebSearchToolResult(query=echo, status="error", error=_INTERNAL)
    return searched(noted(response, unwrapped(arguments)))


async def open_page_result(web: Web, arguments: Mapping[str, Any]) -> OpenPageToolResult:
    """Open a page with a model's arguments; every failure becomes a result with `status` error."""
    plain = understood("open_page", arguments)
    echo = shown(plain.get("url", ""))
    try:
        asked = OpenArguments.model_validate(plain)
        brief = asked.max_tokens is not None and asked.max_tokens < BRIEF

        def around(page: Page) -> str:
            numbered = page.model_copy(update={"citation_id": MAX_CITATION})  # an agent loop may have other numbers
            return render_text(opened(noted(numbered, unwrapped(arguments)), brief=brief))

        page = await web.open_page(**asked.model_dump(), context=around)
    except ValidationError as error:
        return OpenPageToolResult(url=echo, status="error", error=bad_arguments(error, OpenArguments))
    except GroundwireError as error:
        return open_failed(echo, error)
    except Exception:  # the agent must never see a traceback; the log has it for the operator
        _logger.exception("open_page failed")
        return OpenPageToolResult(url=echo, status="error", error=_INTERNAL)
    return opened(noted(page, unwrapped(arguments)), brief=brief)


def _filters(asked: SearchArguments, needs: Needs | None) -> dict[str, Any]:
    more = asked.model_dump(exclude={"query", "limit", "allowed_domains", "time_range"}, exclude_none=True)
    if needs is None:
        return {"allowed_domains": asked.allowed_domains, "time_range": asked.time_range, **more}
    return {**more, **needs.within(asked.allowed_domains, asked.time_range)}


_KEYS = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")  # under which Brave's provider looks by itself
_DDG = ("duckduckgo_lite", "duckduckgo")

Backend = Literal["ddg", "brave"]


class _LocalArguments(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    query: str
    max_results: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    backend: Backend | None = None
    allowed_domains: list[str] = Field(default_factory=list)


def local_search_tool(web: Web, needs: Needs | None = None) -> Tool:
    """Return codelia's tool `search` over a `Web`, which the caller closes.

    It shares the budget and the cache of the web. `search.local` of the settings names the backend that is asked when a
    call names none, and the variable with the key for Brave.

    Args:
        web: What searches.
        needs: What every search must honor, such as the needs of a plan with local search.
    """
    views: dict[Backend, Web] = {}

    async def call(*given: object, **arguments: Any) -> LocalSearchToolResult:
        return await _local_search(web, views, positional("query", given, arguments), needs)

    return _with_call(local_search_definition(web.settings), call, web)


def local_search_lacks(web: Web, arguments: Mapping[str, Any]) -> MissingKey | None:
    """Return the key that a call of `search` lacks, or None.

    Args:
        web: What would search.
        arguments: The model's arguments.
    """
    backend = understood("search", arguments).get("backend") or web.settings.search.local.backend
    try:
        if backend == "brave":
            _asking(web, "brave")
    except MissingKey as error:
        return error
    return None


async def _local_search(
    web: Web, views: dict[Backend, Web], arguments: Mapping[str, Any], needs: Needs | None
) -> LocalSearchToolResult:
    """Search with a model's arguments; every failure becomes a result with its cause."""
    backend = web.settings.search.local.backend
    plain = understood("search", arguments)
    error = _INTERNAL
    try:
        asked = _LocalArguments.model_validate(plain)
        backend = asked.backend or backend
        if backend not in views:
            views[backend] = _asking(web, backend)
        given = {"allowed_domains": asked.allowed_domains} if needs is None else needs.within(asked.allowed_domains)
        found = await views[backend].search(asked.query, limit=asked.max_results, **given)
        rows = tuple(LocalSearchItem(**row.model_dump(include=LocalSearchItem.model_fields)) for row in found)
        said = [] if rows else [*nothing_found(found), *found.warnings]
        message = "\n".join(said) if len(said) > 1 else ""
        return LocalSearchToolResult(query=found.query, backend=backend, results=rows, message=message)
    except ValidationError as failure:
        error = bad_arguments(failure, _LocalArguments)
    except GroundwireError as failure:
        error = for_model(failure)
    except Exception:  # the agent must never see a traceback; the log has it for the operator
        _logger.exception("search failed")
    return LocalSearchToolResult(query=shown(plain.get("query", "")), backend=backend, status="error", error=error)


def _asking(web: Web, backend: Backend) -> Web:
    """Return a view of a web that uses one backend.

    Raises:
        MissingKey: it needs a key, and the configured variable is empty.
    """
    settings = web.settings
    if backend == "ddg":
        configured = [name for name in settings.search.providers if name.startswith("duckduckgo")]
        return web.with_providers(*(configured or _DDG))
    variable = settings.search.local.brave_api_key_env
    if variable in _KEYS:
        if not any(settings.secret(name) for name in _KEYS):
            raise MissingKey("brave", variable)
        return web.with_providers("brave")
    key = settings.secret(variable)
    if key is None:
        raise MissingKey("brave", variable)
    return web.with_providers("brave", settings=settings.with_key(_KEYS[0], key))


class _Module(ModuleType):
    """This module, which may be called as `web_tools` is: `groundwire.tools(web)`."""

    def __call__(self, web: Web, needs: Needs | None = None) -> tuple[Tool, Tool]:
        return web_tools(web, needs)


sys.modules[__name__].__class__ = _Module
