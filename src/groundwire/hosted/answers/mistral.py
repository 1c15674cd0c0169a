"""Answers of Mistral's Conversations API (https://docs.mistral.ai/api/#tag/beta.conversations)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from groundwire.hosted.answers.answer_builder import AnswerBuilder, StreamedParts, WireReader
from groundwire.hosted.answers.openai_chat import Deltas, chunks
from groundwire.hosted.answers.types import count, first_text, items, object_of, parsed, text_of


class ConversationsReader(WireReader):
    """Parses entries: tool executions, and output that mixes text with references to their results."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._entries: dict[int, dict[str, Any]] = {}
        self._contents: defaultdict[int, Deltas] = defaultdict(Deltas)
        self._open = StreamedParts()

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a conversation's response."""
        for index, entry in enumerate(items(body.get("outputs"))):
            self._entries[index] = entry
            self._entry(entry)
        self._about(body)
        self.answer.turn = list(self._entries.values())

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `conversation.response.started` to `conversation.response.done`."""
        kind = text_of(data.get("type")) or name
        index = count(data.get("output_index"))
        if kind == "message.output.delta":
            entry = self._begin(index, "message.output", data)
            entry["role"] = "assistant"
            content = data.get("content")
            self._contents[index].add({"content": content if isinstance(content, str) else [content]})
            for chunk in chunks(content):
                if chunk.get("type") == "text":
                    self.answer.stream_text(chunk.get("text"))
        elif kind.startswith("tool.execution."):
            entry = self._begin(index, "tool.execution", data)
            self._open.add(index, "arguments", data.get("arguments"))
            if kind.endswith(".done"):
                entry["info"] = data.get("info")
                self._close(index)
        elif kind == "function.call.delta":
            self._begin(index, "function.call", data)["tool_call_id"] = data.get("tool_call_id")
            self._open.add(index, "arguments", data.get("arguments"))
        elif kind == "conversation.response.done":
            self._about(data)
            self.complete = True

    def finish(self) -> None:
        """Parse the remaining entries, and build the turn."""
        for index in self._open.indexes:
            self._close(index)
        self.answer.turn = [self._entries[index] for index in sorted(self._entries)]

    def _begin(self, index: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        entry = self._open.begin(index, self._entries.setdefault(index, {"type": kind, "object": "entry"}))
        for name in ("id", "name", "model", "agent_id"):
            if first_text(data.get(name)):
                entry[name] = data[name]
        return entry

    def _close(self, index: int) -> None:
        entry = self._open.end(index)
        if entry is None:
            return
        if index in self._contents:
            entry["content"] = self._contents[index].message().get("content", "")
        self._entry(entry)

    def _entry(self, entry: dict[str, Any]) -> None:
        self.answer.set_model(entry.get("model"))
        match entry.get("type"):
            case "tool.execution":
                arguments = object_of(parsed(entry.get("arguments")))
                if text_of(entry.get("name")).startswith("web_search"):
                    self.answer.add_query(arguments.get("query"))
                    self.answer.count_searches()
                elif text_of(arguments.get("url")):
                    self.answer.add_opened_page(arguments.get("url"))
                    self.answer.count_fetch()
            case "message.output":
                for chunk in chunks(entry.get("content")):
                    if chunk.get("type") == "text":
                        self.answer.add_text(chunk.get("text"))
                    elif chunk.get("type") == "tool_reference":
                        self.answer.add_citation(chunk.get("url"), chunk.get("title"), position=self.answer.length)
                if reason := text_of(entry.get("stop_reason")):
                    self.answer.stop_reason = reason
            case "function.call":
                id_ = first_text(entry.get("tool_call_id"), entry.get("id"))
                self.answer.add_call(id_, entry.get("name"), entry.get("arguments"))

    def _about(self, body: dict[str, Any]) -> None:
        usage = object_of(body.get("usage"))
        uses = object_of(usage.get("connectors"))
        searches = sum(count(number) for name, number in uses.items() if name.startswith("web_search"))
        self.answer.set_usage("mistral", usage, searches)
