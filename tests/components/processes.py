"""Programs that a test needs: started, awaited and ended with all their children; and their ports."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

_STEP = 0.05  # seconds between two looks at a program that is starting
_GRACE = 3.0  # seconds between asking a program to end and ending it


class Unavailable(Exception):
    """A component is not available on this machine; the message has the reason and the end of its log."""


class Program:
    """A running program in its own process group.

    Args:
        name: What it is, for messages.
        command: The program and its arguments.
        env: Its whole environment; nothing of ours is handed on.
        log: The file that takes its output.
    """

    def __init__(self, name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path) -> None:
        self._name = name
        self._log = log
        self._stopped = False
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> float:
        """Wait until `ready` says yes, and return the seconds that took.

        Raises:
            Unavailable: The program ended or the time was up; it is not running any more.
        """
        began = time.monotonic()
        try:
            while not self._is(ready):
                if time.monotonic() - began > seconds:
                    raise Unavailable(f"{self._name} was not ready after {seconds:g} s: {self._tail()}")
                with suppress(subprocess.TimeoutExpired):
                    code = self._process.wait(_STEP)
                    raise Unavailable(f"{self._name} ended with code {code}: {self._tail()}")
        except BaseException:  # also when the test's own time is up meanwhile
            self.stop()
            raise
        return time.monotonic() - began

    def stop(self) -> None:
        """End the whole group; do nothing the second time, when the number may belong to another process."""
        if self._stopped:
            return
        self._stopped = True
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)

    def kill(self) -> None:
        """Kill it, as the system does when memory runs out."""
        self._process.kill()
        self._process.wait(_GRACE)
        self.stop()

    def end(self, seconds: float) -> int:
        """Ask it to end, and return its code when it has.

        Raises:
            Unavailable: It did not in so many seconds; it is not running any more.
        """
        self._process.terminate()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired as exc:
            raise Unavailable(f"{self._name} did not end within {seconds:g} s: {self._tail()}") from exc
        finally:
            self.stop()

    def _is(self, ready: Callable[[], bool]) -> bool:
        with suppress(OSError, HTTPException):
            return ready() and self._process.poll() is None
        return False

    def _tail(self) -> str:
        return self._log.read_text("utf-8", "replace")[-1_000:].strip() or "it printed nothing"


class ReservedPort:
    """A port of 127.0.0.1 that stays reserved while this object lives.

    The port stays bound here without listening, so neither another test worker nor an outgoing connection is given it.
    A server that sets SO_REUSEADDR, as all those of the tests do, can still listen on it, also after a restart.

    Args:
        number: A port to reserve instead of one that the kernel chooses.

    Raises:
        Unavailable: The port with this number is in use or reserved.
    """

    def __init__(self, number: int = 0) -> None:
        with socket.socket() as bound:
            try:
                bound.bind(("127.0.0.1", number))  # without SO_REUSEADDR: two reservations exclude each other
            except OSError as error:
                remedy = f"end what listens there (ss -ltnp 'sport = :{number}')"
                raise Unavailable(f"port {number} of 127.0.0.1 cannot be used ({error.strerror}): {remedy}") from error
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.number: int = bound.getsockname()[1]
            self.release = weakref.finalize(self, os.close, bound.detach())
