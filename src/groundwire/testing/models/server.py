"""The server of the miniature model: from the path to the wire, and back."""

from __future__ import annotations

import json
import re
from types import MappingProxyType, ModuleType
from typing import Any

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.models import anthropic, chat, gemini, responses
from groundwire.testing.models.turns import Call, Decide, Say, script
from groundwire.testing.server import Endpoint

__all__ = ["ModelServer"]

_WIRES = MappingProxyType({"/messages": anthropic, "/chat/completions": chat, "/responses": responses})
_GEMINI = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")


class ModelServer(Endpoint):
    """A model behind Anthropic Messages, chat completions, OpenAI Responses and Gemini, each at its own path.

    Args:
        decide: What the model does; by default it says one sentence.
        name: What the world calls it.
    """

    def __init__(self, decide: Decide | None = None, name: str = "models") -> None:
        super().__init__(name)
        self.decide = decide or script()

    def handle(self, request: Recorded) -> Reply:
        """Return what the service answers."""
        try:
            body = request.json()
        except ValueError:
            return _refusal("The body is not JSON.")
        if not isinstance(body, dict):
            return _refusal("The body is no object.")
        wire: ModuleType | None = next((one for end, one in _WIRES.items() if request.path.endswith(end)), None)
        streamed = bool(body.get("stream"))
        if found := _GEMINI.search(request.path):
            wire, streamed = gemini, found[2].startswith("stream")
            body["model"] = found[1]
        if wire is None:
            return _refusal(f"There is nothing at {request.path}.", status=404)
        if not isinstance(body.get("model"), str):
            return _refusal("model: Field required")
        if fault := wire.fault(body):
            return _refusal(fault)
        asked = wire.asked(body)
        turn = self.decide(asked)
        turn = (turn,) if isinstance(turn, Call) else turn
        if not isinstance(turn, Say) and (unknown := [one.name for one in turn if one.name not in asked.functions]):
            raise AssertionError(f"The model was not given the tool {unknown[0]}; it has {', '.join(asked.functions)}.")
        return _streamed(wire.events(asked, turn)) if streamed else Reply.json(wire.answer(asked, turn))


def _refusal(text: str, *, status: int = 400) -> Reply:
    """Return a refusal that every SDK can read."""
    error = {"message": text, "type": "invalid_request_error", "code": status, "status": "INVALID_ARGUMENT"}
    return Reply.json({"type": "error", "error": error}, status=status)


def _streamed(events: list[tuple[str, Any]]) -> Reply:
    lines = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
    return Reply(chunks=lambda: (line.encode() for line in lines), content_type="text/event-stream")
