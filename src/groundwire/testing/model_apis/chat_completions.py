"""The wire format of chat completions: request validation and responses (openai SDK 3.57.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.model_apis.scripted_turns import ModelApi, Say, ScriptedCall, ScriptedRequest

__all__ = ["CHAT_COMPLETIONS", "text_of"]


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    return "" if body.get("messages") else "Missing required parameter: 'messages'."


def _request(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    tools = body.get("tools") or ()
    return ScriptedRequest(
        wire="chat",
        model=body["model"],
        functions=tuple(tool["function"]["name"] for tool in tools if tool["type"] == "function"),
        results=tuple(text_of(message.get("content")) for message in body["messages"] if message.get("role") == "tool"),
        body=body,
    )


def _response(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    """Return a whole response."""
    finish = "stop" if isinstance(turn, Say) else "tool_calls"
    choice = {"index": 0, "message": _message(request, turn), "finish_reason": finish}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage()}


def _events(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[tuple[str, Any]]:
    """Return a response as unnamed stream events."""
    message = _message(request, turn)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if isinstance(turn, Say):
        half = len(turn.text) // 2
        deltas += [{"content": turn.text[:half]}, {"content": turn.text[half:]}]
    else:
        for index, call in enumerate(message["tool_calls"]):
            function, text = call["function"], call["function"]["arguments"]
            deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
            for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    head = _head(request, "chat.completion.chunk")
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    finish = "stop" if isinstance(turn, Say) else "tool_calls"
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if (request.body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": _usage()})
    return [*(("", chunk) for chunk in chunks), ("", "[DONE]")]


def _head(request: ScriptedRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 1, "model": request.model}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _message(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    if not isinstance(turn, Say):
        calls = [
            {
                "id": f"call_{len(request.results) + number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for number, call in enumerate(turn)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    return {"role": "assistant", "content": turn.text}


def text_of(content: object) -> str:
    """Return the text of a message's content, which may be in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


CHAT_COMPLETIONS = ModelApi(_refusal, _request, _response, _events)
"""Chat completions."""
