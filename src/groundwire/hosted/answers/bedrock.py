"""Answers of Bedrock's Converse API, with Nova's grounding.

The wire format: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html.
"""

from __future__ import annotations

from typing import Any

from groundwire.errors import UnexpectedResponse
from groundwire.hosted.answers.answer_builder import WireReader
from groundwire.hosted.answers.types import first_text, items, object_of, text_of

_GROUNDING = "nova_grounding"
_REFUSALS = frozenset({"content_filtered", "guardrail_intervened"})


class ConverseReader(WireReader):
    """Parses blocks: text, tool uses and their results, citations."""

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        message = object_of(object_of(body.get("output")).get("message"))
        for block in items(message.get("content")):
            self._block(block)
        self._about(body)
        if message:
            self.answer.turn = [message]

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Refuse a stream, which AWS sends in a binary form of its own.

        Raises:
            UnexpectedResponse: always.
        """
        fix = "Call converse, and pass its response to read_answer"
        raise UnexpectedResponse(self.answer.api, "answered with a stream, which is not read", status=200, fix=fix)

    def finish(self) -> None:
        """Do nothing: there is no stream."""

    def _block(self, block: dict[str, Any]) -> None:
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
