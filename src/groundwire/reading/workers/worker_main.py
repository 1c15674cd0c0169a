"""The process that converts heavy pages: reads bodies from standard input, writes their Markdown to standard output.

It holds itself to limits of the operating system, so that whatever a page makes of the code here ends here.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from groundwire.reading.convert import convert
from groundwire.reading.workers.frames import HEAD_SIZE, pack, sizes, unpack

__all__ = ["main"]


def main() -> None:
    """Convert page after page until standard input ends.

    The two arguments of the command line are the bytes of memory that the process may use, and the seconds of
    processor time that each page may take.
    """
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    pages, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the frames
    _limit_memory(memory)
    while head := pages.read(HEAD_SIZE):
        header, payload = sizes(head)
        asked = unpack(pages.read(header))
        body = pages.read(payload)
        _limit_time(seconds)
        _answer(answers, *_convert(body, asked))


def _convert(body: bytes, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        converted = convert(
            body, asked["content_type"], asked["url"], headers=asked["headers"], seconds=asked["seconds"]
        )
    except MemoryError:
        return {"failed": "memory"}, b""
    except RecursionError:
        return {"failed": "depth"}, b""
    fields = asdict(converted)
    content = fields["extracted"].pop("content").encode("utf-8", "replace")
    return fields | {"peak": _peak()}, content


def _answer(answers: BinaryIO, header: dict[str, Any], payload: bytes) -> None:
    answers.writelines(pack(header, payload))
    answers.flush()


def _peak() -> int:
    """Return the most memory that the process ever used, in bytes; 0 where it cannot be told.

    On Linux `ru_maxrss` is not it: a process takes over the figure of the one that started it (getrusage(2)).
    """
    with suppress(OSError, ValueError, IndexError), Path("/proc/self/status").open(encoding="ascii") as lines:
        return next((int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmHWM:")), 0)
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1_024  # getrusage(2) of macOS counts bytes, others kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _limit_memory(size: int) -> None:
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))
    except (ImportError, ValueError, OSError):
        return  # a platform without it: macOS knows the limit and does not take it


def _limit_time(seconds: int) -> None:
    try:
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + seconds + 1, hard))
    except (ImportError, ValueError, OSError):
        return


if __name__ == "__main__":
    main()
