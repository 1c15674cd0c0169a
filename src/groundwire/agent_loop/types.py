"""What a run of the loop gives, and what it says while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from groundwire.agent_loop.wire_formats import Result, with_results
from groundwire.errors import InvalidRequest
from groundwire.hosted import Plan
from groundwire.hosted.answers import HostedAnswer, HostedCall
from groundwire.models import Source
from groundwire.tools import ToolResult

__all__ = ["CallEnded", "CallStarted", "LoopEvent", "Run", "Spent", "Stop"]

Stop = Literal["answered", "calls", "rounds", "budget", "deadline", "failed"]
"""Why a run ended: the model answered; it calls functions of the caller's; it would go on after the last round; the
session may search no more; the time was up; the model's API failed."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """One of our tools was called."""

    call: HostedCall
    """The call."""
    type: Literal["call_started"] = "call_started"
    """Tells it from the other events."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """One of our tools has answered."""

    call: HostedCall
    """The call."""
    result: ToolResult
    """What the tool answered."""
    type: Literal["call_ended"] = "call_ended"
    """Tells it from the other events."""


LoopEvent = CallStarted | CallEnded
"""Either of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run used."""

    rounds: int = 0
    """Calls of the model."""
    searches: int = 0
    """Local searches."""
    hosted_searches: int = 0
    """Searches that the model's API made."""
    pages: int = 0
    """Pages that we opened."""
    input_tokens: int = 0
    """Tokens that the model read, in all rounds."""
    output_tokens: int = 0
    """Tokens that the model wrote, in all rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the loop, from a request to an answer."""

    stop: Stop
    """Why it ended."""
    reason: str
    """The same in a sentence."""
    answer: HostedAnswer
    """The last answer. Its sources are all of the run, and its citations also say what marks such as `[2]` mean."""
    answers: tuple[HostedAnswer, ...] = ()
    """The answers of all rounds, as they came."""
    messages: tuple[Any, ...]
    """The whole conversation in the API's form, the last answer included: what the next request begins with."""
    added: int = 0
    """How many of the messages this run has added."""
    pending: tuple[HostedCall, ...] = ()
    """Calls of the caller's own functions that wait for a result."""
    sources: tuple[Source, ...] = ()
    """Every page that was found or opened, ours and the API's, under one numbering."""
    spent: Spent
    """What was used."""
    plan: Plan
    """Who searched, and why."""

    def with_results(self, results: Sequence[str]) -> tuple[Any, ...]:
        """Return the conversation with the results of the caller's own functions in it.

        Args:
            results: One for each of `pending`, in that order.

        Raises:
            InvalidRequest: there are more or fewer.
        """
        if len(results) != len(self.pending):
            raise InvalidRequest(
                "results", f"has {len(results)} for {len(self.pending)} calls", "Pass one for each of run.pending."
            )
        given = [Result(call, text) for call, text in zip(self.pending, results, strict=True)]
        return with_results(self.messages, self.plan.api.wire, given)
