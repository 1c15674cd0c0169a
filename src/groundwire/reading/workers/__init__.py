"""Worker processes that convert heavy pages, and the frames on the pipe to them: JSON, followed by bytes.

A frame consists of the length of its header and the length of its payload, four bytes each in network order, then both.
JSON contains no code, so that a compromised worker can send only text.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

__all__ = [
    "HEAD_SIZE",
    "MAX_FRAME",
    "NO_WINDOW",
    "WorkTooHeavy",
    "WorkerUnavailable",
    "kill_group",
    "pack",
    "sizes",
    "unpack",
]

NO_WINDOW: Final[int] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""The flag by which a new process on Windows opens no console, and gets no keyboard interrupt of the caller's."""

HEAD_SIZE: Final = 8
"""Size of a frame's lengths in bytes."""
MAX_FRAME: Final = 64_000_000
"""Maximum bytes of a header or a payload; ten million characters of text have at most forty million bytes."""
_HEAD: Final = struct.Struct("!II")


class WorkerUnavailable(Exception):
    """No process can be started here; the work must be done in this one, or not at all."""


class WorkTooHeavy(Exception):
    """A job exceeded its limit of memory or CPU time; its process has ended."""


def pack(header: dict[str, Any], payload: bytes = b"") -> tuple[bytes, bytes]:
    """Return a frame in two parts, to be written in sequence."""
    data = json.dumps(header).encode()
    return _HEAD.pack(len(data), len(payload)) + data, payload


def sizes(head: bytes) -> tuple[int, int]:
    """Return the lengths of the header and the payload of a frame.

    Raises:
        ValueError: it is not the start of a frame, or exceeds the maximum.
    """
    if len(head) != HEAD_SIZE:
        raise ValueError("a frame is cut off")
    header, payload = _HEAD.unpack(head)
    if max(header, payload) > MAX_FRAME:
        raise ValueError("a frame is too long")
    return header, payload


def unpack(header: bytes) -> dict[str, Any]:
    """Parse a frame's header.

    Raises:
        ValueError: it is not a JSON object.
    """
    value = json.loads(header)
    if not isinstance(value, dict):
        raise ValueError("a frame's header is not an object")
    return value


def kill_group(number: int | None) -> None:
    """Kill a process and its process group, where the system has such groups, as far as they still run.

    Args:
        number: The ID of the process that began the group; None for none.
    """
    with suppress(OSError):
        if number is None:
            return
        if sys.platform == "win32":
            os.kill(number, signal.SIGTERM)  # ends it at once
        else:
            os.killpg(number, signal.SIGKILL)
