"""Answers of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundwire.hosted.answers.answer_builder import Gather
from groundwire.hosted.answers.types import HostedError, count, items, object_of, parsed, text_of

__all__ = ["AnthropicReader"]

# the field that each type of delta extends
_GROWING: Mapping[str, str] = {"text_delta": "text", "thinking_delta": "thinking"}
_TOOLS: Final[Mapping[str, str]] = {"web_search_tool_result": "web_search", "web_fetch_tool_result": "web_fetch"}


class AnthropicReader:
    """Parses messages: blocks of text, searches, fetches, and their results."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._fetched: list[tuple[str, str]] = []  # URL and title, in the order of document_index
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._open: dict[int, dict[str, list[str]]] = {}
        self._content: list[Any] = []

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a message."""
        for block in items(body.get("content")):
            self._block(block)
        content = body.get("content")
        self._content = content if isinstance(content, list) else []
        self._about(body)
        self._stop(body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `message_start` to `message_stop`."""
        kind = text_of(data.get("type")) or name
        index = count(data.get("index"))
        if kind == "message_start":
            message = object_of(data.get("message"))
            self._about(message)
            for block in items(message.get("content")):
                self._take(block)
        elif kind == "content_block_start":
            self._close(index)
            block = dict(object_of(data.get("content_block")))
            self._blocks[index] = block
            if block.get("type") == "text":
                self._gather.delta(block.get("text"))
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
        for index in list(self._blocks):
            self._close(index)
        if self._content:
            self._gather.turn = [{"role": "assistant", "content": self._content}]

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self._blocks.get(index)
        if block is None:  # its start was lost
            block = self._blocks[index] = {"type": "text"} if "text" in delta else {}
        kind = text_of(delta.get("type"))
        if (field := _GROWING.get(kind)) is not None:
            piece = text_of(delta.get(field))
            self._open.setdefault(index, {}).setdefault(field, []).append(piece)
            if field == "text":
                self._gather.delta(piece)
        elif kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(text_of(delta.get("partial_json")))
        elif kind == "citations_delta":
            citations = block.get("citations")
            # A new list: the one in the event belongs to the caller.
            block["citations"] = [*(citations if isinstance(citations, list) else []), delta.get("citation")]
        elif kind == "signature_delta":
            block["signature"] = delta.get("signature")

    def _close(self, index: int) -> None:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        for field, pieces in self._open.pop(index, {}).items():
            block[field] = text_of(block.get(field)) + "".join(pieces)
        written = "".join(self._inputs.pop(index, []))
        if written and isinstance(given := parsed(written), dict):
            block["input"] = given
        self._take(block)

    def _take(self, block: dict[str, Any]) -> None:
        self._content.append(block)
        self._block(block)

    def _block(self, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if kind == "text":
            self._text(block)
        elif kind == "server_tool_use":
            given = object_of(block.get("input"))
            if block.get("name") == "web_search":
                self._gather.query(given.get("query"))
                self._gather.searched()
            elif block.get("name") == "web_fetch":
                self._gather.fetched()
        elif kind == "tool_use":
            self._gather.call(block.get("id"), block.get("name"), block.get("input"))
        elif isinstance(kind, str) and kind in _TOOLS:
            self._result(_TOOLS[kind], block.get("content"))

    def _result(self, tool: str, content: object) -> None:
        for result in items(content if isinstance(content, list) else [content]):
            if "error_code" in result or text_of(result.get("type")).endswith("_error"):
                self._gather.tool_failed(tool, result.get("error_code"), result.get("error_message"))
            elif tool == "web_search":
                self._gather.source(
                    result.get("url"),
                    result.get("title"),
                    snippet=result.get("snippet"),
                    published=result.get("page_age"),
                )
            else:
                title = object_of(result.get("content")).get("title")
                self._fetched.append((text_of(result.get("url")), text_of(title)))
                self._gather.source(result.get("url"), title)
                self._gather.opened(result.get("url"))

    def _text(self, block: dict[str, Any]) -> None:
        span = self._gather.say(block.get("text"))
        for one in items(block.get("citations")):
            kind, url, title = text_of(one.get("type")), one.get("url"), one.get("title")
            if kind == "search_result_location":
                url = one.get("source")
            elif not text_of(url):
                title = one.get("document_title")
                url = self._document(one.get("document_index"), text_of(title))
            covered = span if span[1] > span[0] else None
            self._gather.cite(url, title, cited_text=one.get("cited_text"), span=covered, covers="block")

    def _document(self, index: object, title: str) -> str:
        """Return the URL of a cited document; documents of the request are counted too but not visible here."""
        if isinstance(index, int) and 0 <= index < len(self._fetched):
            url, known = self._fetched[index]
            if not title or title == known:
                return url
        named = [url for url, known in self._fetched if known == title]
        return named[0] if len(named) == 1 else ""

    def _about(self, message: dict[str, Any]) -> None:
        if model := text_of(message.get("model")):
            self._gather.model = model
        usage = object_of(message.get("usage"))
        tools = object_of(usage.get("server_tool_use"))
        read = count(usage.get("input_tokens"))
        if read:
            read += count(usage.get("cache_creation_input_tokens")) + count(usage.get("cache_read_input_tokens"))
        self._gather.spent(
            {
                "input_tokens": read,
                "output_tokens": count(usage.get("output_tokens")),
                "searches": count(tools.get("web_search_requests")),
                "fetches": count(tools.get("web_fetch_requests")),
            }
        )

    def _stop(self, message: dict[str, Any]) -> None:
        reason = text_of(message.get("stop_reason"))
        if not reason:
            return
        self._gather.stop_reason = reason
        self.complete = True
        if reason == "refusal":
            details = object_of(message.get("stop_details"))
            said = text_of(details.get("explanation"))[:300]
            self._gather.fail(HostedError(code=reason, outcome="blocked", message=said))
