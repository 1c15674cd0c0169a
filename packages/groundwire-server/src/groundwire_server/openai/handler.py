"""Common handling of chat completions and responses: one request, the run that answers it, suspended runs.

A client does not see Groundwire's tool calls. When the model calls one of the client's functions in the middle of a
run, the client's next request lacks them; they are restored from the stored run.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final
from uuid import uuid4

from starlette.responses import Response

from groundwire.agent_loop import CallEnded, CallStarted, LoopEvent, Run, run_tools
from groundwire.agent_loop.wire_formats import declared_functions
from groundwire.citations.link_filter import LinkFilter, policy_filter
from groundwire.errors import GroundwireError, UnexpectedResponse
from groundwire.hosted import Api, Location, Needs, Plan, load_matrix, plan_for
from groundwire.hosted.answers import HostedAnswer, HostedCall
from groundwire.hosted.requests import with_search, without_search
from groundwire.hosted.requirements import NO_NEEDS
from groundwire.routing.daily_quota import limits_of
from groundwire.settings import Settings
from groundwire.storage import Store
from groundwire.tools import Tool, web_tools
from groundwire.tools.permissions import Permission, guarded
from groundwire.web import Web
from groundwire_server.client_disconnect import Outbox
from groundwire_server.openai.conversations import ConversationLedger, Conversations, Said, StoredRun, question_in
from groundwire_server.openai.prompts import dated, messages_of, said_in, with_results
from groundwire_server.openai.upstream import Upstream, passed_back
from groundwire_server.request_json import UpstreamRejected, error_body, write_json

__all__ = [
    "CONVERSATION_HEADERS",
    "SEARCH_HEADER",
    "CompletionHandler",
    "HandlerContext",
    "NoTools",
]

CONVERSATION_HEADERS = ("x-groundwire-conversation", "x-openwebui-chat-id", "conversation_id")
"""Headers with the conversation of a request; the first one present counts."""

SEARCH_HEADER = "x-groundwire-search"
"""Says `unsupported` where the model takes no tools and was asked without any; `first` if a search was made before,
and `failed` if that failed."""

_UNNAMED = "unnamed"  # the model of a server that has one
_log = logging.getLogger(__name__)
_NO_TOOLS = re.compile(r"\btools?\b|\bfunctions?\b|tool_choice", re.IGNORECASE)
_LONGEST_QUERY = 400  # characters of a question used as the query
_REFUSALS = frozenset({400, 404, 422, 500, 501})  # statuses of servers whose model does not support tools


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """The state shared by all requests."""

    web: Web
    """The web to search and read with."""
    upstream: Upstream
    """The model server."""
    private: Store
    """Replaces the store for clients whose data must not be stored."""
    tools: tuple[Tool, ...]
    """The local tools, for their names."""
    session: str | None = None
    """The session that is charged; None gives every conversation its own budget."""
    max_rounds: int = 12
    """Maximum model calls per request."""
    timeout: float = 900.0
    """Seconds for one request."""

    def conversations(self, owner: str) -> Conversations:
        """Return the stored conversations of a caller."""
        return Conversations(self.web.store if self.web.keeps else self.private, f"{self.web.owner.key}:{owner}")


class NoTools(Exception):
    """The model does not support tools."""


class CompletionHandler(ABC):
    """A client's request.

    Args:
        context: What all requests share.
        body: The request.
        headers: Its headers, as they go on to the model server.
        owner: Names the caller; no other caller finds the stored conversations.
        conversation: What the client calls the conversation; empty is nothing.
        target: The path at the model server; by default `path`.

    Raises:
        InvalidRequest: the request cannot be answered here.
    """

    api: ClassVar[str]
    path: ClassVar[str]
    media_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    """The media type of a stream."""
    has_own_errors: ClassVar[bool] = False
    """Whether its errors have another format than OpenAI's."""
    absent: ClassVar[str] = ""
    """The message where the model server does not have this API; without one, the server's own answer is passed on."""

    def __init__(
        self,
        context: HandlerContext,
        body: dict[str, Any],
        headers: Mapping[str, str],
        owner: str,
        conversation: str = "",
        target: str = "",
    ) -> None:
        self.context = context
        self.target: str = target or self.path
        self.conversation = conversation
        self.given = body
        self.headers = headers
        self.web: Web = context.web.session(context.session)
        self.conversations: Conversations = context.conversations(owner)
        self.row: Api = load_matrix().api(self.api)
        self.key: str = self.row.body
        self.sent: Sequence[Any] = messages_of(body.get(self.key))
        self.run: StoredRun | None = None
        self.outbox: Outbox | None = None
        self.searched: str = ""  # the outcome of a search before the first model call

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether a request can be augmented with search; others are forwarded unchanged."""
        return True

    @classmethod
    def error(cls, message: str, status: int = 400, *, kind: str = "invalid_request_error", param: str = "") -> bytes:
        """Return the body of the proxy's own error in the format of this API."""
        return error_body(message, kind=kind, param=param or None)

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream."""
        return bool(self.given.get("stream"))

    @property
    def model(self) -> str:
        """The requested model."""
        return str(self.given.get("model") or _UNNAMED)

    def idle(self) -> bytes:
        """Return what keeps an idle stream open."""
        return b": searching\n\n"

    async def begin(self) -> None:
        """Identify the conversation and build the request for the model.

        Raises:
            InvalidRequest: the request cannot be answered here.
        """
        restored = {**self.given, self.key: await self.restored()} if self.sent else self.given
        self.ledger: ConversationLedger = await self.conversations.ledger(
            self.said(),
            name=self.conversation,
            keys=self.known_by(),
            run=self.run.ledger if self.run else "",
        )
        if self.run:
            self.web = await _resumed(self.context, self.run.used)
        cleaned, needs = self.cleaned(restored)
        self.body: dict[str, Any] = with_search(cleaned, self.row, needs)
        # The names are enough to plan; the needs of the plan are then those of the tools.
        self.plan: Plan = plan_for(
            self.body,
            self.row,
            mode="local",
            needs=needs,
            model=self.model,
            settings=self.context.web.settings,
            calls_tools=True,
            tools=self.context.tools,
        )
        rules = _permission(self.context)
        ours = [guarded(tool, rules) for tool in web_tools(self.web, self.plan.needs)]
        self.tools: tuple[Tool, ...] = self.choose(tuple(dated(tool) for tool in ours))
        self.names: frozenset[str] = frozenset(tool.name for tool in self.tools)
        declared = declared_functions(self.body, self.row)
        self.declared: frozenset[str] | None = None if declared is None else declared - self.names

    def said(self) -> tuple[Said, ...]:
        """Return the texts of the conversation."""
        return said_in(self.sent)

    def choose(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """Return the local tools for the model: none if the request rules out calls."""
        return () if self.given.get("tool_choice") == "none" else tools

    @abstractmethod
    async def restored(self) -> list[Any]:
        """Return the conversation with its stored runs restored; sets `run` to the run that continues."""

    @abstractmethod
    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Call the model and return its whole answer."""

    @abstractmethod
    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Call the model and forward its output while it arrives."""

    @abstractmethod
    def told(self, event: LoopEvent) -> None:
        """Record a call of a local tool."""

    @abstractmethod
    def whole(self, run: Run) -> Response:
        """Return the response for the client."""

    @abstractmethod
    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the end of a stream."""

    @abstractmethod
    def answered(self) -> list[str]:
        """Return the texts of the answer, as sent to the client."""

    @abstractmethod
    def failed(self, error: UpstreamRejected) -> bytes:
        """Return the event for a failure in the middle of a stream."""

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request without OpenAI's own search options, and the requirements in them."""
        changed = dict(body)
        options = changed.pop("web_search_options", None)
        place = options.get("user_location") if isinstance(options, Mapping) else None
        about = place.get("approximate", place) if isinstance(place, Mapping) else None
        if not isinstance(about, Mapping):
            return changed, NO_NEEDS
        parts = {key: about[key] for key in ("city", "region", "country", "timezone") if about.get(key)}
        return changed, Needs(location=Location(**parts)) if parts else NO_NEEDS

    async def answer(self) -> Response:
        """Respond without streaming."""
        try:
            run = await self._searched()
        except NoTools:
            made = await self.context.upstream.post(self.target, self.headers, self.given)
            return Response(made.data, headers={**made.headers, SEARCH_HEADER: "unsupported"})
        response = self.whole(run)
        if self.searched:
            response.headers[SEARCH_HEADER] = self.searched
        return response

    async def stream(self, outbox: Outbox) -> None:
        """Respond with a stream."""
        self.outbox = outbox
        try:
            run = await self._searched()
        except NoTools:
            data = write_json(self.given)
            async with self.context.upstream.ask("POST", self.target, self.headers, data) as response:
                if response.status >= 300:
                    await self.context.upstream.whole(response)
                outbox.headers |= {**passed_back(response.headers), SEARCH_HEADER: "unsupported"}
                async for piece in response.content.iter_any():
                    await outbox.put(piece)
            return
        await self.last_events(run, outbox)

    def is_ours(self, name: object) -> bool:
        """Whether a call is not for the client: of a local tool, or of an undeclared one."""
        return name in self.names or (self.declared is not None and name not in self.declared)

    async def _searched(self) -> Run:
        """Respond with tools; if the model does not support them and the settings say so, with one search before."""
        try:
            return await self._run()
        except NoTools:
            question = question_in(self.sent)[:_LONGEST_QUERY].strip()
            if not question or not self.context.web.settings.server.search_first:
                raise
        search = next(tool for tool in web_tools(self.web, self.plan.needs) if tool.name == "web_search")
        call = HostedCall(id=f"first_{uuid4().hex[:8]}", name=search.name, arguments={"query": question})
        result = await guarded(search, _permission(self.context)).call(query=question)
        self.searched = "first" if result.status == "success" else "failed"
        if self.outbox is not None:
            self.outbox.headers[SEARCH_HEADER] = self.searched
        self.told(CallStarted(call))
        await self.ledger.assign([result])
        self.told(CallEnded(call, result))
        self.body = {**self.body, self.key: with_results(self.body[self.key], self.ledger.take(result), self.api)}
        self.tools, self.names = (), frozenset()
        return await self._run()

    async def _run(self) -> Run:
        try:
            run = await run_tools(
                self.body,
                self._call,
                web=self.web,
                api=self.api,
                plan=self.plan,
                tools=self.tools,
                max_rounds=self.context.max_rounds,
                timeout=self.context.timeout,
                ledger=self.ledger,
                on_event=self.told,
            )
        except UnexpectedResponse as error:
            raise UpstreamRejected(
                502, error_body(str(error), kind="upstream_error", code="upstream_broken"), _TYPED
            ) from error
        except GroundwireError as error:
            raise UpstreamRejected(400, error_body(str(error)), _TYPED) from error
        if run.stop == "deadline":
            raise UpstreamRejected(504, error_body(run.reason, kind="timeout", code="deadline"), _TYPED)
        if run.stop == "failed":
            raise UpstreamRejected(502, error_body(run.reason, kind="upstream_error", code="upstream_failed"), _TYPED)
        await self._remember(run)
        return run

    async def _call(self, body: dict[str, Any]) -> HostedAnswer:
        if not self.tools:
            body = without_search(body, self.row)
        try:
            if self.outbox is None:
                return await self.ask(body)
            return await self.ask_streaming(body, self.outbox)
        except UpstreamRejected as error:
            plain = not self.given.get("tools") and error.status in _REFUSALS and len(body[self.key]) == len(self.sent)
            if plain and self.tools and _NO_TOOLS.search(error.message()):
                _log.warning("The model server rejects tools, so web search is off: %s", error.message())
                raise NoTools from error
            raise

    async def _remember(self, run: Run) -> None:
        """Store what the next request of the conversation needs."""
        keys = [f"response:{id_}"] if (id_ := self.response_id()) else []
        said = self.answered() or [one.text for one in run.answers]
        await self.conversations.remember(self.ledger, said, keys)
        if run.stop != "calls":
            return
        added = list(run.messages[len(run.messages) - run.added :])
        turn = run.answers[-1].turn
        last = max((number for number, one in enumerate(added) if any(one is part for part in turn)), default=-1)
        kept = StoredRun(
            id=uuid4().hex,
            ledger=self.ledger.id,
            added=added,
            trailing=len(added) - last - 1,
            used=await self.web.usage(),
        )
        await self.ledger.save()
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in run.pending]
        await self.conversations.keep_run(kept, calls, question_in(self.sent), self.response_id())

    def link_filter(self) -> LinkFilter:
        """Return the filter that neutralizes unknown URLs in the model's next text."""
        return policy_filter(self.ledger.vouched, self.context.web.settings.policy)

    def shown(self, text: str) -> str:
        """Return the model's whole text as sent to the client, with the same length."""
        made = self.link_filter()
        return made.feed(text) + made.close()

    def response_id(self) -> str:
        """Return the ID for continuing after this response, or an empty string."""
        return ""

    def known_by(self) -> list[str]:
        """Return the keys by which a request can refer to the conversation."""
        return []


_TYPED: Final[Mapping[str, str]] = {"Content-Type": "application/json"}
_LEAST = MappingProxyType({"searches": 1, "cost_usd": 1e-6, "tokens": 1})  # 0 means no limit


def _permission(context: HandlerContext) -> Permission:
    """Return the operator's rules. Calls without a rule are allowed, as the proxy has no one to ask."""
    rules = context.web.settings.permission
    if rules.default == "confirm":
        rules = rules.model_copy(update={"default": "allow"})
    return Permission(rules, session=context.session)


async def _resumed(context: HandlerContext, used: Mapping[str, float]) -> Web:
    """Return a session with the remaining budget of another; a shared one is already counted."""
    if context.session:
        return context.web.session(context.session)
    limits = limits_of(context.web.settings.session)
    given = {"searches": limits.searches, "cost_usd": limits.cost_usd, "tokens": limits.tokens}
    left = {name: max(limit - used.get(name, 0), _LEAST[name]) for name, limit in given.items() if limit}
    web = context.web.session(None, **left)
    if limits.searches and used.get("searches", 0) >= limits.searches:
        await web.reserve_searches(1)  # a limit of 0 would mean none
    return web
