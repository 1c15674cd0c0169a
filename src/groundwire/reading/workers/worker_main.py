"""The worker process: jobs on standard input, results on standard output.

It sets operating system limits for itself and gives up access to files, network and other processes before the first
job, so that an exploited parser is contained.
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
    """Run jobs until the end of standard input.

    The two command line arguments are the memory limit of the process in bytes, and the CPU time limit of each job in
    seconds.
    """
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not mix with the frames
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
    """Run a job: a function of this package, given as `MODULE:FUNCTION` by the parent process."""
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
    """Open the process's status file: after sandboxing, no file can be opened."""
    with suppress(OSError):
        return os.open("/proc/self/status", os.O_RDONLY)
    return -1


def _peak() -> int:
    """Return the peak memory of the process, in bytes; 0 if unknown.

    On Linux, `ru_maxrss` is unsuitable: a process inherits the value of its parent (getrusage(2)).
    """
    with suppress(OSError, ValueError, IndexError):
        lines = os.pread(_status(), 8_192, 0).decode("ascii", "replace").splitlines()
        return next((int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmHWM:")), 0)
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1_024  # getrusage(2) returns bytes on macOS, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _limit_memory(size: int) -> None:
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))
    except (ImportError, ValueError, OSError):
        return  # unsupported: macOS has the limit but ignores it


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
