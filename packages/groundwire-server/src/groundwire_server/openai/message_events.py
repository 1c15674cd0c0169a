"""The stream of Anthropic's Messages API: the events of a message, and their bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from groundwire.hosted.answers.types import items

__all__ = ["block_events", "encode_event", "message_events", "placed_event"]


def placed_event(value: dict[str, Any], place: int, raw: bytes) -> bytes:
    """Return an event with the index of a block in the client's message."""
    return raw if value.get("index") == place else encode_event(str(value["type"]), {**value, "index": place})


def block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a block."""
    names = {"text": ("text",), "thinking": ("thinking", "signature")}.get(str(block.get("type")), ())
    texts = {name: block[name] for name in names if name in block}
    deltas = [{"type": f"{name}_delta", name: text} for name, text in texts.items()]
    empty = {**block, **dict.fromkeys(texts, "")}
    if "text" in texts and block.get("citations"):
        deltas += [{"type": "citations_delta", "citation": note} for note in block["citations"]]
        empty["citations"] = []
    elif block.get("type") in ("tool_use", "server_tool_use"):
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}]
        empty["input"] = {}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def message_events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a message, as of a server that streams it."""
    end = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_start", "message": {**message, "content": [], **dict.fromkeys(end)}}
    for index, block in enumerate(items(message.get("content"))):
        yield from block_events(index, block)
    usage = {"usage": message["usage"]} if "usage" in message else {}
    yield {"type": "message_delta", "delta": end, **usage}
    yield {"type": "message_stop"}


def encode_event(kind: str, data: Mapping[str, Any]) -> bytes:
    """Return an event of this kind."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
