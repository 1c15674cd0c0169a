"""One thread that does all writing, several jobs in one transaction."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, TypeVar

from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Job", "Writer"]

_BATCH = 64  # jobs in one transaction; other processes wait as long as it takes

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Job(Generic[_T_co]):
    """Something to do inside a transaction.

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
        """Do the work and return the function that makes its answer known, for after the commit."""
        answer = self._work(db)
        return lambda: self._answers.append(answer)

    def answer(self) -> _T_co:
        """Return what the work returned.

        Raises:
            StoreError: the transaction failed.
        """
        if self.failure is not None:
            raise self.failure
        return self._answers[0]


class Writer:
    """Runs jobs in the order in which they come, on a thread that starts with the first.

    Args:
        commit: Runs jobs in one transaction and makes their answers known; raises StoreError, and then none was done.
    """

    def __init__(self, commit: Callable[[Sequence[Job[object]]], None]) -> None:
        self._commit = commit
        self._waiting: deque[Job[object]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-store")
        self._closed = False

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Run one job and return its answer.

        A call that is cancelled before its job begins leaves no trace; later it may or may not.

        Raises:
            StoreError: it could not be done, or the writer was closed.
        """
        if self._closed:
            raise StoreError("The store was closed.")
        job = Job(work)
        self._waiting.append(job)
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._drain, job)
        finally:
            job.abandoned = True
        return job.answer()

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run what is waiting, then `last`, and end the thread."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, last)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._thread.shutdown()  # it has nothing left to do, so this takes no time

    def _drain(self, job: Job[object]) -> None:
        """Run jobs until this one is done; those after it find theirs done already."""
        while not job.done and not job.abandoned:
            batch: list[Job[object]] = []
            while self._waiting and len(batch) < _BATCH:
                if not (first := self._waiting.popleft()).abandoned:
                    batch.append(first)
            try:
                self._commit(batch)
            except StoreError as exc:
                for one in batch:
                    one.failure = exc
            finally:
                for one in batch:
                    if not one.done:
                        one.failure = StoreError("The store failed in an unexpected way.")
