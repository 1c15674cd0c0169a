"""The wire format of OpenAI Responses: request validation and responses (openai SDK 3.54.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.model_apis.chat_completions import text_of
from groundwire.testing.model_apis.scripted_turns import ScriptedCall
from world.model_apis.turns import Say, ScriptedRequest, model_api

_HOSTED_SEARCHES = ("web_search", "web_search_2025_08_26", "web_search_preview")
_CLIENTS_TOOLS = ("custom", "namespace", "local_shell", "shell", "apply_patch")  # run by the client, as functions are
_SEARCH_FIELDS = frozenset({"type", "filters", "search_context_size", "user_location", "external_web_access"})


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    if not body.get("input") and not body.get("previous_response_id"):
        return "Missing required parameter: 'input'."
    for tool in body.get("tools") or ():
        kind = tool.get("type")
        if kind == "function":
            if not isinstance(tool.get("name"), str):
                return "Missing required parameter: 'tools[0].name'."
        elif kind in _CLIENTS_TOOLS:
            continue
        elif kind not in _HOSTED_SEARCHES:
            return f"Invalid value: '{kind}'."
        elif extra := set(tool) - _SEARCH_FIELDS:
            return f"Unknown parameter: 'tools[0].{min(extra)}'."
        elif (body.get("reasoning") or {}).get("effort") == "minimal":
            return "The following tools cannot be used with reasoning.effort 'minimal': web_search."
        elif body["model"].startswith("grok") and not _few(tool.get("filters") or {}):
            return "filters: at most 5 allowed_domains or excluded_domains"
    return ""


def _few(filters: Mapping[str, Any]) -> bool:
    """Return whether filters are valid for xAI: one list, of at most five."""
    return len(filters) <= 1 and all(len(domains) <= 5 for domains in filters.values())


def _request(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    tools = body.get("tools") or ()
    items = body.get("input")
    outputs = [item for item in items if item.get("type") == "function_call_output"] if isinstance(items, list) else []
    return ScriptedRequest(
        wire="responses",
        model=body["model"],
        functions=tuple(tool["name"] for tool in tools if tool["type"] == "function"),
        hosted=tuple(tool["type"] for tool in tools if tool["type"] in _HOSTED_SEARCHES),
        results=tuple(text_of(item.get("output")) for item in outputs),
        body=body,
    )


def _response(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    """Return a whole response."""
    return {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": request.model,
        "output": _items(request, turn),
        "parallel_tool_calls": True,
        "tool_choice": request.body.get("tool_choice", "auto"),
        "tools": list(request.body.get("tools") or ()),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "previous_response_id": request.body.get("previous_response_id"),
        "metadata": {},
        "temperature": 1,
        "top_p": 1,
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def _events(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[tuple[str, Any]]:
    """Return a response as stream events: their names and data."""
    whole = _response(request, turn)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    made: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": begun})]
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index}
        made.append(("response.output_item.added", {**at, "item": _begun(item)}))
        made += [(name, {**at, "item_id": item["id"], **data}) for name, data in _deltas(item)]
        made.append(("response.output_item.done", {**at, "item": item}))
    made.append(("response.completed", {"response": whole}))
    return [(name, {"type": name, "sequence_number": number, **data}) for number, (name, data) in enumerate(made)]


def _items(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[dict[str, Any]]:
    if not isinstance(turn, Say):
        first = len(request.results)
        return [
            {
                "id": f"fc_{first + number}",
                "type": "function_call",
                "call_id": f"call_{first + number}",
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments)),
                "status": "completed",
            }
            for number, call in enumerate(turn)
        ]
    annotations = [
        {"type": "url_citation", "url": one.url, "title": one.title, "start_index": 0, "end_index": len(turn.text)}
        for one in turn.cites
    ]
    text = {"type": "output_text", "text": turn.text, "annotations": annotations if request.hosted else []}
    message = {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    if not request.hosted:
        return [message]
    sources = [{"type": "url", "url": one.url} for one in turn.cites]
    action = {"type": "search", "query": turn.query, "queries": [turn.query], "sources": sources}
    search = {"type": "web_search_call", "status": "completed", "action": action}
    return [*({"id": f"ws_{number}", **search} for number in range(1, turn.searches + 1)), message]


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] == "message":
        return {**item, "status": "in_progress", "content": []}
    return {**item, "status": "in_progress", **({"arguments": ""} if "arguments" in item else {})}


def _deltas(item: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if item["type"] == "function_call":
        text = item["arguments"]
        return [
            ("response.function_call_arguments.delta", {"delta": text}),
            ("response.function_call_arguments.done", {"arguments": text, "name": item["name"]}),
        ]
    if item["type"] == "web_search_call":
        return [(f"response.web_search_call.{step}", {}) for step in ("in_progress", "searching", "completed")]
    part, at = item["content"][0], {"content_index": 0}
    empty = {**part, "text": "", "annotations": []}
    marks = [
        ("response.output_text.annotation.added", {**at, "annotation_index": number, "annotation": one})
        for number, one in enumerate(part["annotations"])
    ]
    return [
        ("response.content_part.added", {**at, "part": empty}),
        ("response.output_text.delta", {**at, "delta": part["text"], "logprobs": []}),
        *marks,
        ("response.output_text.done", {**at, "text": part["text"], "logprobs": []}),
        ("response.content_part.done", {**at, "part": part}),
    ]


RESPONSES = model_api(_refusal, _request, _response, _events)
"""Responses."""
