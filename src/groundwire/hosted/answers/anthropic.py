"""Answers of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.hosted.answers.answer_builder import AnswerBuilder, StreamedParts, WireReader
from groundwire.hosted.answers.types import count, items, object_of, parsed, text_of

# the field that each type of delta extends, and where the delta has the piece
_GROWING: Final[Mapping[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
    "citations_delta": ("citations", "citation"),
}
_TOOLS: Final[Mapping[str, str]] = {"web_search_tool_result": "web_search", "web_fetch_tool_result": "web_fetch"}


class AnthropicReader(WireReader):
    """Parses messages: blocks of text, searches, fetches, and their results."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._fetched: list[tuple[str, str]] = []  # URL and title, in the order of document_index
        self._open = StreamedParts()
        self._content: list[Any] = []

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a message."""
        self._begin(body)
        self._stop(body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `message_start` to `message_stop`."""
        kind = text_of(data.get("type")) or name
        index = count(data.get("index"))
        if kind == "message_start":
            self._begin(object_of(data.get("message")))
        elif kind == "content_block_start":
            self._close(index)
            block = self._open.begin(index, dict(object_of(data.get("content_block"))))
            if block.get("type") == "text":
                self.answer.stream_text(block.get("text"))
        elif kind == "content_block_delta":
            self._delta(index, object_of(data.get("delta")))
        elif kind == "content_block_stop":
            self._close(index)
        elif kind == "message_delta":
            self._about(data)
            self._stop(object_of(data.get("delta")))
        elif kind == "message_stop":
            self.complete = True

    def finish(self) -> None:
        """Parse the blocks that were not closed, and build the turn."""
        for index in self._open.indexes:
            self._close(index)
        if self._content:
            self.answer.turn = [{"role": "assistant", "content": self._content}]

    def _begin(self, message: dict[str, Any]) -> None:
        self._about(message)
        for block in items(message.get("content")):
            self._content.append(block)
            self._block(block)

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self._open.begin(index, {"type": "text"} if "text" in delta else {})  # if its start was lost
        field, name = _GROWING.get(text_of(delta.get("type")), ("", ""))
        if field:
            self._open.add(index, field, delta.get(name))
        elif delta.get("type") == "compaction_delta":
            block |= {name: value for name, value in delta.items() if name != "type"}
        if field == "text":
            self.answer.stream_text(delta.get("text"))

    def _close(self, index: int) -> None:
        block = self._open.end(index)
        if block is None:
            return
        if isinstance(block.get("input"), str):
            block["input"] = object_of(parsed(block["input"]))
        self._content.append(block)
        self._block(block)

    def _block(self, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if kind == "text":
            self._text(block)
        elif kind == "server_tool_use":
            if block.get("name") == "web_search":
                self.answer.add_query(object_of(block.get("input")).get("query"))
                self.answer.count_searches()
            elif block.get("name") == "web_fetch":
                self.answer.count_fetch()
        elif kind == "tool_use":
            self.answer.add_call(block.get("id"), block.get("name"), block.get("input"))
        elif isinstance(kind, str) and kind in _TOOLS:
            self._result(_TOOLS[kind], block.get("content"))

    def _result(self, tool: str, content: object) -> None:
        for result in items(content if isinstance(content, list) else [content]):
            if "error_code" in result or text_of(result.get("type")).endswith("_error"):
                self.answer.add_tool_error(tool, result.get("error_code"), result.get("error_message"))
            elif tool == "web_search":
                self.answer.add_sources([result])
            else:
                title = object_of(result.get("content")).get("title")
                self._fetched.append((text_of(result.get("url")), text_of(title)))
                self.answer.add_source(result.get("url"), title)
                self.answer.add_opened_page(result.get("url"))

    def _text(self, block: dict[str, Any]) -> None:
        span = self.answer.add_text(block.get("text"))
        for citation in items(block.get("citations")):
            url, title = citation.get("url"), citation.get("title")
            if citation.get("type") == "search_result_location":
                url = citation.get("source")
            elif not text_of(url):
                title = citation.get("document_title")
                url = self._document(citation.get("document_index"), text_of(title))
            covered = span if span[1] > span[0] else None
            self.answer.add_citation(url, title, cited_text=citation.get("cited_text"), span=covered, covers="block")

    def _document(self, index: object, title: str) -> str:
        """Return the URL of a cited document; documents of the request are counted too but not visible here."""
        if isinstance(index, int) and 0 <= index < len(self._fetched):
            url, page_title = self._fetched[index]
            if not title or title == page_title:
                return url
        urls = [url for url, page_title in self._fetched if page_title == title]
        return urls[0] if len(urls) == 1 else ""

    def _about(self, message: dict[str, Any]) -> None:
        self.answer.set_model(message.get("model"))
        self.answer.set_usage("anthropic", object_of(message.get("usage")))

    def _stop(self, message: dict[str, Any]) -> None:
        if self.stop(message.get("stop_reason")) == "refusal":
            self.answer.refuse("refusal", object_of(message.get("stop_details")).get("explanation"))
