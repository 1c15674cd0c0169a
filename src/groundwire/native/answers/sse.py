"""Server-sent events: bytes in pieces of any size become events (https://html.spec.whatwg.org/#server-sent-events).

More forgiving than the standard in one thing: an event that the end of the stream cuts off before its empty line is
given too, because APIs that end so have sent it whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["EventDecoder", "ServerSentEvent", "TooLarge"]

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"[\r\n]")
_LARGEST = 64_000_000  # bytes of one event; a fetched PDF comes in one, in base64


class TooLarge(Exception):
    """One event has more bytes than are taken."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event."""

    name: str
    """Its name, or empty."""
    data: str
    """Its data; several lines are joined by line feeds."""


class EventDecoder:
    """Splits a stream into events.

    Args:
        largest: The most bytes of one event.
    """

    def __init__(self, largest: int = _LARGEST) -> None:
        self._largest = largest
        self._held = bytearray()
        self._looked = 0  # how much of it is known to have no line end
        self._begun = False
        self._after_return = False
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that end in `data`.

        Raises:
            TooLarge: an event is too large.
        """
        self._held += data
        if not self._begun:
            if len(self._held) < len(_BOM) and _BOM.startswith(self._held):
                return
            if self._held.startswith(_BOM):
                del self._held[: len(_BOM)]
            self._begun = True
        done = 0
        while True:
            if self._after_return and done < len(self._held):
                # The line feed of a CRLF; it may come in the next piece.
                done += self._held[done] == 0x0A
                self._looked = max(self._looked, done)
                self._after_return = False
            end = self._line_end(max(done, self._looked))
            if end < 0:
                break
            self._after_return = self._held[end] == 0x0D
            line = self._held[done:end].decode("utf-8", "replace")
            done = end + 1
            self._looked = done
            if (event := self._line(line)) is not None:
                yield event
        del self._held[:done]
        self._looked = len(self._held)
        if len(self._held) + self._size > self._largest:
            raise TooLarge(f"one event has more than {self._largest:,} bytes")

    def close(self) -> Iterator[ServerSentEvent]:
        """Yield the event that the end of the stream has cut off, if there is one."""
        if self._held:
            event = self._line(self._held.decode("utf-8", "replace"))
            self._held.clear()
            if event is not None:
                yield event
        if (event := self._line("")) is not None:
            yield event

    def _line_end(self, begin: int) -> int:
        match = _LINE_END.search(self._held, begin)
        return match.start() if match else -1

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._name, "\n".join(self._data)) if self._data else None
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
