"""A miniature model on loopback that emulates the model APIs.

    with World() as world:
        models = world.add(ModelServer(script(ScriptedCall("web_search", {"query": "rank fusion"}))))
        client = openai.OpenAI(base_url=models.url + "/v1", api_key="none")

It refuses what the services refuse (a hosted tool of another API, options that exclude each other), calls the tools of
its script, and where it was given hosted search it answers as if it had searched, with citations. Plain and streamed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.model_apis.anthropic import MESSAGES
from groundwire.testing.model_apis.gemini import GENERATE_CONTENT
from groundwire.testing.model_apis.ollama import OLLAMA_CHAT, OLLAMA_GENERATE, OLLAMA_LISTS
from groundwire.testing.model_apis.openai import CHAT_COMPLETIONS, RESPONSES
from groundwire.testing.model_apis.scripted_turns import (
    Cite,
    Decide,
    Say,
    ScriptedCall,
    ScriptedRequest,
    Turn,
    quoting,
    script,
)
from groundwire.testing.server import EmulatedServer

__all__ = ["Cite", "Decide", "ModelServer", "Say", "ScriptedCall", "ScriptedRequest", "Turn", "quoting", "script"]

_OLLAMA = MappingProxyType({"/api/chat": OLLAMA_CHAT, "/api/generate": OLLAMA_GENERATE})
_APIS = MappingProxyType(
    {"/messages": MESSAGES, "/chat/completions": CHAT_COMPLETIONS, "/responses": RESPONSES, **_OLLAMA}
)
_GEMINI = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")


class ModelServer(EmulatedServer):
    """A model behind Anthropic Messages, chat completions, OpenAI Responses, Gemini and Ollama, each at its own path.

    Args:
        decide: What the model does; by default it says one sentence.
        name: What the world calls it.
        listed: The models that it lists; none means that it has no list.
        invents: Whether it may call tools that it was not given; by default that is a mistake in the script.
    """

    def __init__(
        self, decide: Decide | None = None, name: str = "models", *, listed: Sequence[str] = (), invents: bool = False
    ) -> None:
        super().__init__(name)
        self._invents = invents
        self._listed = listed
        self._numbers = count(1)
        self.decide: Decide = decide or script()

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the emulated response."""
        if self._listed and request.method == "GET" and request.path.endswith("/models"):
            rows = [{"id": name, "object": "model"} for name in self._listed]
            return EmulatedResponse.json({"object": "list", "data": rows})
        if (listed := OLLAMA_LISTS.get(request.path)) is not None:
            return EmulatedResponse.json(listed)
        try:
            body = request.json()
        except ValueError:
            return _refusal("The body is not JSON.")
        if not isinstance(body, dict):
            return _refusal("The body is not an object.")
        api = next((one for end, one in _APIS.items() if request.path.endswith(end)), None)
        streamed = bool(body.get("stream", request.path in _OLLAMA))
        if found := _GEMINI.search(request.path):
            api, streamed = GENERATE_CONTENT, found[2].startswith("stream")
            body["model"] = found[1]
        if api is None:
            return _refusal(f"There is nothing at {request.path}.", status=404)
        if not isinstance(body.get("model"), str):
            return _refusal("model: Field required")
        if reason := api.refusal(body):
            return EmulatedResponse.json({"error": reason}, status=400) if request.path in _OLLAMA else _refusal(reason)
        scripted = replace(api.parse(body), number=next(self._numbers))
        turn = self.decide(scripted)
        turn = (turn,) if isinstance(turn, ScriptedCall) else turn
        made = () if isinstance(turn, Say) or self._invents else turn
        if unknown := [one.name for one in made if one.name not in scripted.functions]:
            raise AssertionError(
                f"The model was not given the tool {unknown[0]}; it has {', '.join(scripted.functions)}."
            )
        if not streamed:
            return EmulatedResponse.json(api.response(scripted, turn))
        return (_lines if request.path in _OLLAMA else _streamed)(api.events(scripted, turn))


def _refusal(text: str, *, status: int = 400) -> EmulatedResponse:
    """Return an error that every SDK can parse."""
    error = {"message": text, "type": "invalid_request_error", "code": status, "status": "INVALID_ARGUMENT"}
    return EmulatedResponse.json({"type": "error", "error": error}, status=status)


def _lines(events: list[tuple[str, Any]]) -> EmulatedResponse:
    data = [json.dumps(one).encode() + b"\n" for _, one in events]
    return EmulatedResponse(chunks=lambda: iter(data), content_type="application/x-ndjson")


def _streamed(events: list[tuple[str, Any]]) -> EmulatedResponse:
    lines = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
    return EmulatedResponse(chunks=lambda: (line.encode() for line in lines), content_type="text/event-stream")
