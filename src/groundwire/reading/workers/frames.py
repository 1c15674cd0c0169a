"""How a page and its Markdown go over the pipe to a worker and back: frames of JSON, and bytes behind them.

A frame is the length of its header and the length of its payload, four bytes each in network order, then both. JSON
holds no code, so that a worker which a page has taken over can send nothing but text.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

__all__ = ["HEAD_SIZE", "MAX_FRAME", "pack", "sizes", "unpack"]

HEAD_SIZE: Final = 8
"""Bytes that tell how long the rest of a frame is."""
MAX_FRAME: Final = 64_000_000
"""Bytes of a header or a payload; ten million characters of text have at most forty million bytes."""
_HEAD: Final = struct.Struct("!II")


def pack(header: dict[str, Any], payload: bytes = b"") -> tuple[bytes, bytes]:
    """Return a frame in two parts, to be written one after the other."""
    data = json.dumps(header).encode()
    return _HEAD.pack(len(data), len(payload)) + data, payload


def sizes(head: bytes) -> tuple[int, int]:
    """Return how long the header and the payload of a frame are.

    Raises:
        ValueError: it is not the head of a frame, or one of them is longer than a frame may be.
    """
    if len(head) != HEAD_SIZE:
        raise ValueError("a frame is cut off")
    header, payload = _HEAD.unpack(head)
    if max(header, payload) > MAX_FRAME:
        raise ValueError("a frame is too long")
    return header, payload


def unpack(header: bytes) -> dict[str, Any]:
    """Return what a frame's header says.

    Raises:
        ValueError: it is not a JSON object.
    """
    value = json.loads(header)
    if not isinstance(value, dict):
        raise ValueError("a frame's header is not an object")
    return value
