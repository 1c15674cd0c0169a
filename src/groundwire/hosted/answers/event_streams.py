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
_LARGEST = 64_000_000  # bytes of one event; a fetched PDF is a single event, in base64


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
        largest: Maximum bytes of one event.
    """

    def __init__(self, largest: int = _LARGEST) -> None:
        self._largest = largest
        self._held = bytearray()
        self._looked = 0  # how much of the buffer is known to have no line end
        self._begun = False
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
        self._held += data
        if not self._begun:
            if len(self._held) < len(_BOM) and _BOM.startswith(self._held):
                return
            if self._held.startswith(_BOM):
                del self._held[: len(_BOM)]
            self._begun = True
        done = 0
        while True:
            begun = done
            if self._after_return and done < len(self._held):
                # The line feed of a CRLF; it may be in the next chunk.
                done += self._held[done] == 0x0A
                self._looked = max(self._looked, done)
                self._after_return = False
            line_end = _LINE_END.search(self._held, max(done, self._looked))
            if line_end is None:
                self._raw += self._held[begun:done]
                break
            end = line_end.start()
            self._after_return = self._held[end] == 0x0D
            line = self._held[done:end].decode("utf-8", "replace")
            done = end + 1
            if self._after_return and self._held[done : done + 1] == b"\n":
                done, self._after_return = done + 1, False
            self._looked = done
            self._raw += self._held[begun:done]
            event = self._line(line)
            if not line:
                self._raw.clear()
            if event is not None:
                yield event
        del self._held[:done]
        self._looked = len(self._held)
        if len(self._held) + self._size > self._largest:
            raise TooLarge(f"one event has more than {self._largest:,} bytes")

    def close(self) -> Iterator[ServerSentEvent]:
        """Yield the last event if the end of the stream cut it off."""
        self._raw += self._held
        if self._held:
            self._line(self._held.decode("utf-8", "replace"))
            self._held.clear()
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
_CHECK = 4  # bytes of the checksum at the end
_MAX_MESSAGE = 25_000_000  # bytes; the encoding itself allows 24 MiB
_TEXT = 7  # the type of a text header
_SIZES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of fixed-size headers
_COUNTED = frozenset({6, 7})  # headers with a length prefix


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
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the messages that end in `data`.

        Raises:
            BrokenFrame: a length or a checksum is wrong.
        """
        self._held += data
        while len(self._held) >= _PRELUDE.size:
            total, head, check = _PRELUDE.unpack_from(self._held)
            if zlib.crc32(self._held[: _PRELUDE.size - 4]) != check:
                raise BrokenFrame("has a message with an invalid prelude")
            if not _PRELUDE.size + head + _CHECK <= total <= _MAX_MESSAGE:
                raise BrokenFrame("has a message of an impossible length")
            if len(self._held) < total:
                return
            frame = bytes(self._held[:total])
            del self._held[:total]
            if zlib.crc32(frame[:-_CHECK]) != int.from_bytes(frame[-_CHECK:], "big"):
                raise BrokenFrame("has a message whose checksum is wrong")
            begin = _PRELUDE.size
            yield Frame(_headers(frame[begin : begin + head]), frame[begin + head : -_CHECK])


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name = data[at + 1 : at + 1 + data[at]].decode("utf-8", "replace")
            at += 1 + data[at]
            kind = data[at]
            at += 1
            if kind in _COUNTED:
                size = int.from_bytes(data[at : at + 2], "big")
                at += 2
            else:
                size = _SIZES[kind]
            if kind == _TEXT:
                found[name] = data[at : at + size].decode("utf-8", "replace")
            at += size
    except (IndexError, KeyError) as error:
        raise BrokenFrame("has a message whose headers are invalid") from error
    return found
