"""The worker process: jobs on standard input, results on standard output.

It holds itself to limits of the operating system, and gives up files, network and other processes before the first job,
so that whatever a page makes of the code here ends here: Landlock (https://docs.kernel.org/userspace-api/landlock.html)
leaves it nothing but reading the code that it runs on; a seccomp filter
(https://docs.kernel.org/userspace-api/seccomp_filter.html) refuses sockets, programs, signals and changes of files.
Both are asked for through `ctypes`, need no privilege, and hold for the rest of the process's life. A system without
one of them goes on without it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import groundwire.reading.convert  # noqa: F401  # while everything may still be loaded
from groundwire.reading.workers import pack, unpack

if sys.platform != "win32":
    import resource

_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_READ_RIGHTS: Final = 1 << 2 | 1 << 3  # files and folders
_RIGHTS: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))  # by the version that brought them
_NET: Final = (4, 1 << 0 | 1 << 1)  # to bind, to connect
_SCOPES: Final = (6, 1 << 0 | 1 << 1)  # abstract sockets and signals to other processes
_PACKAGES: Final = (
    "docutils",
    "groundwire",
    "lxml",
    "multidict",
    "pydantic",
    "pydantic_core",
    "pypdfium2",
    "python_calamine",
    "turbohtml",
)
"""What may be loaded while a page is read, wherever it is installed."""

# the audit number, and the column below
_MACHINES: Mapping[str, tuple[int, int]] = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_REFUSED_CALLS: Final = (
    # the network
    (41, 198), (53, 199), (42, 203), (49, 200), (50, 201), (43, 202), (288, 242), (44, 206), (46, 211), (307, 269),
    # programs, other processes and their memory
    (59, 221), (322, 281), (57, None), (58, None), (62, 129), (200, 130), (234, 131), (129, 138), (297, 240),
    (424, 424), (434, 434), (438, 438), (101, 117), (310, 270), (311, 271), (141, 140), (251, 30),
    # changes of files that Landlock does not know, and all of them where there is none
    (85, None), (87, None), (263, 35), (82, None), (264, 38), (316, 276), (83, None), (258, 34), (84, None), (86, None),
    (265, 37), (88, None), (266, 36), (90, None), (91, 52), (268, 53), (452, 452), (92, None), (93, 55), (94, None),
    (260, 54), (76, 45), (133, None), (259, 33), (188, 5), (189, 6), (190, 7), (280, 88), (437, 437),
    # the system
    (272, 97), (308, 268), (165, 40), (166, 39), (155, 41), (161, 51), (321, 280), (298, 241), (323, 282), (250, 219),
    (248, 217), (249, 218), (425, 425), (426, 426), (427, 427), (319, 279), (304, 265), (175, 105), (313, 273),
    (246, 104),
)  # fmt: skip
"""Calls that reading a page has no use for, by their numbers on x86-64 and on ARM (None: there is no such call)."""
_CLONE3, _CLONE, _PRLIMIT, _OPEN, _OPENAT = 435, (56, 220), (302, 261), (2, None), (257, 56)
_THREAD: Final = 0x10000  # a flag of clone: a thread of this process and no new one
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_LOAD, _EQUAL, _GREATER, _SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ, JGE, JSET, BPF_RET
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # their offsets in struct seccomp_data


def confine() -> tuple[str, ...]:
    """Give up everything but what reading a page needs, as far as the system can take it away.

    Call it before there is a second thread, which would keep everything.

    Returns:
        What now holds: `landlock`, `seccomp`, both or neither.
    """
    restrictions: list[tuple[str, bool]] = []
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            restrictions = [("landlock", _restrict_files(libc)), ("seccomp", _refuse_calls(libc))]
    return tuple(name for name, holds in restrictions if holds)


def _restrict_files(libc: ctypes.CDLL) -> bool:
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = sum(bits for since, bits in _RIGHTS if version >= since)
    attributes = struct.pack(
        "=QQQ", rights, _NET[1] if version >= _NET[0] else 0, _SCOPES[1] if version >= _SCOPES[0] else 0
    )
    size = 24 if version >= _SCOPES[0] else 16 if version >= _NET[0] else 8
    rules = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        for path in _code():
            with suppress(OSError):
                folder = os.open(path, getattr(os, "O_PATH", 0))
                rule = struct.pack("=Qi", _READ_RIGHTS if path.is_dir() else 1 << 2, folder)
                libc.syscall(_ADD_RULE, rules, 1, rule, 0)
                os.close(folder)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _code() -> Iterator[Path]:
    """Yield where the code is that this process runs on, and what may still be loaded.

    Not every folder that is imported from: a caller's own may hold the file with its keys.
    """
    yield from (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from (Path(path) for path in sys.path if Path(path).name in {"site-packages", "dist-packages", "lib-dynload"})
    yield from (Path(path) for path in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"))
    if sys.pycache_prefix:
        yield Path(sys.pycache_prefix)
    for name in _PACKAGES:
        with suppress(ImportError, ValueError):
            spec = find_spec(name)
            yield from map(Path, (spec.submodule_search_locations or ()) if spec is not None else ())


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _refuse_calls(libc: ctypes.CDLL) -> bool:
    machine = _MACHINES.get(platform.machine())
    if machine is None or sys.maxsize < 2**32:
        return False
    audit, column = machine
    code = b"".join(_instructions(audit, column))
    program = _Program(len(code) // 8, code)
    return bool(libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


def _instructions(audit: int, column: int) -> Iterator[bytes]:
    """Yield the filter: what is not refused is allowed (struct sock_filter of linux/filter.h)."""
    refuse = _step(_RETURN, _ERROR | _EPERM)
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, audit, yes=1) + _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    if column == 0:
        yield _step(_GREATER, 0x40000000, no=1) + _step(_RETURN, _KILL)  # the other numbers of x32
    for numbers in _REFUSED_CALLS:
        if (number := numbers[column]) is not None:
            yield _step(_EQUAL, number, no=1) + refuse
    yield _step(_EQUAL, _CLONE3, no=1) + _step(_RETURN, _ERROR | _ENOSYS)  # its flags cannot be seen; clone follows
    allow = _step(_RETURN, _ALLOW)
    yield _step(_EQUAL, _CLONE[column], no=4) + _step(_LOAD, _argument(0)) + _step(_SET, _THREAD, no=1) + allow + refuse
    yield _step(_EQUAL, _PRLIMIT[column], no=4) + _step(_LOAD, _argument(0)) + _step(_EQUAL, 0, no=1) + allow + refuse
    for numbers, place in ((_OPEN, 1), (_OPENAT, 2)):
        if (number := numbers[column]) is not None:
            yield (
                _step(_EQUAL, number, no=4)
                + _step(_LOAD, _argument(place))
                + _step(_SET, _WRITE_FLAGS, no=1)
                + refuse
                + allow
            )
    yield allow


def _argument(place: int) -> int:
    return _ARGUMENTS + 8 * place  # the lower half, where the first byte is the lowest


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def main() -> None:
    """Run jobs until the end of standard input.

    The two command line arguments are the memory limit of the process in bytes, and the CPU time limit of each job in
    seconds.
    """
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not mix with the frames
    _limit_memory(memory)
    confine()
    while line := jobs.readline():
        request, size = unpack(line)
        body = jobs.read(size)
        _limit_time(seconds)
        answers.writelines(pack(*_run(request, body)))
        answers.flush()


def _run(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Run a job: a function of this package, given as `MODULE:FUNCTION` by the parent process."""
    module, _, name = str(request["job"]).partition(":")
    try:
        fields, result = getattr(import_module(module), name)(request, body)
    except MemoryError:
        return {"failed": "memory"}, b""
    except RecursionError:
        return {"failed": "depth"}, b""
    return fields, result


def _limit_memory(size: int) -> None:
    with suppress(ValueError, OSError):  # unsupported: macOS has the limit but ignores it
        if sys.platform != "win32":
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (size, hard))


def _limit_time(seconds: int) -> None:
    with suppress(ValueError, OSError):
        if sys.platform != "win32":
            usage = resource.getrusage(resource.RUSAGE_SELF)
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + seconds + 1, hard))


if __name__ == "__main__":
    main()
