"""An incremental decoder of server-sent events (https://html.spec.whatwg.org/#server-sent-events).

It deviates from the standard in one point: an event that the end of the stream cuts off before its empty line is
returned too, because some APIs end that way after sending it in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_BOM = "\ufeff"
_LINE_END = re.compile(rb"[\r\n]")
_MAX_EVENT_BYTES = 64_000_000  # bytes of one event; a fetched PDF is a single event, in base64


class TooLarge(Exception):
    """An event exceeds the maximum size."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event."""

    name: str
    """Its name, or empty."""
    data: str
    """Its data; several lines are joined by line feeds."""
    raw: bytes = field(default=b"", compare=False, repr=False)
    """Its bytes, with comments before it and the empty line after it."""


class EventDecoder:
    """Splits a stream into events.

    Args:
        max_bytes: Maximum bytes of one event.
    """

    def __init__(self, max_bytes: int = _MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pending = [b""]  # the beginning of a line; with a return that may be half of its end
        self._has_begun = False
        self._name = ""
        self._data: list[str] = []
        self._raw: list[bytes] = []
        self._size = 0  # of the data
        self._pending_size = 0

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that end in `data`.

        Raises:
            TooLarge: an event is too large.
        """
        has_line = _LINE_END.search(self._pending[-1][-1:] + data)
        self._pending.append(data)
        self._pending_size += len(data)
        if has_line:
            yield from self._lines(ended=False)
        if self._pending_size + self._size > self._max_bytes:
            raise TooLarge(f"one event has more than {self._max_bytes:,} bytes")

    def close(self) -> Iterator[ServerSentEvent]:
        """Yield the last event if the end of the stream cut it off."""
        yield from self._lines(ended=True)
        if (event := self._line("")) is not None:
            yield event

    def _lines(self, *, ended: bool) -> Iterator[ServerSentEvent]:
        lines = b"".join(self._pending).splitlines(keepends=True)
        self._pending = [b"" if ended or not lines or lines[-1].endswith(b"\n") else lines.pop()]
        self._pending_size = len(self._pending[0])
        for raw in lines:
            line = raw.rstrip(b"\r\n").decode("utf-8", "replace")
            if not self._has_begun:
                line, self._has_begun = line.removeprefix(_BOM), True
            self._raw.append(raw)
            event = self._line(line)
            if not line:
                self._raw.clear()
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._name, "\n".join(self._data), b"".join(self._raw)) if self._data else None
            self._name, self._data, self._size = "", [], 0
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._size += len(value)
        elif field == "event":
            self._name = value
        return None
