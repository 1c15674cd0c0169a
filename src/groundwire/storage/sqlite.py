"""A store in one SQLite file, for any number of processes of one machine.

Reads run in the calling thread, as they take some microseconds and never wait (write-ahead log); writes
run in another thread, as they may have to wait for another process.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar

from groundwire.storage import sqlite_statements as sql
from groundwire.storage.base import (
    Answer,
    Get,
    Operation,
    Pace,
    Register,
    Release,
    Set,
    Store,
    StoreError,
    encode_key,
)
from groundwire.storage.sqlite_db import StoreFile, is_busy, is_damaged, transaction
from groundwire.storage.write_queue import Work, Writer

__all__ = ["SqliteStore"]

_logger = logging.getLogger(__name__)

_TIDY_EVERY = 60.0  # seconds between two clean-ups
_MEND_EVERY = 60.0  # seconds; a disk that damages every file must not be filled with them
_PUT_OFF = frozenset({Set, Release})

_FIX = "Check its folder and the space on its disk, or set storage.url to another file."

_T = TypeVar("_T")


class SqliteStore(Store):
    """Values, counters, paces and leases in one file; exact under tasks, threads and processes.

    The file is opened by the first call. A damaged one is renamed to `NAME.corrupt-TIMESTAMP` and a new one begun.

    Args:
        path: The file; folders are made.
        max_bytes: Maximum size of all values; the oldest go first. Counters, paces and leases are never pushed out,
            they go when they have run out.
        max_wait: Seconds to wait for another process to release the file.
        clock: The time in seconds since the epoch, the same for all processes.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = 256_000_000,
        max_wait: float = 0.8,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.recreated: bool = False
        """Whether a damaged file was moved aside."""
        self._max_bytes = max_bytes
        self._clock = clock
        self._file = StoreFile(path, max_wait=max_wait)
        self._writer = Writer(self._commit)
        self._writing: sqlite3.Connection | None = None
        self._reading: sqlite3.Connection | None = None
        self._read_lock = threading.Lock()
        self._tidy_at = 0.0
        self._mend_from = 0.0

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run a batch in one transaction; see `Store.batch`."""
        return [None] * len(operations) if self.put_off(operations) else await self._run(operations)

    async def apply(self, operation: Operation) -> Answer:
        """Run one operation, and wait for its commit; see `Store.apply`."""
        (answer,) = await self._run((operation,))
        return answer

    def put_off(self, operations: Sequence[Operation]) -> bool:
        """Run a batch in a moment and together with others, if it consists of `Set` and `Release`; return whether."""
        if not {*map(type, operations)} <= _PUT_OFF:
            return False
        now = self._clock()  # what is put off begins to age now
        return self._writer.run_later(lambda db: sql.run(db, operations, self._max_bytes, now))

    async def register(self, key: str) -> Register:
        """Return a register; see `Store.register`."""
        return await self._run_read(lambda db: sql.register(db, key, self._clock()))

    async def pace(self, key: str, *, interval: float, burst: int = 1, max_wait: float | None = None) -> Pace:
        """Reserve a slot; see `Store.pace`."""
        return await self._writer.run(
            lambda db: sql.pace(db, encode_key(key), interval, burst, max_wait, self._clock())
        )

    async def delete(self, key: str) -> None:
        """Delete a value, a counter and a pace; see `Store.delete`."""
        await self._writer.run(lambda db: sql.delete(db, encode_key(key)))

    async def aclose(self) -> None:
        """Finish pending writes, close the file and end the thread."""
        await self._writer.aclose(self._close)

    async def _run(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        """Run operations in one transaction, and wait for it; without one if they only read."""

        def work(db: Connection) -> list[Answer]:
            return sql.run(db, operations, self._max_bytes, self._clock())

        if {*map(type, operations)} == {Get}:
            return await self._run_read(work)
        first = operations[0]
        at_once = isinstance(first, Get) and first.ends and not self._writer.put_off
        if at_once and (entry := await self.get(first.key)) is not None:
            return [entry]  # which ends the batch without a thread
        return await self._writer.run(work)

    async def _run_read(self, look: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._read_lock, suppress(sqlite3.Error):
            if self._reading is not None and not self._writer.put_off:
                return look(self._reading)
        # Not open yet, or an error: the writer's thread may wait, and repairs damage. It has also what was put off.
        return await self._writer.run(look)

    def _commit(self, jobs: Sequence[Work]) -> Sequence[object]:
        try:
            return self._transact(jobs)
        except (sqlite3.Error, OSError) as exc:
            self._mend(exc)
            try:
                return self._transact(jobs)
            except (sqlite3.Error, OSError) as again:
                self._close()
                raise self._error(again) from again

    def _transact(self, jobs: Sequence[Work]) -> Sequence[object]:
        db = self._open()
        with transaction(db, lambda: self._file.patiently(lambda: db.execute("begin immediate"))):
            self._tidy(db)
            return [work(db) for work in jobs]

    def _open(self) -> sqlite3.Connection:
        if self._writing is not None and self._file.replaced:
            self._close()
        if self._writing is None:
            writing = self._file.open()
            try:
                reading = self._file.connect()
            except BaseException:
                writing.close()
                raise
            self._writing = writing
            with self._read_lock:
                self._reading = reading
        return self._writing

    def _close(self) -> None:
        with self._read_lock:
            reading, self._reading = self._reading, None
        writing, self._writing = self._writing, None
        for db in (reading, writing):
            if db is not None:
                with suppress(sqlite3.Error):
                    db.close()

    def _tidy(self, db: sqlite3.Connection) -> None:
        if (now := self._clock()) >= self._tidy_at:
            self._tidy_at = now + _TIDY_EVERY
            sql.tidy(db, now)

    def _mend(self, cause: Exception) -> None:
        """Make room for a new file if this one is damaged; raise StoreError for any other cause."""
        if is_busy(cause):  # the connections are good, and reading goes on
            raise self._error(cause) from cause
        self._close()
        now = time.monotonic()
        if not is_damaged(cause) or now < self._mend_from:
            raise self._error(cause) from cause
        self._mend_from = now + _MEND_EVERY
        try:
            aside = self._file.move_aside()
        except (sqlite3.Error, OSError) as exc:
            raise self._error(exc) from exc
        self.recreated = True
        if aside is not None:
            _logger.warning("The store %s is damaged (%s): moved to %s and recreated.", self._file.path, cause, aside)

    def _error(self, exc: Exception) -> StoreError:
        why = str((exc.strerror if isinstance(exc, OSError) else None) or exc).rstrip(".")
        if is_busy(exc):
            return StoreError(f"The store {self._file.path} cannot be used: {why}.")
        return StoreError(f"The store {self._file.path} cannot be used: {why}. {_FIX}")
