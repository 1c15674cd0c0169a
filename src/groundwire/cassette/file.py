"""The file of a cassette: a line that says what it is, then a line of JSON for each exchange.

Every exchange is written at once, under a lock on the file, so that several processes may add to one cassette and one
that is killed keeps what it has.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO

from groundwire._version import __version__
from groundwire.cassette.exchange import Exchange, from_line, to_line
from groundwire.errors import ConfigurationError

__all__ = ["CassetteFile", "count_exchanges", "load"]

_MARK = "groundwire_cassette"
_VERSION = 1
_STEP = 65_536  # bytes


class CassetteFile:
    """A cassette that is being recorded. Threads and processes may share it.

    Args:
        path: The file. Its folder is made when it does not exist.
        append: Whether exchanges are added to those that it has already.

    Raises:
        ConfigurationError: the file cannot be written, or is no cassette.
    """

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._known = 0  # bytes whose lines are counted
        self._lines = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if _at_end(file):
                    file.seek(0)
                    _check_mark(file.readline(), path)  # before it is emptied: the path may be mistyped
                if not append:
                    file.truncate(0)
                _begin(file)
        except OSError as error:
            raise ConfigurationError(f"The cassette {path} cannot be written: {error.strerror or error}.") from error

    def add(self, exchange: Exchange) -> None:
        """Write one exchange behind the others.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock, self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _mend(file)
            _begin(file)
            self._count(file)
            file.write(_encoded(to_line(exchange, self._lines)))

    def _count(self, file: BinaryIO) -> None:
        """Count the lines that other processes and we have added since the last time."""
        size = _at_end(file)
        if size < self._known:  # somebody began it anew
            self._known = self._lines = 0
        file.seek(self._known)
        while piece := file.read(_STEP):
            self._lines += piece.count(b"\n")
        self._known = size


def load(path: Path) -> list[Exchange]:
    """Read all exchanges of a cassette; a last line that was cut off when its writer was killed is left out.

    Raises:
        ConfigurationError: there is no such file, it is no cassette, or a line cannot be understood.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"There is no cassette {path}. Record it first: groundwire record {path} -- COMMAND."
        ) from error
    except OSError as error:
        raise ConfigurationError(f"The cassette {path} cannot be read: {error.strerror or error}.") from error
    first, *lines = data.split(b"\n")
    _check_mark(first, path)
    found = []
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            found.append(from_line(json.loads(line)))
        except (ValueError, RecursionError) as error:
            if number == len(lines) + 1:
                break
            raise ConfigurationError(f"The cassette {path} has a fault in line {number}: {error}.") from error
    return found


def count_exchanges(path: Path) -> int:
    """Return how many exchanges a file holds; none when it does not exist."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return max(0, sum(piece.count(b"\n") for piece in iter(lambda: file.read(_STEP), b"")) - 1)


def _check_mark(line: bytes, path: Path) -> None:
    try:
        mark = json.loads(line)
        version = mark.get(_MARK) if isinstance(mark, dict) else None
    except ValueError:
        version = None
    if version is None:
        raise ConfigurationError(f"{path} is not a cassette: its first line says nothing of {_MARK}.")
    if version != _VERSION:
        raise ConfigurationError(f"The cassette {path} is of version {version}; this Groundwire knows {_VERSION}.")


def _begin(file: BinaryIO) -> None:
    """Write the first line if there is none."""
    if not _at_end(file):
        file.write(_encoded({_MARK: _VERSION, "recorded_with": f"groundwire {__version__}"}))
        file.flush()


def _mend(file: BinaryIO) -> None:
    """End a last line that has no end, or take it away when its writer was killed in the middle of it."""
    size = _at_end(file)
    start, tail = size, b""
    while start and b"\n" not in tail:
        step = min(_STEP, start)
        start -= step
        file.seek(start)
        tail = file.read(step) + tail
    line = tail.rpartition(b"\n")[2]
    if not line:
        return
    try:
        json.loads(line)
    except ValueError:
        file.truncate(size - len(line))
    else:
        file.write(b"\n")
        file.flush()


def _at_end(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


def _encoded(line: dict[str, Any]) -> bytes:
    try:
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # lone surrogates, which stand for bytes of a header that are not UTF-8
        return json.dumps(line).encode() + b"\n"
