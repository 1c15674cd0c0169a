"""Answers of Bedrock's Converse API, with Nova's grounding.

The wire format: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import AnswerBuilder, StreamedParts, WireReader
from groundwire.hosted.answers.types import count, first_text, items, object_of, parsed, text_of

__all__ = ["ConverseReader"]

_GROUNDING = "nova_grounding"
_REFUSALS = frozenset({"content_filtered", "guardrail_intervened"})


class ConverseReader(WireReader):
    """Parses blocks: text, tool uses and their results, citations."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._blocks: list[dict[str, Any]] = []
        self._role = "assistant"
        self._open = StreamedParts()

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        message = object_of(object_of(body.get("output")).get("message"))
        for block in items(message.get("content")):
            self._block(block)
        self._about(body)
        if message:
            self.answer.turn = [message]

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `messageStart` to `metadata`.

        The event's data may be bare, as on the wire, or nested under the event's name, as in AWS's libraries.
        """
        if not name and len(data) == 1:
            name, data = next((key, object_of(value)) for key, value in data.items())
        index = count(data.get("contentBlockIndex"))
        if name == "messageStart":
            self._role = text_of(data.get("role")) or self._role
        elif name == "contentBlockStart":
            self._open.begin(index, dict(object_of(data.get("start"))))
        elif name == "contentBlockDelta":
            self._delta(index, object_of(data.get("delta")))
        elif name == "contentBlockStop":
            self._close(index)
        elif name in {"messageStop", "metadata"}:
            self._about(data)
        elif name.endswith("Exception"):
            self.answer.add_tool_error("", name, data.get("message"))

    def finish(self) -> None:
        """Parse the blocks that were not closed, and build the turn."""
        for index in self._open.indexes:
            self._close(index)
        if self._blocks:
            self.answer.turn = [{"role": self._role, "content": self._blocks}]

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        part = self._open.begin(index, {})
        self.answer.stream_text(delta.get("text"))
        self._open.add(index, "text", delta.get("text"))
        self._open.add(index, "citations", delta.get("citation"))
        self._open.add(index, "input", object_of(delta.get("toolUse")).get("input"))
        self._open.add(index, "content", *items(delta.get("toolResult")))
        thought = object_of(delta.get("reasoningContent"))
        self._open.add(index, "reasoning.text", thought.get("text"))
        part |= {f"reasoning.{name}": value for name, value in thought.items() if name != "text"}

    def _close(self, index: int) -> None:
        part = self._open.end(index) or {}
        text, citations = text_of(part.get("text")), part.get("citations")
        thoughts = {name.partition(".")[2]: part[name] for name in part if name.startswith("reasoning.")}
        if citations:
            cited: dict[str, Any] = {"citations": citations}
            block: dict[str, Any] = {"citationsContent": {"content": [{"text": text}], **cited} if text else cited}
        elif "toolUse" in part:
            written = {"input": parsed(part["input"]) or {}} if part.get("input") else {}
            block = {"toolUse": {**object_of(part["toolUse"]), **written}}
        elif "toolResult" in part:
            block = {"toolResult": {**object_of(part["toolResult"]), "content": part.get("content", [])}}
        elif thoughts:
            signed = {name: thoughts[name] for name in ("text", "signature") if name in thoughts}
            others = {name: value for name, value in thoughts.items() if name not in signed}
            block = {"reasoningContent": {"reasoningText": signed, **others} if signed else others}
        elif text:
            block = {"text": text}
        else:
            return
        self._block(block)

    def _block(self, block: dict[str, Any]) -> None:
        self._blocks.append(block)
        if "text" in block:
            self.answer.add_text(block.get("text"))
        elif use := object_of(block.get("toolUse")):
            self._use(use)
        elif result := object_of(block.get("toolResult")):
            if result.get("status") == "error":
                content = next(items(result.get("content")), {})
                self.answer.add_tool_error("web_search", "error", content.get("text"))
        elif about := object_of(block.get("citationsContent")):
            self._cited(about)

    def _use(self, use: dict[str, Any]) -> None:
        if use.get("type") == "server_tool_use" or use.get("name") == _GROUNDING:
            self.answer.add_query(object_of(use.get("input")).get("query"))
            self.answer.count_searches()
        else:
            self.answer.add_call(use.get("toolUseId"), use.get("name"), use.get("input"))

    def _cited(self, about: dict[str, Any]) -> None:
        start, end = self.answer.add_text("".join(text_of(piece.get("text")) for piece in items(about.get("content"))))
        for citation in items(about.get("citations")):
            web = object_of(object_of(citation.get("location")).get("web"))
            self.answer.add_citation(
                first_text(web.get("url"), citation.get("source")),
                citation.get("title"),
                cited_text=" ".join(text_of(piece.get("text")) for piece in items(citation.get("sourceContent"))),
                span=(start, end) if end > start else None,
                covers="block",
                position=end,
            )

    def _about(self, body: dict[str, Any]) -> None:
        self.answer.set_usage("bedrock", object_of(body.get("usage")))
        if (reason := self.stop(body.get("stopReason"))) in _REFUSALS:
            self.answer.refuse(reason)
