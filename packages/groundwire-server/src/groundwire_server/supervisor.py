"""Supervision of worker processes that accept connections from one socket.

Uvicorn's own supervisor starts a worker that has died again at once and without end, replaces the workers on every
SIGHUP, and ignores a second signal to stop.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from groundwire_server.uvicorn_runner import RETIRE

_logger = logging.getLogger(__name__)

_STOP = (signal.SIGINT, signal.SIGTERM)
_HANDLED = (*_STOP, signal.SIGHUP, RETIRE)
_STABLE = 60.0  # seconds after which a worker that dies was not one that cannot run
_LONGEST_PAUSE = 30.0  # seconds before another worker is started
_AGAIN = 1.0  # seconds between two signals to those that do not end
_SIGNALLED = 128  # plus the number of the signal, as in shells


@dataclass(frozen=True, slots=True)
class Seat:
    """What a worker process is given."""

    number: int
    """Its number, from 1; that of a worker that has ended is given to another."""
    folder: Path
    """A folder for all workers, which other users cannot open."""
    is_first: bool
    """Whether no worker has accepted connections before."""
    parent: int
    """A file descriptor that can be read when the supervisor has ended."""
    ready: Callable[[], None]
    """Called when it accepts connections."""


Work = Callable[[Seat], int]
"""What a worker does; returns its exit code."""


@dataclass(eq=False, slots=True)
class _WorkerProcess:
    process: ForkProcess
    pipe: Connection
    seat: Seat
    generation: int
    since: float
    ready: bool = False
    retiring: bool = False


class Supervisor:
    """Runs workers in forked processes, and another one in place of each that dies.

    Make it, and call `run`, in the main thread of a process that has no other and no event loop.

    Args:
        work: What each worker does.
        count: The number of workers.
        folder: See `Seat`.
        hang_up: Called on SIGHUP.
        grace: Seconds that workers have to end before they are killed.
    """

    def __init__(
        self, work: Work, count: int, folder: Path, *, hang_up: Callable[[Supervisor], None], grace: float
    ) -> None:
        self._work = work
        self._count = count
        self._folder = folder
        self._hang_up = hang_up
        self._grace = grace
        self._workers: list[_WorkerProcess] = []
        self._generation = 0
        self._started = False  # whether a worker has been ready
        self._deaths = 0  # in a row, of workers that were not stable
        self._code = 0  # of the last worker, if it was never ready
        self._not_before = 0.0
        self._came: list[int] = []
        self._killed_at = float("inf")
        self._parent, self._alive = os.pipe()  # the end of this process closes the second

    def run(self) -> int:
        """Run until SIGINT or SIGTERM, or until no worker can be started; return the exit code."""
        inside, outside = socket.socketpair()
        for end in (inside, outside):
            end.setblocking(False)
        signal.set_wakeup_fd(outside.fileno(), warn_on_full_buffer=False)
        for handled in (*_STOP, signal.SIGHUP):
            signal.signal(handled, lambda *_: None)  # its number comes through the socket
        try:
            while self._came or self._start_or_retire():
                if self._came and not self._workers:
                    return _SIGNALLED + self._came[0]
                events = wait([inside, *self._handles()], self._timeout())
                if inside in events:
                    for number in inside.recv(64):
                        self._on_signal(number)
                for worker in tuple(self._workers):
                    if worker.pipe in events:
                        self._on_ready(worker)
                    if worker.process.sentinel in events:
                        self._on_end(worker)
                if time.monotonic() >= self._killed_at:
                    self.signal(signal.SIGKILL)
                    self._killed_at += _AGAIN
            return self._code
        finally:
            self.signal(signal.SIGKILL)
            for worker in self._workers:
                worker.process.join()
            signal.set_wakeup_fd(-1)

    def signal(self, number: int) -> None:
        """Send all workers a signal; those that are not ready get it when they are."""
        for worker in self._workers:
            _kill(worker, number)

    def replace(self, work: Work, count: int) -> None:
        """Replace the workers one by one, each when a new one is ready."""
        self.update(work)
        self._count = count
        self._generation += 1
        self._deaths, self._not_before = 0, 0.0

    def update(self, work: Work) -> None:
        """Change what the workers that are started from now on do."""
        self._work = work

    def _handles(self) -> list[Connection | int]:
        pipes: list[Connection | int] = [worker.pipe for worker in self._workers if not worker.ready]
        return pipes + [worker.process.sentinel for worker in self._workers]

    def _timeout(self) -> float | None:
        """Return the seconds until something is to be done without an event."""
        next_ = self._killed_at if self._came else self._not_before if self._missing() else float("inf")
        return None if next_ == float("inf") else max(0.0, next_ - time.monotonic())

    def _new(self) -> list[_WorkerProcess]:
        return [worker for worker in self._workers if worker.generation == self._generation and not worker.retiring]

    def _missing(self) -> bool:
        """Whether the next worker is to be started; one at a time is."""
        return len(new := self._new()) < self._count and all(worker.ready for worker in new)

    def _start_or_retire(self) -> bool:
        """Start the next worker and retire old ones; return whether one can be started."""
        if self._code and not any(worker.ready for worker in self._workers):
            return False
        if self._missing() and time.monotonic() >= self._not_before:
            self._start()
        new = [worker for worker in self._new() if worker.ready]
        old = [worker for worker in self._workers if worker.generation != self._generation and not worker.retiring]
        for worker in old[: max(0, len(new) + len(old) - self._count) if new else 0]:
            worker.retiring = True
            _kill(worker, RETIRE)
        return True

    def _start(self) -> None:
        numbers = {worker.seat.number for worker in self._workers}
        number = next(number for number in range(1, len(numbers) + 2) if number not in numbers)
        mine, its = multiprocessing.Pipe(duplex=False)

        def ready() -> None:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
            its.send_bytes(b"ready")

        seat = Seat(number, self._folder, not self._started, self._parent, ready)
        gc.collect()
        gc.freeze()  # what is shared with the workers stays shared: no collection writes to it
        process = multiprocessing.get_context("fork").Process(target=self._child, args=(seat,))
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)  # in the worker until it handles them
        process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        its.close()
        self._workers.append(_WorkerProcess(process, mine, seat, self._generation, time.monotonic()))

    def _child(self, seat: Seat) -> None:
        """Be a worker; in its process."""
        os.setpgid(0, 0)  # Control-C in a terminal is for the supervisor
        os.close(self._alive)
        signal.set_wakeup_fd(-1)
        sys.exit(self._work(seat))

    def _on_signal(self, number: int) -> None:
        if number in _STOP:
            if not self._came:
                self._killed_at = time.monotonic() + self._grace
            self.signal(signal.SIGINT if self._came else signal.SIGTERM)
            self._came.append(number)
        elif number == signal.SIGHUP and not self._came:
            self._hang_up(self)

    def _on_ready(self, worker: _WorkerProcess) -> None:
        try:
            worker.pipe.recv_bytes()
        except (EOFError, OSError):
            return  # it has ended
        worker.ready = self._started = True
        self._code = 0

    def _on_end(self, worker: _WorkerProcess) -> None:
        worker.process.join()
        self._workers.remove(worker)
        worker.pipe.close()
        (self._folder / f"{worker.seat.number}.sock").unlink(missing_ok=True)
        if worker.retiring or self._came:
            return
        code, what = worker.process.exitcode or 0, f"Worker {worker.seat.number} (process {worker.process.pid})"
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        self._code = 0 if worker.ready else max(1, code)
        self._deaths = 0 if worker.ready and time.monotonic() - worker.since >= _STABLE else self._deaths + 1
        pause = min(_LONGEST_PAUSE, 2.0 ** (self._deaths - 2)) if self._deaths > 1 else 0.0
        self._not_before = time.monotonic() + pause
        if self._started:
            _logger.error("%s %s; another one is started in %g seconds", what, how, pause)


def _kill(worker: _WorkerProcess, number: int) -> None:
    if worker.process.exitcode is None and worker.process.pid is not None:
        os.kill(worker.process.pid, number)
