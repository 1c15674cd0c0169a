"""Common handling of chat completions and responses: one request, the run that answers it, suspended runs.

A client does not see Groundwire's tool calls. When the model calls one of the client's functions in the middle of a
run, the client's next request lacks them; they are restored from the stored run.
"""

from __future__ import annotations

import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import uuid4

import aiohttp
from starlette.responses import Response

from groundwire.agent_loop import LoopEvent, Run, run_tools
from groundwire.agent_loop.citation_ledger import citations_in
from groundwire.agent_loop.wire_formats import declared_functions
from groundwire.citations.link_filter import LinkFilter, policy_filter
from groundwire.errors import UnexpectedResponse
from groundwire.hosted import Api, Needs, Plan, load_matrix, plan_for
from groundwire.hosted.answers import AnswerStream, HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import object_of, parsed
from groundwire.hosted.requests import with_search, without_search
from groundwire.routing.daily_quota import limits_of
from groundwire.storage import Store
from groundwire.tools import Tool, web_tools
from groundwire.tools.permissions import Permission, guarded
from groundwire.web import Web
from groundwire_server.client_disconnect import Outbox
from groundwire_server.error_body import Failed, failed
from groundwire_server.openai.conversations import ConversationLedger, Conversations, StoredRun, Utterance, question_in
from groundwire_server.openai.prompts import location_of, messages_of, sum_usage, utterances_in, with_date
from groundwire_server.openai.upstream import Upstream, UpstreamAnswer, broken, parse_events, returned_headers
from groundwire_server.request_json import JSON_HEADERS, UpstreamRejected, write_json
from groundwire_server.warning_header import warning_headers

CONVERSATION_HEADERS = ("x-groundwire-conversation", "x-openwebui-chat-id", "conversation_id")
"""Headers with the conversation of a request; the first one present counts."""

SEARCH_HEADER = "x-groundwire-search"
"""Says `unsupported` where the model takes no tools and was asked without any."""

_UNNAMED = "unnamed"  # the model of a server that has one
_log = logging.getLogger(__name__)
_ROUND_SEPARATOR = "\n\n"  # between the texts of two rounds
_NO_TOOLS = re.compile(r"\btools?\b|\bfunctions?\b|tool_choice", re.IGNORECASE)
_REFUSAL_STATUSES = frozenset({400, 404, 422, 500, 501})  # statuses of servers whose model does not support tools


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """The state shared by all requests."""

    web: Web
    upstream: Upstream
    private: Store
    """Replaces the store for clients whose data must not be stored."""
    tools: tuple[Tool, ...]
    """The local tools, for their names."""
    max_rounds: int = 12
    """Maximum model calls per request."""
    timeout: float = 900.0
    """Seconds for one request."""

    def conversations(self, owner: str) -> Conversations:
        """Return the stored conversations of a caller."""
        return Conversations(self.web.store if self.web.keeps else self.private, f"{self.web.owner.key}:{owner}")


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
    media_type: str = "text/event-stream; charset=utf-8"
    """The media type of a stream."""
    streams_lines: ClassVar[bool] = False
    """Whether a stream is lines of JSON, which some servers send as `application/json`."""
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
        self.request = body
        self.headers = headers
        self.web: Web = context.web.session()
        self.conversations: Conversations = context.conversations(owner)
        self.row: Api = load_matrix().api(self.api)
        self.key: str = self.row.body
        self.messages: Sequence[Any] = messages_of(body.get(self.key))
        self.run: StoredRun | None = None
        self.outbox: Outbox | None = None
        self.rounds: int = 0  # the calls of the model that are complete
        self.answers: list[UpstreamAnswer] = []  # the responses of the model server that are not streamed
        self.usage: Any = None  # of the rounds before this one
        self.round_usage: Any = None
        self._pieces: dict[str, list[str]] = {}  # of the texts, by the name of their field
        self.done: bytes = b"data: [DONE]\n\n"  # the event without a value that ends OpenAI's streams
        self.notices: dict[str, str] = {}  # headers of the response beside the model server's
        self.failure: bytes = b""  # the event of the model server that ends a stream with a failure
        self._spoken: set[str] = set()  # the fields with text in this round

    @classmethod
    def requested_tools(cls, body: Mapping[str, Any]) -> Collection[str]:
        """Return the names of the local tools for a request: none if it rules out calls."""
        return () if body.get("tool_choice") == "none" else ("web_search", "open_page")

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether a request can be augmented with search; others are forwarded unchanged."""
        return True

    @classmethod
    def error(cls, failure: Failed) -> dict[str, Any]:
        """Return the proxy's own error in the format of this API; by default in OpenAI's."""
        kind, problem = "invalid_request_error" if failure.status < 500 else "upstream_error", failure.problem
        return {
            "error": {"message": problem.message, "type": kind, "param": problem.field, "code": problem.code or None}
        }

    @property
    def streams(self) -> bool:
        """Whether the client wants a stream."""
        return bool(self.request.get("stream"))

    @property
    def model(self) -> str:
        """The requested model."""
        return str(self.request.get("model") or _UNNAMED)

    def idle(self) -> bytes:
        """Return what keeps an idle stream open."""
        return b": searching\n\n"

    async def begin(self) -> None:
        """Identify the conversation and build the request for the model.

        Raises:
            InvalidRequest: the request cannot be answered here.
        """
        restored = {**self.request, self.key: await self._restore_history()} if self.messages else self.request
        self.ledger: ConversationLedger = await self.conversations.ledger(
            tuple(self._utterances()),
            name=self.conversation,
            keys=self._conversation_keys(),
            run=self.run.ledger if self.run else "",
        )
        if self.run:
            self.web = await _resumed(self.context, self.run.used)
        cleaned, needs = self._extract_needs(restored)
        self.body: dict[str, Any] = with_search(cleaned, self.row)
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
        self.notices |= warning_headers(self.plan.warnings)
        rules = _permission(self.context)
        ours = [guarded(tool, rules) for tool in web_tools(self.web, self.plan.needs)]
        requested = self.requested_tools(self.request)
        self.tools: tuple[Tool, ...] = tuple(with_date(tool) for tool in ours if tool.name in requested)
        self.names: frozenset[str] = frozenset(tool.name for tool in self.tools)
        declared = declared_functions(self.body, self.row)
        self.declared: frozenset[str] | None = None if declared is None else declared - self.names

    def _utterances(self) -> Iterable[Utterance]:
        """Return the texts of the conversation."""
        return utterances_in(self.messages)

    async def _restore_history(self) -> list[Any]:
        """Return the conversation with its stored runs restored; sets `run` to the run that continues."""
        messages, self.run = await self.conversations.restored(self.messages)
        return messages

    def _model_request(self, body: dict[str, Any], *, stream: bool) -> dict[str, Any]:
        """Return the request of a round for the model server."""
        return {**body, "stream": True} if stream else body

    @abstractmethod
    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take the whole response of a round, which is the last of `answers`."""

    @abstractmethod
    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        """Take an event of a stream, and forward it unless it is about a local call or the end."""

    async def _end_streaming(self) -> None:
        """Forward what is held back at the end of a round's stream."""
        return

    def _record_call(self, event: LoopEvent) -> None:
        """Record a call of a local tool."""
        return

    @abstractmethod
    def _response(self, run: Run) -> dict[str, Any]:
        """Return the response for the client, equal to the model server's if nothing is added."""

    @abstractmethod
    async def _last_events(self, run: Run) -> None:
        """Send the end of a stream."""

    def _answer_texts(self) -> list[str]:
        """Return the texts of the answer, as sent to the client."""
        return [text] if (text := self.texts.get("content")) else []

    def failure_event(self, error: UpstreamRejected) -> bytes:
        """Return the event for a failure in the middle of a stream: the model server's own, or one of the proxy."""
        return self.failure or self._error_event(error)

    @abstractmethod
    def _error_event(self, error: UpstreamRejected) -> bytes:
        """Return the proxy's event for a failure."""

    def _error_value(self, error: UpstreamRejected) -> dict[str, Any]:
        """Return a failure as an object of the API: the model server's own, if it is one."""
        theirs = object_of(parsed(error.body))
        return theirs if theirs.get("error") else self.error(failed(error.status, "", error.message()))

    def _extract_needs(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request without OpenAI's own search options, and the requirements in them."""
        changed = dict(body)
        options = changed.pop("web_search_options", None)
        place = options.get("user_location") if isinstance(options, Mapping) else None
        return changed, Needs(location=location_of(place))

    async def answer(self) -> Response:
        """Respond without streaming."""
        run = await self._run()
        value, last = self._response(run), self.answers[-1]
        data = last.data if value == last.value else json.dumps(value)
        return Response(data, headers={**last.headers, **self.notices})

    async def stream(self, outbox: Outbox) -> None:
        """Respond with a stream."""
        self.outbox = outbox
        await self._last_events(await self._run())

    async def put(self, data: bytes) -> None:
        """Send a piece of a stream; what is not streamed is sent at the end."""
        if self.outbox is not None:
            await self.outbox.put(data)

    def is_ours(self, name: object) -> bool:
        """Whether a call is not for the client: of a local tool, or of an undeclared one."""
        return name in self.names or (self.declared is not None and name not in self.declared)

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
                on_event=self._record_call,
            )
        except UnexpectedResponse as error:
            raise failed(502, "upstream_broken", str(error)) from error
        if run.stop == "deadline":
            raise failed(504, "deadline", run.reason)
        if run.stop == "failed":
            raise failed(502, "upstream_failed", run.reason)
        await self._remember(run)
        return run

    async def _call(self, body: dict[str, Any]) -> HostedAnswer:
        if not self.tools:
            body = without_search(body, self.row)
        try:
            answer = await self._ask(body)
            self.rounds += 1
            return answer
        except UpstreamRejected as error:
            is_first = len(body[self.key]) == len(self.messages)
            may_retry = is_first and error.status in _REFUSAL_STATUSES and self.tools and not self.request.get("tools")
            if may_retry and _NO_TOOLS.search(error.message()):
                _log.warning("The model server rejects tools, so web search is off: %s", error.message())
                self.tools, self.notices = (), {**self.notices, SEARCH_HEADER: "unsupported"}
                return await self._call(self.body)  # which has the search, and no functions in its place yet
            raise

    async def _ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Call the model; a stream is forwarded while it arrives, with the headers of the model server."""
        await self._begin_round()
        upstream, outbox = self.context.upstream, self.outbox
        data = write_json(self._model_request(body, stream=outbox is not None))
        async with upstream.ask("POST", self.target, self.headers, data) as response:
            is_json = response.headers.get("Content-Type", "").startswith("application/json")
            if outbox is None or response.status >= 300 or (is_json and not self.streams_lines):
                answer = await upstream.answer(response)
                if outbox is not None and answer.value.get("error"):
                    raise UpstreamRejected(502, answer.data, JSON_HEADERS)
                if outbox is not None:
                    raise broken("did not stream its response")
                self.answers.append(answer)
                return await self._take_whole(answer)
            outbox.headers |= {**returned_headers(response.headers), **self.notices}
            async for event, value in self._events(response):
                if value is None:
                    self.done = event.raw
                elif value.get("error") or "error" in (value.get("type"), event.name):
                    self.failure = event.raw
                    await self.put(b"")  # the failure is an event, as it came
                    raise UpstreamRejected(502, event.data.encode("utf-8", "surrogatepass"))
                else:
                    await self._take(event, value)
        await self._end_streaming()
        return self._streamed_answer()

    def _events(self, response: aiohttp.ClientResponse) -> AsyncIterator[tuple[ServerSentEvent, dict[str, Any] | None]]:
        """Yield the events of a stream with their values."""
        return parse_events(response)

    async def _begin_round(self) -> None:
        """Start another round; what the previous one has held back, in case it was the last, is forwarded before."""
        self.usage, self.round_usage = sum_usage(self.usage, self.round_usage), None
        self.stream_reader: AnswerStream = AnswerStream(self.api)
        self.filter: LinkFilter = self.link_filter()
        self._spoken.clear()

    def _streamed_answer(self) -> HostedAnswer:
        """Return the answer of a stream, unless it ended early."""
        self.stream_reader.close()
        answer = self.stream_reader.answer
        if answer.error is not None and answer.finish == "failed":
            raise broken(f"ended its response early ({answer.error.message or answer.error.code})")
        return answer

    def say(self, text: str, name: str = "content", *, ends: bool = False) -> str:
        """Return a text of this round for the client: filtered, and apart from the text of another round.

        Args:
            text: The next piece of the text.
            name: The field; only the answer itself is filtered.
            ends: Whether the text ends here, so that nothing is held back.
        """
        if name == "content":
            text = self.filter.feed(text)
            if ends:
                text += self.filter.close()
                self.filter = self.link_filter()
        if text:
            if name in self._pieces and name not in self._spoken:
                text = _ROUND_SEPARATOR + text
            self._spoken.add(name)
            self._pieces.setdefault(name, []).append(text)
        return text

    @property
    def texts(self) -> dict[str, str]:
        """The texts of all rounds as sent to the client, by the name of their field."""
        return {name: "".join(pieces) for name, pieces in self._pieces.items()}

    def excuse(self, run: Run) -> str:
        """Return why a run without text ended early; empty if it did not."""
        return "" if run.stop in ("answered", "calls") or self.texts.get("content") else run.reason

    def notes(self, text: str) -> list[dict[str, Any]]:
        """Return the citations in a text for OpenAI's `url_citation`."""
        return [
            {"url": citation.url, "title": citation.title, "start_index": citation.start, "end_index": citation.end}
            for citation in citations_in(text, self.ledger)
        ]

    def annotations(self) -> list[dict[str, Any]]:
        """Return the annotations of a chat message."""
        return [{"type": "url_citation", "url_citation": note} for note in self.notes(self.texts.get("content", ""))]

    async def _remember(self, run: Run) -> None:
        """Store what the next request of the conversation needs."""
        keys = [f"response:{id_}"] if (id_ := self._response_id()) else []
        texts = self._answer_texts() or [answer.text for answer in run.answers]
        await self.conversations.remember(self.ledger, texts, keys)
        if run.stop != "calls":
            return
        added = list(run.messages[len(run.messages) - run.added :])
        turn_ids = {id(message) for message in run.answers[-1].turn}
        last = max((at for at, message in enumerate(added) if id(message) in turn_ids), default=-1)
        stored = StoredRun(
            id=uuid4().hex,
            ledger=self.ledger.id,
            added=added,
            trailing=len(added) - last - 1,
            used=await self.web.usage(),
        )
        await self.ledger.save()
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in run.pending]
        await self.conversations.save_run(stored, calls, question_in(self.messages), self._response_id())

    def link_filter(self) -> LinkFilter:
        """Return the filter that neutralizes unknown URLs in the model's next text."""
        return policy_filter(self.ledger.vouched, self.context.web.settings.policy)

    def _response_id(self) -> str:
        """Return the ID for continuing after this response, or an empty string."""
        return ""

    def _conversation_keys(self) -> list[str]:
        """Return the keys by which a request can refer to the conversation."""
        return []


_MIN_LIMITS = MappingProxyType({"searches": 1, "cost_usd": 1e-6, "tokens": 1})  # 0 means no limit


def _permission(context: HandlerContext) -> Permission:
    """Return the operator's rules. Calls without a rule are allowed, as the proxy has no one to ask."""
    rules = context.web.settings.permission
    if rules.default == "confirm":
        rules = rules.model_copy(update={"default": "allow"})
    return Permission(rules)


async def _resumed(context: HandlerContext, used: Mapping[str, float]) -> Web:
    """Return a session with the remaining budget of another."""
    limits = limits_of(context.web.settings.session)
    limits_by_name = {"searches": limits.searches, "cost_usd": limits.cost_usd, "tokens": limits.tokens}
    remaining = {
        name: max(limit - used.get(name, 0), _MIN_LIMITS[name]) for name, limit in limits_by_name.items() if limit
    }
    web = context.web.session(None, **remaining)
    if limits.searches and used.get("searches", 0) >= limits.searches:
        await web.reserve_searches(1)  # a limit of 0 would mean none
    return web


class PiecesHandler(CompletionHandler):
    """A request for one message; see `CompletionHandler`."""

    usage_key: ClassVar[str] = "usage"
    """The member of a piece with the usage of its round."""

    def __init__(self, *args: Any) -> None:
        self.tail: list[tuple[dict[str, Any], bytes]] = []
        """The end of this round, in case it is the last: values for the client, and the bytes of those unchanged."""
        self.contents: list[Any] = []
        """The content at the end of each round, as the client gets it."""
        super().__init__(*args)

    @abstractmethod
    def _content(self, value: dict[str, Any]) -> Any:
        """Return the content of a piece."""

    @abstractmethod
    def _with_content(self, value: dict[str, Any], content: Any) -> dict[str, Any]:
        """Return a piece with another content."""

    @abstractmethod
    def _client_content(self, content: Any, *, ends: bool) -> Any:
        """Return a content for the client: without local calls, and apart from the text of an earlier round."""

    @abstractmethod
    def _ends(self, value: dict[str, Any]) -> bool:
        """Whether a piece belongs to the end of its round."""

    @abstractmethod
    def _says(self, value: dict[str, Any]) -> bool:
        """Whether a piece has any content."""

    @abstractmethod
    def _without_end(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the last piece of a round that another one follows."""

    @abstractmethod
    def _last_piece(self, value: dict[str, Any], run: Run) -> dict[str, Any]:
        """Return the last piece of a run, with its citations and why it ends."""

    @abstractmethod
    def _line(self, value: dict[str, Any]) -> bytes:
        """Return a piece as it is sent."""

    async def _begin_round(self) -> None:
        """Start another round; the end of the previous one goes without its reason, if it says anything."""
        for value, _ in self.tail:
            if self._says(value):
                await self.put(self._line(self._without_end(value)))
        self.tail = []
        await super()._begin_round()

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take a whole message, which is a piece."""
        await self._forward(answer.value, answer.data, ends=True)
        return read_answer(self.api, answer.value)

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        """Take a piece."""
        self.stream_reader.event(value)
        await self._forward(value, event.raw, ends=self._ends(value))

    async def _forward(self, value: dict[str, Any], raw: bytes, *, ends: bool) -> None:
        """Forward a piece, unchanged if possible; the end waits."""
        content = self._content(value)
        new = self._client_content(content, ends=ends)
        line = dict(value) if new == content else self._with_content(value, new)
        if value.get(self.usage_key):
            self.round_usage = value[self.usage_key]
            line[self.usage_key] = sum_usage(self.usage, self.round_usage)
        raw = raw if line == value else b""
        if ends:
            self.contents.append(new)
            self.tail.append((line, raw))
        elif new == content or self._says(line):
            await self.put(raw or self._line(line))

    def _error_event(self, error: UpstreamRejected) -> bytes:
        """Return a failure as the last piece."""
        return self._line(self._error_value(error))

    def _response(self, run: Run) -> dict[str, Any]:
        """Return one message."""
        return self._last_piece(self.tail[-1][0], run)

    async def _last_events(self, run: Run) -> None:
        """Send the end."""
        value, raw = self.tail[-1] if self.tail else ({}, b"")
        line = self._last_piece(value, run)
        await self.put(raw if line == value and raw else self._line(line))
