"""The operations of the REST API, each with the models of its request and response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.citations.verify.report import CitedPage, Finding, Report, Verdict
from groundwire.models import Page, SearchResponse, Source
from groundwire.server.api.compat_perplexity import PerplexityReply, PerplexityRequest, search_perplexity
from groundwire.server.api.compat_searxng import (
    SearxngFailure,
    SearxngReply,
    SearxngRequest,
    read_searxng,
    refuse_searxng,
    search_searxng,
)
from groundwire.server.api.context import AppContext, Caller
from groundwire.server.api.endpoint import Endpoint, is_json, read_json
from groundwire.server.api.error_body import Failure
from groundwire.server.api.request_models import (
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
from groundwire.server.api.status import (
    Alive,
    HealthReply,
    ProvidersReply,
    Ready,
    SessionReply,
    SessionRequest,
    providers,
    read_nothing,
    read_session,
    reset_session,
    session,
)
from groundwire.server.api.tool_routes import ResolveReply, call_tool, prepared, read_prepare, read_tool, resolve
from groundwire.tools import LocalSearchToolResult, OpenPageToolResult, WebSearchToolResult, render_text

__all__ = [
    "JSON",
    "AskReply",
    "Operation",
    "PagesReply",
    "VerifyReply",
    "ask",
    "operations",
    "pages",
    "search",
    "verify",
]


class PagesReply(BaseModel):
    """The pages."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    pages: tuple[Page, ...]
    """One entry per URL, in order, with `status` and, if it could not be read, `error`."""


class VerifyReply(BaseModel):
    """The verification of an answer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    supported: bool
    """Whether every sentence with a marker is supported."""
    counts: dict[Verdict, int]
    """How many sentences have each verdict, without verdicts that do not occur."""
    findings: tuple[Finding, ...]
    """One finding per sentence, in order."""
    unknown: tuple[int, ...]
    """The cited numbers that have no source."""
    warnings: tuple[str, ...] = ()
    """Warnings about the answer as a whole."""


async def search(caller: Caller, asked: SearchRequest) -> SearchResponse:
    """Search the web."""
    given = asked.model_dump(exclude={"session"})
    return await caller.session(asked.session).search(**given)


async def pages(caller: Caller, asked: PagesRequest) -> PagesReply:
    """Read one page, whose failure is that of the call, or several."""
    web = caller.session(asked.session)
    given = asked.model_dump(include={"query", "find", "max_length", "max_tokens", "refresh", "keep", "timeout"})
    if asked.urls is not None:
        return PagesReply(pages=await web.open_pages(asked.urls, **given))
    return PagesReply(pages=(await web.open_page(asked.url or "", cursor=asked.cursor, **given),))


class AskReply(BaseModel):
    """An answer to a question, with verified citations."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    question: str
    """The question."""
    text: str
    """The answer in Markdown, with markers such as `[1]`."""
    sources: tuple[Source, ...]
    """The pages that it cites."""
    report: VerifyReply
    """The verification of each sentence."""
    model: str
    """The model that wrote it; empty if passages were quoted."""
    searches: int
    """The searches that were made for it."""
    cost_usd: float
    """The cost of searching and reading, in US dollars, without the price of the model."""
    warnings: tuple[str, ...]
    """Warnings for the reader."""


async def ask(caller: Caller, asked: AskRequest) -> AskReply:
    """Answer a question."""
    said = await caller.session(asked.session).ask(asked.question, quote=asked.quote, timeout=asked.timeout)
    return AskReply(
        question=said.question,
        text=said.text,
        sources=said.sources,
        report=_verified(said.report),
        model=said.model,
        searches=said.searches,
        cost_usd=said.cost_usd,
        warnings=said.warnings,
    )


async def verify(caller: Caller, asked: VerifyRequest) -> VerifyReply:
    """Check an answer against what it cites."""
    from groundwire.citations.verify import verify_off_loop  # loaded on first use

    if asked.sources is None:
        report = await caller.session(asked.session).verify(asked.answer)
    else:
        sources = [CitedPage(**source.model_dump()) for source in asked.sources]
        report = await verify_off_loop(caller.web.workers, asked.answer, sources)
    return _verified(report)


def _verified(report: Report) -> VerifyReply:
    verdicts = [finding.verdict for finding in report.findings]
    return VerifyReply(
        supported=report.supported,
        counts={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        findings=report.findings,
        unknown=report.unknown,
        warnings=report.warnings,
    )


JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_QUICK = 10.0  # seconds for operations that only read the store


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of the REST API."""

    method: str
    """The HTTP method."""
    path: str
    """The path, with parameters in braces."""
    name: str
    """Its name for programs."""
    summary: str
    """What it does."""
    app: ASGIApp
    """The function that runs it."""
    bodies: Mapping[str, type[BaseModel]] = field(default_factory=dict)
    """What its body may be, by media type."""
    query: type[BaseModel] | None = None
    """Its query."""
    parameters: type[BaseModel] | None = None
    """The parameters of its path."""
    replies: tuple[type[BaseModel], ...]
    """The model of a successful response."""
    failures: tuple[type[BaseModel], ...] = (Failure,)
    """What it answers with when it does not."""
    statuses: tuple[int, ...]
    """The error statuses, in addition to those of every operation."""
    events: bool = False
    """Whether it also answers with events."""
    text: bool = False
    """Whether it also answers with plain text."""
    is_open: bool = False
    """Whether no key is required."""


class _ByBody:
    """`POST /search`: SearXNG's clients send a form, Perplexity's JSON."""

    def __init__(self, form: ASGIApp, json: ASGIApp) -> None:
        self._form = form
        self._json = json

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the one that is meant."""
        chosen = self._json if is_json(Request(scope)) else self._form
        await chosen(scope, receive, send)


_CALL = (400, 402, 404, 415, 422, 502, 503, 504)


def operations(context: AppContext) -> tuple[Operation, ...]:
    """Return all operations of a gateway."""
    settings = context.web.settings
    searching, reading = settings.search.timeout, settings.read.timeout
    searxng = Endpoint(context, read_searxng, search_searxng, usual=searching, refuse=refuse_searxng)
    perplexity = Endpoint(context, partial(read_json, PerplexityRequest), search_perplexity, usual=searching)
    return (
        Operation(
            method="POST",
            path="/v1/search",
            name="search",
            summary="Search the web.",
            app=Endpoint(context, partial(read_json, SearchRequest), search, usual=searching, events=True),
            bodies={JSON: SearchRequest},
            replies=(SearchResponse,),
            statuses=(400, 402, 415, 422, 502, 503, 504),
            events=True,
        ),
        Operation(
            method="POST",
            path="/v1/pages",
            name="read_pages",
            summary="Read one page or several as Markdown, whole, in pieces, or what answers a question.",
            app=Endpoint(context, partial(read_json, PagesRequest), pages, usual=reading, events=True),
            bodies={JSON: PagesRequest},
            replies=(PagesReply,),
            statuses=_CALL,
            events=True,
        ),
        Operation(
            method="POST",
            path="/v1/ask",
            name="ask",
            summary="Answer a question from the web, with citations that are checked against the pages.",
            app=Endpoint(context, partial(read_json, AskRequest), ask, usual=settings.answer.timeout, events=True),
            bodies={JSON: AskRequest},
            replies=(AskReply,),
            statuses=(400, 402, 415, 422, 502, 503, 504),
            events=True,
        ),
        Operation(
            method="POST",
            path="/v1/verify",
            name="verify_answer",
            summary="Check each sentence of an answer against the pages that it cites; nothing is fetched for it.",
            app=Endpoint(context, partial(read_json, VerifyRequest), verify, usual=reading),
            bodies={JSON: VerifyRequest},
            replies=(VerifyReply,),
            statuses=(400, 415, 503, 504),
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
            summary="Decide who searches for a model: its own API, or our tools.",
            app=Endpoint(context, partial(read_json, ResolveRequest), resolve, usual=_QUICK),
            bodies={JSON: ResolveRequest},
            replies=(ResolveReply,),
            statuses=(400, 415, 422, 503, 504),
        ),
        Operation(
            method="POST",
            path="/v1/prepare",
            name="prepare",
            summary="Return a request to a model API with one way to search in it: its own, or our function tool.",
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
            summary="Who searches and reads: whether they are configured and well, how they did, what they cost.",
            app=Endpoint(context, read_nothing, providers, usual=_QUICK),
            replies=(ProvidersReply,),
            statuses=(503, 504),
        ),
        Operation(
            method="GET",
            path="/v1/sessions/{id}",
            name="get_session",
            summary="What a session has used and was shown.",
            app=Endpoint(context, read_session, session, usual=_QUICK),
            parameters=SessionRequest,
            replies=(SessionReply,),
            statuses=(404, 503, 504),
        ),
        Operation(
            method="DELETE",
            path="/v1/sessions/{id}",
            name="reset_session",
            summary="Reset a session: nothing is spent, citation numbers begin at 1. Returns what it had used.",
            app=Endpoint(context, read_session, reset_session, usual=_QUICK),
            parameters=SessionRequest,
            replies=(SessionReply,),
            statuses=(404, 503, 504),
        ),
        Operation(
            method="GET",
            path="/search",
            name="search_as_searxng",
            summary="Search as a SearXNG instance does. A failure has a status that says so.",
            app=searxng,
            query=SearxngRequest,
            replies=(SearxngReply,),
            failures=(SearxngFailure, Failure),
            statuses=(400, 402, 422, 502, 503, 504),
        ),
        Operation(
            method="POST",
            path="/search",
            name="search_by_body",
            summary="Search as the Perplexity Search API does, with JSON; or as SearXNG, with a form.",
            app=_ByBody(searxng, perplexity),
            bodies={JSON: PerplexityRequest, _FORM: SearxngRequest},
            replies=(PerplexityReply, SearxngReply),
            failures=(Failure, SearxngFailure),
            statuses=(400, 402, 422, 502, 503, 504),
        ),
        Operation(
            method="GET",
            path="/healthz",
            name="is_alive",
            summary="Whether the process lives.",
            app=Alive(),
            replies=(HealthReply,),
            statuses=(),
            is_open=True,
        ),
        Operation(
            method="GET",
            path="/readyz",
            name="is_ready",
            summary="Whether calls may be sent here.",
            app=Ready(context),
            replies=(HealthReply,),
            failures=(HealthReply,),
            statuses=(503,),
            is_open=True,
        ),
    )
