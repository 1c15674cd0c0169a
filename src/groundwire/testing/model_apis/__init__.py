"""A miniature model on loopback that emulates chat completions, the API that most models have.

    with World() as world:
        models = world.add(ModelServer(script(ScriptedCall("web_search", {"query": "rank fusion"}))))
        client = openai.OpenAI(base_url=models.url + "/v1", api_key="none")

It calls the tools of its script, and says what the script says, plain and streamed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.model_apis.chat_completions import CHAT_COMPLETIONS
from groundwire.testing.model_apis.scripted_turns import (
    Decide,
    ModelApi,
    Say,
    ScriptedCall,
    ScriptedRequest,
    Turn,
    quoting,
    script,
)
from groundwire.testing.server import EmulatedServer

__all__ = ["Decide", "ModelServer", "Say", "ScriptedCall", "ScriptedRequest", "Turn", "quoting", "script"]


class ModelServer(EmulatedServer):
    """A model behind chat completions.

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
        try:
            body = request.json()
        except ValueError:
            return _refusal("The body is not JSON.")
        if not isinstance(body, dict):
            return _refusal("The body is not an object.")
        api, streamed = self.api(request.path, body)
        if api is None:
            return _refusal(f"There is nothing at {request.path}.", status=404)
        if not isinstance(body.get("model"), str):
            return _refusal("model: Field required")
        if reason := api.refusal(body):
            return self.refusal(api, reason)
        scripted = replace(api.parse(body), number=next(self._numbers))
        turn = self.decide(scripted)
        turn = (turn,) if isinstance(turn, ScriptedCall) else turn
        calls = () if isinstance(turn, Say) or self._invents else turn
        if unknown := [call.name for call in calls if call.name not in scripted.functions]:
            raise AssertionError(
                f"The model was not given the tool {unknown[0]}; it has {', '.join(scripted.functions)}."
            )
        if not streamed:
            return EmulatedResponse.json(api.response(scripted, turn))
        return self.stream(api, api.events(scripted, turn))

    def api(self, path: str, body: dict[str, Any]) -> tuple[ModelApi | None, bool]:
        """Return the API at a path, or None, and whether it streams its response."""
        return CHAT_COMPLETIONS if path.endswith("/chat/completions") else None, bool(body.get("stream"))

    def refusal(self, api: ModelApi, reason: str) -> EmulatedResponse:
        """Return the response of an API to a request that it rejects."""
        return _refusal(reason)

    def stream(self, api: ModelApi, events: Sequence[tuple[str, Any]]) -> EmulatedResponse:
        """Return the response of an API as a stream of server-sent events."""
        lines = []
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        return EmulatedResponse(chunks=lambda: (line.encode() for line in lines), content_type="text/event-stream")


def _refusal(text: str, *, status: int = 400) -> EmulatedResponse:
    """Return an error that every SDK can parse."""
    error = {"message": text, "type": "invalid_request_error", "code": status, "status": "INVALID_ARGUMENT"}
    return EmulatedResponse.json({"type": "error", "error": error}, status=status)
