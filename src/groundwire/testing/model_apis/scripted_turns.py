"""What a miniature model says: values without any API's form, and models that are scripted or quote a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["Cite", "Decide", "ModelApi", "Say", "ScriptedCall", "ScriptedRequest", "Turn", "quoting", "script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
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
class ScriptedCall:
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


Turn = Say | ScriptedCall | Sequence[ScriptedCall]
"""What a model does in one turn."""


@dataclass(frozen=True, slots=True)
class ModelApi:
    """The wire format of one model API."""

    refusal: Callable[[Mapping[str, Any]], str]
    """Returns why the service refuses a request body, or nothing."""
    parse: Callable[[Mapping[str, Any]], ScriptedRequest]
    """Returns a request body as values."""
    response: Callable[[ScriptedRequest, Say | Sequence[ScriptedCall]], dict[str, Any]]
    """Returns a whole response body."""
    events: Callable[[ScriptedRequest, Say | Sequence[ScriptedCall]], list[tuple[str, Any]]]
    """Returns a response as the events of a stream: their names, empty where the API has none, and their data."""


Decide = Callable[[ScriptedRequest], Turn]
"""Says what the model does; called in the server's thread for each request, so it must not block."""


def script(*turns: Turn, end: Say | None = None) -> Decide:
    """Return a model that does one turn after the other: as many as it has results of calls are behind it.

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
    """Decide what a reader in a hurry would do: search for the question, open the first page, quote it with its mark.

    It understands nothing. What it says is on the page, which is all that a first look at citations needs.
    """
    if not request.results:
        return _calls(request, "web_search", {"query": _question(request.body)})
    found = _URL.search(request.results[0])
    if found is None:
        return Say("I searched, and found nothing to answer with.")
    if len(request.results) == 1:
        return _calls(request, "open_page", {"url": found[1]})
    page = request.results[1]
    mark, sentence = _MARK.search(page), _sentence(_FENCE.split(page)[-1])
    if mark is None or not sentence:
        return Say("I found a page, and could not read it.")
    return Say(f"{sentence} {mark[1]}.")


def _calls(request: ScriptedRequest, name: str, arguments: Mapping[str, Any]) -> Turn:
    return ScriptedCall(name, arguments) if name in request.functions else Say(f"I was not given the tool {name}.")


def _question(body: Mapping[str, Any]) -> str:
    """Return the last words of the user in a request of chat completions, Messages, Responses or Gemini."""
    said = body.get("messages") or body.get("input") or body.get("contents") or ""
    for message in reversed(said if isinstance(said, list) else [{"role": "user", "content": said}]):
        if message.get("role") == "user":
            content = message.get("content", message.get("parts"))
            parts = [{"text": content}] if isinstance(content, str) else content or ()
            return " ".join(part["text"] for part in parts if "text" in part)
    return ""


def _sentence(page: str) -> str:
    """Return the first sentence of a page's text, without its full stop."""
    plain = re.sub(r"[*`]", "", _LINK.sub(r"\1", page))
    blocks = [" ".join(block.split()) for block in plain.split("\n\n")]
    prose = next((one for one in blocks if len(one) > _PROSE and one[0].isalpha()), "")
    return prose.split(". ")[0].rstrip(".")
