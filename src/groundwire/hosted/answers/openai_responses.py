"""Answers of the Responses API: of OpenAI, and of xAI, Groq, OpenRouter, Perplexity and others that implement it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from groundwire.hosted.answers.answer_builder import AnswerBuilder, WireReader, span_in_text
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

_FINAL_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_OPENERS = frozenset({"open_page", "find_in_page", "find"})
_TEXT_EVENTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_MARKER = re.compile(r"\[(?:web:)?(\d{1,4})\]")  # Perplexity; the id of a result


class ResponsesReader(WireReader):
    """Parses output items: searches with their actions, messages with their annotations, function calls."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._output: dict[int, dict[str, Any]] = {}  # items that have started
        self._done: set[int] = set()
        self._pieces: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        self._notes: defaultdict[tuple[int, int], list[Any]] = defaultdict(list)
        self._places: dict[str, int] = {}
        self._response: dict[str, Any] = {}  # the whole response, or that in the last event of a stream
        self._rows: dict[int, tuple[object, object]] = {}  # URL and title of Perplexity's results, by their ids
        self._noted = False  # whether there are annotations

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a response."""
        self._response = body
        self.finish()

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one event, from `response.created` to `response.completed`."""
        kind = text_of(data.get("type")) or name
        index = self._index(data)
        at = (index, count(data.get("content_index")))
        item = object_of(data.get("item"))
        if kind in _TEXT_EVENTS:
            self._pieces[at].append(text_of(data.get("delta")))
            self.answer.stream_text(data.get("delta"))
        elif kind == "response.output_text.annotation.added":
            self._notes[at].append(data.get("annotation"))
        elif kind == "response.output_item.added":
            self._output[index] = item
        elif kind == "response.output_item.done":
            self._output[index] = item
            self._done.add(index)
        elif kind in _FINAL_EVENTS:
            self._response = object_of(data.get("response"))
            self.complete = True
        elif kind in {"response.created", "response.in_progress"}:
            self.answer.set_model(object_of(data.get("response")).get("model"))
        elif kind.startswith("response.reasoning."):  # Perplexity, ahead of the item that says the same
            self._retrieved(data)

    def finish(self) -> None:
        """Parse the items, those of the final response before earlier ones, and build the turn."""
        final = list(items(self._response.get("output")))
        for place, item in enumerate(final):
            index = self._places.get(text_of(item.get("id")), place)
            self._output[index] = item
            self._done.add(index)
        for index, _ in self._pieces:
            self._output.setdefault(index, {"type": "message", "role": "assistant"})
        perplexity = self.answer.api == "perplexity"
        output = [
            item if index in self._done else self._unfinished(index, item)
            for index, item in sorted(self._output.items())
            # until it is done, a search of Perplexity's own looks like a call of a function
            if index in self._done or not (perplexity and item.get("type") == "function_call")
        ]
        for item in output:
            self._add_item(item)
        self._add_response(self._response)
        turn = final or output
        self.answer.turn = [repeated for item in turn for repeated in _as_input(item)] if perplexity else turn
        if perplexity and not self._noted:
            for mark in _MARKER.finditer(self.answer.text):
                self.answer.add_citation(*self._rows.get(int(mark[1]), ("", "")), span=mark.span(), covers="marker")

    def _index(self, data: Mapping[str, Any]) -> int:
        """Return the index of the item of an event, looked up by the item's id if the server omits it."""
        id_ = first_text(data.get("item_id"), object_of(data.get("item")).get("id"))
        index = offset(data.get("output_index"))
        if index is None:
            index = self._places.get(id_)
        if index is None:
            index = max((*self._output, *(place for place, _ in self._pieces)), default=-1) + bool(id_)
        if id_:
            self._places[id_] = index
        return max(index, 0)

    def _unfinished(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        """Return an unfinished item, with the text and annotations received so far."""
        parts = [
            {"type": "output_text", "text": "".join(pieces), "annotations": self._notes[index, part]}
            for (place, part), pieces in sorted(self._pieces.items())
            if place == index
        ]
        return {**item, "content": parts} if parts else item

    def _add_item(self, item: dict[str, Any]) -> None:
        match item.get("type"):
            case "message":
                for part in items(item.get("content")):
                    self._part(part)
            case "web_search_call" | "openrouter:web_search":
                self._search(item)
            case "openrouter:web_fetch":
                self.answer.count_fetch()
                if error := text_of(item.get("error")):
                    self.answer.add_tool_error("web_fetch", "", error)
                else:
                    self.answer.add_source(item.get("url"), item.get("title"))
                    self.answer.add_opened_page(item.get("url"))
            case "custom_tool_call":  # xAI's searches of X and opened pages
                self._tool_use(text_of(item.get("name")), item.get("input"))
            case "search_results":  # Perplexity
                self.answer.count_searches()
                self._retrieved(item)
            case "fetch_url_results":  # Perplexity
                for _ in items(item.get("contents")):
                    self.answer.count_fetch()
                self._retrieved(item)
            case "function_call":
                self.answer.add_call(
                    first_text(item.get("call_id"), item.get("id")), item.get("name"), item.get("arguments")
                )

    def _search(self, item: Mapping[str, Any]) -> None:
        action = object_of(item.get("action"))
        if not action and "arguments" in item:
            self._tool_use(text_of(item.get("name")), item.get("arguments"))
        elif text_of(action.get("type")) in _OPENERS:
            self.answer.count_fetch()
            self.answer.add_opened_page(action.get("url"))
        else:
            self.answer.count_searches()
            for query in list(texts(action.get("queries"))) or [text_of(action.get("query"))]:
                self.answer.add_query(query)
        self.answer.add_sources(action.get("sources"))
        self.answer.add_sources(item.get("results"))
        if item.get("status") == "failed":
            error = item.get("error")
            self.answer.add_tool_error("web_search", object_of(error).get("code"), error)  # OpenRouter's is text

    def _tool_use(self, name: str, arguments: object) -> None:
        options = object_of(parsed(arguments))
        if query := text_of(options.get("query")):
            self.answer.add_query(query)
            self.answer.count_searches()
        elif name in {"browse_page", "open_page"} and (url := text_of(options.get("url"))):
            self.answer.add_opened_page(url)
            self.answer.count_fetch()

    def _retrieved(self, about: Mapping[str, Any]) -> None:
        """Parse what Perplexity searched for, found and fetched."""
        for query in texts(about.get("queries")):
            self.answer.add_query(query)
        self.answer.add_sources(about.get("results"))
        for row in items(about.get("results")):
            number, url = offset(row.get("id")), row.get("url")
            if number is not None and self._rows.setdefault(number, (url, row.get("title")))[0] != url:
                self._rows[number] = "", ""  # two pages have this number: a mark may mean either
        for page in items(about.get("contents")):
            self.answer.add_sources([page])
            self.answer.add_opened_page(page.get("url"))

    def _part(self, part: dict[str, Any]) -> None:
        if part.get("type") == "refusal":
            start, end = self.answer.add_text(part.get("refusal"))
            if end > start:
                self.answer.refuse("refusal", part["refusal"])
            return
        start, end = self.answer.add_text(part.get("text"))
        for note in items(part.get("annotations")):
            if text_of(note.get("type")) in {"", "url_citation", "citation"}:
                span = span_in_text(note.get("start_index"), note.get("end_index"), end - start, start)
                self.answer.add_citation(note.get("url"), note.get("title"), span=span, covers="link")
                self._noted = True

    def _add_response(self, body: dict[str, Any]) -> None:
        self.answer.set_model(body.get("model"))
        for url in texts(body.get("citations")):  # xAI: every page that it encountered
            self.answer.add_source(url)
        self._stop(body)
        billed = object_of(object_of(body.get("tool_usage")).get("web_search"))
        self.answer.set_usage("responses", object_of(body.get("usage")), count(billed.get("num_requests")))

    def _stop(self, body: dict[str, Any]) -> None:
        status = text_of(body.get("status"))
        self.answer.stop_reason = status or self.answer.stop_reason
        reason = text_of(object_of(body.get("incomplete_details")).get("reason"))
        failure = error_of({"error": body.get("error")}) if body.get("error") else None
        if failure is not None:
            self.answer.add_error(failure)
        elif status in {"failed", "cancelled"}:
            self.answer.add_error(HostedError(code=status, outcome="unavailable"))
        elif reason == "content_filter":
            self.answer.refuse(reason)


def _as_input(item: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Return an output item as Perplexity accepts it as input: messages and function calls alone."""
    if item.get("type") == "function_call":
        return [dict(item)]
    text = "".join(text_of(part.get("text")) for part in items(item.get("content")))
    return [{"type": "message", "role": "assistant", "content": text}] if item.get("type") == "message" and text else []
