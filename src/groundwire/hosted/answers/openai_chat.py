"""Answers of Chat Completions, merged from deltas if streamed: OpenAI's search-preview models and other APIs' variants.

Groq reports tool results in `executed_tools`; OpenRouter annotates; Perplexity and xAI list `citations` and
`search_results` beside the choices; Mistral mixes text chunks and references; Venice puts its sources into
`venice_parameters`, Z.ai into `web_search`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from groundwire.hosted.answers.answer_builder import Gather, in_part
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

__all__ = ["ChatReader", "Deltas", "chunks"]

_GROWING = ("reasoning", "reasoning_content", "refusal")
_NUMBERED: Final[
    Mapping[str, frozenset[str]]
] = {  # lists of indexed objects, and their fields that are sent in pieces; the others are sent whole
    "tool_calls": frozenset({"arguments"}),  # placed by `CallDeltas`
    "executed_tools": frozenset[str](),
    "reasoning_details": frozenset({"text", "summary", "data"}),
}


class Deltas:
    """Merges deltas: fields sent in pieces are joined, lists are extended, any other field keeps its last value."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._pieces: dict[str, list[str]] = {}
        self._chunks: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self._numbered: dict[str, dict[object, dict[str, Any]]] = {}
        self._notes: list[Any] = []
        self._calls = CallDeltas()

    def add(self, delta: dict[str, Any]) -> None:
        """Add a delta."""
        for name, value in delta.items():
            if name == "content":
                self._content(value)
            elif name in _GROWING:
                self._pieces.setdefault(name, [])
                if isinstance(value, str):
                    self._pieces[name].append(value)
            elif name in _NUMBERED:
                for one in self._calls.feed(value) if name == "tool_calls" else items(value):
                    self._number(name, one)
            elif name == "annotations":
                self._notes += value if isinstance(value, list) else []
            elif value is not None:
                self._fields[name] = value

    def message(self) -> dict[str, Any]:
        """Return the merged message; empty without any delta."""
        for one in self._calls.close():
            self._number("tool_calls", one)
        made = dict(self._fields)
        if self._chunks:
            self._flush()
            made["content"] = list(self._chunks)
        elif self._texts:
            made["content"] = "".join(self._texts)
        made |= {name: "".join(pieces) for name, pieces in self._pieces.items() if pieces}
        made |= {name: list(things.values()) for name, things in self._numbered.items()}
        if "tool_calls" in made:  # indexes are for streams only; in a message they are rejected
            made["tool_calls"] = [
                {name: value for name, value in call.items() if name != "index"} for call in made["tool_calls"]
            ]
        if self._notes:
            made["annotations"] = list(self._notes)
        return made

    def _content(self, value: object) -> None:
        if isinstance(value, str):
            self._texts.append(value)
        for chunk in items(value):
            if chunk.get("type") == "text" and set(chunk) <= {"type", "text"}:
                self._texts.append(text_of(chunk.get("text")))
            else:
                self._flush()
                self._chunks.append(chunk)

    def _flush(self) -> None:
        if text := "".join(self._texts):
            self._chunks.append({"type": "text", "text": text})
        self._texts = []

    def _number(self, name: str, one: dict[str, Any]) -> None:
        things = self._numbered.setdefault(name, {})
        index = offset(one.get("index"))
        kind = text_of(one.get("type")) if name == "reasoning_details" else ""
        key: object = ("nth", len(things)) if index is None else (index, kind)
        known = things.get(key)
        things[key] = dict(one) if known is None else _joined(known, one, _NUMBERED[name])


def _joined(known: dict[str, Any], more: dict[str, Any], pieces: frozenset[str]) -> dict[str, Any]:
    """Return an indexed object extended by a delta; empty fields do not replace known ones."""
    made = dict(known)
    for name, value in more.items():
        before = made.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            made[name] = _joined(before, value, pieces)
        elif name in pieces and isinstance(value, str) and isinstance(before, str):
            made[name] = before + value
        elif value not in (None, "") or name not in made:
            made[name] = value
    return made


_MARKER = re.compile(r"\[(\d{1,4})\]")  # Perplexity; counted from 1
_REF = re.compile(r"\[REF\]([\d,\s]{1,60})\[/REF\]", re.IGNORECASE)  # Venice; counted from 0, comma-separated
_REFER = re.compile(r"\[ref_(\d{1,4})\]")  # Z.ai; counted from 1
_RAISED = re.compile(r"\^(\d{1,4}(?:\s?,\s?\d{1,4}){0,9})\^")  # Venice's newer form; counted from 1
# The same at the end of an answer, where its end may be missing; one number after a letter or a digit is a power.
_UNCLOSED = re.compile(r"\^(\d{1,4}(?:\s?,\s?\d{1,4}){1,9}|(?<![\w)\]}]\^)\d{1,4})(?=\s{0,9}\Z)")
_MARKERS: Final[Mapping[str, tuple[tuple[re.Pattern[str], int], ...]]] = MappingProxyType(
    {"perplexity": ((_MARKER, 1),), "venice": ((_REF, 0), (_RAISED, 1), (_UNCLOSED, 1)), "zai": ((_REFER, 1),)}
)
_PLAIN = frozenset({"id", "object", "created", "model", "system_fingerprint", "service_tier", "choices"})
_OPENERS = frozenset({"visit", "visit_website", "browser.open"})


class ChatReader:
    """Parses the first choice; the others are alternative answers."""

    def __init__(self, gather: Gather) -> None:
        self.complete: bool = False
        self._gather = gather
        self._deltas = Deltas()
        self._rows: list[tuple[str, str]] = []  # URL and title, in the order that the markers count
        self._final: dict[str, Any] = {}
        self._grounded = False

    def whole(self, body: dict[str, Any]) -> None:
        """Parse a completion."""
        self._beside(body)
        choice = _first(body.get("choices"))
        self._stop(choice)
        self._take(object_of(choice.get("message")), there=isinstance(choice.get("message"), dict))

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Parse one chunk."""
        self._beside(data)
        choice = _first(data.get("choices"))
        delta = object_of(choice.get("delta"))
        self._tools(delta)
        self._deltas.add(delta)
        self._gather.delta(_said(delta.get("content")))
        final = object_of(choice.get("message"))
        if first_text(choice.get("finish_reason")) and final:
            self._final = final
        self._stop(choice)

    def finish(self) -> None:
        """Parse the message merged from the chunks."""
        message = self._deltas.message()
        if not _said(message.get("content")) and self._final:
            message = {**message, **self._final}
        self._take(message, there=bool(message))

    def _take(self, message: dict[str, Any], *, there: bool) -> None:
        if self._gather.api != "ollama":  # which has no IDs, and arguments as objects
            message = well_formed(message)
        if there:
            self._gather.turn = [message]
            self._message(message)

    def _message(self, message: dict[str, Any]) -> None:
        self._tools(message)
        content = message.get("content")
        begins = self._gather.length
        for chunk in chunks(content):
            kind = chunk.get("type")
            if kind == "text":
                self._gather.say(chunk.get("text"))
            elif kind == "tool_reference":
                self._gather.cite(chunk.get("url"), chunk.get("title"), position=self._gather.length)
        if refusal := text_of(message.get("refusal")):
            self._gather.say(refusal)
            self._gather.fail(HostedError(code="refusal", outcome="blocked", message=refusal[:300]))
        self._annotations(message, begins)
        self._markers()
        made = sum("search" in text_of(tool.get("type")) for tool in items(message.get("executed_tools")))
        # Without a count of its own, an answer that lists or cites pages has searched once.
        self._gather.searched(made or bool(self._grounded or self._rows))
        for call in items(message.get("tool_calls")):
            function = object_of(call.get("function"))
            if function:
                self._gather.call(call.get("id"), function.get("name"), function.get("arguments"))

    def _annotations(self, message: dict[str, Any], begins: int) -> None:
        length = self._gather.length - begins
        for note in items(message.get("annotations")):
            if text_of(note.get("type")) not in {"", "url_citation"}:
                continue
            inner = object_of(note.get("url_citation")) or note
            if self._rows:  # the annotations have the titles that a plain list of URLs lacks
                self._gather.name(inner.get("url"), inner.get("title"))
            span = in_part(inner.get("start_index"), inner.get("end_index"), length, begins)
            self._gather.cite(inner.get("url"), inner.get("title"), span=span, covers="link")
            self._grounded = True

    def _markers(self) -> None:
        """Parse the markers in the text that refer to the listed pages."""
        found = [
            (*mark.span(), mark[1], base)
            for pattern, base in _MARKERS.get(self._gather.api, ())
            for mark in pattern.finditer(self._gather.text)
        ]
        for start, end, numbers, base in sorted(found):
            for number in numbers.split(","):
                index = int(number) - base if number.strip().isdigit() else -1
                if 0 <= index < len(self._rows):
                    self._gather.cite(*self._rows[index], span=(start, end), covers="marker")

    def _tools(self, message: dict[str, Any]) -> None:
        """Parse the results of the API's own tools: Groq's `executed_tools`, Perplexity's `reasoning_steps`."""
        for tool in items(message.get("executed_tools")):
            given = object_of(parsed(tool.get("arguments")))
            kind = text_of(tool.get("type"))
            self._gather.query(given.get("query"))
            if kind in _OPENERS or (not text_of(given.get("query")) and "search" not in kind):
                self._gather.opened(given.get("url"))
            found = tool.get("search_results")
            self._found(object_of(found).get("results") if isinstance(found, dict) else found)
            self._found(tool.get("browser_results"))
        for step in items(message.get("reasoning_steps")):
            search = object_of(step.get("web_search"))
            for query in texts(search.get("search_keywords")):
                self._gather.query(query)
            for page in items(object_of(step.get("fetch_url_content")).get("contents")):
                self._gather.opened(page.get("url"))

    def _found(self, rows: object) -> list[tuple[str, str]]:
        """Record the pages in a list of objects or URLs, and return them."""
        listed = []
        for row in rows if isinstance(rows, list) else []:
            about = object_of(row)
            url = first_text(about.get("url"), about.get("link"), row)
            listed.append((url, text_of(about.get("title"))))  # without a URL, too: the markers count every row
            self._gather.source(
                url,
                about.get("title"),
                snippet=first_text(about.get("snippet"), about.get("content")),
                published=first_text(about.get("date"), about.get("publish_date")),
            )
        return listed

    def _beside(self, body: dict[str, Any]) -> None:
        """Parse the members beside the choices."""
        if body.keys() <= _PLAIN and self._gather.model == body.get("model"):
            return  # as nearly every chunk of a stream
        if model := text_of(body.get("model")):
            self._gather.model = model
        venice = object_of(body.get("venice_parameters")).get("web_search_citations")
        own = (body.get(name) for name in ("search_results", "venice_search_results", "web_search"))
        for rows in (*own, venice, body.get("citations")):
            found = self._found(rows)
            if any(url for url, _ in found):
                self._rows = found
                break
        groq = object_of(body.get("x_groq"))
        if said := text_of(groq.get("error")):
            self._gather.fail(HostedError(code="error", outcome="unavailable", message=said[:300]))
        usage = object_of(body.get("usage")) or object_of(groq.get("usage"))
        details = object_of(usage.get("server_tool_use_details")) or object_of(usage.get("server_tool_use"))
        self._gather.spent(
            {
                "input_tokens": count(usage.get("prompt_tokens"), usage.get("input_tokens")),
                "output_tokens": count(usage.get("completion_tokens"), usage.get("output_tokens")),
                "searches": count(details.get("web_search_requests")) or count(usage.get("num_search_queries")),
            }
        )

    def _stop(self, choice: dict[str, Any]) -> None:
        reason = text_of(choice.get("finish_reason"))
        if not reason:
            return
        self.complete = True
        self._gather.stop_reason = reason
        if reason == "content_filter":
            self._gather.fail(HostedError(code=reason, outcome="blocked"))


def chunks(content: object) -> list[dict[str, Any]]:
    """Return the chunks of a message's content; a plain string is one chunk."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    listed = content if isinstance(content, list) else []
    made = [{"type": "text", "text": one} if isinstance(one, str) else one for one in listed]
    return [one for one in made if isinstance(one, dict)]


def _said(content: object) -> str:
    return "".join(text_of(chunk.get("text")) for chunk in chunks(content) if chunk.get("type") == "text")


def _first(choices: object) -> dict[str, Any]:
    return next((one for one in items(choices) if count(one.get("index")) == 0), {})
