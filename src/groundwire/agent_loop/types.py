"""Results and events of a run of the agent loop."""

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

Stop = Literal["answered", "calls", "rounds", "budget", "deadline", "failed"]
"""Why a run ended: the model answered; it calls functions of the caller; the rounds are used up; the session's
search budget is used up; the deadline passed; the model's API failed."""


class Wordless:
    """An event without text: where events are printed, it prints nothing."""

    __slots__ = ()

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class CallStarted(Wordless):
    """A tool call has started."""

    call: HostedCall
    """The call."""
    type: Literal["call_started"] = "call_started"
    """Tells it from the other events."""


@dataclass(frozen=True, slots=True)
class CallEnded(Wordless):
    """A tool call has ended."""

    call: HostedCall
    """The call."""
    result: ToolResult
    """What the tool answered."""
    type: Literal["call_ended"] = "call_ended"
    """Tells it from the other events."""


LoopEvent = CallStarted | CallEnded
"""Either event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Usage of a run."""

    rounds: int = 0
    """Model calls."""
    searches: int = 0
    """Local searches."""
    hosted_searches: int = 0
    """Hosted searches."""
    pages: int = 0
    """Pages opened."""
    input_tokens: int = 0
    """Input tokens of all rounds."""
    output_tokens: int = 0
    """Output tokens of all rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the loop, from a request to an answer."""

    stop: Stop
    """Why the run ended."""
    reason: str
    """The same as a sentence."""
    answer: HostedAnswer
    """The last answer, with all sources of the run, and with citations for markers such as `[2]`."""
    answers: tuple[HostedAnswer, ...] = ()
    """The answers of all rounds, in order."""
    messages: tuple[Any, ...]
    """The whole conversation in the API's format, including the last answer: the start of the next request."""
    added: int = 0
    """How many of the messages this run added."""
    pending: tuple[HostedCall, ...] = ()
    """Calls of the caller's own functions that are waiting for a result."""
    sources: tuple[Source, ...] = ()
    """Every page found or opened, by local and hosted search, under one numbering."""
    spent: Spent
    """Usage."""
    plan: Plan
    """Which search was used, and why."""

    def with_results(self, results: Sequence[str]) -> tuple[Any, ...]:
        """Return the conversation with the results of the caller's own functions appended.

        Args:
            results: One for each of `pending`, in that order.

        Raises:
            InvalidRequest: the number of results differs.
        """
        if len(results) != len(self.pending):
            raise InvalidRequest(
                "results", f"has {len(results)} for {len(self.pending)} calls", "Pass one for each of run.pending."
            )
        outputs = [Result(call, text) for call, text in zip(self.pending, results, strict=True)]
        return with_results(self.messages, self.plan.api.wire, outputs)
