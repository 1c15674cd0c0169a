"""The behavior of a miniature model: API-independent values, and models that follow a script or quote a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = [
    "Decide", "ModelApi", "Say", "ScriptedCall", "ScriptedRequest", "Turn", "first_sentence", "quoting",
    "script",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """A request to a model, as far as it affects the response."""

    wire: str
    """The API: `chat`, or that of another `ModelApi`."""
    model: str
    """The model."""
    functions: tuple[str, ...]
    """The names of the declared function tools."""
    results: tuple[str, ...]
    """The results of its function calls so far, in order."""
    body: Mapping[str, Any]
    """The whole request."""
    number: int = 1
    """Its place among the requests to the server, which is in the id of the response."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """The model calls a function tool."""

    name: str
    """The tool."""
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The arguments."""


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers."""

    text: str
    """The answer."""


Turn = Say | ScriptedCall | Sequence[ScriptedCall]
"""A model's turn."""


@dataclass(frozen=True, slots=True)
class ModelApi:
    """The wire format of one model API."""

    refusal: Callable[[Mapping[str, Any]], str]
    """Returns why the service rejects a request body, or an empty string."""
    parse: Callable[[Mapping[str, Any]], ScriptedRequest]
    """Parses a request body."""
    response: Callable[[ScriptedRequest, Say | Sequence[ScriptedCall]], dict[str, Any]]
    """Returns a whole response body."""
    events: Callable[[ScriptedRequest, Say | Sequence[ScriptedCall]], list[tuple[str, Any]]]
    """Returns a response as stream events: their names, empty if the API has none, and their data."""


Decide = Callable[[ScriptedRequest], Turn]
"""Returns the model's turn; called in the server's thread for each request, so it must not block."""


def script(*turns: Turn, end: Say | None = None) -> Decide:
    """Return a model that follows a script, advancing with each result of a call.

    It keeps nothing, so that any number of conversations can go on at once.

    Args:
        turns: What it does before the end, one turn for each result that it has got.
        end: What it says when all turns are behind it; by default the last result.
    """

    def decide(request: ScriptedRequest) -> Turn:
        behind = 0
        for turn in turns:
            if behind >= len(request.results):
                return turn
            behind += 1 if isinstance(turn, (ScriptedCall, Say)) else len(turn)
        return end or Say(request.results[-1] if request.results else "I have nothing to add.")

    return decide


_URL = re.compile(r"\bURL: (https?://\S+)")
_MARK = re.compile(r"^Cite as: (\[\d+\])", re.MULTILINE)
_FENCE = re.compile(r"^<web_content_\w+>\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_PROSE = 80  # characters; what is shorter is a caption or a label


def quoting(request: ScriptedRequest) -> Turn:
    """Return the turn of a simple model: search for the question, open the first page, quote it with its marker.

    It does not understand text, but quotes the page, which is enough to try out citations.
    """
    if not request.results:
        return _calls(request, "web_search", {"query": _question(request.body)})
    match = _URL.search(request.results[0])
    if match is None:
        return Say("I searched, and found nothing to answer with.")
    if len(request.results) == 1:
        return _calls(request, "open_page", {"url": match[1]})
    page = request.results[1]
    mark, sentence = _MARK.search(page), first_sentence(_FENCE.split(page)[-1])
    if mark is None or not sentence:
        return Say("I found a page, and could not read it.")
    return Say(f"{sentence} {mark[1]}.")


def _calls(request: ScriptedRequest, name: str, arguments: Mapping[str, Any]) -> Turn:
    return ScriptedCall(name, arguments) if name in request.functions else Say(f"I was not given the tool {name}.")


def _question(body: Mapping[str, Any]) -> str:
    """Return the user's last message in a request of chat completions, Messages, Responses or Gemini."""
    messages = body.get("messages") or body.get("input") or body.get("contents") or ""
    for message in reversed(messages if isinstance(messages, list) else [{"role": "user", "content": messages}]):
        if message.get("role") == "user":
            content = message.get("content", message.get("parts"))
            parts = [{"text": content}] if isinstance(content, str) else content or ()
            return " ".join(part["text"] for part in parts if "text" in part)
    return ""


def first_sentence(page: str) -> str:
    """Return the first sentence of a page's text, without its full stop; empty if it has no prose."""
    plain = re.sub(r"[*`]", "", _LINK.sub(r"\1", page))
    blocks = [" ".join(block.split()) for block in plain.split("\n\n")]
    prose = next((one for one in blocks if len(one) > _PROSE and one[0].isalpha()), "")
    return prose.split(". ")[0].rstrip(".")
