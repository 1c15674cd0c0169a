"""With this folder on PYTHONPATH, Groundwire's code sees what it would see on Windows; all other code sees this system.

What it imports lacks the modules and names that only POSIX has, `sys.platform` is "win32", event loops refuse what the
proactor loop refuses, and pipes have the encoding of an English Windows. Files and processes stay those of this system.
"""

from __future__ import annotations

import asyncio
import builtins
import io
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

_ABSENT_MODULES = frozenset(("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"))
_ABSENT = {
    "os": "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC WNOHANG chown chroot fchmod fchown fork "
    "forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid killpg "
    "lchown mkfifo mknod nice openpty pidfd_open pread preadv pwrite pwritev register_at_fork sched_getaffinity "
    "sched_yield sendfile setegid seteuid setgid setpgid setsid setuid statvfs sync sysconf ttyname uname wait wait3 "
    "wait4 waitid",
    "signal": "SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGSYS SIGTRAP "
    "SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ alarm getitimer pause "
    "pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo",
    "socket": "AF_UNIX SO_REUSEPORT CMSG_LEN recv_fds send_fds sethostname",
    "asyncio": "open_unix_connection start_unix_server SafeChildWatcher ThreadedChildWatcher PidfdChildWatcher",
    "select": "epoll poll kqueue",
    "time": "clock_gettime clock_settime pthread_getcpuclockid tzset",
    "sys": "abiflags getdlopenflags setdlopenflags",
}
_OTHER: Mapping[str, Mapping[str, object]] = {"sys": {"platform": "win32"}, "os": {"supports_dir_fd": frozenset()}}


class _AsOnWindows(ModuleType):
    """A module of this system without some of its names."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__)
        for name, value in (("_real", real), ("_absent", frozenset(_ABSENT[real.__name__].split()))):
            vars(self)[name] = value
        vars(self).update(_OTHER.get(real.__name__, {}))

    def __getattr__(self, name: str) -> Any:
        if name in vars(self)["_absent"]:
            raise AttributeError(f"{self.__name__}.{name} is not there on Windows", name=name, obj=self)
        return getattr(vars(self)["_real"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(vars(self)["_real"], name, value)


def _refuse(*arguments: object) -> NoReturn:
    raise NotImplementedError


_import = builtins.__import__
_seen: dict[str, ModuleType] = {}


def _as_on_windows(
    name: str,
    importer: Mapping[str, object] | None = None,
    variables: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    module = _import(name, importer, variables, fromlist or (), level)
    if not str((importer or {}).get("__package__")).startswith("groundwire") or level:
        return module
    if name in _ABSENT_MODULES:
        raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
    if name not in _ABSENT:
        return module
    return _seen.setdefault(name, _AsOnWindows(module))


for _loop in (asyncio.BaseEventLoop, *asyncio.SelectorEventLoop.__mro__):
    for _name in ("add_reader", "add_writer", "add_signal_handler", "remove_signal_handler"):
        if _name in vars(_loop):
            setattr(_loop, _name, _refuse)
for _stream in (sys.stdin, sys.stdout, sys.stderr):
    if isinstance(_stream, io.TextIOWrapper):
        _stream.reconfigure(encoding="cp1252")
if sys.flags.warn_default_encoding:
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module="groundwire")
vars(builtins)["__import__"] = _as_on_windows  # callers pass its arguments by position
