"""MCP handlers: tools, resources, the prompt, progress. The protocol itself is the official SDK's."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from groundwire._version import __version__
from groundwire.errors import GroundwireError, PermissionDenied
from groundwire.mcp_server.elicitation import ask_permission
from groundwire.mcp_server.openai_tools import OPENAI_TOOLS, openai_result
from groundwire.mcp_server.sessions import Session, Sessions, logging_attempts, reporting
from groundwire.mcp_server.structured_content import structured_content
from groundwire.models.argument_names import tool_method
from groundwire.tools import ToolDefinition, ToolResult, refused, render_text, web_tool_definitions
from groundwire.tools.definitions import guidance, instructions

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

SESSION = "groundwire://session"
"""The usage, results and pages of a session."""

PAGE_TEMPLATE = "groundwire://page/{url}{?cursor}"
"""A page (RFC 6570)."""

_PAGE = "groundwire://page/"


def page_uri(url: str) -> str:
    """Return the resource URI of a page."""
    return _PAGE + quote(url, safe="")


def page_of(uri: str) -> tuple[str, str | None] | None:
    """Return the URL and the cursor in a resource URI, or None.

    An unencoded URL is accepted, as far as its own query is unambiguous.
    """
    if not uri.startswith(_PAGE):
        return None
    target = uri.removeprefix(_PAGE)
    if "://" in target.partition("?")[0]:
        return target, None
    encoded, _, query = target.partition("?")
    cursor = parse_qs(query).get("cursor", [None])[-1]
    url = unquote(encoded)
    return (url, cursor) if url else None


PROMPT, NEW_SESSION = "web_research", "new_session"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # of a request since protocol 2026-07-28, which has no sessions
_MARKDOWN = "text/markdown"
_COMPLETIONS = 100  # the maximum of the protocol
_LISTS = CacheHint(ttl_ms=300_000, scope="public")  # the settings determine them, the same for every caller
_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#0d5c46'/>"
    "<path d='M16 5v11M7 16h18M10.5 21h11M14 26h4' fill='none' stroke='#fff' stroke-width='2.6'/></svg>"
)


def make_server(sessions: Sessions) -> Server[Any]:
    """Return the server over sessions, which the caller closes."""
    handlers = _Handlers(sessions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # logging is deprecated in the newest protocol, but available in older ones
        return Server(
            "groundwire",
            version=__version__,
            title="Groundwire",
            description="The web for AI agents: one tool finds pages, the other reads one as clean Markdown.",
            instructions=handlers.instructions,
            icons=[types.Icon(src=f"data:image/svg+xml,{quote(_ICON)}", mime_type="image/svg+xml", sizes=["any"])],
            cache_hints={"tools/list": _LISTS, "prompts/list": _LISTS, "resources/templates/list": _LISTS},
            on_list_tools=handlers.list_tools,
            on_call_tool=handlers.call_tool,
            on_list_resources=handlers.list_resources,
            on_list_resource_templates=handlers.list_resource_templates,
            on_read_resource=handlers.read_resource,
            on_list_prompts=handlers.list_prompts,
            on_get_prompt=handlers.get_prompt,
            on_completion=handlers.complete,
            on_set_logging_level=handlers.set_logging_level,
        )


class _Handlers:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        search, page = web_tool_definitions(sessions.settings, files=bool(sessions.settings.policy.files))
        self.instructions = instructions(sessions.settings)
        self._openai = sessions.settings.mcp.tools == "openai"
        if self._openai:
            self.instructions = self.instructions.replace("web_search", "search").replace("open_page", "fetch")
        self._definitions = {search.name: search, page.name: page}
        self._names = [tool.name for tool in OPENAI_TOOLS] if self._openai else list(self._definitions)

    async def list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        asyncio.get_running_loop().call_later(0.1, self._sessions.warm_up)  # after the response
        tools = OPENAI_TOOLS if self._openai else map(_tool, self._definitions.values())
        return types.ListToolsResult(tools=list(tools))

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        meant = {"search": "web_search", "open_page": "open_page"}.get(tool_method(params.name), "")
        if params.name not in self._definitions and meant in self._definitions:
            params = params.model_copy(update={"name": meant})
        if params.name not in self._definitions:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no tool {params.name[:100]!r}; there are {' and '.join(self._names)}.",
            )
        result = await self._call_with_leave(ctx, params)
        if isinstance(result, types.InputRequiredResult):
            return result
        if self._openai:
            return openai_result(result)
        return types.CallToolResult(
            content=[types.TextContent(text=render_text(result))],
            structured_content=structured_content(result, self._definitions[params.name].output_schema),
            is_error=result.status == "error",
        )

    async def list_resources(
        self, ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        opened = (await self._session(ctx)).pages()
        session = types.Resource(
            uri=SESSION,
            name="session",
            title="This session",
            description="Searches made and left, the sources found, the pages opened",
            mime_type="application/json",
        )
        pages = [
            types.Resource(uri=page_uri(url), name=title or url, title=title or None, mime_type=_MARKDOWN)
            for url, title in opened
        ]
        return types.ListResourcesResult(resources=[session, *pages])

    async def list_resource_templates(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        page = types.ResourceTemplate(
            uri_template=PAGE_TEMPLATE,
            name="page",
            title="A web page",
            description="The page at a URL (percent-encoded) as Markdown; cursor continues it",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[page])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri.rstrip("/") == SESSION:
            described = await (await self._session(ctx)).describe()
            return _contents(uri, json.dumps(described, ensure_ascii=False), "application/json")
        target = page_of(uri)
        if target is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no resource {uri[:200]!r}; there are {SESSION} and {PAGE_TEMPLATE}.",
                {"uri": uri},
            )
        url, cursor = target
        result = await self._call(ctx, "open_page", {"url": url} | ({"cursor": cursor} if cursor else {}))
        if result.status == "error":
            raise MCPError(types.INVALID_PARAMS, render_text(result))
        return _contents(uri, render_text(result), _MARKDOWN)

    async def list_prompts(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        question = types.PromptArgument(name="question", description="The question to answer", required=False)
        prompt = types.Prompt(
            name=PROMPT,
            title="Research on the web",
            description="How to search, open pages, cite, and stay within the limits",
            arguments=[question],
        )
        new_session = types.Prompt(
            name=NEW_SESSION,
            title="Start a new session",
            description="Resets the session's usage and its source numbers",
        )
        return types.ListPromptsResult(prompts=[prompt, new_session])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in (PROMPT, NEW_SESSION):
            prompts = f"there are {PROMPT} and {NEW_SESSION}"
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:100]!r}; {prompts}.")
        if params.name == NEW_SESSION:
            await (await self._session(ctx)).reset()
            text = "A new session of web_search and open_page has started: its usage is zero, citations begin at [1]."
        else:
            question = (params.arguments or {}).get("question", "").strip()
            text = guidance(self._sessions.settings) + (f"\n\n## The question\n\n{question}" if question else "")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))])

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        session, argument = await self._session(ctx), params.argument
        candidates: tuple[str, ...] = ()
        if isinstance(params.ref, types.PromptReference):
            if params.ref.name == PROMPT and argument.name == "question":
                candidates = session.queries()
        elif params.ref.uri == PAGE_TEMPLATE and argument.name == "url":
            candidates = session.addresses()
        matches = [text for text in candidates if argument.value.lower() in text.lower()]
        values = matches[:_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(values=values, total=len(matches), has_more=len(matches) > len(values))
        )

    async def set_logging_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        (await self._session(ctx)).log_level = params.level
        return types.EmptyResult()

    async def _call_with_leave(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> ToolResult | types.InputRequiredResult:
        """Call a tool, after asking the user if a rule or an unknown URL requires it and the client supports it."""
        arguments = params.arguments or {}
        with suppress(MCPError):  # the call itself reports invalid settings
            if question := (await self._session(ctx)).question(params.name, arguments):
                leave = await self._ask(ctx, params, "call", question)
                if isinstance(leave, types.InputRequiredResult):
                    return leave
                if leave is False:
                    text = f"Permission denied: the user was asked and refused this call of {params.name}."
                    return refused(params.name, arguments, PermissionDenied(f"{text} Go on without it."))
        result = await self._call(ctx, params.name, arguments)
        if result.status == "error" and _is_unknown(result.error):
            url = str(arguments.get("url", ""))
            question = f"Open this URL? It comes neither from you nor from a search: {url[:500]}"
            leave = await self._ask(ctx, params, "open", question)
            if isinstance(leave, types.InputRequiredResult):
                return leave
            if leave:
                await (await self._session(ctx)).web.allow_urls_in(url)
                result = await self._call(ctx, params.name, arguments)
        return result

    async def _ask(
        self, ctx: Context, params: types.CallToolRequestParams, name: str, question: str
    ) -> bool | types.InputRequiredResult | None:
        max_wait = self._sessions.settings.permission.confirm_timeout
        return await ask_permission(ctx, params, name, question, max_wait)

    async def _session(self, ctx: Context) -> Session:
        try:
            return await self._sessions.get(_key(ctx), ctx.request)
        except GroundwireError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error

    async def _call(self, ctx: Context, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        work = self._sessions.call(_key(ctx), tool, arguments, ctx.request)
        level = "debug" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else None
        with suppress(MCPError):
            level = (await self._session(ctx)).log_level or level
        if level is not None:
            work = logging_attempts(ctx.session, ctx.request_id, level, work)
        if ctx.meta is None or ctx.meta.get("progress_token") is None:
            return await work
        settings = self._sessions.settings
        total = settings.search.timeout if tool != "open_page" else settings.read.timeout
        return await reporting(ctx.session.report_progress, total, work)


def _tool(definition: ToolDefinition) -> types.Tool:
    return types.Tool(
        name=definition.name,
        title="Open a web page" if definition.name == "open_page" else "Search the web",
        description=definition.description,
        input_schema=definition.definition()["parameters"],
        output_schema=dict(definition.output_schema),
        annotations=types.ToolAnnotations.model_validate(dict(definition.annotations)),
    )


def _is_unknown(error: str) -> bool:
    from groundwire.web.known_urls import UNKNOWN  # a starting server loads nothing that searches

    return UNKNOWN in error


def _contents(uri: str, text: str, mime_type: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)])


def _key(ctx: Context) -> str:
    """Return a key that identifies the client of a server.

    HTTP had sessions until protocol 2026-07-28. A client of the newer protocol is identified by its address and its
    name.
    """
    request = ctx.request
    if request is None:
        return ""
    if named := request.headers.get("mcp-session-id"):
        return f"session {named}"
    info: Any = (ctx.meta or {}).get(_CLIENT_INFO)
    name = info.get("name") if isinstance(info, dict) else None
    return f"client {request.client.host if request.client else ''} {str(name)[:100]}"
