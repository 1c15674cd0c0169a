"""A streamed message of Anthropic's API: blocks of the model server become blocks for the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.citations.link_filter import LinkFilter
from groundwire.models import Source

__all__ = ["StreamedRound", "cited_blocks", "event_of", "parts_of"]


@dataclass(slots=True)
class _StreamedBlock:
    """A block of the model server."""

    place: int
    """Its index in the client's message; text after a citation continues at the next index."""
    links: LinkFilter
    cited: CitedText
    gap: str = ""
    """Whitespace after a citation, dropped if another one follows."""
    arguments: str = ""
    said: list[str] = field(default_factory=list)


class StreamedRound:
    """One message of the model server: its events are forwarded without local calls and without the end.

    Args:
        content: The blocks of the client's message, to which blocks are added.
        first: Whether it is the first round.
        is_ours: Tells whether a call is not for the client.
        block: Creates the filters of a text block: for links and for markers.
        citation: Returns the citation of a page.
    """

    def __init__(
        self,
        content: list[dict[str, Any]],
        *,
        first: bool,
        is_ours: Callable[[object], bool],
        block: Callable[[], tuple[LinkFilter, CitedText]],
        citation: Callable[[Source], dict[str, Any]],
    ) -> None:
        self.message: dict[str, Any] = {}
        """The message at its start."""
        self.ending: tuple[dict[str, Any], bytes] = ({}, b"")
        """The event with the stop reason, and its bytes."""
        self.stop: bytes = event_of("message_stop", {})
        """The last event."""
        self.texts: list[str] = []
        """The texts of the model."""
        self._content = content
        self._first = first
        self._is_ours = is_ours
        self._block = block
        self._citation = citation
        self._blocks: dict[object, _StreamedBlock | None] = {}

    def take(self, data: dict[str, Any], raw: bytes) -> Iterator[bytes]:
        """Take an event and yield the events for the client, unchanged if possible."""
        kind = data.get("type")
        if kind == "message_start":
            message = data.get("message")
            self.message = message if isinstance(message, dict) else {}
            if self._first:
                yield raw
        elif kind == "message_delta":
            self.ending = data, raw
        elif kind == "message_stop":
            self.stop = raw
        elif kind == "content_block_start":
            yield from self._begin(data, raw)
        elif kind in ("content_block_delta", "content_block_stop"):
            block = self._blocks.get(data.get("index"))
            if block is not None:
                yield from (self._delta if kind.endswith("delta") else self._end)(block, data, raw)
        else:
            yield raw

    def _begin(self, data: dict[str, Any], raw: bytes) -> Iterator[bytes]:
        given = data.get("content_block")
        given = given if isinstance(given, dict) else {}
        if given.get("type") == "tool_use" and self._is_ours(given.get("name")):
            self._blocks[data.get("index")] = None
            return
        self._blocks[data.get("index")] = _StreamedBlock(len(self._content), *self._block())
        self._content.append(dict(given))
        yield self._placed(data, len(self._content) - 1, raw)

    def _delta(self, block: _StreamedBlock, data: dict[str, Any], raw: bytes) -> Iterator[bytes]:
        delta = data.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        known = self._content[block.place]
        for name in ("thinking", "signature"):
            if isinstance(delta.get(name), str):
                known[name] = known.get(name, "") + delta[name]
        if delta.get("type") == "citations_delta":
            known["citations"] = [*(known.get("citations") or ()), delta.get("citation")]
        block.arguments += delta.get("partial_json") or ""
        if delta.get("type") != "text_delta":
            yield self._placed(data, block.place, raw)
            return
        text = str(delta.get("text") or "")
        block.said.append(text)
        pieces = block.cited.feed(block.links.feed(text))
        whole = not known.get("citations") and [piece for piece, _ in pieces] == [text]
        yield from self._say(block, pieces, self._placed(data, block.place, raw) if whole else b"")

    def _end(self, block: _StreamedBlock, data: dict[str, Any], raw: bytes) -> Iterator[bytes]:
        pieces = [*block.cited.feed(block.links.close()), *block.cited.close()]
        yield from self._say(block, pieces)
        if block.said:
            self.texts.append("".join(block.said))
        if block.arguments:
            with suppress(ValueError):
                self._content[block.place]["input"] = json.loads(block.arguments)
        yield self._placed(data, block.place, raw)

    def _say(
        self, block: _StreamedBlock, pieces: Sequence[tuple[str, tuple[Source, ...]]], raw: bytes = b""
    ) -> Iterator[bytes]:
        """Yield the events of text and citations; text after a citation is a block of its own."""
        for text, sources in pieces:
            cited = self._content[block.place].get("citations")
            if sources:
                block.gap = ""
            elif cited and not text.strip():
                block.gap += text
                continue
            elif cited:
                yield event_of("content_block_stop", {"index": block.place})
                block.place = len(self._content)
                self._content.append({"type": "text", "text": ""})
                yield event_of("content_block_start", {"index": block.place, "content_block": self._content[-1]})
                text, block.gap = block.gap + text, ""
            known = self._content[block.place]
            if text:
                known["text"] = known.get("text", "") + text
                delta = {"type": "text_delta", "text": text}
                yield raw or event_of("content_block_delta", {"index": block.place, "delta": delta})
            for source in sources:
                citation = self._citation(source)
                known["citations"] = [*(known.get("citations") or ()), citation]
                about = {"type": "citations_delta", "citation": citation}
                yield event_of("content_block_delta", {"index": block.place, "delta": about})

    @staticmethod
    def _placed(data: dict[str, Any], place: int, raw: bytes) -> bytes:
        return raw if data.get("index") == place else event_of(str(data["type"]), {**data, "index": place})


def cited_blocks(
    block: dict[str, Any],
    pieces: Sequence[tuple[str, tuple[Source, ...]]],
    citation: Callable[[Source], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a text, split at markers, which become citations.

    Args:
        block: The text block.
        pieces: Its texts, and the pages that the text up to there cites.
        citation: Returns the citation of a page.
    """
    if not any(sources for _, sources in pieces):
        yield block
        return
    made: dict[str, Any] = {**block, "text": ""}
    gap = ""
    for text, sources in pieces:
        if sources:
            made["citations"] = [*(made.get("citations") or ()), *map(citation, sources)]
            gap = ""
        elif made.get("citations") and not text.strip():
            gap += text
        elif made.get("citations"):
            yield made
            made, gap = {"type": "text", "text": gap + text}, ""
        else:
            made["text"] += text
    yield made


def parts_of(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the start of a block in a stream, and the deltas that follow."""
    if block.get("type") == "text":
        deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": block.get("text", "")}]
        deltas += [{"type": "citations_delta", "citation": one} for one in block.get("citations") or ()]
        return {**block, "text": "", **({"citations": []} if block.get("citations") else {})}, deltas
    if block.get("type") in ("tool_use", "server_tool_use"):
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}]
    if block.get("type") == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": block.get("thinking", "")}]
        deltas.append({"type": "signature_delta", "signature": block.get("signature", "")})
        return {**block, "thinking": "", "signature": ""}, deltas
    return block, []


def event_of(kind: str, data: Mapping[str, Any]) -> bytes:
    """Return an event of this kind."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
