"""Answers of Mistral's Conversations API (https://docs.mistral.ai/api/#tag/beta.conversations)."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import Gather
from groundwire.hosted.answers.openai_chat import Deltas, chunks
from groundwire.hosted.answers.types import count, first_text, items, object_of, parsed, text_of

__all__ = ["ConversationsReader"]


class ConversationsReader:
    """Parses entries: tool executions, and output that mixes text with references to their results."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._entries: dict[int, dict[str, Any]] = {}
        self._contents: dict[int, Deltas] = {}
        self._arguments: dict[int, list[str]] = {}
        self._read: set[int] = set()

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a conversation's response."""
        for index, entry in enumerate(items(body.get("outputs"))):
            self._entries[index] = entry
            self._entry(index)
        self._about(body)
        self._gather.turn = list(self._entries.values())

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `conversation.response.started` to `conversation.response.done`."""
        kind = text_of(data.get("type")) or name
        index = count(data.get("output_index"))
        if kind == "message.output.delta":
            entry = self._begin(index, "message.output", data)
            entry["role"] = "assistant"
            content = data.get("content")
            self._contents.setdefault(index, Deltas()).add(
                {"content": content if isinstance(content, str) else [content]}
            )
            for chunk in chunks(content):
                if chunk.get("type") == "text":
                    self._gather.delta(chunk.get("text"))
        elif kind.startswith("tool.execution."):
            entry = self._begin(index, "tool.execution", data)
            self._arguments.setdefault(index, []).append(text_of(data.get("arguments")))
            if kind.endswith(".done"):
                entry["info"] = data.get("info")
                self._finished(index)
        elif kind == "function.call.delta":
            self._begin(index, "function.call", data)["tool_call_id"] = data.get("tool_call_id")
            self._arguments.setdefault(index, []).append(text_of(data.get("arguments")))
        elif kind == "conversation.response.done":
            self._about(data)
            self.complete = True

    def finish(self) -> None:
        """Parse the remaining entries, and build the turn."""
        for index in sorted(self._entries):
            self._finished(index)
        self._gather.turn = [self._entries[index] for index in sorted(self._entries)]

    def _begin(self, index: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        entry = self._entries.setdefault(index, {"type": kind, "object": "entry"})
        for name in ("id", "name", "model", "agent_id"):
            if first_text(data.get(name)):
                entry[name] = data[name]
        return entry

    def _finished(self, index: int) -> None:
        if index in self._read:
            return
        entry = self._entries[index]
        if index in self._contents:
            entry["content"] = self._contents[index].message().get("content", "")
        if index in self._arguments:
            entry["arguments"] = "".join(self._arguments[index])
        self._entry(index)

    def _entry(self, index: int) -> None:
        self._read.add(index)
        entry = self._entries[index]
        if model := text_of(entry.get("model")):
            self._gather.model = model
        match entry.get("type"):
            case "tool.execution":
                given = object_of(parsed(entry.get("arguments")))
                if text_of(entry.get("name")).startswith("web_search"):
                    self._gather.query(given.get("query"))
                    self._gather.searched()
                elif text_of(given.get("url")):
                    self._gather.opened(given.get("url"))
                    self._gather.fetched()
            case "message.output":
                for chunk in chunks(entry.get("content")):
                    if chunk.get("type") == "text":
                        self._gather.say(chunk.get("text"))
                    elif chunk.get("type") == "tool_reference":
                        self._gather.cite(chunk.get("url"), chunk.get("title"), position=self._gather.length)
                if reason := text_of(entry.get("stop_reason")):
                    self._gather.stop_reason = reason
            case "function.call":
                id_ = first_text(entry.get("tool_call_id"), entry.get("id"))
                self._gather.call(id_, entry.get("name"), entry.get("arguments"))

    def _about(self, body: dict[str, Any]) -> None:
        usage = object_of(body.get("usage"))
        made = object_of(usage.get("connectors"))
        self._gather.spent(
            {
                "input_tokens": count(usage.get("prompt_tokens")) + count(usage.get("connector_tokens")),
                "output_tokens": count(usage.get("completion_tokens")),
                "searches": sum(count(number) for name, number in made.items() if name.startswith("web_search")),
            }
        )
