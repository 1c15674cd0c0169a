"""A single writer thread that combines several jobs into one transaction."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Job", "Writer"]

_logger = logging.getLogger(__name__)

_BATCH = 64  # jobs per transaction; other processes wait as long as it takes
_LINGER = 0.01  # seconds for which the thread waits for more to do

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Job(Generic[_T_co]):
    """Work inside a transaction.

    Args:
        work: Does it, on the writer's thread; it may run a second time if the transaction could not be committed.
    """

    def __init__(self, work: Callable[[Connection], _T_co]) -> None:
        self._work = work
        self._answers: list[_T_co] = []
        self.failure: StoreError | None = None
        self.abandoned = False

    @property
    def done(self) -> bool:
        """Whether its transaction was committed, or failed."""
        return bool(self._answers) or self.failure is not None

    def run(self, db: Connection) -> Callable[[], None]:
        """Run the work and return the function that publishes its result after the commit."""
        answer = self._work(db)
        return lambda: self._answers.append(answer)

    def answer(self) -> _T_co:
        """Return the result of the work.

        Raises:
            StoreError: the transaction failed.
        """
        if self.failure is not None:
            raise self.failure
        return self._answers[0]


class Writer:
    """Runs jobs in order, on a thread that is started by the first.

    The thread takes all that wait into one transaction and tells of all of them at once, so that many calls at the
    same time cost little more than one.

    Args:
        commit: Runs jobs in one transaction and makes their answers known; raises StoreError, and then none was done.
    """

    def __init__(self, commit: Callable[[Sequence[Job[object]]], None]) -> None:
        self._commit = commit
        self._waiting: deque[tuple[Job[object], asyncio.Future[None] | None]] = deque()
        self._lock = threading.Lock()
        self._bell = threading.Lock()  # held, except for a moment when a job has come that does not wait for others
        self._bell.acquire()
        self._urgent = 0
        self._draining = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-store")
        self._closed = False
        self.put_off: int = 0
        """How many jobs of `run_later` are not committed yet."""

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Run a job and return its result.

        A call that is canceled before its job begins leaves no trace; later it may or may not.

        Raises:
            StoreError: it could not be done, or the writer was closed.
        """
        job = Job(work)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(job, done)
        try:
            await done
        finally:
            job.abandoned = True
        return job.answer()

    def run_later(self, work: Callable[[Connection], object]) -> bool:
        """Run a job without a result that is waited for: together with the next one, or in a hundredth of a second.

        Returns:
            Whether it will run; not when the writer was closed.
        """
        if self._closed:
            return False
        self._put(Job(work), None)
        return True

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run what is waiting, then `last`, and end the thread."""
        if self._closed:
            return
        self._closed = True
        self._ring()
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, last)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._thread.shutdown()  # it is idle, so this takes no time

    def _put(self, job: Job[object], done: asyncio.Future[None] | None) -> None:
        if self._closed:
            raise StoreError("The store is closed.")
        with self._lock:
            self._waiting.append((job, done))
            self._urgent += done is not None
            self.put_off += done is None
            begin, self._draining = not self._draining, True
        if begin:
            self._thread.submit(self._drain)
        elif done is not None:
            self._ring()

    def _ring(self) -> None:
        """End the thread's waiting."""
        with self._lock:
            if self._bell.locked():
                self._bell.release()

    def _drain(self) -> None:
        """Run jobs until none comes for a moment."""
        while batch := self._next():
            jobs = [job for job, _ in batch if not job.abandoned]
            failure = StoreError("The store failed in an unexpected way.")
            try:
                if jobs:
                    self._commit(jobs)
            except StoreError as exc:
                failure = exc
            except Exception:  # the thread continues, and no call is left waiting
                _logger.exception("The store failed in an unexpected way")
            for job in jobs:
                if not job.done:
                    job.failure = failure
            futures = [done for _, done in batch if done is not None]
            if len(futures) < len(batch):
                with self._lock:
                    self.put_off -= len(batch) - len(futures)
                if any(job.failure is not None for job, done in batch if done is None):
                    _logger.info("Not stored: %s", failure)
            _tell(futures)

    def _next(self) -> list[tuple[Job[object], asyncio.Future[None] | None]]:
        """Return the next jobs; if there are none, the next call restarts the thread's work."""
        if not self._urgent and not self._closed:
            self._bell.acquire(timeout=_LINGER)
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            self._urgent -= sum(done is not None for _, done in batch)
            self._bell.acquire(blocking=False)  # it rang for these, perhaps when nothing waited for it
            self._draining = bool(batch)
        return batch


def _tell(futures: Iterable[asyncio.Future[None]]) -> None:
    """Wake all waiting callers, each event loop once."""
    waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for future in futures:
        waiting.setdefault(future.get_loop(), []).append(future)
    for loop, those in waiting.items():
        with suppress(RuntimeError):  # the loop was closed: nothing waits there any more
            loop.call_soon_threadsafe(_wake, those)


def _wake(futures: Iterable[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
