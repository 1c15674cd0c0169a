"""What the models of our tests do beside the shipped one: they search by themselves, cite, and pause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from groundwire.testing.model_apis.scripted_turns import ModelApi, ScriptedCall
from groundwire.testing.model_apis.scripted_turns import Say as ShippedSay
from groundwire.testing.model_apis.scripted_turns import ScriptedRequest as ShippedRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A page cited in an answer with hosted search."""

    url: str = "https://docs.example/a"
    """Its URL."""
    title: str = "A page"
    """Its title."""


@dataclass(frozen=True, slots=True)
class Say(ShippedSay):
    """The model answers; with hosted search, it has searched for `query`, and cites."""

    query: str = "a question"
    """The query of its hosted search."""
    cites: tuple[Cite, ...] = (Cite(),)
    """The citations, with hosted search."""
    paused: bool = False
    """Whether it asks for the turn to be sent back (Anthropic's `pause_turn`)."""
    searches: int = 1
    """The number of hosted searches it reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest(ShippedRequest):
    """A request to a model, as far as it affects the response."""

    hosted: tuple[str, ...] = ()
    """The declared hosted tools."""


Parts = Say | Sequence[ScriptedCall]


def model_api(
    refusal: Callable[[Mapping[str, Any]], str],
    parse: Callable[[Mapping[str, Any]], ScriptedRequest],
    response: Callable[[ScriptedRequest, Parts], dict[str, Any]],
    events: Callable[[ScriptedRequest, Parts], list[tuple[str, Any]]],
) -> ModelApi:
    """Return a wire format of these requests and turns; what the shipped model says is completed."""
    return ModelApi(
        refusal,
        parse,
        lambda request, turn: response(cast("ScriptedRequest", request), _completed(turn)),
        lambda request, turn: events(cast("ScriptedRequest", request), _completed(turn)),
    )


def _completed(turn: ShippedSay | Sequence[ScriptedCall]) -> Parts:
    return Say(turn.text) if isinstance(turn, ShippedSay) and not isinstance(turn, Say) else turn
