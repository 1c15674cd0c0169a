"""Anthropic Messages: a server tool that searches or fetches is carried out here, and answered as the API does.

The client gets `server_tool_use`, its result, and texts with citations; it sends them back as they are. Numbers and
snippets are inside `encrypted_content` and `encrypted_index`, so that every later request finds them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from starlette.responses import Response

from groundwire.agent_loop import CallStarted, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.citations.link_filter import LinkFilter
from groundwire.hosted import Needs, prepare
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult
from groundwire_server.openai.conversations import Said
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import added_up, arguments_in, location_of, said_in
from groundwire_server.openai.upstream import UpstreamAnswer
from groundwire_server.request_json import UpstreamRejected

__all__ = ["CountTokensHandler", "MessagesHandler"]

_SEARCH, _FETCH = "web_search_", "web_fetch_"
_SERVER_NAMES: Final[Mapping[str, str]] = {"web_search": "web_search", "open_page": "web_fetch"}
_OURS = "srvtoolu_gw_"
_CITED = 150  # characters of a quotation, as in the API
_OVER = "Search limit reached"


@dataclass(slots=True)
class _StreamedBlock:
    """A block of the model server that is being received."""

    place: int
    """Its index in the client's message; text after a citation continues at the next index."""
    links: LinkFilter
    cited: CitedText
    gap: str = ""
    """Whitespace after a citation, dropped if another one follows."""
    arguments: str = ""
    said: list[str] = field(default_factory=list)


class MessagesHandler(CompletionHandler):
    """A request for a message."""

    api = "anthropic"
    path = "messages"
    has_own_errors: ClassVar[bool] = True
    absent: ClassVar[str] = (
        "The model server does not have Anthropic's Messages API. Use one that does, such as llama.cpp, Ollama, vLLM, "
        "or LM Studio, or call /v1/chat/completions."
    )

    def __init__(self, *args: Any) -> None:
        self._content: list[dict[str, Any]] = []
        self._local: list[LoopEvent] = []  # local calls, which wait for the numbers of their pages
        self._snippets: dict[str, str] = {}
        self._texts: list[str] = []
        self._searches = self._fetches = 0
        super().__init__(*args)
        self._numbers = dict(_numbers(self.sent))

    @classmethod
    def error(cls, message: str, status: int = 400, *, kind: str = "invalid_request_error", param: str = "") -> bytes:
        """Return an error in the API's format."""
        return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()

    @classmethod
    def wanted(cls, body: Mapping[str, Any]) -> Collection[str]:
        """Return the tools that the request declares."""
        kinds = [str(tool.get("type")) for tool in items(body.get("tools"))]
        prefixes = {"web_search": _SEARCH, "open_page": _FETCH}
        return [name for name, prefix in prefixes.items() if any(kind.startswith(prefix) for kind in kinds)]

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether a request has a server tool that is carried out here; others go on as they are."""
        return bool(cls.wanted(body))

    def _cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request with at most one server tool for searching, and its requirements."""
        tools = [tool for tool in body.get("tools") or () if not str(_type(tool)).startswith(_FETCH)]
        asked = [tool for tool in items(body.get("tools")) if str(tool.get("type")).startswith((_SEARCH, _FETCH))]
        place = next((tool["user_location"] for tool in asked if isinstance(tool.get("user_location"), Mapping)), None)
        if len(tools) < len(body["tools"]) and not any(str(_type(tool)).startswith(_SEARCH) for tool in tools):
            fetch = next(tool for tool in asked if str(tool["type"]).startswith(_FETCH))
            kept = {key: fetch[key] for key in ("allowed_domains", "blocked_domains", "max_uses") if fetch.get(key)}
            tools.append({"type": "web_search_20250305", "name": "web_search", **kept})
        return {**body, "tools": tools}, Needs(location=location_of(place))

    async def _restored(self) -> list[Any]:
        """Return the conversation with server tools converted to function tools for the model server."""
        made: list[Any] = []
        waiting: list[Any] = []
        for message in self.sent:
            content = object_of(message).get("content")
            if object_of(message).get("role") != "assistant" or not isinstance(content, list):
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                made.append({**message, "content": [*waiting, *(blocks or ())]} if waiting else message)
                waiting = []
                continue
            blocks = []
            for block in content:
                kind = str(_type(block))
                result = kind in ("web_search_tool_result", "web_fetch_tool_result") and _is_ours(block)
                if waiting and not result and kind != "tool_use":
                    made += [{"role": "assistant", "content": blocks}, {"role": "user", "content": waiting}]
                    blocks, waiting = [], []
                if result:
                    text = _result_text(block.get("content"))
                    waiting.append({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text})
                elif kind == "server_tool_use" and str(block.get("id", "")).startswith(_OURS):
                    name = next((one for one, other in _SERVER_NAMES.items() if other == block.get("name")), "")
                    blocks.append({"type": "tool_use", "id": block["id"], "name": name, "input": block.get("input")})
                else:
                    blocks.append(_with_marks(block))
            if blocks:
                made.append({**message, "content": blocks})
        return [*made, {"role": "user", "content": waiting}] if waiting else made

    def _said(self) -> tuple[Said, ...]:
        """Return the texts of the conversation, and the numbers in its blocks."""
        return (*said_in(self.sent), Said("", cited=self._numbers))

    async def _begin_round(self) -> None:
        """Start another round, after the blocks of local calls."""
        await super()._begin_round()
        await self._settle()
        self._last: dict[str, Any] = {}  # the message, without its content
        self._ending: tuple[dict[str, Any], bytes] = ({}, b"")  # the event with the stop reason
        self._stop = _event("message_stop", {})
        self._blocks: dict[object, _StreamedBlock | None] = {}  # by their index in this round; None is a local call

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take a whole message, whose blocks become those of the API."""
        for value in _events_in(answer.value):
            await self._piece(value, _event(value["type"], value))
        self._last = answer.value
        self.round_usage = answer.value.get("usage")
        return read_answer("anthropic", answer.value)

    async def _take_unstreamed(self, answer: UpstreamAnswer) -> HostedAnswer:
        return await self._take_whole(answer)

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        self.stream_reader.event(value, event.name)
        await self._piece(value, event.raw)

    async def _piece(self, value: dict[str, Any], raw: bytes) -> None:
        """Forward an event, unchanged if possible, unless it is about a local call or the end."""
        kind, index = value.get("type"), value.get("index")
        if kind == "message_start":
            self._last = object_of(value.get("message"))
            self.round_usage = self._last.get("usage") or {}
            if not self.rounds:
                await self.put(raw)
        elif kind == "message_delta":
            self._ending = value, raw
            self.round_usage = {**(self.round_usage or {}), **(value.get("usage") or {})}
            self._last = {**self._last, **(value.get("delta") or {})}
        elif kind == "message_stop":
            self._stop = raw
        elif kind == "content_block_start":
            given = object_of(value.get("content_block"))
            self._blocks[index] = None
            if given.get("type") != "tool_use" or not self.is_ours(given.get("name")):
                self._blocks[index] = _StreamedBlock(len(self._content), *self._filters())
                self._content.append(dict(given))
                await self.put(_placed(value, len(self._content) - 1, raw))
        elif kind not in ("content_block_delta", "content_block_stop"):
            await self.put(raw)
        elif block := self._blocks.get(index):
            await (self._delta if kind.endswith("delta") else self._end)(block, value, raw)

    async def _delta(self, block: _StreamedBlock, value: dict[str, Any], raw: bytes) -> None:
        delta = object_of(value.get("delta"))
        if delta.get("type") == "citations_delta":
            await self._say_rest(block)  # the text that it is about
        known = self._content[block.place]
        for name in ("thinking", "signature"):
            if isinstance(delta.get(name), str):
                known[name] = known.get(name, "") + delta[name]
        if "citation" in delta:
            known["citations"] = [*(known.get("citations") or ()), delta.get("citation")]
        block.arguments += delta.get("partial_json") or ""
        if delta.get("type") != "text_delta":
            await self.put(_placed(value, block.place, raw))
            return
        text = str(delta.get("text") or "")
        block.said.append(text)
        pieces = block.cited.feed(block.links.feed(text))
        whole = not known.get("citations") and [piece for piece, _ in pieces] == [text]
        await self._say(block, pieces, _placed(value, block.place, raw) if whole else b"")

    async def _end(self, block: _StreamedBlock, value: dict[str, Any], raw: bytes) -> None:
        await self._say_rest(block)
        if block.said:
            self._texts.append("".join(block.said))
        if block.arguments:
            with suppress(ValueError):
                self._content[block.place]["input"] = json.loads(block.arguments)
        await self.put(_placed(value, block.place, raw))

    async def _say_rest(self, block: _StreamedBlock) -> None:
        """Send the text that is held back."""
        await self._say(block, [*block.cited.feed(block.links.close()), *block.cited.close()])
        block.links, block.cited = self._filters()

    async def _say(
        self, block: _StreamedBlock, pieces: Sequence[tuple[str, tuple[Source, ...]]], raw: bytes = b""
    ) -> None:
        """Send text and citations; text after a citation is a block of its own."""
        for text, sources in pieces:
            cited = self._content[block.place].get("citations")
            if sources:
                block.gap = ""
            elif cited and not text.strip():
                block.gap += text
                continue
            elif cited:
                await self.put(_event("content_block_stop", {"index": block.place}))
                block.place = len(self._content)
                self._content.append({"type": "text", "text": ""})
                begin = {"index": block.place, "content_block": self._content[-1]}
                await self.put(_event("content_block_start", begin))
                text, block.gap = block.gap + text, ""
            known = self._content[block.place]
            deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": text}] if text else []
            known |= {"text": known.get("text", "") + text} if text else {}
            if sources:
                citations = [self._citation(source) for source in sources]
                known["citations"] = [*(cited or ()), *citations]
                deltas += [{"type": "citations_delta", "citation": one} for one in citations]
            for delta in deltas:
                await self.put(raw or _event("content_block_delta", {"index": block.place, "delta": delta}))

    def _filters(self) -> tuple[LinkFilter, CitedText]:
        return self.link_filter(), CitedText(self.ledger)

    def _told(self, event: LoopEvent) -> None:
        self._local.append(event)

    async def _run(self) -> Run:
        run = await super()._run()
        await self._settle()
        return run

    def _answered(self) -> list[str]:
        return self._texts

    async def _last_events(self, run: Run) -> None:
        message = self._response(run)
        came, raw = self._ending
        delta = {**(came.get("delta") or {"stop_sequence": message.get("stop_sequence")})}
        delta["stop_reason"] = message["stop_reason"]
        made = {"type": "message_delta", **came, "delta": delta}
        if "usage" in message and (self._changed or not came):
            made["usage"] = message["usage"]
        await self.put(raw if made == came else _event("message_delta", made))
        await self.put(self._stop)

    def _failed(self, error: UpstreamRejected) -> bytes:
        return _event("error", json.loads(self.error(error.message(), kind="api_error")))

    def _response(self, run: Run) -> dict[str, Any]:
        reason = self._last.get("stop_reason")
        if run.stop in ("rounds", "budget"):
            reason = "pause_turn"
        if not self._changed:
            return {**self._last, "content": self._content, "stop_reason": reason}
        uses = {"web_search_requests": self._searches, "web_fetch_requests": self._fetches}
        usage = {
            **(added_up(self.usage, self.round_usage) or {"input_tokens": 0, "output_tokens": 0}),
            "server_tool_use": uses,
        }
        return {**self._last, "content": self._content, "stop_reason": reason, "usage": usage}

    @property
    def _changed(self) -> bool:
        """Whether the proxy added anything to the response."""
        return self.rounds > 1 or bool(self._searches or self._fetches)

    async def _settle(self) -> None:
        """Show local calls as the API shows its own, once their pages have numbers."""
        for event in self._local:
            name, id_ = _SERVER_NAMES[event.call.name], f"{_OURS}{event.call.id}"
            block: dict[str, Any]
            if isinstance(event, CallStarted):
                block = {"type": "server_tool_use", "id": id_, "name": name, "input": arguments_in(event.call)}
            else:
                kind = f"{name}_tool_result"
                block = {"type": kind, "tool_use_id": id_, "content": self._result(kind, event.result)}
            self._content.append(block)
            for value in _block_events(len(self._content) - 1, block):
                await self.put(_event(value["type"], value))
        self._local.clear()

    def _result(self, kind: str, result: ToolResult) -> Any:
        """Return the content of the block of a result."""
        if isinstance(result, WebSearchToolResult) and result.status == "success":
            self._searches += 1
            self._snippets |= {row.url: row.snippet for row in result.results}
            return [
                {
                    "type": "web_search_result",
                    "url": row.url,
                    "title": row.title,
                    "encrypted_content": self._sealed(row.url, row.snippet),
                    "page_age": row.published,
                }
                for row in result.results
            ]
        if isinstance(result, OpenPageToolResult) and result.status == "success":
            self._fetches += 1
            self._snippets.setdefault(result.final_url or result.url, result.content)
            source = {"type": "text", "media_type": "text/plain", "data": result.content}
            document = {"type": "document", "title": result.title, "citations": None, "source": source}
            page = {"type": "web_fetch_result", "url": result.final_url or result.url, "retrieved_at": None}
            return {**page, "content": document}
        code = "max_uses_exceeded" if result.error.startswith(_OVER) else "unavailable"
        code = "url_not_accessible" if isinstance(result, OpenPageToolResult) else code
        return {"type": f"{kind}_error", "error_code": code}

    def _sealed(self, url: str, snippet: str = "") -> str:
        """Return a page's number and a snippet, in place of the API's encrypted content."""
        made = json.dumps([self.ledger.number(url), url, snippet])
        return base64.b64encode(made.encode("utf-8", "surrogatepass")).decode()

    def _citation(self, source: Source) -> dict[str, Any]:
        return {
            "type": "web_search_result_location",
            "url": source.url,
            "title": source.title,
            "encrypted_index": self._sealed(source.url),
            "cited_text": self._snippets.get(source.url, "")[:_CITED],
        }


class CountTokensHandler(MessagesHandler):
    """A request to count the tokens of a message, including the local tools."""

    path = "messages/count_tokens"

    async def answer(self) -> Response:
        """Forward the request with the tools of the model."""
        request = prepare(self.body, self.plan, tools=self.tools)
        made = await self.context.upstream.post(self.target, self.headers, request)
        return Response(made.data, headers=dict(made.headers))


def _type(block: object) -> object:
    return object_of(block).get("type")


def _is_ours(block: Mapping[str, Any]) -> bool:
    return str(block.get("tool_use_id", "")).startswith(_OURS)


def _opened(sealed: object) -> tuple[int, str, str] | None:
    """Decode `_sealed`; None for anything else."""
    try:
        number, url, snippet = json.loads(base64.b64decode(str(sealed), validate=True))
    except (ValueError, TypeError):
        return None
    return (number, url, snippet) if isinstance(number, int) and isinstance(url, str) else None


def _numbers(messages: object) -> Iterator[tuple[int, str]]:
    """Yield the page numbers in the blocks of a conversation, with their URLs."""
    waiting = [messages]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, Mapping):
            for key in ("encrypted_index", "encrypted_content"):
                if key in one and (opened := _opened(one[key])):
                    yield opened[0], opened[1]
            waiting += [one[key] for key in ("citations", "content") if isinstance(one.get(key), list)]


def _with_marks(block: Any) -> Any:
    """Return a text with its citations written as markers."""
    if _type(block) != "text" or not block.get("citations"):
        return block
    opened = [_opened(one.get("encrypted_index")) for one in block["citations"] if isinstance(one, Mapping)]
    marks = "".join(f"[{one[0]}]" for one in opened if one)
    return {"type": "text", "text": f"{block.get('text', '')} {marks}" if marks else str(block.get("text", ""))}


def _result_text(content: Any) -> str:
    """Return the result of a server tool as text for a model."""
    if isinstance(content, list):
        rows = [(row, _opened(row.get("encrypted_content"))) for row in content if isinstance(row, Mapping)]
        return "\n\n".join(
            f"{opened[0]}. {row.get('title')}\n   URL: {opened[1]}\n   {opened[2]}" for row, opened in rows if opened
        )
    source = object_of(object_of(content).get("content")).get("source")
    return str(source.get("data")) if isinstance(source, Mapping) else f"It failed: {content}"


def _placed(value: dict[str, Any], place: int, raw: bytes) -> bytes:
    """Return an event with the index of a block in the client's message."""
    return raw if value.get("index") == place else _event(str(value["type"]), {**value, "index": place})


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a block."""
    names = {"text": ("text",), "thinking": ("thinking", "signature")}.get(str(block.get("type")), ())
    texts = {name: block[name] for name in names if name in block}
    deltas = [{"type": f"{name}_delta", name: text} for name, text in texts.items()]
    empty = {**block, **dict.fromkeys(texts, "")}
    if "text" in texts and block.get("citations"):
        deltas += [{"type": "citations_delta", "citation": one} for one in block["citations"]]
        empty["citations"] = []
    elif block.get("type") in ("tool_use", "server_tool_use"):
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}]
        empty["input"] = {}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _events_in(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a message, as of a server that streams it."""
    end = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_start", "message": {**message, "content": [], **dict.fromkeys(end)}}
    for index, block in enumerate(items(message.get("content"))):
        yield from _block_events(index, block)
    usage = {"usage": message["usage"]} if "usage" in message else {}
    yield {"type": "message_delta", "delta": end, **usage}
    yield {"type": "message_stop"}


def _event(kind: str, data: Mapping[str, Any]) -> bytes:
    """Return an event of this kind."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
