"""What the two APIs of the proxy have in common: one request of a client, and the run that answers it."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from starlette.responses import Response

from groundwire.errors import GroundwireError, InvalidRequest, UnexpectedResponse
from groundwire.loop import Ledger, LoopEvent, Run, run_tools
from groundwire.native import Location, Needs, load_matrix, plan_for
from groundwire.native.answers import HostedAnswer
from groundwire.native.needs import NO_NEEDS
from groundwire.native.requests import with_search
from groundwire.permission import Permission, guarded
from groundwire.server.kept import Keep, Kept, digest
from groundwire.server.streaming import Outbox
from groundwire.server.upstream import Refused, Upstream, error_body
from groundwire.tools import web_tools
from groundwire.web import Web

__all__ = ["SEARCH_HEADER", "Face", "House", "added_up"]

SEARCH_HEADER = "x-groundwire-search"
"""Says `unsupported` where the model takes no tools, so that it was asked without any."""

_NO_TOOLS = re.compile(r"\btools?\b|\bfunctions?\b|tool_choice", re.IGNORECASE)
_REFUSALS = frozenset({400, 404, 422, 500, 501})  # with which servers answer tools that a model does not take


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What all requests share."""

    web: Web
    """What searches and reads."""
    upstream: Upstream
    """The model server."""
    keep: Keep
    """The runs that wait for clients."""
    session: str | None = None
    """The session that pays for all; None gives every conversation a budget of its own."""
    max_rounds: int = 12
    """The most calls of the model for one request."""
    timeout: float = 900.0
    """Seconds for one request."""


class _NoTools(Exception):
    """The model behind the server takes no tools."""


class Face(ABC):
    """One request of a client.

    Args:
        house: What all requests share.
        body: The request.
        headers: Its headers, as they go on to the model server.
        owner: Who asks; nobody else gets what is kept for the next request.

    Raises:
        InvalidRequest: the request cannot be answered here.
    """

    api: ClassVar[str]
    path: ClassVar[str]

    def __init__(self, house: House, body: dict[str, Any], headers: Mapping[str, str], owner: str) -> None:
        self.house = house
        self.given = body
        self.headers = headers
        self.owner = owner
        self.ledger = Ledger()
        self.web = house.web.session(house.session)
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
            settings=house.web.settings,
            calls_tools=True,
            tools=web_tools(self.web),
        )
        rules = _permission(house)
        self.tools = tuple(guarded(tool, rules) for tool in web_tools(self.web, self.plan.needs))
        self.names = frozenset(tool.name for tool in self.tools)
        self.outbox: Outbox | None = None

    @abstractmethod
    def restored(self) -> list[Any]:
        """Return the conversation with what is kept of it put back."""

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
    def failed(self, error: Refused) -> bytes:
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
            made = await self.house.upstream.post(self.path, self.headers, self.given)
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
            async with self.house.upstream.ask("POST", self.path, self.headers, data) as response:
                if response.status >= 300:
                    await self.house.upstream.whole(response)
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
                max_rounds=self.house.max_rounds,
                timeout=self.house.timeout,
                ledger=self.ledger,
                on_event=self.told,
            )
        except UnexpectedResponse as error:
            raise Refused(502, error_body(str(error), kind="upstream_error", code="upstream_broken"), _TYPED) from error
        except GroundwireError as error:
            raise Refused(400, error_body(str(error)), _TYPED) from error
        if run.stop == "deadline":
            raise Refused(504, error_body(run.reason, kind="timeout", code="deadline"), _TYPED)
        if run.stop == "failed":
            raise Refused(502, error_body(run.reason, kind="upstream_error", code="upstream_failed"), _TYPED)
        if run.stop == "calls":
            self._keep(run)
        return run

    async def _call(self, body: dict[str, Any]) -> HostedAnswer:
        try:
            if self.outbox is None:
                return await self.ask(body)
            return await self.ask_streaming(body, self.outbox)
        except Refused as error:
            plain = not self.given.get("tools") and error.status in _REFUSALS and len(body[self.key]) == len(self.sent)
            if plain and _NO_TOOLS.search(error.message()):
                raise _NoTools from error
            raise

    def _keep(self, run: Run) -> None:
        added = run.messages[len(run.messages) - run.added :]
        turn = run.answers[-1].turn
        last = max((number for number, one in enumerate(added) if any(one is part for part in turn)), default=-1)
        kept = Kept(
            begun=len(self.sent),
            begins=digest(self.sent),
            added=added,
            trailing=added[last + 1 :],
            web=self.web,
            ledger=self.ledger,
        )
        ids = [call.id for call in run.pending]
        self.house.keep.put(self.owner, ids, kept)
        if id_ := self.response_id():
            self.house.keep.put(self.owner, ids, replace(kept, begun=1, begins=digest([id_])))

    def response_id(self) -> str:
        """Return the id by which a client may go on with this answer, empty if there is none."""
        return ""

    def went_on(self, kept: Kept) -> None:
        """Go on with a run: with its session and its numbering of sources."""
        self.web, self.ledger = kept.web, kept.ledger


_TYPED = {"Content-Type": "application/json"}


def added_up(first: object, second: object) -> Any:
    """Return two usages as one: numbers are added, whatever they are in."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {key: added_up(first.get(key), second.get(key)) for key in {**first, **second}}
    if isinstance(first, (int, float)) and isinstance(second, (int, float)) and not isinstance(first, bool):
        return first + second
    return second if second is not None else first


def _permission(house: House) -> Permission:
    """Return the operator's rules. Who serves the proxy allows what no rule speaks of; there is nobody here to ask."""
    rules = house.web.settings.permission
    if rules.default == "confirm":
        rules = rules.model_copy(update={"default": "allow"})
    return Permission(rules, session=house.session)


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
