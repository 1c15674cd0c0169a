"""The operations of the REST API, each with the models of its request and response."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.routing import request_response
from starlette.types import ASGIApp

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
from groundwire_server.api.endpoint import Endpoint, Work, is_json, read_json, read_query
from groundwire_server.api.request_models import (
    AskRequest,
    EmptyQuery,
    JsonObject,
    PagesRequest,
    PrepareQuery,
    ResolveRequest,
    SearchRequest,
    ToolQuery,
    VerifyRequest,
)
from groundwire_server.api.status import (
    HealthReply,
    SessionCall,
    SessionReply,
    alive,
    read_session,
    ready,
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
from groundwire_server.error_body import ApiModel, Failure


class PagesReply(ApiModel):
    """The response with several pages."""

    pages: tuple[Page, ...]
    """One entry per URL, in order, with `status` and, if it could not be read, `error`."""


async def search(caller: Caller, request: SearchRequest) -> SearchResponse:
    """Search the web."""
    arguments = request.model_dump(exclude={"session"})
    response = await caller.session(request.session).search(**arguments)
    unused = ignored(request.sent_members, SEARCH)
    return response.model_copy(update={"warnings": (*response.warnings, *unused)}) if unused else response


async def pages(caller: Caller, request: PagesRequest) -> PagesReply:
    """Read one page or several; the failure of a single page fails the call."""
    web = caller.session(request.session)
    options = request.model_dump(include={"query", "find", "max_length", "max_tokens", "refresh", "keep", "timeout"})
    if request.urls is not None:
        documents = await web.open_pages(request.urls, **options)
    else:
        documents = (await web.open_page(request.url or "", cursor=request.cursor, **options),)
    if unused := ignored(request.sent_members, OPEN_PAGE):
        documents = tuple(page.model_copy(update={"warnings": (*page.warnings, *unused)}) for page in documents)
    return PagesReply(pages=documents)


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
    """The model of its query string, with the parameters of its path."""
    replies: tuple[type[BaseModel], ...]
    """The model of a successful response."""
    failures: tuple[type[BaseModel], ...] = (Failure,)
    """The model of an error response."""
    statuses: Collection[int]
    """The error statuses, in addition to those of every operation."""
    events: bool = False
    """Whether the response may be an event stream."""
    text: bool = False
    """Whether the response may be plain text."""
    is_open: bool = False
    """Whether no key is required."""


_R = TypeVar("_R", bound=BaseModel)
_ROWS: Final[Sequence[dict[str, Any]]] = tomllib.loads(
    files("groundwire_server.api").joinpath("operations.toml").read_text(encoding="utf-8")
)["operation"]


def operations(context: AppContext) -> tuple[Operation, ...]:
    """Return all operations of a gateway, in the order of `operations.toml`."""
    served = _served(context)
    return tuple(Operation(**row, **served[row["name"]]) for row in _ROWS)


def _served(context: AppContext) -> Mapping[str, Mapping[str, Any]]:
    """Return what answers each operation, by its name, and the models of its requests and responses."""
    settings = context.web.settings
    searching, reading, answering = settings.search.timeout, settings.read.timeout, settings.answer.timeout

    def of_body(
        work: Work[_R], model: type[_R], default_seconds: float, reply: type[BaseModel], **more: Any
    ) -> dict[str, Any]:
        app = Endpoint(context, partial(read_json, model), work, default_seconds=default_seconds, **more)
        return {"app": app, "bodies": {JSON: model}, "replies": (reply,)}

    def of_session(work: Work[SessionCall]) -> dict[str, Any]:
        app = Endpoint(context, read_session, work, default_seconds=_QUICK)
        return {"app": app, "query": SessionCall, "replies": (SessionReply,)}

    searxng = Endpoint(context, read_searxng, search_searxng, default_seconds=searching, refuse=refuse_searxng)
    perplexity = of_body(search_perplexity, PerplexityRequest, searching, PerplexityReply)["app"]

    async def by_body(request: Request) -> Any:
        return perplexity if is_json(request) else searxng

    return {
        "search": of_body(search, SearchRequest, searching, SearchResponse, events=True),
        "read_pages": of_body(pages, PagesRequest, reading, PagesReply, events=True),
        "ask": of_body(ask, AskRequest, answering, AskReply, events=True),
        "verify_answer": of_body(verify, VerifyRequest, reading, VerifyReply),
        "list_tools": {
            "app": Endpoint(context, partial(read_query, EmptyQuery), list_tools, default_seconds=_QUICK),
            "replies": (JsonObject,),
        },
        "call_tool": {
            "app": Endpoint(context, read_tool, call_tool, default_seconds=max(searching, reading), text=render_text),
            "bodies": {JSON: JsonObject},
            "query": ToolQuery,
            "replies": (WebSearchToolResult, OpenPageToolResult, LocalSearchToolResult),
        },
        "resolve": of_body(resolve, ResolveRequest, _QUICK, ResolveReply),
        "prepare": {
            "app": Endpoint(context, read_prepare, prepared, default_seconds=_QUICK),
            "bodies": {JSON: JsonObject},
            "query": PrepareQuery,
            "replies": (JsonObject,),
        },
        "get_session": of_session(session),
        "reset_session": of_session(reset_session),
        "search_as_searxng": {
            "app": searxng,
            "query": SearxngRequest,
            "replies": (SearxngReply,),
            "failures": (SearxngFailure, Failure),
        },
        "search_by_body": {
            "app": request_response(by_body),
            "bodies": {JSON: PerplexityRequest, _FORM: SearxngRequest},
            "replies": (PerplexityReply, SearxngReply),
            "failures": (Failure, SearxngFailure),
        },
        "map_site": of_body(map_site, MapRequest, _SITE, MapReply),
        "crawl_site": of_body(crawl_site, MapRequest, _SITE, CrawlReply),
        "is_alive": {"app": request_response(alive), "replies": (HealthReply,)},
        "is_ready": {
            "app": request_response(partial(ready, context)),
            "replies": (HealthReply,),
            "failures": (HealthReply,),
        },
    }
