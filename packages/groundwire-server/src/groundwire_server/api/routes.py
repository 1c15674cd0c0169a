"""The operations of the REST API, each with the models of its request and response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.models import Page, SearchResponse
from groundwire.models.argument_names import OPEN_PAGE, SEARCH
from groundwire.tools import LocalSearchToolResult, OpenPageToolResult, WebSearchToolResult, render_text
from groundwire_server.api.compat_apis import PerplexityReply, PerplexityRequest, search_perplexity
from groundwire_server.api.compat_searxng import (
    SearxngFailure,
    SearxngReply,
    SearxngRequest,
    read_searxng,
    refuse_searxng,
    search_searxng,
)
from groundwire_server.api.compat_sites import CrawlReply, MapReply, MapRequest, crawl_site, map_site
from groundwire_server.api.context import AppContext, Caller
from groundwire_server.api.drop_in_contents import ignored
from groundwire_server.api.endpoint import Endpoint, Reader, Work, is_json, read_json, read_query
from groundwire_server.api.error_body import ApiModel, Failure
from groundwire_server.api.request_models import (
    ApiRequest,
    AskRequest,
    JsonObject,
    PagesRequest,
    PrepareQuery,
    ResolveRequest,
    SearchRequest,
    ToolPath,
    ToolQuery,
    VerifyRequest,
)
from groundwire_server.api.status import (
    Alive,
    HealthReply,
    ProvidersReply,
    Ready,
    SessionQuery,
    SessionReply,
    SessionRequest,
    providers,
    read_nothing,
    read_session,
    reset_session,
    session,
)
from groundwire_server.api.tool_routes import (
    AskReply,
    ResolveReply,
    VerifyReply,
    ask,
    call_tool,
    list_tools,
    prepared,
    read_prepare,
    read_tool,
    resolve,
    verify,
)

__all__ = [
    "JSON",
    "Operation",
    "PagesReply",
    "operations",
    "pages",
    "search",
]


class PagesReply(ApiModel):
    """The response with several pages."""

    pages: tuple[Page, ...]
    """One entry per URL, in order, with `status` and, if it could not be read, `error`."""


async def search(caller: Caller, asked: SearchRequest) -> SearchResponse:
    """Search the web."""
    given = asked.model_dump(exclude={"session"})
    response = await caller.session(asked.session).search(**given)
    unused = ignored(asked.given, SEARCH)
    return response.model_copy(update={"warnings": (*response.warnings, *unused)}) if unused else response


async def pages(caller: Caller, asked: PagesRequest) -> PagesReply:
    """Read one page or several; the failure of a single page fails the call."""
    web = caller.session(asked.session)
    given = asked.model_dump(include={"query", "find", "max_length", "max_tokens", "refresh", "keep", "timeout"})
    if asked.urls is not None:
        found = await web.open_pages(asked.urls, **given)
    else:
        found = (await web.open_page(asked.url or "", cursor=asked.cursor, **given),)
    if unused := ignored(asked.given, OPEN_PAGE):
        found = tuple(page.model_copy(update={"warnings": (*page.warnings, *unused)}) for page in found)
    return PagesReply(pages=found)


def _as_text(made: BaseModel) -> str:
    """Return a response as Markdown: results, an answer, or the content of pages."""
    if isinstance(made, AskReply):
        return made.text
    return "\n\n".join(map(str, made.pages)) if isinstance(made, PagesReply) else str(made)


JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_SITE = 150.0  # seconds for a site, as Tavily's clients wait
_QUICK = 10.0  # seconds for operations that only read the store


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of the REST API."""

    method: str
    """The HTTP method."""
    path: str
    """The path, with parameters in braces."""
    name: str
    """The OpenAPI `operationId`."""
    summary: str
    """The summary."""
    app: ASGIApp
    """The handler."""
    bodies: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    """The models of its request body by media type."""
    query: type[BaseModel] | None = None
    """The model of its query string."""
    parameters: type[BaseModel] | None = None
    """The parameters of its path."""
    replies: tuple[type[BaseModel], ...]
    """The model of a successful response."""
    failures: tuple[type[BaseModel], ...] = (Failure,)
    """The model of an error response."""
    statuses: tuple[int, ...]
    """The error statuses, in addition to those of every operation."""
    events: bool = False
    """Whether the response may be an event stream."""
    text: bool = False
    """Whether the response may be plain text."""
    is_open: bool = False
    """Whether no key is required."""


class _ByBody:
    """`POST /search`: SearXNG's clients send a form, Perplexity's JSON."""

    def __init__(self, form: ASGIApp, json: ASGIApp) -> None:
        self._form = form
        self._json = json

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Dispatch by the media type of the body."""
        chosen = self._json if is_json(Request(scope)) else self._form
        await chosen(scope, receive, send)


class _ByFormat:
    """`GET /search`: SearXNG's clients send a format, and browsers accept HTML; others get the usual search."""

    def __init__(self, searxng: ASGIApp, usual: ASGIApp) -> None:
        self._searxng = searxng
        self._usual = usual

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Dispatch by the query string and the accepted media type."""
        request = Request(scope)
        is_searxngs = "format" in request.query_params or "text/html" in request.headers.get("accept", "")
        await (self._searxng if is_searxngs else self._usual)(scope, receive, send)


_R = TypeVar("_R", bound=ApiRequest)
_CALL = (400, 402, 404, 415, 422, 502, 503, 504)


def _by_body_or_query(
    context: AppContext,
    path: str,
    name: str,
    summary: str,
    model: type[_R],
    work: Work[_R],
    reply: type[BaseModel],
    usual: float,
) -> Iterator[Operation]:
    """Yield an operation with a JSON body, and the same with a query string."""
    statuses = tuple(status for status in _CALL if status != 404 or model is PagesRequest)

    def endpoint(read: Reader[_R]) -> ASGIApp:
        return Endpoint(context, read, work, usual=usual, events=True, text=_as_text)

    yield Operation(
        method="POST",
        path=path,
        name=name,
        summary=summary,
        app=endpoint(partial(read_json, model)),
        bodies={JSON: model},
        replies=(reply,),
        statuses=statuses,
        events=True,
        text=True,
    )
    yield Operation(
        method="GET",
        path=path,
        name=f"{name}_by_query",
        summary=f"{summary} The arguments are in the query string.",
        app=endpoint(partial(read_query, model)),
        query=model,
        replies=(reply,),
        statuses=tuple(status for status in statuses if status != 415),
        events=True,
        text=True,
    )


def operations(context: AppContext) -> tuple[Operation, ...]:
    """Return all operations of a gateway."""
    settings = context.web.settings
    searching, reading = settings.search.timeout, settings.read.timeout
    searxng = Endpoint(context, read_searxng, search_searxng, usual=searching, refuse=refuse_searxng)
    perplexity = Endpoint(context, partial(read_json, PerplexityRequest), search_perplexity, usual=searching)
    by_query = Endpoint(context, partial(read_query, SearchRequest), search, usual=searching)
    answering = settings.answer.timeout
    return (
        *_by_body_or_query(
            context, "/v1/search", "search", "Search the web.", SearchRequest, search, SearchResponse, searching
        ),
        *_by_body_or_query(
            context,
            "/v1/pages",
            "read_pages",
            "Read pages as Markdown: in full, in parts, or only the passages that answer a question.",
            PagesRequest,
            pages,
            PagesReply,
            reading,
        ),
        *_by_body_or_query(
            context,
            "/v1/ask",
            "ask",
            "Answer a question from the web, with citations verified against the pages.",
            AskRequest,
            ask,
            AskReply,
            answering,
        ),
        Operation(
            method="POST",
            path="/v1/verify",
            name="verify_answer",
            summary="Verify each sentence of an answer against the pages that it cites. Opens no pages.",
            app=Endpoint(context, partial(read_json, VerifyRequest), verify, usual=reading),
            bodies={JSON: VerifyRequest},
            replies=(VerifyReply,),
            statuses=(400, 415, 503, 504),
        ),
        Operation(
            method="GET",
            path="/v1/tools",
            name="list_tools",
            summary="List the tools with the JSON schemas of their arguments, for a model.",
            app=Endpoint(context, read_nothing, list_tools, usual=_QUICK),
            replies=(JsonObject,),
            statuses=(503, 504),
        ),
        Operation(
            method="POST",
            path="/v1/tools/{name}",
            name="call_tool",
            summary="Call a tool with the arguments that a model wrote.",
            app=Endpoint(context, read_tool, call_tool, usual=max(searching, reading), text=render_text),
            bodies={JSON: JsonObject},
            query=ToolQuery,
            parameters=ToolPath,
            replies=(WebSearchToolResult, OpenPageToolResult, LocalSearchToolResult),
            statuses=(400, 404, 415, 503, 504),
            text=True,
        ),
        Operation(
            method="POST",
            path="/v1/resolve",
            name="resolve",
            summary="Decide which search a model uses: its API's hosted search, or Groundwire's tools.",
            app=Endpoint(context, partial(read_json, ResolveRequest), resolve, usual=_QUICK),
            bodies={JSON: ResolveRequest},
            replies=(ResolveReply,),
            statuses=(400, 415, 422, 503, 504),
        ),
        Operation(
            method="POST",
            path="/v1/prepare",
            name="prepare",
            summary="Return a request to a model API with exactly one search tool: the hosted one, or Groundwire's.",
            app=Endpoint(context, read_prepare, prepared, usual=_QUICK),
            bodies={JSON: JsonObject},
            query=PrepareQuery,
            replies=(JsonObject,),
            statuses=(400, 415, 422, 503, 504),
        ),
        Operation(
            method="GET",
            path="/v1/providers",
            name="list_providers",
            summary="List the providers: configuration, health, results and cost.",
            app=Endpoint(context, read_nothing, providers, usual=_QUICK),
            replies=(ProvidersReply,),
            statuses=(503, 504),
        ),
        Operation(
            method="GET",
            path="/v1/sessions/{id}",
            name="get_session",
            summary="Show what a session has used, and its sources.",
            app=Endpoint(context, read_session, session, usual=_QUICK),
            parameters=SessionRequest,
            query=SessionQuery,
            replies=(SessionReply,),
            statuses=(400, 404, 503, 504),
        ),
        Operation(
            method="DELETE",
            path="/v1/sessions/{id}",
            name="reset_session",
            summary="Reset a session's usage and citation numbers. Returns what it had used.",
            app=Endpoint(context, read_session, reset_session, usual=_QUICK),
            parameters=SessionRequest,
            query=SessionQuery,
            replies=(SessionReply,),
            statuses=(400, 404, 503, 504),
        ),
        Operation(
            method="GET",
            path="/search",
            name="search_as_searxng",
            summary="Search with SearXNG's API. A failure has an error status. Without `format` it is `/v1/search`.",
            app=_ByFormat(searxng, by_query),
            query=SearxngRequest,
            replies=(SearxngReply, SearchResponse),
            failures=(SearxngFailure, Failure),
            statuses=(400, 402, 422, 502, 503, 504),
        ),
        Operation(
            method="POST",
            path="/search",
            name="search_by_body",
            summary="Search with the Perplexity Search API (JSON) or SearXNG's (form).",
            app=_ByBody(searxng, perplexity),
            bodies={JSON: PerplexityRequest, _FORM: SearxngRequest},
            replies=(PerplexityReply, SearxngReply),
            failures=(Failure, SearxngFailure),
            statuses=(400, 402, 422, 502, 503, 504),
        ),
        Operation(
            method="POST",
            path="/map",
            name="map_site",
            summary="List the pages of a site, as Tavily and Firecrawl do: sitemaps, feeds, links.",
            app=Endpoint(context, partial(read_json, MapRequest), map_site, usual=_SITE),
            bodies={JSON: MapRequest},
            replies=(MapReply,),
            statuses=(400, 402, 404, 415, 422, 502, 503, 504),
        ),
        Operation(
            method="POST",
            path="/crawl",
            name="crawl_site",
            summary="Read the pages of a site, as Tavily does. The response comes when all are read.",
            app=Endpoint(context, partial(read_json, MapRequest), crawl_site, usual=_SITE),
            bodies={JSON: MapRequest},
            replies=(CrawlReply,),
            statuses=(400, 402, 404, 415, 422, 502, 503, 504),
        ),
        Operation(
            method="GET",
            path="/healthz",
            name="is_alive",
            summary="Liveness: whether the process is running.",
            app=Alive(),
            replies=(HealthReply,),
            statuses=(),
            is_open=True,
        ),
        Operation(
            method="GET",
            path="/readyz",
            name="is_ready",
            summary="Readiness: whether the gateway accepts calls.",
            app=Ready(context),
            replies=(HealthReply,),
            failures=(HealthReply,),
            statuses=(503,),
            is_open=True,
        ),
    )
