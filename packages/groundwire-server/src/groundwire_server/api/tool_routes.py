"""Tools, answers and hosted search for hosts in any language: calls of tools, `ask`, verification, requests."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.requests import Request

from groundwire import agent_loop
from groundwire.citations.verify.report import CitedPage, Finding, Report, Verdict
from groundwire.hosted import Plan, plan, prepare
from groundwire.hosted.api_capabilities import load_matrix
from groundwire.hosted.requirements import Needs
from groundwire.integrations.hosts.codelia_search import local_search_tool
from groundwire.models import Source
from groundwire.models.argument_names import tool_method
from groundwire.tools import ToolResult, open_page_tool, web_search_tool, web_tool_definitions
from groundwire.tools.definitions import local_search_definition, web_search_definition
from groundwire.tools.permissions import Permission, guarded
from groundwire_server.api.context import Caller
from groundwire_server.api.endpoint import is_json, read_json, read_query
from groundwire_server.api.request_models import (
    AskRequest,
    EmptyQuery,
    JsonObject,
    PrepareCall,
    PrepareQuery,
    ResolveRequest,
    ToolCall,
    ToolName,
    ToolQuery,
    VerifyRequest,
)
from groundwire_server.error_body import ApiModel, failed
from groundwire_server.request_json import parse_model_request
from groundwire_server.warning_header import warning_headers

if TYPE_CHECKING:
    from groundwire.agent_loop import CitedAnswer


class VerifyReply(ApiModel):
    """The verdict on each sentence of an answer."""

    supported: bool
    """Whether every sentence with a marker is supported."""
    counts: dict[Verdict, int]
    """The number of sentences by verdict; verdicts without sentences are omitted."""
    findings: tuple[Finding, ...]
    """One finding per sentence, in order."""
    unknown: tuple[int, ...]
    """The numbers in markers that no source has."""
    warnings: tuple[str, ...] = ()
    """Warnings about the whole answer."""


class AskReply(ApiModel):
    """An answer to a question, with verified citations."""

    question: str
    """The question."""
    text: str
    """The answer in Markdown, with markers such as `[1]`."""
    answer: str
    """The same text, under the name that most APIs use."""
    sources: tuple[Source, ...]
    """The pages that it cites."""
    report: VerifyReply
    """The verdict on each sentence."""
    model: str
    """The model that wrote it; empty where passages are quoted."""
    searches: int
    """The searches made for it."""
    cost_usd: float
    """The cost of searching and reading, in US dollars, without the model's own."""
    warnings: tuple[str, ...]
    """Warnings about the answer."""


class Delta(ApiModel):
    """The data of the event `delta`: more of the answer's text. No citation marker is divided between two."""

    delta: str
    """The text."""


class Reset(BaseModel):
    """The data of the event `reset`: the text so far was not the answer, and begins again."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")


async def ask(caller: Caller, request: AskRequest) -> AskReply:
    """Answer a question; where events are wanted, with its text as it is written."""
    web = caller.session(request.session)
    if caller.tell is None:
        return _ask_reply(await agent_loop.ask(request.question, web=web, quote=request.quote, timeout=request.timeout))
    stream = agent_loop.ask_stream(request.question, web=web, quote=request.quote, timeout=request.timeout)
    async with aclosing(stream) as events:
        async for event in events:
            if event.type == "delta":
                caller.tell("delta", Delta(delta=event.delta))
            elif event.type == "reset":
                caller.tell("reset", Reset())
            elif event.type == "result":
                return _ask_reply(event.answer)
    raise RuntimeError("A stream of events ended without its answer.")


def _ask_reply(answer: CitedAnswer) -> AskReply:
    own = {field.name: getattr(answer, field.name) for field in fields(answer)}
    return AskReply(**{**own, "answer": answer.text, "report": _verified(answer.report)})


async def verify(caller: Caller, request: VerifyRequest) -> VerifyReply:
    """Check an answer against what it cites."""
    rows = request.sources
    sources = None if rows is None else [CitedPage(**source.model_dump()) for source in rows]
    from groundwire.agent_loop import verify as verified  # costs nothing until it is used

    return _verified(await verified(request.answer, web=caller.session(request.session), pages=sources))


def _verified(report: Report) -> VerifyReply:
    verdicts = [finding.verdict for finding in report.findings]
    return VerifyReply(
        supported=report.supported,
        counts={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        findings=report.findings,
        unknown=report.unknown,
        warnings=report.warnings,
    )


class ResolveReply(ApiModel):
    """A search plan."""

    provider: str
    """The model provider."""
    model: str
    """The model."""
    path: Literal["native", "local"]
    """Whether the model API searches or the model calls the local tool."""
    tool: str
    """The type of the hosted tool; empty if there is none."""
    reason: str
    """The reason, as a sentence."""
    warnings: tuple[str, ...] = ()
    """Remarks for the operator."""


async def resolve(caller: Caller, request: ResolveRequest) -> ResolveReply:
    """Plan the search for a model."""
    row = load_matrix().api_or_local(request.provider)
    search_plan = plan(row, request.model, request.mode, _needs(caller), settings=caller.web.settings)
    return ResolveReply(
        provider=row.provider,
        model=search_plan.model,
        path=search_plan.path,
        tool=search_plan.tool,
        reason=search_plan.reason,
        warnings=search_plan.warnings,
    )


async def prepared(caller: Caller, call: PrepareCall) -> JsonObject:
    """Add one search to a request to a model API.

    A host with a `web_search` of its own lets OpenAI's Chat Completions answer with the model that searches.
    """

    def warn(search_plan: Plan) -> None:
        caller.headers.update(warning_headers(search_plan.warnings))

    settings = caller.web.settings
    definitions = {"web_search": web_search_definition, "search": local_search_definition}
    row = load_matrix().api_or_local(call.provider, call.body)
    prepared_request = prepare(
        call.body,
        row,
        model=call.model,
        mode=call.mode,
        needs=_needs(caller),
        settings=settings,
        tools=(definitions[call.tool](settings),) if call.tool else (),
        switch_model=call.tool is None,
        add=call.tool is not None,
        on_plan=warn,
    )
    return JsonObject.model_construct(root=dict(prepared_request))


def _needs(caller: Caller) -> Needs:
    """Return the requirements implied by a caller's key."""
    if caller.tenant is None:
        return Needs()
    limits = caller.tenant.limits
    return Needs(allowed_domains=limits.allowed_domains, blocked_domains=limits.blocked_domains)


async def list_tools(caller: Caller, _request: EmptyQuery) -> JsonObject:
    """Return the definitions of the tools, in the format of OpenAI's Chat Completions API."""
    web = caller.web
    tools: list[JsonValue] = [tool.to_openai() for tool in web_tool_definitions(web.settings, files=bool(web.folders))]
    return JsonObject.model_construct(root={"tools": tools})


async def call_tool(caller: Caller, call: ToolCall) -> ToolResult:
    """Call a tool; every failure is reported in its result, for the model."""
    web = caller.session(call.session)
    # The host asks its user before the call; what the settings deny is denied here too.
    permission = Permission(web.settings.permission, ask=lambda _: True)
    make = {"web_search": web_search_tool, "open_page": open_page_tool, "search": local_search_tool}[call.name]
    return await guarded(make(web), permission).call(**call.arguments)


def read_tool(request: Request, body: bytes) -> ToolCall:
    """Parse a tool call.

    Raises:
        Failed: there is no such tool, or the arguments are not a JSON object.
    """
    name = request.path_params["name"]
    if name not in get_args(ToolName):
        name = {"search": "web_search"}.get(method := tool_method(name), method)
    if name not in get_args(ToolName):
        raise failed(404, "no_such_tool", f"There is no such tool; the tools are {', '.join(get_args(ToolName))}.")
    arguments = read_json(JsonObject, request, body).root
    return ToolCall.model_construct(**read_query(ToolQuery, request, name=name).model_dump(), arguments=arguments)


def read_prepare(request: Request, body: bytes) -> PrepareCall:
    """Parse a request to a model API and the parameters of its preparation.

    Raises:
        Failed: it is not a JSON object, or the query is invalid.
    """
    if not is_json(request):
        raise failed(415, "not_json", "Send the request as JSON, with Content-Type: application/json.")
    model_request = parse_model_request(body)
    return PrepareCall.model_construct(**read_query(PrepareQuery, request).model_dump(), body=model_request)
