"""An incremental decoder of server-sent events (https://html.spec.whatwg.org/#server-sent-events).

It deviates from the standard in one point: an event that the end of the stream cuts off before its empty line is
returned too, because some APIs end that way after sending it in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["EventDecoder", "ServerSentEvent", "TooLarge"]

_BOM = b"\xef\xbb\xbf"
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
        self._buffer = bytearray()
        self._searched_to = 0  # how much of the buffer is known to have no line end
        self._has_begun = False
        self._after_return = False
        self._name = ""
        self._data: list[str] = []
        self._raw = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that end in `data`.

        Raises:
            TooLarge: an event is too large.
        """
        self._buffer += data
        if not self._has_begun:
            if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
                return
            if self._buffer.startswith(_BOM):
                del self._buffer[: len(_BOM)]
            self._has_begun = True
        done = 0
        while True:
            begun = done
            if self._after_return and done < len(self._buffer):
                # The line feed of a CRLF; it may be in the next chunk.
                done += self._buffer[done] == 0x0A
                self._searched_to = max(self._searched_to, done)
                self._after_return = False
            line_end = _LINE_END.search(self._buffer, max(done, self._searched_to))
            if line_end is None:
                self._raw += self._buffer[begun:done]
                break
            end = line_end.start()
            self._after_return = self._buffer[end] == 0x0D
            line = self._buffer[done:end].decode("utf-8", "replace")
            done = end + 1
            if self._after_return and self._buffer[done : done + 1] == b"\n":
                done, self._after_return = done + 1, False
            self._searched_to = done
            self._raw += self._buffer[begun:done]
            event = self._line(line)
            if not line:
                self._raw.clear()
            if event is not None:
                yield event
        del self._buffer[:done]
        self._searched_to = len(self._buffer)
        if len(self._buffer) + self._size > self._max_bytes:
            raise TooLarge(f"one event has more than {self._max_bytes:,} bytes")

    def close(self) -> Iterator[ServerSentEvent]:
        """Yield the last event if the end of the stream cut it off."""
        self._raw += self._buffer
        if self._buffer:
            self._line(self._buffer.decode("utf-8", "replace"))
            self._buffer.clear()
        if (event := self._line("")) is not None:
            yield event

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._name, "\n".join(self._data), bytes(self._raw)) if self._data else None
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
