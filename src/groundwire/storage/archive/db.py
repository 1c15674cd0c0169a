"""The archive's SQLite connections, and the classification of failures."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from groundwire.storage.archive import sql
from groundwire.storage.base import StoreError
from groundwire.storage.sqlite_db import StoreFile, is_busy, is_damaged, transaction
from groundwire.storage.write_queue import Job

__all__ = ["ArchiveFile", "Broken"]

_MAX_WAIT = 1.0  # seconds to wait for another process
_LONGEST_READ = 3.0  # seconds
_STEPS = 20_000  # of SQLite's virtual machine between two checks of the time

_FIX = "Check its folder and the space on its disk, or set archive.path to another file."

_T = TypeVar("_T")


class Broken(StoreError):
    """This process cannot use the file any more: damaged, not writable, full, or of another program."""

    def __init__(self, message: str, *, readable: bool, damaged: bool = False) -> None:
        super().__init__(message)
        self.readable = readable
        self.damaged = damaged


class ArchiveFile:
    """One connection that writes and one that reads; in memory one for both. Made and used on threads.

    Args:
        path: The file, or None for one in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = None if path is None else StoreFile(path, max_wait=_MAX_WAIT)
        self._writing: sqlite3.Connection | None = None
        self._reading: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self._reading is not None

    def commit(self, jobs: Sequence[Job[object]], scrub: Callable[[], bool]) -> None:
        """Run jobs in one transaction.

        Args:
            jobs: What is to be done.
            scrub: Tells afterwards whether something was forgotten, which must not live on in the journal.

        Raises:
            StoreError: the transaction was rolled back. Broken: the database is unusable.
        """
        try:
            db = self._open()
            if (file := self._file) is None:
                with self._lock, transaction(db, lambda: db.execute("begin")):
                    answers = [job.run(db) for job in jobs]
            else:
                with transaction(db, lambda: file.patiently(lambda: db.execute("begin immediate"))):
                    answers = [job.run(db) for job in jobs]
        except (sqlite3.Error, OSError) as exc:
            raise self._failure(exc) from exc
        for tell in answers:
            tell()
        if scrub():
            with suppress(sqlite3.Error):
                db.execute("pragma wal_checkpoint(truncate)")

    def read(self, look: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run a query with a time limit.

        Raises:
            StoreError: it took too long, or the file is not open. Broken: the file is damaged.
        """
        end = time.monotonic() + _LONGEST_READ
        with self._lock:
            db = self._reading
            if db is None:
                raise StoreError("The archive is not open.")
            db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            try:
                return look(db)
            except sqlite3.Error as exc:
                raise self._failure(exc) from exc
            finally:
                db.set_progress_handler(None, 0)

    def move_aside(self) -> Path | None:
        """Close a damaged file and rename it, so that the next call creates a new one; return its new name.

        Returns:
            None if it is in memory, or another process has renamed it.

        Raises:
            OSError: it cannot be renamed.
        """
        self.close()
        return None if self._file is None else self._file.move_aside()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            for db in (self._reading, self._writing):
                if db is not None:
                    with suppress(sqlite3.Error):
                        db.close()
            self._reading = self._writing = None

    def _open(self) -> sqlite3.Connection:
        if self._file is not None and self._writing is not None and self._file.replaced:
            self.close()
        if self._writing is not None:
            return self._writing
        if self._file is None:
            writing = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            reading = writing
        else:
            try:
                writing, reading = self._file.open()
            except StoreError as exc:
                raise Broken(str(exc), readable=False) from exc
        try:
            writing.execute("pragma secure_delete = on")  # deleted content is overwritten
            writing.execute("begin" if self._file is None else "begin immediate")
            sql.prepare(writing)
            writing.execute("commit")
        except BaseException as exc:
            for db in {writing, reading}:
                db.close()
            if isinstance(exc, StoreError):
                raise Broken(f"{self._path}: {exc}", readable=False) from exc
            raise
        with self._lock:
            self._writing, self._reading = writing, reading
        return writing

    def _failure(self, exc: sqlite3.Error | OSError) -> StoreError:
        where = f"The archive {self._path}" if self._path else "The archive in memory"
        if isinstance(exc, OSError):
            if isinstance(exc, BlockingIOError):
                return StoreError(f"{where} is in use by another process; try again.")
            return Broken(f"{where} cannot be opened: {exc.strerror or exc}. {_FIX}", readable=False)
        code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if is_busy(exc):
            return StoreError(f"{where} is in use by another process; try again.")
        if code == sqlite3.SQLITE_INTERRUPT:
            return StoreError(f"{where} took too long for this search; use fewer or rarer words.")
        if is_damaged(exc):
            text = f"{where} is damaged ({exc}). Move the file away; Groundwire creates a new one."
            return Broken(text, readable=False, damaged=True)
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}:
            return Broken(f"{where} cannot be written: {exc}. {_FIX}", readable=self.is_open)
        return StoreError(f"{where} failed: {exc}.")
