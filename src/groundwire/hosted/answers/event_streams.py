"""Incremental decoders of server-sent events and of AWS's event stream encoding, which Bedrock uses.

The decoder of server-sent events (https://html.spec.whatwg.org/#server-sent-events) deviates from the standard in one
point: an event that the end of the stream cuts off before its empty line is returned too, because some APIs end that
way after sending it in full.

A message in AWS's encoding consists of its length, the length of its headers, a checksum of both, the headers, the
payload and a checksum of all (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has the
same framing).
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["BrokenFrame", "EventDecoder", "Frame", "FrameDecoder", "ServerSentEvent", "TooLarge"]

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


_PRELUDE = struct.Struct(">III")
_CHECKSUM_BYTES = 4  # bytes of the checksum at the end
_MAX_MESSAGE_BYTES = 25_000_000  # bytes; the encoding itself allows 24 MiB
_TEXT_HEADER = 7  # the type of a text header
_SIZES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of fixed-size headers
_PREFIXED = frozenset({6, 7})  # headers with a length prefix


class BrokenFrame(Exception):
    """The bytes are not in this encoding."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    headers: dict[str, str]
    """Its text headers."""
    payload: bytes
    """Its payload."""


class FrameDecoder:
    """Splits a stream into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the messages that end in `data`.

        Raises:
            BrokenFrame: a length or a checksum is wrong.
        """
        self._buffer += data
        while len(self._buffer) >= _PRELUDE.size:
            total, head, checksum = _PRELUDE.unpack_from(self._buffer)
            if zlib.crc32(self._buffer[: _PRELUDE.size - 4]) != checksum:
                raise BrokenFrame("has a message with an invalid prelude")
            if not _PRELUDE.size + head + _CHECKSUM_BYTES <= total <= _MAX_MESSAGE_BYTES:
                raise BrokenFrame("has a message of an impossible length")
            if len(self._buffer) < total:
                return
            frame = bytes(self._buffer[:total])
            del self._buffer[:total]
            if zlib.crc32(frame[:-_CHECKSUM_BYTES]) != int.from_bytes(frame[-_CHECKSUM_BYTES:], "big"):
                raise BrokenFrame("has a message whose checksum is wrong")
            begin = _PRELUDE.size
            yield Frame(_headers(frame[begin : begin + head]), frame[begin + head : -_CHECKSUM_BYTES])


def _headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    position = 0
    try:
        while position < len(data):
            name = data[position + 1 : position + 1 + data[position]].decode("utf-8", "replace")
            position += 1 + data[position]
            kind = data[position]
            position += 1
            if kind in _PREFIXED:
                size = int.from_bytes(data[position : position + 2], "big")
                position += 2
            else:
                size = _SIZES[kind]
            if kind == _TEXT_HEADER:
                headers[name] = data[position : position + size].decode("utf-8", "replace")
            position += size
    except (IndexError, KeyError) as error:
        raise BrokenFrame("has a message whose headers are invalid") from error
    return headers
