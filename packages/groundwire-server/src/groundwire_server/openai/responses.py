"""Responses: the rounds of a run are merged into one response, with local calls as `web_search_call` items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from groundwire.agent_loop import CallStarted, LoopEvent, Run
from groundwire.citations.link_filter import LinkFilter
from groundwire.hosted.answers import HostedAnswer, HostedCall, read_answer
from groundwire.hosted.answers.event_streams import ServerSentEvent
from groundwire.hosted.answers.types import items, object_of
from groundwire.tools import ToolResult, WebSearchToolResult
from groundwire_server.openai.conversations import question_in, text_of
from groundwire_server.openai.handler import CompletionHandler
from groundwire_server.openai.prompts import arguments_in, sum_usage
from groundwire_server.openai.upstream import UpstreamAnswer
from groundwire_server.request_json import UpstreamRejected

_ID_PREFIX = "ws_gw_"  # prefix of the IDs of generated items
_START_EVENTS = frozenset({"response.created", "response.in_progress", "response.queued"})
_END_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_REQUEST_ROLES: Final = frozenset({"user", "system", "developer"})


class ResponsesHandler(CompletionHandler):
    """A request for a response."""

    api = "openai_responses"
    path = "responses"

    def __init__(self, *args: Any) -> None:
        self._final: dict[str, Any] = {}
        self._output: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}  # of Groundwire's items in the output, by the id of the call
        self._number = 0
        self._identity: dict[str, Any] = {}  # of the first response, which the whole stream has: clients compare
        self._before: Any = None  # the previous response, as the client knows it
        self._begun: set[str] = set()
        self._came: tuple[dict[str, Any], bytes] = ({}, b"")  # the last event, parsed and raw
        self._filters: dict[tuple[int, Any], LinkFilter] = {}  # for texts that are streamed in parts, by position
        super().__init__(*args)
        if (named := self.request.get("conversation")) and not self.conversation:
            self.conversation = f"conversation:{named.get('id') if isinstance(named, Mapping) else named}"

    async def begin(self) -> None:
        """See `CompletionHandler.begin`; the previous response gets the model server's ID of its end."""
        self._before = before = self.request.get("previous_response_id")
        if isinstance(before, str):
            self.request = {**self.request, "previous_response_id": await self.conversations.upstream_id(before)}
        await super().begin()

    async def _restore_history(self) -> list[Any]:
        """Return the input without generated items, with stored runs restored."""
        restored: list[Any] = []
        done: set[str] = set()
        begun = 0  # where the items of the model begin that are not followed by others yet
        before = str(self.request.get("previous_response_id") or "")
        question = ""
        for item in self.messages:
            kind = object_of(item).get("type")
            question = question_in([item]) or question
            if kind == "web_search_call" and str(item.get("id", "")).startswith(_ID_PREFIX):
                continue
            stored = None
            if kind == "function_call" or (kind == "function_call_output" and before):
                call = {**item, "id": item.get("call_id")}
                stored = await self.conversations.waiting_run(call, question, "" if kind == "function_call" else before)
            if stored is None:
                restored.append(item)
            elif kind == "function_call_output":
                restored += [*(() if stored.id in done else stored.added[len(stored.added) - stored.trailing :]), item]
            elif stored.id not in done:
                restored[begun:] = stored.added
            if stored is not None:
                done.add(stored.id)
                self.run = stored
            if kind == "function_call_output" or (
                isinstance(item, Mapping) and str(item.get("role")) in _REQUEST_ROLES
            ):
                begun = len(restored)
        return restored

    def _conversation_keys(self) -> list[str]:
        before = self.request.get("previous_response_id")
        return [f"response:{before}"] if before else []

    def _response_id(self) -> str:
        return str(self._final.get("id") or "")

    def _answer_texts(self) -> list[str]:
        return [text for item in self._output if item.get("type") == "message" and (text := text_of(item))]

    async def _take_whole(self, answer: UpstreamAnswer) -> HostedAnswer:
        for item in items(answer.value.get("output")):
            self._place(item)
        self._end(answer.value)
        return read_answer("openai_responses", answer.value)

    async def _begin_round(self) -> None:
        await super()._begin_round()
        self._round_places: dict[int, int | None] = {}

    def _record_call(self, event: LoopEvent) -> None:
        """Show a call of a local tool as an output item, as OpenAI shows its own."""
        id_ = event.call.id
        if isinstance(event, CallStarted):
            place = self._places.get(id_)
            if place is None:
                place = self._places[id_] = len(self._output)
                self._output.append({})
            item: dict[str, Any] = {"type": "web_search_call", "id": f"{_ID_PREFIX}{id_}", "status": "in_progress"}
            item["action"] = _action(event.call)
            self._output[place] = item
            self._tell("response.output_item.added", output_index=place, item=item)
            self._tell("response.web_search_call.in_progress", output_index=place, item_id=item["id"])
            self._tell("response.web_search_call.searching", output_index=place, item_id=item["id"])
            return
        place = self._places[id_]
        good = event.result.status == "success"
        done = {**self._output[place], "status": "completed" if good else "failed"}
        done["action"] = _action(event.call, event.result)
        self._output[place] = done
        self._tell("response.web_search_call.completed", output_index=place, item_id=done["id"])
        self._tell("response.output_item.done", output_index=place, item=done)

    def _response(self, run: Run) -> dict[str, Any]:
        response = {
            **self._client_response(self._final),
            **self._identity,
            "output": [self._annotated(item) for item in self._output],
        }
        if (usage := sum_usage(self.usage, self.round_usage)) is not None:
            response["usage"] = usage
        if run.stop in ("rounds", "budget"):
            response |= {"status": "incomplete", "incomplete_details": {"reason": run.reason}}
        return response

    async def _remember(self, run: Run) -> None:
        await super()._remember(run)
        client_id = self._identity.get("id")
        if isinstance(client_id, str) and self._response_id() not in ("", client_id):
            await self.conversations.save_response_id(client_id, self._response_id())

    async def _last_events(self, run: Run) -> None:
        """Send the end, with the whole response."""
        response = self._response(run)
        kind = f"response.{response.get('status') or 'completed'}"
        came = self._came[0] if self._came[0].get("type") in _END_EVENTS else {}
        data = {**came, "response": response}
        await self.put(self._line(kind if kind in _END_EVENTS else "response.completed", data))

    def _error_event(self, error: UpstreamRejected) -> bytes:
        text = error.message()
        about = {"code": str(error.status), "message": text, "param": None}
        return self._line("error", {**about, "error": {**about, "type": "upstream_error"}})

    def _ours(self, item: Mapping[str, Any]) -> bool:
        return item.get("type") == "function_call" and self.is_ours(item.get("name"))

    def _place(self, item: dict[str, Any]) -> int:
        """Assign an item's index in the output of the whole run."""
        place = len(self._output)
        if self._ours(item):
            if item.get("name") not in self.names:  # an undeclared function
                return place
            self._places[str(item.get("call_id") or item.get("id") or "")] = place
        self._output.append(item)
        return place

    def _end(self, raw: dict[str, Any]) -> None:
        self._final = raw
        self.round_usage = raw.get("usage")

    async def _take(self, event: ServerSentEvent, value: dict[str, Any]) -> None:
        kind = str(value.get("type") or event.name)
        self._came = value, event.raw
        self.stream_reader.event(value, event.name)
        if kind in _START_EVENTS:
            if kind not in self._begun:
                self._begun.add(kind)
                response = self._client_response(value.get("response") or {})
                identity: dict[str, Any] = {key: response[key] for key in ("id", "created_at") if key in response}
                self._identity = self._identity or identity
                response |= self._identity
                await self.put(self._line(kind, {**value, "response": response}))
        elif kind in _END_EVENTS:
            self._end(value.get("response") or {})
        elif isinstance(index := value.get("output_index"), int):
            await self._of_item(kind, index, value)
        else:
            await self.put(self._line(kind, value))

    async def _of_item(self, kind: str, index: int, data: dict[str, Any]) -> None:
        """Forward an event about an item with its index in the whole run; events of local tool calls are dropped."""
        item = data.get("item")
        if index not in self._round_places:
            place = self._place(object_of(item))
            self._round_places[index] = None if self._ours(object_of(item)) else place
        at = self._round_places[index]
        if at is None:
            return
        changed = {**data, "output_index": at}
        if isinstance(item, dict):
            changed["item"] = self._output[at] = self._annotated(item) if kind.endswith(".done") else item
        elif kind == "response.output_text.delta":
            link_filter = self._filters.setdefault((at, data.get("content_index")), self.link_filter())
            changed["delta"] = link_filter.feed(str(data.get("delta", "")))
            if not changed["delta"]:
                return
        elif kind == "response.output_text.done":
            link_filter = self._filters.pop((at, data.get("content_index")), self.link_filter())
            if tail := link_filter.close():
                more = {key: value for key, value in changed.items() if key != "text"}
                await self.put(self._line("response.output_text.delta", {**more, "delta": tail}))
            changed["text"] = self.link_filter().whole(str(data.get("text", "")))
            about: dict[str, Any] = {key: data[key] for key in ("item_id", "content_index") if key in data}
            for number, note in enumerate(self._notes(str(data.get("text", "")))):
                event = {**about, "output_index": at, "annotation_index": number, "annotation": note}
                await self.put(self._line("response.output_text.annotation.added", event))
        elif isinstance(part := data.get("part"), dict) and kind.endswith(".done"):
            changed["part"] = self._annotated_part(part)
        await self.put(self._line(kind, changed))

    def _client_response(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Return a response that lists the client's own tools, and the previous response by the client's ID."""
        changed = dict(response)
        if self._before is not None and "previous_response_id" in changed:
            changed["previous_response_id"] = self._before
        for key in ("tools", "tool_choice"):
            if key in changed:
                changed[key] = self.request.get(key, [] if key == "tools" else "auto")
        return changed

    def _annotated(self, item: dict[str, Any]) -> dict[str, Any]:
        if item.get("type") != "message" or not isinstance(item.get("content"), list):
            return item
        parts = [self._annotated_part(part) if isinstance(part, dict) else part for part in item["content"]]
        return {**item, "content": parts}

    def _annotated_part(self, part: dict[str, Any]) -> dict[str, Any]:
        if part.get("type") != "output_text":
            return part
        annotations = part.get("annotations")
        return {
            **part,
            "text": self.link_filter().whole(str(part.get("text", ""))),
            "annotations": annotations or self._notes(str(part.get("text", ""))),
        }

    def _notes(self, text: str) -> list[dict[str, Any]]:
        return [{"type": "url_citation", **note} for note in self.notes(text)]

    def _tell(self, kind: str, **data: Any) -> None:
        if self.outbox is not None:
            self.outbox.add(self._line(kind, data))

    def _line(self, kind: str, data: Mapping[str, Any]) -> bytes:
        numbered = {**data, "type": kind, "sequence_number": self._number}
        self._number += 1
        if numbered == self._came[0]:
            return self._came[1]
        return f"event: {kind}\ndata: {json.dumps(numbered)}\n\n".encode()


def _action(call: HostedCall, result: ToolResult | None = None) -> dict[str, Any]:
    arguments = arguments_in(call)
    if call.name == "open_page":
        return {"type": "open_page", "url": str(arguments.get("url", ""))}
    query = str(arguments.get("query", ""))
    results = result.results if isinstance(result, WebSearchToolResult) else ()
    sources = [{"type": "url", "url": row.url} for row in results]
    return {"type": "search", "query": query, "queries": [query], "sources": sources}
