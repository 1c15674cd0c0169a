"""The wire format of Anthropic Messages: request validation and responses (anthropic SDK 2.12.0 types)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.testing.model_apis.scripted_turns import ScriptedCall
from world.model_apis.turns import Say, ScriptedRequest, model_api

_SEARCHES = ("web_search_20250305", "web_search_20260209", "web_search_20260318")
_READERS = ("web_fetch_20250910", "web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318")
_FIELDS = frozenset(
    {"type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"}
)
_FIELDS |= {"allowed_callers", "defer_loading", "strict", "response_inclusion"}


def _refusal(body: Mapping[str, Any]) -> str:
    """Return why the service rejects a request, or an empty string."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    if not body.get("messages"):
        return "messages: at least one message is required"
    names = [tool.get("name") for tool in body.get("tools") or ()]
    if len(set(names)) < len(names):
        return "tools: Tool names must be unique."
    for tool in body.get("tools") or ():
        kind = tool.get("type", "custom")
        if kind == "custom":
            if not isinstance(tool.get("input_schema"), dict):
                return "tools.0.custom.input_schema: Field required"
        elif kind not in (*_SEARCHES, *_READERS):
            return f"tools.0: Input tag '{kind}' does not match any of the expected tags"
        elif extra := set(tool) - _FIELDS:
            return f"tools.0.{kind}.{min(extra)}: Extra inputs are not permitted"
        elif tool.get("allowed_domains") and tool.get("blocked_domains"):
            return "tools.0: only one of allowed_domains and blocked_domains can be used"
        elif tool.get("name") != (name := "web_search" if kind in _SEARCHES else "web_fetch"):
            return f"tools.0.{kind}.name: Input should be '{name}'"
    return ""


def _parse(body: Mapping[str, Any]) -> ScriptedRequest:
    """Parse a request."""
    tools = body.get("tools") or ()
    blocks = [block for message in body["messages"] for block in _blocks(message.get("content"))]
    return ScriptedRequest(
        wire="anthropic",
        model=body["model"],
        functions=tuple(tool["name"] for tool in tools if "input_schema" in tool),
        hosted=tuple(tool["type"] for tool in tools if "input_schema" not in tool),
        results=tuple(_flat(block.get("content")) for block in blocks if block.get("type") == "tool_result"),
        body=body,
    )


def _response(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> dict[str, Any]:
    """Return a whole response."""
    paused = isinstance(turn, Say) and turn.paused
    usage: dict[str, Any] = {"input_tokens": 1, "output_tokens": 1}
    if isinstance(turn, Say) and request.hosted:
        usage["server_tool_use"] = {"web_search_requests": turn.searches, "web_fetch_requests": 0}
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": _content(request, turn),
        "stop_reason": "pause_turn" if paused else "end_turn" if isinstance(turn, Say) else "tool_use",
        "stop_sequence": None,
        "usage": usage,
    }


def _events(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[tuple[str, Any]]:
    """Return a response as stream events: their names and data."""
    whole = _response(request, turn)
    start = {**whole, "content": [], "stop_reason": None}
    made: list[tuple[str, Any]] = [("message_start", {"message": start})]
    for index, block in enumerate(whole["content"]):
        empty, deltas = _parts(block)
        made.append(("content_block_start", {"index": index, "content_block": empty}))
        made += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        made.append(("content_block_stop", {"index": index}))
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    made += [("message_delta", {"delta": delta, "usage": whole["usage"]}), ("message_stop", {})]
    return [(name, {"type": name, **data}) for name, data in made]


def _content(request: ScriptedRequest, turn: Say | Sequence[ScriptedCall]) -> list[dict[str, Any]]:
    if not isinstance(turn, Say):
        first = len(request.results)
        return [
            {"type": "tool_use", "id": f"toolu_{first + number}", "name": call.name, "input": dict(call.arguments)}
            for number, call in enumerate(turn)
        ]
    if not request.hosted:
        return [{"type": "text", "text": turn.text}]
    rows = [
        {
            "type": "web_search_result",
            "url": one.url,
            "title": one.title,
            "encrypted_content": "opaque",
            "page_age": None,
        }
        for one in turn.cites
    ]
    cites = [
        {
            "type": "web_search_result_location",
            "url": one.url,
            "title": one.title,
            "encrypted_index": "opaque",
            "cited_text": turn.text[:150],
        }
        for one in turn.cites
    ]
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": turn.query}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": rows}
    return [use, result, {"type": "text", "text": turn.text, "citations": cites}]


def _parts(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the start of a block in a stream, and the following deltas."""
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": block["text"]}]
        deltas += [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
        return {**block, "text": "", **({"citations": []} if "citations" in block else {})}, deltas
    if block["type"] in ("tool_use", "server_tool_use"):
        text = json.dumps(block["input"])
        pieces = (text[: len(text) // 2], text[len(text) // 2 :])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block, []


def _blocks(content: object) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _flat(content: object) -> str:
    return content if isinstance(content, str) else "".join(str(one.get("text", "")) for one in _blocks(content))


MESSAGES = model_api(_refusal, _parse, _response, _events)
"""Anthropic Messages."""
