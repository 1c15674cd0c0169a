"""Answers of Chat Completions, merged from deltas if streamed: OpenAI's search-preview models and other APIs' variants.

Groq reports tool results in `executed_tools`; OpenRouter annotates; Perplexity and xAI list `citations` and
`search_results` beside the choices; Mistral mixes text chunks and references; Venice puts its sources into
`venice_parameters`, Z.ai into `web_search`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from groundwire.hosted.answers.answer_builder import AnswerBuilder, StreamedParts, WireReader, joined, span_in_text
from groundwire.hosted.answers.call_deltas import CallDeltas, well_formed
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

_TEXT_FIELDS = ("reasoning", "reasoning_content", "refusal")  # sent in pieces, as the content is
_INDEXED_LISTS: Final[Mapping[str, frozenset[str]]] = {
    # Lists of indexed objects, and those of their fields that are sent in pieces.
    "tool_calls": frozenset({"arguments"}),  # placed by `CallDeltas`
    "executed_tools": frozenset[str](),
    "reasoning_details": frozenset({"text", "summary", "data"}),
}
_EMPTY_TEXT: Final[Mapping[str, str]] = {"type": "text", "text": ""}
_MAX_DEPTH: Final = 8  # objects within objects that are merged; APIs have two, and a server may send a thousand


class Deltas:
    """Merges deltas: fields sent in pieces are joined, lists are extended, any other field keeps its last value."""

    def __init__(self) -> None:
        self._parts = StreamedParts()
        self._fields = self._parts.begin(0, {})
        self._content: list[dict[str, Any]] = []
        self._lists: defaultdict[str, dict[object, list[dict[str, Any]]]] = defaultdict(dict)
        self._calls = CallDeltas()

    def add(self, delta: dict[str, Any]) -> None:
        """Add a delta."""
        for name, value in delta.items():
            if name == "content":
                self._content += chunks(value)
            elif name in _TEXT_FIELDS:
                self._parts.add(0, name, value if isinstance(value, str) else None)
            elif name in _INDEXED_LISTS:
                for part in self._calls.feed(value) if name == "tool_calls" else items(value):
                    self._add_part(name, part)
            elif name == "annotations":
                self._parts.add(0, name, *items(value))
            elif value is not None:
                self._fields[name] = value

    def message(self) -> dict[str, Any]:
        """Return the merged message; empty without any delta."""
        for part in self._calls.close():
            self._add_part("tool_calls", part)
        message = self._parts.end(0) or {}
        content = joined(self._content)
        if content:
            is_text = content == [{**_EMPTY_TEXT, "text": content[0].get("text")}]
            message["content"] = content[0]["text"] if is_text else [row for row in content if row != _EMPTY_TEXT]
        for name, objects in self._lists.items():
            message[name] = [_merged(parts, _INDEXED_LISTS[name]) for parts in objects.values()]
        if "tool_calls" in message:  # indexes are for streams only; in a message they are rejected
            message["tool_calls"] = [
                {name: value for name, value in call.items() if name != "index"} for call in message["tool_calls"]
            ]
        return message

    def _add_part(self, name: str, part: dict[str, Any]) -> None:
        objects = self._lists[name]
        index = offset(part.get("index"))
        kind = text_of(part.get("type")) if name == "reasoning_details" else ""
        key: object = ("nth", len(objects)) if index is None else (index, kind)
        objects.setdefault(key, []).append(part)


def _merged(parts: Iterable[dict[str, Any]], text_fields: frozenset[str], depth: int = _MAX_DEPTH) -> dict[str, Any]:
    """Merge the deltas of an object; an empty field replaces nothing, and what is deeper replaces the earlier."""
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for part in parts:
        for name, value in part.items():
            if value not in (None, "") or name not in values:
                values[name].append(value)
    return {name: _merged_field(name, sent, text_fields, depth) for name, sent in values.items()}


def _merged_field(name: str, sent: list[Any], text_fields: frozenset[str], depth: int) -> Any:
    if isinstance(sent[-1], dict) and depth:
        return _merged([value for value in sent if isinstance(value, dict)], text_fields, depth - 1)
    if isinstance(sent[-1], str) and name in text_fields:
        return "".join(value for value in sent if isinstance(value, str))
    return sent[-1]


_PERPLEXITY_MARKER = re.compile(r"\[(\d{1,4})\]")  # counted from 1
_VENICE_MARKER = re.compile(r"\[REF\]([\d,\s]{1,60})\[/REF\]", re.IGNORECASE)  # Venice; counted from 0, comma-separated
_ZAI_MARKER = re.compile(r"\[ref_(\d{1,4})\]")  # Z.ai; counted from 1
_VENICE_SUPERSCRIPT = re.compile(r"\^(\d{1,4}(?:\s?,\s?\d{1,4}){0,9})\^")  # Venice's newer form; counted from 1
# The same at the end of an answer, where its end may be missing; one number after a letter or a digit is a power.
_VENICE_UNCLOSED = re.compile(r"\^(\d{1,4}(?:\s?,\s?\d{1,4}){1,9}|(?<![\w)\]}]\^)\d{1,4})(?=\s{0,9}\Z)")
_MARKERS: Final[Mapping[str, tuple[tuple[re.Pattern[str], int], ...]]] = MappingProxyType(
    {
        "perplexity": ((_PERPLEXITY_MARKER, 1),),
        "venice": ((_VENICE_MARKER, 0), (_VENICE_SUPERSCRIPT, 1), (_VENICE_UNCLOSED, 1)),
        "zai": ((_ZAI_MARKER, 1),),
    }
)
_CHUNK_FIELDS = frozenset({"id", "object", "created", "model", "system_fingerprint", "service_tier", "choices"})
_OPENERS = frozenset({"visit", "visit_website", "browser.open"})


class ChatReader(WireReader):
    """Parses the first choice; the others are alternative answers."""

    def __init__(self, answer: AnswerBuilder) -> None:
        super().__init__(answer)
        self._deltas = Deltas()
        self._rows: list[tuple[str, str]] = []  # URL and title, in the order that the markers count
        self._final: dict[str, Any] = {}
        self._grounded = False

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a completion."""
        self._add_body(body)
        choice = _first(body.get("choices"))
        self._stop(choice)
        if isinstance(message := choice.get("message"), dict):
            self._add_message(message)

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one chunk."""
        self._add_body(data)
        choice = _first(data.get("choices"))
        delta = object_of(choice.get("delta"))
        self._tools(delta)
        self._deltas.add(delta)
        self.answer.stream_text(_text_content(delta))
        final = object_of(choice.get("message"))
        if first_text(choice.get("finish_reason")) and final:
            self._final = final
        self._stop(choice)

    def finish(self) -> None:
        """Parse the message merged from the chunks."""
        message = self._deltas.message()
        if not _text_content(message):
            message |= self._final
        if message:
            self._add_message(message)

    def _add_message(self, message: dict[str, Any]) -> None:
        if self.answer.api != "ollama":  # which has no IDs, and arguments as objects
            message = well_formed(message)
        self.answer.turn = [message]
        self._tools(message)
        content = message.get("content")
        begins = self.answer.length
        for chunk in chunks(content):
            kind = chunk.get("type")
            if kind == "text":
                self.answer.add_text(chunk.get("text"))
            elif kind == "tool_reference":
                self.answer.add_citation(chunk.get("url"), chunk.get("title"), position=self.answer.length)
        if refusal := text_of(message.get("refusal")):
            self.answer.add_text(refusal)
            self.answer.refuse("refusal", refusal)
        self._annotations(message, begins)
        self._markers()
        searches = sum("search" in text_of(tool.get("type")) for tool in items(message.get("executed_tools")))
        # Without a count of its own, an answer that lists or cites pages has searched once.
        self.answer.count_searches(searches or bool(self._grounded or self._rows))
        for call in items(message.get("tool_calls")):
            function = object_of(call.get("function"))
            if function:
                self.answer.add_call(call.get("id"), function.get("name"), function.get("arguments"))

    def _annotations(self, message: dict[str, Any], begins: int) -> None:
        length = self.answer.length - begins
        for note in items(message.get("annotations")):
            if text_of(note.get("type")) not in {"", "url_citation"}:
                continue
            inner = object_of(note.get("url_citation")) or note
            if self._rows:  # the annotations have the titles that a plain list of URLs lacks
                self.answer.set_title(inner.get("url"), inner.get("title"))
            span = span_in_text(inner.get("start_index"), inner.get("end_index"), length, begins)
            self.answer.add_citation(inner.get("url"), inner.get("title"), span=span, covers="link")
            self._grounded = True

    def _markers(self) -> None:
        """Parse the markers in the text that refer to the listed pages."""
        markers = [
            (*match.span(), match[1], base)
            for pattern, base in _MARKERS.get(self.answer.api, ())
            for match in pattern.finditer(self.answer.text)
        ]
        for start, end, numbers, base in sorted(markers):
            for number in numbers.split(","):
                index = int(number) - base if number.strip().isdigit() else -1
                if 0 <= index < len(self._rows):
                    self.answer.add_citation(*self._rows[index], span=(start, end), covers="marker")

    def _tools(self, message: dict[str, Any]) -> None:
        """Parse the results of the API's own tools: Groq's `executed_tools`, Perplexity's `reasoning_steps`."""
        for tool in items(message.get("executed_tools")):
            arguments = object_of(parsed(tool.get("arguments")))
            kind = text_of(tool.get("type"))
            self.answer.add_query(arguments.get("query"))
            if kind in _OPENERS or (not text_of(arguments.get("query")) and "search" not in kind):
                self.answer.add_opened_page(arguments.get("url"))
            results = tool.get("search_results")
            self._add_pages(results.get("results") if isinstance(results, dict) else results)
            self._add_pages(tool.get("browser_results"))
        for step in items(message.get("reasoning_steps")):
            search = object_of(step.get("web_search"))
            for query in texts(search.get("search_keywords")):
                self.answer.add_query(query)
            for page in items(object_of(step.get("fetch_url_content")).get("contents")):
                self.answer.add_opened_page(page.get("url"))

    def _add_pages(self, rows: object) -> list[tuple[str, str]]:
        """Record the pages in a list of objects or URLs, and return them as the markers count them: every row."""
        pages = [row if isinstance(row, dict) else {"url": row} for row in (rows if isinstance(rows, list) else ())]
        self.answer.add_sources(pages)
        return [(first_text(page.get("url"), page.get("link")), text_of(page.get("title"))) for page in pages]

    def _add_body(self, body: dict[str, Any]) -> None:
        """Parse the members beside the choices."""
        if body.keys() <= _CHUNK_FIELDS and self.answer.model == body.get("model"):
            return  # as nearly every chunk of a stream
        self.answer.set_model(body.get("model"))
        venice = object_of(body.get("venice_parameters")).get("web_search_citations")
        own = (body.get(name) for name in ("search_results", "venice_search_results", "web_search"))
        for rows in (*own, venice, body.get("citations")):
            pages = self._add_pages(rows)
            if any(url for url, _ in pages):
                self._rows = pages
                break
        groq = object_of(body.get("x_groq"))
        if message := text_of(groq.get("error")):
            self.answer.add_error(HostedError(code="error", outcome="unavailable", message=message[:300]))
        self.answer.set_usage("chat", object_of(body.get("usage")) or object_of(groq.get("usage")))

    def _stop(self, choice: dict[str, Any]) -> None:
        if self.stop(choice.get("finish_reason")) == "content_filter":
            self.answer.refuse("content_filter")


def chunks(content: object) -> list[dict[str, Any]]:
    """Return the chunks of a message's content; a plain string is one chunk."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    entries = content if isinstance(content, list) else []
    return list(items([{"type": "text", "text": entry} if isinstance(entry, str) else entry for entry in entries]))


def _text_content(message: Mapping[str, Any]) -> str:
    content = chunks(message.get("content"))
    return "".join(text_of(chunk.get("text")) for chunk in content if chunk.get("type") == "text")


def _first(choices: object) -> dict[str, Any]:
    return next((choice for choice in items(choices) if count(choice.get("index")) == 0), {})
