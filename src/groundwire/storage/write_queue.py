"""A single writer thread that combines several jobs into one transaction."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Work", "Writer"]

_logger = logging.getLogger(__name__)

_BATCH = 64  # jobs per transaction; other processes wait as long as it takes
_LINGER = 0.01  # seconds for which a job that no one waits for may wait for others

_T = TypeVar("_T")

Work: TypeAlias = "Callable[[Connection], object]"
"""Works inside a transaction."""
_Job: TypeAlias = "tuple[Work, asyncio.Future[Any] | None]"  # and where its answer is waited for


class Writer:
    """Runs jobs in order, on a thread that is started by the first.

    The thread takes all that wait into one transaction and tells of all of them at once, so that many calls at the
    same time cost little more than one.

    Args:
        commit: Runs jobs in one transaction and returns their answers; raises StoreError, and then none was done.
    """

    def __init__(self, commit: Callable[[Sequence[Work]], Sequence[object]]) -> None:
        self._commit = commit
        self._waiting: deque[_Job] = deque()
        self._lock = threading.Lock()
        self._draining = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-store")
        self._closed = False
        self.put_off: int = 0
        """How many jobs of `run_later` are not committed yet."""

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Run a job and return its result.

        A call that is canceled before its job begins leaves no trace; later it may or may not.

        Args:
            work: Does it, on the writer's thread; it may run a second time if the transaction could not be committed.

        Raises:
            StoreError: it could not be done, or the writer was closed.
        """
        done: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise StoreError("The store is closed.")
        self._put(work, done)
        self._start()
        return await done

    def run_later(self, work: Work) -> bool:
        """Run a job without a result that is waited for: together with the next one, or in a hundredth of a second.

        Returns:
            Whether it will run; not when the writer was closed.
        """
        if self._closed:
            return False
        self._put(work, None)
        asyncio.get_running_loop().call_later(_LINGER, self._start)
        return True

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run what is waiting, then `last`, and end the thread."""
        if self._closed:
            return
        self._closed = True
        self._start()
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, last)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._thread.shutdown()  # it is idle, so this takes no time

    def _put(self, work: Work, done: asyncio.Future[Any] | None) -> None:
        with self._lock:
            self._waiting.append((work, done))
            self.put_off += done is None

    def _start(self) -> None:
        """Let the thread run what waits, unless it does already."""
        with self._lock:
            begin = bool(self._waiting) and not self._draining
            self._draining = self._draining or begin
        if begin:
            self._thread.submit(self._drain)

    def _drain(self) -> None:
        """Run jobs until none waits."""
        while batch := self._next():
            jobs = [job for job in batch if job[1] is None or not job[1].done()]  # a canceled call has left
            answers: Sequence[object] = [None] * len(jobs)
            failure: StoreError | None = None
            try:
                if jobs:
                    answers = self._commit([work for work, _ in jobs])
            except StoreError as exc:
                failure = exc
            except Exception:  # the thread continues, and no call is left waiting
                _logger.exception("The store failed in an unexpected way")
                failure = StoreError("The store failed in an unexpected way.")
            if put_off := sum(done is None for _, done in batch):
                with self._lock:
                    self.put_off -= put_off
                if failure is not None:
                    _logger.info("Not stored: %s", failure)
            _tell(zip((done for _, done in jobs), answers, strict=True), failure)

    def _next(self) -> list[_Job]:
        """Return the next jobs; if there are none, the next call restarts the thread's work."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            self._draining = bool(batch)
        return batch


def _tell(ends: Iterable[tuple[asyncio.Future[Any] | None, object]], failure: StoreError | None) -> None:
    """Give all waiting callers their answers or the failure, each event loop once."""
    waiting: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], object]]] = {}
    for future, answer in ends:
        if future is not None:
            waiting.setdefault(future.get_loop(), []).append((future, answer))
    for loop, those in waiting.items():
        with suppress(RuntimeError):  # the loop was closed: nothing waits there any more
            loop.call_soon_threadsafe(_wake, those, failure)


def _wake(ends: Iterable[tuple[asyncio.Future[Any], object]], failure: StoreError | None) -> None:
    for future, answer in ends:
        if not future.done():
            if failure is None:
                future.set_result(answer)
            else:
                future.set_exception(failure)
