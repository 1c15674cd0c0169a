"""Worker processes that convert heavy pages, and the frames on the pipe to them: JSON, followed by bytes.

A frame is a line of JSON, its header, followed by as many bytes as its `size` says. JSON contains no code, so that a
compromised worker can send only text.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

__all__ = [
    "MAX_FRAME",
    "NO_WINDOW",
    "WorkTooHeavy",
    "WorkerUnavailable",
    "kill_group",
    "pack",
    "unpack",
]

NO_WINDOW: Final[int] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""The flag by which a new process on Windows opens no console, and gets no keyboard interrupt of the caller's."""

MAX_FRAME: Final = 64_000_000
"""Maximum bytes of a header or a payload; ten million characters of text have at most forty million bytes."""


class WorkerUnavailable(Exception):
    """No process can be started here; the work must be done in this one, or not at all."""


class WorkTooHeavy(Exception):
    """A job exceeded its limit of memory or CPU time; its process has ended."""


def pack(header: dict[str, Any], payload: bytes = b"") -> tuple[bytes, bytes]:
    """Return a frame in two parts, to be written in sequence."""
    return json.dumps(header | {"size": len(payload)}).encode() + b"\n", payload


def unpack(line: bytes) -> tuple[dict[str, Any], int]:
    """Parse a frame's header; return it with the length of the payload.

    Raises:
        ValueError: it is not the header of a frame, or the payload exceeds the maximum.
    """
    header = json.loads(line)
    if not isinstance(header, dict) or not isinstance(size := header.pop("size", None), int):
        raise ValueError("a frame has no header")
    if not 0 <= size <= MAX_FRAME:
        raise ValueError("a frame is too long")
    return header, size


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
