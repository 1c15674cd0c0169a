"""Whole answers of model APIs split into the events of the API's stream.

The events are those of the vendors' own client libraries: anthropic, openai, google-genai, mistralai, and groq.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Event = dict[str, Any]


def as_sse(events: Iterator[Event], *, named: bool, done: bool = False, end: str = "\n") -> bytes:
    """Return events as a stream of server-sent events.

    Args:
        events: Their data.
        named: Whether each says its type in an `event:` line.
        done: Whether `[DONE]` ends the stream.
        end: The end of a line.
    """
    lines = []
    for event in events:
        if named:
            lines.append(f"event: {event.get('type') or event.get('event_type')}")
        lines += [f"data: {json.dumps(event, ensure_ascii=False)}", ""]
    if done:
        lines += ["data: [DONE]", ""]
    return "".join(line + end for line in lines).encode("utf-8", "surrogatepass")


def _pieces(text: str, chance: Random) -> Iterator[str]:
    while text:
        size = chance.choice((1, 3, 10, 40))
        yield text[:size]
        text = text[size:]


def anthropic(body: Event, chance: Random) -> Iterator[Event]:
    """Yield the events that Anthropic would stream."""
    usage = body.get("usage", {})
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(body["content"]):
        first = dict(block)
        deltas: list[Event] = []
        if block["type"] == "text":
            first["text"] = ""
            if "citations" in block:
                first["citations"] = []
                deltas += [{"type": "citations_delta", "citation": one} for one in block["citations"] or []]
            deltas += [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"], chance)]
        elif block["type"] == "thinking":
            first |= {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"], chance)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif block["type"] in {"server_tool_use", "tool_use"}:
            first["input"] = {}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *_pieces(written, chance))]
        yield {"type": "content_block_start", "index": index, "content_block": first}
        if chance.random() < 0.2:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": usage}
    yield {"type": "message_stop"}


def responses(body: Event, chance: Random) -> Iterator[Event]:
    """Yield the events that the Responses API would stream."""
    number = 0

    def event(kind: str, **fields: Any) -> Event:
        nonlocal number
        number += 1
        return {"type": kind, "sequence_number": number - 1, **fields}

    begun = {**body, "output": [], "status": "in_progress", "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(body["output"]):
        empty = {**item, "status": "in_progress"} | ({"content": []} if "content" in item else {})
        empty.pop("action", None)
        yield event("response.output_item.added", output_index=index, item=empty)
        where = {"item_id": item.get("id", ""), "output_index": index}
        if item["type"] == "web_search_call":
            yield event("response.web_search_call.in_progress", **where)
            yield event("response.web_search_call.searching", **where)
            yield event("response.web_search_call.completed", **where)
        for place, part in enumerate(item.get("content") or [] if item["type"] == "message" else []):
            where["content_index"] = place
            blank = {**part, "text": "", "annotations": []}
            yield event("response.content_part.added", **where, part=blank)
            for piece in _pieces(part["text"], chance):
                yield event("response.output_text.delta", **where, delta=piece, logprobs=[])
            for at, note in enumerate(part.get("annotations", [])):
                kind = "response.output_text.annotation.added"
                yield event(kind, **where, annotation_index=at, annotation=note)
            yield event("response.output_text.done", **where, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **where, part=part)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=body)


def chat(body: Event, chance: Random) -> Iterator[Event]:
    """Yield what Chat Completions would have streamed, with the fields that services put into deltas and chunks."""
    beside = {name: value for name, value in body.items() if name not in {"choices", "usage", "object"}}
    choice = body["choices"][0]
    message = choice["message"]

    def chunk(delta: Event, **more: Any) -> Event:
        fields = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        return {**beside, **fields, **more}

    yield chunk({"role": "assistant", "content": ""})
    for name in ("reasoning", "reasoning_content"):
        for piece in _pieces(message.get(name) or "", chance):
            yield chunk({name: piece})
    for tool in message.get("executed_tools") or []:
        begun = {name: tool[name] for name in ("index", "type", "arguments") if name in tool}
        yield chunk({"executed_tools": [begun]})
        yield chunk({"executed_tools": [tool]})
    content = message.get("content")
    for part in [content] if isinstance(content, str) else content or []:
        if isinstance(part, str):
            for piece in _pieces(part, chance):
                yield chunk({"content": piece})
        elif part["type"] == "text":
            for piece in _pieces(part["text"], chance):
                yield chunk({"content": [{"type": "text", "text": piece}]})
        else:
            yield chunk({"content": [part]})
    for call in message.get("tool_calls") or []:
        function = call["function"]
        begun = {**call, "index": 0, "function": {"name": function["name"], "arguments": ""}}
        yield chunk({"tool_calls": [begun]})
        for piece in _pieces(function["arguments"], chance):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    rest = {
        name: value
        for name, value in message.items()
        if name not in {"content", "reasoning", "reasoning_content", "executed_tools", "tool_calls", "role"}
    }
    for note in rest.pop("annotations", None) or []:
        yield chunk({"annotations": [note]})
    if rest:
        yield chunk(rest)
    last = chunk({})
    last["choices"][0]["finish_reason"] = choice["finish_reason"]
    yield last
    if "usage" in body:
        yield {**beside, "object": "chat.completion.chunk", "choices": [], "usage": body["usage"]}


def gemini(body: Event, chance: Random) -> Iterator[Event]:
    """Yield what Gemini would have streamed: responses with a piece of text each, the metadata with the last."""
    candidate = body["candidates"][0]
    beside = {name: value for name, value in body.items() if name != "candidates"}
    parts: list[Event] = []
    for part in candidate["content"]["parts"]:
        signed = {name: value for name, value in part.items() if name not in {"text", "thought"}}
        pieces = list(_pieces(part.get("text", ""), chance)) if not signed else []
        parts += [{**part, "text": piece} for piece in pieces] if pieces else [part]
    for part in parts[:-1]:
        content = {"role": "model", "parts": [part]}
        yield {**beside, "candidates": [{"content": content, "index": 0, "groundingMetadata": {}}]}
    yield {**beside, "candidates": [{**candidate, "content": {**candidate["content"], "parts": parts[-1:]}}]}


def interactions(body: Event, chance: Random) -> Iterator[Event]:
    """Yield what the Interactions API would have streamed."""
    about = {name: value for name, value in body.items() if name not in {"steps", "usage"}}
    yield {"event_type": "interaction.created", "interaction": {**about, "status": "in_progress"}}
    for index, step in enumerate(body["steps"]):
        given = {name: value for name, value in step.items() if name in {"type", "id", "call_id", "name"}}
        rest = {name: value for name, value in step.items() if name not in given}
        yield {"event_type": "step.start", "index": index, "step": given}

        def delta(data: Event, at: int = index) -> Event:
            return {"event_type": "step.delta", "index": at, "delta": data}

        if step["type"] == "model_output":
            for content in step["content"]:
                for piece in _pieces(content["text"], chance):
                    yield delta({"type": "text", "text": piece})
                if "annotations" in content:
                    yield delta({"type": "text_annotation_delta", "annotations": content["annotations"]})
        elif step["type"] == "thought":
            yield delta({"type": "thought_signature", **rest})
        elif step["type"] == "function_call":
            for piece in _pieces(json.dumps(step["arguments"]), chance):
                yield delta({"type": "arguments_delta", "arguments": piece})
        else:
            yield delta({"type": step["type"], **rest})
        yield {"event_type": "step.stop", "index": index}
    ended = {name: value for name, value in body.items() if name != "steps"}
    yield {"event_type": "interaction.completed", "interaction": ended}


def conversations(body: Event, chance: Random) -> Iterator[Event]:
    """Yield what Mistral's conversations would have streamed."""
    yield {"type": "conversation.response.started", "conversation_id": body["conversation_id"]}
    for index, entry in enumerate(body["outputs"]):
        base = {name: entry[name] for name in ("id", "name", "model", "agent_id") if name in entry}
        base["output_index"] = index
        if entry["type"] == "tool.execution":
            written = list(_pieces(entry["arguments"], chance))
            yield {"type": "tool.execution.started", **base, "arguments": written[0]}
            for piece in written[1:]:
                yield {"type": "tool.execution.delta", **base, "arguments": piece}
            yield {"type": "tool.execution.done", **base, "info": entry.get("info")}
        elif entry["type"] == "function.call":
            for piece in _pieces(entry["arguments"], chance):
                base["tool_call_id"] = entry["tool_call_id"]
                yield {"type": "function.call.delta", **base, "arguments": piece}
        else:
            content = entry["content"]
            for place, part in enumerate([content] if isinstance(content, str) else content):
                where = {"type": "message.output.delta", "role": "assistant", **base, "content_index": place}
                if isinstance(part, str) or part["type"] == "text":
                    for piece in _pieces(part if isinstance(part, str) else part["text"], chance):
                        yield {**where, "content": piece}
                else:
                    yield {**where, "content": part}
    yield {"type": "conversation.response.done", "usage": body["usage"]}


MAKERS: dict[str, Callable[[Event, Random], Iterator[Event]]] = {
    "anthropic": anthropic,
    "deepseek": anthropic,
    "gemini": gemini,
    "gemini_interactions": interactions,
    "groq": chat,
    "mistral": conversations,
    "openai_chat": chat,
    "openai_responses": responses,
    "openrouter": chat,
    "perplexity": chat,
    "qwen_responses": responses,
    "venice": chat,
    "xai": responses,
    "zai": chat,
}
"""What streams a whole answer of each API."""


def streamed(api: str, body: dict[str, Any], seed: int) -> bytes:
    """Return a whole answer as its API would have streamed it, as bytes."""
    chance = Random(seed)
    maker = responses if "output" in body and api == "perplexity" else MAKERS[api]  # Perplexity has had both
    made = maker(body, chance)
    named = maker in {anthropic, responses, interactions, conversations}
    done = maker is chat
    return as_sse(made, named=named, done=done, end=chance.choice(("\n", "\r\n", "\r")))
