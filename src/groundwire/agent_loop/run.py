"""The agent loop and its search plan: call the model, run its tool calls, return the results, until it answers."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from groundwire.agent_loop.citation_ledger import CitationLedger, marked
from groundwire.agent_loop.tool_calls import answer_of, make_calls, refusal_of
from groundwire.agent_loop.types import CallEnded, CallStarted, LoopEvent, Run, Spent, Stop
from groundwire.agent_loop.wire_formats import (
    Result,
    check_wire,
    conversation,
    declared_functions,
    free_choice,
    joined,
    last_turn,
    no_choice,
    total,
    users_texts,
    with_results,
)
from groundwire.citations.link_filter import policy_filter
from groundwire.deadline import Deadline
from groundwire.errors import BudgetExceeded, InvalidRequest
from groundwire.hosted import Mode, Needs, Plan, load_matrix, plan_for, prepare
from groundwire.hosted.answers import HostedAnswer, HostedCall, HostedError
from groundwire.hosted.api_capabilities import Api
from groundwire.hosted.requests import with_search, without_search
from groundwire.hosted.requests.request_body import Body
from groundwire.hosted.requirements import NO_NEEDS
from groundwire.models.validators import check_int
from groundwire.routing.budget import Reservation
from groundwire.tools import OpenPageToolResult, Tool, ToolResult, refused, web_tools
from groundwire.web import Web


def plan_request(
    body: Body, row: Api, web: Web, mode: Mode | None, needs: Needs | None, tools: Sequence[Tool], max_uses: int
) -> Plan:
    """Return the search plan for a request.

    When the session's searches are limited, `auto` never chooses a hosted search that cannot be limited.
    """

    def plan_with(requirements: Needs) -> Plan:
        return plan_for(body, row, mode=mode, needs=requirements, settings=web.settings, tools=tools)

    plan = plan_with(needs or NO_NEEDS)
    automatic = (web.settings.search.mode if mode is None else mode) == "auto"
    if plan.hosted is None or plan.hosted.max_uses or web.budget is None or not automatic:
        return plan
    bounded = plan_with((needs or NO_NEEDS).also(Needs(max_uses=max_uses)))
    return replace(bounded, needs=plan.needs)


CallModel = Callable[[dict[str, Any]], Any]
"""Sends a request to the model and returns its answer, or an awaitable of it. A plain function runs in a thread."""

_SEARCH_USD = 0.01
"""Cost of a hosted search: ten dollars per thousand at Anthropic and OpenAI (price lists of 2026-11)."""
_REFUSAL_STATUSES = frozenset({400, 403, 404, 410, 422})
_REFUSAL_TEXT = re.compile(
    r"model_not_found|model_not_available|model.{0,80}(not found|not exist|deprecated|shut down|retired|decommissioned)"
    r"|tools?\b.{0,80}(not supported|unsupported|unknown|not match|not permitted|invalid)"
    r"|(unsupported|unknown|invalid|unrecognized).{0,40}(tool|web.?search)",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT_MESSAGE = "Search limit reached"  # beginning of the messages for an exhausted budget
_MAX_EMPTY_ROUNDS = 2  # consecutive rounds in which every call was rejected for lack of budget


async def run_tools(
    messages: Mapping[str, Any] | Sequence[Any] | str,
    call_model: CallModel,
    *,
    web: Web,
    api: str,
    model: str | None = None,
    plan: Plan | None = None,
    mode: Mode | None = None,
    needs: Needs | None = None,
    tools: Sequence[Tool] | None = None,
    max_rounds: int = 12,
    hosted_searches: int = 5,
    timeout: float | None = None,
    ledger: CitationLedger | None = None,
    on_event: Callable[[LoopEvent], None] | None = None,
) -> Run:
    """Call a model and run its tool calls until it answers.

    Hosted and local searches are charged to the budget of the web's session before they are made. The budget is in the
    store: it does not depend on the messages, and concurrent runs share it.

    Args:
        messages: The request's body, or only its conversation.
        call_model: Sends a whole body (`client.messages.create(**body)` and the like) and returns the answer: its
            JSON, or the object of the SDK.
        web: Does the searching and reading; its session is charged. The caller closes it.
        api: The model API's or provider's name.
        model: The model, where `messages` does not name it.
        plan: Which search is used; by default, planned for this request. One plan applies to the whole run.
        mode: `auto`, `native` or `local`; by default the setting `search.mode`.
        needs: Requirements for every search; by default those of the plan.
        tools: The local tools, such as `guarded_tools(web)`; by default `web_tools(web, plan.needs)`.
        max_rounds: Maximum model calls, 1 to 100. In the last one tools are disabled, so that the model answers.
        hosted_searches: Maximum hosted searches per model call, 1 to 1,000. Fewer are allowed when the session has
            fewer left.
        timeout: Seconds for the whole run; None means no limit.
        ledger: An existing numbering of sources to continue; by default a new one.
        on_event: Called for every tool call.

    Returns:
        The answer, the whole conversation, the sources, and the stop reason.

    Raises:
        InvalidRequest: an argument or the request is wrong. NativeUnsupported: see `plan_for`.
        UnexpectedResponse: the return value of `call_model` is not an answer. Exceptions of `call_model` pass through.
    """
    check_int("max_rounds", max_rounds, 1, 100)
    check_int("hosted_searches", hosted_searches, 1, 1_000)
    row = plan.api if plan is not None else load_matrix().api(api, messages if isinstance(messages, Mapping) else None)
    check_wire(row)
    body = dict(messages) if isinstance(messages, Mapping) else {row.body: messages}
    if isinstance(body.get(row.body), str) and row.wire in ("anthropic", "chat"):
        body[row.body] = conversation(body, row)
    if model is not None:
        body.setdefault("model", model)
    body = with_search(body, row, tools=tools or ())
    if plan is not None and needs not in (None, plan.needs):
        raise InvalidRequest("needs", "differ from those of the plan", "Make the plan with them.")
    if plan is None:
        plan = plan_request(body, row, web, mode, needs, tools or (), hosted_searches)
    ours = tuple(web_tools(web, plan.needs) if tools is None else tools)
    deadline = Deadline.after(timeout) if timeout is not None else None
    loop = _Loop(
        web=web,
        call_model=call_model,
        plan=plan,
        tools={tool.name: tool for tool in ours} if plan.path == "local" else {},
        body=body,
        messages=tuple(conversation(body, row)),
        initial_length=len(conversation(body, row)),
        max_rounds=max_rounds,
        max_hosted_searches=hosted_searches,
        ledger=CitationLedger() if ledger is None else ledger,
        on_event=on_event or (lambda _: None),
        caller_tools=None if tools is None else tuple(tools),
        is_automatic=(web.settings.search.mode if mode is None else mode) == "auto",
    )
    loop.ledger.given(*users_texts(loop.messages))
    loop.next_request()  # an invalid request raises before the first model call
    try:
        async with asyncio.timeout(None if deadline is None else deadline.remaining()) as limit:
            return await loop.run()
    except TimeoutError:
        if not limit.expired():
            raise
        return loop.end("deadline", f"The {timeout:g} seconds of the run have passed.")


@dataclass(slots=True, kw_only=True)
class _Loop:
    """The state of one run. What must outlive the run is in the session's budget."""

    web: Web
    call_model: CallModel
    plan: Plan
    tools: Mapping[str, Tool]
    body: Body
    messages: tuple[Any, ...]
    initial_length: int
    max_rounds: int
    max_hosted_searches: int
    ledger: CitationLedger
    on_event: Callable[[LoopEvent], None]
    caller_tools: tuple[Tool, ...] | None
    is_automatic: bool
    fallback_error: HostedError | None = None
    answers: list[HostedAnswer] = field(default_factory=list)
    paused: list[HostedAnswer] = field(default_factory=list)
    searches: int = 0
    hosted: int = 0
    pages: int = 0
    empty_rounds: int = 0

    async def run(self) -> Run:
        """Run rounds until there is a reason to stop."""
        while True:
            answer = await self._next_answer()
            if answer is None:
                reason = "The session's search limit is reached, and the API requires further searches."
                return self.end("budget", reason)
            self._take(answer)
            if answer.finish == "failed" and not answer.calls:
                error = answer.error
                return self.end("failed", f"The API failed: {error.message or error.code}." if error else "It failed.")
            ours = [call for call in answer.calls if call.name in self.tools or self._is_invented(call)]
            if echoes := [call for call in answer.calls if call.name == self.plan.tool and self.plan.path == "native"]:
                results = [Result(call, str(call.arguments)) for call in echoes]  # Kimi's search needs them back
                self.messages = with_results(self.messages, self.plan.api.wire, results)
                ours = echoes
            theirs = tuple(call for call in answer.calls if call not in ours)
            if len(self.answers) >= self.max_rounds and (ours or answer.finish == "pause"):
                return self.end("rounds", f"The model did not finish within {self.max_rounds} rounds.", theirs)
            if ours and not echoes:
                await self._make(ours)
            if theirs:
                names = ", ".join(dict.fromkeys(call.name for call in theirs))
                return self.end("calls", f"The model calls functions of the caller: {names}.", theirs)
            if not ours and answer.finish != "pause":
                return self.end("answered", "The model answered.")
            if self.empty_rounds >= _MAX_EMPTY_ROUNDS:
                return self.end("budget", "The session's search limit is reached, and the model keeps searching.")

    async def _next_answer(self) -> HostedAnswer | None:
        """Call the model, with hosted search if the plan has it; None if the model cannot go on without searching."""
        while True:
            is_last = len(self.answers) + 1 >= self.max_rounds
            request = self.next_request(last=is_last)
            if self.plan.path != "native":
                return await self._ask(request)
            try:
                answer = await self._ask_native(request)
            except Exception as raised:  # from any client library
                if not self._falls_back(refusal_of(raised)):
                    raise
                continue
            if answer is None or answer.finish != "failed" or not self._falls_back(answer.error):
                return answer

    def next_request(self, *, last: bool = False) -> Body:
        """Return the next request: the conversation so far, and the search of the plan."""
        row = self.plan.api
        body = {**self.body, row.body: list(self.messages) if self.answers else self.body.get(row.body)}
        request = prepare(body, self.plan, tools=tuple(self.tools.values()))
        if self.plan.path == "local":
            if last:
                request = no_choice(request, row.wire) if self.answers else request
            elif self.answers:
                request = free_choice(request, row.wire)
        return request

    async def _ask(self, request: Body) -> HostedAnswer:
        call = self.call_model
        if inspect.iscoroutinefunction(call):
            reply = await call(request)
        else:
            reply = await asyncio.to_thread(call, request)
            if inspect.isawaitable(reply):
                reply = await reply
        return answer_of(self.plan.api.name, reply)

    async def _ask_native(self, request: Body) -> HostedAnswer | None:
        """Call a model with hosted search within the remaining budget; None if a turn cannot go on without search."""
        limit = self.plan.needs.max_uses
        most = self.max_hosted_searches
        most = most if limit is None else min(most, limit - total(self.paused).searches)
        reservation = await self.web.reserve_searches(most, price_usd=_SEARCH_USD) if most > 0 else Reservation(0)
        body = {**self.body, self.plan.api.body: request[self.plan.api.body]}
        if not reservation.searches:
            return None if self.paused else await self._ask(without_search(body, self.plan.api))
        hosted = self.plan.hosted
        if (self.web.budget is not None or limit is not None) and hosted is not None and hosted.max_uses:
            bounded = replace(self.plan, needs=replace(self.plan.needs, max_uses=reservation.searches))
            request = prepare(body, bounded)
        searches = 0
        try:
            answer = await self._ask(request)
            searches = answer.usage.searches
        except asyncio.CancelledError:
            searches = reservation.searches  # the API may have made them and will charge for them
            raise
        finally:
            await asyncio.shield(self.web.settle_searches(reservation, searches))
        self.hosted += searches
        return answer

    def _falls_back(self, refusal: HostedError | None) -> bool:
        """Switch to local search if the API rejected its hosted search and the plan permits it."""
        hosted = self.plan.hosted
        if refusal is None or hosted is None or not self.is_automatic or self.answers:
            return False
        names = [name for name in (self.plan.tool, hosted.switch_to, *hosted.request.get("body", ())) if name]
        if refusal.status not in _REFUSAL_STATUSES or not (
            _REFUSAL_TEXT.search(f"{refusal.code} {refusal.message}") or any(name in refusal.message for name in names)
        ):
            return False
        tools = tuple(web_tools(self.web, self.plan.needs)) if self.caller_tools is None else self.caller_tools
        try:
            row, needs = self.plan.api, self.plan.needs
            local = plan_request(self.body, row, self.web, "local", needs, tools, self.max_hosted_searches)
        except InvalidRequest:
            return False  # the model calls no tools
        reason = f"{self.plan.api.title} refused its own search ({refusal.message or refusal.code})"
        self.plan = replace(local, reason=f"Groundwire searches: {reason}.", warnings=(*local.warnings, f"{reason}."))
        self.tools = {tool.name: tool for tool in tools}
        self.fallback_error = replace(refusal, code="hosted_search_refused", message=f"{reason}.")
        return True

    def _take(self, answer: HostedAnswer) -> None:
        self.answers.append(answer)
        self.messages = (*self.messages, *answer.turn)
        self.ledger.take_hosted(answer)
        self.paused = [*self.paused, answer] if answer.finish == "pause" else []

    async def _make(self, calls: Sequence[HostedCall]) -> None:
        """Run tool calls; searches over the request's limit are rejected, as hosted ones would be."""
        limit = self.plan.needs.max_uses
        room = len(calls) if limit is None else max(0, limit - self.searches)
        accepted: list[HostedCall] = []
        for call in calls:
            if call.name not in self.tools:
                continue
            if call.name == "open_page" or room > 0:
                accepted.append(call)
                room -= call.name != "open_page"
        results_by_id = dict(zip(map(id, accepted), await make_calls(accepted, self.tools, self.on_event), strict=True))
        over = BudgetExceeded(f"{_LIMIT_MESSAGE} ({limit}/{limit}).", limit=limit or 0, spent=limit or 0)
        results = [results_by_id.get(id(call)) or refused(call.name, {}, over) for call in calls]
        for call, result in zip(calls, results, strict=True):
            if id(call) not in results_by_id and call.name in self.tools:
                self.on_event(CallStarted(call))
                self.on_event(CallEnded(call, result))
        await self.ledger.assign(results)
        outputs = [
            Result(call, self._unknown(call) or self.ledger.take(result), result.status == "error")
            for call, result in zip(calls, results, strict=True)
        ]
        self.messages = with_results(self.messages, self.plan.api.wire, outputs)
        self._count(results)

    def _is_invented(self, call: HostedCall) -> bool:
        """Whether a call names a function that the request does not declare."""
        declared = declared_functions(self.body, self.plan.api) if self.tools else None
        return declared is not None and call.name not in declared

    def _unknown(self, call: HostedCall) -> str:
        """Return the model's error message for a call of an undeclared function."""
        if call.name in self.tools:
            return ""
        names = dict.fromkeys((*self.tools, *sorted(declared_functions(self.body, self.plan.api) or ())))
        return f"There is no tool named {call.name[:80]!r}. Call one of: {', '.join(names)}."

    def _count(self, results: Sequence[ToolResult]) -> None:
        successes = [result for result in results if result.status == "success"]
        pages = sum(isinstance(result, OpenPageToolResult) for result in successes)
        self.pages += pages
        self.searches += len(successes) - pages
        empty = [result for result in results if result.status == "error" and result.error.startswith(_LIMIT_MESSAGE)]
        self.empty_rounds = self.empty_rounds + 1 if len(empty) == len(results) else 0

    def end(self, stop: Stop, reason: str, pending: tuple[HostedCall, ...] = ()) -> Run:
        """Return the run in its current state."""
        last = joined(last_turn(self.answers)) if self.answers else HostedAnswer(api=self.plan.api.name)
        used = total(self.answers)
        errors = (*last.errors, *([self.fallback_error] if self.fallback_error else []))
        text = policy_filter(self.ledger.vouched, self.web.settings.policy).whole(last.text)
        return Run(
            stop=stop,
            reason=reason,
            answer=replace(marked(last, self.ledger), usage=used, text=text, errors=errors),
            answers=tuple(self.answers),
            messages=self.messages,
            added=len(self.messages) - self.initial_length,
            pending=pending,
            sources=self.ledger.sources,
            spent=Spent(
                rounds=len(self.answers),
                searches=self.searches,
                hosted_searches=self.hosted,
                pages=self.pages,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
            ),
            plan=self.plan,
        )
