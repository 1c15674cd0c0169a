"""The wire of chat completions, as OpenAI and many others speak it (openai SDK 3.54.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.models.turns import Asked, Call, Say

__all__ = ["answer", "asked", "events", "fault"]

_REFUSED = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "n", "logit_bias", "parallel_tool_calls")
_SEARCH_TOOLS = ("openrouter:web_search", "browser_search")


def fault(body: Mapping[str, Any]) -> str:
    """Return why the service refuses a request, or nothing."""
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
    if searches and (refused := [name for name in _REFUSED if body.get(name) is not None]):
        return f"Model incompatible request arguments supplied: {', '.join(refused)}"
    return ""


def asked(body: Mapping[str, Any]) -> Asked:
    """Return a request as values."""
    tools = body.get("tools") or ()
    hosted = [tool["type"] for tool in tools if tool["type"] != "function"]
    if "web_search_options" in body or body["model"].startswith(("sonar", "groq/compound")):
        hosted.append("model")
    return Asked(
        wire="chat",
        model=body["model"],
        functions=tuple(tool["function"]["name"] for tool in tools if tool["type"] == "function"),
        hosted=tuple(hosted),
        results=tuple(_flat(message.get("content")) for message in body["messages"] if message.get("role") == "tool"),
        body=body,
    )


def answer(asked: Asked, turn: Say | Sequence[Call]) -> dict[str, Any]:
    """Return a whole answer."""
    finish = "stop" if isinstance(turn, Say) else "tool_calls"
    choice = {"index": 0, "message": _message(asked, turn), "finish_reason": finish}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage()}


def events(asked: Asked, turn: Say | Sequence[Call]) -> list[tuple[str, Any]]:
    """Return an answer as the events of a stream; they have no names."""
    message = _message(asked, turn)
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
    head = _head(asked, "chat.completion.chunk")
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    finish = "stop" if isinstance(turn, Say) else "tool_calls"
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**head, "choices": [], "usage": _usage()})
    return [*(("", chunk) for chunk in chunks), ("", "[DONE]")]


def _head(asked: Asked, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": asked.model}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _message(asked: Asked, turn: Say | Sequence[Call]) -> dict[str, Any]:
    if not isinstance(turn, Say):
        calls = [
            {
                "id": f"call_{len(asked.results) + number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for number, call in enumerate(turn)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if asked.hosted:
        message["annotations"] = [
            {
                "type": "url_citation",
                "url_citation": {"url": one.url, "title": one.title, "start_index": 0, "end_index": len(turn.text)},
            }
            for one in turn.cites
        ]
    return message


def _flat(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
