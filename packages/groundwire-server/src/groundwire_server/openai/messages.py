"""Anthropic Messages: a server tool that searches or fetches is carried out here, and answered as the API does.

The client gets `server_tool_use`, its result, and texts with citations, which it sends back as they are. Numbers and
snippets of pages are inside `encrypted_content` and `encrypted_index`, so that every later request finds them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final

from starlette.responses import Response

from groundwire.agent_loop import CallStarted, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.citations.link_filter import LinkFilter
from groundwire.hosted import Needs, prepare
from groundwire.hosted.answers import HostedAnswer, HostedCall, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of
from groundwire.models import Source
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult
from groundwire_server.error_body import Failed
from groundwire_server.openai.conversations import Utterance
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import arguments_in, location_of, sum_usage, utterances_in
from groundwire_server.openai.upstream import UpstreamAnswer
from groundwire_server.request_json import UpstreamRejected, write_json

_ERROR_TYPES: Final[Mapping[int, str]] = {400: "invalid_request_error", 404: "not_found_error"}
_SEARCH, _FETCH = "web_search_", "web_fetch_"  # prefixes of the types of server tools, which end in a date


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
    texts: list[str] = field(default_factory=list)


class MessagesHandler(CompletionHandler):
    """A request for a message."""

    api = "anthropic"
    path = "messages"
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
        self._numbers = dict(sealed_pages(self.messages))

    @classmethod
    def error(cls, failure: Failed) -> dict[str, Any]:
        """Return an error in the API's format."""
        kind = _ERROR_TYPES.get(failure.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": failure.problem.message}}

    @classmethod
    def requested_tools(cls, body: Mapping[str, Any]) -> Collection[str]:
        """Return the tools that the request declares."""
        kinds = [block_type(tool) for tool in items(body.get("tools"))]
        prefixes = {"web_search": _SEARCH, "open_page": _FETCH}
        return [name for name, prefix in prefixes.items() if any(kind.startswith(prefix) for kind in kinds)]

    @classmethod
    def takes(cls, body: Mapping[str, Any]) -> bool:
        """Whether a request has a server tool that is carried out here; others go on as they are."""
        return bool(cls.requested_tools(body))

    def _extract_needs(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request with at most one server tool for searching, and its requirements."""
        tools = [tool for tool in body.get("tools") or () if not block_type(tool).startswith(_FETCH)]
        server_tools = [tool for tool in items(body.get("tools")) if block_type(tool).startswith((_SEARCH, _FETCH))]
        places = [tool["user_location"] for tool in server_tools if isinstance(tool.get("user_location"), Mapping)]
        if len(tools) < len(body["tools"]) and not any(block_type(tool).startswith(_SEARCH) for tool in tools):
            fetch = next(tool for tool in server_tools if block_type(tool).startswith(_FETCH))
            options = {key: fetch[key] for key in ("allowed_domains", "blocked_domains", "max_uses") if fetch.get(key)}
            tools.append({"type": "web_search_20250305", "name": "web_search", **options})
        return {**body, "tools": tools}, Needs(location=location_of(next(iter(places), None)))

    async def _restore_history(self) -> list[Any]:
        """Return the conversation with server tools converted to function tools for the model server."""
        return with_function_tools(self.messages)

    def _utterances(self) -> tuple[Utterance, ...]:
        """Return the texts of the conversation, and the numbers in its blocks."""
        return (*utterances_in(self.messages), Utterance("", cited=self._numbers))

    async def _begin_round(self) -> None:
        """Start another round, after the blocks of local calls."""
        await super()._begin_round()
        await self._settle()
        self._last: dict[str, Any] = {}  # the message, without its content
        self._ending: tuple[dict[str, Any], bytes] = ({}, b"")  # the event with the stop reason
        self._stop = encode_event("message_stop", {})
        self._blocks: dict[object, _StreamedBlock | None] = {}  # by their index in this round; None is a local call

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        """Take a whole message, whose blocks become those of the API."""
        for value in message_events(answer.value):
            await self._piece(value, encode_event(value["type"], value))
        self._last = answer.value
        self.round_usage = answer.value.get("usage")
        return read_answer("anthropic", answer.value)

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
            beginning = object_of(value.get("content_block"))
            self._blocks[index] = None
            if beginning.get("type") != "tool_use" or not self.is_ours(beginning.get("name")):
                self._blocks[index] = _StreamedBlock(len(self._content), *self._filters())
                self._content.append(dict(beginning))
                await self.put(placed_event(value, len(self._content) - 1, raw))
        elif kind not in ("content_block_delta", "content_block_stop"):
            await self.put(raw)
        elif block := self._blocks.get(index):
            await (self._delta if kind.endswith("delta") else self._end)(block, value, raw)

    async def _delta(self, block: _StreamedBlock, value: dict[str, Any], raw: bytes) -> None:
        delta = object_of(value.get("delta"))
        if delta.get("type") == "citations_delta":
            await self._say_rest(block)  # the text that it is about
        content = self._content[block.place]
        for name in ("thinking", "signature"):
            if isinstance(delta.get(name), str):
                content[name] = content.get(name, "") + delta[name]
        if "citation" in delta:
            content["citations"] = [*(content.get("citations") or ()), delta.get("citation")]
        block.arguments += delta.get("partial_json") or ""
        if delta.get("type") != "text_delta":
            await self.put(placed_event(value, block.place, raw))
            return
        text = str(delta.get("text") or "")
        block.texts.append(text)
        pieces = block.cited.feed(block.links.feed(text))
        is_unchanged = not content.get("citations") and [piece for piece, _ in pieces] == [text]
        await self._say(block, pieces, placed_event(value, block.place, raw) if is_unchanged else b"")

    async def _end(self, block: _StreamedBlock, value: dict[str, Any], raw: bytes) -> None:
        await self._say_rest(block)
        if block.texts:
            self._texts.append("".join(block.texts))
        if block.arguments:
            with suppress(ValueError):
                self._content[block.place]["input"] = json.loads(block.arguments)
        await self.put(placed_event(value, block.place, raw))

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
                await self.put(encode_event("content_block_stop", {"index": block.place}))
                block.place = len(self._content)
                self._content.append({"type": "text", "text": ""})
                begin = {"index": block.place, "content_block": self._content[-1]}
                await self.put(encode_event("content_block_start", begin))
                text, block.gap = block.gap + text, ""
            content = self._content[block.place]
            deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": text}] if text else []
            content |= {"text": content.get("text", "") + text} if text else {}
            if sources:
                citations = [
                    citation(source, self.ledger.number(source.url), self._snippets.get(source.url, ""))
                    for source in sources
                ]
                content["citations"] = [*(cited or ()), *citations]
                deltas += [{"type": "citations_delta", "citation": note} for note in citations]
            for delta in deltas:
                await self.put(raw or encode_event("content_block_delta", {"index": block.place, "delta": delta}))

    def _filters(self) -> tuple[LinkFilter, CitedText]:
        return self.link_filter(), CitedText(self.ledger)

    def _record_call(self, event: LoopEvent) -> None:
        self._local.append(event)

    async def _run(self) -> Run:
        run = await super()._run()
        await self._settle()
        return run

    def _answer_texts(self) -> list[str]:
        return self._texts

    async def _last_events(self, run: Run) -> None:
        message = self._response(run)
        came, raw = self._ending
        delta = {**(came.get("delta") or {"stop_sequence": message.get("stop_sequence")})}
        delta["stop_reason"] = message["stop_reason"]
        event = {"type": "message_delta", **came, "delta": delta}
        if "usage" in message and (self._changed or not came):
            event["usage"] = message["usage"]
        await self.put(raw if event == came else encode_event("message_delta", event))
        await self.put(self._stop)

    def _error_event(self, error: UpstreamRejected) -> bytes:
        return encode_event("error", self._error_value(error))

    def _response(self, run: Run) -> dict[str, Any]:
        reason = self._last.get("stop_reason")
        if run.stop in ("rounds", "budget"):
            reason = "pause_turn"
        if not self._changed:
            return {**self._last, "content": self._content, "stop_reason": reason}
        uses = {"web_search_requests": self._searches, "web_fetch_requests": self._fetches}
        usage = {
            **(sum_usage(self.usage, self.round_usage) or {"input_tokens": 0, "output_tokens": 0}),
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
            if isinstance(event, CallStarted):
                block = call_block(event.call)
            else:
                block = result_block(event.call, event.result, self.ledger.number)
                self._count(event.result)
            self._content.append(block)
            for value in block_events(len(self._content) - 1, block):
                await self.put(encode_event(value["type"], value))
        self._local.clear()

    def _count(self, result: ToolResult) -> None:
        """Count a successful call, and keep what its pages can be quoted with."""
        if isinstance(result, WebSearchToolResult) and result.status == "success":
            self._searches += 1
            self._snippets |= {row.url: row.snippet for row in result.results}
        elif isinstance(result, OpenPageToolResult) and result.status == "success":
            self._fetches += 1
            self._snippets.setdefault(result.final_url or result.url, result.content)


class CountTokensHandler(MessagesHandler):
    """A request to count the tokens of a message, including the local tools."""

    path = "messages/count_tokens"

    async def answer(self) -> Response:
        """Forward the request with the tools of the model."""
        request = write_json(prepare(self.body, self.plan, tools=self.tools))
        async with self.context.upstream.ask("POST", self.target, self.headers, request) as response:
            answer = await self.context.upstream.answer(response)
        return Response(answer.data, headers={**answer.headers, **self.notices})


def placed_event(value: dict[str, Any], place: int, raw: bytes) -> bytes:
    """Return an event with the index of a block in the client's message."""
    return raw if value.get("index") == place else encode_event(str(value["type"]), {**value, "index": place})


def block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a block."""
    names = {"text": ("text",), "thinking": ("thinking", "signature")}.get(str(block.get("type")), ())
    texts = {name: block[name] for name in names if name in block}
    deltas = [{"type": f"{name}_delta", name: text} for name, text in texts.items()]
    empty = {**block, **dict.fromkeys(texts, "")}
    if "text" in texts and block.get("citations"):
        deltas += [{"type": "citations_delta", "citation": note} for note in block["citations"]]
        empty["citations"] = []
    elif block.get("type") in ("tool_use", "server_tool_use"):
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}]
        empty["input"] = {}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def message_events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a message, as of a server that streams it."""
    end = {name: message.get(name) for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_start", "message": {**message, "content": [], **dict.fromkeys(end)}}
    for index, block in enumerate(items(message.get("content"))):
        yield from block_events(index, block)
    usage = {"usage": message["usage"]} if "usage" in message else {}
    yield {"type": "message_delta", "delta": end, **usage}
    yield {"type": "message_stop"}


def encode_event(kind: str, data: Mapping[str, Any]) -> bytes:
    """Return an event of this kind."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


_SERVER_TOOLS: Final[Mapping[str, str]] = MappingProxyType({"web_search": "web_search", "open_page": "web_fetch"})
_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType({tool: function for function, tool in _SERVER_TOOLS.items()})
_RESULT_TYPES = frozenset({"web_search_tool_result", "web_fetch_tool_result"})
_ID_PREFIX = "srvtoolu_gw_"  # of the proxy's calls; those of Anthropic's own server stay as they are
_QUOTATION_CHARS = 150  # as in the API
_LIMIT_ERROR = "Search limit reached"


def block_type(block: object) -> str:
    """Return the type of a content block, empty if it has none."""
    return str(object_of(block).get("type") or "")


def call_block(call: HostedCall) -> dict[str, Any]:
    """Return the block of a local call."""
    name = _SERVER_TOOLS[call.name]
    return {"type": "server_tool_use", "id": f"{_ID_PREFIX}{call.id}", "name": name, "input": arguments_in(call)}


def result_block(call: HostedCall, result: ToolResult, number: Callable[[str], int]) -> dict[str, Any]:
    """Return the block of the result of a local call.

    Args:
        call: The call.
        result: Its result.
        number: Returns the number of a page by its URL.
    """
    kind = f"{_SERVER_TOOLS[call.name]}_tool_result"
    return {"type": kind, "tool_use_id": f"{_ID_PREFIX}{call.id}", "content": _result_content(kind, result, number)}


def _result_content(kind: str, result: ToolResult, number: Callable[[str], int]) -> Any:
    if isinstance(result, WebSearchToolResult) and result.status == "success":
        return [
            {
                "type": "web_search_result",
                "url": row.url,
                "title": row.title,
                "encrypted_content": _seal(number(row.url), row.url, row.snippet),
                "page_age": row.published,
            }
            for row in result.results
        ]
    if isinstance(result, OpenPageToolResult) and result.status == "success":
        source = {"type": "text", "media_type": "text/plain", "data": result.content}
        document = {"type": "document", "title": result.title, "citations": None, "source": source}
        page = {"type": "web_fetch_result", "url": result.final_url or result.url, "retrieved_at": None}
        return {**page, "content": document}
    code = "max_uses_exceeded" if result.error.startswith(_LIMIT_ERROR) else "unavailable"
    code = "url_not_accessible" if isinstance(result, OpenPageToolResult) else code
    return {"type": f"{kind}_error", "error_code": code}


def citation(source: Source, number: int, snippet: str) -> dict[str, Any]:
    """Return a citation of a page in a text block."""
    return {
        "type": "web_search_result_location",
        "url": source.url,
        "title": source.title,
        "encrypted_index": _seal(number, source.url),
        "cited_text": snippet[:_QUOTATION_CHARS],
    }


def with_function_tools(messages: Sequence[Any]) -> list[Any]:
    """Return a conversation in which the proxy's server tools are function tools, each with its result after it."""
    converted: list[Any] = []
    results: list[Any] = []  # of the calls at the end of `converted`, for the next message of the user
    for message in messages:
        content = object_of(message).get("content")
        if object_of(message).get("role") != "assistant" or not isinstance(content, list):
            texts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            converted.append({**message, "content": [*results, *(texts or ())]} if results else message)
            results = []
            continue
        blocks: list[Any] = []
        for block in content:
            kind = block_type(block)
            is_result = kind in _RESULT_TYPES and _has_prefix(block, "tool_use_id")
            if results and not is_result and kind != "tool_use":
                converted += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
                blocks, results = [], []
            if is_result:
                text = _result_text(block.get("content"))
                results.append({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text})
            elif kind == "server_tool_use" and _has_prefix(block, "id"):
                name = _FUNCTIONS.get(str(block.get("name")), "")
                blocks.append({"type": "tool_use", "id": block["id"], "name": name, "input": block.get("input")})
            else:
                blocks.append(_with_markers(block))
        if blocks:
            converted.append({**message, "content": blocks})
    return [*converted, {"role": "user", "content": results}] if results else converted


def sealed_pages(messages: object) -> Iterator[tuple[int, str]]:
    """Yield the page numbers in the blocks of a conversation, with their URLs."""
    pending = [messages]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += reversed(value)
        elif isinstance(value, Mapping):
            for key in ("encrypted_index", "encrypted_content"):
                if key in value and (page := _unseal(value[key])):
                    yield page[0], page[1]
            pending += [value[key] for key in ("citations", "content") if isinstance(value.get(key), list)]


def _has_prefix(block: Mapping[str, Any], key: str) -> bool:
    """Whether the ID in a block is that of a call of the proxy."""
    return str(block.get(key, "")).startswith(_ID_PREFIX)


def _with_markers(block: Any) -> Any:
    """Return a text with its citations written as markers."""
    if block_type(block) != "text" or not block.get("citations"):
        return block
    pages = [_unseal(note.get("encrypted_index")) for note in block["citations"] if isinstance(note, Mapping)]
    markers = "".join(f"[{page[0]}]" for page in pages if page)
    return {"type": "text", "text": f"{block.get('text', '')} {markers}" if markers else str(block.get("text", ""))}


def _result_text(content: Any) -> str:
    """Return the result of a server tool as text for a model."""
    if isinstance(content, list):
        rows = [(row, _unseal(row.get("encrypted_content"))) for row in content if isinstance(row, Mapping)]
        return "\n\n".join(
            f"{page[0]}. {row.get('title')}\n   URL: {page[1]}\n   {page[2]}" for row, page in rows if page
        )
    source = object_of(object_of(content).get("content")).get("source")
    return str(source.get("data")) if isinstance(source, Mapping) else f"It failed: {content}"


def _seal(number: int, url: str, snippet: str = "") -> str:
    """Return a page's number and a snippet, in place of the API's encrypted content."""
    return base64.b64encode(json.dumps([number, url, snippet]).encode("utf-8", "surrogatepass")).decode()


def _unseal(sealed: object) -> tuple[int, str, str] | None:
    """Decode `_seal`; None for anything else."""
    try:
        number, url, snippet = json.loads(base64.b64decode(str(sealed), validate=True))
    except (ValueError, TypeError, RecursionError):
        return None
    return (number, url, snippet) if isinstance(number, int) and isinstance(url, str) else None
