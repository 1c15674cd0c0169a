"""What the server answers: tools, resources, the prompt. The protocol itself is the official SDK's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from groundwire._version import __version__
from groundwire.errors import GroundwireError
from groundwire.guidance import guidance, instructions
from groundwire.server.mcp.presence import Presence
from groundwire.server.mcp.progress import HEARTBEAT, reporting
from groundwire.server.mcp.resources import PAGE_TEMPLATE, SESSION, page_of, page_uri
from groundwire.server.mcp.sessions import Sessions
from groundwire.tools import ToolDefinition, ToolResult, render_text, web_tool_definitions

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

__all__ = ["make_server"]

PROMPT = "web_research"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # of a request since protocol 2026-07-28, which has no sessions
_MARKDOWN = "text/markdown"


def make_server(sessions: Sessions, *, heartbeat: float = HEARTBEAT) -> Server[Any]:
    """Return the server over sessions, which stay the caller's to close.

    Args:
        sessions: What searches and reads.
        heartbeat: Seconds of silence after which the progress of a call is told.
    """
    handlers = _Handlers(sessions, heartbeat)
    return Server(
        "groundwire",
        version=__version__,
        title="Groundwire",
        description="The web for AI agents: web_search finds pages, open_page reads one as clean Markdown.",
        instructions=instructions(sessions.settings),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, sessions: Sessions, heartbeat: float) -> None:
        self._sessions = sessions
        self._heartbeat = heartbeat
        self._definitions = {one.name: one for one in web_tool_definitions(sessions.settings)}

    async def list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        asyncio.get_running_loop().call_later(0.1, self._sessions.warm_up)  # after the answer
        return types.ListToolsResult(tools=[_tool(one) for one in self._definitions.values()])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._definitions:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no tool {params.name[:100]!r}; there are web_search and open_page."
            )
        result = await self._call(ctx, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(text=render_text(result))],
            structured_content=result.model_dump(mode="json"),
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
            description="The page at an address (percent-encoded) as Markdown; cursor reads on",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[page])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri.rstrip("/") == SESSION:
            described = await (await self._session(ctx)).describe()
            return _contents(uri, json.dumps(described, ensure_ascii=False), "application/json")
        asked = page_of(uri)
        if asked is None:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no resource {uri[:200]!r}; there are {SESSION} and {PAGE_TEMPLATE}."
            )
        url, cursor = asked
        result = await self._call(ctx, "open_page", {"url": url} | ({"cursor": cursor} if cursor else {}))
        if result.status == "error":
            raise MCPError(types.INVALID_PARAMS, render_text(result))
        return _contents(uri, render_text(result), _MARKDOWN)

    async def list_prompts(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        question = types.PromptArgument(name="question", description="What is to be found out", required=False)
        prompt = types.Prompt(
            name=PROMPT,
            title="Research on the web",
            description="How to search, open pages, cite, and stay within the limits",
            arguments=[question],
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, _ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:100]!r}; there is {PROMPT}.")
        question = (params.arguments or {}).get("question", "").strip()
        text = guidance(self._sessions.settings) + (f"\n\n## The question\n\n{question}" if question else "")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))])

    async def _session(self, ctx: Context) -> Any:
        try:
            return await self._sessions.get(_key(ctx), ctx.request)
        except GroundwireError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error

    async def _call(self, ctx: Context, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        work = self._sessions.call(_key(ctx), tool, arguments, ctx.request)
        presence = Presence.of(ctx.request)
        if presence is not None:
            work = presence.during(work)
        if ctx.meta is None or ctx.meta.get("progress_token") is None:
            return await work
        settings = self._sessions.settings
        total = settings.search.timeout if tool == "web_search" else settings.read.timeout
        return await reporting(ctx.session.report_progress, total, work, heartbeat=self._heartbeat)


def _tool(definition: ToolDefinition) -> types.Tool:
    hints = definition.annotations
    return types.Tool(
        name=definition.name,
        title={"web_search": "Search the web", "open_page": "Open a web page"}.get(definition.name),
        description=definition.description,
        input_schema=definition.definition()["parameters"],
        output_schema=dict(definition.output_schema),
        annotations=types.ToolAnnotations(
            read_only_hint=hints["readOnlyHint"],
            open_world_hint=hints["openWorldHint"],
            destructive_hint=hints["destructiveHint"],
        ),
    )


def _contents(uri: str, text: str, mime_type: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)])


def _key(ctx: Context) -> str:
    """Return what tells the clients of a server apart.

    Streamable HTTP had sessions until protocol 2026-07-28, as has SSE. A client of the newer protocol is known by its
    address and the name it gives.
    """
    request = ctx.request
    if request is None:
        return ""
    named = request.headers.get("mcp-session-id") or request.query_params.get("session_id")
    if named:
        return f"session {named}"
    info: Any = (ctx.meta or {}).get(_CLIENT_INFO)
    name = info.get("name") if isinstance(info, dict) else None
    return f"client {request.client.host if request.client else ''} {str(name)[:100]}"
