"""Anthropic Messages: a server tool that searches or fetches is carried out here, and answered as the API does.

The client gets `server_tool_use`, its result, and texts with citations; it sends them back as they are. Numbers and
snippets are inside `encrypted_content` and `encrypted_index`, so that every later request finds them again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from starlette.responses import Response

from groundwire.agent_loop import CallEnded, CallStarted, LoopEvent, Run
from groundwire.agent_loop.citation_ledger import CitedText
from groundwire.agent_loop.tool_calls import arguments_of
from groundwire.errors import InvalidRequest
from groundwire.hosted import Location, Needs, prepare
from groundwire.hosted.answers import AnswerStream, HostedAnswer, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items
from groundwire.models import Source
from groundwire.settings import Settings
from groundwire.tools import OpenPageToolResult, Tool, ToolResult, WebSearchToolResult
from groundwire_server.client_disconnect import Outbox
from groundwire_server.openai.conversations import Said
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.messages_stream import StreamedRound, cited_blocks, event_of, parts_of
from groundwire_server.openai.prompts import added_up, said_in
from groundwire_server.openai.upstream import UpstreamAnswer, events_of, passed_back
from groundwire_server.request_json import UpstreamRejected, broken, write_json

__all__ = ["CountTokensHandler", "MessagesHandler"]

_SEARCH, _FETCH = "web_search_", "web_fetch_"
_SERVER_NAMES: Final[Mapping[str, str]] = {"web_search": "web_search", "open_page": "web_fetch"}
_OURS = "srvtoolu_gw_"
_CITED = 150  # characters of a quotation, as in the API
_OVER = "Search limit reached"


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
        self._last = UpstreamAnswer({}, b"", {})
        self._usage: Any = None
        self._content: list[dict[str, Any]] = []
        self._results: list[tuple[dict[str, Any], ToolResult]] = []  # blocks waiting for the numbers of their pages
        self._snippets: dict[str, str] = {}
        self._texts: list[str] = []
        self._searches = self._fetches = self._sent = self._rounds = 0
        self._failure = b""
        super().__init__(*args)
        self._numbers = dict(_numbers(self.sent))

    @classmethod
    def error(cls, message: str, status: int = 400, *, kind: str = "invalid_request_error", param: str = "") -> bytes:
        """Return an error in the API's format."""
        return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()

    @classmethod
    def takes(cls, body: Mapping[str, Any], settings: Settings) -> bool:
        """Whether a request has a server tool that is carried out here; others go on as they are."""
        return any(_is_server_tool(tool) for tool in _tools(body))

    def choose(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """Return the tools that the request declares."""
        kinds = [str(tool.get("type")) for tool in _tools(self.given)]
        wanted = {
            name
            for name, kind in (("web_search", _SEARCH), ("open_page", _FETCH))
            if any(one.startswith(kind) for one in kinds)
        }
        return tuple(tool for tool in tools if tool.name in wanted)

    def cleaned(self, body: dict[str, Any]) -> tuple[dict[str, Any], Needs]:
        """Return the request with at most one server tool for searching, and its requirements."""
        tools = [tool for tool in body.get("tools") or () if not str(_type(tool)).startswith(_FETCH)]
        asked = [tool for tool in _tools(body) if _is_server_tool(tool)]
        place: Mapping[str, Any] = next(
            (tool["user_location"] for tool in asked if isinstance(tool.get("user_location"), Mapping)), {}
        )
        parts = {key: place[key] for key in ("city", "region", "country", "timezone") if place.get(key)}
        needs = Needs(location=Location(**parts) if parts else None)
        if len(tools) < len(body["tools"]) and not any(str(_type(tool)).startswith(_SEARCH) for tool in tools):
            fetch = next(tool for tool in asked if str(tool["type"]).startswith(_FETCH))
            kept = {key: fetch[key] for key in ("allowed_domains", "blocked_domains", "max_uses") if fetch.get(key)}
            tools.append({"type": "web_search_20250305", "name": "web_search", **kept})
        return {**body, "tools": tools}, needs

    async def restored(self) -> list[Any]:
        """Return the conversation with server tools converted to function tools for the model server."""
        made: list[Any] = []
        waiting: list[Any] = []
        for message in self.sent:
            content = message.get("content") if isinstance(message, Mapping) else None
            if message.get("role") != "assistant" or not isinstance(content, list):
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                made.append({**message, "content": [*waiting, *(blocks or ())]} if waiting else message)
                waiting = []
                continue
            blocks = []
            for block in content:
                kind = str(_type(block))
                if kind == "server_tool_use" and str(block.get("id", "")).startswith(_OURS):
                    name = next((one for one, other in _SERVER_NAMES.items() if other == block.get("name")), "")
                    if waiting:
                        made += [{"role": "assistant", "content": blocks}, {"role": "user", "content": waiting}]
                        blocks, waiting = [], []
                    blocks.append({"type": "tool_use", "id": block["id"], "name": name, "input": block.get("input")})
                elif kind in ("web_search_tool_result", "web_fetch_tool_result") and _is_ours(block):
                    text = _result_text(block.get("content"))
                    waiting.append({"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": text})
                else:
                    if waiting and kind != "tool_use":
                        made += [{"role": "assistant", "content": blocks}, {"role": "user", "content": waiting}]
                        blocks, waiting = [], []
                    blocks.append(_with_marks(block))
            if blocks:
                made.append({**message, "content": blocks})
        return [*made, {"role": "user", "content": waiting}] if waiting else made

    def said(self) -> tuple[Said, ...]:
        """Return the texts of the conversation, and the numbers in its blocks."""
        return (*said_in(self.sent), Said("", cited=self._numbers))

    async def ask(self, body: dict[str, Any]) -> HostedAnswer:
        """Request a whole message, and convert its blocks to those of the API."""
        self._settle()
        return self._take(await self.context.upstream.post(self.target, self.headers, {**body, "stream": False}))

    def _take(self, answer: UpstreamAnswer) -> HostedAnswer:
        self._last = answer
        self._rounds += 1
        self._usage = added_up(self._usage, self._last.value.get("usage"))
        for block in items(self._last.value.get("content")):
            kind = _type(block)
            if kind == "text":
                self._texts.append(str(block.get("text", "")))
                self._content += self._cited(block)
            elif kind != "tool_use" or not self.is_ours(block.get("name")):
                self._content.append(block)
        return read_answer("anthropic", self._last.value)

    async def ask_streaming(self, body: dict[str, Any], outbox: Outbox) -> HostedAnswer:
        """Request a stream, and forward its events without local calls and without the end."""
        self._settle()
        if self._rounds:
            await self._send(outbox)
        stream = AnswerStream("anthropic")
        self._round = StreamedRound(
            self._content,
            first=not self._rounds,
            is_ours=self.is_ours,
            block=lambda: (self.link_filter(), CitedText(self.ledger)),
            citation=self._citation,
        )
        data = write_json({**body, "stream": True})
        async with self.context.upstream.ask("POST", self.target, self.headers, data) as response:
            if response.status >= 300 or response.headers.get("Content-Type", "").startswith("application/json"):
                answer = self._take(await self.context.upstream.answer(response))  # of a server that does not stream
                await self._send(outbox)
                return answer
            outbox.headers |= passed_back(response.headers)
            async for event, found in events_of(response):
                await self._event(event, found, stream, outbox)
        stream.close()
        if (failure := stream.answer.error) is not None and stream.answer.finish == "failed":
            raise broken(f"ended its response early ({failure.message or failure.code})")
        self._rounds += 1
        self._sent = len(self._content) + 1
        self._texts += self._round.texts
        ending = self._round.ending[0]
        usage = {**(self._round.message.get("usage") or {}), **(ending.get("usage") or {})}
        self._usage = added_up(self._usage, usage)
        self._last = UpstreamAnswer({**self._round.message, **(ending.get("delta") or {})}, b"", {})
        return stream.answer

    async def _event(
        self, event: ServerSentEvent, data: dict[str, Any] | None, stream: AnswerStream, outbox: Outbox
    ) -> None:
        if data is None:
            return
        if data.get("type") == "error" or data.get("error"):
            self._failure = event.raw
            await outbox.put(b"")  # the failure is an event, as it came
            raise UpstreamRejected(502, event.data.encode("utf-8", "surrogatepass"), is_upstreams=True)
        stream.event(data, event.name)
        for piece in self._round.take(data, event.raw):
            await outbox.put(piece)

    def told(self, event: LoopEvent) -> None:
        """Show a call of a local tool as the API shows its own."""
        name = _SERVER_NAMES[event.call.name]
        id_ = f"{_OURS}{event.call.id}"
        if isinstance(event, CallStarted):
            try:
                given = arguments_of(event.call)
            except InvalidRequest:
                given = {}
            self._content.append({"type": "server_tool_use", "id": id_, "name": name, "input": given})
        elif isinstance(event, CallEnded):
            block: dict[str, Any] = {"type": f"{name}_tool_result", "tool_use_id": id_, "content": []}
            self._content.append(block)
            self._results.append((block, event.result))

    def answered(self) -> list[str]:
        """Return the texts of the model."""
        return self._texts

    def whole(self, run: Run) -> Response:
        """Return one message."""
        made, answer = self._message(run), self._last
        return Response(answer.data if made == answer.value else json.dumps(made), headers=dict(answer.headers))

    async def last_events(self, run: Run, outbox: Outbox) -> None:
        """Send the end."""
        message = self._message(run)
        await self._send(outbox)
        came, raw = self._round.ending
        delta = {**(came.get("delta") or {"stop_sequence": message.get("stop_sequence")})}
        delta["stop_reason"] = message["stop_reason"]
        made = {"type": "message_delta", **came, "delta": delta}
        if "usage" in message and (self._changed or not came):
            made["usage"] = message["usage"]
        await outbox.put(raw if made == came else event_of("message_delta", made))
        await outbox.put(self._round.stop)

    def failed(self, error: UpstreamRejected) -> bytes:
        """Return a failure as an event."""
        return self._failure or event_of("error", json.loads(self.error(error.message(), kind="api_error")))

    def _message(self, run: Run) -> dict[str, Any]:
        self._settle()
        reason = self._last.value.get("stop_reason")
        if run.stop in ("rounds", "budget"):
            reason = "pause_turn"
        if not self._changed:
            return {**self._last.value, "content": self._content, "stop_reason": reason}
        uses = {"web_search_requests": self._searches, "web_fetch_requests": self._fetches}
        usage = {**(self._usage or {"input_tokens": 0, "output_tokens": 0}), "server_tool_use": uses}
        return {**self._last.value, "content": self._content, "stop_reason": reason, "usage": usage}

    @property
    def _changed(self) -> bool:
        """Whether the proxy added anything to the response."""
        return self._rounds > 1 or bool(self._searches or self._fetches)

    def _settle(self) -> None:
        """Fill in the results of calls once their pages have numbers."""
        for block, result in self._results:
            kind = str(block["type"])
            if result.status == "error":
                code = "max_uses_exceeded" if result.error.startswith(_OVER) else "unavailable"
                code = "url_not_accessible" if isinstance(result, OpenPageToolResult) else code
                block["content"] = {"type": f"{kind}_error", "error_code": code}
            elif isinstance(result, WebSearchToolResult):
                self._searches += 1
                self._snippets |= {row.url: row.snippet for row in result.results}
                block["content"] = [
                    {
                        "type": "web_search_result",
                        "url": row.url,
                        "title": row.title,
                        "encrypted_content": self._sealed(row.url, row.snippet),
                        "page_age": row.published,
                    }
                    for row in result.results
                ]
            elif isinstance(result, OpenPageToolResult):
                self._fetches += 1
                self._snippets.setdefault(result.final_url or result.url, result.content)
                source = {"type": "text", "media_type": "text/plain", "data": result.content}
                document = {"type": "document", "title": result.title, "citations": None, "source": source}
                found = {"type": "web_fetch_result", "url": result.final_url or result.url, "retrieved_at": None}
                block["content"] = {**found, "content": document}
        self._results.clear()

    def _sealed(self, url: str, snippet: str = "") -> str:
        """Return a page's number and a snippet, in place of the API's encrypted content."""
        made = json.dumps([self.ledger.number(url), url, snippet])
        return base64.b64encode(made.encode("utf-8", "surrogatepass")).decode()

    def _cited(self, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the blocks of a text, split at markers, which become citations."""
        text, cited = self.shown(str(block.get("text", ""))), CitedText(self.ledger)
        return cited_blocks({**block, "text": text}, [*cited.feed(text), *cited.close()], self._citation)

    def _citation(self, source: Source) -> dict[str, Any]:
        return {
            "type": "web_search_result_location",
            "url": source.url,
            "title": source.title,
            "encrypted_index": self._sealed(source.url),
            "cited_text": self._snippets.get(source.url, "")[:_CITED],
        }

    async def _send(self, outbox: Outbox) -> None:
        """Send the complete blocks that were not sent yet."""
        if not self._sent:
            self._sent = 1
            head = {**self._last.value, "content": [], "stop_reason": None, "stop_sequence": None}
            await outbox.put(event_of("message_start", {"message": head}))
        for index, block in enumerate(self._content[self._sent - 1 :], self._sent - 1):
            empty, deltas = parts_of(block)
            await outbox.put(event_of("content_block_start", {"index": index, "content_block": empty}))
            for delta in deltas:
                await outbox.put(event_of("content_block_delta", {"index": index, "delta": delta}))
            await outbox.put(event_of("content_block_stop", {"index": index}))
        self._sent = len(self._content) + 1


class CountTokensHandler(MessagesHandler):
    """A request to count the tokens of a message, including the local tools."""

    path = "messages/count_tokens"

    async def answer(self) -> Response:
        """Forward the request with the tools of the model."""
        request = prepare(self.body, self.plan, tools=self.tools)
        made = await self.context.upstream.post(self.target, self.headers, request)
        return Response(made.data, headers=dict(made.headers))


def _tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tools = body.get("tools")
    return [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []


def _type(block: object) -> object:
    return block.get("type") if isinstance(block, Mapping) else None


def _is_server_tool(tool: Mapping[str, Any]) -> bool:
    return str(tool.get("type")).startswith((_SEARCH, _FETCH))


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
    document = content.get("content") if isinstance(content, Mapping) else None
    source = document.get("source") if isinstance(document, Mapping) else None
    return str(source.get("data")) if isinstance(source, Mapping) else f"It failed: {content}"
