"""The process in which pages are read and long texts looked through: jobs on standard input, results on the output.

It holds itself to limits of the operating system, and gives up files, network and other processes before the first job,
so that whatever a page makes of the code here ends here.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO

import groundwire.reading.convert  # noqa: F401  # while everything may still be loaded
from groundwire.reading.workers.frames import HEAD_SIZE, pack, sizes, unpack
from groundwire.reading.workers.sandbox import confine

__all__ = ["main"]


def main() -> None:
    """Do job after job until standard input ends.

    The two arguments of the command line are the bytes of memory that the process may use, and the seconds of
    processor time that each job may take.
    """
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the frames
    _limit_memory(memory)
    _status()
    confined = confine()
    while head := jobs.read(HEAD_SIZE):
        header, payload = sizes(head)
        asked = unpack(jobs.read(header))
        body = jobs.read(payload)
        _limit_time(seconds)
        fields, result = _done(asked, body)
        _answer(answers, fields | {"peak": _peak(), "confined": confined}, result)


def _done(asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Do a job: a function of this package, named `MODULE:FUNCTION` by the process that started this one."""
    module, _, name = str(asked["job"]).partition(":")
    try:
        fields, result = getattr(import_module(module), name)(asked, body)
    except MemoryError:
        return {"failed": "memory"}, b""
    except RecursionError:
        return {"failed": "depth"}, b""
    return fields, result


def _answer(answers: BinaryIO, header: dict[str, Any], payload: bytes) -> None:
    answers.writelines(pack(header, payload))
    answers.flush()


@cache
def _status() -> int:
    """Return what the system says of this process as an open file: later none can be opened."""
    with suppress(OSError):
        return os.open("/proc/self/status", os.O_RDONLY)
    return -1


def _peak() -> int:
    """Return the most memory that the process ever used, in bytes; 0 where that is unknown.

    On Linux `ru_maxrss` is not it: a process takes over the figure of the one that started it (getrusage(2)).
    """
    with suppress(OSError, ValueError, IndexError):
        lines = os.pread(_status(), 8_192, 0).decode("ascii", "replace").splitlines()
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
