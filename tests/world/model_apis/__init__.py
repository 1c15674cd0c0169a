"""The model of our tests: the shipped one with hosted search, and the APIs of OpenAI, Anthropic, Gemini and Ollama."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.model_apis import ModelServer as ShippedModelServer
from groundwire.testing.model_apis.scripted_turns import ModelApi
from world.model_apis.anthropic import MESSAGES
from world.model_apis.chat_completions import CHAT_COMPLETIONS
from world.model_apis.gemini import GENERATE_CONTENT
from world.model_apis.ollama import OLLAMA_CHAT, OLLAMA_GENERATE, OLLAMA_LISTS
from world.model_apis.responses import RESPONSES

__all__ = ["ModelServer"]

_OLLAMA = MappingProxyType({"/api/chat": OLLAMA_CHAT, "/api/generate": OLLAMA_GENERATE})
_GEMINI = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")


class ModelServer(ShippedModelServer):
    """A model behind every API, each at its own path."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the emulated response."""
        if (listed := OLLAMA_LISTS.get(request.path)) is not None:
            return EmulatedResponse.json(listed)
        return super().handle(request)

    def api(self, path: str, body: dict[str, Any]) -> tuple[ModelApi | None, bool]:
        """Return the API at a path, or None, and whether it streams its response."""
        if match := _GEMINI.search(path):
            body["model"] = match[1]
            return GENERATE_CONTENT, match[2].startswith("stream")
        if path in _OLLAMA:
            return _OLLAMA[path], bool(body.get("stream", True))
        for end, api in (("/messages", MESSAGES), ("/responses", RESPONSES), ("/chat/completions", CHAT_COMPLETIONS)):
            if path.endswith(end):
                return api, bool(body.get("stream"))
        return super().api(path, body)

    def refusal(self, api: ModelApi, reason: str) -> EmulatedResponse:
        """Return the response of an API to a request that it rejects."""
        if api in _OLLAMA.values():
            return EmulatedResponse.json({"error": reason}, status=400)
        return super().refusal(api, reason)

    def stream(self, api: ModelApi, events: Sequence[tuple[str, Any]]) -> EmulatedResponse:
        """Return the response of an API as a stream: Ollama's is one of lines of JSON."""
        if api not in _OLLAMA.values():
            return super().stream(api, events)
        lines = [json.dumps(data).encode() + b"\n" for _, data in events]
        return EmulatedResponse(chunks=lambda: iter(lines), content_type="application/x-ndjson")
