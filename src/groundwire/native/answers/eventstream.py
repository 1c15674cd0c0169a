"""AWS's event stream encoding, in which Bedrock streams: bytes in pieces of any size become messages.

A message is its length, the length of its headers, a checksum of both, the headers, the payload and a checksum of it
all (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has the same framing).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["BrokenFrame", "Frame", "FrameDecoder"]

_PRELUDE = struct.Struct(">III")
_CHECK = 4  # bytes of the checksum at the end
_LARGEST = 25_000_000  # bytes; the encoding itself allows 24 MiB
_TEXT = 7  # the type of a header that is text
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of headers of a fixed size
_COUNTED = frozenset({6, 7})  # headers that say how long they are


class BrokenFrame(Exception):
    """The bytes are not of this encoding."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    headers: dict[str, str]
    """Its headers that are text."""
    payload: bytes
    """What it carries."""


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
                raise BrokenFrame("has a message whose beginning is broken")
            if not _PRELUDE.size + head + _CHECK <= total <= _LARGEST:
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
        raise BrokenFrame("has a message whose headers are broken") from error
    return found
