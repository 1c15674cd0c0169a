"""Putting the deltas of Chat Completions together into one message."""

from __future__ import annotations

from typing import Any

from groundwire.native.answers.values import items, offset, text_of

__all__ = ["Deltas"]

_GROWING = ("reasoning", "reasoning_content", "refusal")
_NUMBERED = {  # lists of numbered things, and which of their fields come in pieces; the others come whole
    "tool_calls": frozenset({"arguments"}),
    "executed_tools": frozenset[str](),
    "reasoning_details": frozenset({"text", "summary", "data"}),
}


class Deltas:
    """Collects deltas; fields that come in pieces are joined, lists go on, everything else is what was said last."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._pieces: dict[str, list[str]] = {}
        self._chunks: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self._numbered: dict[str, dict[object, dict[str, Any]]] = {}
        self._notes: list[Any] = []

    def add(self, delta: dict[str, Any]) -> None:
        """Add one delta."""
        for name, value in delta.items():
            if name == "content":
                self._content(value)
            elif name in _GROWING:
                self._pieces.setdefault(name, [])
                if isinstance(value, str):
                    self._pieces[name].append(value)
            elif name in _NUMBERED:
                for one in items(value):
                    self._number(name, one)
            elif name == "annotations":
                self._notes += value if isinstance(value, list) else []
            elif value is not None:
                self._fields[name] = value

    def message(self) -> dict[str, Any]:
        """Return the message; without any delta it is empty."""
        made = dict(self._fields)
        if self._chunks:
            self._flush()
            made["content"] = list(self._chunks)
        elif self._texts:
            made["content"] = "".join(self._texts)
        made |= {name: "".join(pieces) for name, pieces in self._pieces.items() if pieces}
        made |= {name: list(things.values()) for name, things in self._numbered.items()}
        if "tool_calls" in made:  # their numbers are for streams only; in a message they are refused
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
    """Return a numbered thing with more of it; what comes empty leaves what is known."""
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
