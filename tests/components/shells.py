"""Real shells on a pseudo-terminal: keys are typed, and the screen is read."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

__all__ = ["Shell", "started"]

_CONTROL = re.compile(r"\x1b(?:\][^\x07]*\x07|\[[0-9;?]*[A-Za-z]|[()][A-Za-z0-9]|[=>])|[\x07\r]")


class Shell:
    """A shell for typing."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._screen = ""

    def type(self, keys: str) -> None:
        """Press keys, and clear the screen buffer."""
        self._screen = ""
        os.write(self._terminal, keys.encode())

    def wait_for(self, pattern: str, seconds: float = 100) -> str:
        """Read the screen until `pattern` matches, and return it without control sequences.

        Raises:
            AssertionError: It does not, and here is what stood there.
        """
        end = time.monotonic() + seconds
        while not re.search(pattern, shown := _CONTROL.sub("", self._screen), re.MULTILINE):
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{pattern!r} did not appear within {seconds:g} s:\n{shown}"
            self._screen += os.read(self._terminal, 65536).decode(errors="replace")
        return shown


@contextmanager
def started(command: Sequence[str], environment: Mapping[str, str], folder: str) -> Iterator[Shell]:
    """Start a shell; it is stopped at the end of the block."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *command], stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environment), cwd=folder
    )
    os.close(theirs)
    try:
        yield Shell(ours)
    finally:
        process.kill()
        process.wait(100)
        os.close(ours)
