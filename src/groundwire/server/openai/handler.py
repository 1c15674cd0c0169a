"""What chat completions and responses have in common: one request, the run that answers it, runs that wait.

A client does not see our calls. When the model calls a function of the client's in the middle of a run, the client's
next request lacks them; a pending run puts them back. It is found only by a conversation that begins as its own, under
the same key.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from starlette.responses import Response

from groundwire.agent_loop import CitationLedger, LoopEvent, Run, run_tools
from groundwire.citations.link_filter import Addresses, LinkFilter
from groundwire.errors import GroundwireError, InvalidRequest, UnexpectedResponse
from groundwire.hosted import Location, Needs, load_matrix, plan_for
from groundwire.hosted.answers import HostedAnswer
from groundwire.hosted.requests import with_search
from groundwire.hosted.requirements import NO_NEEDS
from groundwire.server.cancellable_response import Outbox
from groundwire.server.openai.upstream import Upstream
from groundwire.server.request_errors import UpstreamRejected, error_body
from groundwire.tools import web_tools
from groundwire.tools.permissions import Permission, guarded
from groundwire.web import Web

__all__ = ["SEARCH_HEADER", "CompletionHandler", "HandlerContext", "PendingRun", "PendingRuns", "added_up", "digest"]

_MOST = 2_000
_LIFE = 3_600.0  # seconds that a client may take for its function


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRun:
    """One run that waits for the client."""

    begun: int
    """How many messages the client had sent."""
    begins: str
    """The digest of these."""
    added: tuple[Any, ...]
    """What the run added: the turns of the model, and the results of our tools."""
    trailing: tuple[Any, ...]
    """Those of them that follow the last turn of the model."""
    web: Web
    """The session that pays."""
    ledger: CitationLedger
    """The numbering of its sources."""


class PendingRuns:
    """Keeps runs for an hour, by the ids of the calls that they wait for.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], tuple[float, PendingRun]] = OrderedDict()

    def put(self, owner: str, call_ids: Sequence[str], kept: PendingRun) -> None:
        """Keep a run."""
        for id_ in call_ids:
            self._kept[owner, id_, kept.begins] = (self._clock() + _LIFE, kept)
        while len(self._kept) > _MOST or (self._kept and next(iter(self._kept.values()))[0] < self._clock()):
            self._kept.popitem(last=False)

    def find(self, owner: str, call_id: str, messages: Sequence[Any]) -> PendingRun | None:
        """Return the run that waits for a call, if the conversation begins with what it began with."""
        for (tenant, id_, _), (until, kept) in self._kept.items():
            waits = (tenant, id_) == (owner, call_id) and until >= self._clock()
            if waits and kept.begins == digest(messages[: kept.begun]):
                return kept
        return None


def digest(messages: object) -> str:
    """Return a short name for a conversation."""
    return hashlib.sha256(json.dumps(messages, sort_keys=True, default=str).encode()).hexdigest()


SEARCH_HEADER = "x-groundwire-search"
"""Says `unsupported` where the model takes no tools, so that it was asked without any."""

_NO_TOOLS = re.compile(r"\btools?\b|\bfunctions?\b|tool_choice", re.IGNORECASE)
_REFUSALS = frozenset({400, 404, 422, 500, 501})  # with which servers answer tools that a model does not take


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """What all requests share."""

    web: Web
    """What searches and reads."""
    upstream: Upstream
    """The model server."""
    keep: PendingRuns
    """The runs that wait for clients."""
    session: str | None = None
    """The session that pays for all; None gives every conversation a budget of its own."""
    max_rounds: int = 12
    """The most calls of the model for one request."""
    timeout: float = 900.0
    """Seconds for one request."""


class _NoTools(Exception):
    """The model behind the server takes no tools."""


class CompletionHandler(ABC):
    """One request of a client.

    Args:
        context: What all requests share.
        body: The request.
        headers: Its headers, as they go on to the model server.
        owner: The caller; only they get the state stored for the next request.

    Raises:
        InvalidRequest: the request cannot be answered here.
    """

    api: ClassVar[str]
    path: ClassVar[str]

    def __init__(self, context: HandlerContext, body: dict[str, Any], headers: Mapping[str, str], owner: str) -> None:
        self.context = context
        self.given = body
        self.headers = headers
        self.owner = owner
        self.ledger = CitationLedger()
        self.web = context.web.session(context.session)
        row = load_matrix().api(self.api)
        self.key = row.body
        self.sent = _messages(body.get(self.key))
        restored = {**body, self.key: self.restored()} if self.sent else body
        self.body, needs = self.cleaned(restored)
        self.body = with_search(self.body, row, needs)
        # The names are enough to plan; the needs of the plan are then those of the tools.
        self.plan = plan_for(
            self.body,
            row,
            mode="local",
            needs=needs,
            settings=context.web.settings,
            calls_tools=True,
            tools=web_tools(self.web),
        )
        rules = _permission(context)
        self.tools = tuple(guarded(tool, rules) for tool in web_tools(self.web, self.plan.needs))
        self.names = frozenset(tool.name for tool in self.tools)
        self.outbox: Outbox | None = None

    @abstractmethod
    def restored(self) -> list[Any]:
        """Return the conversation with its stored parts restored."""

    @abstractmethod
    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Ask the model and take its whole answer."""

    @abstractmethod
    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Ask the model and pass on what it says while it comes."""

    @abstractmethod
    def told(self, event: LoopEvent) -> None:
        """Take note of a call of our tools."""

    @abstractmethod
    def whole(self, run: Run) -> dict[str, Any]:
        """Return the client's answer."""

    @abstractmethod
    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the end of a stream."""

    @abstractmethod
    def failed(self, error: UpstreamRejected) -> bytes:
        """Return the event for a failure in the middle of a stream."""

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request without what is only for OpenAI's own search, and what that asks for."""
        changed = dict(body)
        options = changed.pop("web_search_options", None)
        place = options.get("user_location") if isinstance(options, Mapping) else None
        about = place.get("approximate", place) if isinstance(place, Mapping) else None
        if not isinstance(about, Mapping):
            return changed, NO_NEEDS
        parts = {key: about[key] for key in ("city", "region", "country", "timezone") if about.get(key)}
        return changed, Needs(location=Location(**parts)) if parts else NO_NEEDS

    async def answer(self) -> Response:
        """Answer without a stream."""
        try:
            run = await self._run()
        except _NoTools:
            made = await self.context.upstream.post(self.path, self.headers, self.given)
            return _json(made, {SEARCH_HEADER: "unsupported"})
        return _json(self.whole(run))

    async def stream(self, outbox: Outbox) -> None:
        """Answer with a stream."""
        self.outbox = outbox
        try:
            run = await self._run()
        except _NoTools:
            outbox.headers[SEARCH_HEADER] = "unsupported"
            data = json.dumps(self.given).encode()
            async with self.context.upstream.ask("POST", self.path, self.headers, data) as response:
                if response.status >= 300:
                    await self.context.upstream.whole(response)
                async for piece in response.content.iter_any():
                    await outbox.put(piece)
            return
        await self.last_events(run, outbox)

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
        if run.stop == "calls":
            self._keep(run)
        return run

    async def _call(self, body: dict[str, Any]) -> HostedAnswer:
        try:
            if self.outbox is None:
                return await self.ask(body)
            return await self.ask_streaming(body, self.outbox)
        except UpstreamRejected as error:
            plain = not self.given.get("tools") and error.status in _REFUSALS and len(body[self.key]) == len(self.sent)
            if plain and _NO_TOOLS.search(error.message()):
                raise _NoTools from error
            raise

    def _keep(self, run: Run) -> None:
        added = run.messages[len(run.messages) - run.added :]
        turn = run.answers[-1].turn
        last = max((number for number, one in enumerate(added) if any(one is part for part in turn)), default=-1)
        kept = PendingRun(
            begun=len(self.sent),
            begins=digest(self.sent),
            added=added,
            trailing=added[last + 1 :],
            web=self.web,
            ledger=self.ledger,
        )
        ids = [call.id for call in run.pending]
        self.context.keep.put(self.owner, ids, kept)
        if id_ := self.response_id():
            self.context.keep.put(self.owner, ids, replace(kept, begun=1, begins=digest([id_])))

    def link_filter(self) -> LinkFilter:
        """Return what keeps the next text of the model from loading an address that is no source's."""
        images: Addresses = "known" if self.context.web.settings.policy.untrusted_images == "drop" else "any"
        return LinkFilter((source.url for source in self.ledger.sources), images=images)

    def shown(self, text: str) -> str:
        """Return a whole text of the model as the client gets it, as long as it was."""
        made = self.link_filter()
        return made.feed(text) + made.close()

    def response_id(self) -> str:
        """Return the id by which a client may go on with this answer, empty if there is none."""
        return ""

    def went_on(self, kept: PendingRun) -> None:
        """Go on with a run: with its session and its numbering of sources."""
        self.web, self.ledger = kept.web, kept.ledger


_TYPED: Final[Mapping[str, str]] = {"Content-Type": "application/json"}


def added_up(first: object, second: object) -> Any:
    """Return two usages as one: numbers are added, whatever they are in."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {key: added_up(first.get(key), second.get(key)) for key in {**first, **second}}
    if isinstance(first, (int, float)) and isinstance(second, (int, float)) and not isinstance(first, bool):
        return first + second
    return second if second is not None else first


def _permission(context: HandlerContext) -> Permission:
    """Return the operator's rules. What no rule covers is allowed, as the proxy has no one to ask."""
    rules = context.web.settings.permission
    if rules.default == "confirm":
        rules = rules.model_copy(update={"default": "allow"})
    return Permission(rules, session=context.session)


def _messages(given: object) -> Sequence[Any]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}] if given else []
    if given is None:
        return []
    if not isinstance(given, list):
        raise InvalidRequest("messages", f"must be a list, not {type(given).__name__}", "Pass a list of messages.")
    return given


def _json(value: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(value).encode(), media_type="application/json", headers=headers)
