"""MCP handlers: tools, resources, the prompt, progress. The protocol itself is the official SDK's."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, quote, unquote

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from groundwire._version import __version__
from groundwire.errors import GroundwireError
from groundwire.models import AttemptStarted, Event
from groundwire.server.client_disconnect import Presence
from groundwire.server.mcp.sessions import Sessions
from groundwire.telemetry.call_events import listening
from groundwire.tools import ToolDefinition, ToolResult, render_text, web_tool_definitions
from groundwire.tools.definitions import guidance, instructions, local_search_definition

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

__all__ = [
    "HEARTBEAT",
    "NEW_SESSION",
    "PAGE_TEMPLATE",
    "PROMPT",
    "SESSION",
    "Report",
    "make_server",
    "page_of",
    "page_uri",
    "reporting",
]

SESSION = "groundwire://session"
"""What a session has used, found and opened."""

PAGE_TEMPLATE = "groundwire://page/{url}{?cursor}"
"""A page (RFC 6570)."""

_PAGE = "groundwire://page/"


def page_uri(url: str) -> str:
    """Return the resource that is the page at an address."""
    return _PAGE + quote(url, safe="")


def page_of(uri: str) -> tuple[str, str | None] | None:
    """Return the address and the cursor that a resource names; None if it is no page.

    An address that was not encoded is understood, too, as far as its own query lets it.
    """
    if not uri.startswith(_PAGE):
        return None
    rest = uri.removeprefix(_PAGE)
    if "://" in rest.partition("?")[0]:
        return rest, None
    encoded, _, query = rest.partition("?")
    cursor = parse_qs(query).get("cursor", [None])[-1]
    url = unquote(encoded)
    return (url, cursor) if url else None


_logger = logging.getLogger(__name__)

HEARTBEAT = 2.0  # seconds; some clients give up on a call of which they hear nothing for much longer

Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Tells a client how many seconds have passed, of how many, and what is being done."""

_T = TypeVar("_T")


async def reporting(report: Report, total: float, work: Awaitable[_T], *, heartbeat: float = HEARTBEAT) -> _T:
    """Await `work` and meanwhile report what it does, and that it still does it.

    Args:
        report: Tells the client.
        total: The most seconds that the work may take.
        work: The work.
        heartbeat: Seconds of silence after which something is said.
    """
    doing: asyncio.Queue[str] = asyncio.Queue()

    def listen(event: Event) -> None:
        doing.put_nowait(f"Asking {event.provider}" if isinstance(event, AttemptStarted) else event.attempt.describe())

    reporter = asyncio.create_task(_report(report, total, doing, heartbeat))
    try:
        with listening(listen):
            return await work
    finally:
        reporter.cancel()


async def _report(report: Report, total: float, doing: asyncio.Queue[str], heartbeat: float) -> None:
    started = time.monotonic()
    last = 0.0
    while True:
        text = None
        with suppress(TimeoutError):
            text = await asyncio.wait_for(doing.get(), heartbeat)
        passed = time.monotonic() - started
        last = max(round(passed, 3), last + 0.001)  # the protocol wants every number above the one before
        try:
            await report(last, max(total, last), text or f"Still at work after {passed:.0f} s")
        except Exception:  # a client that hears nothing any more; its call ends by itself
            _logger.debug("progress could not be reported", exc_info=True)
            return


PROMPT, NEW_SESSION = "web_research", "new_session"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # of a request since protocol 2026-07-28, which has no sessions
_MARKDOWN = "text/markdown"


def make_server(sessions: Sessions, *, heartbeat: float = HEARTBEAT) -> Server[Any]:
    """Return the server over sessions, which stay the caller's to close.

    Args:
        sessions: What searches and reads.
        heartbeat: Seconds of silence after which the progress of a call is reported.
    """
    handlers = _Handlers(sessions, heartbeat)
    return Server(
        "groundwire",
        version=__version__,
        title="Groundwire",
        description="The web for AI agents: one tool finds pages, the other reads one as clean Markdown.",
        instructions=handlers.instructions,
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
        search, page = web_tool_definitions(sessions.settings)
        self.instructions = instructions(sessions.settings)
        if sessions.settings.search.local.tool == "search":
            search = local_search_definition(sessions.settings)
            page = replace(page, description=page.description.replace("web_search", search.name))
            self.instructions = self.instructions.replace("web_search", search.name)
        self._definitions = {search.name: search, page.name: page}

    async def list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        asyncio.get_running_loop().call_later(0.1, self._sessions.warm_up)  # after the answer
        return types.ListToolsResult(tools=[_tool(one) for one in self._definitions.values()])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._definitions:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no tool {params.name[:100]!r}; there are {' and '.join(self._definitions)}.",
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
        anew = types.Prompt(
            name=NEW_SESSION,
            title="Begin a new session",
            description="Resets what the session has used of its limits, and the numbers of its sources",
        )
        return types.ListPromptsResult(prompts=[prompt, anew])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in (PROMPT, NEW_SESSION):
            known = f"there are {PROMPT} and {NEW_SESSION}"
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:100]!r}; {known}.")
        if params.name == NEW_SESSION:
            await (await self._session(ctx)).reset()
            text = "A new session of web_search and open_page has begun: its limits are whole, citations begin at [1]."
        else:
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
        total = settings.search.timeout if tool != "open_page" else settings.read.timeout
        return await reporting(ctx.session.report_progress, total, work, heartbeat=self._heartbeat)


def _tool(definition: ToolDefinition) -> types.Tool:
    hints = definition.annotations
    return types.Tool(
        name=definition.name,
        title={"web_search": "Search the web", "search": "Search the web", "open_page": "Open a web page"}.get(
            definition.name
        ),
        description=definition.description,
        input_schema=definition.definition()["parameters"],
        output_schema=copy.deepcopy(dict(definition.output_schema)),
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
