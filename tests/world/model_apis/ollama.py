"""The wire of Ollama's `/api/chat` and `/api/generate` (ollama SDK 0.6.3 types): lines of JSON, calls without ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from groundwire.testing.model_apis.scripted_turns import ScriptedCall
from world.model_apis.turns import Say, ScriptedRequest, model_api

_THINKS = "I think about it."
_FIGURES: Final[Mapping[str, int]] = {
    "total_duration": 5_000_000,
    "load_duration": 1_000_000,
    "prompt_eval_count": 1,
    "prompt_eval_duration": 2_000_000,
    "eval_count": 1,
    "eval_duration": 2_000_000,
}
_DETAILS: Final[Mapping[str, Any]] = {
    "parent_model": "",
    "format": "gguf",
    "family": "small",
    "families": ["small"],
    "parameter_size": "1M",
    "quantization_level": "Q8_0",
}
_LISTED: Final[Mapping[str, Any]] = {
    "name": "small:latest",
    "model": "small:latest",
    "modified_at": "2026-11-01T00:00:00Z",
    "size": 1_000_000,
}
OLLAMA_LISTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "/api/tags": {"models": [{**_LISTED, "digest": "0" * 64, "details": dict(_DETAILS)}]},
    "/api/ps": {"models": []},
    "/api/version": {"version": "0.13.0"},
    "/api/show": {"details": dict(_DETAILS), "model_info": {}, "capabilities": ["completion", "tools"]},
}
"""What the server answers that says what it has."""


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service refuses a request, or nothing."""
    if not isinstance(body.get("messages"), list):
        return "messages must be an array"
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            if not isinstance((call.get("function") or {}).get("arguments"), dict):
                return "json: cannot unmarshal string into Go struct field of type api.ToolCallFunctionArguments"
        if message.get("role") == "tool" and not message.get("tool_name"):
            return "a tool message without tool_name"
    return ""


def _parse(body: Mapping[str, Any]) -> ScriptedRequest:
    """Return a request as values."""
    messages = body.get("messages") or [{"role": "user", "content": body.get("prompt", "")}]
    tools = body.get("tools") or ()
    return ScriptedRequest(
        wire="ollama",
        model=body["model"],
        functions=tuple(tool["function"]["name"] for tool in tools),
        hosted=(),
        results=tuple(one["content"] for one in messages if one.get("role") == "tool"),
        body={**body, "messages": messages},
    )


def _message(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    thinking = {"thinking": _THINKS} if request.body.get("think") else {}
    if isinstance(turn, Say):
        return {"role": "assistant", "content": turn.text, **thinking}
    calls = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in turn]
    return {"role": "assistant", "content": "", **thinking, "tool_calls": calls}


def _head(request: ScriptedRequest) -> dict[str, Any]:
    return {"model": request.model, "created_at": "2026-11-01T00:00:00.000000001Z"}


def _response(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    """Return a whole answer."""
    message = _message(request, turn)
    return {**_head(request), "message": message, "done": True, "done_reason": "stop", **_FIGURES}


def _events(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[tuple[str, Any]]:
    """Return an answer as the lines of a stream."""
    message = _message(request, turn)
    thinking, text = message.pop("thinking", ""), message["content"]
    pieces = [{"role": "assistant", "content": "", "thinking": thinking}] if thinking else []
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    pieces += [{"role": "assistant", "content": half} for half in halves if half]
    pieces += [message] if "tool_calls" in message else []
    lines: list[dict[str, Any]] = [{**_head(request), "message": piece, "done": False} for piece in pieces]
    empty = {"role": "assistant", "content": ""}
    lines.append({**_head(request), "message": empty, "done": True, "done_reason": "stop", **_FIGURES})
    return [("", line) for line in lines]


def _generated(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of `/api/chat` as one of `/api/generate`."""
    message = line["message"]
    thinking = {"thinking": message["thinking"]} if "thinking" in message else {}
    made = {name: value for name, value in line.items() if name != "message"}
    made |= {"response": message["content"], **thinking}
    return {**made, "context": [1, 2, 3]} if line["done"] else made


OLLAMA_CHAT = model_api(_refusal, _parse, _response, _events)
"""`/api/chat`."""
OLLAMA_GENERATE = model_api(
    lambda body: "" if isinstance(body.get("prompt"), str) else "prompt must be a string",
    _parse,
    lambda request, turn: _generated(_response(request, turn)),
    lambda request, turn: [("", _generated(line)) for _, line in _events(request, turn)],
)
"""`/api/generate`."""
