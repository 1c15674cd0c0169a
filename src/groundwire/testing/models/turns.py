"""What a miniature model says: values, without any API's form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["Asked", "Call", "Cite", "Decide", "Say", "Turn", "script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to a model, as far as it matters for the answer."""

    wire: str
    """The API: anthropic, chat, responses or gemini."""
    model: str
    """The model."""
    functions: tuple[str, ...]
    """The names of the function tools it was given."""
    hosted: tuple[str, ...]
    """The hosted tools it was given."""
    results: tuple[str, ...]
    """What its function calls returned until now, in order."""
    body: Mapping[str, Any]
    """The whole request."""


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a function tool."""

    name: str
    """The tool."""
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What it passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A page that an answer of hosted search cites."""

    url: str = "https://docs.example/a"
    """Its address."""
    title: str = "A page"
    """Its title."""


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers; with hosted search it searched before, for `query`, and cites."""

    text: str
    """The answer."""
    query: str = "a question"
    """What its own search looked for."""
    cites: tuple[Cite, ...] = (Cite(),)
    """What it cites where it searched by itself."""
    paused: bool = False
    """Whether it wants the turn sent back (Anthropic's `pause_turn`)."""
    searches: int = 1
    """How many searches of its own it reports."""


Turn = Say | Call | Sequence[Call]
"""What a model does in one turn."""

Decide = Callable[[Asked], Turn]
"""Says what the model does; called in the server's thread for each request, so it must not block."""


def script(*turns: Turn, end: Say | None = None) -> Decide:
    """Return a model that does one turn after the other: as many as it has results of calls are behind it.

    It keeps nothing, so that any number of conversations can go on at once.

    Args:
        turns: What it does before the end, one turn for each result that it has got.
        end: What it says when all turns are behind it; by default the last result.
    """

    def decide(asked: Asked) -> Turn:
        behind = 0
        for turn in turns:
            if behind >= len(asked.results):
                return turn
            behind += 1 if isinstance(turn, (Call, Say)) else len(turn)
        return end or Say(asked.results[-1] if asked.results else "I have nothing to add.")

    return decide
