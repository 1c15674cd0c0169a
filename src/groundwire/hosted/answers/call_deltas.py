"""Function calls as servers of Chat Completions send them: without IDs, or in parts that say badly where they belong.

A part with a name begins a call, and one without goes on with a call: that of its index or ID, else the last one. Only
where a name is repeated is it asked whether the call before is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from groundwire.hosted.answers.types import items, object_of, offset, text_of

_TOKEN: Final = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_EMPTY_ARGUMENTS: Final = "{}"  # sent by some servers before the arguments


@dataclass(slots=True)
class _PartialCall:
    """A call of which parts have come."""

    index: int
    sent_index: int | None
    """The index at the server, which may give one to several calls."""
    id: str
    name: str
    filler: str = ""
    """Empty arguments, which the next part replaces."""
    unscanned: list[str] = field(default_factory=list)
    has_arguments: bool = False
    depth: int = 0
    quoted: bool = False

    def is_complete(self) -> bool:
        """Return whether its arguments are complete, by their brackets; each part is looked at once."""
        text = "".join(self.unscanned)
        end = 0
        for token in _TOKEN.finditer(text):
            end = token.end()
            if token[0] == '"':
                self.quoted = not self.quoted
            elif not self.quoted:
                self.depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        self.unscanned = ["\\"] if text[end:].endswith("\\") else []
        return self.has_arguments and self.depth <= 0


class CallDeltas:
    """Assigns the parts of streamed calls to their calls."""

    def __init__(self) -> None:
        self._calls: list[_PartialCall] = []

    def feed(self, entries: object) -> list[dict[str, Any]]:
        """Return the parts in a delta, each with the index of its call, and the first one with an ID."""
        return [self._part(entry) for entry in items(entries)]

    def close(self) -> list[dict[str, Any]]:
        """Return the parts that were held back until the end."""
        parts = [{"index": call.index, "function": {"arguments": call.filler}} for call in self._calls if call.filler]
        for call in self._calls:
            call.filler = ""
        return parts

    def _part(self, entry: dict[str, Any]) -> dict[str, Any]:
        function = object_of(entry.get("function"))
        index, id_ = offset(entry.get("index")), text_of(entry.get("id"))
        name = text_of(function.get("name")) or text_of(object_of(entry.get("custom")).get("name"))
        call = self._call(index, id_, name)
        part = dict(entry)
        if call is None:
            used = {one.index for one in self._calls}
            free = index if index is not None and index not in used else max(used, default=-1) + 1
            call = _PartialCall(free, index, id_ or _new_id(), name)
            self._calls.append(call)
            part["id"] = call.id
        elif id_:
            part["id"] = call.id
        part["index"] = call.index
        if isinstance(entry.get("function"), dict) and "arguments" in function:
            part["function"] = {**function, "arguments": self._arguments(call, function["arguments"])}
        return entry if part == entry else part

    def _call(self, index: int | None, id_: str, name: str) -> _PartialCall | None:
        """Return the call to which a part belongs; None for a new one."""
        last = self._calls[-1] if self._calls else None
        by_index = next((one for one in reversed(self._calls) if index is not None and one.sent_index == index), None)
        by_id = next((one for one in reversed(self._calls) if id_ and one.id == id_), None)
        if not name:
            return by_index or by_id or last
        if by_id is not None and (index is None or by_index in (None, by_id)):
            return by_id
        previous = last if index is None else by_index
        if previous is None or previous.name != name or previous.is_complete():
            return None
        return previous if previous.has_arguments or not id_ else None

    @staticmethod
    def _arguments(call: _PartialCall, value: object) -> object:
        """Return a part of the arguments as text, without empty ones before others."""
        if value is None:
            return None
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not call.has_arguments and text.strip() == _EMPTY_ARGUMENTS:
            call.filler = text
            return ""
        if text:
            call.filler, call.has_arguments = "", True
            call.unscanned.append(text)
        return text


def well_formed(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message whose calls have IDs, and arguments in text, as servers demand of what they are sent back."""
    calls = [_well_formed_call(call) for call in items(message.get("tool_calls"))]
    return message if not calls or calls == message["tool_calls"] else {**message, "tool_calls": calls}


def _well_formed_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return call
    value = function.get("arguments")
    text = value if isinstance(value, str) else json.dumps({} if value is None else value, ensure_ascii=False)
    identity = {"id": text_of(call.get("id")) or _new_id(), "type": call.get("type") or "function"}
    return {**call, **identity, "function": {**function, "arguments": text}}


def _new_id() -> str:
    return f"call_{uuid4().hex[:24]}"
