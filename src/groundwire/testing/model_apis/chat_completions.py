"""The wire format of chat completions: request validation and responses (openai SDK 3.57.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.model_apis.scripted_turns import ModelApi, Say, ScriptedCall, ScriptedRequest

__all__ = ["CHAT_COMPLETIONS", "text_of"]

_REFUSED_FIELDS = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "n",
    "logit_bias",
    "parallel_tool_calls",
)
_SEARCH_TOOLS = ("openrouter:web_search", "browser_search")


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    if not body.get("messages"):
        return "Missing required parameter: 'messages'."
    if body.get("tools") == []:
        return "Invalid 'tools': empty array. Expected an array with minimum length 1."
    if "tool_choice" in body and not body.get("tools"):
        return "'tool_choice' is only allowed when 'tools' are specified."
    for tool in body.get("tools") or ():
        if tool.get("type") not in ("function", *_SEARCH_TOOLS):
            return f"Invalid value: '{tool.get('type')}'. Supported values are: 'function' and 'custom'."
        if tool["type"] == "function" and not isinstance(tool.get("function"), dict):
            return "Missing required parameter: 'tools[0].function'."
    searches = "-search-" in body["model"]
    if "web_search_options" in body and not searches and not body["model"].startswith("sonar"):
        return f"Web search options not supported with this model: {body['model']}"
    if searches and (refused := [name for name in _REFUSED_FIELDS if body.get(name) is not None]):
        return f"Model incompatible request arguments supplied: {', '.join(refused)}"
    return ""


def _request(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    tools = body.get("tools") or ()
    hosted = [tool["type"] for tool in tools if tool["type"] != "function"]
    if "web_search_options" in body or body["model"].startswith(("sonar", "groq/compound")):
        hosted.append("model")
    return ScriptedRequest(
        wire="chat",
        model=body["model"],
        functions=tuple(tool["function"]["name"] for tool in tools if tool["type"] == "function"),
        hosted=tuple(hosted),
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
        if "annotations" in message:
            deltas.append({"annotations": message["annotations"]})
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
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if request.hosted:
        message["annotations"] = [
            {
                "type": "url_citation",
                "url_citation": {"url": cite.url, "title": cite.title, "start_index": 0, "end_index": len(turn.text)},
            }
            for cite in turn.cites
        ]
    return message


def text_of(content: object) -> str:
    """Return the text of a message's content, which may be in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


CHAT_COMPLETIONS = ModelApi(_refusal, _request, _response, _events)
"""Chat completions."""
