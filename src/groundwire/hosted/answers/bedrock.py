"""Answers of Bedrock's Converse API, with Nova's grounding.

The wire format: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

from __future__ import annotations

from typing import Any

from groundwire.hosted.answers.answer_builder import Gather
from groundwire.hosted.answers.types import HostedError, count, first_text, items, object_of, parsed, text_of

__all__ = ["ConverseReader"]

_GROUNDING = "nova_grounding"
_REFUSED = frozenset({"content_filtered", "guardrail_intervened"})


class ConverseReader:
    """Parses blocks: text, tool uses and their results, citations."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._blocks: list[dict[str, Any]] = []
        self._role = "assistant"
        self._text: dict[int, list[str]] = {}
        self._citations: dict[int, list[dict[str, Any]]] = {}
        self._started: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._thoughts: dict[int, dict[str, Any]] = {}
        self._results: dict[int, list[Any]] = {}

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        message = object_of(object_of(body.get("output")).get("message"))
        for block in items(message.get("content")):
            self._block(block)
        self._about(body)
        if message:
            self._gather.turn = [message]

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
            self._started[index] = object_of(data.get("start"))
        elif name == "contentBlockDelta":
            self._delta(index, object_of(data.get("delta")))
        elif name == "contentBlockStop":
            self._close(index)
        elif name in {"messageStop", "metadata"}:
            self._about(data)
        elif name.endswith("Exception"):
            self._gather.tool_failed("", name, data.get("message"))

    def finish(self) -> None:
        """Parse the blocks that were not closed, and build the turn."""
        for index in sorted({*self._started, *self._text, *self._citations, *self._thoughts}):
            self._close(index)
        if self._blocks:
            self._gather.turn = [{"role": self._role, "content": self._blocks}]

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        if "text" in delta:
            self._text.setdefault(index, []).append(text_of(delta.get("text")))
            self._gather.delta(delta.get("text"))
        if "citation" in delta:
            self._citations.setdefault(index, []).append(object_of(delta.get("citation")))
        if "toolUse" in delta:
            self._inputs.setdefault(index, []).append(text_of(object_of(delta.get("toolUse")).get("input")))
        if isinstance(delta.get("toolResult"), list):
            self._results.setdefault(index, []).extend(delta["toolResult"])
        for field, value in object_of(delta.get("reasoningContent")).items():
            known = self._thoughts.setdefault(index, {})
            known[field] = text_of(known.get(field)) + value if isinstance(value, str) and field == "text" else value

    def _close(self, index: int) -> None:
        started = self._started.pop(index, {})
        text = "".join(self._text.pop(index, []))
        citations = self._citations.pop(index, [])
        thoughts = self._thoughts.pop(index, {})
        if citations:
            cited: dict[str, Any] = {"citations": citations}
            block: dict[str, Any] = {"citationsContent": {"content": [{"text": text}], **cited} if text else cited}
        elif "toolUse" in started:
            use = dict(object_of(started["toolUse"]))
            if written := "".join(self._inputs.pop(index, [])):
                use["input"] = parsed(written) or {}
            block = {"toolUse": use}
        elif "toolResult" in started:
            block = {"toolResult": {**object_of(started["toolResult"]), "content": self._results.pop(index, [])}}
        elif thoughts:
            signed = {name: thoughts[name] for name in ("text", "signature") if name in thoughts}
            rest = {name: value for name, value in thoughts.items() if name not in signed}
            block = {"reasoningContent": {"reasoningText": signed, **rest} if signed else rest}
        elif text:
            block = {"text": text}
        else:
            return
        self._block(block)

    def _block(self, block: dict[str, Any]) -> None:
        self._blocks.append(block)
        if "text" in block:
            self._gather.say(block.get("text"))
        elif use := object_of(block.get("toolUse")):
            self._use(use)
        elif result := object_of(block.get("toolResult")):
            if result.get("status") == "error":
                said = next(iter(items(result.get("content"))), {})
                self._gather.tool_failed("web_search", "error", said.get("text"))
        elif about := object_of(block.get("citationsContent")):
            self._cited(about)

    def _use(self, use: dict[str, Any]) -> None:
        given = object_of(use.get("input"))
        if use.get("type") == "server_tool_use" or use.get("name") == _GROUNDING:
            self._gather.query(given.get("query"))
            self._gather.searched()
        else:
            self._gather.call(use.get("toolUseId"), use.get("name"), use.get("input"))

    def _cited(self, about: dict[str, Any]) -> None:
        start, end = self._gather.say("".join(text_of(piece.get("text")) for piece in items(about.get("content"))))
        for one in items(about.get("citations")):
            web = object_of(object_of(one.get("location")).get("web"))
            quoted = " ".join(text_of(piece.get("text")) for piece in items(one.get("sourceContent")))
            self._gather.cite(
                first_text(web.get("url"), one.get("source")),
                one.get("title"),
                cited_text=quoted,
                span=(start, end) if end > start else None,
                covers="block",
                position=end,
            )

    def _about(self, body: dict[str, Any]) -> None:
        usage = object_of(body.get("usage"))
        cached = count(usage.get("cacheReadInputTokens")) + count(usage.get("cacheWriteInputTokens"))
        read = count(usage.get("inputTokens"))
        self._gather.spent({"input_tokens": read and read + cached, "output_tokens": count(usage.get("outputTokens"))})
        reason = text_of(body.get("stopReason"))
        if reason:
            self.complete = True
            self._gather.stop_reason = reason
        if reason in _REFUSED:
            self._gather.fail(HostedError(code=reason, outcome="blocked"))
