"""Answers of the Responses API: of OpenAI, and of xAI, Groq, OpenRouter, Perplexity and others that implement it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from groundwire.hosted.answers.answer_builder import Gather, in_part
from groundwire.hosted.answers.types import (
    HostedError,
    count,
    first_text,
    items,
    object_of,
    offset,
    parsed,
    text_of,
    texts,
)
from groundwire.hosted.answers.upstream_errors import error_of

__all__ = ["ResponsesReader"]

_OVER = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_OPENERS = frozenset({"open_page", "find_in_page", "find"})
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_MARKER = re.compile(r"\[(?:web:)?(\d{1,4})\]")  # Perplexity; the id of a result


class ResponsesReader:
    """Parses output items: searches with their actions, messages with their annotations, function calls."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._pending: dict[int, dict[str, Any]] = {}  # items that have started
        self._pieces: dict[tuple[int, int], list[str]] = {}
        self._notes: dict[tuple[int, int], list[Any]] = {}
        self._output: dict[int, dict[str, Any]] = {}
        self._places: dict[str, int] = {}
        self._begins: dict[tuple[int, int], tuple[int, int]] = {}  # start and length of each part
        self._whole: list[dict[str, Any]] = []  # the output in the last event of a stream
        self._rows: dict[int, tuple[object, object]] = {}  # URL and title of Perplexity's results, by their ids
        self._noted = False  # whether there are annotations
        self._finished = False

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        for index, item in enumerate(items(body.get("output"))):
            self._take(index, item)
        self._about(body)
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `response.created` to `response.completed`."""
        kind = text_of(data.get("type")) or name
        index = self._index(data)
        at = (index, count(data.get("content_index")))
        if kind in _TEXTS:
            self._pieces.setdefault(at, []).append(text_of(data.get("delta")))
            self._gather.delta(data.get("delta"))
        elif kind == "response.output_text.annotation.added":
            self._notes.setdefault(at, []).append(data.get("annotation"))
        elif kind == "response.output_item.added":
            self._pending[index] = object_of(data.get("item"))
        elif kind == "response.output_item.done":
            self._take(index, object_of(data.get("item")))
        elif kind in _OVER:
            response = object_of(data.get("response"))
            for place, item in enumerate(items(response.get("output"))):
                self._last(self._places.get(text_of(item.get("id")), place), item)
            self._whole = list(items(response.get("output")))
            self._about(response)
            self.complete = True
        elif kind in {"response.created", "response.in_progress"}:
            self._gather.model = text_of(object_of(data.get("response")).get("model"))
        elif kind.startswith("response.reasoning."):  # Perplexity, ahead of the item that says the same
            self._retrieved(data)

    def finish(self) -> None:
        """Parse the unfinished items, and build the turn."""
        if self._finished:
            return
        self._finished = True
        perplexity = self._gather.api == "perplexity"
        if perplexity:  # until it is done, a search of its own looks like a call of a function
            self._pending = {at: item for at, item in self._pending.items() if item.get("type") != "function_call"}
        for index in sorted({*self._pending, *(place for place, _ in self._pieces)} - set(self._output)):
            self._take(index, self._unfinished(index))
        turn = self._whole or [self._output[index] for index in sorted(self._output)]
        self._gather.turn = [repeated for item in turn for repeated in _as_input(item)] if perplexity else turn
        if perplexity and not self._noted:
            for mark in _MARKER.finditer(self._gather.text):
                self._gather.cite(*self._rows.get(int(mark[1]), ("", "")), span=mark.span(), covers="marker")

    def _index(self, data: Mapping[str, Any]) -> int:
        """Return the index of the item of an event, looked up by the item's id if the server omits it."""
        id_ = first_text(data.get("item_id"), object_of(data.get("item")).get("id"))
        index = offset(data.get("output_index"))
        if index is None:
            index = self._places.get(id_)
        if index is None:
            index = max((*self._output, *self._pending, *(place for place, _ in self._pieces)), default=-1) + bool(id_)
        if id_:
            self._places[id_] = index
        return max(index, 0)

    def _unfinished(self, index: int) -> dict[str, Any]:
        """Return an unfinished item, with the text and annotations received so far."""
        item = dict(self._pending.get(index) or {"type": "message", "role": "assistant"})
        parts = sorted(part for place, part in self._pieces if place == index)
        if parts:
            item["content"] = [
                {
                    "type": "output_text",
                    "text": "".join(self._pieces[index, part]),
                    "annotations": self._notes.get((index, part), []),
                }
                for part in parts
            ]
        return item

    def _take(self, index: int, item: dict[str, Any]) -> None:
        self._pending.pop(index, None)
        if index in self._output:
            return
        self._output[index] = item
        match item.get("type"):
            case "message":
                for place, part in enumerate(items(item.get("content"))):
                    self._begins[index, place] = self._part(part)
            case "web_search_call":
                self._search(item)
            case "custom_tool_call":  # xAI's searches of X and opened pages
                self._named(text_of(item.get("name")), item.get("input"))
            case "search_results":  # Perplexity
                self._gather.searched()
                self._retrieved(item)
            case "fetch_url_results":  # Perplexity
                for _ in items(item.get("contents")):
                    self._gather.fetched()
                self._retrieved(item)
            case "function_call":
                self._gather.call(
                    first_text(item.get("call_id"), item.get("id")), item.get("name"), item.get("arguments")
                )

    def _last(self, index: int, item: dict[str, Any]) -> None:
        """Parse an item of the final response; it replaces what earlier events contained."""
        known = self._output.get(index)
        if known is None:
            self._take(index, item)
            return
        if known == item:
            return
        self._output[index] = item
        if item.get("type") == known.get("type") == "web_search_call":
            self._searched(item)
        elif item.get("type") == known.get("type") == "message":
            before = list(items(known.get("content")))
            for place, part in enumerate(items(item.get("content"))):
                said = before[place] if place < len(before) else {}
                if said.get("text") == part.get("text"):
                    told = [_identity(note) for note in items(said.get("annotations"))]
                    fresh = [note for note in items(part.get("annotations")) if _identity(note) not in told]
                    self._cited(fresh, *self._begins.get((index, place), (0, 0)))

    def _search(self, item: Mapping[str, Any]) -> None:
        action = object_of(item.get("action"))
        if not action and "arguments" in item:
            self._named(text_of(item.get("name")), item.get("arguments"))
        elif text_of(action.get("type")) in _OPENERS:
            self._gather.fetched()
        else:
            self._gather.searched()
        self._searched(item)

    def _searched(self, item: Mapping[str, Any]) -> None:
        """Parse the queries and results of a search, or the page it opened; may be called twice."""
        action = object_of(item.get("action"))
        if text_of(action.get("type")) in _OPENERS:
            self._gather.opened(action.get("url"))
        else:
            for query in list(texts(action.get("queries"))) or [text_of(action.get("query"))]:
                self._gather.query(query)
        self._found(action.get("sources"))
        self._found(item.get("results"))
        if item.get("status") == "failed":
            self._gather.tool_failed("web_search", first_text(object_of(item.get("error")).get("code")))

    def _named(self, name: str, arguments: object) -> None:
        given = object_of(parsed(arguments))
        if query := text_of(given.get("query")):
            self._gather.query(query)
            self._gather.searched()
        elif name in {"browse_page", "open_page"} and (url := text_of(given.get("url"))):
            self._gather.opened(url)
            self._gather.fetched()

    def _retrieved(self, about: Mapping[str, Any]) -> None:
        """Parse what Perplexity searched for, found and fetched."""
        for query in texts(about.get("queries")):
            self._gather.query(query)
        self._found(about.get("results"))
        for row in items(about.get("results")):
            number, page = offset(row.get("id")), (row.get("url"), row.get("title"))
            if number is not None and self._rows.setdefault(number, page)[0] != page[0]:
                self._rows[number] = "", ""  # two pages have this number: a mark may mean either
        for fetched in items(about.get("contents")):
            self._found([fetched])
            self._gather.opened(fetched.get("url"))

    def _found(self, rows: object) -> None:
        for row in items(rows):
            self._gather.source(
                row.get("url"),
                row.get("title"),
                snippet=row.get("snippet"),
                published=first_text(row.get("date"), row.get("published_at")),
            )

    def _part(self, part: dict[str, Any]) -> tuple[int, int]:
        """Parse a part of a message; return its start and length."""
        if part.get("type") == "refusal":
            start, end = self._gather.say(part.get("refusal"))
            if end > start:
                self._gather.fail(
                    HostedError(code="refusal", outcome="blocked", message=text_of(part["refusal"])[:300])
                )
            return start, end - start
        text = text_of(part.get("text"))
        begins, _ = self._gather.say(text)
        self._cited(items(part.get("annotations")), begins, len(text))
        return begins, len(text)

    def _cited(self, notes: Iterable[dict[str, Any]], begins: int, length: int) -> None:
        for note in notes:
            if text_of(note.get("type")) in {"", "url_citation", "citation"}:
                span = in_part(note.get("start_index"), note.get("end_index"), length, begins)
                self._gather.cite(note.get("url"), note.get("title"), span=span, covers="link")
                self._noted = True

    def _about(self, body: dict[str, Any]) -> None:
        if model := text_of(body.get("model")):
            self._gather.model = model
        for url in texts(body.get("citations")):  # xAI: every page that it encountered
            self._gather.source(url)
        self._stop(body)
        usage = object_of(body.get("usage"))
        tools = object_of(usage.get("server_side_tool_usage_details"))
        billed = object_of(object_of(body.get("tool_usage")).get("web_search"))
        made = object_of(usage.get("server_tool_use_details"))
        details = object_of(object_of(usage.get("tool_calls_details")).get("search_web"))
        self._gather.spent(
            {
                "input_tokens": count(usage.get("input_tokens")),
                "output_tokens": count(usage.get("output_tokens")),
                "searches": count(billed.get("num_requests"))
                or count(tools.get("web_search_calls")) + count(tools.get("x_search_calls"))
                or count(made.get("web_search_requests"))
                or count(details.get("invocation")),
            }
        )

    def _stop(self, body: dict[str, Any]) -> None:
        status = text_of(body.get("status"))
        self._gather.stop_reason = status or self._gather.stop_reason
        reason = text_of(object_of(body.get("incomplete_details")).get("reason"))
        failure = error_of({"error": body.get("error")}) if body.get("error") else None
        if failure is not None:
            self._gather.fail(failure)
        elif status in {"failed", "cancelled"}:
            self._gather.fail(HostedError(code=status, outcome="unavailable"))
        elif reason == "content_filter":
            self._gather.fail(HostedError(code=reason, outcome="blocked"))


def _as_input(item: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Return an output item as Perplexity accepts it as input: messages and function calls alone."""
    if item.get("type") == "function_call":
        return [dict(item)]
    text = "".join(text_of(part.get("text")) for part in items(item.get("content")))
    return [{"type": "message", "role": "assistant", "content": text}] if item.get("type") == "message" and text else []


def _identity(note: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what tells a citation from others: the final response may add further members to it."""
    return tuple(note.get(name) for name in ("type", "url", "title", "start_index", "end_index"))
